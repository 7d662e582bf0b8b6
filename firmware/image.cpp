// SPDX-License-Identifier: Apache-2.0
#include "firmware/image.h"

extern "C" {
extern const uint8_t npu_firmware_image_begin[], npu_firmware_image_end[];
extern const char npu_firmware_symbols_begin[], npu_firmware_symbols_end[];
extern const char npu_firmware_elf_path[];
extern const char npu_firmware_source_root[];
}

namespace npu::firmware {

std::span<const uint8_t> image() { return {npu_firmware_image_begin, npu_firmware_image_end}; }

std::string_view symbols() {
  return {npu_firmware_symbols_begin, static_cast<size_t>(npu_firmware_symbols_end - npu_firmware_symbols_begin)};
}

std::string_view elf_path() { return npu_firmware_elf_path; }

std::string_view source_root() { return npu_firmware_source_root; }

}  // namespace npu::firmware
