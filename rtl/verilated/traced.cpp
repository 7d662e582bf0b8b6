// SPDX-License-Identifier: Apache-2.0
#include "rtl/verilated/traced.h"

#include <Vmac_array_edge_traced.h>
#include <Vmac_array_nano_traced.h>
#include <Vvpu_edge_traced.h>
#include <Vvpu_nano_traced.h>

#include "rtl/verilated/mac_array_wrapper.h"
#include "rtl/verilated/vpu_wrapper.h"
#include "rtl/verilated/waveform.h"

namespace npu::rtl {
namespace {

template <class Model>
using TracedMacArray = VerilatedMacArray<Model, FstWaveform>;
template <class Model>
using TracedVpu = VerilatedVpu<Model, FstWaveform>;

}  // namespace

std::unique_ptr<MacArray> make_traced_mac_array(std::string_view preset, const std::string& file) {
  return make_of_preset<MacArray, TracedMacArray<Vmac_array_nano_traced>, TracedMacArray<Vmac_array_edge_traced>>(
      preset, FstWaveform(file));
}

std::unique_ptr<Vpu> make_traced_vpu(std::string_view preset, const std::string& file) {
  return make_of_preset<Vpu, TracedVpu<Vvpu_nano_traced>, TracedVpu<Vvpu_edge_traced>>(preset, FstWaveform(file));
}

}  // namespace npu::rtl
