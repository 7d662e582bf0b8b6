#include "driver/compiler/schedule.h"

#include <string>

#include "driver/compiler/schedule/encode.h"
#include "driver/compiler/schedule/variants.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

constexpr uint64_t kRegionLimit = UINT32_MAX - 4096;  // offsets in commands have 32 bits

void check_buffers(const Module& module) {
  for (const Buffer& buffer : module.buffers) {
    if (buffer.bytes > INT32_MAX) {
      throw Error(contract::ErrorCode::kDramFull, "tensor " + buffer.name + " takes " + std::to_string(buffer.bytes) +
                                                      " bytes, more than a command can stride over (2147483647)");
    }
    NPU_CHECK(buffer.kind != BufferKind::kConstant || buffer.data.size() == buffer.bytes);
  }
  NPU_CHECK(module.inputs.size() == module.input_buffers.size());
  NPU_CHECK(module.outputs.size() == module.output_buffers.size());
}

void check_dram(uint64_t constants, uint64_t workspace, uint64_t input, uint64_t output, uint64_t commands,
                const contract::Capabilities& capabilities) {
  const uint64_t total = constants + workspace + input + output + commands;
  const uint64_t limit = uint64_t{capabilities.dram_mib} << 20;
  if (total <= limit && constants < kRegionLimit && workspace < kRegionLimit && input < kRegionLimit &&
      output < kRegionLimit) {
    return;
  }
  throw Error(contract::ErrorCode::kDramFull,
              "the network needs " + std::to_string(total) + " bytes of DRAM (constants " + std::to_string(constants) +
                  ", intermediate results " + std::to_string(workspace) + ", inputs " + std::to_string(input) +
                  ", outputs " + std::to_string(output) + ", commands " + std::to_string(commands) +
                  "), the device has " + std::to_string(limit) + "; dram_mib = " + std::to_string((total >> 20) + 1) +
                  " is enough");
}

}  // namespace

Program schedule(Module&& module, const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  check_buffers(module);
  backend::Schedule best = backend::best_schedule(module, capabilities, options);
  const backend::Layout& layout = best.layout;
  backend::Stream& stream = best.stream;

  Program program;
  backend::encode(stream.commands, capabilities, program);
  check_dram(stream.constants.size(), static_cast<uint64_t>(layout.workspace_bytes),
             static_cast<uint64_t>(layout.input_bytes), static_cast<uint64_t>(layout.output_bytes),
             program.commands.size() * sizeof(uint32_t), capabilities);
  program.constants = std::move(stream.constants);
  program.workspace_bytes = static_cast<uint32_t>(layout.workspace_bytes);
  program.input_bytes = static_cast<uint32_t>(layout.input_bytes);
  program.output_bytes = static_cast<uint32_t>(layout.output_bytes);
  program.spm_peak_bytes = static_cast<uint32_t>(layout.scratchpad_peak);
  program.inputs = std::move(module.inputs);
  program.outputs = std::move(module.outputs);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    program.inputs[i].offset = static_cast<uint32_t>(layout.dram[module.input_buffers[i]]);
    program.inputs[i].bytes = static_cast<uint32_t>(module.buffers[module.input_buffers[i]].bytes);
  }
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    program.outputs[i].offset = static_cast<uint32_t>(layout.dram[module.output_buffers[i]]);
    program.outputs[i].bytes = static_cast<uint32_t>(module.buffers[module.output_buffers[i]].bytes);
  }
  program.variables = std::move(module.variables);
  program.layers = std::move(module.layers);
  for (size_t i = 0; i < program.layers.size(); ++i) program.layers[i].tiles = stream.layer_tiles[i];
  return program;
}

}  // namespace npu::compiler
