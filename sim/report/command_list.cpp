// SPDX-License-Identifier: Apache-2.0
#include "sim/report/command_list.h"

#include <span>

#include "hw/contract/gen/accesses.h"
#include "hw/contract/overloaded.h"
#include "hw/contract/queues.h"
#include "hw/contract/stream.h"

namespace npu::report {
namespace {

using contract::Address;
using contract::Region;

// Variables, of which some live there, aside.
bool in_dram(const Address& address) {
  switch (address.region) {
    case Region::kConstants:
    case Region::kWorkspace:
    case Region::kInput:
    case Region::kOutput:
    case Region::kSave:
      return true;
    case Region::kScratchpad:
    case Region::kResident:
    case Region::kVariable:
      return false;
  }
  return false;
}

void note(CommandInfo& info, const Address& address, VariableUse use) {
  if (address.region == Region::kVariable) info.variables.push_back({address.variable, use});
}

Transfer transfer_of(const contract::DmaCommand& dma) {
  const bool fill = dma.mode == contract::DmaMode::kFill;
  if (dma.dst.region == Region::kVariable || (!fill && dma.src.region == Region::kVariable)) return Transfer::kState;
  if (in_dram(dma.dst)) return Transfer::kDramWrite;
  if (fill) return Transfer::kOnChip;
  if (dma.src.region == Region::kConstants) return Transfer::kConstants;
  return in_dram(dma.src) ? Transfer::kDramRead : Transfer::kOnChip;
}

CommandInfo describe(std::span<const uint32_t> words) {
  CommandInfo info;
  const auto header = contract::Header::decode(words);
  info.opcode = header.opcode;
  info.queue = header.queue;
  info.layer = header.layer;
  info.words = header.words;
  info.wait = header.wait;
  const contract::AnyCommand any = contract::decode_command(words);
  std::visit(
      [&](const auto& command) {
        for_each_access(command, [&](const contract::MemoryAccess& access) {
          const bool read = access.access == contract::Access::kRead;
          note(info, access.base, read ? VariableUse::kRead : VariableUse::kWrite);
        });
      },
      any);
  std::visit(Overloaded{[&](const contract::DmaCommand& dma) { info.transfer = transfer_of(dma); },
                        [&](const contract::DeclareCommand& declare) {
                          info.variables.push_back({declare.variable, VariableUse::kDeclare});
                        },
                        [](const contract::BeginCommand&) {}, [](const contract::EndCommand&) {},
                        [](const contract::YieldCommand&) {}, [](const contract::LabelCommand&) {},
                        [&](const contract::BranchCommand& branch) {
                          if (branch.mode == contract::BranchMode::kRepeat) info.back_to = branch.target_index;
                        },
                        []<contract::TileCommand Command>(const Command&) {}},
             any);
  return info;
}

}  // namespace

std::string_view name(VariableUse use) {
  switch (use) {
    case VariableUse::kDeclare:
      return "declare";
    case VariableUse::kRead:
      return "read";
    case VariableUse::kWrite:
      return "write";
  }
  return "?";
}

std::string_view words(Transfer transfer) {
  switch (transfer) {
    case Transfer::kNone:
      return "";
    case Transfer::kConstants:
      return "constants from DRAM";
    case Transfer::kDramRead:
      return "activations or inputs from DRAM";
    case Transfer::kDramWrite:
      return "activations or outputs to DRAM";
    case Transfer::kState:
      return "state";
    case Transfer::kOnChip:
      return "within the scratchpad";
  }
  return "";
}

std::vector<Wait> list_waits(std::span<const CommandInfo> commands) {
  std::vector<Wait> waits;
  contract::EngineQueueTable<std::vector<uint32_t>> before;  // commands of each queue so far
  for (size_t c = 0; c < commands.size(); ++c) {
    const auto command = static_cast<uint32_t>(c);
    // Tokens count within a block.
    if (commands[c].opcode == contract::Opcode::kLabel || commands[c].opcode == contract::Opcode::kBranch) {
      for (std::vector<uint32_t>& line : before) line.clear();
    }
    for (const contract::Queue queue : contract::kQueuesOfEngines) {
      const uint8_t token = commands[c].wait[contract::index_of(queue)];
      const std::vector<uint32_t>& line = before[queue];
      if (token > 0 && token <= line.size()) waits.push_back({command, line[line.size() - token]});
    }
    if (contract::engine_of(commands[c].queue)) before[commands[c].queue].push_back(command);
  }
  return waits;
}

std::vector<CommandInfo> list_commands(const compiler::Program& program) {
  std::vector<CommandInfo> commands;
  commands.reserve(program.command_count);
  const std::span<const uint32_t> stream = std::span(program.commands).first(program.main_words);
  const bool whole = contract::for_each_command(stream, [&](const contract::Header&, std::span<const uint32_t> words) {
    commands.push_back(describe(words));
    return true;
  });
  NPU_CHECK(whole);
  return commands;
}

}  // namespace npu::report
