// SPDX-License-Identifier: Apache-2.0
// A device that pretends, and the keys of a machine's file that a message names.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "driver/compiler/compile.h"
#include "driver/graph/graph.h"
#include "driver/runtime/mock_firmware.h"
#include "driver/runtime/mock_hal.h"
#include "driver/runtime/runtime.h"
#include "hw/contract/advice.h"

namespace npu {

// A device of the machine, with pretended firmware or none, and what is loaded on it.
class Machine {
 public:
  explicit Machine(const contract::Capabilities& machine, bool firmware = true) : caps(machine) {
    auto hal = std::make_unique<runtime::MockHal>(caps);
    runtime::DeviceOptions options;
    options.bypass_firmware = !firmware;
    if (firmware) {
      firmware_ = std::make_unique<runtime::MockFirmware>(*hal);
      options.firmware = runtime::MockFirmware::image();
      options.firmware_symbols = "00000000 start\n";
    }
    device_ = std::make_unique<runtime::Device>(runtime::Device::open(std::move(hal), options));
  }

  void load(const graph::Graph& graph, const compiler::Options& options = {},
            const runtime::ContextOptions& context = {}) {
    const compiler::Program program = compiler::compile(graph, caps, options);
    contexts.push_back(device_->create_context(context));
    programs.push_back(contexts.back().load(program));
  }

  const contract::Capabilities caps;

 private:
  std::unique_ptr<runtime::MockFirmware> firmware_;
  std::unique_ptr<runtime::Device> device_;

 public:
  std::vector<runtime::Context> contexts;
  std::vector<runtime::LoadedProgram> programs;  // gone before their contexts
};

using Keys = std::map<std::string, uint64_t>;

// The capabilities that a message names with a value.
inline Keys advice_in(const std::string& message) {
  Keys keys;
  const std::regex change("([a-z_]+): ([0-9]+)");
  for (std::sregex_iterator at(message.begin(), message.end(), change), end; at != end; ++at) {
    for (const contract::CapabilityInfo& info : contract::kCapabilities) {
      if (info.name == (*at)[1].str()) keys[(*at)[1]] = std::stoull((*at)[2]);
    }
  }
  return keys;
}

}  // namespace npu
