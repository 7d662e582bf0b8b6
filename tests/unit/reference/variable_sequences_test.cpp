// SPDX-License-Identifier: Apache-2.0
// Sequences of invocations on persistent variables, as data: what each invocation runs and what it gives.
#include "driver/graph/validate.h"
#include "tests/unit/reference/variable_script.h"

namespace npu::reference::test {
namespace {

constexpr ErrorCode kUnwritten = ErrorCode::kVariableUnwritten;
constexpr ErrorCode kUndeclared = ErrorCode::kVariableUndeclared;
constexpr ErrorCode kRedeclared = ErrorCode::kVariableRedeclared;
constexpr ErrorCode kMismatch = ErrorCode::kVariableMismatch;
constexpr ErrorCode kRequire = ErrorCode::kRequireFailed;
constexpr ErrorCode kOk = ErrorCode::kOk;

struct Step {
  Script script;              // see variable_script.h
  std::vector<int64_t> want;  // its results
  ErrorCode code = kOk;
  bool flag = false;  // the condition of its branches
  int context = 0;
  bool clear = false;  // the context, before the invocation
};

struct Sequence {
  const char* name;
  std::vector<Step> steps;
};

void PrintTo(const Sequence& sequence, std::ostream* stream) { *stream << sequence.name; }

const Script kPair = {.text = "R", .shape = {2}};
const Script kShort = {.text = "R", .type = DType::kInt16};

const std::vector<Sequence>& sequences() {
  static const std::vector<Sequence> kSequences = {
      // One graph.
      {"read_before_write", {{{"R"}, {}, kUnwritten}}},
      {"write_then_read", {{{"W5 R"}, {5}}, {{"R"}, {5}}}},
      {"initial_value", {{{.text = "R", .initial = 9}, {9}}}},
      {"initial_value_applies_once", {{{.text = "R W5", .initial = 9}, {9}}, {{.text = "R", .initial = 9}, {5}}}},
      {"a_read_sees_the_latest_write", {{{.text = "R W2 R W3 R", .initial = 1}, {1, 2, 3}}, {{"R"}, {3}}}},
      {"update", {{{.text = "I I R", .initial = 0}, {2}}, {{"I R"}, {3}}, {{"R"}, {3}}}},
      {"two_writes", {{{"W1 W2"}, {}}, {{"R"}, {2}}}},
      {"read_of_another_shape", {{{.text = "W1 r"}, {}, ErrorCode::kBadShape}}},

      // The VARIABLE operator.
      {"declared", {{{"D W5 R"}, {5}}, {{"D R"}, {5}}, {{"D W6 R"}, {6}}}},
      {"declared_with_initial_value", {{{.text = "D R", .initial = 9}, {9}}, {{.text = "D R", .initial = 8}, {9}}}},
      {"declared_and_not_written", {{{"D R"}, {}, kUnwritten}}},
      {"declared_twice", {{{"D D"}, {}, kRedeclared}}},
      {"written_before_the_declaration", {{{"W5 D"}, {}, kUndeclared}}},
      {"read_before_the_declaration", {{{"R D"}, {}, kUndeclared}}},
      {"read_before_the_declaration_but_declared_by_an_earlier_invocation",
       {{{"D W5"}, {}}, {{"R D W6"}, {5}}, {{"R D"}, {6}}}},

      // Several graphs and contexts.
      {"two_graphs_share", {{{"W5"}, {}}, {{"R W6"}, {5}}, {{"R"}, {6}}}},
      {"the_first_initial_value_counts", {{{.text = "R", .initial = 9}, {9}}, {{.text = "R", .initial = 8}, {9}}}},
      {"an_initial_value_after_the_allocation_does_not_count",
       {{{"R"}, {}, kUnwritten}, {{.text = "R", .initial = 8}, {}, kUnwritten}}},
      {"tensor_and_operator_declare_the_same", {{{"W5"}, {}}, {{"D R"}, {5}}, {{"R"}, {5}}}},
      {"other_identity", {{{"W5"}, {}}, {{.text = "R", .identity = "t"}, {}, kUnwritten}, {{"R"}, {5}}}},
      {"redeclared_with_another_shape", {{{"W5"}, {}}, {kPair, {}, kMismatch}, {{"R"}, {5}}}},
      {"redeclared_with_another_type", {{{"W5"}, {}}, {kShort, {}, kMismatch}, {{"R"}, {5}}}},
      {"redeclared_by_operator_with_another_shape",
       {{{"D W5"}, {}}, {{.text = "D", .shape = {2}}, {}, kMismatch}, {{"D R"}, {5}}}},
      {"two_contexts", {{{"W5"}, {}}, {{"R"}, {}, kUnwritten, false, 1}, {{"W6"}, {}, kOk, false, 1}, {{"R"}, {5}}}},
      {"two_contexts_may_differ_in_type",
       {{{"W5"}, {}}, {{.text = "W6 R", .type = DType::kInt16}, {6}, kOk, false, 1}}},

      // Clearing.
      {"clear_applies_the_initial_value_again",
       {{{.text = "W5", .initial = 9}, {}}, {{.text = "R", .initial = 9}, {9}, kOk, false, 0, true}}},
      {"clear_forgets_what_was_written", {{{"W5"}, {}}, {{"R"}, {}, kUnwritten, false, 0, true}}},
      {"clear_forgets_the_type", {{{"W5"}, {}}, {{.text = "W6 R", .shape = {2}}, {6, 6}, kOk, false, 0, true}}},
      {"clear_leaves_other_contexts",
       {{{"W5"}, {}, kOk, false, 1},
        {{"W6"}, {}},
        {{"R"}, {}, kUnwritten, false, 0, true},
        {{"R"}, {5}, kOk, false, 1}}},

      // Branches: a result of its own each, the last value that the branch read, or 0.
      {"written_in_the_branch_taken", {{{"?(W5|) R"}, {0, 5}, kOk, true}}},
      {"written_in_the_branch_not_taken", {{{"?(W5|) R"}, {}, kUnwritten, false}}},
      {"written_in_one_branch_earlier", {{{"?(W5|)"}, {0}, kOk, true}, {{"?(W5|) R"}, {0, 5}, kOk, false}}},
      {"each_branch_writes", {{{"?(W5|W6) R"}, {0, 5}, kOk, true}, {{"?(W5|W6) R"}, {0, 6}, kOk, false}}},
      {"read_in_a_branch", {{{"W3 ?(R|)"}, {3}, kOk, true}, {{"W4 ?(R|)"}, {0}, kOk, false}}},
      {"the_branch_keeps_the_order", {{{"W1 ?(R W2|) R W3"}, {1, 2}, kOk, true}, {{"R"}, {3}}}},
      {"declared_outside_written_inside", {{{"D ?(W5|) R"}, {0, 5}, kOk, true}}},
      {"declared_in_the_branch_taken", {{{"?(D W5|) R"}, {0, 5}, kOk, true}}},
      {"declared_in_the_branch_not_taken", {{{"?(D W5|) R"}, {}, kUndeclared, false}}},
      {"declared_by_an_earlier_invocation_it_may_be_read",
       {{{"?(D W5|) R"}, {0, 5}, kOk, true}, {{"?(D W5|) R"}, {0, 5}, kOk, false}}},
      {"declared_by_an_earlier_invocation_it_may_not_be_written",
       {{{"?(D W5|) W6"}, {0}, kOk, true}, {{"?(D W5|) W7"}, {}, kUndeclared, false}, {{"R"}, {6}}}},
      {"declared_again_in_a_branch",
       {{{"D W4 ?(D|) R"}, {0, 4}, kOk, false}, {{"D W5 ?(D|) R"}, {}, kRedeclared, true}, {{"R"}, {5}}}},
      {"declared_in_both_branches",
       {{{"?(D W5|D W6)"}, {0}, kOk, true}, {{"?(D W5|D W6)"}, {0}, kOk, false}, {{"R"}, {6}}}},
      {"nested_branches", {{{"?(?(W5|W6)|W7) R"}, {0, 5}, kOk, true}, {{"?(W5|?(W6|W7)) R"}, {0, 7}, kOk, false}}},
      {"the_initial_value_of_a_branch",
       {{{.text = "R ?(R|)", .initial = 9, .initial_in_main = false}, {9, 9}, kOk, true}}},

      // Loops: the number of iterations is a result.
      {"counted_in_a_loop", {{{.text = "*3(I) R", .initial = 0}, {3, 3}}, {{"*2(I) R"}, {2, 5}}}},
      {"a_loop_without_iterations", {{{"*0(W5) R"}, {}, kUnwritten}, {{"*1(W5) R"}, {1, 5}}}},
      {"each_iteration_sees_the_one_before", {{{"W1 *4(R I) R"}, {4, 5}}}},
      {"declared_in_a_loop_body", {{{"*1(D W5) R"}, {1, 5}}, {{"*2(D W6)"}, {}, kRedeclared}, {{"R"}, {6}}}},
      {"declared_in_a_loop_not_entered", {{{"*0(D W5) R"}, {}, kUndeclared}}},
      {"a_loop_in_a_branch", {{{.text = "?(*3(I)|I) R", .initial = 0}, {0, 3}, kOk, true}}},
      {"a_branch_in_a_loop", {{{.text = "*3(?(I|)) R", .initial = 0}, {3, 3}, kOk, true}}},

      // Failures in between.
      {"what_was_written_before_a_failure_stays", {{{"W5 X W6"}, {}, kRequire}, {{"R"}, {5}}}},
      {"also_in_a_branch", {{{"W4 ?(W5 X|)"}, {}, kRequire, true}, {{"R"}, {5}}}},
      {"also_in_a_loop", {{{"W0 *5(I X)"}, {}, kRequire}, {{"R"}, {1}}}},
      {"seen_is_cleared_after_a_failure", {{{"D W5 X"}, {}, kRequire}, {{"D R"}, {5}}}},
  };
  return kSequences;
}

class VariableSequences : public testing::TestWithParam<Sequence> {};

TEST_P(VariableSequences, GiveWhatTheTableSays) {
  std::array<Context, 2> contexts;
  for (size_t i = 0; i < GetParam().steps.size(); ++i) {
    const Step& step = GetParam().steps[i];
    SCOPED_TRACE("step " + std::to_string(i) + ": " + step.script.text);
    Context& context = contexts.at(static_cast<size_t>(step.context));
    if (step.clear) {
      context.clear();
    }
    std::vector<int64_t> got;
    std::string message;
    const ErrorCode code = error_of(
        [&] {
          const graph::Graph graph = graph_of(step.script);
          graph::validate(graph);
          for (const Value& value : run(graph, {boolean({1}, {step.flag ? 1 : 0})}, context)) {
            for (const int64_t number : numbers_of(value)) {
              got.push_back(number);
            }
          }
        },
        &message);
    EXPECT_EQ(contract::name(code), contract::name(step.code)) << message;
    EXPECT_EQ(got, step.want);
    if (code != kOk && code != kRequire && code != ErrorCode::kBadShape) {
      EXPECT_NE(message.find("'" + step.script.identity + "'"), std::string::npos) << message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, VariableSequences, testing::ValuesIn(sequences()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace npu::reference::test
