// SPDX-License-Identifier: Apache-2.0
// A compiled program as a file: `npu compile` writes it, a driver loads it without the network and without compiling.
//
// The file has the frame of graph/byte_stream.h with the magic "TNPUPROG". Its payload is a ProgramFile, field after
// field as fields.h lists them (codec.h says how). The frame's version is kProgramFileVersion, and its layout a hash of
// the names and types of all fields: a file of a program with other fields is of another version. The same program
// always gives the same bytes.
//
// It holds one program, or those that one compilation for sizes within bounds gave (compiler/bounds.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"

namespace npu::program_file {

// To be raised where the meaning of a field changes and neither its name nor its type does.
inline constexpr uint32_t kProgramFileVersion = 1;

struct ProgramFile {
  // Of the contract, whose numbers commands and patches have.
  uint32_t contract_major = contract::kContractMajor, contract_minor = contract::kContractMinor;
  contract::Capabilities capabilities;  // of the machine that it was compiled for
  std::string machine_name;             // for people
  std::string machine;         // what a simulator makes the machine of, which drivers do not read; may be empty
  std::string network;         // name of the network's file, without folders
  std::string network_sha256;  // of that file, as `sha256sum` prints it; empty: unknown
  bool two_places = false;     // compiled for contexts with double buffers (ScheduleOptions::two_places)
  bool state_in_dram = false;  // ScheduleOptions::state_in_dram
  // One, or for sizes within bounds those that are for them together: each has a table of the same sizes, and ports and
  // variables that differ in sizes alone.
  std::vector<compiler::Program> programs;

  [[nodiscard]] bool is_sized() const { return !programs.front().sizes.empty(); }
};

// Throws Error(file_damaged) naming the first thing that no program says: what check_content() finds.
[[nodiscard]] std::vector<uint8_t> serialise(const ProgramFile& file);

// Whether it starts as such a file does.
[[nodiscard]] bool is_program_file(std::span<const uint8_t> bytes);

// Throws Error: file_damaged when the bytes are truncated, foreign, damaged (checksum), or say something impossible;
// contract_mismatch when they are of another version of the format or of the contract. Takes no more memory than a few
// times the file's size. What commands do is the device's to check, and whether patches, ports, variables and segments
// fit commands and regions is Context::load()'s.
[[nodiscard]] ProgramFile parse(std::span<const uint8_t> bytes);

// The same; `name` stands in front of messages.
[[nodiscard]] ProgramFile parse(std::span<const uint8_t> bytes, const std::string& name);

// The same of a file, and cannot_read; budget_exceeded for more than 4 GiB.
[[nodiscard]] ProgramFile read(const std::filesystem::path& path);

// Throws Error(contract_mismatch) unless a device with these capabilities runs the program: names both hashes and the
// first capability that differs. Throws Error(wrong_order) unless a context with or without double buffers is what it
// was compiled for.
void require_device(const ProgramFile& file, const contract::Capabilities& device);
void require_places(const ProgramFile& file, bool double_buffer);

}  // namespace npu::program_file
