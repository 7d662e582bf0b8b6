// The command stream in words, with the places that name variables.
#pragma once

#include <vector>

#include "driver/compiler/program.h"
#include "driver/compiler/schedule/emit.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

// Fills commands, command_count, caps_hash and variable_relocations of `program`.
void encode(const std::vector<Command>& commands, const contract::Capabilities& capabilities, Program& program);

}  // namespace npu::compiler::backend
