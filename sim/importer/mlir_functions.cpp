// SPDX-License-Identifier: Apache-2.0
#include "sim/importer/mlir_functions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "hw/contract/error.h"

namespace npu::importer {
namespace {

using contract::ErrorCode;

// Errors name this many functions.
constexpr size_t kMostFunctionsListed = 8;

std::string name_of(const MlirEntry& candidate) {
  return std::string(string_property(candidate.function->properties, "sym_name"));
}

// Functions with a body, of nested modules too.
void find_functions(std::span<const MlirOperation> operations, std::vector<MlirEntry>& found) {
  for (const MlirOperation& op : operations) {
    const bool has_body = op.regions.size() == 1 && !op.regions[0].blocks.empty();
    if (op.name == "func.func" && has_body && !op.regions[0].blocks[0].operations.empty()) {
      found.push_back({&op, operations});
    } else if (op.name == "builtin.module" && has_body) {
      for (const MlirBlock& block : op.regions[0].blocks) find_functions(block.operations, found);
    }
  }
}

}  // namespace

MlirEntry choose_function(const MlirFile& file, std::string_view source, std::string_view wanted) {
  std::vector<MlirEntry> found;
  find_functions(file.operations, found);
  if (found.empty()) {
    throw Error(ErrorCode::kBadStructure, fmt::format("{} has no function (func.func with a body) to import", source));
  }
  const std::string_view name = wanted.empty() ? "main" : wanted;
  std::vector<std::string> names;
  for (const MlirEntry& candidate : found) {
    if (name_of(candidate) == name) return candidate;
    names.push_back(name_of(candidate));
  }
  if (wanted.empty() && found.size() == 1) return found[0];
  if (names.size() > kMostFunctionsListed) {
    names.resize(kMostFunctionsListed);
    names.emplace_back("...");
  }
  throw Error(ErrorCode::kBadOption,
              fmt::format("{} has no function {}: choose one of its functions with --function ({})", source, name,
                          fmt::join(names, ", ")));
}

}  // namespace npu::importer
