// SPDX-License-Identifier: Apache-2.0
// Who last wrote and read each byte of one memory, as the search for tokens asks it for each run of each command.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "hw/contract/queues.h"

namespace npu::compiler::backend {

// Commands of each queue, counted from the first.
using QueueCounts = contract::EngineQueueTable<int32_t>;

// Each count becomes the larger one.
void join(QueueCounts& a, const QueueCounts& b);

// The last accesses to every byte of one memory, as stretches of equal history.
class History {
 public:
  // Adds to `need` what an access of the bytes [low, high) must wait for, and records it as one of the `count`-th
  // command of `queue`: a reader waits for the last writer, a writer for the readers since, too.
  void access(int64_t low, int64_t high, bool write, contract::Queue queue, int32_t count, QueueCounts& need);

 private:
  struct State {
    std::optional<contract::Queue> writer;
    int32_t writer_count = 0;  // commands of that queue up to and with the writer
    QueueCounts readers;       // since the last write: commands up to and with the last reader; 0: none
  };
  // From `low` to where the next one begins.
  struct Stretch {
    int64_t low;
    State state;
  };
  // Stretches side by side. A scratchpad has some ten thousand of them, and a tile changes one at each of its pixels:
  // in short arrays finding one reads few cache lines, and adding one moves few bytes.
  using Chunk = std::vector<Stretch>;
  struct Place {
    size_t chunk, index;
  };

  [[nodiscard]] bool holds(size_t chunk, int64_t address) const;
  [[nodiscard]] Place find(int64_t address) const;
  Place cut(int64_t at);
  void erase_behind(Place first, int64_t high);

  // All addresses, in ascending order; no chunk is empty.
  std::vector<Chunk> chunks_{{Stretch{std::numeric_limits<int64_t>::min(), {}}}};
  size_t last_ = 0;  // chunk of the last access: the next one is mostly there, or in the one behind it
};

}  // namespace npu::compiler::backend
