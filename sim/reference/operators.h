// SPDX-License-Identifier: Apache-2.0
// The operators of the reference, by family. Each computes its results from its operands as the section of the
// specification with its name says; REQUIREs that fail and types that are not there are Errors.
#pragma once

#include "sim/reference/call.h"

namespace npu::reference {

using Function = void (*)(Call&);

// The function that computes an operator; nullptr for one that the reference lacks.
[[nodiscard]] Function find_operator(graph::Op op);

// convolution.cpp
void conv2d(Call& call);
void conv3d(Call& call);
void depthwise_conv2d(Call& call);
void transpose_conv2d(Call& call);
// matmul.cpp
void matmul(Call& call);
// fft.cpp
void fft2d(Call& call);
void rfft2d(Call& call);
// pooling.cpp
void avg_pool2d(Call& call);
void max_pool2d(Call& call);
// activation.cpp
void clamp(Call& call);
void table(Call& call);
// functions.cpp
void ceil(Call& call);
void cos(Call& call);
void erf(Call& call);
void exp(Call& call);
void floor(Call& call);
void log(Call& call);
void pow(Call& call);
void reciprocal(Call& call);
void rsqrt(Call& call);
void sigmoid(Call& call);
void sin(Call& call);
void tanh(Call& call);
// elementwise.cpp: two operands
void add(Call& call);
void sub(Call& call);
void mul(Call& call);
void int_div(Call& call);
void maximum(Call& call);
void minimum(Call& call);
void arithmetic_right_shift(Call& call);
void logical_left_shift(Call& call);
void logical_right_shift(Call& call);
void bitwise_and(Call& call);
void bitwise_or(Call& call);
void bitwise_xor(Call& call);
void logical_and(Call& call);
void logical_or(Call& call);
void logical_xor(Call& call);
void equal(Call& call);
void greater(Call& call);
void greater_equal(Call& call);
// elementwise.cpp: one operand, and three
void abs(Call& call);
void negate(Call& call);
void bitwise_not(Call& call);
void logical_not(Call& call);
void clz(Call& call);
void select(Call& call);
// reduction.cpp
void reduce_all(Call& call);
void reduce_any(Call& call);
void reduce_max(Call& call);
void reduce_min(Call& call);
void reduce_product(Call& call);
void reduce_sum(Call& call);
void arg_max(Call& call);
// layout.cpp
void concat(Call& call);
void pad(Call& call);
void reshape(Call& call);
void reverse(Call& call);
void slice(Call& call);
void tile(Call& call);
void transpose(Call& call);
void gather(Call& call);
void scatter(Call& call);
void identity(Call& call);
// resize.cpp
void resize(Call& call);
// conversion.cpp
void cast(Call& call);
void rescale(Call& call);
// control_flow.cpp
void cond_if(Call& call);
void while_loop(Call& call);
void custom(Call& call);
// variables.cpp
void variable(Call& call);
void variable_read(Call& call);
void variable_write(Call& call);

}  // namespace npu::reference
