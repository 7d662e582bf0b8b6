// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/persistent_sram_schedule.h"

#include <utility>

#include "hw/timing/table_cycles.h"

namespace npu::cosim {

using contract::ErrorCode;
using rtl::PersistentSram;
using Op = PersistentSram::Op;

namespace {

static_assert(PersistentSram::kLatency == timing::kPersistentAnswer);

constexpr uint32_t kTable = 1, kData = 2;  // at the arbiter

}  // namespace

PersistentSramSchedule::Outputs PersistentSramSchedule::step(const Inputs& inputs) {
  Outputs outputs;
  read_outputs(outputs);
  const bool was_idle = !running_;
  const bool on = inputs.power == Power::kOn;
  const bool clearing = on && clear_left_ > 0;
  const bool busy = clearing || std::exchange(late_, false);
  outputs.injection_taken = inputs.injection != nullptr && !busy;
  if (outputs.injection_taken && on) {
    const Injection& injection = *inputs.injection;
    contents_.inject(injection.row, injection.lane, injection.data_flips, injection.check_flips);
    late_ = true;
  }
  if (!busy && inputs.injection == nullptr) serve(inputs, outputs);
  outputs.operation_taken = inputs.operation != nullptr && was_idle;
  if (outputs.operation_taken) start(*inputs.operation);
  if (outputs.end) running_.reset();

  if (clearing) --clear_left_;
  if (inputs.power == Power::kOff) {
    contents_.clear();
    clear_left_ = contents_.rows();
  }
  if (inputs.clear_lost) lost_ = false;
  if (inputs.power == Power::kOff && !off_) lost_ = true;
  off_ = inputs.power == Power::kOff;
  ++cycle_;
  return outputs;
}

// What earlier cycles brought about.
void PersistentSramSchedule::read_outputs(Outputs& outputs) {
  if (!answers_.empty() && answers_.front().cycle == cycle_) {
    outputs.answer = std::move(answers_.front().value);
    answers_.pop_front();
  }
  if (!corrections_.empty() && corrections_.front().cycle == cycle_) {
    corrected_ += corrections_.front().value;
    corrections_.pop_front();
  }
  outputs.corrected = corrected_;
  outputs.lost = lost_;
  if (!running_ || running_->ends_at != cycle_) return;
  outputs.end = End{running_->error, std::nullopt, running_->entry, formula(), running_->late};
  const bool checks = running_->op == Op::kCheck || running_->op == Op::kCheckRead || running_->op == Op::kWriteBegin;
  if (checks && running_->error == ErrorCode::kOk) outputs.end->place = running_->plan.place;
}

void PersistentSramSchedule::start(const PersistentSram::Operation& operation) {
  running_.emplace();
  running_->op = operation.op;
  running_->plan = contents_.plan(operation, lost_);
  running_->asks_at = cycle_ + 1;
  if (!running_->plan.steps.empty()) return;
  running_->error = running_->plan.error;
  running_->ends_at = cycle_ + 1;
}

// One access of the table or of the data port, in turn.
void PersistentSramSchedule::serve(const Inputs& inputs, Outputs& outputs) {
  const bool table = running_ && running_->ends_at == 0 && running_->asks_at <= cycle_;
  const uint32_t winner = turns_.next((table ? kTable : 0) | (inputs.access != nullptr ? kData : 0));
  turns_.serve(winner);
  if (winner == kTable) {
    took_step(contents_.step(running_->plan.steps[running_->next], inputs.power));
  } else if (winner == kData) {
    PersistentSramContents::Result result = contents_.access(*inputs.access, inputs.power);
    took(result);
    outputs.access_taken = true;
    outputs.late = result.late;
    answers_.push_back({cycle_ + PersistentSram::kLatency,
                        Answer{result.error, inputs.access->strobe, std::move(result.data), result.failed}});
  }
}

void PersistentSramSchedule::took(const PersistentSramContents::Result& result) {
  late_ = result.late;
  if (result.corrected > 0) corrections_.push_back({cycle_ + PersistentSram::kLatency, result.corrected});
}

// The table looks at the answer, and asks again, or ends, in the cycle behind it.
void PersistentSramSchedule::took_step(const PersistentSramContents::Result& result) {
  took(result);
  Running& running = *running_;
  const uint64_t after = cycle_ + PersistentSram::kLatency + 1;
  const PersistentSramContents::Step& step = running.plan.steps[running.next];
  if (step.write) ++running.writes;
  running.late.push_back(result.late);
  if (result.failed != 0) running.entry = contents_.entry_of(step.row, result.failed);
  ++running.next;
  running.asks_at = after;
  if (result.error != ErrorCode::kOk) {
    running.error = result.error;
    running.ends_at = after;
  } else if (running.next == running.plan.steps.size()) {
    running.error = running.plan.error;
    running.ends_at = after;
  }
}

// The table of the README. What ends early has made so many accesses.
uint64_t PersistentSramSchedule::formula() const {
  const Running& running = *running_;
  const timing::TableAccesses accesses = {contents_.table_rows(), 1};
  if (running.error != ErrorCode::kOk) return timing::table_cycles(running.next);
  switch (running.op) {
    case Op::kBeginJob:
      return timing::table_cycles(accesses.begin_job(running.writes));
    case Op::kDeclare:
      return timing::table_cycles(accesses.declare());
    case Op::kCommit:
      return timing::table_cycles(accesses.commit());
    case Op::kWriteBegin:
      return timing::table_cycles(running.writes > 0 ? accesses.begin_write() : accesses.check());
    default:
      return timing::table_cycles(accesses.check());
  }
}

}  // namespace npu::cosim
