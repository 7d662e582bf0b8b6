// SPDX-License-Identifier: Apache-2.0
// Naive arithmetic of steps and commands over strided memory: one element at a time, as the contract describes it.
// Shared by the interpreter of steps and the interpreter of commands, which differ in how they address.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/commands.h"

namespace npu::compiler::testing {

// Elements in memory: byte strides, one a dimension; `first` is element 0.
struct Strided {
  uint8_t* first = nullptr;
  contract::Element type = contract::Element::kI8;
  std::vector<int64_t> strides;

  [[nodiscard]] int64_t get(std::initializer_list<int64_t> index) const;
  void set(std::initializer_list<int64_t> index, int64_t value) const;
  [[nodiscard]] uint8_t* at(std::span<const int64_t> index) const;
  [[nodiscard]] uint8_t* at(std::initializer_list<int64_t> index) const;
};

[[nodiscard]] int64_t load_element(const uint8_t* at, contract::Element type);
void store_element(uint8_t* at, contract::Element type, int64_t value);

struct OutputStage {
  contract::ParameterHeader header;
  std::vector<contract::ParameterEntry> entries;  // one a channel, or one
  contract::Rescale rescale = contract::Rescale::kNone;
  bool output_unsigned = false;
  contract::Element type = contract::Element::kI8;
  // What is added, [oh][ow][oc], where `adds` is set.
  contract::Residual adds = contract::Residual::kNone;
  Strided residual;
  uint32_t value_left = 0, residual_left = 0;
};

struct WindowMath {
  int64_t kernel_h = 1, kernel_w = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1, pad_top = 0,
          pad_left = 0;
};

// src [h][w][c], weights [oc][kh][kw][ic], dst [oh][ow][oc].
void conv(const Strided& src, std::array<int64_t, 3> src_dims, const Strided& weights, const Strided& dst,
          std::array<int64_t, 3> dst_dims, const WindowMath& window, const OutputStage& stage);
// weights [kh][kw][c][m].
void depthwise(const Strided& src, std::array<int64_t, 3> src_dims, const Strided& weights, const Strided& dst,
               std::array<int64_t, 3> dst_dims, const WindowMath& window, int64_t multiplier, const OutputStage& stage);
// src [rows][c], weights [c][columns], dst [rows][columns].
void matmul(const Strided& src, const Strided& weights, const Strided& dst, int64_t rows, int64_t c, int64_t columns,
            const OutputStage& stage);

struct EwiseOperand {
  Strided stream;
  const uint8_t* blob = nullptr;
};
void ewise(std::span<const int64_t> dims, std::span<const EwiseOperand> operands, std::span<const contract::Uop> uops,
           uint32_t registers);

void pool(contract::PoolMode mode, const Strided& src, std::array<int64_t, 3> src_dims, const Strided& dst,
          std::array<int64_t, 3> dst_dims, const WindowMath& window, int32_t input_zp, int32_t output_zp);

// src [outer][axis][inner], dst [outer][inner].
void reduce(contract::ReduceOp op, const Strided& src, const Strided& dst, int64_t outer, int64_t axis, int64_t inner);

}  // namespace npu::compiler::testing
