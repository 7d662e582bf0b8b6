// SPDX-License-Identifier: Apache-2.0
#include "sim/importer/mlir_reshapes.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace npu::importer {
namespace {

// "i8" of "tensor<1x4xi8>".
std::string_view element_of(std::string_view tensor) {
  const size_t at = tensor.rfind('x');
  return at == std::string_view::npos ? tensor : tensor.substr(at + 1, tensor.size() - at - 2);
}

// The dimensions with the 'x' behind each: "1x4x" of "tensor<1x4xi8>"; empty for rank 0.
std::string_view dimensions_of(std::string_view tensor) {
  const size_t begin = tensor.find('<') + 1, end = tensor.rfind('x');
  return end == std::string_view::npos ? std::string_view() : tensor.substr(begin, end + 1 - begin);
}

std::string_view last_dimension(std::string_view tensor) {
  const std::string_view dimensions = dimensions_of(tensor);
  if (dimensions.size() < 2) return {};
  const size_t before = dimensions.rfind('x', dimensions.size() - 2);
  return before == std::string_view::npos ? dimensions : dimensions.substr(before + 1);
}

bool is_wide_reshape(const MlirOperation& op) {
  return op.name == "tosa.reshape" && element_of(op.operand_types[0]) == "i48";
}

// Whether the RESCALE of a reshaped value works on the value before, too: its channels must be the same, and known.
bool may_go_before(const MlirOperation& rescale, const MlirOperation& reshape) {
  if (rescale.name != "tosa.rescale") return false;
  const std::string_view before = last_dimension(reshape.operand_types[0]);
  return property(rescale.properties, "per_channel") != "true" ||
         (before == last_dimension(reshape.result_types[0]) && before.find('?') == std::string_view::npos);
}

using Moved = std::map<std::string, const MlirOperation*, std::less<>>;

// Takes out what anything but such a RESCALE uses.
void remove_fixed(const std::vector<MlirOperation>& operations, bool inside, Moved& moved) {
  for (const MlirOperation& op : operations) {
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const auto found = moved.find(op.operands[i]);
      if (found != moved.end() && (inside || i > 0 || !may_go_before(op, *found->second))) moved.erase(found);
    }
    for (const MlirRegion& region : op.regions) {
      for (const MlirBlock& block : region.blocks) remove_fixed(block.operations, true, moved);
    }
  }
}

// The wide RESHAPEs of a block that can go behind every RESCALE that uses them.
Moved movable_reshapes(const std::vector<MlirOperation>& operations) {
  Moved moved;
  for (const MlirOperation& op : operations) {
    if (is_wide_reshape(op)) moved.emplace(op.result, &op);
  }
  remove_fixed(operations, false, moved);
  return moved;
}

}  // namespace

void move_wide_reshapes(std::vector<MlirOperation>& operations, const std::function<std::string()>& new_value) {
  const std::vector<MlirOperation> before = std::move(operations);
  operations.clear();
  const Moved moved = movable_reshapes(before);
  for (const MlirOperation& op : before) {
    if (moved.count(op.result) > 0) continue;
    const auto found = op.operands.empty() ? moved.end() : moved.find(op.operands[0]);
    if (found == moved.end()) {
      operations.push_back(op);
      continue;
    }
    MlirOperation rescale = op, reshape = *found->second;
    const std::string narrow =
        fmt::format("tensor<{}{}>", dimensions_of(reshape.operand_types[0]), element_of(op.result_types[0]));
    rescale.result = new_value();
    rescale.operands[0] = reshape.operands[0];
    rescale.operand_types[0] = reshape.operand_types[0];
    rescale.result_types[0] = narrow;
    reshape.result = op.result;
    reshape.operands[0] = rescale.result;
    reshape.operand_types[0] = narrow;
    reshape.result_types[0] = op.result_types[0];
    operations.push_back(std::move(rescale));
    operations.push_back(std::move(reshape));
  }
}

}  // namespace npu::importer
