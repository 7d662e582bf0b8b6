// SPDX-License-Identifier: Apache-2.0
// A program of one convolution between two transfers with a variable, and a run of it written down by hand.
#pragma once

#include <string>
#include <vector>

#include "sim/report/report.h"

namespace npu::report {

// Commands: 0 begin, 1 declare, 2 dma0 weights in, 3 dma1 from the variable, 4 mxu, 5 dma0 to DRAM, 6 dma1 to the
// variable, 7 end. Layers: 0 "conv2d_4" (2 to 5), 1 "variable_write_9" (6).
inline compiler::Program sample_program() {
  using contract::Address;
  using contract::Region;
  compiler::Program program;
  std::vector<uint32_t>& words = program.commands;
  contract::BeginCommand begin;
  begin.header.queue = contract::Queue::kSequencer;
  begin.command_count = 8;
  begin.encode(words);
  contract::DeclareCommand declare;
  declare.header.queue = contract::Queue::kSequencer;
  declare.encode(words);
  const auto queue_index = [](contract::Queue queue) { return static_cast<size_t>(queue); };
  const auto dma = [&](contract::Queue queue, uint32_t layer, Address src, Address dst) {
    contract::DmaCommand command;
    command.header.queue = queue;
    if (src.region == Region::kScratchpad) command.header.wait[queue_index(contract::Queue::kMxu)] = 1;
    command.header.layer = layer;
    command.src = src;
    command.dst = dst;
    command.encode(words);
  };
  dma(contract::Queue::kDma0, 0, {0, Region::kConstants, 0}, {0, Region::kScratchpad, 0});
  dma(contract::Queue::kDma1, 0, {0, Region::kVariable, 0}, {64, Region::kScratchpad, 0});
  contract::MxuCommand mxu;
  mxu.header.queue = contract::Queue::kMxu;
  mxu.header.layer = 0;
  for (const contract::Queue load : {contract::Queue::kDma0, contract::Queue::kDma1}) {
    mxu.header.wait[queue_index(load)] = 1;
  }
  mxu.encode(words);
  dma(contract::Queue::kDma0, 0, {0, Region::kScratchpad, 0}, {0, Region::kOutput, 0});
  dma(contract::Queue::kDma1, 1, {0, Region::kScratchpad, 0}, {0, Region::kVariable, 0});
  contract::EndCommand end;
  end.header.queue = contract::Queue::kSequencer;
  end.encode(words);
  program.main_words = static_cast<uint32_t>(words.size());
  program.command_count = 8;
  program.constants = {1, 2, 3};
  compiler::Variable variable;
  variable.identity = "state \"1\"";
  variable.type = graph::DType::kInt8;
  variable.shape = {1, 4};
  variable.bytes = 4;
  program.variables = {variable};
  compiler::Layer conv;
  conv.name = "conv2d_4";
  conv.kind = "CONV2D";
  conv.input_shape = {1, 8, 8, 4};
  conv.kernel = {3, 3};
  conv.operators = "CONV2D+RESCALE";
  conv.engine = contract::Engine::kMxu;
  conv.output = "a,\"b\"";
  conv.macs = 8000;
  compiler::Layer write;
  write.name = "variable_write_9";
  write.operators = "VARIABLE_WRITE";
  write.engine = contract::Engine::kDma;
  program.layers = {conv, write};
  program.inputs = {{"x", graph::DType::kInt8, {4}, false, 0, 4}};
  program.outputs = {{"y", graph::DType::kInt8, {4}, true, 0, 4}};
  return program;
}

inline contract::Event event_of(uint32_t command, uint16_t layer, contract::Queue queue, uint64_t issued,
                                uint64_t started, uint64_t completed) {
  contract::Event event;
  event.command = command;
  event.layer = layer;
  event.queue = static_cast<uint8_t>(queue);
  event.opcode = static_cast<uint8_t>(contract::Opcode::kDma);
  event.issued = issued;
  event.started = started;
  event.completed = completed;
  event.busy = static_cast<uint32_t>(completed - started);
  return event;
}

// 200 cycles.
inline runtime::RunResult sample_result() {
  using contract::Queue;
  runtime::RunResult result;
  result.cycles = 200;
  result.events = {
      event_of(0, 0, Queue::kSequencer, 0, 0, 10), event_of(1, 0, Queue::kSequencer, 10, 10, 12),
      event_of(3, 0, Queue::kDma1, 22, 22, 30),    event_of(2, 0, Queue::kDma0, 20, 20, 60),
      event_of(4, 0, Queue::kMxu, 25, 65, 125),    event_of(6, 1, Queue::kDma1, 35, 125, 140),
      event_of(5, 0, Queue::kDma0, 30, 130, 190),  event_of(7, 0, Queue::kSequencer, 190, 190, 200),
  };
  result.events[3].dram_read = 640;
  result.events[4].stalled = 15;
  result.events[4].busy = 45;
  result.events[6].dram_written = 100;
  result.events[2].psram_read = 4;
  result.events[5].psram_written = 4;
  result.counters.set(Queue::kDma0, contract::Counter::kDramRead, 640);
  result.counters.set(Queue::kDma0, contract::Counter::kDramWritten, 100);
  result.counters.set(Queue::kSequencer, contract::Counter::kDramRead, 400);
  return result;
}

// The same behind a doorbell at this device time: 300 device cycles, of which the stream ran in 200.
inline runtime::RunResult sample_firmware_result(uint64_t doorbell) {
  using contract::Phase;
  runtime::RunResult result = sample_result();
  result.times.submitted = doorbell;
  result.times.accepted = doorbell + 20;
  result.times.started = doorbell + 50;
  result.times.ended = doorbell + 260;
  result.times.completed = doorbell + 300;
  result.times.firmware_cycles = 120;
  result.phases = {{doorbell + 10, Phase::kFetch, 1},
                   {doorbell + 40, Phase::kDispatch, 1},
                   {doorbell + 60, Phase::kIdle, 0},
                   {doorbell + 270, Phase::kComplete, 1},
                   {doorbell + 310, Phase::kIdle, 0}};
  return result;
}

inline RunInfo sample_info() {
  RunInfo info;
  info.tool_version = "0.1.0";
  info.file = "net.tosa";
  info.file_sha256 = "00";
  info.machine = presets::load_preset("nano");  // 64 MACs a cycle at 200 MHz
  info.mode = "timed";
  info.firmware = "built-in";
  info.rtl_presets = {"one", "two"};
  info.has_rtl = true;
  return info;
}

inline Report sample_report(uint64_t invocations = 1) {
  Collector collector(sample_info(), sample_program());
  for (uint64_t i = 0; i < invocations; ++i) collector.add(sample_result());
  runtime::VariableInfo variable;
  variable.identity = "state \"1\"";
  variable.type = graph::DType::kInt8;
  variable.shape = {1, 4};
  variable.bytes = variable.room = 4;
  variable.is_written = true;
  return collector.finish({variable}, {});
}

}  // namespace npu::report
