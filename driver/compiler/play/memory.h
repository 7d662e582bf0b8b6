// SPDX-License-Identifier: Apache-2.0
// The port to DRAM and what is behind it, burst by burst: requesters in turn, a request and a response path.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

#include "driver/compiler/play/moments.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/queues.h"
#include "hw/timing/cycles.h"
#include "hw/timing/dram_timing.h"

namespace npu::compiler::play {

// Where the machine's is not known: as fast as the port, and what it takes on edge until data comes.
[[nodiscard]] timing::Dram any_dram(const contract::Capabilities& capabilities);

class BurstUser {
 public:
  virtual ~BurstUser() = default;
  // The last of its response has come.
  virtual void burst_done(uint32_t tag, bool write) = 0;
};

struct Burst {
  uint64_t address = 0;
  uint32_t bytes = 0;
  bool write = false;
  uint32_t tag = 0;  // the user's
  BurstUser* user = nullptr;
};

class Memory : private Actor {
 public:
  static constexpr size_t kFetchRequester = contract::kEngineQueues;  // the others have their queues' numbers

  Memory(Moments& moments, const contract::Capabilities& capabilities, const timing::Dram& dram);

  void submit(const Burst& burst, size_t requester);

 private:
  void act(uint32_t what) override;
  void grant();
  void send(const Burst& burst);
  void set_grant(uint64_t cycle);
  [[nodiscard]] uint64_t port_cycles(uint64_t bytes) const { return timing::ceil_div(bytes, port_bytes_); }

  Moments& moments_;
  const std::unique_ptr<timing::DramTiming> dram_;
  const uint64_t port_bytes_;
  const double picoseconds_;  // of a cycle
  std::array<std::deque<Burst>, kFetchRequester + 1> waiting_;
  std::deque<Burst> under_way_;  // in the order of their responses
  size_t queued_ = 0, last_granted_ = 0;
  uint64_t request_free_ = 0, response_free_ = 0;
  uint64_t grant_at_ = ~uint64_t{0};
};

}  // namespace npu::compiler::play
