// SPDX-License-Identifier: Apache-2.0
// Plays a stream of commands as the device does, with its time and without its data: prefetch and issue in order,
// FIFOs, tokens, the engines' formulas, DMA burst by burst through the port to DRAM and its banks. What requests to the
// scratchpad lose to each other is estimated (clashes.h).
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "driver/compiler/play/channel.h"
#include "driver/compiler/play/clashes.h"
#include "driver/compiler/play/fetch.h"
#include "driver/compiler/play/memory.h"
#include "driver/compiler/play/moments.h"
#include "driver/compiler/play/places.h"
#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/estimate.h"
#include "driver/compiler/schedule/table_use.h"
#include "hw/contract/queues.h"

namespace npu::compiler::play {

class Player : private Actor {
 public:
  // `words` has the length of each command's encoding. The commands, variables and capabilities must outlive this.
  Player(std::span<const backend::Command> commands, std::vector<uint32_t> words, std::span<const Variable> variables,
         const contract::Capabilities& capabilities, const timing::Dram& dram);

  // Of control flow both branches and the body of a loop count once, as if each branch were taken.
  [[nodiscard]] backend::Timeline play();

 private:
  // What the sequencer does, or waits for.
  enum class Stage : uint8_t { kWords, kDecoded, kTokens, kRoom, kChecked, kDrain, kSettle, kPassed, kOver };
  struct Waiting {
    size_t command = 0;
    contract::EngineQueueTable<size_t> targets = {};  // commands of each queue that must be done
  };
  struct QueueState {
    std::deque<Waiting> fifo;
    std::optional<Waiting> hand;
    bool executing = false;
    uint64_t taken = 0;           // when that in hand was
    std::vector<uint64_t> done;   // when, by number
    std::vector<bool> constants;  // of those that were issued: whether they load such
    std::unique_ptr<Channel> channel;
    [[nodiscard]] size_t issued() const { return constants.size(); }
    [[nodiscard]] size_t under_way() const { return issued() - done.size(); }
  };

  void act(uint32_t what) override;
  void set(uint64_t cycles, uint32_t what) { moments_.set(moments_.now() + cycles, *this, what); }

  void sequence();
  [[nodiscard]] bool step();
  [[nodiscard]] bool decoded();
  bool turn();
  void pass(uint64_t cycles);
  [[nodiscard]] bool drained() const;
  [[nodiscard]] timing::UnderWay under_way() const;
  void push();
  [[nodiscard]] contract::EngineQueueTable<size_t> targets(const contract::Header& header) const;
  [[nodiscard]] bool reached(const contract::EngineQueueTable<size_t>& targets) const;

  void advance();
  void advance(contract::Queue number);
  [[nodiscard]] Channel::Next next_load(contract::Queue number) const;
  void begin(contract::Queue number);
  void execute(contract::Queue number);
  void waited(contract::Queue number);
  void executed(contract::Queue number);
  void end(contract::Queue number);
  [[nodiscard]] backend::TableUse use_of(const backend::Body& body) const;
  [[nodiscard]] uint64_t beats() const;  // of all channels, on the chip
  [[nodiscard]] const backend::Command& command_of(const QueueState& queue) const {
    return commands_[queue.hand->command];
  }

  const std::span<const backend::Command> commands_;
  const std::vector<uint32_t> words_;
  const contract::Capabilities& capabilities_;
  const timing::TableAccesses table_;
  const Places places_;
  Moments moments_;
  Memory memory_;
  Fetch fetch_;
  Clashes clashes_;
  contract::EngineQueueTable<QueueState> queues_;
  Stage stage_ = Stage::kWords;
  bool begun_ = false;
  uint64_t free_ = 0;  // when the sequencer has done what it is at
  size_t next_ = 0;    // command
  backend::Timeline timeline_;
};

}  // namespace npu::compiler::play
