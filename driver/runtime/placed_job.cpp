// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/placed_job.h"

#include <array>
#include <cstring>
#include <vector>

#include "driver/runtime/counters.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {
namespace {

constexpr uint64_t kCounterBytes = uint64_t{contract::reg::kCounterCount} * sizeof(uint64_t);
// Everything that differs between runs lies before this byte of a job.
constexpr uint64_t kRunBytes = 64;

}  // namespace

PlacedJob::PlacedJob(Hal& hal, SharedMemory& memory, const contract::Job& job,
                     std::span<const compiler::Segment> segments)
    : hal_(hal),
      piece_(memory.allocate(contract::Job::kBytes + kCounterBytes + segments.size() * contract::Segment::kBytes,
                             "the program's job with its table of segments")),
      job_(job) {
  job_.counters = piece_.address() + contract::Job::kBytes;
  job_.segments = segments.empty() ? 0 : job_.counters + kCounterBytes;
  job_.segment_count = static_cast<uint32_t>(segments.size());
  std::array<uint8_t, contract::Job::kBytes> bytes{};
  job_.store(bytes.data());
  hal_.write_memory(piece_.address(), bytes);
  if (!segments.empty()) write_segments(segments);
}

void PlacedJob::write_segments(std::span<const compiler::Segment> segments) {
  std::vector<uint8_t> bytes(segments.size() * contract::Segment::kBytes);
  for (size_t i = 0; i < segments.size(); ++i) {
    const compiler::Segment& from = segments[i];
    contract::Segment to;
    to.yield_word = from.yield_word;
    to.live_bytes = from.live_bytes;
    to.save_word = from.save_word;
    to.save_words = from.save_words;
    to.restore_word = from.restore_word;
    to.restore_words = from.restore_words;
    to.cycles = from.cycles;
    to.store(bytes.data() + i * contract::Segment::kBytes);
  }
  hal_.write_memory(job_.segments, bytes);
}

void PlacedJob::prepare(const contract::Job& run) {
  job_.epoch = run.epoch;
  job_.event_capacity = run.event_capacity;
  job_.cycle_limit = run.cycle_limit;
  job_.not_before = run.not_before;
  std::array<uint8_t, contract::Job::kBytes> bytes{};
  job_.store(bytes.data());
  hal_.fill_memory(job_.counters, kCounterBytes, 0);
  hal_.write_memory(piece_.address(), std::span(bytes).first(kRunBytes));
}

Counters PlacedJob::read_counters() {
  std::array<uint8_t, kCounterBytes> bytes;
  hal_.read_memory(job_.counters, bytes);
  std::array<uint64_t, contract::reg::kCounterCount> values;
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return counters_from(values);
}

}  // namespace npu::runtime
