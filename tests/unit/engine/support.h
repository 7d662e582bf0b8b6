// SPDX-License-Identifier: Apache-2.0
// What engine tests share: a memory that records what is touched, seeds, kernel sets.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/engine/engine.h"
#include "hw/engine/kernels.h"
#include "sim/cosim/made_tile.h"
#include "sim/cosim/random.h"

namespace npu::engine::testing {

using cosim::encode;
using cosim::scratchpad;

// A scratchpad, and a variable of its own for each table index. DRAM regions are refused, as a device refuses them.
class TestMemory final : public MemoryView {
 public:
  struct Touch {
    Access access;
    contract::Region region;
    uint32_t variable;
    int64_t low, high;
    bool operator==(const Touch&) const = default;
  };

  explicit TestMemory(size_t bytes) : scratchpad_(bytes, cosim::kPoison) {}
  explicit TestMemory(std::vector<uint8_t> scratchpad) : scratchpad_(std::move(scratchpad)) {}

  std::span<uint8_t> resolve(const contract::Address& address, int64_t low, int64_t high, Access access) override {
    std::vector<uint8_t>* memory = find(address);
    const int64_t begin = int64_t{address.offset} + low, end = int64_t{address.offset} + high;
    if (memory == nullptr || begin < 0 || begin >= end || end > static_cast<int64_t>(memory->size())) {
      ++refusals;
      return {};
    }
    touches.push_back({access, address.region, address.variable, begin, end});
    return std::span(*memory).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }

  std::vector<uint8_t>& scratchpad() { return scratchpad_; }
  const std::vector<uint8_t>& scratchpad() const { return scratchpad_; }
  std::vector<uint8_t>& variable(uint16_t index, size_t bytes) {
    return variables_.try_emplace(index, bytes, cosim::kPoison).first->second;
  }
  uint8_t* at(const contract::Address& address) { return find(address)->data() + address.offset; }
  const uint8_t* at(const contract::Address& address) const {
    return const_cast<TestMemory*>(this)->find(address)->data() + address.offset;
  }

  // Bytes of the scratchpad that were resolved so far, a mark a byte.
  std::vector<bool> touched(Access access) const {
    std::vector<bool> marks(scratchpad_.size());
    for (const Touch& touch : touches) {
      if (touch.access != access || touch.region != contract::Region::kScratchpad) continue;
      for (int64_t i = touch.low; i < touch.high; ++i) marks[static_cast<size_t>(i)] = true;
    }
    return marks;
  }

  std::vector<Touch> touches;
  int refusals = 0;

 private:
  std::vector<uint8_t>* find(const contract::Address& address) {
    if (address.region == contract::Region::kScratchpad) return &scratchpad_;
    const auto found = variables_.find(address.variable);
    return address.region == contract::Region::kVariable && found != variables_.end() ? &found->second : nullptr;
  }

  std::vector<uint8_t> scratchpad_;
  std::map<uint16_t, std::vector<uint8_t>> variables_;
};

// A machine like the default one, with floating point.
inline contract::Capabilities test_machine() {
  contract::Capabilities caps;
  caps.mxu_cols = 32;
  caps.mxu_depth = 32;
  caps.mxu_dw_taps = 9;
  caps.mxu_int16 = 1;
  caps.mxu_residual = 1;
  caps.mxu_split = 4;
  caps.mxu_acc_bytes = 65536;
  caps.mxu_weight_port_bytes = 64;
  caps.vpu_lanes = 64;
  caps.vpu_registers = 16;
  caps.vpu_table_bytes = 65536;
  caps.vpu_rescale = 1;
  caps.vpu_tree = 1;
  caps.vpu_table_pairs = 1;
  caps.vpu_shared_pass = 1;
  caps.dma_port_bytes = 16;
  caps.mxu_fp8_cycles = 1;
  caps.mxu_fp16_cycles = caps.mxu_bf16_cycles = 2;
  caps.mxu_fp32_cycles = 8;
  caps.vpu_float = 1;
  return caps;
}

// Random numbers from a seed that is printed; NPU_TEST_SEED sets it.
class Random : public cosim::Random {
 public:
  explicit Random(uint64_t fallback) : cosim::Random(chosen(fallback)) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed()));
  }
  [[nodiscard]] std::string name() const { return "seed " + std::to_string(seed()); }

 private:
  static uint64_t chosen(uint64_t fallback) {
    const char* text = std::getenv("NPU_TEST_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 0) : fallback;
  }
};

// Tests that run once for each kernel set of this machine; the parameter is its name.
class EveryKernelSet : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] const Kernels& kernels() const {
    for (const Kernels* kernels : supported_kernels()) {
      if (GetParam() == kernels->name) return *kernels;
    }
    return best_kernels();
  }
};
inline std::vector<std::string> all_kernel_sets() {
  std::vector<std::string> names;
  for (const Kernels* kernels : supported_kernels()) names.emplace_back(kernels->name);
  return names;
}
inline std::string kernel_set_name(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

}  // namespace npu::engine::testing
