// SPDX-License-Identifier: Apache-2.0
#include "hw/model/compute_unit.h"

#include <algorithm>
#include <numeric>

namespace npu::model {

using contract::ErrorCode;
using contract::Space;
using engine::Access;

namespace {

constexpr uint64_t kForever = uint64_t{1} << 62;

}  // namespace

ComputeUnit::ComputeUnit(const sc_core::sc_module_name& name, Machine& machine, uint32_t queue,
                         std::unique_ptr<engine::Engine> engine)
    : QueueUnit(name, machine, queue), engine_(std::move(engine)), accesses_(machine.scratchpad.banks()) {
  NPU_CHECK(engine_ != nullptr);
}

// Variables are where they were when the command was issued.
Window ComputeUnit::window(const contract::Address& address, Access access) const {
  if (address.region == contract::Region::kVariable) {
    for (const VariableUse& use : command_->variables) {
      if (use.index == address.variable && use.access == access) return use.window;
    }
  }
  return machine_.address_map.window(address, access);
}

std::span<uint8_t> ComputeUnit::resolve(const contract::Address& address, int64_t low, int64_t high, Access access) {
  const Window window = this->window(address, access);
  const int64_t first = int64_t{address.offset} + low;
  ErrorCode error = window.error;
  if (error == ErrorCode::kOk && window.space == Space::kDram) error = ErrorCode::kFaultAccessRight;
  if (error == ErrorCode::kOk &&
      (low > high || first < 0 || high > static_cast<int64_t>(window.limit) - address.offset)) {
    error = ErrorCode::kFaultOutOfBounds;
  }
  if (error != ErrorCode::kOk) {
    fault(*command_, error, address, static_cast<uint64_t>(first));
    return {};
  }
  const uint64_t begin = window.base + static_cast<uint64_t>(first);
  const auto bytes = static_cast<uint64_t>(high - low);
  if (window.space == Space::kPersistent) return machine_.persistent.bytes().subspan(begin, bytes);
  if (access == Access::kWrite) machine_.scratchpad.touch(begin, begin + bytes);
  return machine_.scratchpad.bytes().subspan(begin, bytes);
}

void ComputeUnit::execute(const IssuedCommand& command, Work& work) {
  wait_until(machine_.clock.now() + machine_.jitter.engine());
  if (machine_.job.aborting()) return;
  command_ = &command;
  const bool timed = machine_.clock.timed();
  engine::TileResult result;
  try {
    result = engine_->run(command.tile, *this, timed);
  } catch (const Error& error) {
    result.error = error.code();
  } catch (const std::exception& error) {
    panic(__FILE__, __LINE__, std::string("an engine threw: ") + error.what());
  }
  if (result.error != ErrorCode::kOk) fault(command, result.error);
  if (machine_.job.aborting()) return;
  work.macs = result.macs;
  if (!timed) {
    work.traffic = command.asked;
    return;
  }
  work.busy = result.cycles;
  load_schedule(result.beats, work);
  play(result.cycles, work);
}

void ComputeUnit::load_schedule(std::span<const engine::BeatRun> beats, Work& work) {
  // What must be written follows from the command's fields; how often operands are read is the engine's affair.
  const Traffic fields = work.asked;
  work.asked = {};
  runs_.clear();
  runs_.reserve(beats.size());
  for (const engine::BeatRun& run : beats) {
    if (run.beats == 0 || run.bytes == 0) continue;
    const Window window = this->window(run.address, run.access);
    const bool read = run.access == Access::kRead;
    work.asked.moved(window.space, read, uint64_t{run.beats} * run.bytes);
    runs_.push_back({run.start, std::max<uint32_t>(run.interval, 1), run.beats, window.base + run.address.offset, 0,
                     run.step, static_cast<uint64_t>(run.wrap), run.bytes, window.space, read});
  }
  work.asked.spm_written = fields.spm_written;
  work.asked.psram_written = fields.psram_written;
  std::stable_sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.start < b.start; });
  active_.clear();
  begun_ = 0;
}

void ComputeUnit::count(Run& run, uint64_t beats, Work& work) {
  work.traffic.moved(run.space, run.read, beats * run.bytes);
  run.left -= beats;
  run.start += beats * run.interval;
  while (beats > 0) {
    const uint64_t step = static_cast<uint64_t>(run.step);
    const uint64_t sweep = run.wrap == 0 ? beats : std::min(beats, (run.wrap - run.offset + step - 1) / step);
    count_accesses(run, sweep);
    run.offset += step * sweep;
    if (run.wrap != 0 && run.offset >= run.wrap) run.offset -= run.wrap;
    beats -= sweep;
  }
}

// Of `beats` that follow each other without starting over.
void ComputeUnit::count_accesses(const Run& run, uint64_t beats) {
  uint64_t address = run.base + run.offset;
  if (run.space == Space::kPersistent) {
    const uint64_t width = machine_.persistent.port_bytes();
    for (uint64_t i = 0; i < beats; ++i, address += static_cast<uint64_t>(run.step)) {
      port_accesses_ += (address + run.bytes - 1) / width - address / width + 1;
    }
    return;
  }
  // The banks that successive beats hit repeat after `period` beats.
  const uint64_t interleave = machine_.scratchpad.interleave();
  const uint64_t step = static_cast<uint64_t>(run.step < 0 ? -run.step : run.step) % interleave;
  const uint64_t period = interleave / std::gcd(step, interleave);
  const uint64_t whole = beats / period, rest = beats % period;
  for (uint64_t i = 0; i < std::min(beats, period); ++i, address += static_cast<uint64_t>(run.step)) {
    machine_.scratchpad.count(address, run.bytes, whole + (i < rest ? 1 : 0), accesses_);
  }
  scratchpad_accesses_ += beats;
}

void ComputeUnit::count_until(uint64_t end, Work& work) {
  std::fill(accesses_.begin(), accesses_.end(), 0);
  port_accesses_ = scratchpad_accesses_ = 0;
  for (; begun_ < runs_.size() && runs_[begun_].start < end; ++begun_) active_.push_back(static_cast<uint32_t>(begun_));
  size_t kept = 0;
  for (uint32_t index : active_) {
    Run& run = runs_[index];
    if (run.start < end) count(run, std::min(run.left, (end - run.start + run.interval - 1) / run.interval), work);
    if (run.left > 0) active_[kept++] = index;
  }
  active_.resize(kept);
}

void ComputeUnit::play(uint64_t cycles, Work& work) {
  uint64_t at = machine_.clock.now();
  for (uint64_t done = 0; done < cycles && !machine_.job.aborting();) {
    const uint64_t length = std::min(engine::kChunkCycles, cycles - done);
    done += length;
    count_until(done == cycles ? kForever : done, work);
    uint64_t end = at + length;
    if (scratchpad_accesses_ > 0) {
      const uint64_t served = machine_.scratchpad.book(at, length, accesses_);
      work.bank_conflicts += served - end;
      end = served;
    }
    if (port_accesses_ > 0) {
      end = std::max(end, machine_.persistent.book(at, length, static_cast<uint32_t>(port_accesses_)));
    }
    wait_until(end);
    at = end;
  }
}

}  // namespace npu::model
