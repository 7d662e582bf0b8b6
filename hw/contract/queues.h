// SPDX-License-Identifier: Apache-2.0
// The queues of the contract: what executes their commands, and tables with an entry for each of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"

namespace npu::contract {

enum class Engine : uint8_t { kDma, kMxu, kVpu };

[[nodiscard]] constexpr std::string_view name(Engine engine) {
  switch (engine) {
    case Engine::kDma:
      return "dma";
    case Engine::kMxu:
      return "mxu";
    case Engine::kVpu:
      return "vpu";
  }
  return "?";
}

// Nullopt for the sequencer, which executes its commands itself, and for a number that is no queue.
[[nodiscard]] constexpr std::optional<Engine> engine_of(Queue queue) {
  switch (queue) {
    case Queue::kDma0:
    case Queue::kDma1:
    case Queue::kDma2:
    case Queue::kDma3:
    case Queue::kDma4:
    case Queue::kDma5:
    case Queue::kDma6:
    case Queue::kDma7:
      return Engine::kDma;
    case Queue::kMxu:
      return Engine::kMxu;
    case Queue::kVpu:
      return Engine::kVpu;
    case Queue::kSequencer:
      return std::nullopt;
  }
  return std::nullopt;
}

// A command that one of the engines executes whole, as a tile; and one that no engine does.
template <typename Command>
concept TileCommand = requires {
  requires Command::kQueue == Queue::kMxu || Command::kQueue == Queue::kVpu;
};
template <typename Command>
concept SequencerCommand = requires {
  requires Command::kQueue == Queue::kSequencer;
};
template <typename Command>
concept VpuCommand = requires {
  requires Command::kQueue == Queue::kVpu;
};

// Where a queue's token stands in Header::wait, and its counters among those of all queues.
[[nodiscard]] constexpr size_t index_of(Queue queue) { return static_cast<size_t>(queue); }

// Of a command that has completed.
[[nodiscard]] constexpr Queue queue_of(const Event& event) { return static_cast<Queue>(event.queue); }

// Of a channel that the device has.
[[nodiscard]] constexpr Queue dma_queue(size_t channel) { return static_cast<Queue>(index_of(Queue::kDma0) + channel); }

// Ascending, as their commands are counted.
inline constexpr std::array<Queue, kEngineQueues> kQueuesOfEngines = [] {
  std::array<Queue, kEngineQueues> queues{};
  for (size_t i = 0; i < queues.size(); ++i) queues[i] = static_cast<Queue>(i);
  return queues;
}();
static_assert(
    [] {
      for (const Queue queue : kQueuesOfEngines) {
        if (!engine_of(queue)) return false;
      }
      return true;
    }(),
    "the numbers of the engines' queues come before the others");

// An entry for each queue of an engine.
template <typename Entry>
class EngineQueueTable {
 public:
  [[nodiscard]] Entry& operator[](Queue queue) {
    NPU_CHECK(index_of(queue) < kEngineQueues);
    return entries_[index_of(queue)];
  }
  [[nodiscard]] const Entry& operator[](Queue queue) const {
    NPU_CHECK(index_of(queue) < kEngineQueues);
    return entries_[index_of(queue)];
  }
  [[nodiscard]] auto begin() { return entries_.begin(); }
  [[nodiscard]] auto end() { return entries_.end(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }

 private:
  std::array<Entry, kEngineQueues> entries_{};
};

}  // namespace npu::contract
