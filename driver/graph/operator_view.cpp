// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/operator_view.h"

#include <algorithm>

#include "driver/graph/float_format.h"
#include "driver/graph/known_sizes.h"
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

Dims OperatorView::dims(const Block& block, TensorId id) const {
  if (known_ == nullptr) return dims_of(block.tensors[id].shape);
  const auto& sizes = known_->blocks.at(&block).sizes[id];
  NPU_CHECK(sizes.has_value());
  return known_->open.simplified(*sizes);
}

const Dims* OperatorView::computed_value(size_t i) const {
  if (known_ == nullptr) return nullptr;
  const auto& values = known_->blocks.at(&block_).values;
  const auto found = values.find(op_.inputs[i]);
  return found == values.end() ? nullptr : &found->second;
}

Dims OperatorView::value(size_t i, int64_t length) const {
  const Dims* computed = computed_value(i);
  if (computed == nullptr) return dims_of(required_constant(i, length));
  require_length(i, length);
  return known_->open.simplified(*computed);
}

bool OperatorView::has_value(size_t i) const { return is_constant(input(i)) || computed_value(i) != nullptr; }

bool OperatorView::require(SizeRelation relation, const Dim& a, const Dim& b, const char* why) const {
  return known_->open.require({relation, a, b, {known_->blocks.at(&block_).region, position_}, why});
}

bool OperatorView::equal(const Dim& a, const Dim& b, const char* why) const {
  if (a.is_number() && b.is_number()) return *a.number() == *b.number();
  return require(SizeRelation::kEqual, a, b, why);
}

bool OperatorView::equal(const Dims& a, const Dims& b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [this](const Dim& mine, const Dim& other) { return equal(mine, other); });
}

bool OperatorView::at_least(const Dim& a, const Dim& b, const char* why) const {
  if (a.is_number() && b.is_number()) return *a.number() >= *b.number();
  return require(SizeRelation::kAtLeast, a, b, why);
}

bool OperatorView::multiple(const Dim& a, const Dim& b, const char* why) const {
  if (a.is_number() && b.is_number()) return *a.number() % *b.number() == 0;
  return require(SizeRelation::kMultiple, a, b, why);
}

bool OperatorView::power_of_two(const Dim& a) const {
  if (const auto size = a.number()) return (*size & (*size - 1)) == 0;
  return require(SizeRelation::kPowerOfTwo, a, 0, "");
}

bool OperatorView::defined(const Dim& a) const { return a.is_number() || require(SizeRelation::kDefined, a, 0, ""); }

std::string OperatorView::text(const Dims& dims) const {
  return text_of(dims, known_ == nullptr ? Dim::Names() : known_->open.names());
}

std::string OperatorView::text(const Dim& dim) const {
  return dim.text(known_ == nullptr ? Dim::Names() : known_->open.names());
}

void OperatorView::require_length(size_t i, int64_t length) const {
  if (!equal(dims(i), Dims{length})) {
    bad_shape(input_name(i) + " has shape " + text(dims(i)) + ", but must have " + to_string(Shape{length}));
  }
}

std::optional<std::vector<int64_t>> OperatorView::constant(size_t i, int64_t length) const {
  require_length(i, length);
  const Tensor& tensor = input(i);
  if (!is_constant(tensor)) {
    const Dims* computed = computed_value(i);
    if (computed == nullptr) return std::nullopt;
    if (auto numbers = numbers_of(known_->open.simplified(*computed))) return numbers;
    throw NotExpressible(input_name(i) + " depends on sizes that the file leaves open");
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
