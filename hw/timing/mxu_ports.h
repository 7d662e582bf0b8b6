// SPDX-License-Identifier: Apache-2.0
// When the MXU's memory ports ask (MxuPort): the RTL's handshakes without its data.
#pragma once

#include <memory>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/timing/ports.h"

namespace npu::timing {

// With every request granted at once it takes mxu_cycles().total() cycles. A tile with a dimension of 0 asks for
// nothing and is done from the beginning.
[[nodiscard]] std::unique_ptr<PortSchedule> mxu_ports(const contract::MxuCommand& command,
                                                      const contract::Capabilities& caps);

}  // namespace npu::timing
