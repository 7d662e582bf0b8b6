// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/stream_session.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "hw/contract/gen/commands.h"
#include "sim/cosim/random.h"

namespace npu::cli {
namespace {

constexpr auto kStreamPatience = std::chrono::milliseconds(200);

// A stream on the device.
struct Player {
  Player(std::shared_ptr<runtime::Context> context, const Stream& stream)
      : stream(stream), context(std::move(context)), job(this->context->load(stream.program).create_job()) {}

  [[nodiscard]] bool has_frames() const { return next < stream.frames.invocations(); }

  void start() {
    const std::vector<graph::Value> frame = stream.frames.invocation(next++);
    for (size_t port = 0; port < frame.size(); ++port) job.set_input(port, frame[port]);
    job.start();
  }
  void finish(bool keep_outputs) {
    while (!job.wait(kStreamPatience)) {
    }
    if (keep_outputs) outputs.push_back(job.outputs());
    cycles += job.result().cycles;
  }

  const Stream& stream;
  std::shared_ptr<runtime::Context> context;
  runtime::Job job;
  int64_t next = 0;
  Outputs outputs;
  uint64_t cycles = 0;
};

std::shared_ptr<runtime::Context> new_context(runtime::Device& device, const runtime::ContextOptions& options) {
  return std::make_shared<runtime::Context>(device.create_context(options));
}

// The players that have frames left, in order.
std::vector<size_t> players_with_frames(const std::vector<Player>& players) {
  std::vector<size_t> order;
  for (size_t i = 0; i < players.size(); ++i) {
    if (players[i].has_frames()) order.push_back(i);
  }
  return order;
}

// At least one of the players that have frames left, in random order.
std::vector<size_t> choose(const std::vector<Player>& players, cosim::Random& random) {
  std::vector<size_t> order = players_with_frames(players);
  for (size_t i = order.size(); i-- > 1;) {
    std::swap(order[i], order[static_cast<size_t>(random.between(0, static_cast<int64_t>(i)))]);
  }
  if (!order.empty()) order.resize(static_cast<size_t>(random.between(1, static_cast<int64_t>(order.size()))));
  return order;
}

void power_down(runtime::Device& device) {
  device.set_power(contract::PowerState::kSleep);
  device.set_persistent_power(contract::PsramPower::kRetention);
}

}  // namespace

Outputs run_alone(runtime::Device& device, const Stream& stream, const runtime::ContextOptions& context,
                  tool::Progress& progress) {
  Player player(new_context(device, context), stream);
  while (player.has_frames()) {
    player.start();
    player.finish(true);
    progress.step();
  }
  return std::move(player.outputs);
}

Interleaved run_interleaved(runtime::Device& device, const std::vector<Stream>& streams, uint64_t seed,
                            const InterleavedOptions& options, tool::Progress& progress) {
  cosim::Random random(seed);
  std::vector<Player> players;
  players.reserve(streams.size());
  const std::shared_ptr<runtime::Context> shared = options.share ? new_context(device, options.context) : nullptr;
  for (const Stream& stream : streams)
    players.emplace_back(shared ? shared : new_context(device, options.context), stream);
  const auto next = [&] { return options.share ? players_with_frames(players) : choose(players, random); };
  Interleaved result;
  for (std::vector<size_t> chosen; !(chosen = next()).empty();) {
    for (const size_t i : chosen) players[i].start();
    for (const size_t i : chosen) {
      players[i].finish(options.keep_outputs);
      progress.step();
    }
    const bool down = options.retention && random.chance(50);
    if (down) {
      power_down(device);
      ++result.power_downs;
    }
    result.rounds.push_back({std::move(chosen), down});
  }
  for (Player& player : players) {
    result.outputs.push_back(std::move(player.outputs));
    result.cycles.push_back(player.cycles);
  }
  return result;
}

}  // namespace npu::cli
