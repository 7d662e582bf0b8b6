// SPDX-License-Identifier: Apache-2.0
// When the VPU's ports ask for memory (PortSchedule) while it works on one tile, in bits of VpuPort. Follows from the
// command alone: neither data nor lanes that are off change it.
#pragma once

#include <memory>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/timing/ports.h"

namespace npu::timing {

// For a command that make_tile() took. With every request granted at once it takes the total() of the formula in
// hw/timing/vpu_cycles.h; without elements it asks for nothing and is done from the beginning.
[[nodiscard]] std::unique_ptr<PortSchedule> vpu_ports(const contract::VpuEwiseCommand& command,
                                                      const contract::Capabilities& caps);
[[nodiscard]] std::unique_ptr<PortSchedule> vpu_ports(const contract::VpuPoolCommand& command,
                                                      const contract::Capabilities& caps);
[[nodiscard]] std::unique_ptr<PortSchedule> vpu_ports(const contract::VpuReduceCommand& command,
                                                      const contract::Capabilities& caps);

}  // namespace npu::timing
