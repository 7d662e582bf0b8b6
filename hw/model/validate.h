// SPDX-License-Identifier: Apache-2.0
// Field checks of a command, before anything is computed from it.
#pragma once

#include <cstdint>
#include <span>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/errors.h"
#include "hw/model/command.h"

namespace npu::model {

// Opcode, length and counts (contract::well_formed), reserved bits, queue and core, and the fields: of engines'
// commands as engine::make_tile() and engine::can_run() check them, of the others enumerations and at least one of
// everything that is counted. Errors: fault_bad_command; fault_token when it waits for a queue that this device does
// not have. On success `decoded` holds the command.
[[nodiscard]] contract::ErrorCode check_command(std::span<const uint32_t> words, const contract::Capabilities& caps,
                                                DecodedCommand& decoded);

}  // namespace npu::model
