// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/rtl_machines.h"

#include <algorithm>
#include <sstream>

namespace npu::cli {

const std::vector<std::string>& rtl_presets() {
  static const std::vector<std::string> names = [] {
    std::istringstream list(NPU_RTL_PRESETS);
    std::vector<std::string> read;
    for (std::string name; std::getline(list, name, ',');) read.push_back(name);
    return read;
  }();
  return names;
}

bool has_rtl_sizes(const presets::Preset& machine) {
  const contract::Capabilities& caps = machine.caps;
  const auto same_sizes = [&](const std::string& name) {
    const contract::Capabilities built = presets::load_preset(name).caps;
    return built.mxu_cols == caps.mxu_cols && built.mxu_depth == caps.mxu_depth &&
           built.mxu_dw_taps == caps.mxu_dw_taps && built.mxu_acc_bytes == caps.mxu_acc_bytes &&
           built.mxu_weight_port_bytes == caps.mxu_weight_port_bytes && built.mxu_int16 == caps.mxu_int16 &&
           built.mxu_residual == caps.mxu_residual && built.mxu_split == caps.mxu_split &&
           built.mxu_fp8_cycles == caps.mxu_fp8_cycles && built.mxu_fp16_cycles == caps.mxu_fp16_cycles &&
           built.mxu_bf16_cycles == caps.mxu_bf16_cycles && built.mxu_fp32_cycles == caps.mxu_fp32_cycles &&
           built.vpu_lanes == caps.vpu_lanes && built.vpu_registers == caps.vpu_registers &&
           built.vpu_table_bytes == caps.vpu_table_bytes && built.vpu_rescale == caps.vpu_rescale &&
           built.vpu_tree == caps.vpu_tree && built.vpu_table_pairs == caps.vpu_table_pairs &&
           built.vpu_shared_pass == caps.vpu_shared_pass && built.vpu_float == caps.vpu_float;
  };
  // Most machines are one of them: that of the same name first, the others need not be read then.
  std::vector<std::string> names = rtl_presets();
  std::stable_partition(names.begin(), names.end(), [&](const std::string& name) { return name == machine.name; });
  return std::any_of(names.begin(), names.end(), same_sizes);
}

}  // namespace npu::cli
