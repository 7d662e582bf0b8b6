// SPDX-License-Identifier: Apache-2.0
// Rules of the operators of TOSA 1.1 that compute shapes: how long their results are. Their values: shape_values.h.
#include <string>

#include "driver/graph/operator_view.h"
#include "driver/graph/rules.h"
#include "driver/graph/shape_values.h"

namespace npu::graph {
namespace {

// The longest shape of any level.
constexpr int64_t kMostSizes = 64;

int64_t sizes_of(const OperatorView& op, size_t i) { return op.shape(i)[0]; }

void require_short(const OperatorView& op, const std::string& what, int64_t sizes) {
  if (sizes <= kMostSizes) return;
  op.bad_shape(what + " has " + std::to_string(sizes) + " sizes; a shape has at most " + std::to_string(kMostSizes));
}

}  // namespace

std::vector<Dims> rule_dim(const OperatorView& /*op*/) { return {{Dim(1)}}; }

std::vector<Dims> rule_same_length(const OperatorView& op) {
  for (size_t i = 0; i < op.op().inputs.size(); ++i) {
    require_short(op, op.input_name(i), sizes_of(op, i));
    if (sizes_of(op, i) == sizes_of(op, 0)) continue;
    op.bad_shape(op.input_name(0) + " has " + std::to_string(sizes_of(op, 0)) + " sizes, and " + op.input_name(i) +
                 " " + std::to_string(sizes_of(op, i)) + "; they must have as many");
  }
  return {op.dims(0)};
}

std::vector<Dims> rule_concat_shape(const OperatorView& op) {
  int64_t sizes = 0;
  for (size_t i = 0; i < op.op().inputs.size(); ++i) {
    if (sizes_of(op, i) == 0) op.bad_shape(op.input_name(i) + " has no sizes; each shape of the list must have one");
    sizes += sizes_of(op, i);
  }
  require_short(op, "the result", sizes);
  return {{Dim(sizes)}};
}

std::vector<Dims> rule_slice_shape(const OperatorView& op) {
  require_short(op, op.input_name(0), sizes_of(op, 0));
  const int64_t start = op.required_constant(1, 1)[0], size = op.required_constant(2, 1)[0];
  if (start < 0 || size < 1 || start + size > sizes_of(op, 0)) {
    op.bad_argument("start " + std::to_string(start) + " and size " + std::to_string(size) + " leave the " +
                    std::to_string(sizes_of(op, 0)) + " sizes of " + op.input_name(0));
  }
  return {{Dim(size)}};
}

std::vector<Dims> rule_assert_equal_shape(const OperatorView& op) {
  static_cast<void>(rule_same_length(op));
  // Otherwise what computes the shapes comes back.
  if (op.has_value(0) && op.has_value(1)) require_equal_shapes(op);
  return {};
}

}  // namespace npu::graph
