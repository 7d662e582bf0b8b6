// SPDX-License-Identifier: Apache-2.0
// What the content of a program's file must be for reports and drivers to use it, beside what loading checks.
#pragma once

#include "driver/program_file/program_file.h"

namespace npu::program_file {

// Throws Error: contract_mismatch for another version of the contract; file_damaged naming the first thing that is
// wrong: sizes of the machine out of range, another hash of them, types, shapes, sizes and values of ports and
// variables, numbers of layers beyond all sense, commands that are none, or that name layers or variables that do not
// exist, loops that do not lie within each other; sizes that do not fit their bounds, rules, stream or ports; programs
// that are not for the same sizes, or whose ports and variables differ in more than sizes.
void check_content(const ProgramFile& file);

// Throws Error(file_damaged): "the compiled program <what>; ...".
[[noreturn]] void throw_damaged_file(const std::string& what);

}  // namespace npu::program_file
