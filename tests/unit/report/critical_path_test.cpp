// SPDX-License-Identifier: Apache-2.0
#include "sim/report/critical_path.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/report/fixture.h"

namespace npu::report {
namespace {

using contract::Event;
using contract::Queue;
using Why = PathPart::Why;

// "2:executes 40-60"
std::string text_of(const std::vector<PathPart>& path) {
  std::string text;
  for (const PathPart& part : path) {
    const char* why = part.why == Why::kExecutes ? "executes" : part.why == Why::kTokens ? "tokens" : "issue";
    text += (text.empty() ? "" : ", ") + std::to_string(part.event == nullptr ? 99 : part.event->command) + ":" + why +
            " " + std::to_string(part.begin) + "-" + std::to_string(part.end);
  }
  return text;
}

std::vector<CommandInfo> on_queues(std::initializer_list<Queue> queues) {
  std::vector<CommandInfo> commands;
  for (const Queue queue : queues) {
    commands.emplace_back();
    commands.back().queue = queue;
  }
  return commands;
}

TEST(CriticalPath, GoesBackToTheTokenThatCameLast) {
  std::vector<CommandInfo> commands = on_queues({Queue::kDma0, Queue::kDma1, Queue::kMxu});
  commands[2].wait[static_cast<size_t>(Queue::kDma0)] = 1;
  commands[2].wait[static_cast<size_t>(Queue::kDma1)] = 1;
  const std::vector<Event> events = {event_of(0, 0, Queue::kDma0, 5, 5, 50), event_of(1, 0, Queue::kDma1, 8, 8, 30),
                                     event_of(2, 0, Queue::kMxu, 12, 52, 90)};
  EXPECT_EQ(text_of(critical_path(events, 95, commands, 4)),
            "0:issue 0-5, 0:executes 5-50, 2:tokens 50-52, 2:executes 52-90, 2:issue 90-95");
}

TEST(CriticalPath, ADistanceLeavesOutTheNewestCommands) {
  std::vector<CommandInfo> commands = on_queues({Queue::kDma0, Queue::kDma0, Queue::kMxu});
  commands[2].wait[static_cast<size_t>(Queue::kDma0)] = 2;  // only the first one
  const std::vector<Event> events = {event_of(0, 0, Queue::kDma0, 0, 0, 20), event_of(1, 0, Queue::kDma0, 0, 20, 40),
                                     event_of(2, 0, Queue::kMxu, 0, 20, 60)};
  EXPECT_EQ(text_of(critical_path(events, 60, commands, 4)), "0:executes 0-20, 2:executes 20-60");
}

TEST(CriticalPath, AFullFifoHoldsBackWhatComesBehindIt) {
  // Room for one command beside that in the VPU's hands: command 2 comes in when command 0 has completed, and command
  // 3, for another queue, behind it.
  const std::vector<CommandInfo> commands = on_queues({Queue::kVpu, Queue::kVpu, Queue::kVpu, Queue::kMxu});
  const std::vector<Event> events = {event_of(0, 0, Queue::kVpu, 2, 2, 50), event_of(1, 0, Queue::kVpu, 4, 50, 60),
                                     event_of(2, 0, Queue::kVpu, 51, 60, 70), event_of(3, 0, Queue::kMxu, 55, 55, 99)};
  EXPECT_EQ(text_of(critical_path(events, 99, commands, 1)),
            "0:issue 0-2, 0:executes 2-50, 2:issue 50-51, 3:issue 51-55, 3:executes 55-99");
}

TEST(CriticalPath, CoversEveryCycleOnceWhateverTheEvents) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<Event> events;
    std::vector<CommandInfo> commands;
    uint64_t issued = 0, end = 0;
    for (uint32_t i = 0; i < 25; ++i) {
      const auto queue = static_cast<Queue>(random() % 10);
      issued += random() % 9;
      const uint64_t started = issued + random() % 30, completed = started + random() % 40;
      end = std::max(end, completed);
      commands.emplace_back();
      commands.back().queue = queue;
      commands.back().wait[random() % 10] = static_cast<uint8_t>(random() % 4);
      if (random() % 8 != 0) events.push_back(event_of(i, 0, queue, issued, started, completed));  // or it is lost
    }
    const uint64_t cycles = random() % 4 == 0 ? end / 2 + 1 : end + 3;
    uint64_t at = 0;
    for (const PathPart& part : critical_path(events, cycles, commands, 2)) {
      EXPECT_EQ(part.begin, at);
      EXPECT_GT(part.end, part.begin);
      at = part.end;
    }
    EXPECT_EQ(at, cycles);
  }
}

}  // namespace
}  // namespace npu::report
