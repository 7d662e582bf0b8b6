// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/machine_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::cli {

namespace po = boost::program_options;
using contract::ErrorCode;

namespace {

constexpr const char* kUsualMachine = "edge";
constexpr const char* kTimed = "timed";
constexpr const char* kFunctional = "functional";

}  // namespace

void add_config_option(po::options_description& options) {
  const std::string help =
      fmt::format("the machine: {}, or a YAML file with its sizes", fmt::join(presets::preset_names(), ", "));
  options.add_options()("config,c", po::value<std::string>()->default_value(kUsualMachine)->value_name("NAME|FILE"),
                        help.c_str());
}

void add_machine_options(po::options_description& options, bool usually_timed) {
  add_config_option(options);
  options.add_options()(
      "mode", po::value<std::string>()->default_value(usually_timed ? kTimed : kFunctional)->value_name("MODE"),
      "timed, or functional: the same bits without time, faster");
}

presets::Preset config_option(const po::variables_map& values) {
  return presets::load_preset(values["config"].as<std::string>());
}

MachineOptions machine_options(const po::variables_map& values) {
  MachineOptions options{values["config"].as<std::string>(), values["mode"].as<std::string>()};
  if (options.mode != kTimed && options.mode != kFunctional) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("--mode is {} or {}, not {}", kTimed, kFunctional, graph::in_quotes(options.mode)));
  }
  return options;
}

platform::PlatformOptions platform_options(const MachineOptions& options, const presets::Preset& preset) {
  platform::PlatformOptions machine;
  machine.preset = preset;
  machine.mode = options.timed() ? model::Mode::kTimed : model::Mode::kFunctional;
  return machine;
}

runtime::Device open_device(const MachineOptions& options) {
  return runtime::Device::open(
      platform::open_tlm_device(platform_options(options, presets::load_preset(options.config))));
}

}  // namespace npu::cli
