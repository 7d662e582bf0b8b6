// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/placed_job.h"

#include <array>
#include <cstring>
#include <limits>
#include <span>

#include "driver/compiler/size_table.h"
#include "driver/runtime/counters.h"
#include "driver/runtime/sizes.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {
namespace {

constexpr uint64_t kCounterBytes = uint64_t{contract::reg::kCounterCount} * sizeof(uint64_t);
// Everything that differs between runs lies before this byte of a job.
constexpr uint64_t kRunBytes = 64;

constexpr uint16_t kSizesVersion = 1;
// No size is so, nor is what follows from sizes.
constexpr int64_t kNoResult = std::numeric_limits<int64_t>::min();

uint64_t sizes_bytes(const compiler::SizeTable& table) {
  if (table.empty()) return 0;
  return contract::JobSizes::kBytes + (table.symbols.size() + table.results.size()) * sizeof(int64_t);
}

}  // namespace

PlacedJob::PlacedJob(Hal& hal, SharedMemory& memory, const contract::Job& job, const compiler::SizeTable& sizes)
    : hal_(hal),
      piece_(memory.allocate(contract::Job::kBytes + kCounterBytes + sizes_bytes(sizes), "the program's job")),
      job_(job) {
  job_.counters = piece_.address() + contract::Job::kBytes;
  if (!sizes.empty()) {
    job_.sizes = job_.counters + kCounterBytes;
    sizes_.version = kSizesVersion;
    sizes_.symbols = static_cast<uint16_t>(sizes.symbols.size());
    sizes_.hash = compiler::hash_of(compiler::encode(sizes));
    sizes_cycles_ = firmware_cycles(sizes);
    results_ = static_cast<uint16_t>(sizes.results.size());
  }
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

void PlacedJob::bring_sizes(std::span<const int64_t> sizes) {
  if (sizes_.symbols == 0) return;
  NPU_CHECK(sizes.size() == sizes_.symbols);
  std::vector<int64_t> values(sizes.begin(), sizes.end());
  // What the firmware does not write must not be of the run before.
  values.resize(values.size() + results_, kNoResult);
  std::vector<uint8_t> bytes(contract::JobSizes::kBytes + values.size() * sizeof(int64_t));
  sizes_.store(bytes.data());
  std::memcpy(bytes.data() + contract::JobSizes::kBytes, values.data(), values.size() * sizeof(int64_t));
  hal_.write_memory(job_.sizes, bytes);
}

std::vector<int64_t> PlacedJob::read_results() {
  std::vector<int64_t> results(results_);
  if (results.empty()) return results;
  std::vector<uint8_t> bytes(results.size() * sizeof(int64_t));
  hal_.read_memory(job_.sizes + contract::JobSizes::kBytes + sizes_.symbols * sizeof(int64_t), bytes);
  std::memcpy(results.data(), bytes.data(), bytes.size());
  return results;
}

Counters PlacedJob::read_counters() {
  std::array<uint8_t, kCounterBytes> bytes;
  hal_.read_memory(job_.counters, bytes);
  std::array<uint64_t, contract::reg::kCounterCount> values;
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return counters_from(values);
}

}  // namespace npu::runtime
