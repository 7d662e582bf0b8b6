// Speed of the RTL: cycles a second for a tile of a convolution with its output stage, memory always ready.
#include <cstdio>
#include <ctime>
#include <vector>

#include "rtl/verilated/mac_array.h"

namespace {

using npu::contract::Element;
using npu::contract::MxuCommand;
using npu::contract::MxuMode;
using npu::rtl::MacArray;

constexpr uint32_t kWeights = 1 << 20, kParams = 2 << 20, kResults = 3 << 20, kBytes = 4 << 20;
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
      fetch(weights, memory.data() + kWeights);
      block.grant_weights();
    }
    MacArray::Parameters parameters;
    if (block.parameters(parameters)) {
      fetch(parameters, memory.data() + kParams);
      block.grant_parameters();
    }
    MacArray::Results results;
    if (block.results(results)) {
      store(results, memory.data() + kResults);
      block.grant_results();
    }
  }
  return block.cycles() - begin;
}

void measure(const char* preset, const char* name, const MxuCommand& command) {
  const auto block = npu::rtl::make_mac_array(preset);
  std::vector<uint8_t> memory(kBytes);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i * 2654435761U >> 24);
  // Processor time, for a machine that does other things too.
  const std::clock_t begin = std::clock();
  uint64_t cycles = 0;
  double seconds = 0;
  while (seconds < kSeconds) {
    cycles += run(*block, command, memory);
    seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }
  std::printf("%s %s: %.0f cycles/s\n", preset, name, static_cast<double>(cycles) / seconds);
}

}  // namespace

int main() {
  for (const char* preset : {"nano", "edge"}) {
    measure(preset, "conv 3x3, 64 -> 64", conv(16, 64, 64, 3));
    measure(preset, "conv 3x3, 3 -> 32", conv(28, 3, 32, 3));
    MxuCommand depthwise = conv(16, 64, 64, 3);
    depthwise.mode = MxuMode::kDepthwise;
    depthwise.w_stride = 64;
    measure(preset, "depthwise 3x3, 64", depthwise);
  }
}
