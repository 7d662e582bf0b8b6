// SPDX-License-Identifier: Apache-2.0
// Speed of the RTL: cycles a second of every block and preset, memory always ready. The column cycles/s counts the time
// of this program's processor, so that it holds on a machine that does other things too.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rtl/verilated/dma_address.h"
#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/persistent_sram.h"
#include "rtl/verilated/rescale.h"
#include "rtl/verilated/scratchpad.h"
#include "rtl/verilated/vpu.h"

namespace {

using npu::contract::DmaCommand;
using npu::contract::Element;
using npu::contract::MxuCommand;
using npu::contract::MxuMode;
using npu::contract::Operand;
using npu::contract::PoolMode;
using npu::contract::Uop;
using npu::contract::UopCode;
using npu::contract::VpuEwiseCommand;
using npu::contract::VpuPoolCommand;
using npu::contract::VpuReduceCommand;
using npu::rtl::DmaAddress;
using npu::rtl::MacArray;
using npu::rtl::PersistentSram;
using npu::rtl::Rescale;
using npu::rtl::Scratchpad;
using npu::rtl::Vpu;

// Of the operands of a tile.
constexpr size_t kSpacing = 1 << 20, kBytes = 5 * kSpacing;
constexpr uint32_t kElements = 1 << 14;
// Of blocks that know no tiles.
constexpr uint64_t kCycles = 1 << 12;

uint8_t noise(uint64_t i) { return static_cast<uint8_t>(static_cast<uint32_t>(i) * 2654435761U >> 24); }

MxuCommand conv(uint32_t size, uint32_t in_c, uint32_t out_c, uint32_t kernel) {
  MxuCommand command;
  command.src_type = command.weight_type = command.dst_type = Element::kI8;
  command.rescale = npu::contract::Rescale::kDouble32;
  command.in_h = command.in_w = command.out_h = command.out_w = size;
  command.in_c = in_c;
  command.out_c = out_c;
  command.kernel_h = command.kernel_w = kernel;
  command.stride_y = command.stride_x = command.dilation_y = command.dilation_x = command.multiplier = 1;
  command.pad_top = command.pad_left = static_cast<int32_t>(kernel / 2);
  command.src_pixel_stride = static_cast<int32_t>(in_c);
  command.src_row_stride = static_cast<int32_t>(in_c * size);
  command.dst_pixel_stride = static_cast<int32_t>(out_c);
  command.dst_row_stride = static_cast<int32_t>(out_c * size);
  command.w_stride = static_cast<int32_t>(kernel * kernel * in_c);
  return command;
}

// An operand every kSpacing bytes; memory is always ready.
void serve(const MacArray::Activations& request, uint8_t* memory) { fetch(request, memory); }
void serve(const MacArray::Weights& request, uint8_t* memory) { fetch(request, memory + kSpacing); }
void serve(const MacArray::Parameters& request, uint8_t* memory) { fetch(request, memory + 2 * kSpacing); }
void serve(const MacArray::Residual& request, uint8_t* memory) { fetch(request, memory + 4 * kSpacing); }
void serve(const MacArray::Results& request, uint8_t* memory) { store(request, memory + 3 * kSpacing); }
void serve(const Vpu::Write& request, uint8_t* memory) { store(request, memory + request.operand * kSpacing); }
template <class Request>
void serve(const Request& request, uint8_t* memory) {
  fetch(request, memory + request.operand * kSpacing);
}

uint64_t run(MacArray& block, const MxuCommand& command, std::vector<uint8_t>& memory) {
  const uint64_t begin = block.cycles();
  block.start(command);
  for (block.tick(); !block.done(); block.tick()) {
    handshake(block, [&](const auto& request) {
      serve(request, memory.data());
      return true;
    });
  }
  return block.cycles() - begin;
}

VpuEwiseCommand program(Element type, const std::vector<Uop>& body) {
  VpuEwiseCommand command;
  command.dims = {1, 1, 1, kElements};
  command.register_count = 3;
  for (uint32_t i = 0; i < 3; ++i) {
    Operand operand;
    operand.base.offset = i * static_cast<uint32_t>(kSpacing);
    operand.type = type;
    operand.stride[3] = static_cast<int32_t>(element_bytes(type));
    command.operands.push_back(operand);
  }
  command.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0}, {UopCode::kLoad, 1, 1, 0, 0, 0}};
  command.uops.insert(command.uops.end(), body.begin(), body.end());
  command.uops.push_back({UopCode::kStore, 0, 2, 2, 0, 0});
  return command;
}

// 3x3 windows, stride 2.
VpuPoolCommand pool(PoolMode mode, uint32_t size, uint32_t channels) {
  VpuPoolCommand command;
  command.mode = mode;
  command.in_h = command.in_w = size;
  command.channels = channels;
  command.out_h = command.out_w = (size - 1) / 2;
  command.kernel_h = command.kernel_w = 3;
  command.stride_y = command.stride_x = 2;
  command.src_pixel_stride = command.dst_pixel_stride = static_cast<int32_t>(channels);
  command.src_row_stride = static_cast<int32_t>(channels * size);
  command.dst_row_stride = static_cast<int32_t>(channels * command.out_w);
  return command;
}

VpuReduceCommand sum(uint32_t outer, uint32_t axis, uint32_t inner) {
  VpuReduceCommand command;
  command.type = Element::kI32;
  command.outer = outer;
  command.axis = axis;
  command.inner = inner;
  command.src_axis_stride = static_cast<int32_t>(inner * sizeof(int32_t));
  command.src_outer_stride = command.src_axis_stride * static_cast<int32_t>(axis);
  command.dst_outer_stride = command.src_axis_stride;
  return command;
}

template <class Command>
uint64_t run(Vpu& block, const Command& command, std::vector<uint8_t>& memory) {
  const uint64_t begin = block.cycles();
  block.start(command);
  for (block.tick(); !block.done(); block.tick()) {
    handshake(block, [&](const auto& request) {
      serve(request, memory.data());
      return true;
    });
  }
  return block.cycles() - begin;
}

// A copy of rows that are not a whole number of beats.
uint64_t run(DmaAddress& block) {
  DmaCommand command;
  command.run_bytes = 1000;
  command.count = {1, 1, 1, 4, 32};
  command.src_stride = {0, 0, 0, 40'000, 1'024};
  command.dst_stride = {0, 0, 0, 32'000, 1'000};
  block.start(command, 0x1000, 0x200000, 0);
  block.set_ready(true, true);
  uint64_t cycles = 0;
  do {
    block.tick();
    ++cycles;
  } while (!block.idle());
  return cycles;
}

// New values in every cycle.
uint64_t run(Rescale& block) {
  Rescale::Config config;
  config.kind = npu::contract::Rescale::kDouble32;
  config.low = config.clamp_min = -128;
  config.high = config.clamp_max = 127;
  block.configure(config);
  block.set_valid(true);
  block.set_ready(true);
  for (uint64_t cycle = 0; cycle < kCycles; ++cycle) {
    for (unsigned lane = 0; lane < block.lanes(); ++lane) {
      const int64_t value = int64_t{noise(cycle + lane)} << 12;
      block.set_value(lane, {value, -1000, 1 << 30, 40});
    }
    block.tick();
  }
  return kCycles;
}

// Every requester asks in every cycle, one of them writes.
uint64_t run(Scratchpad& block) {
  const Scratchpad::Sizes& sizes = block.sizes();
  const uint32_t words = sizes.bytes / sizes.bank_bytes;
  std::vector<uint8_t> data(sizes.bank_bytes);
  for (uint64_t cycle = 0; cycle < kCycles; ++cycle) {
    data[0] = noise(cycle);
    block.write(0, static_cast<uint32_t>(cycle) % words, ~0u, data);
    for (uint32_t r = 1; r < sizes.requesters; ++r) block.read(r, (static_cast<uint32_t>(cycle) + 3 * r) % words);
    block.tick();
  }
  return kCycles;
}

// An access in every cycle that takes one: writes and reads in turn.
uint64_t run(PersistentSram& block) {
  const PersistentSram::Sizes& sizes = block.sizes();
  const std::vector<uint8_t> data(sizes.port_bytes, 0x5a);
  PersistentSram::Access access;
  access.privileged = true;
  access.strobe = ~0u >> (32 - std::min(sizes.port_bytes, 32u));
  access.data = data;
  block.set_power(PersistentSram::Power::kOn);
  for (uint64_t cycle = 0; cycle < kCycles; ++cycle) {
    access.write = cycle % 2 == 0;
    access.address = static_cast<uint32_t>(cycle / 2 * sizes.port_bytes % sizes.bytes);
    block.access(access);
    block.tick();
  }
  block.withdraw_access();
  return kCycles;
}

// `make` makes a block of a preset; `work` does something with it and returns how many cycles that took.
template <class Make, class Work>
void add(const std::string& name, Make make, Work work) {
  for (const char* preset : {"nano", "edge"}) {
    benchmark::RegisterBenchmark((std::string(preset) + "/" + name).c_str(), [=](benchmark::State& state) {
      const auto block = make(preset);
      std::vector<uint8_t> memory(kBytes);
      for (size_t i = 0; i < memory.size(); ++i) memory[i] = noise(i);
      uint64_t cycles = 0;
      for ([[maybe_unused]] auto _ : state) cycles += work(*block, memory);
      state.counters["cycles/s"] = benchmark::Counter(static_cast<double>(cycles), benchmark::Counter::kIsRate);
    });
  }
}

// Of a command of an engine.
template <class Make, class Command>
void add_tile(const std::string& name, Make make, const Command& command) {
  add(name, make, [command](auto& block, std::vector<uint8_t>& memory) { return run(block, command, memory); });
}

template <class Make>
void add_stream(const std::string& name, Make make) {
  add(name, make, [](auto& block, std::vector<uint8_t>&) { return run(block); });
}

void add_all() {
  MxuCommand depthwise = conv(16, 64, 64, 3);
  depthwise.mode = MxuMode::kDepthwise;
  depthwise.w_stride = 64;
  add_tile("mac_array/conv 3x3, 64 -> 64", npu::rtl::make_mac_array, conv(16, 64, 64, 3));
  add_tile("mac_array/conv 3x3, 3 -> 32", npu::rtl::make_mac_array, conv(28, 3, 32, 3));
  add_tile("mac_array/depthwise 3x3, 64", npu::rtl::make_mac_array, depthwise);
  add_tile("vpu/int8 add", npu::rtl::make_vpu, program(Element::kI8, {{UopCode::kAdd, 2, 0, 1, 0, 0}}));
  add_tile("vpu/int32 mul, shift, clamp", npu::rtl::make_vpu,
           program(Element::kI32, {{UopCode::kMul, 2, 0, 1, 20, 0}, {UopCode::kClamp, 2, 2, 0, -1000, 1000}}));
  add_tile("vpu/int32 division", npu::rtl::make_vpu, program(Element::kI32, {{UopCode::kIntdiv, 2, 0, 1, 0, 0}}));
  add_tile("vpu/max pool 3x3, 64", npu::rtl::make_vpu, pool(PoolMode::kMax, 17, 64));
  add_tile("vpu/average pool 3x3, 64", npu::rtl::make_vpu, pool(PoolMode::kAvg, 17, 64));
  add_tile("vpu/int32 sum of 64", npu::rtl::make_vpu, sum(8, 64, 32));
  add_stream("rescale", npu::rtl::make_rescale);
  add_stream("dma_address", npu::rtl::make_dma_address);
  add_stream("scratchpad", npu::rtl::make_scratchpad);
  add_stream("persistent_sram", npu::rtl::make_persistent_sram);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 64;
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
