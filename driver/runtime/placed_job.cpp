// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/placed_job.h"

#include <array>
#include <cstring>
#include <span>

#include "driver/runtime/counters.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {
namespace {

constexpr uint64_t kCounterBytes = uint64_t{contract::reg::kCounterCount} * sizeof(uint64_t);
// Everything that differs between runs lies before this byte of a job.
constexpr uint64_t kRunBytes = 64;

}  // namespace

PlacedJob::PlacedJob(Hal& hal, SharedMemory& memory, const contract::Job& job)
    : hal_(hal), piece_(memory.allocate(contract::Job::kBytes + kCounterBytes, "the program's job")), job_(job) {
  job_.counters = piece_.address() + contract::Job::kBytes;
  std::array<uint8_t, contract::Job::kBytes> bytes{};
  job_.store(bytes.data());
  hal_.write_memory(piece_.address(), bytes);
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
