// SPDX-License-Identifier: Apache-2.0
// Command streams for tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"

namespace npu::model::testing {

// A small machine: everything is near.
inline contract::Capabilities small_machine() {
  contract::Capabilities caps;
  caps.clock_mhz = 1000;
  caps.cpu_clock_mhz = 500;
  caps.mxu_cols = 8;
  caps.mxu_depth = 8;
  caps.mxu_dw_taps = 2;
  caps.mxu_int16 = 1;
  caps.mxu_residual = 1;
  caps.mxu_split = 2;
  caps.mxu_acc_bytes = 4096;
  caps.mxu_weight_port_bytes = 16;
  caps.vpu_lanes = 8;
  caps.vpu_registers = 16;
  caps.vpu_table_bytes = 8192;
  caps.vpu_rescale = 1;
  caps.vpu_tree = 1;
  caps.vpu_table_pairs = 1;
  caps.vpu_shared_pass = 1;
  caps.dma_read_ahead = 1;
  caps.spm_bytes = 65536;
  caps.spm_banks = 4;
  caps.spm_bank_bytes = 16;
  caps.psram_bytes = 4096;
  caps.psram_port_bytes = 16;
  caps.var_entries = 8;
  caps.dma_channels = 3;
  caps.dma_port_bytes = 16;
  caps.dma_burst_bytes = 64;
  caps.dma_outstanding = 4;
  caps.fifo_depth = 4;
  caps.dram_mib = 1;
  return caps;
}

// (queue, k) pairs for Header::wait.
using Tokens = std::initializer_list<std::pair<uint32_t, uint8_t>>;

class Stream {
 public:
  explicit Stream(const contract::Capabilities& caps) {
    begin_.header.queue = contract::Queue::kSequencer;
    begin_.major = contract::kContractMajor;
    begin_.minor = contract::kContractMinor;
    begin_.caps_hash = contract::caps_hash(caps);
  }

  // Appends a command; returns its index in the stream.
  template <class Command>
  uint32_t add(Command command, Tokens tokens = {}) {
    for (const auto& [queue, count] : tokens) command.header.wait[queue] = count;
    command.encode(words_);
    return ++count_;
  }
  uint32_t declare(uint32_t variable, uint32_t hash) {
    contract::DeclareCommand command;
    command.header.queue = contract::Queue::kSequencer;
    command.variable = variable;
    command.hash = hash;
    return add(command);
  }
  // A place that branches name by its number.
  uint32_t label(uint32_t number) {
    contract::LabelCommand command;
    command.header.queue = contract::Queue::kSequencer;
    command.index = count_ + 1;
    labels_[number] = {command.index, contract::BeginCommand::kWords + static_cast<uint32_t>(words_.size())};
    return add(command);
  }
  // The label may come later. `at` is the condition's or the counter's address.
  uint32_t branch(contract::BranchMode mode, uint32_t label, contract::Address at = {}, uint32_t limit = 0) {
    contract::BranchCommand command;
    command.header.queue = contract::Queue::kSequencer;
    command.mode = mode;
    (mode == contract::BranchMode::kRepeat ? command.counter : command.condition) = at;
    command.limit = limit;
    branches_.emplace_back(words_.size(), label);
    return add(command);
  }
  // Its place in the stream is word_of_yield(); fields as they must be.
  uint32_t yield(uint32_t segment) {
    contract::YieldCommand command;
    command.header.queue = contract::Queue::kSequencer;
    command.major = begin_.major;
    command.minor = begin_.minor;
    command.caps_hash = begin_.caps_hash;
    command.index = count_ + 1;
    command.segment = segment;
    yields_.push_back(words_.size());
    return add(command);
  }
  [[nodiscard]] uint32_t word_of_yield(uint32_t number) const {
    return contract::BeginCommand::kWords + static_cast<uint32_t>(yields_[number]);
  }
  [[nodiscard]] uint32_t yields() const { return static_cast<uint32_t>(yields_.size()); }
  // The whole stream, begin and end added.
  [[nodiscard]] std::vector<uint32_t> finish() const {
    std::vector<uint32_t> stream;
    contract::BeginCommand begin = begin_;
    begin.command_count = count_ + 2;
    begin.encode(stream);
    stream.insert(stream.end(), words_.begin(), words_.end());
    for (const auto& [word, label] : branches_) {
      const auto& [index, target] = labels_.at(label);
      stream[contract::BeginCommand::kWords + word + kTargetWord] = target;
      stream[contract::BeginCommand::kWords + word + kTargetWord + 1] = index;
    }
    for (uint32_t i = 0; i < yields(); ++i) stream[word_of_yield(i) + 7] = begin.command_count;
    contract::EndCommand end;
    end.header.queue = contract::Queue::kSequencer;
    end.encode(stream);
    return stream;
  }
  contract::BeginCommand& begin() { return begin_; }
  [[nodiscard]] uint32_t word_of_label(uint32_t number) const { return labels_.at(number).second; }
  // Where a branch's first word is.
  [[nodiscard]] uint32_t word_of_branch(uint32_t number) const {
    return contract::BeginCommand::kWords + static_cast<uint32_t>(branches_[number].first);
  }
  static constexpr uint32_t kTargetWord = 11;  // of a branch; the index of its label follows
  [[nodiscard]] uint32_t count() const { return count_ + 2; }

 private:
  contract::BeginCommand begin_;
  std::vector<uint32_t> words_;
  std::vector<size_t> yields_;                                // where they are in words_
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> labels_;  // index and word in the whole stream
  std::vector<std::pair<size_t, uint32_t>> branches_;         // where they are in words_, and their labels
  uint32_t count_ = 0;                                        // of the commands after begin
};

inline contract::Address at(contract::Region region, uint32_t offset) { return {offset, region, 0}; }
inline contract::Address spm(uint32_t offset) { return at(contract::Region::kScratchpad, offset); }
inline contract::Address dram(uint32_t offset) { return at(contract::Region::kWorkspace, offset); }
inline contract::Address variable(uint16_t index, uint32_t offset = 0) {
  return {offset, contract::Region::kVariable, index};
}

// Contiguous copy of `bytes` bytes on a DMA channel.
inline contract::DmaCommand copy(uint32_t channel, contract::Address src, contract::Address dst, uint32_t bytes) {
  contract::DmaCommand dma;
  dma.header.queue = static_cast<contract::Queue>(channel);
  dma.src = src;
  dma.dst = dst;
  dma.run_bytes = bytes;
  dma.count.fill(1);
  return dma;
}

inline contract::DmaCommand fill(uint32_t channel, contract::Address dst, uint32_t bytes, uint64_t value,
                                 uint32_t pattern_bytes = 1) {
  contract::DmaCommand dma = copy(channel, {}, dst, bytes);
  dma.mode = contract::DmaMode::kFill;
  dma.fill_value_lo = static_cast<uint32_t>(value);
  dma.fill_value_hi = static_cast<uint32_t>(value >> 32);
  dma.fill_bytes = pattern_bytes;
  return dma;
}

// Element-wise int8 copy on the VPU: one load, one store.
inline contract::VpuEwiseCommand ewise(contract::Address src, contract::Address dst, uint32_t elements) {
  contract::VpuEwiseCommand command;
  command.header.queue = contract::Queue::kVpu;
  command.dims = {1, 1, 1, elements};
  command.register_count = 1;
  contract::Operand operand;
  operand.stride = {0, 0, 0, 1};
  operand.base = src;
  command.operands.push_back(operand);
  operand.base = dst;
  command.operands.push_back(operand);
  contract::Uop load, store;
  load.op = contract::UopCode::kLoad;
  store.op = contract::UopCode::kStore;
  store.b = 1;
  command.uops = {load, store};
  return command;
}

}  // namespace npu::model::testing
