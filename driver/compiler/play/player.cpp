// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/play/player.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hw/contract/error.h"
#include "hw/contract/overloaded.h"
#include "hw/timing/mxu_cycles.h"
#include "hw/timing/sequencer_cycles.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::compiler::play {
namespace {

using contract::Queue;

// What a moment is for: a step of the command in hand of a queue, or the sequencer.
enum class Due : uint8_t { kExecute, kWaited, kExecuted, kEnd, kSequence };
constexpr uint32_t moment(Due due, Queue number) {
  return static_cast<uint32_t>(due) * contract::kEngineQueues + static_cast<uint32_t>(number);
}
constexpr uint32_t kSequencer = moment(Due::kSequence, Queue{});

constexpr uint64_t kBeginWords = contract::BeginCommand::kWords, kEndWords = contract::EndCommand::kWords;

uint64_t stream_bytes(std::span<const uint32_t> words) {
  return 4 * std::accumulate(words.begin(), words.end(), kBeginWords + kEndWords);
}

uint64_t engine_cycles(const backend::Body& body, const contract::Capabilities& capabilities) {
  return std::visit(
      Overloaded{
          [&](const contract::MxuCommand& command) { return timing::mxu_cycles(command, capabilities).total(); },
          [&]<contract::VpuCommand Command>(const Command& command) {
            return timing::vpu_cycles(command, capabilities).total();
          },
          [](const auto&) { return uint64_t{0}; },
      },
      body);
}

}  // namespace

Player::Player(std::span<const backend::Command> commands, std::vector<uint32_t> words,
               std::span<const Variable> variables, const contract::Capabilities& capabilities,
               const timing::Dram& dram)
    : commands_(commands),
      words_(std::move(words)),
      capabilities_(capabilities),
      table_(timing::TableAccesses::of(capabilities)),
      places_(commands, stream_bytes(words_), variables),
      memory_(moments_, capabilities, dram),
      fetch_(
          memory_, capabilities, places_.stream(), stream_bytes(words_), [this] { return under_way(); },
          [this] { sequence(); }),
      clashes_(capabilities) {
  timeline_.issued.resize(commands.size());
  timeline_.completed.resize(commands.size());
  timeline_.times.resize(commands.size());
  for (const Queue number : contract::kQueuesOfEngines) {
    if (contract::engine_of(number) != contract::Engine::kDma) continue;
    queues_[number].channel = std::make_unique<Channel>(
        moments_, memory_, clashes_, capabilities, contract::index_of(number),
        [this, number] { return next_load(number); }, [this, number] { executed(number); });
  }
}

backend::Timeline Player::play() {
  (void)fetch_.ready(4 * kBeginWords);
  pass(timing::table_cycles(table_.begin_job()));
  while (moments_.pass()) {
  }
  NPU_CHECK(stage_ == Stage::kOver && drained());
  double end = 0;
  for (size_t i = 0; i < commands_.size(); ++i) {
    end = std::max(end, timeline_.times[i].done);
    timeline_.completed[i] = end;
  }
  return std::move(timeline_);
}

void Player::act(uint32_t what) {
  const auto number = static_cast<Queue>(what % contract::kEngineQueues);
  switch (static_cast<Due>(what / contract::kEngineQueues)) {
    case Due::kExecute:
      return execute(number);
    case Due::kWaited:
      return waited(number);
    case Due::kExecuted:
      return executed(number);
    case Due::kEnd:
      return end(number);
    case Due::kSequence:
      return sequence();
  }
}

void Player::sequence() {
  while (step()) {
  }
}

// Whether the sequencer goes on.
bool Player::step() {
  const uint64_t words = !begun_ ? kBeginWords : next_ == commands_.size() ? kEndWords : words_[next_];
  switch (stage_) {
    case Stage::kWords:
      if (moments_.now() < free_ || !fetch_.ready(4 * words)) return false;
      fetch_.take(4 * words);
      stage_ = Stage::kDecoded;
      pass(timing::decode_cycles(words));
      return false;
    case Stage::kDecoded:
      if (moments_.now() < free_) return false;
      if (!begun_) {
        begun_ = true;
        stage_ = Stage::kWords;
        return true;
      }
      if (next_ == commands_.size()) {
        stage_ = Stage::kOver;
        return false;
      }
      return decoded();
    case Stage::kTokens:
      if (!reached(targets(backend::header_of(commands_[next_].body)))) return false;
      pass(timing::table_cycles(table_.declare(false)));
      stage_ = Stage::kPassed;
      return false;
    case Stage::kRoom: {
      const backend::Body& body = commands_[next_].body;
      if (queues_[backend::header_of(body).queue].fifo.size() >= capabilities_.fifo_depth) return false;
      stage_ = Stage::kChecked;
      pass(use_of(body).sequencer);
      return false;
    }
    case Stage::kChecked:
      if (moments_.now() < free_) return false;
      push();
      return turn();
    case Stage::kDrain:
      if (!drained()) return false;
      if (const auto* branch = std::get_if<contract::BranchCommand>(&commands_[next_].body)) {
        stage_ = Stage::kSettle;
        pass(branch->mode == contract::BranchMode::kRepeat    ? timing::kCounterCycles
             : branch->mode == contract::BranchMode::kIfFalse ? timing::kConditionCycles
                                                              : 0);
        return false;
      }
      return turn();
    case Stage::kSettle:
      if (moments_.now() < free_ || !fetch_.settled()) return false;
      fetch_.jump();
      return turn();
    case Stage::kPassed:
      if (moments_.now() < free_) return false;
      return turn();
    case Stage::kOver:
      return false;
  }
  return false;
}

void Player::pass(uint64_t cycles) {
  free_ = moments_.now() + cycles;
  set(cycles, kSequencer);
}

// What to do with a command. Those of the sequencer itself begin here.
bool Player::decoded() {
  const backend::Body& body = commands_[next_].body;
  const auto now = static_cast<double>(moments_.now());
  const contract::Header& header = backend::header_of(body);
  if (contract::engine_of(header.queue)) {
    stage_ = Stage::kRoom;
  } else {
    timeline_.times[next_] = {now, now, now};
    if (std::holds_alternative<contract::DeclareCommand>(body)) {
      stage_ = Stage::kTokens;
    } else {
      stage_ = backend::is_control(body) ? Stage::kDrain : Stage::kPassed;
    }
  }
  return true;
}

// To the next command.
bool Player::turn() {
  const auto now = static_cast<double>(moments_.now());
  timeline_.issued[next_] = now;
  if (!contract::engine_of(backend::header_of(commands_[next_].body).queue)) timeline_.times[next_].done = now;
  ++next_;
  stage_ = Stage::kWords;
  return true;
}

bool Player::drained() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const QueueState& queue) { return queue.fifo.empty() && !queue.hand; });
}

timing::UnderWay Player::under_way() const {
  timing::UnderWay sum;
  for (const Queue queue : contract::kQueuesOfEngines) sum.add(queue, queues_[queue].under_way());
  return sum;
}

contract::EngineQueueTable<size_t> Player::targets(const contract::Header& header) const {
  contract::EngineQueueTable<size_t> targets;
  for (const Queue number : contract::kQueuesOfEngines) {
    const size_t back = header.wait[contract::index_of(number)];
    targets[number] = back == 0 ? 0 : queues_[number].issued() - back + 1;
  }
  return targets;
}

bool Player::reached(const contract::EngineQueueTable<size_t>& targets) const {
  return std::all_of(contract::kQueuesOfEngines.begin(), contract::kQueuesOfEngines.end(),
                     [&](Queue number) { return queues_[number].done.size() >= targets[number]; });
}

void Player::push() {
  const backend::Command& command = commands_[next_];
  const contract::Header& header = backend::header_of(command.body);
  QueueState& queue = queues_[header.queue];
  queue.fifo.push_back({next_, targets(header)});
  queue.constants.push_back(backend::loads_constants(command));
  advance(header.queue);
}

// A command of some queue has ended: others may begin.
void Player::advance() {
  for (const Queue number : contract::kQueuesOfEngines) advance(number);
  sequence();
}

void Player::advance(Queue number) {
  QueueState& queue = queues_[number];
  if (!queue.hand) {
    if (queue.fifo.empty()) return;
    queue.hand = std::move(queue.fifo.front());
    queue.fifo.pop_front();
    queue.executing = false;
    queue.taken = moments_.now();
    set(0, kSequencer);  // there is room
  }
  if (queue.executing && queue.channel) queue.channel->look_ahead();
  if (queue.executing || !reached(queue.hand->targets)) return;
  queue.executing = true;
  begin(number);
}

// What the device reads ahead (hw/model/dma_channel): the next command of a queue, if it could begin and loads from
// DRAM into the chip.
Channel::Next Player::next_load(Queue number) const {
  const QueueState& queue = queues_[number];
  if (capabilities_.dma_read_ahead == 0 || queue.fifo.empty() || !reached(queue.fifo.front().targets)) return {};
  const auto& dma = std::get<contract::DmaCommand>(commands_[queue.fifo.front().command].body);
  if (dma.header.skip) return {};
  const auto is_variable = [](const contract::Address& at) { return at.region == contract::Region::kVariable; };
  if (dma.mode != contract::DmaMode::kCopy || is_variable(dma.src) || is_variable(dma.dst)) return {};
  const Channel::Place src = places_.of(dma.src);
  if (!src.dram || places_.of(dma.dst).dram) return {};
  return {&dma, src.address};
}

void Player::begin(Queue number) {
  QueueState& queue = queues_[number];
  uint64_t ready = queue.taken;
  for (const Queue other : contract::kQueuesOfEngines) {
    const size_t count = queue.hand->targets[other];
    if (count > 0 && !queues_[other].constants[count - 1]) ready = std::max(ready, queues_[other].done[count - 1]);
  }
  const uint64_t begins = use_of(command_of(queue).body).begin;
  backend::Estimator::Times& times = timeline_.times[queue.hand->command];
  times.ready = static_cast<double>(ready + begins);
  times.started = static_cast<double>(moments_.now() + begins);
  set(begins, moment(Due::kExecute, number));
}

void Player::execute(Queue number) {
  QueueState& queue = queues_[number];
  const backend::Body& body = command_of(queue).body;
  if (backend::header_of(body).skip) return executed(number);
  if (const auto* dma = std::get_if<contract::DmaCommand>(&body)) {
    return queue.channel->start(*dma, places_.of(dma->src), places_.of(dma->dst), places_.of(dma->index));
  }
  const uint64_t cycles = engine_cycles(body, capabilities_);
  clashes_.begin(number, body, cycles, moments_.now(), beats());
  set(cycles, moment(Due::kWaited, number));
}

// An engine's own work is done; there is more, as its requests had to wait.
void Player::waited(Queue number) {
  set(clashes_.end(number, moments_.now(), beats()), moment(Due::kExecuted, number));
}

void Player::executed(Queue number) { set(use_of(command_of(queues_[number]).body).end, moment(Due::kEnd, number)); }

void Player::end(Queue number) {
  QueueState& queue = queues_[number];
  const uint64_t now = moments_.now();
  timeline_.times[queue.hand->command].done = static_cast<double>(now);
  queue.done.push_back(now);
  queue.hand.reset();
  advance();
}

backend::TableUse Player::use_of(const backend::Body& body) const {
  return backend::header_of(body).skip ? backend::TableUse{} : backend::table_use(body, table_);
}

uint64_t Player::beats() const {
  uint64_t sum = 0;
  for (const QueueState& queue : queues_) {
    if (queue.channel) sum += queue.channel->beats();
  }
  return sum;
}

}  // namespace npu::compiler::play
