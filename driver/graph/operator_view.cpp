// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/operator_view.h"

#include <algorithm>

#include "driver/graph/float_format.h"
#include "driver/graph/operators.h"
#include "driver/graph/text.h"

namespace npu::graph {
namespace {

std::string operand_name(std::span<const Operand> operands, size_t i, const Tensor& tensor) {
  // A list takes all that follow it.
  const auto& operand = operands[std::min(i, operands.size() - 1)];
  return std::string(operand.name) + " " + in_quotes(tensor.name);
}

}  // namespace

RegionIndex::RegionIndex(const Graph& graph) : later_version_(graph.version.minor > 0) {
  for (const Region& region : graph.regions) {
    regions_.emplace(region.name, &region);
  }
}

const Region* RegionIndex::find(std::string_view name) const {
  const auto found = regions_.find(name);
  return found == regions_.end() ? nullptr : found->second;
}

std::string OperatorView::input_name(size_t i) const { return operand_name(info(op_.op).inputs, i, input(i)); }

std::string OperatorView::output_name(size_t i) const { return operand_name(info(op_.op).outputs, i, output(i)); }

bool OperatorView::is_symbol(size_t i, size_t dimension) const {
  const TensorId id = op_.inputs[i];
  if (declared_ == nullptr || id >= declared_->tensors.size()) return false;
  const Tensor& tensor = declared_->tensors[id];
  return is_unknown(tensor, tensor.shape[dimension]);
}

void OperatorView::require_length(size_t i, int64_t length) const {
  if (shape(i) != Shape{length}) {
    bad_shape(input_name(i) + " has shape " + to_string(shape(i)) + ", but must have " + to_string(Shape{length}));
  }
}

std::optional<std::vector<int64_t>> OperatorView::constant(size_t i, int64_t length) const {
  require_length(i, length);
  const Tensor& tensor = input(i);
  if (!is_constant(tensor)) {
    return std::nullopt;
  }
  const int64_t width = byte_size(tensor.type, 1);
  NPU_CHECK(static_cast<int64_t>(tensor.data.size()) == byte_size(tensor.type, length) && tensor.type != DType::kInt4);
  std::vector<int64_t> values(static_cast<size_t>(length));
  for (int64_t k = 0; k < length; ++k) {
    uint64_t bits = 0;
    for (int64_t b = 0; b < width; ++b) {
      bits |= uint64_t{tensor.data[static_cast<size_t>(k * width + b)]} << (8 * b);
    }
    const auto unused = static_cast<unsigned>(64 - 8 * width);
    values[static_cast<size_t>(k)] = static_cast<int64_t>(bits << unused) >> unused;
  }
  return values;
}

std::vector<int64_t> OperatorView::required_constant(size_t i, int64_t length) const {
  auto values = constant(i, length);
  if (!values) {
    bad_argument(input_name(i) + " must be a constant");
  }
  return *std::move(values);
}

bool OperatorView::zero_point_set(size_t i) const {
  require_length(i, 1);
  const Tensor& tensor = input(i);
  if (!is_constant(tensor)) {
    return false;
  }
  const bool any_bit = std::any_of(tensor.data.begin(), tensor.data.end(), [](uint8_t byte) { return byte != 0; });
  // Negative zero is zero.
  const bool only_sign =
      float_format(tensor.type) && tensor.data.back() == 0x80 &&
      std::all_of(tensor.data.begin(), tensor.data.end() - 1, [](uint8_t byte) { return byte == 0; });
  return any_bit && !only_sign;
}

void OperatorView::require_zero_point_only_for(DType allowed, size_t operand, DType type) const {
  const bool set = zero_point_set(operand);
  if (set && type != allowed) {
    bad_argument(input_name(operand) + " must be 0 for " + std::string(name(type)) + "; only " +
                 std::string(name(allowed)) + " has zero points");
  }
}

void OperatorView::bad_type(const std::string& reason) const {
  // The table has all types of the operators that 1.1 adds, but for those that the reader refuses.
  if (!regions_.is_later_version() || is_shape_operator(op_.op)) fail(contract::ErrorCode::kBadType, reason);
  fail(contract::ErrorCode::kFeatureUnsupported,
       reason + "; the file is of TOSA 1.1, of which only what 1.0 has is run here: export the network for TOSA 1.0");
}

void OperatorView::fail(contract::ErrorCode code, const std::string& reason) const {
  std::string where = describe(op_, position_);
  if (regions_.size() > 1) {
    where += " of block " + in_quotes(block_.name);
  }
  throw Error(code, where + ": " + reason);
}

}  // namespace npu::graph
