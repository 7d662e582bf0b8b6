// SPDX-License-Identifier: Apache-2.0
#include "sim/importer/mlir_cleanup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "driver/graph/operators.h"
#include "hw/contract/error.h"
#include "sim/importer/mlir_functions.h"
#include "sim/importer/mlir_reshapes.h"
#include "sim/importer/mlir_text.h"
#include "sim/importer/mlir_types.h"

namespace npu::importer {
namespace {

using contract::ErrorCode;
using Names = std::unordered_map<std::string, std::string>;

constexpr std::string_view kCast = "builtin.unrealized_conversion_cast";
// Errors name this many places.
constexpr size_t kMostListed = 8;

// "IdentityN", "identity_n", "IDENTITYN": exporters spell it as they like.
bool is_identityn_name(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_') letters.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  return letters == "identityn";
}

bool is_identityn(const MlirOperation& op) {
  if (op.operands.size() != op.result_types.size() || op.operands.empty()) return false;
  if (op.name == "tosa.custom") return is_identityn_name(string_property(op.properties, "operator_name"));
  return is_identityn_name(op.name.substr(op.name.find('.') + 1));
}

bool is_droppable_cast(const MlirOperation& op) {
  return op.name == kCast && op.operands.size() == op.result_types.size() &&
         std::equal(op.operand_types.begin(), op.operand_types.end(), op.result_types.begin(),
                    [](std::string_view from, std::string_view to) { return signless(from) == signless(to); });
}

bool is_constant(const MlirOperation& op) { return op.name == "tosa.const" || op.name == "tosa.const_shape"; }

bool is_tosa(std::string_view name) {
  constexpr std::string_view kDialect = "tosa.";
  if (name == "func.return" || name == "tosa.yield") return true;
  if (!name.starts_with(kDialect)) return false;
  std::string upper(name.substr(kDialect.size()));
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return graph::op_from_name(upper) != graph::Op::kUnknown;
}

// Operators whose result does not depend on what the bits mean.
bool passes_bits(std::string_view name) {
  constexpr std::array<std::string_view, 20> kNames = {
      "func.return",  "tosa.yield",      "tosa.const",         "tosa.identity",       "tosa.reshape",
      "tosa.slice",   "tosa.concat",     "tosa.transpose",     "tosa.reverse",        "tosa.tile",
      "tosa.pad",     "tosa.gather",     "tosa.scatter",       "tosa.select",         "tosa.custom",
      "tosa.cond_if", "tosa.while_loop", "tosa.variable_read", "tosa.variable_write", "tosa.variable"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Where things are in the source, from their locations.
class Places {
 public:
  // The lines of a converted file mean nothing to the user.
  Places(const MlirFile& file, std::string_view source, bool converted) : source_(source), converted_(converted) {
    for (const std::string_view alias : file.aliases) {
      const size_t equals = alias.find(" = ");
      if (equals != std::string_view::npos) aliases_[alias.substr(0, equals)] = alias.substr(equals + 3);
    }
  }

  // "net.mlir line 8": the first file and line that the location has, else the source alone.
  [[nodiscard]] std::string of(std::string_view location, int depth = 0) const {
    constexpr int kMostNested = 16;
    if (converted_) return source_;
    for (size_t i = 0; i < location.size() && depth < kMostNested; ++i) {
      if (location[i] == '"') {
        const size_t end = location.find('"', i + 1);  // names with quotes are not worth more
        if (end == std::string_view::npos) break;
        const std::string_view rest = location.substr(end + 1);
        const size_t digits = rest.starts_with(':') ? rest.find_first_not_of("0123456789", 1) : 1;
        if (digits > 1)
          return fmt::format("{} line {}", location.substr(i + 1, end - i - 1), rest.substr(1, digits - 1));
        i = end;
      } else if (location[i] == '#') {
        const size_t end = location.find_first_of(",)]> ", i);
        const auto found = aliases_.find(location.substr(i, end - i));
        if (found != aliases_.end()) return of(found->second, depth + 1);
      }
    }
    return source_;
  }
  [[nodiscard]] std::string of(const MlirOperation& op) const { return of(op.location); }
  // " (net.mlir line 8)", or nothing where there is no line to name.
  [[nodiscard]] std::string behind(const MlirOperation& op) const {
    return converted_ ? "" : fmt::format(" ({})", of(op));
  }

 private:
  std::string source_;
  bool converted_;
  std::map<std::string_view, std::string_view> aliases_;
};

class Cleaner {
 public:
  Cleaner(Places places, std::string_view source) : places_(std::move(places)), source_(source) {}

  // Gives the variables that are new.
  std::vector<MlirOperation> lstms(MlirOperation& function, std::span<const MlirOperation> module,
                                   const std::vector<LstmFacts>* facts) {
    LstmContext context{source_, facts, [this] { return new_value(); }, text_, {}};
    for (const MlirOperation& op : module) {
      if (op.name == "tosa.variable") context.taken_variables.emplace_back(string_property(op.properties, "sym_name"));
    }
    return expand_lstms(only_block(function.regions[0], function).operations, std::move(context));
  }

  void function(MlirOperation& function) {
    block(only_block(function.regions[0], function), nullptr);
    if (foreign_.empty()) return;
    throw Error(ErrorCode::kOperatorUnsupported,
                fmt::format("{} has operations that TOSA 1.0 does not have: {}", source_, foreign()));
  }

  void check_elided(const MlirOperation& op) const {
    if (op.properties.find("dense_resource<__elided__>") == std::string_view::npos) return;
    throw Error(ErrorCode::kBadData,
                fmt::format("{}: the data of a constant was left out (__elided__) when the file was written; export it "
                            "without elision",
                            places_.of(op)));
  }

 private:
  // A region that must not use values of those around it: what it defines, and the constants repeated for it.
  struct Isolated {
    std::set<std::string> defined;
    std::vector<MlirOperation> repeated;
    Names copies;
  };

  MlirBlock& only_block(MlirRegion& region, const MlirOperation& owner) {
    if (region.blocks.size() != 1) {
      for (const MlirBlock& block : region.blocks) {
        for (const MlirOperation& op : block.operations) note_foreign(op);
      }
      throw Error(ErrorCode::kBadStructure,
                  fmt::format("{}: {} has {} blocks, but TOSA has no branches{}", places_.of(owner), owner.name,
                              region.blocks.size(), foreign_.empty() ? "" : fmt::format(" ({})", foreign())));
    }
    return region.blocks[0];
  }

  void block(MlirBlock& block, Isolated* isolated) {
    for (const MlirArgument& argument : block.arguments) {
      check_type(argument.type, fmt::format("{}: argument {}", places_.of(argument.location), argument.name));
      if (isolated != nullptr) isolated->defined.insert(argument.name);
    }
    move_wide_reshapes(block.operations, [this] { return new_value(); });
    std::vector<MlirOperation> kept;
    for (MlirOperation& op : block.operations) {
      for (std::string& operand : op.operands) operand = resolved(operand);
      if (is_droppable_cast(op)) {
        for (size_t i = 0; i < op.operands.size(); ++i) replaced_[op.result_value(i)] = op.operands[i];
        continue;
      }
      if (isolated != nullptr) isolate(op, *isolated);
      if (is_identityn(op)) {
        for (MlirOperation& identity : split(op)) keep(std::move(identity), isolated, kept);
        continue;
      }
      if (note_foreign(op)) continue;
      check_types(op);
      check_elided(op);
      if (is_constant(op)) constants_[op.result] = op;
      for (MlirRegion& region : op.regions) inner(region, op);
      keep(std::move(op), isolated, kept);
    }
    block.operations = std::move(kept);
  }

  // The tools number values, or name them after what they are: none begins like these.
  std::string new_value() { return fmt::format("%npu_import_{}", new_values_++); }

  static void keep(MlirOperation op, Isolated* isolated, std::vector<MlirOperation>& kept) {
    for (size_t i = 0; isolated != nullptr && i < op.result_types.size(); ++i)
      isolated->defined.insert(op.result_value(i));
    kept.push_back(std::move(op));
  }

  // A region of a loop or condition, which TOSA wants isolated from what is around it.
  void inner(MlirRegion& region, const MlirOperation& owner) {
    Isolated isolated;
    MlirBlock& inside = only_block(region, owner);
    block(inside, &isolated);
    inside.operations.insert(inside.operations.begin(), std::make_move_iterator(isolated.repeated.begin()),
                             std::make_move_iterator(isolated.repeated.end()));
  }

  void isolate(MlirOperation& op, Isolated& isolated) {
    for (std::string& operand : op.operands) {
      if (isolated.defined.count(operand) > 0) continue;
      auto copy = isolated.copies.find(operand);
      if (copy == isolated.copies.end()) {
        const auto constant = constants_.find(operand);
        if (constant == constants_.end()) {
          throw Error(ErrorCode::kBadStructure,
                      fmt::format("{}: {} uses a value from outside of the loop or condition that it is in; TOSA wants "
                                  "it passed as an operand",
                                  places_.of(op), op.name));
        }
        MlirOperation repeated = constant->second;
        repeated.result = new_value();
        copy = isolated.copies.emplace(operand, repeated.result).first;
        isolated.repeated.push_back(std::move(repeated));
      }
      operand = copy->second;
    }
  }

  std::vector<MlirOperation> split(const MlirOperation& op) {
    std::vector<MlirOperation> identities;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      MlirOperation identity;
      identity.result = new_value();
      identity.name = "tosa.identity";
      identity.operands = {op.operands[i]};
      identity.operand_types = {op.operand_types[i]};
      identity.result_types = {op.result_types[i]};
      identity.location = op.location;
      check_types(identity);
      replaced_[op.result_value(i)] = identity.result;
      identities.push_back(std::move(identity));
    }
    return identities;
  }

  [[nodiscard]] std::string resolved(const std::string& value) const {
    const auto found = replaced_.find(value);
    return found == replaced_.end() ? value : found->second;
  }

  // Notes each name once, with its first place.
  bool note_foreign(const MlirOperation& op) {
    if (is_tosa(op.name)) return false;
    if (!foreign_names_.insert(op.name).second) return true;
    std::string text = fmt::format("{}{}", op.name, places_.behind(op));
    if (op.name == kCast && op.operand_types.size() == 1 && op.result_types.size() == 1) {
      text = fmt::format("{} from {} to {}{}", op.name, op.operand_types[0], op.result_types[0], places_.behind(op));
    } else if (op.name == "func.call") {
      text += ", which must be inlined before the export";
    }
    foreign_.push_back(std::move(text));
    return true;
  }

  // The first of those noted.
  [[nodiscard]] std::string foreign() const {
    const std::span<const std::string> all = foreign_;
    return fmt::format("{}{}", fmt::join(all.first(std::min(all.size(), kMostListed)), ", "),
                       all.size() > kMostListed ? ", ..." : "");
  }

  static void check_type(std::string_view type, std::string_view what) {
    if (!has_rank(type)) {
      throw Error(ErrorCode::kFeatureUnsupported,
                  fmt::format("{} has the type {}, of no known rank; export the network with ranks", what, type));
    }
    if (has_known_element(type)) return;
    throw Error(ErrorCode::kTypeUnsupported,
                fmt::format("{} has the type {}, which TOSA 1.0 does not have; export the network with other types",
                            what, type));
  }

  // Signless integers are signed in TOSA; only RESCALE can be told otherwise.
  void check_types(const MlirOperation& op) const {
    for (const std::string& type : op.result_types) {
      check_type(type, fmt::format("{}: the result of {}", places_.of(op), op.name));
    }
    if (passes_bits(op.name)) return;
    const bool rescale = op.name == "tosa.rescale";
    const auto check = [&](std::span<const std::string> types, std::string_view flag) {
      // Of a RESCALE, the operands behind the data follow it.
      if (rescale) types = types.first(std::min<size_t>(1, types.size()));
      const bool told = rescale && property(op.properties, flag) == "true";
      for (const std::string& type : types) {
        if (!is_unsigned(type) || told) continue;
        throw Error(
            ErrorCode::kTypeUnsupported,
            fmt::format("{}: {} has the unsigned type {}, which TOSA knows only as the data of a RESCALE with {}",
                        places_.of(op), op.name, type, flag));
      }
    };
    check(op.operand_types, "input_unsigned");
    check(op.result_types, "output_unsigned");
  }

  Places places_;
  std::string source_;
  Names replaced_;                                            // value -> what stands for it
  std::unordered_map<std::string, MlirOperation> constants_;  // by result
  int new_values_ = 0;
  std::deque<std::string> text_;
  std::vector<std::string> foreign_;
  std::set<std::string_view> foreign_names_;
};

// The names of the variables that an operation and those inside of it read or write.
void note_variables(const MlirOperation& op, std::set<std::string_view>& names) {
  if (op.name == "tosa.variable_read" || op.name == "tosa.variable_write") {
    names.insert(string_property(op.properties, "name"));
  }
  for (const MlirRegion& region : op.regions) {
    for (const MlirBlock& block : region.blocks) {
      for (const MlirOperation& inner : block.operations) note_variables(inner, names);
    }
  }
}

}  // namespace

std::string clean_mlir(std::string_view generic, std::string_view source, std::string_view function,
                       const std::vector<LstmFacts>* converted) {
  const MlirFile file = parse_mlir(generic);
  const MlirEntry chosen = choose_function(file, source, function);
  MlirOperation entry = *chosen.function;
  Cleaner cleaner(Places(file, source, converted != nullptr), source);
  std::vector<MlirOperation> variables = cleaner.lstms(entry, chosen.module, converted);
  cleaner.function(entry);
  std::set<std::string_view> used;
  note_variables(entry, used);
  std::string text;
  for (const std::string_view alias : file.aliases) text.append(alias).append("\n");
  text += "\"builtin.module\"() ({\n";
  for (const MlirOperation& op : chosen.module) {
    if (op.name != "tosa.variable" || used.count(string_property(op.properties, "sym_name")) == 0) continue;
    cleaner.check_elided(op);
    print_mlir(op, text);
  }
  for (const MlirOperation& op : variables) print_mlir(op, text);
  print_mlir(entry, text);
  text += "}) : () -> ()\n";
  return text.append(file.resources);
}

}  // namespace npu::importer
