// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/vpu_reduce.h"

#include <cstring>

#include "hw/contract/elements.h"
#include "hw/contract/error.h"
#include "hw/engine/engine.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::engine {

namespace {

using contract::Element;
using contract::ErrorCode;
using contract::ReduceOp;
using contract::VpuReduceCommand;

// No tile may reduce more elements than this: a damaged command must end in seconds.
constexpr uint64_t kMaxTileReductions = uint64_t{1} << 32;

bool types_fit(const VpuReduceCommand& command) {
  const bool number = command.type == Element::kI8 || command.type == Element::kI16 || command.type == Element::kI32;
  const bool floats = contract::is_float(command.type), computes = floats && element_bytes(command.type) > 1;
  const bool compares = command.op == ReduceOp::kMax || command.op == ReduceOp::kMin || command.op == ReduceOp::kArgmax;
  if (command.ignore_nan && !(floats && compares)) return false;
  switch (command.op) {
    case ReduceOp::kSum:
    case ReduceOp::kProduct:
      return command.type == Element::kI32 || computes;
    case ReduceOp::kMax:
    case ReduceOp::kMin:
      return number || computes;
    case ReduceOp::kArgmax:
      return number || floats;
    case ReduceOp::kAll:
    case ReduceOp::kAny:
      return command.type == Element::kBool;
  }
  return false;
}

template <class T>
T load(const uint8_t* from, uint64_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

// best[j] = f(best[j], element) along the axis; for argmax also the index of the first greatest element.
template <class T, class F>
void fold(const uint8_t* src, const VpuReduceCommand& command, int32_t* best, F f) {
  for (uint64_t j = 0; j < command.inner; ++j) best[j] = load<T>(src, j);
  for (uint64_t i = 1; i < command.axis; ++i) {
    src += command.src_axis_stride;
    for (uint64_t j = 0; j < command.inner; ++j) best[j] = f(best[j], load<T>(src, j));
  }
}

template <class T>
void fold_argmax(const uint8_t* src, const VpuReduceCommand& command, int32_t* best, int32_t* index) {
  for (uint64_t j = 0; j < command.inner; ++j) {
    best[j] = load<T>(src, j);
    index[j] = 0;
  }
  for (uint64_t i = 1; i < command.axis; ++i) {
    src += command.src_axis_stride;
    for (uint64_t j = 0; j < command.inner; ++j) {
      const int32_t value = load<T>(src, j);
      const bool greater = value > best[j];
      best[j] = greater ? value : best[j];
      index[j] = greater ? static_cast<int32_t>(i) : index[j];
    }
  }
}

template <class T>
void fold_any_op(const uint8_t* src, const VpuReduceCommand& command, int32_t* best) {
  switch (command.op) {
    case ReduceOp::kSum:
      return fold<T>(src, command, best, [](int32_t a, int32_t b) {
        return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
      });
    case ReduceOp::kProduct:
      return fold<T>(src, command, best, [](int32_t a, int32_t b) {
        return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
      });
    case ReduceOp::kMin:
    case ReduceOp::kAll:
      return fold<T>(src, command, best, [](int32_t a, int32_t b) { return a < b ? a : b; });
    case ReduceOp::kMax:
    case ReduceOp::kAny:
      return fold<T>(src, command, best, [](int32_t a, int32_t b) { return a > b ? a : b; });
    case ReduceOp::kArgmax:
      break;  // fold_argmax
  }
  panic(__FILE__, __LINE__, "a reduction that folds no values");
}

// Booleans are any byte but 0 on the way in, 0 or 1 on the way out.
struct Truth {
  uint8_t byte;
  operator int32_t() const { return byte != 0 ? 1 : 0; }  // NOLINT: reads as a number
};

void reduce_row(const uint8_t* src, const VpuReduceCommand& command, int32_t* best, int32_t* index) {
  const bool argmax = command.op == ReduceOp::kArgmax;
  switch (command.type) {
    case Element::kI8:
      return argmax ? fold_argmax<int8_t>(src, command, best, index) : fold_any_op<int8_t>(src, command, best);
    case Element::kI16:
      return argmax ? fold_argmax<int16_t>(src, command, best, index) : fold_any_op<int16_t>(src, command, best);
    case Element::kI32:
      return argmax ? fold_argmax<int32_t>(src, command, best, index) : fold_any_op<int32_t>(src, command, best);
    case Element::kBool:
      return fold_any_op<Truth>(src, command, best);
    case Element::kI48:
    case Element::kF16:
    case Element::kBf16:
    case Element::kF32:
    case Element::kF8e4m3:
    case Element::kF8e5m2:
      break;  // types_fit, FloatReducer
  }
  panic(__FILE__, __LINE__, "a reduction of a type that none has");
}

// Stores the low `bytes` bytes of each value.
void store_row(uint8_t* dst, const int32_t* values, uint64_t count, uint64_t bytes) {
  for (uint64_t j = 0; j < count; ++j) std::memcpy(dst + j * bytes, values + j, bytes);
}

}  // namespace

ErrorCode ReduceTile::make(const VpuReduceCommand& issued, ReduceTile& tile) {
  tile = {};
  VpuReduceCommand& command = tile.command;
  command = issued;
  if (!types_fit(command)) return ErrorCode::kFaultBadCommand;
  uint64_t work = 1;
  for (const uint32_t dim : {command.outer, command.axis, command.inner}) {
    if (dim == 0 || work > kMaxTileReductions / dim) return ErrorCode::kFaultBadCommand;
    work *= dim;
  }
  tile.src_bytes = element_bytes(command.type);
  tile.dst_bytes = command.op == ReduceOp::kArgmax ? element_bytes(Element::kI32) : tile.src_bytes;
  return ErrorCode::kOk;
}

Box ReduceTile::src_box() const {
  Box box;
  box.base = command.src;
  box.count = {1, 1, command.outer, command.axis};
  box.stride = {0, 0, command.src_outer_stride, command.src_axis_stride};
  box.run = command.inner * src_bytes;
  return box;
}

Box ReduceTile::dst_box() const {
  Box box;
  box.base = command.dst;
  box.count = {1, 1, 1, command.outer};
  box.stride = {0, 0, 0, command.dst_outer_stride};
  box.run = command.inner * dst_bytes;
  return box;
}

std::vector<PortSweep> ReduceTile::sweeps(const contract::Capabilities& caps) const {
  const uint64_t results = uint64_t{command.outer} * command.inner;
  const bool across = command.inner == 1;  // the lanes, not along the axis
  const uint64_t vectors = timing::ceil_div(results, caps.vpu_lanes);
  const uint64_t writes = across && !timing::reduces_at_once(command, caps) ? results : vectors;
  const uint64_t reads = across ? results * timing::ceil_div(command.axis, caps.vpu_lanes) : vectors * command.axis;
  const Box dst = dst_box();
  return {{timing::kVpuRead, sweep_of(src_box(), Access::kRead, results * command.axis * src_bytes, reads)},
          {timing::kVpuWrite, sweep_of(dst, Access::kWrite, distinct_bytes(dst), writes)}};
}

std::vector<Place> ReduceOperands::places(const ReduceTile& tile) const {
  return {{0, src, tile.src_box()}, {1, dst, tile.dst_box()}};
}

ErrorCode ReduceOperands::resolve(const ReduceTile& tile, MemoryView& memory) {
  *this = {};
  const Resolved input = resolve_box(tile.src_box(), memory, Access::kRead, /*disjoint=*/false);
  if (input.error != ErrorCode::kOk) return input.error;
  const Resolved result = resolve_box(tile.dst_box(), memory, Access::kWrite, /*disjoint=*/true);
  if (result.error != ErrorCode::kOk) return result.error;
  src = input.data;
  dst = result.data;
  return ErrorCode::kOk;
}

TileResult ReduceRunner::run(const ReduceTile& tile, MemoryView& memory, bool timed) {
  TileResult result;
  ReduceOperands at;
  result.error = at.resolve(tile, memory);
  if (result.error != ErrorCode::kOk) return result;

  const VpuReduceCommand& command = tile.command;
  if (contract::is_float(command.type)) {
    floats_.run(command, at.src, at.dst);
  } else {
    best_.resize(command.inner);
    index_.resize(command.inner);
    for (int64_t o = 0; o < command.outer; ++o) {
      reduce_row(at.src + o * command.src_outer_stride, command, best_.data(), index_.data());
      const std::vector<int32_t>& values = command.op == ReduceOp::kArgmax ? index_ : best_;
      store_row(at.dst + o * command.dst_outer_stride, values.data(), command.inner, tile.dst_bytes);
    }
  }
  if (timed) result.set_time(timing::vpu_cycles(command, caps_), tile_ports(tile, caps_));
  return result;
}

}  // namespace npu::engine
