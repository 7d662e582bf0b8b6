// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/size_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "driver/graph/size_functions.h"
#include "driver/graph/text.h"
#include "hw/contract/gen/fields.h"
#include "hw/contract/stream.h"

namespace npu::compiler {
namespace {

// The fields by which commands name variables, by number.
std::vector<contract::CommandField> fields_of_names() {
  std::vector<contract::CommandField> fields;
  for (uint32_t number = 0; contract::known(static_cast<contract::CommandField>(number)); ++number) {
    const auto field = static_cast<contract::CommandField>(number);
    if (contract::info_of(field).names_variable) fields.push_back(field);
  }
  return fields;
}

bool may_name_variable(std::span<const uint32_t> command, size_t word) {
  static const std::vector<contract::CommandField> fields = fields_of_names();
  return std::any_of(fields.begin(), fields.end(), [&](auto field) { return has_field(command, word, field); });
}

constexpr size_t kMostOfU16 = std::numeric_limits<uint16_t>::max();

// Throws nothing and prints nothing that a damaged program may have made long.
class SizeCheck {
 public:
  explicit SizeCheck(const Program& program)
      : program_(program),
        table_(program.sizes),
        values_(table_.symbols.size() + table_.expressions.size()),
        words_(std::min<size_t>(program.main_words, program.commands.size())) {}

  std::string run() {
    if (table_.empty()) {
      check_nothing();
    } else {
      check_counts();
      if (damage_.empty()) check_symbols();
      if (damage_.empty()) check_expressions();
      if (damage_.empty()) check_conditions();
      if (damage_.empty()) check_rules();
    }
    if (damage_.empty()) check_ports();
    if (damage_.empty()) check_variables();
    if (damage_.empty()) check_layers();
    return damage_;
  }

 private:
  // The first thing that is wrong is told.
  template <typename... Arguments>
  void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    if (damage_.empty()) damage_ = fmt::format(text, std::forward<Arguments>(arguments)...);
  }

  void check_nothing() {
    if (!table_.expressions.empty() || !table_.conditions.empty() || !table_.results.empty() || !table_.rules.empty()) {
      fail("it has rules of sizes, but no sizes");
    }
  }

  void check_counts() {
    if (table_.symbols.size() > contract::kMostSymbols || values_ > contract::kMostSizeValues ||
        table_.results.size() > contract::kMostSizeValues || table_.conditions.size() > contract::kMostSizeConditions) {
      fail("it has {} sizes, {} values of them, {} results and {} conditions, more than a device takes",
           table_.symbols.size(), values_, table_.results.size(), table_.conditions.size());
    } else if (encoded_bytes(table_) > contract::kMostSizeTableBytes) {
      fail("the table of its sizes has {} bytes, more than a device takes", encoded_bytes(table_));
    }
  }

  void check_symbols() {
    for (const SizeTable::Symbol& symbol : table_.symbols) {
      if (symbol.least >= 1 && symbol.least <= symbol.most) continue;
      fail("size {} has the bounds {} and {}", graph::in_quotes(symbol.name), symbol.least, symbol.most);
    }
  }

  void check_expressions() {
    for (size_t i = 0; i < table_.expressions.size(); ++i) {
      const SizeTable::Expression& expression = table_.expressions[i];
      const size_t before = table_.symbols.size() + i;
      if (!known(expression.operation)) {
        fail("expression {} of its sizes has operation {}", i, static_cast<uint32_t>(expression.operation));
      } else if (expression.operation == contract::SizeOperation::kConstant) {
        continue;
      } else if (expression.a >= before) {
        fail("expression {} of its sizes takes value {}", i, expression.a);
      } else if (!graph::is_unary(expression.operation) &&
                 (expression.immediate < 0 || static_cast<size_t>(expression.immediate) >= before)) {
        fail("expression {} of its sizes takes value {}", i, expression.immediate);
      }
    }
  }

  void check_conditions() {
    for (size_t i = 0; i < table_.conditions.size(); ++i) {
      const SizeTable::Condition& condition = table_.conditions[i];
      if (!known(condition.relation)) {
        fail("condition {} of its sizes has relation {}", i, static_cast<uint32_t>(condition.relation));
      } else if (condition.left >= values_ || (!graph::is_unary(condition.relation) && condition.right >= values_)) {
        fail("condition {} of its sizes is of values {} and {}", i, condition.left, condition.right);
      }
    }
    for (const uint16_t value : table_.results) {
      if (value >= values_) fail("a result of its sizes is value {}", value);
    }
  }

  void check_rules() {
    named_ = words_with_names();
    std::vector<bool> taken(words_);
    std::vector<int64_t> most;
    for (const SizeTable::Symbol& symbol : table_.symbols) most.push_back(symbol.most);
    const SizeValues values = evaluate(table_, most);
    for (size_t i = 0; i < table_.rules.size() && damage_.empty(); ++i) check_rule(i, values, taken);
    if (damage_.empty()) check_largest(values);
  }

  // Words that say what a command is, or may name a variable: for all sizes the stream has the same commands, which
  // reach the same variables.
  std::vector<bool> words_with_names() const {
    std::vector<bool> named(words_);
    size_t at = 0;
    const auto stream = std::span(program_.commands).first(words_);
    (void)contract::for_each_command(stream, [&](const contract::Header&, std::span<const uint32_t> command) {
      named[at] = true;
      for (size_t word = 1; word < command.size(); ++word) named[at + word] = may_name_variable(command, word);
      at += command.size();
      return true;
    });
    return named;
  }

  // `most`: the values of the largest sizes, of which the stream is; `taken`: words that no other rule may write.
  void check_rule(size_t number, const SizeValues& most, std::vector<bool>& taken) {
    const SizeTable::Rule& rule = table_.rules[number];
    for (const uint16_t value : {rule.selector, rule.first, rule.second}) {
      if (value >= values_ || !most[value]) return fail("rule {} of its sizes is of value {}", number, value);
    }
    if (rule.pieces.empty() || rule.pieces.size() > kMostOfU16) {
      return fail("rule {} of its sizes has {} pieces", number, rule.pieces.size());
    }
    const auto falls = [](const SizeTable::Piece& a, const SizeTable::Piece& b) { return a.least >= b.least; };
    if (std::adjacent_find(rule.pieces.begin(), rule.pieces.end(), falls) != rule.pieces.end()) {
      return fail("the pieces of rule {} of its sizes are not in order", number);
    }
    // What a rule leaves as it is, one before it has made.
    const bool always = rule.most == INT32_MAX;
    for (const uint32_t word : rule.words) {
      if (word >= words_) return fail("rule {} of its sizes is for word {}, behind the commands", number, word);
      if (named_[word] || taken[word] == always) {
        return fail("rule {} of its sizes is for word {}, where it does not belong", number, word);
      }
      taken[word] = true;
    }
  }

  // Reports read the commands as they were compiled.
  void check_largest(const SizeValues& most) {
    std::vector<uint32_t> stream(program_.commands.begin(),
                                 program_.commands.begin() + static_cast<std::ptrdiff_t>(words_));
    apply_rules(table_, most, stream);
    const auto [own, made] = std::mismatch(
        program_.commands.begin(), program_.commands.begin() + static_cast<std::ptrdiff_t>(words_), stream.begin());
    if (made == stream.end()) return;
    fail("rules of its sizes make word {} {:#x}, where it is {:#x}", made - stream.begin(), *made, *own);
  }

  void check_layers() {
    const auto known = [&](const SizedNumber& number) {
      const auto is_value = [&](int32_t value) { return value < 0 || static_cast<size_t>(value) < values_; };
      return is_value(number.value) && is_value(number.second);
    };
    for (const Layer& layer : program_.layers) {
      const auto all_known = [&](const std::vector<SizedNumber>& sizes, const graph::Shape& shape) {
        return sizes.size() <= shape.size() && std::all_of(sizes.begin(), sizes.end(), known);
      };
      if (known(layer.sized_macs) && all_known(layer.input_sizes, layer.input_shape) &&
          all_known(layer.output_sizes, layer.output_shape)) {
        continue;
      }
      return fail("layer {} follows from sizes that it does not have", graph::in_quotes(layer.name));
    }
  }

  void check_ports() {
    std::vector<bool> given(table_.symbols.size());
    for (const Port& port : program_.inputs) check_input(port, given);
    for (const Port& port : program_.outputs) check_dimensions("output", port.name, port.shape, port.sizes);
    const auto missing = std::find(given.begin(), given.end(), false);
    if (missing == given.end()) return;
    const SizeTable::Symbol& symbol = table_.symbols[static_cast<size_t>(missing - given.begin())];
    fail("no input says how large size {} is", graph::in_quotes(symbol.name));
  }

  void check_dimensions(std::string_view what, const std::string& name, const graph::Shape& shape,
                        const std::vector<int32_t>& sizes) {
    if (!sizes.empty() && sizes.size() != shape.size()) {
      fail("{} {} has {} dimensions, and sizes of {}", what, graph::in_quotes(name), shape.size(), sizes.size());
    }
    for (const int32_t value : sizes) {
      if (value < -1 || (value >= 0 && static_cast<size_t>(value) >= values_)) {
        fail("a dimension of {} {} is value {}", what, graph::in_quotes(name), value);
      }
    }
  }

  void check_variables() {
    for (const Variable& variable : program_.variables) {
      check_dimensions("variable", variable.identity, variable.shape, variable.sizes);
      if (!variable.sizes.empty() && !variable.initial.empty()) {
        fail("variable {} has an initial value, but no size", graph::in_quotes(variable.identity));
      }
    }
  }

  void check_input(const Port& port, std::vector<bool>& given) {
    check_dimensions("input", port.name, port.shape, port.sizes);
    if (!damage_.empty()) return;
    for (size_t i = 0; i < port.sizes.size(); ++i) {
      if (port.sizes[i] < 0 || static_cast<size_t>(port.sizes[i]) >= given.size()) continue;
      const auto symbol = static_cast<size_t>(port.sizes[i]);
      given[symbol] = true;
      if (table_.symbols[symbol].most > port.shape[i]) {
        fail("dimension {} of input {} has room for {}, but may be {}", i, graph::in_quotes(port.name), port.shape[i],
             table_.symbols[symbol].most);
      }
    }
  }

  const Program& program_;
  const SizeTable& table_;
  size_t values_, words_;
  std::vector<bool> named_;  // words that no rule may write
  std::string damage_;
};

}  // namespace

std::string find_size_damage(const Program& program) { return SizeCheck(program).run(); }

}  // namespace npu::compiler
