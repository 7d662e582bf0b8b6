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
    constexpr const char* kNames[] = {"executes", "tokens", "issue", "fetch", "table"};
    const char* why = kNames[static_cast<size_t>(part.why)];
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
  EXPECT_EQ(text_of(critical_path(events, 95, commands, {4})),
            "0:issue 0-5, 0:executes 5-50, 2:tokens 50-52, 2:executes 52-90, 2:issue 90-95");
}

TEST(CriticalPath, ADistanceLeavesOutTheNewestCommands) {
  std::vector<CommandInfo> commands = on_queues({Queue::kDma0, Queue::kDma0, Queue::kMxu});
  commands[2].wait[static_cast<size_t>(Queue::kDma0)] = 2;  // only the first one
  const std::vector<Event> events = {event_of(0, 0, Queue::kDma0, 0, 0, 20), event_of(1, 0, Queue::kDma0, 0, 20, 40),
                                     event_of(2, 0, Queue::kMxu, 0, 20, 60)};
  EXPECT_EQ(text_of(critical_path(events, 60, commands, {4})), "0:executes 0-20, 2:executes 20-60");
}

// Eight are under way until the first tile has completed; then the words of the last command are asked for.
TEST(CriticalPath, AStreamThatPausedWaitsForWhatEndedThePause) {
  using enum Queue;
  std::vector<CommandInfo> commands = on_queues({kDma0, kDma0, kDma0, kMxu, kMxu, kMxu, kMxu, kMxu, kVpu});
  for (CommandInfo& command : commands) command.words = 10;  // three cycles
  std::vector<Event> events = {event_of(0, 0, kDma0, 3, 3, 40), event_of(1, 0, kDma0, 6, 40, 60),
                               event_of(2, 0, kDma0, 9, 60, 80)};
  for (uint32_t i = 0; i < 5; ++i) events.push_back(event_of(3 + i, 0, kMxu, 12 + 3 * i, 12 + 20 * i, 32 + 20 * i));
  events.push_back(event_of(8, 0, kVpu, 90, 90, 150));
  EXPECT_EQ(text_of(critical_path(events, 150, commands, {8, 0, 0})),
            "0:issue 0-3, 1:issue 3-6, 2:issue 6-9, 3:issue 9-12, 3:executes 12-32, 8:fetch 32-87, 8:issue 87-90, "
            "8:executes 90-150");
}

TEST(CriticalPath, AFullFifoHoldsBackWhatComesBehindIt) {
  // Room for one command beside that in the VPU's hands: command 2 comes in when command 0 has completed, and command
  // 3, for another queue, behind it.
  const std::vector<CommandInfo> commands = on_queues({Queue::kVpu, Queue::kVpu, Queue::kVpu, Queue::kMxu});
  const std::vector<Event> events = {event_of(0, 0, Queue::kVpu, 2, 2, 50), event_of(1, 0, Queue::kVpu, 4, 50, 60),
                                     event_of(2, 0, Queue::kVpu, 51, 60, 70), event_of(3, 0, Queue::kMxu, 55, 55, 99)};
  EXPECT_EQ(text_of(critical_path(events, 99, commands, {1})),
            "0:issue 0-2, 0:executes 2-50, 2:issue 50-51, 3:issue 51-55, 3:executes 55-99");
}

// Of ten words each, which take three cycles: begin, a variable's declaration, and a command that uses it.
TEST(CriticalPath, TellsFetchDecodingAndTheVariableTableApart) {
  std::vector<CommandInfo> commands = on_queues({Queue::kSequencer, Queue::kSequencer, Queue::kVpu});
  for (CommandInfo& command : commands) command.words = 10;
  commands[0].opcode = contract::Opcode::kBegin;
  commands[1].opcode = contract::Opcode::kDeclare;
  commands[2].variables = {{0, VariableUse::kRead}};
  const std::vector<Event> events = {event_of(0, 0, Queue::kSequencer, 20, 20, 23),
                                     event_of(1, 0, Queue::kSequencer, 23, 23, 56),
                                     event_of(2, 0, Queue::kVpu, 100, 100, 120)};
  EXPECT_EQ(text_of(critical_path(events, 120, commands, {4, 13, 7})),
            "0:table 0-13, 0:fetch 13-20, 0:issue 20-23, 1:issue 23-26, 1:table 26-56, 2:fetch 56-90, 2:issue 90-93, "
            "2:table 93-100, 2:executes 100-120");
}

TEST(CriticalPath, AYieldAtWhichTheJobStoppedWaitsForTheWorkBeforeIt) {
  std::vector<CommandInfo> commands = on_queues({Queue::kMxu, Queue::kSequencer, Queue::kVpu});
  for (CommandInfo& command : commands) command.words = 4;
  commands[1].opcode = contract::Opcode::kYield;
  std::vector<Event> events = {event_of(0, 0, Queue::kMxu, 1, 1, 80), event_of(1, 0, Queue::kSequencer, 1, 1, 80),
                               event_of(2, 0, Queue::kVpu, 90, 90, 99)};
  EXPECT_EQ(text_of(critical_path(events, 99, commands, {4})),
            "0:issue 0-1, 0:executes 1-80, 2:fetch 80-89, 2:issue 89-90, 2:executes 90-99");
  events[1].completed = 2;  // it went on
  EXPECT_EQ(text_of(critical_path(events, 99, commands, {4})),
            "0:issue 0-1, 1:issue 1-2, 2:fetch 2-89, 2:issue 89-90, 2:executes 90-99");
}

TEST(CriticalPath, ALoadIsLateForRoomWhereWhatUsedItsPlaceHeldItBack) {
  // Loads 1 and 2 go to one place each; load 4 to that of load 1, which the MXU's command 3 reads; load 5 behind it.
  std::vector<CommandInfo> commands =
      on_queues({Queue::kDma0, Queue::kDma1, Queue::kMxu, Queue::kDma0, Queue::kDma0, Queue::kMxu});
  for (const size_t load : {0, 1, 3, 4}) commands[load].transfer = Transfer::kConstants;
  commands[2].wait[static_cast<size_t>(Queue::kDma0)] = commands[2].wait[static_cast<size_t>(Queue::kDma1)] = 1;
  commands[3].wait[static_cast<size_t>(Queue::kMxu)] = 1;
  commands[5].wait[static_cast<size_t>(Queue::kDma0)] = 1;
  const std::vector<Event> events = {event_of(0, 0, Queue::kDma0, 0, 0, 20),  event_of(1, 0, Queue::kDma1, 0, 0, 10),
                                     event_of(2, 0, Queue::kMxu, 0, 20, 50),  event_of(3, 0, Queue::kDma0, 0, 50, 60),
                                     event_of(4, 0, Queue::kDma0, 0, 60, 70), event_of(5, 0, Queue::kMxu, 0, 70, 90)};
  const std::vector<PathPart> path = critical_path(events, 90, commands, {4});
  EXPECT_EQ(text_of(path), "0:executes 0-20, 2:executes 20-50, 3:executes 50-60, 4:executes 60-70, 5:executes 70-90");
  EXPECT_EQ(late_for_room(path, commands), (std::vector<bool>{false, false, true, true, false}));
  commands[3].transfer = commands[4].transfer = Transfer::kDramRead;  // may wait for its data
  EXPECT_EQ(late_for_room(path, commands), std::vector<bool>(5));
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
    for (const PathPart& part : critical_path(events, cycles, commands, {2})) {
      EXPECT_EQ(part.begin, at);
      EXPECT_GT(part.end, part.begin);
      at = part.end;
    }
    EXPECT_EQ(at, cycles);
  }
}

}  // namespace
}  // namespace npu::report
