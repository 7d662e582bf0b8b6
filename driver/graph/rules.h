// SPDX-License-Identifier: Apache-2.0
// The rules of operators that no table can hold; see Rule in operators.h. Private to this folder.
#pragma once

#include <vector>

#include "driver/graph/dim.h"

namespace npu::graph {

class OperatorView;

// rules_tensor.cpp
std::vector<Dims> rule_argmax(const OperatorView& op);
std::vector<Dims> rule_avg_pool2d(const OperatorView& op);
std::vector<Dims> rule_max_pool2d(const OperatorView& op);
std::vector<Dims> rule_conv2d(const OperatorView& op);
std::vector<Dims> rule_conv3d(const OperatorView& op);
std::vector<Dims> rule_depthwise_conv2d(const OperatorView& op);
std::vector<Dims> rule_transpose_conv2d(const OperatorView& op);
std::vector<Dims> rule_matmul(const OperatorView& op);
std::vector<Dims> rule_fft2d(const OperatorView& op);
std::vector<Dims> rule_rfft2d(const OperatorView& op);

// rules_elementwise.cpp
std::vector<Dims> rule_same_shape(const OperatorView& op);
std::vector<Dims> rule_broadcast(const OperatorView& op);
std::vector<Dims> rule_mul(const OperatorView& op);
std::vector<Dims> rule_clamp(const OperatorView& op);
std::vector<Dims> rule_table(const OperatorView& op);
std::vector<Dims> rule_negate(const OperatorView& op);
std::vector<Dims> rule_reduce(const OperatorView& op);
std::vector<Dims> rule_rescale(const OperatorView& op);

// rules_layout.cpp
std::vector<Dims> rule_concat(const OperatorView& op);
std::vector<Dims> rule_pad(const OperatorView& op);
std::vector<Dims> rule_reshape(const OperatorView& op);
std::vector<Dims> rule_reverse(const OperatorView& op);
std::vector<Dims> rule_slice(const OperatorView& op);
std::vector<Dims> rule_tile(const OperatorView& op);
std::vector<Dims> rule_transpose(const OperatorView& op);
std::vector<Dims> rule_gather(const OperatorView& op);
std::vector<Dims> rule_scatter(const OperatorView& op);
std::vector<Dims> rule_resize(const OperatorView& op);

// rules_control.cpp
std::vector<Dims> rule_const(const OperatorView& op);
std::vector<Dims> rule_custom(const OperatorView& op);
std::vector<Dims> rule_cond_if(const OperatorView& op);
std::vector<Dims> rule_while_loop(const OperatorView& op);
// Of COND_IF and WHILE_LOOP: that their regions exist, and agree with them in number and types of inputs and results.
void check_control_without_sizes(const OperatorView& op);
std::vector<Dims> rule_variable(const OperatorView& op);
std::vector<Dims> rule_variable_access(const OperatorView& op);

// rules_shape.cpp
std::vector<Dims> rule_dim(const OperatorView& op);
std::vector<Dims> rule_same_length(const OperatorView& op);
std::vector<Dims> rule_concat_shape(const OperatorView& op);
std::vector<Dims> rule_slice_shape(const OperatorView& op);
std::vector<Dims> rule_assert_equal_shape(const OperatorView& op);

}  // namespace npu::graph
