// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/judge.h"

#include <bit>
#include <optional>

#include "driver/graph/analyse.h"
#include "driver/graph/infer.h"
#include "driver/graph/level.h"
#include "driver/graph/reader.h"
#include "driver/graph/resolve.h"
#include "driver/graph/validate.h"
#include "driver/graph/writer.h"
#include "sim/reference/reference.h"
#include "tests/fuzz/random.h"
#include "tests/unit/graph/samples.h"

namespace npu::fuzz {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::Graph;
using graph::Tensor;
using graph::Value;

// Small enough for thousands of inputs a second, large enough for every operator.
constexpr int64_t kMostWork = 1 << 16;
constexpr int64_t kMostBytes = int64_t{1} << 22;
constexpr int64_t kMostIterations = 64;

[[noreturn]] void finding(const std::string& what) { panic(__FILE__, __LINE__, what); }

// What may still refuse a graph that validate() accepted. `dynamic`: it has operands that others have as constants.
bool may_refuse_a_run(ErrorCode code, bool dynamic) {
  switch (code) {
    case ErrorCode::kRequireFailed:
    case ErrorCode::kVariableUnwritten:
    case ErrorCode::kVariableUndeclared:
    case ErrorCode::kVariableRedeclared:
    case ErrorCode::kVariableMismatch:
    case ErrorCode::kOperatorUnsupported:
    case ErrorCode::kTypeUnsupported:
    case ErrorCode::kBudgetExceeded:
      return true;
    case ErrorCode::kBadArgument:
      return dynamic;
    default:
      return false;
  }
}

uint64_t hash(std::span<const uint8_t> bytes) {
  uint64_t value = 0xcbf29ce484222325;  // FNV-1a
  for (const uint8_t byte : bytes) {
    value = (value ^ byte) * 0x100000001b3;
  }
  return value;
}

// Bits of an element: small numbers, which are good indices and shifts, or any bits, NaN among them.
uint64_t element(DType type, bool small, Random& random) {
  const uint64_t bits = random.next();
  switch (type) {
    case DType::kBool:
      return bits & 1;
    case DType::kInt4:
      return (bits & 0xf) - 8;
    case DType::kInt48:
      return small ? bits & 3 : static_cast<uint64_t>(static_cast<int64_t>(bits) >> 16);
    case DType::kFp32:
      return small ? std::bit_cast<uint32_t>(static_cast<float>(bits & 7) - 3) : bits;
    default:
      return small ? bits & 3 : bits;
  }
}

// One value for each input; nothing when they are too large.
std::optional<std::vector<Value>> make_inputs(const graph::Block& block, Random& random) {
  std::vector<Value> values;
  int64_t left = kMostBytes;
  for (const graph::TensorId id : block.inputs) {
    const Tensor& tensor = block.tensors[id];
    const int64_t width = graph::machine_width(tensor.type);
    const int64_t elements = graph::element_count(tensor.shape).value();
    if (elements > left / width) {
      return std::nullopt;
    }
    left -= elements * width;
    Value& value = values.emplace_back(Value{tensor.type, tensor.shape, {}});
    const bool small = random.below(2) == 0;
    for (int64_t i = 0; i < elements; ++i) {
      const uint64_t bits = element(tensor.type, small, random);
      for (int64_t b = 0; b < width; ++b) {
        value.bytes.push_back(static_cast<uint8_t>(bits >> (8 * b)));
      }
    }
  }
  return values;
}

// A legal graph is as legal, and the same, when it was written and read again.
void check_round_trip(const Graph& graph) {
  try {
    const Graph again =
        graph::parse_tosa(std::make_shared<const std::vector<uint8_t>>(graph::serialize(graph)), "written again");
    static_cast<void>(graph::static_form(again));
    const std::string difference = graph::samples::difference(graph, again);
    if (!difference.empty()) {
      finding("changed when it was written: " + difference);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBudgetExceeded) {
      finding(std::string("refused when it was written again: ") + error.what());
    }
  }
}

struct Result {
  ErrorCode code = ErrorCode::kOk;
  std::string message;
  std::vector<Value> values;
};

// The custom operator of the seeds, whose results are zeros.
reference::CustomOperators custom_operators() {
  reference::CustomOperators operators;
  operators.add("tests", "nothing", [](reference::Call&) {});
  return operators;
}

Result invoke(const Graph& graph, bool dynamic, const std::vector<Value>& inputs, reference::Context& context) {
  static const reference::CustomOperators custom = custom_operators();
  const reference::Options options{
      .most_iterations = kMostIterations, .most_work = kMostWork, .most_bytes = kMostBytes, .custom = &custom};
  try {
    return {ErrorCode::kOk, {}, reference::run(graph, inputs, context, {}, options)};
  } catch (const Error& error) {
    if (!may_refuse_a_run(error.code(), dynamic)) {
      finding(std::string("the reference refuses what the validator accepts: ") +
              std::string(contract::name(error.code())) + ": " + error.what());
    }
    return {error.code(), error.what(), {}};
  }
}

void require_same(const Result& first, const Result& second) {
  bool same = first.code == second.code && first.values.size() == second.values.size();
  for (size_t i = 0; same && i < first.values.size(); ++i) {
    same = first.values[i].bytes == second.values[i].bytes;
  }
  if (!same) {
    finding("two runs give different results");
  }
}

// A file that leaves sizes open: expressions of them, or an error, in bounded time.
void infer_open_sizes(const Graph& declared) {
  if (!graph::has_unknown_sizes(declared)) return;
  graph::validate(declared, graph::Sizes::kMayBeUnknown);
  const graph::Inference inference = graph::infer(declared, {}, graph::Level::k8K);
  // Sizes of 1 are as good as any.
  const std::vector<int64_t> values(inference.open.symbols().size(), 1);
  for (const auto& region : inference.sizes) {
    for (const graph::Dims& dims : region) {
      for (const graph::Dim& dim : dims) static_cast<void>(dim.evaluate(values));
    }
  }
  for (const graph::Condition& condition : inference.open.conditions()) {
    static_cast<void>(graph::holds(condition, values));
    if (inference.open.text(condition).empty()) finding("a condition says nothing");
  }
}

}  // namespace

Answer judge(std::span<const uint8_t> file) {
  Answer answer;
  try {
    const Graph declared =
        graph::parse_tosa(std::make_shared<const std::vector<uint8_t>>(file.begin(), file.end()), "fuzz input");
    answer.stage = Stage::kValidated;
    infer_open_sizes(declared);
    const Graph graph = graph::static_form(declared);
    const bool dynamic = graph::analyse(graph).extensions.contains("EXT-DYNAMIC");
    static_cast<void>(graph::macs(graph));
    static_cast<void>(graph::above(graph, graph::Level::kNone));
    check_round_trip(declared);
    check_round_trip(graph);
    answer.stage = Stage::kRun;
    Random random(hash(file));
    if (const auto inputs = make_inputs(graph.main(), random)) {
      reference::Context context, other;
      const Result result = invoke(graph, dynamic, *inputs, context);
      require_same(result, invoke(graph, dynamic, *inputs, other));
      if (!context.variables.empty()) {
        // What the first invocation left.
        require_same(invoke(graph, dynamic, *inputs, context), invoke(graph, dynamic, *inputs, other));
      }
      answer.code = result.code;
      answer.message = result.message;
    } else {
      answer.code = ErrorCode::kBudgetExceeded;
      answer.message = "its inputs are too large to be made here";
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kBug) {
      finding(error.what());
    }
    answer.code = error.code();
    answer.message = error.what();
  }
  return answer;
}

}  // namespace npu::fuzz
