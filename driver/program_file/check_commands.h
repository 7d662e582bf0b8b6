// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/compiler/program.h"

namespace npu::program_file {

// Whether the main stream is a row of commands that reports can read: each well formed, with its reserved bits 0, of a
// layer and of variables that the program has, and loops within each other. Throws Error(file_damaged) naming the
// command.
void check_stream(const compiler::Program& program);

}  // namespace npu::program_file
