// SPDX-License-Identifier: Apache-2.0
// The firmware image that this build made, within the program.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace npu::firmware {

// firmware_header, then the code.
[[nodiscard]] std::span<const uint8_t> image();
// Functions of the image: lines "ADDRESS NAME", hexadecimal, ascending.
[[nodiscard]] std::string_view symbols();
// Where the build left the ELF file, for a debugger.
[[nodiscard]] std::string_view elf_path();
// The folder that the file names in its debugging information are relative to: the sources of the build.
[[nodiscard]] std::string_view source_root();

}  // namespace npu::firmware
