// SPDX-License-Identifier: Apache-2.0
// DMA commands on a bench whose memories are full of noise, against a plain loop.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {

using contract::ErrorCode;
using contract::Space;

// What the device's memories hold, to be changed by a plain loop.
struct Memories {
  std::vector<uint8_t> dram, spm, psram;
  std::vector<uint8_t>& of(Space space) {
    return space == Space::kDram ? dram : space == Space::kScratchpad ? spm : psram;
  }
};

inline constexpr uint32_t kVariableBase = 0x400;
inline constexpr uint32_t kVariableBytes = 0xc00;

inline contract::Address address_in(Space space, uint32_t offset) {
  if (space == Space::kDram) return dram(offset);
  if (space == Space::kScratchpad) return spm(offset);
  return variable(0, offset);
}

inline uint64_t base_of(Space space) { return space == Space::kPersistent ? kVariableBase : 0; }

// `rows`: of a gather or scatter, what its indices choose, by batch and index.
inline void plain_loop(const contract::DmaCommand& dma, Space src, Space dst, Memories& memories,
                       std::span<const int32_t> rows) {
  const bool indexed = !rows.empty(), gathers = dma.mode == contract::DmaMode::kGather;
  std::array<uint32_t, 5> count = dma.count;
  if (indexed) count[1] = 1;
  std::array<uint32_t, 5> index{};
  uint32_t phase = 0;
  for (;;) {
    int64_t from = dma.src.offset + static_cast<int64_t>(base_of(src)),
            to = dma.dst.offset + static_cast<int64_t>(base_of(dst));
    for (int d = 0; d < 5; ++d) {
      from += int64_t{index[d]} * dma.src_stride[d];
      to += int64_t{index[d]} * dma.dst_stride[d];
    }
    if (indexed) {
      const int64_t row = rows[index[0] * count[2] + index[2]];
      (gathers ? from : to) += row * (gathers ? dma.src_stride : dma.dst_stride)[1];
    }
    for (uint32_t i = 0; i < dma.run_bytes; ++i) {
      const uint64_t pattern = uint64_t{dma.fill_value_hi} << 32 | dma.fill_value_lo;
      const auto filled = static_cast<uint8_t>(pattern >> (8 * (phase++ % std::max(1u, dma.fill_bytes))));
      const bool fill = dma.mode == contract::DmaMode::kFill;
      memories.of(dst)[static_cast<size_t>(to + i)] = fill ? filled : memories.of(src)[static_cast<size_t>(from + i)];
    }
    int d = 4;
    for (; d >= 0; --d) {
      if (++index[d] < count[d]) break;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

// A bench with variable 0 over most of the persistent SRAM, all memories full of noise.
class DmaBench : public Bench {
 public:
  explicit DmaBench(const BenchOptions& options, std::mt19937& random) : Bench(options) {
    contract::VariableEntry entry;
    entry.base = kVariableBase;
    entry.length = kVariableBytes;
    entry.owner = kOwner;
    entry.flags = 1;
    entry.hash = 5;
    set_variable(0, entry);
    std::vector<uint8_t> noise(kVariableBytes);
    for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random());
    transport(tlm::TLM_WRITE_COMMAND, contract::kPsramWindow + kVariableBase, noise.data(), kVariableBytes);
    for (uint32_t i = 0; i < kWorkspaceBytes; ++i) memory.data[i] = static_cast<uint8_t>(random());
    const Stream load = [&] {
      Stream stream(small_machine());
      stream.add(copy(0, dram(0x8000), spm(0), 0x8000));
      return stream;
    }();
    EXPECT_TRUE(run(load));
    memories.dram.assign(memory.data.begin(), memory.data.begin() + 0x10000);
    memories.spm.assign(memory.data.begin() + 0x8000, memory.data.begin() + 0x10000);
    memories.psram.resize(small_machine().psram_bytes);
    transport(tlm::TLM_READ_COMMAND, contract::kPsramWindow, memories.psram.data(), small_machine().psram_bytes);
  }

  void check(contract::DmaCommand dma, Space src, Space dst, const std::string& name,
             std::span<const int32_t> rows = {}) {
    Stream stream(small_machine());
    write(contract::reg::kJobEpoch, ++epoch_);
    stream.declare(0, 5);
    dma.commit = dst == Space::kPersistent;  // else the next trial finds the variable torn
    stream.add(dma);
    ASSERT_TRUE(run(stream)) << name;
    ASSERT_EQ(fault(), ErrorCode::kOk) << name << ": " << contract::name(fault());
    expect_identities();
    plain_loop(dma, src, dst, memories, rows);
    ASSERT_TRUE(std::equal(memories.dram.begin(), memories.dram.end(), memory.data.begin())) << name;
    std::vector<uint8_t> psram(kVariableBytes);
    transport(tlm::TLM_READ_COMMAND, contract::kPsramWindow + kVariableBase, psram.data(), kVariableBytes);
    ASSERT_TRUE(std::equal(psram.begin(), psram.end(), memories.psram.begin() + kVariableBase)) << name;
    ASSERT_EQ(dump_scratchpad(0, 0x8000), memories.spm) << name;
    memories.dram.assign(memory.data.begin(), memory.data.begin() + 0x10000);
  }

  Memories memories;

 private:
  uint32_t epoch_ = 0;
};

// Random strides whose runs do not overlap: dimensions nested in a random order, with gaps. False when it does not fit
// into `limit` bytes.
inline bool nested_strides(contract::DmaCommand& dma, std::array<int32_t, 5>& stride, uint32_t& offset,
                           std::mt19937& random, uint32_t limit) {
  std::array<int, 5> order{0, 1, 2, 3, 4};
  std::shuffle(order.begin(), order.end(), random);
  int64_t span = dma.run_bytes, low = 0;
  for (int d : order) {
    if (dma.count[d] == 1) {
      stride[d] = static_cast<int32_t>(random() % 1000) - 500;
      continue;
    }
    const int64_t step = span + (random() % 2 == 0 ? 0 : random() % 5);
    const bool negative = random() % 2 == 0;
    stride[d] = static_cast<int32_t>(negative ? -step : step);
    if (negative) low += step * (dma.count[d] - 1);
    span += step * (dma.count[d] - 1);
  }
  if (span > limit) return false;
  offset = static_cast<uint32_t>(low + static_cast<int64_t>(random() % (limit - span + 1)));
  return true;
}

}  // namespace npu::model::testing
