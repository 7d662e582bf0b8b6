// SPDX-License-Identifier: Apache-2.0
// Compiled programs as files: what is written is read again, and other versions and machines are told.
#include "driver/program_file/program_file.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "driver/graph/file.h"
#include "driver/program_file/codec.h"
#include "tests/unit/program_file/fixture.h"

namespace npu::program_file {
namespace {

using contract::ErrorCode;

// Field by field through all structures; the number of values that were compared.
template <typename T>
size_t compare(const T& a, const T& b) {
  if constexpr (requires { fields(a); }) {
    const auto others = fields(b);
    return [&]<size_t... i>(std::index_sequence<i...>) {
      const auto mine = fields(a);
      return (compare(std::get<i>(mine), std::get<i>(others)) + ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(others)>>());
  } else if constexpr (is_vector<T>) {
    EXPECT_EQ(a.size(), b.size());
    size_t compared = 1;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) compared += compare(a[i], b[i]);
    return compared;
  } else {
    EXPECT_TRUE(a == b);
    return 1;
  }
}

TEST(ProgramFiles, AreReadAsTheyWereWritten) {
  size_t compared = 0, programs = 0, variables = 0, segments = 0, patches = 0;
  for (const ProgramFile& seed : fuzz::program_seeds()) {
    const ProgramFile read = parse(serialise(seed));
    compared += compare(seed, read);
    programs += read.programs.size();
    for (const compiler::Program& program : read.programs) {
      variables += program.variables.size();
      segments += program.segments.size();
      patches += program.patches.size();
    }
  }
  EXPECT_GT(programs, fuzz::program_seeds().size());
  EXPECT_GT(compared, 500U);
  EXPECT_GT(variables, 0U);
  EXPECT_GT(segments, 0U);
  EXPECT_GT(patches, 0U);
}

TEST(ProgramFiles, OfTheSameNetworkAreTheSameBytes) {
  const std::vector<ProgramFile> a = fuzz::program_seeds(), b = fuzz::program_seeds();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(serialise(a[i]), serialise(b[i])) << a[i].network;
}

TEST(ProgramFiles, StartWithMagicAndVersion) {
  const std::vector<uint8_t> bytes = serialise(fuzz::program_seeds()[0]);
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 8), "TNPUPROG");
  EXPECT_EQ(bytes[8], kProgramFileVersion);
  EXPECT_TRUE(is_program_file(bytes));
  EXPECT_FALSE(is_program_file(std::span(bytes).first(7)));
}

TEST(ProgramFiles, OfOtherVersionsAreTold) {
  std::vector<uint8_t> bytes = serialise(fuzz::program_seeds()[0]);
  for (const size_t at : {8, 12}) {  // version, layout
    std::vector<uint8_t> other = bytes;
    ++other[at];
    const auto [code, message] = refusal_of(other);
    EXPECT_EQ(code, ErrorCode::kContractMismatch);
    EXPECT_NE(message.find("has format version"), std::string::npos) << message;
  }
  bytes[0] = 'X';
  EXPECT_NE(refusal_of(bytes).second.find("this is no compiled program"), std::string::npos);
  EXPECT_EQ(refusal_of({}).first, ErrorCode::kFileDamaged);
}

TEST(ProgramFiles, OfAnotherContractAreTold) {
  ProgramFile file = fuzz::program_seeds()[0];
  ++file.contract_minor;
  const auto [code, message] = error_in([&] { static_cast<void>(serialise(file)); });
  EXPECT_EQ(code, ErrorCode::kContractMismatch);
  EXPECT_NE(message.find("compiled for version"), std::string::npos) << message;
}

TEST(ProgramFiles, OfAnotherMachineNameHashesAndTheFirstKey) {
  const ProgramFile file = fuzz::program_seeds()[0];
  EXPECT_NO_THROW(require_device(file, file.capabilities));
  contract::Capabilities other = file.capabilities;
  other.mxu_cols *= 2;
  other.dram_mib *= 2;
  const auto [code, message] = error_in([&] { require_device(file, other); });
  EXPECT_EQ(code, ErrorCode::kContractMismatch);
  EXPECT_NE(message.find("mxu_cols is 16, not 8"), std::string::npos) << message;
  for (const contract::Capabilities& caps : {file.capabilities, other}) {
    char hash[16];
    std::snprintf(hash, sizeof hash, "0x%08x", contract::caps_hash(caps));
    EXPECT_NE(message.find(hash), std::string::npos) << message;
  }
}

TEST(ProgramFiles, NeedTheContextThatTheyWereCompiledFor) {
  ProgramFile file = fuzz::program_seeds()[0];
  for (const bool compiled : {false, true}) {
    file.two_places = compiled;
    EXPECT_NO_THROW(require_places(file, compiled));
    const auto [code, message] = error_in([&] { require_places(file, !compiled); });
    EXPECT_EQ(code, ErrorCode::kWrongOrder);
    EXPECT_NE(message.find("--double-buffer"), std::string::npos) << message;
  }
}

TEST(ProgramFiles, AreNamedInErrors) {
  const auto path = std::filesystem::path(testing::TempDir()) / "damaged.npu";
  graph::write_file(path, std::vector<uint8_t>{'T', 'N', 'P', 'U', 'P', 'R', 'O', 'G'});
  const auto [code, message] = error_in([&] { static_cast<void>(read(path)); });
  EXPECT_EQ(code, ErrorCode::kFileDamaged);
  EXPECT_NE(message.find("damaged.npu': the compiled program is truncated"), std::string::npos) << message;
  std::filesystem::remove(path);
  EXPECT_EQ(error_in([&] { static_cast<void>(read(path)); }).first, ErrorCode::kCannotRead);
}

}  // namespace
}  // namespace npu::program_file
