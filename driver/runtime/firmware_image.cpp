// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/firmware_image.h"

#include <fmt/format.h>

#include <string>

#include "hw/contract/error.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::FirmwareHeader;

constexpr uint32_t kFirmwareMagic = 0x4655504e;  // 'NPUF'

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kBadFirmware,
              fmt::format("{}; use the image that was built with this driver, or build the firmware again.", what));
}

uint32_t fnv1a(std::span<const uint8_t> bytes) {
  uint32_t hash = 0x811c9dc5;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x01000193;
  return hash;
}

}  // namespace

FirmwareImage parse_firmware(std::span<const uint8_t> bytes) {
  if (bytes.size() < FirmwareHeader::kBytes) {
    refuse(fmt::format("the firmware image has {} bytes, but its header alone takes {}", bytes.size(),
                       FirmwareHeader::kBytes));
  }
  FirmwareImage image;
  image.header = FirmwareHeader::load(bytes.data());
  image.code = bytes.subspan(FirmwareHeader::kBytes);
  const FirmwareHeader& header = image.header;
  if (header.magic != kFirmwareMagic) {
    refuse(
        fmt::format("this is no firmware image: it starts with {:#010x}, not {:#010x}", header.magic, kFirmwareMagic));
  }
  if (header.major != contract::kContractMajor || header.minor != contract::kContractMinor) {
    throw Error(ErrorCode::kFirmwareMismatch,
                fmt::format("the firmware image speaks version {}.{} of the contract, this driver {}.{}; use firmware "
                            "and driver of the same release.",
                            header.major, header.minor, contract::kContractMajor, contract::kContractMinor));
  }
  if (header.code_bytes == 0 || header.code_bytes % 4 != 0 || header.code_bytes > contract::kCpuCodeBytes) {
    refuse(fmt::format("the firmware's code has {} bytes, but 4 to {}, in whole words, fit into the code memory",
                       header.code_bytes, contract::kCpuCodeBytes));
  }
  if (header.code_bytes != image.code.size()) {
    refuse(fmt::format("the firmware image holds {} bytes of code, but its header says {}", image.code.size(),
                       header.code_bytes));
  }
  if (header.data_bytes > contract::kCpuDataBytes) {
    refuse(fmt::format("the firmware needs {} bytes of data memory, but there are {}", header.data_bytes,
                       contract::kCpuDataBytes));
  }
  if (const uint32_t checksum = fnv1a(image.code); checksum != header.checksum) {
    refuse(fmt::format("the firmware image is damaged: its code has checksum {:#010x}, its header says {:#010x}",
                       checksum, header.checksum));
  }
  return image;
}

}  // namespace npu::runtime
