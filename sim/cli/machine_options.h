// SPDX-License-Identifier: Apache-2.0
// The machine that a command simulates, or asks the compiler about: --config and --mode, and its device.
#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "driver/runtime/runtime.h"
#include "hw/presets/preset.h"
#include "sim/platform/platform.h"

namespace npu::cli {

struct MachineOptions {
  std::string config;  // a preset's name, or a file
  std::string mode;    // "timed" or "functional"

  [[nodiscard]] bool timed() const { return mode == "timed"; }
};

// --config, for commands that run nothing.
void add_config_option(boost::program_options::options_description& options);
// --config and --mode, which is functional where it is not given and `usually_timed` is false.
void add_machine_options(boost::program_options::options_description& options, bool usually_timed = true);

// The value of --config. Throws Error: what presets::load_preset() throws.
[[nodiscard]] presets::Preset config_option(const boost::program_options::variables_map& values);
// Throws Error(kBadOption) for a mode that there is not. The machine is not loaded yet.
[[nodiscard]] MachineOptions machine_options(const boost::program_options::variables_map& values);

// Of a machine in the mode that the options name; everything else as it is for a user's device.
[[nodiscard]] platform::PlatformOptions platform_options(const MachineOptions& options, const presets::Preset& preset);
// Loads the machine and opens it. Throws Error: what loading and opening throw.
[[nodiscard]] runtime::Device open_device(const MachineOptions& options);

}  // namespace npu::cli
