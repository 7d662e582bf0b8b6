// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/contention.h"

#include <memory>
#include <utility>
#include <vector>

#include "sim/cosim/random.h"

namespace npu::cosim {
namespace {

constexpr int64_t kMostCompetitors = 4;

// Asks for a few words that lie in a row, pauses, and goes on behind them or elsewhere.
class Competitor final : public timing::Crossbar::Lane, public timing::SteppedSchedule<Competitor> {
 public:
  Competitor(timing::Crossbar& crossbar, const contract::Capabilities& caps, uint64_t seed)
      : Lane(crossbar, 1), caps_(caps), random_(seed), busy_(static_cast<int>(random_.between(5, 100))) {}

  [[nodiscard]] timing::Ports asking() const override { return asks_ ? 1 : 0; }
  void step(timing::Ports granted) override {
    if (granted != 0) asks_ = false;
    if (!asks_) asks_ = random_.chance(busy_);
  }
  [[nodiscard]] bool done() const override { return false; }
  [[nodiscard]] timing::MemoryRequest next(uint32_t) override {
    const bool persistent = random_.chance(20);
    const uint64_t bytes = persistent ? caps_.psram_bytes : caps_.spm_bytes;
    const uint64_t most = persistent ? caps_.psram_port_bytes : uint64_t{caps_.spm_bank_bytes} * caps_.spm_banks;
    if (random_.chance(30)) address_ = random_.bits();
    const auto length = static_cast<uint64_t>(random_.between(1, static_cast<int64_t>(most)));
    const uint64_t at = address_ % (bytes - length);
    address_ = at + length;
    return {persistent ? timing::OnChip::kPersistent : timing::OnChip::kScratchpad, random_.chance(50), at, length};
  }
  void ended(uint64_t) override {}
  [[nodiscard]] bool wants_end() const override { return false; }
  [[nodiscard]] uint64_t cycles_left() const override { return 0; }

 private:
  const contract::Capabilities& caps_;
  Random random_;
  const int busy_;  // of 100 cycles, at the most
  bool asks_ = false;
  uint64_t address_ = 0;
};

// Keeps what is granted to a schedule.
class Recorder final : public timing::PortSchedule {
 public:
  explicit Recorder(timing::PortSchedule& schedule) : schedule_(schedule) {}

  [[nodiscard]] timing::Ports asking() const override { return schedule_.asking(); }
  void step(timing::Ports granted) override {
    granted_.push_back(granted);
    schedule_.step(granted);
  }
  [[nodiscard]] bool done() const override { return schedule_.done(); }
  timing::Ports advance(timing::Ports granted) override {
    granted_.push_back(granted);
    return schedule_.advance(granted);
  }
  [[nodiscard]] std::vector<timing::Ports> take() { return std::move(granted_); }

 private:
  timing::PortSchedule& schedule_;
  std::vector<timing::Ports> granted_;
};

class Contender final : public timing::Crossbar::Lane {
 public:
  Contender(timing::Crossbar& crossbar, const std::function<timing::MemoryRequest(uint32_t)>& request)
      : Lane(crossbar, timing::kMostPorts), request_(request) {}

  [[nodiscard]] timing::MemoryRequest next(uint32_t port) override { return request_(port); }
  void ended(uint64_t) override {}
  [[nodiscard]] uint64_t cycles_left() const override { return 1; }

 private:
  const std::function<timing::MemoryRequest(uint32_t)>& request_;
};

}  // namespace

Contended contend(timing::PortSchedule& schedule, const std::function<timing::MemoryRequest(uint32_t)>& request,
                  const contract::Capabilities& caps, uint64_t seed) {
  Random random(seed);
  timing::Crossbar crossbar(caps);
  std::vector<std::unique_ptr<Competitor>> competitors;
  const auto add = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      competitors.push_back(std::make_unique<Competitor>(crossbar, caps, random.bits()));
    }
  };
  // Turns go by number: some are before it, some behind.
  const int64_t count = random.between(1, kMostCompetitors), before = random.between(0, count);
  add(before);
  Contender contender(crossbar, request);
  add(count - before);

  Recorder recorder(schedule);
  if (!schedule.done()) crossbar.start(contender, recorder, 0);
  for (const auto& competitor : competitors) crossbar.start(*competitor, *competitor, 0);
  uint64_t cycles = 0;
  while (!schedule.done()) {
    crossbar.play(++cycles);
    crossbar.tell(cycles);
  }
  crossbar.begin_job();  // lets go of the lanes
  return {Grants(recorder.take()), cycles};
}

}  // namespace npu::cosim
