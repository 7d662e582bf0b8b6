// Speed of the VPU's RTL: cycles a second for element-wise tiles, memory always ready.
#include <cstdio>
#include <ctime>
#include <vector>

#include "rtl/verilated/vpu.h"

namespace {

using npu::contract::Element;
using npu::contract::Operand;
using npu::contract::Uop;
using npu::contract::UopCode;
using npu::contract::VpuEwiseCommand;
using npu::rtl::Vpu;

constexpr uint32_t kSpacing = 1 << 20, kElements = 1 << 14;
constexpr double kSeconds = 2;

VpuEwiseCommand program(Element type, const std::vector<Uop>& body) {
  VpuEwiseCommand command;
  command.dims = {1, 1, 1, kElements};
  command.register_count = 3;
  for (uint32_t i = 0; i < 3; ++i) {
    Operand operand;
    operand.base.offset = i * kSpacing;
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
      fetch(parameters, memory.data() + parameters.operand * size_t{kSpacing});
      block.grant_parameters();
    }
    Vpu::Read read;
    if (block.read(read)) {
      fetch(read, memory.data() + read.operand * size_t{kSpacing});
      block.grant_read();
    }
    Vpu::Write write;
    if (block.write(write)) {
      store(write, memory.data() + write.operand * size_t{kSpacing});
      block.grant_write();
    }
  }
  return block.cycles() - begin;
}

void measure(const char* preset, const char* name, const VpuEwiseCommand& command) {
  const auto block = npu::rtl::make_vpu(preset);
  std::vector<uint8_t> memory(4 * size_t{kSpacing});
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
    measure(preset, "int8 add", program(Element::kI8, {{UopCode::kAdd, 2, 0, 1, 0, 0}}));
    measure(preset, "int32 mul, shift, clamp",
            program(Element::kI32, {{UopCode::kMul, 2, 0, 1, 20, 0}, {UopCode::kClamp, 2, 2, 0, -1000, 1000}}));
    measure(preset, "int32 division", program(Element::kI32, {{UopCode::kIntdiv, 2, 0, 1, 0, 0}}));
  }
}
