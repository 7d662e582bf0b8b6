// SPDX-License-Identifier: Apache-2.0
#include "driver/program_file/program_file.h"

#include <fmt/format.h>

#include "driver/graph/byte_stream.h"
#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "driver/program_file/check.h"
#include "driver/program_file/codec.h"
#include "hw/contract/error.h"

namespace npu::program_file {

using contract::ErrorCode;

namespace {

constexpr uintmax_t kMostFileBytes = uintmax_t{4} << 30;

void throw_foreign() {
  throw Error(ErrorCode::kFileDamaged, "this is no compiled program; give one that npu compile wrote.");
}

void throw_other_version(const std::string& what) {
  throw Error(ErrorCode::kContractMismatch,
              fmt::format("the compiled program {}; compile the network again with npu compile.", what));
}

constexpr uint32_t layout() {
  LayoutHash hash;
  hash.add<ProgramFile>();
  return hash.value();
}

constexpr graph::FileKind kProgramFile{.magic = "TNPUPROG",
                                       .version = kProgramFileVersion,
                                       .layout = layout(),
                                       .foreign = throw_foreign,
                                       .damaged = throw_damaged_file,
                                       .other_version = throw_other_version};

}  // namespace

void throw_damaged_file(const std::string& what) {
  throw Error(ErrorCode::kFileDamaged,
              fmt::format("the compiled program {}; compile the network again with npu compile.", what));
}

std::vector<uint8_t> serialise(const ProgramFile& file) {
  check_content(file);
  graph::ByteWriter payload;
  encode(payload, file);
  return graph::framed(kProgramFile, payload.bytes());
}

bool is_program_file(std::span<const uint8_t> bytes) { return graph::has_magic(kProgramFile, bytes); }

ProgramFile parse(std::span<const uint8_t> bytes) {
  graph::ByteReader payload(graph::payload_of(kProgramFile, bytes), kProgramFile);
  ProgramFile file;
  decode(payload, file);
  if (payload.left() > 0) throw_damaged_file("is damaged: something follows its last field");
  check_content(file);
  return file;
}

ProgramFile parse(std::span<const uint8_t> bytes, const std::string& name) {
  try {
    return parse(bytes);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", graph::in_quotes(name), error.what()));
  }
}

ProgramFile read(const std::filesystem::path& path) {
  return parse(graph::read_file(path, kMostFileBytes), path.string());
}

void require_device(const ProgramFile& file, const contract::Capabilities& device) {
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    const uint32_t wanted = file.capabilities.*info.member, there = device.*info.member;
    if (wanted == there) continue;
    throw Error(ErrorCode::kContractMismatch,
                fmt::format("the program was compiled for a machine {} with capabilities {:#010x}, this one has "
                            "{:#010x}: {} is {}, not {}; compile the network again for this machine.",
                            graph::in_quotes(file.machine_name), contract::caps_hash(file.capabilities),
                            contract::caps_hash(device), info.name, there, wanted));
  }
}

void require_places(const ProgramFile& file, bool double_buffer) {
  if (file.two_places == double_buffer) return;
  throw Error(
      ErrorCode::kWrongOrder,
      fmt::format("the program was compiled for contexts {} double buffers, this one is {}; {}.",
                  file.two_places ? "with" : "without", double_buffer ? "with them" : "without them",
                  double_buffer ? "compile the network with npu compile --double-buffer"
                                : "compile the network without --double-buffer, or create the context with it"));
}

}  // namespace npu::program_file
