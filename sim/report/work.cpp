// SPDX-License-Identifier: Apache-2.0
#include "sim/report/work.h"

#include <algorithm>

#include "hw/contract/gen/commands.h"
#include "hw/contract/overloaded.h"
#include "hw/contract/queues.h"
#include "hw/contract/stream.h"
#include "hw/timing/mxu_cycles.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::report {
namespace {

using contract::Capabilities;

std::string format_of(const contract::MxuCommand& command) {
  std::string text(contract::name(command.src_type));
  if (command.weight_type != command.src_type) text.append(" x ").append(contract::name(command.weight_type));
  return text;
}

CommandWork work_of_mxu(const contract::MxuCommand& command, const Capabilities& caps) {
  CommandWork work;
  const timing::Cycles cycles = timing::mxu_cycles(command, caps);
  if (cycles.total() == 0) return work;  // a dimension is 0
  const timing::MxuLoops loops = timing::mxu_loops(command, caps);
  work.array = array_work(command, caps);
  for (uint64_t group = 0; group < std::min<uint64_t>(loops.groups, 2); ++group) {
    // All groups but the last are equal.
    const bool last = group + 1 == loops.groups || group == 1;
    const uint64_t which = last ? loops.groups - 1 : 0, times = last ? 1 : loops.groups - 1;
    work.port += loops.blocks * times * loops.steps * loops.load(which);
  }
  work.fill_drain = std::min(loops.pipeline + cycles.drain, cycles.total());
  const uint64_t stream = loops.pixels * loops.rate * loops.steps * loops.groups;
  work.port_wait = cycles.total() - std::min(cycles.total(), work.fill_drain + stream);
  work.format = format_of(command);
  work.tile = command.sizes();
  return work;
}

template <contract::VpuCommand Command>
CommandWork work_of_vpu(const Command& command, const Capabilities& caps) {
  const timing::Cycles cycles = timing::vpu_cycles(command, caps);
  CommandWork work;
  work.passes = cycles.steady;
  work.fill_drain = cycles.fill + cycles.drain;
  work.tile = command.sizes();
  return work;
}

CommandWork work_of(std::span<const uint32_t> words, const Capabilities& caps) {
  return std::visit(
      Overloaded{
          []<contract::SequencerCommand Command>(const Command&) { return CommandWork(); },
          [](const contract::DmaCommand&) { return CommandWork(); },
          [&](const contract::MxuCommand& command) { return work_of_mxu(command, caps); },
          [&]<contract::VpuCommand Command>(const Command& command) { return work_of_vpu(command, caps); },
      },
      contract::decode_command(words));
}

}  // namespace

uint64_t ArrayWork::cycles(const Capabilities& capabilities) const {
  const uint64_t depth = std::max(capabilities.mxu_depth, 1U), taps = std::max(capabilities.mxu_dw_taps, 1U);
  const uint64_t columns = std::max(capabilities.mxu_cols, 1U);
  return timing::ceil_div(dense * taps + depthwise * depth, columns * depth * taps);
}

ArrayWork& ArrayWork::operator+=(const ArrayWork& more) {
  dense += more.dense;
  depthwise += more.depthwise;
  return *this;
}

ArrayWork array_work(const contract::MxuCommand& command, const Capabilities& capabilities) {
  if (timing::mxu_cycles(command, capabilities).total() == 0) return {};  // a dimension is 0
  const uint64_t macs = timing::mxu_macs(command) * timing::mxu_loops(command, capabilities).rate;
  switch (command.mode) {
    case contract::MxuMode::kDepthwise:
      return {0, macs};
    case contract::MxuMode::kConv:
    case contract::MxuMode::kMatmul:
      return {macs, 0};
  }
  return {};
}

std::vector<CommandWork> list_work(const compiler::Program& program, const Capabilities& capabilities) {
  std::vector<CommandWork> work;
  work.reserve(program.command_count);
  const std::span<const uint32_t> stream = std::span(program.commands).first(program.main_words);
  const bool whole = contract::for_each_command(stream, [&](const contract::Header& header, auto words) {
    work.push_back(header.skip ? CommandWork() : work_of(words, capabilities));
    return true;
  });
  NPU_CHECK(whole);
  return work;
}

DramRate::DramRate(const presets::Preset& machine) {
  // Bytes a cycle: data_rate_mts * bus_bits / 8 / clock_mhz, and what the port takes.
  const uint64_t sheet = uint64_t{machine.dram.data_rate_mts} * machine.dram.bus_bits;
  const uint64_t port = uint64_t{machine.caps.dma_port_bytes} * 8 * machine.caps.clock_mhz;
  bytes_ = std::max<uint64_t>(1, std::min(sheet, port));
  cycles_ = std::max<uint64_t>(1, uint64_t{8} * machine.caps.clock_mhz);
}

uint64_t DramRate::cycles(uint64_t bytes) const {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(bytes) * cycles_ + bytes_ - 1) / bytes_);
}

}  // namespace npu::report
