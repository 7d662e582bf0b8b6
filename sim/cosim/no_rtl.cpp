// SPDX-License-Identifier: Apache-2.0
// Of a program that was built without RTL.
#include <fmt/format.h>

#include "hw/contract/error.h"
#include "sim/cosim/memory_trials.h"
#include "sim/cosim/rtl_engine.h"

namespace npu::cosim {

namespace {

[[noreturn]] void no_trials(std::string_view block) {
  throw Error(contract::ErrorCode::kFeatureUnsupported,
              fmt::format("this program was built without RTL, so there is no {} to try: build it with "
                          "-DNPU_WITH_RTL=ON",
                          block));
}

}  // namespace

bool has_rtl(Unit) { return false; }

bool has_traced_rtl(Unit) { return false; }

std::unique_ptr<RtlEngine> make_rtl_engine(Unit unit, const contract::Capabilities&, const std::string&) {
  throw Error(contract::ErrorCode::kFeatureUnsupported,
              fmt::format("this program was built without RTL, so the {} runs on the model only: build it with "
                          "-DNPU_WITH_RTL=ON",
                          title(unit)));
}

std::unique_ptr<Trials> make_dma_trials(const contract::Capabilities&) { no_trials("DMA"); }

std::unique_ptr<Trials> make_scratchpad_trials(const contract::Capabilities&) { no_trials("scratchpad"); }

std::unique_ptr<Trials> make_persistent_sram_trials(const contract::Capabilities&) { no_trials("persistent SRAM"); }

}  // namespace npu::cosim
