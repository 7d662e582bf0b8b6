// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/vpu_reduce_float.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "hw/contract/error.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::engine {

namespace {

using contract::ReduceOp;
using contract::VpuReduceCommand;

FloatJoin join_of(const VpuReduceCommand& command) {
  const bool ignore_nan = command.ignore_nan != 0;
  switch (command.op) {
    case ReduceOp::kSum:
      return {FloatJoin::Op::kSum, ignore_nan};
    case ReduceOp::kProduct:
      return {FloatJoin::Op::kProduct, ignore_nan};
    case ReduceOp::kMax:
      return {FloatJoin::Op::kMax, ignore_nan};
    case ReduceOp::kMin:
      return {FloatJoin::Op::kMin, ignore_nan};
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

void FloatReducer::load(const VpuReduceCommand& command, const uint8_t* src, uint64_t first, uint64_t count,
                        float* to) {
  const uint32_t bytes = element_bytes(command.type);
  const uint8_t* from = src + static_cast<int64_t>(first) * command.src_axis_stride;
  if (command.src_axis_stride == static_cast<int64_t>(bytes)) return kernels_.to_floats(command.type, from, count, to);
  bytes_.resize(count * bytes);
  for (uint64_t i = 0; i < count; ++i, from += command.src_axis_stride) {
    std::memcpy(bytes_.data() + i * bytes, from, bytes);
  }
  kernels_.to_floats(command.type, bytes_.data(), count, to);
}

void FloatReducer::join_rows(const VpuReduceCommand& command, const uint8_t* src) {
  values_.resize(command.inner);
  kernels_.to_floats(command.type, src, command.inner, values_.data());
  std::array<const uint8_t*, kMaxTaps> rows;
  for (uint64_t first = 1; first < command.axis; first += rows.size()) {
    const size_t count = std::min<uint64_t>(rows.size(), command.axis - first);
    for (size_t r = 0; r < count; ++r) rows.at(r) = src + static_cast<int64_t>(first + r) * command.src_axis_stride;
    kernels_.join_rows(join_of(command), command.type, rows.data(), count, command.inner, values_.data());
  }
}

// Lanes that hold something meet along the axis, then each other.
void FloatReducer::join_lanes(const VpuReduceCommand& command, const uint8_t* src) {
  const FloatJoin join = join_of(command);
  const uint64_t lanes = std::min(command.axis, caps_.vpu_lanes);
  values_.resize(2 * lanes);
  float *acc = values_.data(), *next = acc + lanes;
  load(command, src, 0, lanes, acc);
  for (uint64_t from = lanes; from < command.axis; from += lanes) {
    const uint64_t count = std::min(lanes, command.axis - from);
    load(command, src, from, count, next);
    kernels_.join_floats(join, acc, next, count);
  }
  for (uint64_t apart = 1; apart < lanes; apart *= 2) kernels_.join_floats(join, acc, acc + apart, lanes - apart);
}

// All lanes of a vector meet, halves of it first; then the vectors.
void FloatReducer::join_vectors(const VpuReduceCommand& command, const uint8_t* src) {
  const FloatJoin join = join_of(command);
  const uint64_t lanes = caps_.vpu_lanes;
  values_.resize(1 + lanes);
  float *result = values_.data(), *vector = result + 1;
  for (uint64_t from = 0; from < command.axis; from += lanes) {
    uint64_t used = std::min(lanes, command.axis - from);
    load(command, src, from, used, vector);
    for (uint64_t apart = lanes / 2; apart > 0; apart /= 2) {
      if (used <= apart) continue;
      kernels_.join_floats(join, vector, vector + apart, used - apart);
      used = apart;
    }
    if (from == 0) {
      *result = *vector;
    } else {
      kernels_.join_floats(join, result, vector, 1);
    }
  }
}

void FloatReducer::find_greatest(const VpuReduceCommand& command, const uint8_t* src, uint8_t* dst) {
  const bool ignore_nan = command.ignore_nan != 0;
  values_.resize(command.inner);
  best_.resize(command.inner);
  index_.assign(command.inner, 0);
  for (uint64_t i = 0; i < command.axis; ++i, src += command.src_axis_stride) {
    kernels_.to_floats(command.type, src, command.inner, values_.data());
    for (uint64_t j = 0; j < command.inner; ++j) {
      const int32_t order = order_of(values_[j], ignore_nan);
      const bool greater = i == 0 || order > best_[j];
      best_[j] = greater ? order : best_[j];
      index_[j] = greater ? static_cast<int32_t>(i) : index_[j];
    }
  }
  std::memcpy(dst, index_.data(), index_.size() * sizeof(int32_t));
}

void FloatReducer::run(const VpuReduceCommand& command, const uint8_t* src, uint8_t* dst) {
  for (uint32_t o = 0; o < command.outer; ++o, src += command.src_outer_stride, dst += command.dst_outer_stride) {
    if (command.op == ReduceOp::kArgmax) {
      find_greatest(command, src, dst);
      continue;
    }
    if (command.inner > 1) {
      join_rows(command, src);
    } else if (timing::reduces_at_once(command, caps_)) {
      join_vectors(command, src);
    } else {
      join_lanes(command, src);
    }
    kernels_.from_floats(command.type, values_.data(), command.inner, dst);
  }
}

}  // namespace npu::engine
