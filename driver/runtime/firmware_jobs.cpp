// SPDX-License-Identifier: Apache-2.0
// The part of FirmwareLink that is about jobs: run requests and their completions.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/runtime/firmware_link.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::RingCompletion;
namespace reg = contract::reg;

constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(100);

Fault fault_of(const RingCompletion& completion) {
  Fault fault;
  fault.code = static_cast<ErrorCode>(completion.code);
  fault.command = completion.fault_command;
  fault.other = completion.fault_other;
  fault.queue = static_cast<contract::Queue>(completion.fault_queue);
  const auto where = static_cast<uint32_t>(completion.fault_address >> 32);
  fault.address.offset = static_cast<uint32_t>(completion.fault_address);
  fault.address.region = static_cast<contract::Region>(where & 0xff);
  fault.address.variable = static_cast<uint16_t>(where >> 8);
  fault.cycle = completion.fault_cycle;
  return fault;
}

}  // namespace

std::chrono::nanoseconds FirmwareLink::slice() const { return cpu_.polling() ? ControlCpu::kPollSlice : kSlice; }

std::unique_ptr<Placement> FirmwareLink::place(const contract::Job& job, const compiler::SizeTable& sizes) {
  return std::make_unique<PlacedJob>(hal_, shared_, job, sizes);
}

void FirmwareLink::require_room(uint32_t context) const {
  require_alive();
  const ContextRing& ring = *rings_.at(context);
  if (ring.ring.full()) {
    throw Error(ErrorCode::kQueueFull,
                fmt::format("{} jobs of this context are in flight, and its ring holds no more; wait for one of them.",
                            ring.flights.size()));
  }
}

void FirmwareLink::submit(uint32_t context, Placement& placement, const contract::Job& job, JobListener& listener) {
  require_room(context);
  ContextRing& ring = *rings_[context];
  auto& placed = static_cast<PlacedJob&>(placement);
  placed.prepare(job);
  contract::RingRequest run;
  run.type = static_cast<uint32_t>(contract::Request::kRun);
  run.id = next_id_++;
  run.argument = placed.address();
  ring.ring.push(run);
  ring.flights.push_back({run.id, &listener, &placed, cpu_.time()});
  standstill_.restart();
  job_watch_.restart(ring.flights.back().submitted);
  hal_.write_register(reg::kDoorbell, context);
}

bool FirmwareLink::in_flight() const {
  return std::any_of(rings_.begin(), rings_.end(), [](const auto& ring) { return ring && !ring->flights.empty(); });
}

uint64_t FirmwareLink::sizes_cycles() const {
  uint64_t sum = 0;
  for (const std::unique_ptr<ContextRing>& ring : rings_) {
    if (!ring) continue;
    for (const Flight& flight : ring->flights) sum += flight.placed == nullptr ? 0 : flight.placed->sizes_cycles();
  }
  return sum;
}

std::vector<FirmwareLink::Flight> FirmwareLink::take_flights() {
  std::vector<Flight> flights;
  for (const std::unique_ptr<ContextRing>& ring : rings_) {
    if (!ring) continue;
    flights.insert(flights.end(), ring->flights.begin(), ring->flights.end());
    ring->flights.clear();
  }
  return flights;
}

std::optional<std::pair<uint32_t, uint32_t>> FirmwareLink::find(const JobListener& listener) const {
  for (uint32_t number = 1; number < rings_.size(); ++number) {
    if (!rings_[number]) continue;
    for (const Flight& flight : rings_[number]->flights) {
      if (flight.listener == &listener) return std::pair(number, flight.id);
    }
  }
  return std::nullopt;
}

void FirmwareLink::cancel(JobListener& listener) {
  const auto place = find(listener);
  if (!place) return;
  contract::RingRequest cancel;
  cancel.type = static_cast<uint32_t>(contract::Request::kCancel);
  cancel.value[0] = place->first;
  cancel.value[1] = place->second;
  request(cancel, "to cancel a job");
}

bool FirmwareLink::stop(JobListener& listener) {
  const auto place = find(listener);
  if (!place) return true;
  const ContextRing& ring = *rings_[place->first];
  if (ring.flights.front().listener != &listener) return false;
  guarded([&] {
    Patience patience(cpu_, sizes_cycles());
    wait_once(patience, "did not cancel a job", [&] { return ring.corrupt || !find(listener); });
    reopen_corrupt_once();
  });
  return true;
}

void FirmwareLink::abandon(JobListener& listener) {
  for (const std::unique_ptr<ContextRing>& ring : rings_) {
    if (!ring) continue;
    // The request stays in the ring: a device that answers again after all completes it before those behind it.
    for (Flight& flight : ring->flights) {
      if (flight.listener == &listener) flight = {flight.id, nullptr, nullptr, flight.submitted};
    }
  }
}

void FirmwareLink::look(Wakeup wakeup) {
  if (!dead_.empty()) return;
  try {
    const uint64_t before = jobs_ended_;
    cpu_.take_interrupts();
    collect_once();
    reopen_corrupt_once();
    if (!in_flight()) {
      standstill_.restart();
    } else if (jobs_ended_ != before) {
      standstill_.restart();
      job_watch_.restart(cpu_.time());
    } else {
      if (wakeup == Wakeup::kNothing && standstill_.check(wakeup, cpu_.time())) {
        throw FirmwareGone("jobs are in flight, but nothing in the device moves any more");
      }
      watch_jobs_once();
    }
  } catch (const FirmwareGone& gone) {
    recover(gone.what() + cpu_.hold_and_describe());
  }
}

// Jobs without a limit of their own have the default one from one command to the next.
void FirmwareLink::watch_jobs_once() {
  JobWatch::Sight sight;
  uint32_t rings = 0;
  bool endless = false, front_done = false;
  for (const std::unique_ptr<ContextRing>& ring : rings_) {
    if (!ring || ring->flights.empty()) continue;
    ++rings;
    for (const Flight& flight : ring->flights) {
      if (flight.listener == nullptr) continue;
      const JobListener::Progress progress = flight.listener->progress();
      sight.commands_done += progress.commands_done;
      const uint64_t own = flight.placed->cycle_limit();
      endless = endless || (own == 0 && !progress.shown);
      sight.cycle_limit = std::max(sight.cycle_limit, own == 0 ? JobOptions{}.cycle_limit : own);
      sight.not_before = std::max(sight.not_before, flight.placed->not_before());
      if (&flight == &ring->flights.front()) front_done = progress.all_done;
    }
  }
  if (endless) sight.cycle_limit = 0;
  sight.sizes_cycles = sizes_cycles();
  sight.all_done = rings == 1 && front_done;
  sight.time = cpu_.time();
  sight.busy_cycles = cpu_.busy_cycles();
  job_watch_.check(sight);
}

void FirmwareLink::collect_once() {
  if (admin_.outstanding() > 0) {
    if (!admin_.look()) throw FirmwareGone("the firmware calls ring 0, the driver's own, corrupt");
    while (std::optional<RingCompletion> completion = admin_.take()) admin_completions_.push_back(*completion);
    admin_.acknowledge();
  }
  std::optional<uint64_t> now;
  for (uint32_t number = 1; number < rings_.size(); ++number) {
    if (rings_[number]) collect_ring_once(*rings_[number], number, now);
  }
}

// What the firmware completed before it was gone: a job that ended well must not look like one that can be run again.
void FirmwareLink::collect_rest() {
  std::optional<uint64_t> now;
  for (uint32_t number = 1; number < rings_.size(); ++number) {
    if (!rings_[number]) continue;
    try {
      collect_ring_once(*rings_[number], number, now);
    } catch (const FirmwareGone&) {
      // The firmware's end has its story already; the jobs of this ring end with it.
    }
  }
}

void FirmwareLink::collect_ring_once(ContextRing& ring, uint32_t number, std::optional<uint64_t>& now) {
  if (ring.flights.empty() || ring.corrupt) return;
  if (!ring.ring.look()) {
    ring.corrupt = true;
    return;
  }
  while (const std::optional<RingCompletion> completion = ring.ring.take()) {
    const Flight flight = ring.flights.front();
    if (completion->id != flight.id) {
      ring.corrupt = true;  // what comes behind it says nothing either
      throw FirmwareGone(fmt::format("the firmware completed request {} of ring {}, but {} came first", completion->id,
                                     number, flight.id));
    }
    JobEnd end;
    if (flight.listener != nullptr) {
      if (!now) now = cpu_.time();
      end = end_of(flight, *completion, *now);
    }
    ring.flights.pop_front();
    ring.ring.acknowledge();
    ++jobs_ended_;
    if (flight.listener != nullptr) flight.listener->job_ended(std::move(end));
  }
}

JobEnd FirmwareLink::end_of(const Flight& flight, const RingCompletion& completion, uint64_t now) {
  JobEnd end;
  end.cycles = completion.engine_cycles;
  end.event_count = completion.event_count;
  end.times.submitted = flight.submitted;
  end.times.accepted = completion.accepted;
  end.times.started = completion.started;
  end.times.ended = completion.ended;
  end.times.completed = now;
  end.times.firmware_cycles = completion.firmware_cycles;
  end.times.blocked = completion.blocked;
  end.times.preemptions = completion.preemptions;
  end.times.save_cycles = completion.save_cycles;
  end.times.saved_bytes = completion.saved_bytes;
  end.times.loads = completion.loads;
  if (completion.loads > 0) end.times.load_cycles = completion.value[0];
  if (completion.code == 0) {
    end.phases = take_phases();
    end.counters = flight.placed->read_counters();
  } else {
    end.kind = JobEnd::Kind::kFault;
    end.fault = fault_of(completion);
    end.queue_state = completion.queue_state;
    end.queue_command = completion.queue_command;
  }
  return end;
}

// Record n lies at place n modulo capacity; what was overwritten before it was read is lost.
std::vector<FirmwarePhase> FirmwareLink::take_phases() {
  const uint32_t count = hal_.read_register(reg::kPhaseCount);
  if (count - phases_taken_ > kPhaseRecords) phases_taken_ = count - kPhaseRecords;
  std::vector<FirmwarePhase> phases;
  phases.reserve(count - phases_taken_);
  while (phases_taken_ != count) {
    const uint32_t place = phases_taken_ % kPhaseRecords;
    const uint32_t records = std::min(count - phases_taken_, kPhaseRecords - place);
    std::vector<uint8_t> bytes(size_t{records} * contract::PhaseRecord::kBytes);
    hal_.read_memory(phase_memory_.address() + uint64_t{place} * contract::PhaseRecord::kBytes, bytes);
    for (uint32_t i = 0; i < records; ++i) {
      const auto record = contract::PhaseRecord::load(bytes.data() + size_t{i} * contract::PhaseRecord::kBytes);
      phases.push_back({record.time, static_cast<contract::Phase>(record.id), record.argument});
    }
    phases_taken_ += records;
  }
  return phases;
}

}  // namespace npu::runtime
