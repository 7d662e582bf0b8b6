// Speed of the RTL: cycles a second for tiles of the MXU with its output stage and of the VPU, memory always ready.
#include <cstdio>
#include <ctime>
#include <vector>

#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/vpu.h"

namespace {

using npu::contract::Element;
using npu::contract::MxuCommand;
using npu::contract::MxuMode;
using npu::contract::Operand;
using npu::contract::Uop;
using npu::contract::UopCode;
using npu::contract::VpuEwiseCommand;
using npu::rtl::MacArray;
using npu::rtl::Vpu;

// Of the operands of a tile.
constexpr size_t kSpacing = 1 << 20, kBytes = 4 * kSpacing;
constexpr uint32_t kElements = 1 << 14;
constexpr double kSeconds = 2;

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

uint64_t run(MacArray& block, const MxuCommand& command, std::vector<uint8_t>& memory) {
  const uint64_t begin = block.cycles();
  block.start(command);
  for (block.tick(); !block.done(); block.tick()) {
    MacArray::Activations activations;
    if (block.activations(activations)) {
      fetch(activations, memory.data());
      block.grant_activations();
    }
    MacArray::Weights weights;
    if (block.weights(weights)) {
      fetch(weights, memory.data() + kSpacing);
      block.grant_weights();
    }
    MacArray::Parameters parameters;
    if (block.parameters(parameters)) {
      fetch(parameters, memory.data() + 2 * kSpacing);
      block.grant_parameters();
    }
    MacArray::Results results;
    if (block.results(results)) {
      store(results, memory.data() + 3 * kSpacing);
      block.grant_results();
    }
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

uint64_t run(Vpu& block, const VpuEwiseCommand& command, std::vector<uint8_t>& memory) {
  const uint64_t begin = block.cycles();
  block.start(command);
  for (block.tick(); !block.done(); block.tick()) {
    Vpu::Parameters parameters;
    if (block.parameters(parameters)) {
      fetch(parameters, memory.data() + parameters.operand * kSpacing);
      block.grant_parameters();
    }
    Vpu::Read read;
    if (block.read(read)) {
      fetch(read, memory.data() + read.operand * kSpacing);
      block.grant_read();
    }
    Vpu::Write write;
    if (block.write(write)) {
      store(write, memory.data() + write.operand * kSpacing);
      block.grant_write();
    }
  }
  return block.cycles() - begin;
}

template <class Block, class Command>
void measure(Block& block, const char* preset, const char* name, const Command& command) {
  std::vector<uint8_t> memory(kBytes);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i * 2654435761U >> 24);
  // Processor time, for a machine that does other things too.
  const std::clock_t begin = std::clock();
  uint64_t cycles = 0;
  double seconds = 0;
  while (seconds < kSeconds) {
    cycles += run(block, command, memory);
    seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }
  std::printf("%s %s: %.0f cycles/s\n", preset, name, static_cast<double>(cycles) / seconds);
}

}  // namespace

int main() {
  for (const char* preset : {"nano", "edge"}) {
    const auto mxu = npu::rtl::make_mac_array(preset);
    measure(*mxu, preset, "conv 3x3, 64 -> 64", conv(16, 64, 64, 3));
    measure(*mxu, preset, "conv 3x3, 3 -> 32", conv(28, 3, 32, 3));
    MxuCommand depthwise = conv(16, 64, 64, 3);
    depthwise.mode = MxuMode::kDepthwise;
    depthwise.w_stride = 64;
    measure(*mxu, preset, "depthwise 3x3, 64", depthwise);
    const auto vpu = npu::rtl::make_vpu(preset);
    measure(*vpu, preset, "int8 add", program(Element::kI8, {{UopCode::kAdd, 2, 0, 1, 0, 0}}));
    measure(*vpu, preset, "int32 mul, shift, clamp",
            program(Element::kI32, {{UopCode::kMul, 2, 0, 1, 20, 0}, {UopCode::kClamp, 2, 2, 0, -1000, 1000}}));
    measure(*vpu, preset, "int32 division", program(Element::kI32, {{UopCode::kIntdiv, 2, 0, 1, 0, 0}}));
  }
}
