// SPDX-License-Identifier: Apache-2.0
#include "tests/system/graphs/random_machine.h"

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include "hw/contract/error.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
using presets::Preset;

// Sizes that a test's memory must hold. All other keys are drawn from all that they may be.
uint32_t most(const contract::CapabilityInfo& key) {
  if (key.name == "spm_bytes") return 1u << 22;
  if (key.name == "psram_bytes") return 1u << 20;
  if (key.name == "dram_mib") return 64;
  return key.max;
}

// Small and large values alike: each power of two between the bounds is as likely as the next.
uint32_t draw(const contract::CapabilityInfo& key, std::mt19937& random) {
  if (key.max == 1) return random() % 2;
  const auto low = static_cast<uint32_t>(std::bit_width(key.min) - 1);
  const auto high = static_cast<uint32_t>(std::bit_width(most(key)) - 1);
  const uint32_t power = 1u << (low + random() % (high - low + 1));
  const uint32_t value = key.power_of_two ? power : power + random() % power;
  return std::clamp(value, key.min, most(key));
}

presets::Dram random_dram(std::mt19937& random) {
  const std::vector<std::string> names = presets::preset_names();
  presets::Dram dram = presets::load_preset(names[random() % names.size()]).dram;
  if (random() % 4 > 0) return dram;
  presets::Dram fixed;
  fixed.name = "fixed latency";
  fixed.data_rate_mts = dram.data_rate_mts;
  fixed.bus_bits = dram.bus_bits;
  fixed.latency_ns = 1 + random() % 500;
  return fixed;
}

}  // namespace

Preset random_machine(uint32_t seed) {
  std::mt19937 random(seed);
  for (;;) {
    Preset machine;
    for (const contract::CapabilityInfo& key : contract::kCapabilities) machine.caps.*key.member = draw(key, random);
    machine.dram = random_dram(random);
    try {
      return presets::parse_preset("machine " + std::to_string(seed), "random", presets::to_yaml(machine));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBadPreset) throw;
    }
  }
}

}  // namespace npu::test
