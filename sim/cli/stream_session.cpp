// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/stream_session.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "driver/runtime/limits.h"
#include "hw/contract/gen/commands.h"

namespace npu::cli {
namespace {

constexpr auto kStreamPatience = std::chrono::milliseconds(200);

// A stream on the device.
struct Player {
  Player(std::shared_ptr<runtime::Context> context, const Stream& stream)
      : stream(stream), context(std::move(context)), job(this->context->load(stream.program).create_job()) {}

  void start() {
    const std::vector<graph::Value> frame = stream.frames.invocation(next++);
    for (size_t port = 0; port < frame.size(); ++port) job.set_input(port, frame[port]);
    job.start();
  }
  void finish(bool keep_outputs) {
    while (!job.wait(kStreamPatience)) {
    }
    if (keep_outputs) result.outputs.push_back(job.outputs());
    result.cycles += job.result().cycles + job.result().times.load_cycles;
    result.loads += job.result().times.loads;
    result.interruptions += job.result().times.preemptions;
  }

  const Stream& stream;
  std::shared_ptr<runtime::Context> context;
  runtime::Job job;
  int64_t next = 0;
  StreamResult result;
};

class Session {
 public:
  Session(runtime::Device& device, const std::vector<Stream>& streams, const Schedule& schedule,
          const std::vector<runtime::ContextOptions>& contexts, bool keep_outputs, tool::Progress& progress)
      : device_(device), players_(streams.size()), keep_outputs_(keep_outputs), progress_(progress) {
    std::map<size_t, std::shared_ptr<runtime::Context>> opened;
    std::vector<bool> plays(streams.size());
    for (const Round& round : schedule) {
      for (const size_t i : round.streams) plays[i] = true;
    }
    for (size_t i = 0; i < streams.size(); ++i) {
      if (!plays[i]) continue;
      std::shared_ptr<runtime::Context>& context = opened[streams[i].context];
      if (!context) context = std::make_shared<runtime::Context>(device.create_context(contexts[streams[i].context]));
      players_[i] = std::make_unique<Player>(context, streams[i]);
    }
  }

  void play(const Round& round) {
    for (const size_t i : round.streams) {
      if (std::find(in_flight_.begin(), in_flight_.end(), i) != in_flight_.end()) finish(i);
      make_room(i);
      players_[i]->start();
      in_flight_.push_back(i);
    }
    while (!in_flight_.empty()) finish(in_flight_.front());
    if (!round.power_down) return;
    device_.set_power(contract::PowerState::kSleep);
    device_.set_persistent_power(contract::PsramPower::kRetention);
  }

  [[nodiscard]] std::vector<StreamResult> results() {
    std::vector<StreamResult> results(players_.size());
    for (size_t i = 0; i < players_.size(); ++i) {
      if (players_[i]) results[i] = std::move(players_[i]->result);
    }
    return results;
  }

 private:
  // Where many networks share a context, the first of them end before the others start.
  void make_room(size_t next) {
    const auto together = [&](size_t i) { return players_[i]->context == players_[next]->context; };
    if (std::count_if(in_flight_.begin(), in_flight_.end(), together) < runtime::kMaxQueuedJobs) return;
    finish(*std::find_if(in_flight_.begin(), in_flight_.end(), together));
  }

  void finish(size_t i) {
    players_[i]->finish(keep_outputs_);
    in_flight_.erase(std::find(in_flight_.begin(), in_flight_.end(), i));
    progress_.step();
  }

  runtime::Device& device_;
  std::vector<std::unique_ptr<Player>> players_;  // by stream; null: it does not play
  bool keep_outputs_;
  tool::Progress& progress_;
  std::deque<size_t> in_flight_;  // in the order of their start
};

}  // namespace

std::vector<StreamResult> run_schedule(runtime::Device& device, const std::vector<Stream>& streams,
                                       const std::vector<runtime::ContextOptions>& contexts, const Schedule& schedule,
                                       bool keep_outputs, tool::Progress& progress) {
  Session session(device, streams, schedule, contexts, keep_outputs, progress);
  for (const Round& round : schedule) session.play(round);
  return session.results();
}

}  // namespace npu::cli
