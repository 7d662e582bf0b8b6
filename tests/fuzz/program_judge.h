// SPDX-License-Identifier: Apache-2.0
// Judges the bytes of a compiled program's file, and makes the files that judging starts from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/program_file/program_file.h"
#include "hw/contract/error.h"

namespace npu::fuzz {

// Legal content for a small machine, of networks with variables, loops and several layers, and for sizes within bounds.
[[nodiscard]] std::vector<program_file::ProgramFile> program_seeds();

// The same file with a payload that was changed, and a checksum that fits it.
[[nodiscard]] std::vector<uint8_t> resealed(std::span<const uint8_t> file, std::span<const uint8_t> payload);
// Of a file of any bytes; empty for one that is shorter than its frame.
[[nodiscard]] std::span<const uint8_t> payload_in(std::span<const uint8_t> file);

struct ProgramAnswer {
  std::optional<program_file::ProgramFile> file;  // nullopt: refused
  contract::ErrorCode code = contract::ErrorCode::kOk;
  std::string message;
};

// Aborts for a file that is refused with another code than those of parse(), or that is accepted and written otherwise.
ProgramAnswer judge_program(std::span<const uint8_t> bytes);

}  // namespace npu::fuzz
