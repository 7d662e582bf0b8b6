// SPDX-License-Identifier: Apache-2.0
// A small machine, and programs for it that only a mock could run.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/compiler/patches.h"
#include "driver/runtime/mock_firmware.h"
#include "driver/runtime/mock_hal.h"
#include "driver/runtime/runtime.h"

namespace npu::runtime {

inline contract::Capabilities small_machine() {
  contract::Capabilities caps;
  for (const contract::CapabilityInfo& info : contract::kCapabilities) caps.*info.member = info.min;
  caps.psram_bytes = 1024;
  caps.psram_port_bytes = 16;
  caps.var_entries = 4;
  caps.dram_mib = 1;
  return caps;
}

// An opened device over a mock that the test keeps its hands on; without firmware, for the direct register sequence.
struct Opened {
  explicit Opened(const contract::Capabilities& caps = small_machine()) : Opened(std::make_unique<MockHal>(caps)) {}
  explicit Opened(std::unique_ptr<MockHal> hal)
      : mock(*hal), device(Device::open(std::move(hal), {.bypass_firmware = true})) {
    mock.clear_log();
  }

  MockHal& mock;
  Device device;
};

// Options that boot the pretended firmware.
inline DeviceOptions mock_options() {
  DeviceOptions options;
  options.firmware = MockFirmware::image();
  options.firmware_symbols = "00000000 start\n00000010 t npu_dispatch\n00000040 T npu_main\n";
  return options;
}

// An opened device over a mock with pretended firmware.
struct Booted {
  explicit Booted(const DeviceOptions& options = mock_options())
      : Booted(std::make_unique<MockHal>(small_machine()), options) {}
  Booted(std::unique_ptr<MockHal> hal, const DeviceOptions& options)
      : mock(*hal), firmware(mock), device(Device::open(std::move(hal), options)) {
    mock.clear_log();
  }

  MockHal& mock;
  MockFirmware firmware;
  Device device;
};

inline compiler::Variable int8_variable(const std::string& identity, uint32_t bytes,
                                        std::vector<uint8_t> initial = {}) {
  compiler::Variable variable;
  variable.identity = identity;
  variable.tensor_name = "Variable_0";
  variable.type = graph::DType::kInt8;
  variable.shape = {bytes};
  variable.bytes = bytes;
  variable.hash = compiler::variable_hash(variable.type, variable.shape);
  variable.initial = std::move(initial);
  return variable;
}

// begin; a declare and a copy from the variable for each variable; end. One input "x" and one output "y" of INT8[4].
inline compiler::Program make_program(const std::vector<compiler::Variable>& variables = {},
                                      const contract::Capabilities& caps = small_machine()) {
  compiler::Program program;
  program.caps_hash = contract::caps_hash(caps);
  program.variables = variables;
  contract::BeginCommand begin;
  begin.header.queue = contract::Queue::kSequencer;
  begin.major = contract::kContractMajor;
  begin.minor = contract::kContractMinor;
  begin.caps_hash = program.caps_hash;
  begin.command_count = static_cast<uint32_t>(2 + 2 * variables.size());
  begin.encode(program.commands);
  for (uint32_t i = 0; i < variables.size(); ++i) {
    contract::DeclareCommand declare;
    declare.header.queue = contract::Queue::kSequencer;
    declare.variable = i;
    declare.hash = variables[i].hash;
    compiler::add_patches(declare, program.commands.size(), program.patches);
    declare.encode(program.commands);
    contract::DmaCommand copy;
    copy.header.queue = contract::Queue::kDma0;
    copy.header.layer = 0;
    copy.src = {0, contract::Region::kVariable, static_cast<uint16_t>(i)};
    copy.dst = {0, contract::Region::kOutput, 0};
    copy.run_bytes = 4;
    copy.count = {1, 1, 1, 1, 1};
    compiler::add_patches(copy, program.commands.size(), program.patches);
    copy.encode(program.commands);
  }
  contract::EndCommand end;
  end.header.queue = contract::Queue::kSequencer;
  end.encode(program.commands);
  program.main_words = static_cast<uint32_t>(program.commands.size());
  program.command_count = program.event_capacity = begin.command_count;
  program.constants = {10, 11, 12, 13, 14, 15};
  program.workspace_bytes = 256;
  program.input_bytes = program.output_bytes = 64;
  program.inputs = {{"x", graph::DType::kInt8, {4}, false, 16, 4}};
  program.outputs = {{"y", graph::DType::kInt8, {4}, false, 32, 4}};
  compiler::Layer layer;
  layer.name = "identity_0";
  program.layers = {layer};
  return program;
}

inline graph::Value int8_value(std::vector<uint8_t> bytes) {
  const auto length = static_cast<int64_t>(bytes.size());
  return {graph::DType::kInt8, {length}, std::move(bytes)};
}

// One variable of 4 bytes, with an initial value.
inline compiler::Program with_variable(const std::string& identity = "v") {
  return make_program({int8_variable(identity, 4, {1, 2, 3, 4})});
}

// A job of such a program.
inline Job started(LoadedProgram& program) {
  Job job = program.create_job();
  job.set_input(0, int8_value({1, 2, 3, 4}));
  return job;
}

// The code and the text of what `call` throws.
template <typename Call>
std::pair<contract::ErrorCode, std::string> error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {contract::ErrorCode::kOk, ""};
}

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << "in: " << (text)

}  // namespace npu::runtime
