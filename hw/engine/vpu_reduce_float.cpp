// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/vpu_reduce_float.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "hw/contract/error.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::engine {

namespace {

using contract::ReduceOp;
using contract::VpuReduceCommand;

FloatJoin::Op join_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return FloatJoin::Op::kSum;
    case ReduceOp::kProduct:
      return FloatJoin::Op::kProduct;
    case ReduceOp::kMax:
      return FloatJoin::Op::kMax;
    case ReduceOp::kMin:
      return FloatJoin::Op::kMin;
    case ReduceOp::kAll:
    case ReduceOp::kAny:
    case ReduceOp::kArgmax:
      break;
  }
  panic(__FILE__, __LINE__, "a reduction of floating point that joins no values");
}

// An integer of the same order; zeros are equal, and so are NaNs.
int32_t order_of(float value, bool ignore_nan) {
  constexpr int32_t kMagnitude = std::numeric_limits<int32_t>::max();
  if (value != value) return ignore_nan ? std::numeric_limits<int32_t>::min() : kMagnitude;
  const auto bits = std::bit_cast<int32_t>(value);
  return bits < 0 ? -(bits & kMagnitude) : bits;
}

}  // namespace

void FloatReducer::load(const VpuReduceCommand& command, const uint8_t* src) {
  values_.resize(uint64_t{command.axis} * command.inner);
  for (uint64_t i = 0; i < command.axis; ++i) {
    kernels_.to_floats(command.type, src + static_cast<int64_t>(i) * command.src_axis_stride, command.inner,
                       values_.data() + i * command.inner);
  }
}

// Lanes that hold something meet along the axis, then each other.
void FloatReducer::join_lanes(const FloatJoin& join, uint64_t axis) {
  const uint64_t lanes = std::min<uint64_t>(axis, caps_.vpu_lanes);
  float* acc = values_.data();
  for (uint64_t from = lanes; from < axis; from += lanes) {
    kernels_.join_floats(join, acc, acc + from, std::min(lanes, axis - from));
  }
  for (uint64_t apart = 1; apart < lanes; apart *= 2) {
    kernels_.join_floats(join, acc, acc + apart, lanes - apart);
  }
}

// All lanes of a vector meet, halves of it first; then the vectors.
void FloatReducer::join_vectors(const FloatJoin& join, uint64_t axis) {
  const uint64_t lanes = caps_.vpu_lanes;
  float* result = values_.data();
  for (uint64_t from = 0; from < axis; from += lanes) {
    float* vector = result + from;
    uint64_t used = std::min(lanes, axis - from);
    for (uint64_t apart = lanes / 2; apart > 0; apart /= 2) {
      if (used <= apart) continue;
      kernels_.join_floats(join, vector, vector + apart, used - apart);
      used = apart;
    }
    if (from > 0) kernels_.join_floats(join, result, vector, 1);
  }
}

void FloatReducer::find_greatest(const VpuReduceCommand& command, uint8_t* dst) const {
  for (uint64_t j = 0; j < command.inner; ++j) {
    int32_t best = order_of(values_[j], command.ignore_nan != 0), index = 0;
    for (uint64_t i = 1; i < command.axis; ++i) {
      const int32_t order = order_of(values_[i * command.inner + j], command.ignore_nan != 0);
      if (order <= best) continue;
      best = order;
      index = static_cast<int32_t>(i);
    }
    std::memcpy(dst + j * sizeof(index), &index, sizeof(index));
  }
}

void FloatReducer::run(const VpuReduceCommand& command, const uint8_t* src, uint8_t* dst) {
  for (int64_t o = 0; o < command.outer; ++o) {
    load(command, src + o * command.src_outer_stride);
    uint8_t* to = dst + o * command.dst_outer_stride;
    if (command.op == ReduceOp::kArgmax) {
      find_greatest(command, to);
      continue;
    }
    const FloatJoin join{join_of(command.op), command.ignore_nan != 0};
    if (command.inner > 1) {
      for (uint64_t i = 1; i < command.axis; ++i) {
        kernels_.join_floats(join, values_.data(), values_.data() + i * command.inner, command.inner);
      }
    } else if (timing::reduces_at_once(command, caps_)) {
      join_vectors(join, command.axis);
    } else {
      join_lanes(join, command.axis);
    }
    kernels_.from_floats(command.type, values_.data(), command.inner, to);
  }
}

}  // namespace npu::engine
