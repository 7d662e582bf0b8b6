// SPDX-License-Identifier: Apache-2.0
// Urgent jobs that come at random moments, most often while a long job is saved or restored: the long one gets on with
// every one of them, and none waits longer than the bound that docs/architecture/firmware.md states.
#include <algorithm>
#include <random>

#include "driver/runtime/limits.h"
#include "tests/firmware/firmware_fixture.h"

namespace npu::firmware_test {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;

constexpr uint32_t kLowRing = 3, kUrgentRing = 1;
constexpr size_t kYields = 40;
constexpr uint32_t kStride = 16;  // words between two yields, and of a stream that saves or restores

// The long job: where it may stop, and how many cycles everything takes.
struct LongJob {
  std::vector<uint64_t> segments;         // kYields + 1: the last is the tail
  std::vector<uint64_t> saves, restores;  // 0: nothing is live there

  // What an urgent job waits for at most, in the engines: a restore, the segment behind it, and its save.
  [[nodiscard]] uint64_t bound() const {
    uint64_t most = segments.front() + saves.front();
    for (size_t i = 0; i < kYields; ++i) {
      const uint64_t save = i + 1 < kYields ? saves[i + 1] : 0;
      most = std::max(most, restores[i] + segments[i + 1] + save);
    }
    return most;
  }
};

class ArrivalsTest : public FirmwareTest, public testing::WithParamInterface<uint32_t> {
 protected:
  // Of the firmware, in cycles of the engines' clock, of which the control CPU's is half.
  static constexpr uint64_t kFirmwareCycles = uint64_t{runtime::kMostFirmwareBlocking} * 2;

  static constexpr uint64_t kUrgentStream = kStream + 0x10000;

  uint64_t between(uint64_t least, uint64_t most) { return least + random_() % (most - least + 1); }

  void draw_long_job() {
    for (size_t i = 0; i <= kYields; ++i) long_.segments.push_back(between(50, 4000));
    for (size_t i = 0; i < kYields; ++i) {
      const bool live = between(0, 5) != 0;
      long_.saves.push_back(live ? between(20, 1500) : 0);
      long_.restores.push_back(live ? between(20, 1500) : 0);
    }
  }

  [[nodiscard]] static uint32_t save_word(size_t i) { return static_cast<uint32_t>((kYields + 1 + 2 * i) * kStride); }

  contract::Job long_job() {
    contract::Job job = yielding_job(0);
    job.command_words = (kYields + 1) * kStride;
    job.segment_count = kYields;
    job.segments = RingDriver::kSegments + 0x1000;
    for (size_t i = 0; i < kYields; ++i) {
      contract::Segment segment;
      segment.yield_word = static_cast<uint32_t>((i + 1) * kStride);
      if (long_.saves[i] != 0) {
        segment.live_bytes = 128;
        segment.save_word = save_word(i);
        segment.restore_word = save_word(i) + kStride;
        segment.save_words = segment.restore_words = kStride;
      }
      std::array<uint8_t, contract::Segment::kBytes> bytes;
      segment.store(bytes.data());
      device.write_memory(job.segments + i * bytes.size(), bytes);
    }
    return job;
  }

  // What a stream that has just been started is, and when it ends unless it is asked to stop.
  void note_start() {
    const Start start = last_start();
    device.starts.clear();
    started_ = start.time;
    const uint64_t base = start.pair(reg::kCommandBaseLo);
    if (base == kUrgentStream) {
      kind_ = Kind::kUrgent;
      ends_ = started_ + between(10, 3000);
      urgent_started();
    } else if (base == kStream) {
      kind_ = Kind::kMain;
      segment_ = start.at(reg::kCommandStart) / kStride;
    } else {
      const size_t stream = (base - kStream) / 4 / kStride - (kYields + 1);
      kind_ = stream % 2 == 0 ? Kind::kSave : Kind::kRestore;
      if (kind_ == Kind::kRestore) ++restores_;
      ends_ = started_ + (kind_ == Kind::kSave ? long_.saves : long_.restores).at(stream / 2);
    }
  }

  // When the stream in the core ends, and for the long job's own behind which segment.
  std::pair<uint64_t, size_t> end_of_stream() {
    if (kind_ != Kind::kMain) return {ends_, 0};
    const bool asked = device.preemption_asked_at > started_;
    uint64_t end = started_;
    for (size_t i = segment_;; ++i) {
      end += long_.segments.at(i);
      if (i == kYields || (asked && end >= device.preemption_asked_at)) return {end, i};
    }
  }

  void end_stream(size_t segment) {
    if (kind_ != Kind::kMain) {
      device.end_done(0);
      return;
    }
    progress_ += segment + 1 - segment_;
    if (segment == kYields) {
      device.end_done(0);
    } else {
      ++stops_;
      device.end_preempted(0, static_cast<uint32_t>((segment + 1) * kStride), static_cast<uint32_t>(segment));
    }
  }

  void urgent_started() {
    longest_delay_ = std::max(longest_delay_, started_ - arrived_);
    if (urgent_jobs_ > 0) {
      ASSERT_GT(progress_, progress_before_) << "urgent job " << urgent_jobs_ << ": the long one did not get on";
    }
    progress_before_ = progress_;
    ++urgent_jobs_;
  }

  void submit_urgent() {
    arrived_ = device.time();
    contract::Job job = simple_job();
    job.commands = kUrgentStream;
    driver.run(kUrgentRing, job, 1);
    waits_ = true;
  }

  void take_completions() {
    if (const auto done = driver.take(kUrgentRing)) {
      ASSERT_EQ(done->code, code(ErrorCode::kOk));
      longest_blocked_ = std::max<uint64_t>(longest_blocked_, done->blocked);
      waits_ = false;
      // Often so soon that it comes while the long job is restored.
      static constexpr uint64_t kGaps[] = {50, 1500, 1500, 10'000};
      arrival_ = device.time() + between(0, kGaps[between(0, 3)]);
    }
    if (const auto done = driver.take(kLowRing)) {
      ASSERT_EQ(done->code, code(ErrorCode::kOk));
      ++long_jobs_;
      driver.run(kLowRing, long_job(), 0);
      ASSERT_TRUE(device.run());
    }
  }

  // The next thing that happens.
  void step() {
    const auto [end, segment] = device.busy ? end_of_stream() : std::pair<uint64_t, size_t>(UINT64_MAX, 0);
    const uint64_t arrival = waits_ ? UINT64_MAX : arrival_;
    const uint64_t next = std::min(end, arrival);
    ASSERT_NE(next, UINT64_MAX) << "nothing runs";
    if (device.time() < next) {
      ASSERT_TRUE(device.pass(next - device.time()));
    }
    if (next == end) {
      end_stream(segment);
    } else {
      submit_urgent();
    }
    ASSERT_TRUE(device.run());
    take_completions();
    if (!device.starts.empty()) note_start();
  }

  enum class Kind : uint8_t { kMain, kSave, kRestore, kUrgent };

  std::mt19937 random_{GetParam()};
  LongJob long_;
  Kind kind_ = Kind::kMain;
  uint64_t started_ = 0, ends_ = 0;
  size_t segment_ = 0;
  bool waits_ = false;
  uint64_t arrival_ = 0, arrived_ = 0;
  uint64_t progress_ = 0, progress_before_ = 0, stops_ = 0, restores_ = 0;  // of the long job, in segments
  uint64_t longest_blocked_ = 0, longest_delay_ = 0, urgent_jobs_ = 0, long_jobs_ = 0;
};

TEST_P(ArrivalsTest, TheLongJobGetsOnAndNoUrgentOneWaitsBeyondTheBound) {
  constexpr uint64_t kArrivals = 10'000;
  draw_long_job();
  boot(0);
  open(kLowRing, 1);
  open(kUrgentRing, 5);
  driver.run(kLowRing, long_job(), 0);
  ASSERT_TRUE(device.run());
  note_start();
  arrival_ = device.time() + 500;
  while (urgent_jobs_ < kArrivals && !HasFatalFailure()) step();
  std::cout << "seed " << GetParam() << ": " << urgent_jobs_ << " urgent jobs, " << long_jobs_ << " long ones in "
            << progress_ << " segments, " << stops_ << " stops and " << restores_ << " restores; longest wait "
            << longest_delay_ << " cycles, " << longest_blocked_ << " blocked, of at most " << long_.bound() << " + "
            << kFirmwareCycles << "\n";
  EXPECT_LE(longest_blocked_, long_.bound() + kFirmwareCycles);
  EXPECT_LE(longest_delay_, long_.bound() + kFirmwareCycles);
  EXPECT_GT(longest_blocked_, long_.bound()) << "this test met no long wait";
  EXPECT_LE(restores_, stops_) << "a restore was repeated";
  EXPECT_GE(progress_, kArrivals - 1);
  EXPECT_GT(long_jobs_, kArrivals / (kYields + 1) / 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ArrivalsTest, testing::Range(1u, 5u));

}  // namespace
}  // namespace npu::firmware_test
