// SPDX-License-Identifier: Apache-2.0
#include "sim/inspect/machine_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hw/contract/error.h"

namespace npu::inspect {
namespace {

enum class Step : uint8_t { kTwice, kHalf };

struct Rule {
  std::string_view resource;
  std::vector<std::string_view> keys;  // those of them that the machine has
  Step step = Step::kTwice;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = {
      {"scratchpad", {"spm_bytes"}},
      {"scratchpad banks", {"spm_banks"}},
      {"MXU columns", {"mxu_cols"}},
      {"MXU depth", {"mxu_depth"}},
      {"MXU depthwise taps", {"mxu_dw_taps"}},
      {"MXU accumulators", {"mxu_acc_bytes"}},
      {"MXU weight port", {"mxu_weight_port_bytes"}},
      {"VPU lanes", {"vpu_lanes"}},
      {"MXU floating point", {"mxu_fp8_cycles", "mxu_fp16_cycles", "mxu_bf16_cycles", "mxu_fp32_cycles"}, Step::kHalf},
      {"DRAM data rate", {"data_rate_mts"}},
      {"DRAM port", {"dma_port_bytes"}},
      {"DRAM data rate and port", {"data_rate_mts", "dma_port_bytes"}},
      {"DRAM latency", {"latency_ns", "t_rcd_ns", "t_rp_ns", "t_cas_ns", "t_ras_ns", "t_wr_ns"}, Step::kHalf},
      {"DMA channels", {"dma_channels"}},
      {"DMA bursts in flight", {"dma_outstanding"}},
      {"DMA burst", {"dma_burst_bytes"}},
      {"command FIFOs", {"fifo_depth"}},
      {"persistent SRAM port", {"psram_port_bytes"}},
      {"variable table", {"var_entries"}, Step::kHalf},
  };
  return kRules;
}

std::optional<KeyChange> value_of(const presets::Preset& machine, std::string_view key) {
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    if (info.name == key) return KeyChange{info.name, false, machine.caps.*info.member, 0};
  }
  for (const auto& [name, value] : presets::keys_of(machine.dram)) {
    if (name == key) return KeyChange{name, true, value, 0};
  }
  return std::nullopt;
}

uint32_t stepped(uint32_t value, Step step) { return step == Step::kTwice ? 2 * value : (value + 1) / 2; }

// The machine's file with these values in place of its own.
std::string with_values(const presets::Preset& machine, const std::vector<KeyChange>& keys) {
  std::string text = presets::to_yaml(machine);
  for (const KeyChange& change : keys) {
    const std::string line = fmt::format("\n{}{}: ", change.of_dram ? "  " : "", change.key);
    const size_t at = text.find(line);
    NPU_CHECK(at != std::string::npos);
    const size_t begin = at + line.size();
    text.replace(begin, text.find('\n', begin) - begin, fmt::format("{}", change.to));
  }
  return text;
}

// Nullopt where the rule changes nothing or the machine would break a rule of its file.
std::optional<MachineChange> apply(const Rule& rule, const presets::Preset& machine) {
  MachineChange result{rule.resource, {}, {}};
  for (const std::string_view key : rule.keys) {
    std::optional<KeyChange> change = value_of(machine, key);
    if (!change) continue;
    change->to = stepped(change->from, rule.step);
    if (change->to != change->from) result.keys.push_back(*change);
  }
  if (result.keys.empty()) return std::nullopt;
  try {
    result.machine = presets::parse_preset(machine.name, machine.name, with_values(machine, result.keys));
  } catch (const Error& error) {
    if (error.code() != contract::ErrorCode::kBadPreset) throw;
    return std::nullopt;
  }
  return result;
}

}  // namespace

std::vector<MachineChange> list_changes(const presets::Preset& machine) {
  std::vector<MachineChange> changes;
  for (const Rule& rule : rules()) {
    if (std::optional<MachineChange> change = apply(rule, machine)) changes.push_back(std::move(*change));
  }
  return changes;
}

std::string to_text(const MachineChange& change) {
  std::string text;
  for (const KeyChange& key : change.keys) {
    text += fmt::format("{}{}{}: {} ({:+d})", text.empty() ? "" : ", ", key.of_dram ? "dram." : "", key.key, key.to,
                        int64_t{key.to} - int64_t{key.from});
  }
  return text;
}

}  // namespace npu::inspect
