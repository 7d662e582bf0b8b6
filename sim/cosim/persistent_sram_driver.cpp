// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/persistent_sram_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace npu::cosim {

PersistentSramDriver::PersistentSramDriver(rtl::PersistentSram& block, Trial& trial)
    : block_(block), trial_(trial), schedule_(block.sizes()) {
  block_.reset();
}

void PersistentSramDriver::offer(PersistentSramAccess access) {
  access_ = std::move(access);
  block_.access(access_->offered());
}

void PersistentSramDriver::offer(const Operation& operation) {
  operation_ = operation;
  block_.operate(operation);
}

void PersistentSramDriver::offer(const Injection& injection) {
  injection_ = injection;
  block_.inject(injection.row, injection.lane, injection.data_flips, injection.check_flips);
}

void PersistentSramDriver::set_power(Power power) {
  if (apart()) return;  // the block may not be at rest
  power_ = power;
  block_.set_power(power);
}

void PersistentSramDriver::clear_lost(bool clear) {
  clear_lost_ = clear;
  block_.clear_lost(clear);
}

const PersistentSramSchedule::Outputs& PersistentSramDriver::cycle() {
  if (apart()) return outputs_ = {};
  const std::optional<rtl::PersistentSram::Access> access = access_ ? std::optional(access_->offered()) : std::nullopt;
  PersistentSramSchedule::Inputs inputs;
  if (access) inputs.access = &*access;
  if (operation_) inputs.operation = &*operation_;
  if (injection_) inputs.injection = &*injection_;
  inputs.power = power_;
  inputs.clear_lost = clear_lost_;
  outputs_ = schedule_.step(inputs);
  see();
  compare_handshakes();
  if (outputs_.answer && block_.answered()) compare_answer(*outputs_.answer);
  if (outputs_.end && block_.operation_done()) compare_end(*outputs_.end);
  expect(block_.corrected(), outputs_.corrected, "count of corrected bits");
  expect(block_.lost() ? 1 : 0, outputs_.lost ? 1 : 0, "sign of lost contents");
  block_.tick();
  ++cycles_;
  withdraw();
  if (apart()) finish();
  return outputs_;
}

void PersistentSramDriver::Side::see(bool access_taken, bool operation_taken, bool answered, bool ended,
                                     uint64_t cycle) {
  if (answered || ended) last = cycle;
  under_way += (access_taken ? 1 : 0) + (operation_taken ? 1 : 0);
  under_way -= std::min<uint64_t>(under_way, (answered ? 1 : 0) + (ended ? 1 : 0));
}

void PersistentSramDriver::see() {
  of_block_.see(block_.access_taken(), block_.operation_taken(), block_.answered(), block_.operation_done(), cycles_);
  of_schedule_.see(outputs_.access_taken, outputs_.operation_taken, outputs_.answer.has_value(),
                   outputs_.end.has_value(), cycles_);
}

// Each side for itself, without anything new.
void PersistentSramDriver::finish() {
  constexpr uint64_t kPatience = 10'000;
  block_.withdraw_access();
  block_.withdraw_operation();
  block_.withdraw_injection();
  PersistentSramSchedule::Inputs inputs;
  inputs.power = power_;
  for (uint64_t i = 0; i < kPatience && of_block_.under_way + of_schedule_.under_way > 0; ++i) {
    outputs_ = schedule_.step(inputs);
    see();
    block_.tick();
    ++cycles_;
  }
}

void PersistentSramDriver::compare_handshakes() {
  const auto text = [](bool access, bool operation, bool injection, bool answer, bool end) {
    return fmt::format("{}{}{}{}{}", access ? " takes the access" : "", operation ? " takes the operation" : "",
                       injection ? " takes the injection" : "", answer ? " answers" : "",
                       end ? " ends the operation" : "");
  };
  const std::string got = text(block_.access_taken(), block_.operation_taken(), block_.injection_taken(),
                               block_.answered(), block_.operation_done());
  const std::string wanted = text(outputs_.access_taken, outputs_.operation_taken, outputs_.injection_taken,
                                  outputs_.answer.has_value(), outputs_.end.has_value());
  if (got == wanted || apart()) return;
  const auto or_nothing = [](const std::string& what) { return what.empty() ? " does nothing" : what; };
  trial_.port_difference =
      fmt::format("in cycle {} the RTL{}, the schedule{}", cycles_, or_nothing(got), or_nothing(wanted));
}

void PersistentSramDriver::compare_answer(const PersistentSramSchedule::Answer& answer) {
  compare(static_cast<uint64_t>(block_.answer_error()), static_cast<uint64_t>(answer.error), "error of an access");
  if (answer.failed != 0) compare(block_.answer_failed(), answer.failed, "set of words with two wrong bits");
  constexpr uint32_t kWord = PersistentSramContents::kWordBytes;
  for (uint32_t i = 0; i < answer.data.size(); ++i) {
    if ((answer.strobe >> (i / kWord * kWord) & 0xff) == 0) continue;
    compare(block_.answer()[i], answer.data[i], "byte that is read");
  }
}

void PersistentSramDriver::compare_end(const PersistentSramSchedule::End& end) {
  compare(static_cast<uint64_t>(block_.operation_error()), static_cast<uint64_t>(end.error), "error of an operation");
  if (end.entry) compare(block_.operation_entry(), *end.entry, "entry with two wrong bits");
  if (!end.place) return;
  const rtl::PersistentSram::Place place = block_.operation_place();
  compare(place.in_dram ? 1 : 0, end.place->in_dram ? 1 : 0, "memory of a variable");
  compare(place.base, end.place->base, "place of a variable");
}

void PersistentSramDriver::compare(uint64_t got, uint64_t wanted, const char* what) {
  ++trial_.compared;
  expect(got, wanted, what);
}

void PersistentSramDriver::expect(uint64_t got, uint64_t wanted, const char* what) {
  if (got == wanted) return;
  trial_.note(fmt::format("in cycle {} the {} is {:#x} instead of {:#x}", cycles_, what, got, wanted));
}

void PersistentSramDriver::withdraw() {
  if (outputs_.access_taken) {
    access_.reset();
    block_.withdraw_access();
  }
  if (outputs_.operation_taken) {
    operation_.reset();
    block_.withdraw_operation();
  }
  if (outputs_.injection_taken) {
    injection_.reset();
    block_.withdraw_injection();
  }
}

}  // namespace npu::cosim
