// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/counters.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace npu::runtime {
namespace {

using contract::Counter;
using contract::ErrorCode;
using contract::Queue;

void check_counters_of(Queue queue, const Counters& counters, uint64_t cycles) {
  const auto get = [&](Counter counter) { return counters.get(queue, counter); };
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::kFaultCounters,
                fmt::format("the device's counters of queue {} cannot be right: {}.", contract::name(queue), what));
  };
  const uint64_t busy = get(Counter::kBusy), stalled = get(Counter::kStalled), idle = get(Counter::kIdle);
  if (busy + stalled + idle != cycles) {
    fail(fmt::format("busy {} + stalled {} + idle {} is not the job's {} cycles", busy, stalled, idle, cycles));
  }
  const auto same = [&](Counter moved, Counter asked) {
    if (get(moved) != get(asked)) {
      fail(fmt::format("{} is {}, {} is {}", contract::name(moved), get(moved), contract::name(asked), get(asked)));
    }
  };
  same(Counter::kBytesRead, Counter::kBytesReadAsked);
  same(Counter::kBytesWritten, Counter::kBytesWrittenAsked);
  const auto part = [&](uint64_t sum, std::string_view parts, Counter whole) {
    if (sum > get(whole)) fail(fmt::format("{} are {}, {} is {}", parts, sum, contract::name(whole), get(whole)));
  };
  part(get(Counter::kDramRead) + get(Counter::kPsramRead), "dram_read + psram_read", Counter::kBytesRead);
  part(get(Counter::kDramWritten) + get(Counter::kPsramWritten), "dram_written + psram_written",
       Counter::kBytesWritten);
  part(get(Counter::kBankConflicts), "bank_conflicts", Counter::kStalled);
}

}  // namespace

uint64_t Counters::total(Counter counter) const {
  uint64_t sum = 0;
  for (uint32_t queue = 0; queue < values_.size() / contract::kCountersPerQueue; ++queue) {
    sum += values_[contract::counter_index(queue, counter)];
  }
  return sum;
}

Counters counters_from(std::span<const uint64_t> values) {
  NPU_CHECK(values.size() == contract::reg::kCounterCount);
  Counters counters;
  for (uint32_t queue = 0; queue < values.size() / contract::kCountersPerQueue; ++queue) {
    for (uint32_t i = 0; i < contract::kCounterCount; ++i) {
      const auto counter = static_cast<Counter>(i);
      counters.set(static_cast<Queue>(queue), counter, values[contract::counter_index(queue, counter)]);
    }
  }
  return counters;
}

void check_counters(const Counters& counters, const contract::Capabilities& caps, uint64_t cycles) {
  for (uint32_t channel = 0; channel < caps.dma_channels; ++channel) {
    check_counters_of(static_cast<Queue>(channel), counters, cycles);
  }
  for (const Queue queue : {Queue::kMxu, Queue::kVpu, Queue::kSequencer}) check_counters_of(queue, counters, cycles);
}

}  // namespace npu::runtime
