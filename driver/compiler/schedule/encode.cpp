#include "driver/compiler/schedule/encode.h"

namespace npu::compiler::backend {
namespace {

using contract::Address;
using contract::Region;

// Words of the fixed part at which the addresses of a command begin.
std::vector<size_t> address_words(const Body& body) {
  struct Visitor {
    std::vector<size_t> operator()(const contract::DmaCommand&) { return {5, 7}; }
    std::vector<size_t> operator()(const contract::MxuCommand&) { return {5, 7, 9, 11}; }
    std::vector<size_t> operator()(const contract::VpuEwiseCommand& c) {
      std::vector<size_t> words;
      for (size_t i = 0; i < c.operands.size(); ++i) {
        words.push_back(contract::VpuEwiseCommand::kWords + i * contract::Operand::kWords);
      }
      return words;
    }
    std::vector<size_t> operator()(const contract::VpuPoolCommand&) { return {5, 7, 9}; }
    std::vector<size_t> operator()(const contract::VpuReduceCommand&) { return {5, 7}; }
    std::vector<size_t> operator()(const contract::DeclareCommand&) { return {}; }
  };
  return std::visit(Visitor{}, body);
}

}  // namespace

void encode(const std::vector<Command>& commands, const contract::Capabilities& capabilities, Program& program) {
  program.caps_hash = contract::caps_hash(capabilities);
  program.command_count = static_cast<uint32_t>(commands.size()) + 2;
  std::vector<uint32_t>& words = program.commands;
  contract::BeginCommand begin;
  begin.header.queue = contract::Queue::kSequencer;
  begin.major = contract::kContractMajor;
  begin.minor = contract::kContractMinor;
  begin.caps_hash = program.caps_hash;
  begin.command_count = program.command_count;
  begin.encode(words);
  for (const Command& command : commands) {
    const size_t start = words.size();
    std::visit([&](const auto& body) { body.encode(words); }, command.body);
    if (std::holds_alternative<contract::DeclareCommand>(command.body)) {
      program.variable_relocations.push_back(static_cast<uint32_t>(start + 5));
    }
    for (size_t word : address_words(command.body)) {
      const auto region = static_cast<Region>(words[start + word + 1] & 0xff);
      if (region == Region::kVariable) program.variable_relocations.push_back(static_cast<uint32_t>(start + word + 1));
    }
  }
  contract::EndCommand end;
  end.header.queue = contract::Queue::kSequencer;
  end.encode(words);
  program.main_words = static_cast<uint32_t>(words.size());
}

}  // namespace npu::compiler::backend
