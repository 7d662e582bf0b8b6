// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/rtl_persistent_sram.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "hw/contract/error.h"

namespace npu::cosim {

using contract::ErrorCode;
using contract::PsramPower;
using contract::VariableEntry;
using engine::TableAnswer;
using engine::TableOp;
using engine::TableRequest;
using BlockOp = rtl::PersistentSram::Op;

namespace {

constexpr uint64_t kWordBytes = 8;  // under one code

struct TableOpInfo {
  TableOp op;
  BlockOp block;
  std::string_view name;
};
constexpr TableOpInfo kTableOps[] = {{TableOp::kBeginJob, BlockOp::kBeginJob, "begin of a job"},
                                     {TableOp::kDeclare, BlockOp::kDeclare, "declaration"},
                                     {TableOp::kCheck, BlockOp::kCheck, "check"},
                                     {TableOp::kCheckRead, BlockOp::kCheckRead, "check of a read"},
                                     {TableOp::kWriteBegin, BlockOp::kWriteBegin, "begin of a write"},
                                     {TableOp::kCommit, BlockOp::kCommit, "commit"}};

const TableOpInfo& info_of(TableOp op) {
  for (const TableOpInfo& info : kTableOps) {
    if (info.op == op) return info;
  }
  panic(__FILE__, __LINE__, "an operation on the table without one of the RTL");
}

PersistentBlock::Power block_power(PsramPower power) {
  switch (power) {
    case PsramPower::kOn:
      return PersistentBlock::Power::kOn;
    case PsramPower::kRetention:
      return PersistentBlock::Power::kRetention;
    case PsramPower::kOff:
      return PersistentBlock::Power::kOff;
  }
  panic(__FILE__, __LINE__, "a power state without one of the RTL");
}

// The RTL has 40 bits for an offset; what is cut off is beyond any variable in any case.
int64_t cut(int64_t offset) {
  constexpr int64_t kMost = (int64_t{1} << 39) - 1;
  return std::clamp(offset, -kMost, kMost);
}

std::string named(ErrorCode code) { return std::string(contract::name(code)); }

std::string what_of(const TableRequest& request) {
  const std::string_view name = info_of(request.op).name;
  return request.op == TableOp::kBeginJob ? std::string(name) : fmt::format("{} of variable {}", name, request.index);
}

}  // namespace

RtlPersistentSram::RtlPersistentSram(std::unique_ptr<rtl::PersistentSram> block, bool lockstep,
                                     PersistentRecord& record, Fail fail)
    : block_(std::move(block)), lockstep_(lockstep), record_(record), fail_(std::move(fail)), table_({}, 0, 1) {}

uint32_t RtlPersistentSram::lanes() const { return block_.sizes().port_bytes / kWordBytes; }

// --- Failures

void RtlPersistentSram::fail(ErrorCode code, const std::string& text) {
  if (over_) return;
  over_ = true;
  failure_ = code;
  fail_(code, text);
}

// Nothing any more behind the first failure.
template <class Work>
void RtlPersistentSram::work(Work&& work) {
  if (over_) return;
  try {
    work();
  } catch (const Error& error) {
    fail(ErrorCode::kBug, error.what());
  }
}

void RtlPersistentSram::compare(uint64_t got, uint64_t wanted, const std::string& what) {
  ++record_.compared;
  if (got == wanted) return;
  fail(ErrorCode::kElementsDiffer, fmt::format("{}: RTL {:#x}, model {:#x}", what, got, wanted));
}

// --- Power

void RtlPersistentSram::connect(std::span<uint8_t> image) {
  NPU_CHECK(image.size() == block_.sizes().bytes);
  image_ = image;
  table_ = {image, block_.sizes().entries, block_.sizes().port_bytes};
  reset();
}

// The device's time of it is a row a cycle.
void RtlPersistentSram::cleared(uint64_t cycles) {
  record_.cycles.add(cycles, block_.sizes().bytes / block_.sizes().port_bytes);
}

void RtlPersistentSram::reset() {
  work([&] {
    power_ = PsramPower::kOn;
    flips_.clear();
    cleared(block_.reset());
  });
}

void RtlPersistentSram::set_power(PsramPower power) {
  work([&] {
    power_ = power;
    if (power == PsramPower::kOff) flips_.clear();
    const uint64_t cycles = block_.set_power(block_power(power));
    if (power != PsramPower::kOn) return;
    if (cycles > 0) cleared(cycles);
    for (const engine::WrongWord& word : flips_) {
      if (cycles == 0) inject(word.word, word.data, word.check);  // else they are written over
    }
    flips_.clear();
  });
}

void RtlPersistentSram::acknowledge_loss() {
  work([&] { block_.acknowledge_loss(); });
}

// The block has no way to flip bits while it is not on: they wait.
void RtlPersistentSram::flip(uint64_t word, uint32_t bit) {
  work([&] {
    const uint64_t data = bit < 64 ? uint64_t{1} << bit : 0;
    const auto check = static_cast<uint8_t>(bit < 64 ? 0 : 1u << (bit - 64));
    if (power_ == PsramPower::kOn) {
      inject(word, data, check);
    } else {
      flips_.push_back({word, data, check});
    }
  });
}

void RtlPersistentSram::inject(uint64_t word, uint64_t data_flips, uint8_t check_flips) {
  block_.inject(static_cast<uint32_t>(word / lanes()), static_cast<uint32_t>(word % lanes()), data_flips, check_flips);
}

engine::PersistentStatus RtlPersistentSram::status(const engine::PersistentStatus& model) {
  if (over_) return model;
  const engine::PersistentStatus of_block = {block_.lost(), block_.corrected()};
  if (!lockstep_) return of_block;
  compare(of_block.lost ? 1 : 0, model.lost ? 1 : 0, "sign of lost contents");
  compare(of_block.corrected, model.corrected, "count of corrected bits");
  return model;
}

// --- Bytes

template <class Visit>
void RtlPersistentSram::for_each_row(uint64_t low, uint64_t high, Visit&& visit) const {
  const uint64_t port = block_.sizes().port_bytes;
  while (low < high && !over_) {
    const uint64_t row = low / port, end = std::min(high, (row + 1) * port);
    const uint64_t bytes = end - low;
    const auto strobe = static_cast<uint32_t>(((uint64_t{1} << bytes) - 1) << (low % port));
    if (!visit(Row{static_cast<uint32_t>(row), strobe, low, end})) return;
    low = end;
  }
}

PersistentBlock::Answer RtlPersistentSram::access(const Row& row, bool write, bool host) {
  ++record_.accesses;
  const uint32_t port = block_.sizes().port_bytes;
  const uint64_t first = uint64_t{row.number} * port;
  return block_.access({write, host, static_cast<uint32_t>(first), row.strobe,
                        write ? std::span<const uint8_t>(image_).subspan(first, port) : std::span<const uint8_t>()});
}

// Word by word.
void RtlPersistentSram::compare_row(const Row& row, const PersistentBlock::Answer& answer) {
  const uint64_t first = uint64_t{row.number} * block_.sizes().port_bytes;
  for (uint64_t low = row.low; low < row.high;) {
    const uint64_t end = std::min(row.high, (low / kWordBytes + 1) * kWordBytes);
    uint64_t got = 0, wanted = 0;
    std::memcpy(&got, answer.data.data() + (low - first), end - low);
    std::memcpy(&wanted, image_.data() + low, end - low);
    const bool failed = (answer.failed >> ((low - first) / kWordBytes) & 1) != 0;
    if (!failed && got != wanted) {
      compare(got, wanted, fmt::format("bytes {:#x} to {:#x} of the persistent SRAM", low, end - 1));
    } else {
      record_.compared += failed ? 0 : 1;
    }
    low = end;
  }
}

void RtlPersistentSram::take(const Row& row, const PersistentBlock::Answer& answer) {
  if (lockstep_) {
    compare_row(row, answer);
  } else {
    const uint64_t first = uint64_t{row.number} * block_.sizes().port_bytes;
    std::memcpy(image_.data() + row.low, answer.data.data() + (row.low - first), row.high - row.low);
  }
}

std::optional<uint64_t> RtlPersistentSram::read(uint64_t low, uint64_t high, bool host, std::optional<uint64_t> wrong) {
  std::optional<uint64_t> found;
  work([&] {
    for_each_row(low, high, [&](const Row& row) {
      const PersistentBlock::Answer answer = access(row, false, host);
      if (answer.error == ErrorCode::kFaultEcc) {
        found = uint64_t{row.number} * block_.sizes().port_bytes +
                static_cast<uint64_t>(std::countr_zero(answer.failed)) * kWordBytes;
        return false;
      }
      if (answer.error != ErrorCode::kOk) {
        fail(lockstep_ ? ErrorCode::kElementsDiffer : ErrorCode::kBug,
             fmt::format("a read of byte {:#x} is answered with {}", row.low, named(answer.error)));
        return false;
      }
      take(row, answer);
      return true;
    });
    constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
    if (lockstep_ && !over_) {
      compare(found.value_or(kNone), wrong.value_or(kNone),
              fmt::format("word with two wrong bits in bytes {:#x} to {:#x}", low, high - 1));
    }
  });
  return over_ || lockstep_ ? wrong : found;
}

void RtlPersistentSram::must_take(const Row& row, bool host) {
  const ErrorCode error = access(row, true, host).error;
  if (lockstep_) ++record_.compared;
  if (error == ErrorCode::kOk) return;
  fail(lockstep_ ? ErrorCode::kElementsDiffer : ErrorCode::kBug,
       fmt::format("a write of byte {:#x} is answered with {}", row.low, named(error)));
}

void RtlPersistentSram::write(uint64_t low, uint64_t high, bool host) {
  work([&] {
    for_each_row(low, high, [&](const Row& row) {
      must_take(row, host);
      return true;
    });
  });
}

// Whole words need not be right before. Then what is wrong is made wrong again.
void RtlPersistentSram::put(uint64_t low, uint64_t high, std::span<const engine::WrongWord> wrong) {
  write(low / kWordBytes * kWordBytes, (high + kWordBytes - 1) / kWordBytes * kWordBytes, true);
  work([&] {
    for (const engine::WrongWord& word : wrong) inject(word.word, word.data, word.check);
  });
}

void RtlPersistentSram::scrub(uint32_t uncorrectable) {
  work([&] {
    uint64_t failed = 0;
    for_each_row(0, image_.size(), [&](const Row& row) {
      failed += static_cast<uint64_t>(std::popcount(access(row, false, true).failed));
      return true;
    });
    if (lockstep_) compare(failed, uncorrectable, "number of words with two wrong bits");
  });
}

void RtlPersistentSram::refuse(uint64_t address) {
  work([&] {
    for_each_row(address, std::min<uint64_t>(address + 1, image_.size()), [&](const Row& row) {
      const ErrorCode error = access(row, false, true).error;
      if (lockstep_) {
        compare(static_cast<uint64_t>(error), static_cast<uint64_t>(ErrorCode::kFaultPower),
                "answer of a memory that is not on");
      }
      return true;
    });
  });
}

// --- The table

TableAnswer RtlPersistentSram::operate(const TableRequest& request, const TableAnswer& model) {
  TableAnswer answer = model;
  work([&] {
    ++record_.operations;
    const PersistentBlock::End end =
        block_.operate({info_of(request.op).block, request.index, request.hash, cut(request.low), cut(request.high),
                        request.job.owner, request.job.epoch});
    if (lockstep_) {
      compare_end(request, model, end);
    } else {
      answer.error = end.error;
      answer.entry = end.entry;
    }
    if (end.error != ErrorCode::kOk || over_) return;
    if (model.error == ErrorCode::kOk) record_.cycles.add(end.cycles, model.cycles);
    take_marks(request);
  });
  return answer;
}

void RtlPersistentSram::compare_end(const TableRequest& request, const TableAnswer& model,
                                    const PersistentBlock::End& end) {
  ++record_.compared;
  if (end.error != model.error) {
    fail(ErrorCode::kElementsDiffer,
         fmt::format("{}: RTL {}, model {}", what_of(request), named(end.error), named(model.error)));
    return;
  }
  if (end.error == ErrorCode::kFaultEcc) compare(end.entry, model.entry, what_of(request) + ", wrong entry");
  const bool reads = request.op == TableOp::kCheckRead;
  const bool places = reads || request.op == TableOp::kCheck || request.op == TableOp::kWriteBegin;
  if (!places || end.error != ErrorCode::kOk) return;
  using Use = engine::VariableTable::Use;
  const engine::VariablePlace place = table_.place(request.index, reads ? Use::kRead : Use::kWrite);
  compare(end.place.in_dram ? 1 : 0, place.in_dram ? 1 : 0, what_of(request) + ", memory");
  compare(end.place.base * (end.place.in_dram ? contract::kVariableDramUnit : 1), place.base,
          what_of(request) + ", place");
}

// What the operation made of the entries.
void RtlPersistentSram::take_marks(const TableRequest& request) {
  if (request.op == TableOp::kCheck || request.op == TableOp::kCheckRead) return;
  const bool all = request.op == TableOp::kBeginJob;
  const uint64_t low = all ? 0 : uint64_t{request.index} * VariableEntry::kBytes;
  for_each_row(low, all ? table_bytes() : low + VariableEntry::kBytes, [&](const Row& row) {
    const PersistentBlock::Answer answer = access(row, false, true);
    if (answer.error == ErrorCode::kOk) take(row, answer);
    return true;
  });
}

// --- The end

void RtlPersistentSram::finish() {
  work([&] {
    if (!lockstep_ || power_ != PsramPower::kOn) return;
    for_each_row(0, image_.size(), [&](const Row& row) {
      compare_row(row, access(row, false, true));
      return true;
    });
  });
  over_ = true;
}

}  // namespace npu::cosim
