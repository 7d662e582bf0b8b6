#include "rtl/verilated/traced.h"

#include <Vmac_array_edge_traced.h>
#include <Vmac_array_nano_traced.h>

#include "rtl/verilated/mac_array_wrapper.h"
#include "rtl/verilated/presets.h"
#include "rtl/verilated/waveform.h"

namespace npu::rtl {

std::unique_ptr<MacArray> make_traced_mac_array(std::string_view preset, const std::string& file) {
  if (preset == "nano") {
    return std::make_unique<VerilatedMacArray<Vmac_array_nano_traced, FstWaveform>>(
        NPU_NANO_MXU_COLS, NPU_NANO_MXU_DEPTH, NPU_NANO_MXU_DW_TAPS, FstWaveform(file));
  }
  if (preset == "edge") {
    return std::make_unique<VerilatedMacArray<Vmac_array_edge_traced, FstWaveform>>(
        NPU_EDGE_MXU_COLS, NPU_EDGE_MXU_DEPTH, NPU_EDGE_MXU_DW_TAPS, FstWaveform(file));
  }
  no_such_preset(preset);
}

}  // namespace npu::rtl
