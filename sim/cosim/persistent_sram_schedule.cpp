// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/persistent_sram_schedule.h"

#include <utility>

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
  const bool asks = table_asks();
  const bool served = !busy && inputs.injection == nullptr && serve(inputs, outputs, asks);
  if (running_) look(asks, served);
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
  const uint64_t formula = timing::table_cycles(running_->played) + running_->held_up;
  outputs.end = End{running_->error, std::nullopt, running_->entry, formula, running_->played};
  const Op op = running_->operation.op;
  const bool checks = op == Op::kCheck || op == Op::kCheckRead || op == Op::kWriteBegin;
  if (checks && running_->error == ErrorCode::kOk) outputs.end->place = running_->plan.place;
}

void PersistentSramSchedule::start(const PersistentSram::Operation& operation) {
  running_.emplace();
  running_->operation = operation;
  running_->plan = contents_.plan(operation, lost_);
  running_->asks_at = cycle_ + 1;
  if (!running_->plan.runs.empty()) return;
  running_->error = running_->plan.error;
  running_->ends_at = cycle_ + 1;
}

// Rows are asked for until the answer that ends the reading is there.
bool PersistentSramSchedule::table_asks() const {
  if (!running_ || running_->ends_at != 0 || cycle_ < running_->asks_at) return false;
  return running_->writes || running_->row < running_->now().rows.size();
}

// One access of the table or of the data port, in turn. True when it was the table's.
bool PersistentSramSchedule::serve(const Inputs& inputs, Outputs& outputs, bool table) {
  const uint32_t winner = turns_.next((table ? kTable : 0) | (inputs.access != nullptr ? kData : 0));
  turns_.serve(winner);
  if (winner == kTable) {
    serve_table(inputs.power);
  } else if (winner == kData) {
    PersistentSramContents::Result result = contents_.access(*inputs.access, inputs.power);
    took(result);
    outputs.access_taken = true;
    outputs.late = result.late;
    answers_.push_back({cycle_ + PersistentSram::kLatency,
                        Answer{result.error, inputs.access->strobe, std::move(result.data), result.failed}});
  }
  return winner == kTable;
}

void PersistentSramSchedule::took(const PersistentSramContents::Result& result) {
  late_ = result.late;
  if (result.corrected > 0) corrections_.push_back({cycle_ + PersistentSram::kLatency, result.corrected});
}

void PersistentSramSchedule::serve_table(Power power) {
  Running& running = *running_;
  if (running.writes) {
    took_mark(contents_.step(*running.now().write, power));
  } else if (running.answer_at == 0) {
    took_row(contents_.step(contents_.reading(running.now().rows[running.row]), power));
  } else {
    ++running.row;  // it is dropped, and nothing comes of it
  }
}

void PersistentSramSchedule::took_row(const PersistentSramContents::Result& result) {
  took(result);
  Running& running = *running_;
  const uint32_t row = running.now().rows[running.row++];
  if (running.corrected) ++running.held_up;
  running.corrected = result.late;
  ++running.reads;
  found(row, result);
  if (result.error == ErrorCode::kOk && running.reads < running.now().reads) return;
  running.answer_at = cycle_ + PersistentSram::kLatency;
  running.corrected = false;
}

void PersistentSramSchedule::took_mark(const PersistentSramContents::Result& result) {
  took(result);
  found(running_->now().write->row, result);
  running_->answer_at = cycle_ + PersistentSram::kLatency;
  running_->asks_at = running_->answer_at + 1;
}

void PersistentSramSchedule::found(uint32_t row, const PersistentSramContents::Result& result) {
  running_->error = result.error;
  if (result.failed != 0) running_->entry = contents_.entry_of(row, result.failed);
}

// What comes of the answer of this cycle, in the next one.
void PersistentSramSchedule::look(bool asked, bool served) {
  Running& running = *running_;
  const bool waits = asked && !served;
  if (running.ends_at != 0 || running.answer_at == 0 || cycle_ < running.answer_at || waits) return;
  const bool failed = running.error != ErrorCode::kOk;
  const bool mark = !running.writes && !failed && running.now().write;
  const uint64_t more = running.now().rows.size() - running.reads;
  if (!running.writes && running.operation.op == Op::kDeclare && mark) contents_.compared(running.operation.index);
  running.answer_at = 0;
  running.asks_at = cycle_ + 1;
  if (mark) {
    running.writes = true;
    return;
  }
  running.played.add({running.reads, more, running.writes});
  if (failed) {
    running.ends_at = cycle_ + 1;
  } else {
    next_run();
  }
}

void PersistentSramSchedule::next_run() {
  Running& running = *running_;
  ++running.run;
  running.row = 0;
  running.reads = 0;
  running.writes = false;
  if (running.run < running.plan.runs.size()) return;
  running.error = running.plan.error;
  running.ends_at = cycle_ + 1;
}

}  // namespace npu::cosim
