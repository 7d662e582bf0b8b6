// SPDX-License-Identifier: Apache-2.0
// Jobs with real command streams on the model's chip.
#pragma once

#include <cstring>

#include "tests/firmware/chip_bench.h"
#include "tests/firmware/patched_image.h"

namespace npu::firmware_test {

class ChipTest : public testing::Test {
 protected:
  using Stream = model::testing::Stream;
  static constexpr uint64_t kStreams = 0x200000, kWorkspace = 0x300000, kSave = 0x380000, kPhases = 0x400000;
  static constexpr uint32_t kWorkspaceBytes = 0x10000, kSpmBytes = 4096, kStepBytes = 256, kPhaseRecords = 1024;

  explicit ChipTest(model::Mode mode = model::Mode::kTimed) : bench(mode), driver(bench) {}

  void SetUp() override {
    for (uint32_t i = 0; i < kWorkspaceBytes; ++i) bench.memory()[kWorkspace + i] = pattern(i);
    bench.write_register(contract::reg::kPhaseBaseLo, kPhases);
    bench.write_register(contract::reg::kPhaseCapacity, kPhaseRecords);
  }
  static uint8_t pattern(uint32_t i) { return static_cast<uint8_t>(i * 7 + i / 256); }

  void boot(std::span<const uint8_t> image = firmware::image()) {
    driver.boot(image, 2);
    ASSERT_TRUE(bench.until([&] { return (bench.read_register(contract::reg::kFirmwareState) & 0xff) > 1; }, 10'000));
    ASSERT_EQ(bench.read_register(contract::reg::kFirmwareState),
              static_cast<uint32_t>(contract::FirmwareState::kReady));
    clear_interrupts();
  }
  void clear_interrupts() {
    sc_core::sc_start(5, sc_core::SC_US);  // a completion that is seen is told a little later
    bench.write_register(contract::reg::kHostIrqStatus, UINT32_MAX);
    sc_core::sc_start(1, sc_core::SC_NS);  // the line follows
  }

  contract::RingCompletion finish(uint32_t ring, contract::ErrorCode expected, uint32_t most_us = 2000) {
    EXPECT_TRUE(bench.until([&] { return driver.peek(ring).has_value(); }, most_us)) << driver.log();
    const auto completion = driver.take(ring);
    EXPECT_TRUE(completion && completion->code == static_cast<uint32_t>(expected))
        << (completion ? completion->code : 0) << "\n"
        << driver.log();
    return completion.value_or(contract::RingCompletion{});
  }
  contract::RingCompletion ask(contract::Request type, const std::vector<uint32_t>& value) {
    driver.submit(0, type, 0, value);
    return finish(0, contract::ErrorCode::kOk);
  }
  void open(uint32_t ring, uint32_t priority, uint32_t owner = 7) {
    driver.open(ring, priority, owner);
    finish(0, contract::ErrorCode::kOk);
  }

  // Puts a stream to word `word` of the streams of job `number`; returns its words.
  uint32_t put(uint32_t number, uint32_t word, const Stream& stream) {
    const std::vector<uint32_t> words = stream.finish();
    std::memcpy(bench.memory().data() + kStreams + 0x8000 * uint64_t{number} + 4 * uint64_t{word}, words.data(),
                words.size() * 4);
    return static_cast<uint32_t>(words.size());
  }
  contract::Job job(uint32_t number, uint32_t words) {
    contract::Job job;
    job.commands = kStreams + 0x8000 * uint64_t{number};
    job.command_words = words;
    job.cycle_limit = 1'000'000;
    const uint32_t flags = 3 | static_cast<uint32_t>(contract::Space::kDram) << contract::reg::kRegionFlagsSpaceLsb;
    job.region_base[2] = kWorkspace;
    job.region_limit[2] = kWorkspaceBytes;
    job.region_flags[2] = flags;
    job.region_base[5] = kSave + kSpmBytes * uint64_t{number};
    job.region_limit[5] = kSpmBytes;
    job.region_flags[5] = flags;
    return job;
  }
  // Copies `bytes` of the workspace from `from` to `to` through the scratchpad.
  contract::Job copy_job(uint32_t number, uint32_t from, uint32_t to, uint32_t bytes) {
    Stream stream(bench.caps());
    stream.add(model::testing::copy(0, model::testing::dram(from), model::testing::spm(0), bytes));
    stream.add(model::testing::copy(1, model::testing::spm(0), model::testing::dram(to), bytes), {{0, 1}});
    return job(number, put(number, 0, stream));
  }
  bool copied(uint32_t from, uint32_t to, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; ++i) {
      if (bench.memory()[kWorkspace + to + i] != pattern(from + i)) return false;
    }
    return true;
  }

  // Loads kSpmBytes of the workspace to the scratchpad, then turns back and forth with a yield after each of `steps`
  // copies, and stores what it loaded at `to` at last: everything is live at each yield.
  contract::Job long_job(uint32_t number, uint32_t to, uint32_t steps) {
    namespace mt = model::testing;
    Stream stream(bench.caps());
    stream.add(mt::copy(0, mt::dram(0), mt::spm(0), kSpmBytes));
    for (uint32_t i = 0; i < steps; ++i) {
      stream.add(mt::copy(1, mt::spm(0), mt::dram(0x8000), kSpmBytes), {{i == 0 ? 0u : 1u, 1}});
      stream.yield(i);
    }
    stream.add(mt::copy(1, mt::spm(0), mt::dram(to), kSpmBytes), {{1, 1}});
    const uint32_t words = put(number, 0, stream);

    const uint32_t save_word = (words + 15) / 16 * 16;
    const contract::Address kept = mt::at(contract::Region::kSave, 0);
    Stream save(bench.caps()), restore(bench.caps());
    save.add(mt::copy(0, mt::spm(0), kept, kSpmBytes));
    restore.add(mt::copy(0, kept, mt::spm(0), kSpmBytes));
    contract::Segment segment;
    segment.live_bytes = kSpmBytes;
    segment.save_word = save_word;
    segment.save_words = put(number, save_word, save);
    segment.restore_word = (save_word + segment.save_words + 15) / 16 * 16;
    segment.restore_words = put(number, segment.restore_word, restore);
    contract::Job made = job(number, words);
    made.segments = RingDriver::kSegments + 0x1000 * uint64_t{number};
    made.segment_count = steps;
    for (uint32_t i = 0; i < steps; ++i) {
      segment.yield_word = stream.word_of_yield(i);
      segment.store(bench.memory().data() + made.segments + uint64_t{i} * contract::Segment::kBytes);
    }
    return made;
  }

  contract::CpuStop stop_reason() {
    return static_cast<contract::CpuStop>(
        (bench.read_register(contract::reg::kCpuStatus) & contract::reg::kCpuStatusReasonMask) >>
        contract::reg::kCpuStatusReasonLsb);
  }

  ChipBench bench;
  RingDriver driver;
};

}  // namespace npu::firmware_test
