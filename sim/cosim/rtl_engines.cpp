// Which RTL this program has; no_rtl.cpp is compiled in its place where there is none.
#include <fmt/format.h>

#include <algorithm>

#include "hw/contract/error.h"
#include "rtl/verilated/traced.h"
#include "sim/cosim/blocks.h"
#include "sim/cosim/rtl_mxu.h"
#include "sim/cosim/rtl_vpu.h"

namespace npu::cosim {

using contract::Capabilities;
using contract::ErrorCode;

namespace {

struct MxuSizes {
  std::string_view preset;
  uint32_t cols, depth, dw_taps, acc_bytes, weight_port_bytes;

  [[nodiscard]] bool fits(const Capabilities& caps) const {
    return cols == caps.mxu_cols && depth == caps.mxu_depth && dw_taps == caps.mxu_dw_taps &&
           acc_bytes == caps.mxu_acc_bytes && weight_port_bytes == caps.mxu_weight_port_bytes;
  }
};

constexpr MxuSizes kMxus[] = {
    {"nano", NPU_NANO_MXU_COLS, NPU_NANO_MXU_DEPTH, NPU_NANO_MXU_DW_TAPS, NPU_NANO_MXU_ACC_BYTES,
     NPU_NANO_MXU_WEIGHT_PORT_BYTES},
    {"edge", NPU_EDGE_MXU_COLS, NPU_EDGE_MXU_DEPTH, NPU_EDGE_MXU_DW_TAPS, NPU_EDGE_MXU_ACC_BYTES,
     NPU_EDGE_MXU_WEIGHT_PORT_BYTES},
};

std::string_view mxu_preset(const Capabilities& caps) {
  const auto found = std::find_if(std::begin(kMxus), std::end(kMxus), [&](const auto& mxu) { return mxu.fits(caps); });
  if (found != std::end(kMxus)) return found->preset;
  throw Error(ErrorCode::kBadPreset,
              fmt::format("no RTL was built of an MXU of {} columns and depth {} as this machine has; there is RTL of "
                          "the presets nano and edge",
                          caps.mxu_cols, caps.mxu_depth));
}

std::string_view vpu_preset(const Capabilities& caps) {
  if (caps.vpu_lanes == NPU_NANO_VPU_LANES) return "nano";
  if (caps.vpu_lanes == NPU_EDGE_VPU_LANES) return "edge";
  throw Error(ErrorCode::kBadPreset, fmt::format("no RTL was built of a VPU of {} lanes as this machine has; there is "
                                                 "RTL of the presets nano and edge",
                                                 caps.vpu_lanes));
}

}  // namespace

Blocks& blocks() {
  static Blocks blocks = [] {
    Blocks built;
#ifdef NPU_RTL_TRACE
    built.traced_mac_array = rtl::make_traced_mac_array;
    built.traced_vpu = rtl::make_traced_vpu;
#endif
    return built;
  }();
  return blocks;
}

bool has_rtl(Unit) { return true; }

bool has_traced_rtl(Unit unit) {
  return unit == Unit::kMxu ? blocks().traced_mac_array != nullptr : blocks().traced_vpu != nullptr;
}

std::unique_ptr<RtlEngine> make_rtl_engine(Unit unit, const Capabilities& caps, const std::string& waveform) {
  const bool mxu = unit == Unit::kMxu;
  const std::string_view preset = mxu ? mxu_preset(caps) : vpu_preset(caps);
  if (waveform.empty()) {
    return mxu ? make_rtl_mxu(caps, blocks().mac_array(preset)) : make_rtl_vpu(caps, blocks().vpu(preset));
  }
  if (!has_traced_rtl(unit)) {
    throw Error(ErrorCode::kFeatureUnsupported,
                fmt::format("this program was built without a {} that writes waveforms; there is one with "
                            "-DNPU_RTL_TRACE=ON",
                            title(unit)));
  }
  return mxu ? make_rtl_mxu(caps, blocks().traced_mac_array(preset, waveform))
             : make_rtl_vpu(caps, blocks().traced_vpu(preset, waveform));
}

}  // namespace npu::cosim
