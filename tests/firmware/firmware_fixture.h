// SPDX-License-Identifier: Apache-2.0
// The firmware of this build on the fake device, booted, with contexts to run jobs in.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "firmware/image.h"
#include "tests/firmware/fake_device.h"
#include "tests/firmware/ring_driver.h"

namespace npu::firmware_test {

inline uint32_t code(contract::ErrorCode error) { return static_cast<uint32_t>(error); }

class FirmwareTest : public testing::Test {
 protected:
  static constexpr uint64_t kStream = 0x200000, kStreamWords = 64;

  FirmwareTest() : device(NPU_ISS_MODULE), driver(device) {}

  void boot(uint32_t log_level = 3) {
    driver.boot(firmware::image(), log_level);
    ASSERT_TRUE(device.run());
    ASSERT_EQ(state(), contract::FirmwareState::kReady) << device.uart;
  }

  contract::FirmwareState state() {
    return static_cast<contract::FirmwareState>(device.word(contract::reg::kFirmwareState) & 0xff);
  }

  // Opens a context and takes the completion.
  void open(uint32_t ring, uint32_t priority, uint32_t owner = 7) {
    driver.open(ring, priority, owner);
    admin(0, contract::ErrorCode::kOk);
  }

  // The completion of the admin request that was just submitted (id 0: any).
  contract::RingCompletion admin(uint32_t id, contract::ErrorCode expected) {
    EXPECT_TRUE(device.run());
    const auto completion = driver.take(0);
    EXPECT_TRUE(completion.has_value());
    if (!completion) return {};
    EXPECT_TRUE(id == 0 || completion->id == id) << completion->id;
    EXPECT_EQ(completion->code, code(expected));
    return *completion;
  }

  contract::RingCompletion completion(uint32_t ring, uint32_t id, contract::ErrorCode expected) {
    const auto completion = driver.take(ring);
    EXPECT_TRUE(completion.has_value()) << "no completion on ring " << ring;
    if (!completion) return {};
    EXPECT_EQ(completion->id, id);
    EXPECT_EQ(completion->code, code(expected));
    return *completion;
  }

  // A job with a region each for input and output, and no segments.
  static contract::Job simple_job() {
    contract::Job job;
    job.commands = kStream;
    job.command_words = kStreamWords;
    job.epoch = 5;
    const uint32_t dram = static_cast<uint32_t>(contract::Space::kDram) << contract::reg::kRegionFlagsSpaceLsb;
    job.region_base[3] = 0x300000;
    job.region_limit[3] = 0x100;
    job.region_flags[3] = dram | contract::reg::kRegionFlagsReadableMask;
    job.region_base[4] = 0x301000;
    job.region_limit[4] = 0x200;
    job.region_flags[4] = dram | contract::reg::kRegionFlagsReadableMask | contract::reg::kRegionFlagsWritableMask;
    return job;
  }

  // A job that may stop at word 32, with `live` bytes to save (0: no streams), in a memory of its own by `number`.
  contract::Job yielding_job(uint32_t number, uint32_t live = 128) {
    contract::Job job = simple_job();
    job.commands += 0x1000 * uint64_t{number};
    job.segment_count = 1;
    job.segments = RingDriver::kSegments + 0x100 * uint64_t{number};
    contract::Segment segment;
    segment.yield_word = 32;
    segment.live_bytes = live;
    if (live != 0) {
      segment.save_word = 64;
      segment.save_words = 20;
      segment.restore_word = 96;
      segment.restore_words = 24;
    }
    std::array<uint8_t, contract::Segment::kBytes> bytes;
    segment.store(bytes.data());
    device.write_memory(job.segments, bytes);
    job.region_base[5] = 0x310000 + 0x1000 * uint64_t{number};
    job.region_limit[5] = 0x400;
    job.region_flags[5] = job.region_flags[4];
    return job;
  }

  [[nodiscard]] const Start& last_start() const { return device.starts.back(); }

  FakeDevice device;
  RingDriver driver;
};

}  // namespace npu::firmware_test
