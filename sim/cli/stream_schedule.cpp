// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/stream_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/contract/error.h"
#include "sim/cosim/random.h"

namespace npu::cli {
namespace {

// At least one of the indices, in random order.
std::vector<size_t> choose(std::vector<size_t> order, cosim::Random& random) {
  for (size_t i = order.size(); i-- > 1;) {
    std::swap(order[i], order[static_cast<size_t>(random.between(0, static_cast<int64_t>(i)))]);
  }
  order.resize(static_cast<size_t>(random.between(1, static_cast<int64_t>(order.size()))));
  return order;
}

// The frames that are left, network by network.
class Frames {
 public:
  Frames(const std::vector<Stream>& streams, size_t contexts) : streams_(streams), networks_(contexts) {
    for (size_t i = 0; i < streams.size(); ++i) {
      left_.push_back(streams[i].frames.invocations());
      networks_[streams[i].context].push_back(i);
    }
  }

  [[nodiscard]] std::vector<size_t> contexts_with_frames() const {
    std::vector<size_t> found;
    for (size_t context = 0; context < networks_.size(); ++context) {
      const auto has_frames = [&](size_t i) { return left_[i] > 0; };
      if (std::any_of(networks_[context].begin(), networks_[context].end(), has_frames)) found.push_back(context);
    }
    return found;
  }

  std::vector<size_t> take_turn(size_t context) {
    std::vector<size_t> turn;
    for (const size_t i : networks_[context]) {
      const int64_t frames = std::min(left_[i], streams_[i].per_round);
      turn.insert(turn.end(), static_cast<size_t>(frames), i);
      left_[i] -= frames;
    }
    return turn;
  }

 private:
  const std::vector<Stream>& streams_;
  std::vector<std::vector<size_t>> networks_;  // by context
  std::vector<int64_t> left_;                  // by stream
};

// The first of each, then the second of each.
std::vector<size_t> in_turn(const std::vector<std::vector<size_t>>& turns) {
  std::vector<size_t> order;
  size_t longest = 0;
  for (const std::vector<size_t>& turn : turns) longest = std::max(longest, turn.size());
  for (size_t at = 0; at < longest; ++at) {
    for (const std::vector<size_t>& turn : turns) {
      if (at < turn.size()) order.push_back(turn[at]);
    }
  }
  return order;
}

}  // namespace

Schedule make_schedule(const std::vector<Stream>& streams, const ScheduleChoices& choices) {
  int64_t left = kMostFrames;
  for (const Stream& stream : streams) {
    if (stream.frames.invocations() > left) {
      throw Error(contract::ErrorCode::kBadOption,
                  fmt::format("the networks have more than {} frames in all; give fewer to one npu stream, for example "
                              "with --invocations",
                              kMostFrames));
    }
    left -= stream.frames.invocations();
  }
  cosim::Random random(choices.seed);
  Frames frames(streams, choices.contexts);
  Schedule schedule;
  for (std::vector<size_t> ready; !(ready = frames.contexts_with_frames()).empty();) {
    std::vector<std::vector<size_t>> turns;
    for (const size_t context : choose(std::move(ready), random)) turns.push_back(frames.take_turn(context));
    std::vector<size_t> order = in_turn(turns);
    schedule.push_back({std::move(order), choices.retention && random.chance(50)});
  }
  return schedule;
}

Schedule schedule_of(const Schedule& all, const std::vector<Stream>& streams, size_t context) {
  Schedule own;
  for (const Round& round : all) {
    Round part;
    std::copy_if(round.streams.begin(), round.streams.end(), std::back_inserter(part.streams),
                 [&](size_t i) { return streams[i].context == context; });
    if (!part.streams.empty()) own.push_back(std::move(part));
  }
  return own;
}

}  // namespace npu::cli
