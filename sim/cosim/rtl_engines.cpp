// SPDX-License-Identifier: Apache-2.0
// Engines and the persistent SRAM on the RTL of a machine.
#include <fmt/format.h>

#include "hw/contract/error.h"
#include "sim/cosim/blocks.h"
#include "sim/cosim/rtl_machine.h"
#include "sim/cosim/rtl_mxu.h"
#include "sim/cosim/rtl_persistent_sram.h"
#include "sim/cosim/rtl_vpu.h"

namespace npu::cosim {

using contract::Capabilities;
using contract::ErrorCode;

namespace {

std::string_view mxu_machine(const Capabilities& caps) {
  const auto fits = [&](const Capabilities& built) {
    return built.mxu_cols == caps.mxu_cols && built.mxu_depth == caps.mxu_depth &&
           built.mxu_dw_taps == caps.mxu_dw_taps && built.mxu_acc_bytes == caps.mxu_acc_bytes &&
           built.mxu_weight_port_bytes == caps.mxu_weight_port_bytes && built.mxu_int16 == caps.mxu_int16 &&
           built.mxu_residual == caps.mxu_residual && built.mxu_split == caps.mxu_split &&
           built.mxu_fp8_cycles == caps.mxu_fp8_cycles && built.mxu_fp16_cycles == caps.mxu_fp16_cycles &&
           built.mxu_bf16_cycles == caps.mxu_bf16_cycles && built.mxu_fp32_cycles == caps.mxu_fp32_cycles;
  };
  return rtl_machine(
      fits,
      fmt::format("an MXU of {} columns, depth {} and {} bytes of accumulators with mxu_int16 {}, mxu_residual {}, "
                  "mxu_split {}, mxu_fp8_cycles {}, mxu_fp16_cycles {}, mxu_bf16_cycles {} and mxu_fp32_cycles {}",
                  caps.mxu_cols, caps.mxu_depth, caps.mxu_acc_bytes, caps.mxu_int16, caps.mxu_residual, caps.mxu_split,
                  caps.mxu_fp8_cycles, caps.mxu_fp16_cycles, caps.mxu_bf16_cycles, caps.mxu_fp32_cycles));
}

std::string_view vpu_machine(const Capabilities& caps) {
  const auto fits = [&](const Capabilities& built) {
    return built.vpu_lanes == caps.vpu_lanes && built.vpu_registers == caps.vpu_registers &&
           built.vpu_table_bytes == caps.vpu_table_bytes && built.vpu_rescale == caps.vpu_rescale &&
           built.vpu_tree == caps.vpu_tree && built.vpu_table_pairs == caps.vpu_table_pairs &&
           built.vpu_shared_pass == caps.vpu_shared_pass && built.vpu_float == caps.vpu_float;
  };
  return rtl_machine(fits, fmt::format("a VPU of {} lanes with {} registers, {} bytes of tables, vpu_rescale {}, "
                                       "vpu_tree {}, vpu_table_pairs {}, vpu_shared_pass {} and vpu_float {}",
                                       caps.vpu_lanes, caps.vpu_registers, caps.vpu_table_bytes, caps.vpu_rescale,
                                       caps.vpu_tree, caps.vpu_table_pairs, caps.vpu_shared_pass, caps.vpu_float));
}

// Whether a machine has a persistent SRAM of these sizes.
auto persistent_sram_of(const Capabilities& caps) {
  return [caps](const Capabilities& built) {
    return built.psram_bytes == caps.psram_bytes && built.psram_port_bytes == caps.psram_port_bytes &&
           built.var_entries == caps.var_entries;
  };
}

}  // namespace

bool has_rtl_persistent_sram(const Capabilities& caps) { return !fitting_machine(persistent_sram_of(caps)).empty(); }

std::unique_ptr<rtl::PersistentSram> make_rtl_persistent_sram(const Capabilities& caps) {
  const std::string_view machine = rtl_machine(
      persistent_sram_of(caps), fmt::format("a persistent SRAM of {} bytes with a port of {} and a table of {} entries",
                                            caps.psram_bytes, caps.psram_port_bytes, caps.var_entries));
  return blocks().persistent_sram(machine);
}

bool has_rtl() { return blocks().built_machines != nullptr; }

bool has_traced_rtl(Unit unit) {
  return unit == Unit::kMxu ? blocks().traced_mac_array != nullptr : blocks().traced_vpu != nullptr;
}

std::unique_ptr<RtlEngine> make_rtl_engine(Unit unit, const Capabilities& caps, const std::string& waveform) {
  const bool mxu = unit == Unit::kMxu;
  const std::string_view machine = mxu ? mxu_machine(caps) : vpu_machine(caps);
  if (waveform.empty()) {
    return mxu ? make_rtl_mxu(caps, blocks().mac_array(machine)) : make_rtl_vpu(caps, blocks().vpu(machine));
  }
  if (!has_traced_rtl(unit)) {
    throw Error(ErrorCode::kFeatureUnsupported,
                fmt::format("the RTL beside this program has no {} that writes waveforms; there is one with "
                            "-DNPU_RTL_TRACE=ON",
                            title(unit)));
  }
  return mxu ? make_rtl_mxu(caps, blocks().traced_mac_array(machine, waveform))
             : make_rtl_vpu(caps, blocks().traced_vpu(machine, waveform));
}

}  // namespace npu::cosim
