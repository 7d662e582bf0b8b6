// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "driver/compiler/play/player.h"
#include "driver/compiler/schedule/choice.h"
#include "driver/compiler/schedule/finish.h"
#include "driver/compiler/schedule/sizes.h"

namespace npu::compiler {

Program schedule(Module&& module, const contract::Capabilities& capabilities, const ScheduleOptions& options,
                 Explanation* explanation) {
  backend::Prepared prepared = backend::prepare(std::move(module), capabilities, options);
  backend::Choice choice = backend::choose(prepared, capabilities, options);
  return backend::finish(std::move(prepared), std::move(choice), {}, capabilities, options, explanation);
}

void estimate(const contract::Capabilities& capabilities, const std::optional<timing::Dram>& dram, Program& program) {
  std::vector<backend::Command> commands;
  std::vector<uint32_t> words;
  uint32_t yields = 0;  // words of those before the next command
  uint32_t at = 0;
  while (at < program.main_words) {
    const uint32_t length = contract::command_words(std::span(program.commands).subspan(at));
    const auto command = std::span(program.commands).subspan(at, length);
    const contract::Opcode opcode = contract::Header::decode(command).opcode;
    at += length;
    if (opcode == contract::Opcode::kYield) yields += length;
    std::optional<backend::Body> body = backend::decoded(command);
    if (!body) continue;
    commands.push_back({*std::move(body)});
    words.push_back(std::exchange(yields, 0) + length);
  }
  const backend::Timeline timeline = play::Player(commands, std::move(words), program.variables, capabilities,
                                                  dram.value_or(play::any_dram(capabilities)))
                                         .play();
  program.estimated_cycles = 0;
  for (Layer& layer : program.layers) layer.estimated_cycles = 0;
  backend::spread_estimate(commands, timeline, program);
}

}  // namespace npu::compiler
