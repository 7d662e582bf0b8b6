// SPDX-License-Identifier: Apache-2.0
#include "hw/contract/error.h"
#include "sim/cosim/engine_trials.h"
#include "sim/cosim/memory_trials.h"
#include "sim/cosim/trial.h"

namespace npu::cosim {

std::string_view name(Block block) {
  switch (block) {
    case Block::kMxu:
      return "mxu";
    case Block::kVpu:
      return "vpu";
    case Block::kDma:
      return "dma";
    case Block::kScratchpad:
      return "scratchpad";
    case Block::kPersistentSram:
      return "persistent_sram";
  }
  panic(__FILE__, __LINE__, "a block without a name");
}

std::unique_ptr<Trials> make_trials(Block block, const contract::Capabilities& caps) {
  switch (block) {
    case Block::kMxu:
      return make_engine_trials(Unit::kMxu, caps);
    case Block::kVpu:
      return make_engine_trials(Unit::kVpu, caps);
    case Block::kDma:
      return make_dma_trials(caps);
    case Block::kScratchpad:
      return make_scratchpad_trials(caps);
    case Block::kPersistentSram:
      return make_persistent_sram_trials(caps);
  }
  panic(__FILE__, __LINE__, "a block without trials");
}

}  // namespace npu::cosim
