// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/encode.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

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

uint32_t whole_cycles(double cycles) {
  return static_cast<uint32_t>(std::clamp(std::ceil(cycles), 0.0, static_cast<double>(UINT32_MAX)));
}

void encode_yield(const YieldPoint& point, uint32_t layer, Program& program) {
  contract::YieldCommand yield;
  yield.header.queue = contract::Queue::kSequencer;
  yield.header.layer = layer;
  yield.major = contract::kContractMajor;
  yield.minor = contract::kContractMinor;
  yield.caps_hash = program.caps_hash;
  yield.command_count = program.command_count;
  yield.segment = static_cast<uint32_t>(program.segments.size());
  yield.index = static_cast<uint32_t>(point.before) + 1 + yield.segment;  // behind begin and the yields before
  Segment segment;
  segment.yield_word = static_cast<uint32_t>(program.commands.size());
  segment.cycles = whole_cycles(point.cycles);
  program.segments.push_back(segment);
  yield.encode(program.commands);
}

}  // namespace

void encode(const std::vector<Command>& commands, const Yields& yields, const contract::Capabilities& capabilities,
            Program& program) {
  program.caps_hash = contract::caps_hash(capabilities);
  program.command_count = static_cast<uint32_t>(commands.size() + yields.points.size()) + 2;
  program.tail_cycles = whole_cycles(yields.tail);
  std::vector<uint32_t>& words = program.commands;
  contract::BeginCommand begin;
  begin.header.queue = contract::Queue::kSequencer;
  begin.major = contract::kContractMajor;
  begin.minor = contract::kContractMinor;
  begin.caps_hash = program.caps_hash;
  begin.command_count = program.command_count;
  begin.encode(words);
  auto yield = yields.points.begin();
  for (size_t i = 0; i < commands.size(); ++i) {
    const Command& command = commands[i];
    if (yield != yields.points.end() && yield->before == i) {
      encode_yield(*yield++, header_of(command.body).layer, program);
    }
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
