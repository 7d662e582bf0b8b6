// SPDX-License-Identifier: Apache-2.0
// The beats of the DMA's address generator: which side offers one in which cycle.
#pragma once

#include <memory>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/timing/ports.h"

namespace npu::timing {

enum DmaPort : Ports { kDmaSource = 1, kDmaDestination = 2, kDmaIndex = 4 };

[[nodiscard]] std::unique_ptr<PortSchedule> dma_ports(const contract::DmaCommand& command,
                                                      const contract::Capabilities& caps);

}  // namespace npu::timing
