// SPDX-License-Identifier: Apache-2.0
// Files that were damaged or made to hurt: truncated, with any byte changed, and with a checksum that fits the change.
#include <algorithm>
#include <random>

#include "driver/graph/byte_stream.h"
#include "driver/runtime/mock_hal.h"
#include "driver/runtime/runtime.h"
#include "sim/report/report.h"
#include "tests/unit/program_file/fixture.h"

namespace npu::program_file {
namespace {

using contract::ErrorCode;

bool is_refusal(ErrorCode code) { return code == ErrorCode::kFileDamaged || code == ErrorCode::kContractMismatch; }

// What loads programs and what reports list must take whatever parse() accepts: an error, or none.
class Users {
 public:
  Users()
      : capabilities_(fuzz::program_seeds()[0].capabilities),
        device_(runtime::Device::open(std::make_unique<runtime::MockHal>(capabilities_), {.bypass_firmware = true})) {}

  // Whether all programs were loaded.
  bool use(const ProgramFile& file) {
    if (file.capabilities != capabilities_) return false;
    return std::all_of(file.programs.begin(), file.programs.end(),
                       [&](const compiler::Program& program) { return use(file, program); });
  }

 private:
  bool use(const ProgramFile& file, const compiler::Program& program) {
    static_cast<void>(report::hash_program(program));
    const auto [code, message] = error_in([&] {
      runtime::Context context = device_.create_context();
      const runtime::LoadedProgram loaded = context.load(program);
      static_cast<void>(loaded.blocking_cycles());
    });
    report::RunInfo info;
    info.machine.caps = file.capabilities;
    info.machine.dram.data_rate_mts = info.machine.dram.bus_bits = 32;
    const report::Collector collector(std::move(info), program);
    EXPECT_LE(collector.commands().size(), program.commands.size());
    EXPECT_NE(code, ErrorCode::kBug) << message;
    return code == ErrorCode::kOk;
  }

  contract::Capabilities capabilities_;
  runtime::Device device_;
};

TEST(HostileProgramFiles, EveryTruncationIsRefused) {
  for (const size_t which : {0, 4}) {
    const std::vector<uint8_t> file = serialise(fuzz::program_seeds()[which]);
    for (size_t bytes = 0; bytes < file.size(); ++bytes) {
      EXPECT_EQ(refusal_of(std::span(file).first(bytes)).first, ErrorCode::kFileDamaged) << bytes << " bytes";
    }
    std::vector<uint8_t> longer = file;
    longer.push_back(0);
    EXPECT_EQ(refusal_of(longer).first, ErrorCode::kFileDamaged);
  }
}

TEST(HostileProgramFiles, EveryWrongByteIsRefused) {
  std::vector<uint8_t> file = serialise(fuzz::program_seeds()[0]);
  std::mt19937 random(1);
  for (uint8_t& byte : file) {
    const uint8_t good = byte;
    for (const uint64_t wrong : {good ^ 1UL, good ^ 0x80UL, good + 1 + random() % 255}) {
      byte = static_cast<uint8_t>(wrong);
      EXPECT_TRUE(is_refusal(refusal_of(file).first)) << "byte " << &byte - file.data();
    }
    byte = good;
  }
}

TEST(HostileProgramFiles, WithChecksumsThatFitDoNoHarm) {
  Users users;
  std::mt19937 random(2);
  size_t refused = 0, accepted = 0, loaded = 0;
  for (const size_t which : {0, 1, 3, 4}) {
    const ProgramFile seed = fuzz::program_seeds()[which];
    const std::vector<uint8_t> good = serialise(seed);
    const std::span<const uint8_t> content = fuzz::payload_in(good);
    std::vector<uint8_t> payload(content.begin(), content.end());
    for (uint8_t& byte : payload) {
      const uint8_t before = byte;
      for (const uint64_t wrong : {before ^ 1UL, 0xffUL, random() & 0xff}) {
        byte = static_cast<uint8_t>(wrong);
        const fuzz::ProgramAnswer answer = fuzz::judge_program(fuzz::resealed(good, payload));
        ++(answer.file ? accepted : refused);
        if (answer.file) loaded += users.use(*answer.file);
      }
      byte = before;
    }
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(accepted, 1000U);
  EXPECT_GT(loaded, 1000U);
}

TEST(HostileProgramFiles, ThatWantMoreMemoryThanThereIsAreRefused) {
  Users users;
  const ProgramFile good = fuzz::program_seeds()[0];
  EXPECT_TRUE(users.use(parse(serialise(good))));
  for (uint32_t compiler::Program::*size :
       {&compiler::Program::event_capacity, &compiler::Program::save_bytes, &compiler::Program::workspace_bytes,
        &compiler::Program::input_bytes, &compiler::Program::output_bytes}) {
    ProgramFile file = good;
    file.programs[0].*size = UINT32_MAX;
    EXPECT_FALSE(users.use(parse(serialise(file))));
  }
}

// A length that says more than the file holds must not take memory for it.
TEST(HostileProgramFiles, WithImpossibleLengthsAreRefusedAtOnce) {
  const std::vector<uint8_t> good = serialise(fuzz::program_seeds()[0]);
  const std::span<const uint8_t> content = fuzz::payload_in(good);
  size_t refused = 0;
  for (size_t at = 0; at + 8 <= content.size(); at += 1) {
    std::vector<uint8_t> payload(content.begin(), content.end());
    graph::ByteWriter length;
    length.number(uint64_t{1} << 62);
    std::copy(length.bytes().begin(), length.bytes().end(), payload.begin() + static_cast<ptrdiff_t>(at));
    refused += !fuzz::judge_program(fuzz::resealed(good, payload)).file;
  }
  EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace npu::program_file
