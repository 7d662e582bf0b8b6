// SPDX-License-Identifier: Apache-2.0
#include "sim/report/command_list.h"

#include <span>

namespace npu::report {
namespace {

using contract::Address;
using contract::Opcode;
using contract::Region;

bool in_dram(const Address& address) {
  return address.region != Region::kScratchpad && address.region != Region::kVariable;
}

void note(CommandInfo& info, const Address& address, VariableUse use) {
  if (address.region == Region::kVariable) info.variables.push_back({address.variable, use});
}

void add_dma(CommandInfo& info, const contract::DmaCommand& dma) {
  const bool fill = dma.mode == contract::DmaMode::kFill;
  if (!fill) note(info, dma.src, VariableUse::kRead);
  note(info, dma.dst, VariableUse::kWrite);
  if (!info.variables.empty()) {
    info.transfer = Transfer::kState;
  } else if (in_dram(dma.dst)) {
    info.transfer = Transfer::kDramWrite;
  } else if (!fill && dma.src.region == Region::kConstants) {
    info.transfer = Transfer::kConstants;
  } else if (!fill && in_dram(dma.src)) {
    info.transfer = Transfer::kDramRead;
  } else {
    info.transfer = Transfer::kOnChip;
  }
}

void add_ewise(CommandInfo& info, const contract::VpuEwiseCommand& ewise) {
  std::vector<bool> stored(ewise.operands.size());
  for (const contract::Uop& uop : ewise.uops) {
    if (uop.op == contract::UopCode::kStore && uop.b < stored.size()) stored[uop.b] = true;
  }
  for (size_t i = 0; i < stored.size(); ++i) {
    note(info, ewise.operands[i].base, stored[i] ? VariableUse::kWrite : VariableUse::kRead);
  }
}

CommandInfo describe(std::span<const uint32_t> words) {
  CommandInfo info;
  const auto header = contract::Header::decode(words);
  info.opcode = header.opcode;
  info.queue = header.queue;
  info.layer = header.layer;
  info.wait = header.wait;
  switch (info.opcode) {
    case Opcode::kBegin:
    case Opcode::kEnd:
    case Opcode::kYield:
      break;
    case Opcode::kDeclare:
      info.variables.push_back({contract::DeclareCommand::decode(words).variable, VariableUse::kDeclare});
      break;
    case Opcode::kDma:
      add_dma(info, contract::DmaCommand::decode(words));
      break;
    case Opcode::kMxu: {
      const auto mxu = contract::MxuCommand::decode(words);
      for (const Address& source : {mxu.src, mxu.weights, mxu.params}) note(info, source, VariableUse::kRead);
      note(info, mxu.dst, VariableUse::kWrite);
      break;
    }
    case Opcode::kVpuEwise:
      add_ewise(info, contract::VpuEwiseCommand::decode(words));
      break;
    case Opcode::kVpuPool: {
      const auto pool = contract::VpuPoolCommand::decode(words);
      note(info, pool.src, VariableUse::kRead);
      note(info, pool.dst, VariableUse::kWrite);
      break;
    }
    case Opcode::kVpuReduce: {
      const auto reduce = contract::VpuReduceCommand::decode(words);
      note(info, reduce.src, VariableUse::kRead);
      note(info, reduce.dst, VariableUse::kWrite);
      break;
    }
  }
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

std::vector<CommandInfo> list_commands(const compiler::Program& program) {
  std::vector<CommandInfo> commands;
  commands.reserve(program.command_count);
  const std::span<const uint32_t> words = std::span(program.commands).first(program.main_words);
  for (size_t at = 0; at + contract::kHeaderWords <= words.size();) {
    const auto header = contract::Header::decode(words.subspan(at));
    NPU_CHECK(header.words >= contract::kHeaderWords && header.words <= words.size() - at);
    commands.push_back(describe(words.subspan(at, header.words)));
    at += header.words;
  }
  return commands;
}

}  // namespace npu::report
