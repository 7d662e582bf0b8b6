// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/vpu_pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "hw/contract/elements.h"
#include "hw/engine/box.h"
#include "hw/engine/channel_params.h"
#include "hw/engine/engine.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::engine {

namespace {

using contract::Element;
using contract::ErrorCode;
using contract::PoolMode;
using contract::VpuPoolCommand;

// No tile may take more window positions of elements than this: a damaged command must end in seconds.
constexpr uint64_t kMaxTilePoolings = uint64_t{1} << 34;

// The multiplication that stands for the division by `count` (> 0): reciprocal_scale of the specification.
void set_reciprocal(PoolFinish& finish, uint32_t count) {
  const int log = std::bit_width(count - 1);
  const uint64_t numerator = ((uint64_t{1} << 30) + 1) << log;
  finish.multiplier = static_cast<int32_t>(numerator / count);
  finish.shift = 30 + log;
  finish.round = int64_t{1} << (finish.shift - 1);
}

// The FP32 number nearest to 1 / count: enough digits, the last one set where there is a rest.
float reciprocal(uint32_t count) {
  constexpr int kDigits = 26;
  const int log = std::bit_width(count - 1);
  const uint64_t one = uint64_t{1} << (log + kDigits);
  const uint64_t digits = 2 * (one / count) + (one % count != 0 ? 1 : 0);
  return std::ldexp(static_cast<float>(digits), -(log + kDigits + 1));
}

}  // namespace

ErrorCode PoolTile::make(const VpuPoolCommand& issued, PoolTile& tile) {
  tile = {};
  VpuPoolCommand& command = tile.command;
  command = issued;
  const bool floats = contract::is_float(command.type);
  if (!known(command.mode) || (command.type != Element::kI8 && command.type != Element::kI16 && !floats) ||
      (command.ignore_nan != 0 && (!floats || command.mode != PoolMode::kMax))) {
    return ErrorCode::kFaultBadCommand;
  }
  uint64_t work = 1;
  for (const uint32_t dim : {command.out_h, command.out_w, command.channels, command.kernel_h, command.kernel_w}) {
    if (dim == 0 || work > kMaxTilePoolings / dim) return ErrorCode::kFaultBadCommand;
    work *= dim;
  }
  for (const uint32_t dim : {command.in_h, command.in_w, command.stride_y, command.stride_x}) {
    if (dim == 0) return ErrorCode::kFaultBadCommand;
  }
  tile.bytes = element_bytes(command.type);
  tile.rows =
      used_range(0, int64_t{command.out_h} - 1, command.stride_y, command.pad_top, command.kernel_h, 1, command.in_h);
  tile.cols =
      used_range(0, int64_t{command.out_w} - 1, command.stride_x, command.pad_left, command.kernel_w, 1, command.in_w);
  return ErrorCode::kOk;
}

Box PoolTile::src_box() const {
  Box box;
  box.base = command.src;
  box.offset = rows.begin * command.src_row_stride + cols.begin * command.src_pixel_stride;
  box.count = {1, 1, static_cast<uint64_t>(rows.size()), static_cast<uint64_t>(cols.size())};
  box.stride = {0, 0, command.src_row_stride, command.src_pixel_stride};
  box.run = command.channels * bytes;
  return box;
}

Box PoolTile::dst_box() const {
  Box box;
  box.base = command.dst;
  box.count = {1, 1, command.out_h, command.out_w};
  box.stride = {0, 0, command.dst_row_stride, command.dst_pixel_stride};
  box.run = command.channels * bytes;
  return box;
}

Box PoolTile::params_box() const {
  Box box;
  box.base = command.params;
  box.run = contract::ParameterHeader::kBytes;
  return box;
}

PoolRunner::Window PoolRunner::window_of(const PoolTile& tile, int64_t out_y, int64_t out_x) {
  const VpuPoolCommand& command = tile.command;
  const int64_t y = out_y * command.stride_y - command.pad_top, x = out_x * command.stride_x - command.pad_left;
  return {{std::max(y, tile.rows.begin), std::min(y + command.kernel_h, tile.rows.end)},
          {std::max(x, tile.cols.begin), std::min(x + command.kernel_w, tile.cols.end)}};
}

template <class Visit>
uint32_t PoolRunner::for_each_tap(const PoolTile& tile, const Window& window, Visit visit) const {
  uint32_t count = 0;
  for (int64_t y = window.rows.begin; y < window.rows.end; ++y) {
    for (int64_t x = window.cols.begin; x < window.cols.end; ++x, ++count) {
      visit(at_.src + (y - tile.rows.begin) * tile.command.src_row_stride +
            (x - tile.cols.begin) * tile.command.src_pixel_stride);
    }
  }
  return count;
}

template <class Add>
uint32_t PoolRunner::in_batches(const PoolTile& tile, const Window& window, Add add) const {
  std::array<const uint8_t*, kMaxTaps> taps;
  size_t used = 0;
  const uint32_t count = for_each_tap(tile, window, [&](const uint8_t* tap) {
    taps[used] = tap;
    if (++used < kMaxTaps) return;
    add(taps.data(), used);
    used = 0;
  });
  if (used > 0) add(taps.data(), used);
  return count;
}

void PoolRunner::pool_floats(const PoolTile& tile, const Window& window, uint8_t* dst) {
  const VpuPoolCommand& command = tile.command;
  const bool average = command.mode == PoolMode::kAvg;
  const FloatJoin join{average ? FloatJoin::Op::kSum : FloatJoin::Op::kMax, command.ignore_nan != 0};
  float* acc = acc_bytes_.get<float>(uint64_t{2} * command.channels);
  float* values = acc + command.channels;
  std::fill(acc, acc + command.channels, average ? 0.0F : -std::numeric_limits<float>::infinity());
  bool first = !average;  // of the largest ones the first stands for itself
  const uint32_t count = in_batches(tile, window, [&](const uint8_t* const* taps, size_t used) {
    if (first) kernels_.to_floats(command.type, taps[0], command.channels, acc);
    const size_t loaded = first ? 1 : 0;
    kernels_.join_rows(join, command.type, taps + loaded, used - loaded, command.channels, acc);
    first = false;
  });
  if (average && count > 0) {
    std::fill(values, values + command.channels, reciprocal(count));
    kernels_.join_floats({FloatJoin::Op::kProduct, false}, acc, values, command.channels);
  }
  kernels_.from_floats(command.type, acc, command.channels, dst);
}

void PoolRunner::pool_integers(const PoolTile& tile, const Window& window, uint8_t* dst) {
  const VpuPoolCommand& command = tile.command;
  const bool average = command.mode == PoolMode::kAvg;
  const ValueRange range = value_range(command.type, false);
  int32_t* acc = acc_bytes_.get<int32_t>(command.channels);
  std::fill(acc, acc + command.channels, average ? 0 : range.low);
  const uint32_t count = in_batches(tile, window, [&](const uint8_t* const* taps, size_t used) {
    kernels_.pool_add(command.type, average, taps, used, command.channels, acc);
  });

  PoolFinish finish;
  finish.type = command.type;
  finish.average = average;
  finish.offset = static_cast<int32_t>(count * static_cast<uint32_t>(header_.input_zp));
  finish.zero_point = header_.output_zp;
  if (count > 0) set_reciprocal(finish, count);
  kernels_.pool_finish(finish, acc, command.channels, dst);
}

std::vector<PortSweep> PoolTile::sweeps(const contract::Capabilities& caps) const {
  const uint64_t vectors = timing::ceil_div(uint64_t{command.out_h} * command.out_w * command.channels, caps.vpu_lanes);
  const uint64_t window = uint64_t{command.kernel_h} * command.kernel_w;
  std::vector<PortSweep> sweeps;
  if (command.mode == PoolMode::kAvg) {
    const Box params = params_box();
    sweeps.push_back(
        {timing::kVpuParameters, sweep_of(params, Access::kRead, params.run, timing::table_rows_of(params.run, caps))});
  }
  Sweep source{Access::kRead, {}, {}, 0, vectors * window};
  if (reads_input()) {
    const uint64_t positions =
        taps_inside(command.out_h, command.stride_y, command.pad_top, command.kernel_h, 1, command.in_h) *
        taps_inside(command.out_w, command.stride_x, command.pad_left, command.kernel_w, 1, command.in_w);
    source = sweep_of(src_box(), Access::kRead, positions * command.channels * bytes, vectors * window);
  }
  sweeps.push_back({timing::kVpuRead, source});
  const Box dst = dst_box();
  sweeps.push_back({timing::kVpuWrite, sweep_of(dst, Access::kWrite, distinct_bytes(dst), vectors)});
  return sweeps;
}

std::vector<Place> PoolOperands::places(const PoolTile& tile) const {
  return {{0, src, tile.src_box()}, {1, dst, tile.dst_box()}, {2, params, tile.params_box()}};
}

ErrorCode PoolOperands::resolve(const PoolTile& tile, MemoryView& memory) {
  *this = {};
  if (tile.reads_input()) {
    const Resolved input = resolve_box(tile.src_box(), memory, Access::kRead, /*disjoint=*/false);
    if (input.error != ErrorCode::kOk) return input.error;
    src = input.data;
  }
  if (tile.command.mode == PoolMode::kAvg) {
    const Resolved parameters = resolve_box(tile.params_box(), memory, Access::kRead, /*disjoint=*/false);
    if (parameters.error != ErrorCode::kOk) return parameters.error;
    params = parameters.data;
  }
  const Resolved result = resolve_box(tile.dst_box(), memory, Access::kWrite, /*disjoint=*/true);
  dst = result.data;
  return result.error;
}

TileResult PoolRunner::run(const PoolTile& tile, MemoryView& memory, bool timed) {
  TileResult result;
  result.error = at_.resolve(tile, memory);
  if (result.error != ErrorCode::kOk) return result;
  header_ = at_.params == nullptr ? contract::ParameterHeader{} : contract::ParameterHeader::load(at_.params);

  const bool floats = contract::is_float(tile.command.type);
  for (int64_t y = 0; y < tile.command.out_h; ++y) {
    for (int64_t x = 0; x < tile.command.out_w; ++x) {
      const Window window = window_of(tile, y, x);
      uint8_t* dst = at_.dst + y * tile.command.dst_row_stride + x * tile.command.dst_pixel_stride;
      floats ? pool_floats(tile, window, dst) : pool_integers(tile, window, dst);
    }
  }
  if (timed) result.set_time(timing::vpu_cycles(tile.command, caps_), tile_ports(tile, caps_));
  return result;
}

}  // namespace npu::engine
