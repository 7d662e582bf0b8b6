// SPDX-License-Identifier: Apache-2.0
// `npu machine`: the machines that come with the program, and any machine as a file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/options.h"
#include "sim/tool/say.h"

namespace npu::cli {

namespace po = boost::program_options;
using tool::say;

namespace {

constexpr CommandHelp kMachineHelp = {
    "npu machine [NAME|FILE]",
    "Without an argument, lists the machines that come with the program. With a name, prints the file of that "
    "machine;\n"
    "with a file, prints the machine that it describes with all keys, those of its base included.",
    "  npu machine\n"
    "  npu machine edge > mine.yaml\n"
    "  printf 'base: edge\\nvpu_lanes: 128\\n' > wide.yaml && npu machine wide.yaml\n"
    "  npu run network.tosa --input input.npy --config mine.yaml\n"};

using Row = std::array<std::string, 7>;

Row row_of(const presets::Preset& preset) {
  const contract::Capabilities& caps = preset.caps;
  return {preset.name,
          fmt::format("{}", caps.mxu_cols * caps.mxu_depth),
          fmt::format("{}", caps.vpu_lanes),
          fmt::format("{} ({}) MHz", caps.clock_mhz, caps.cpu_clock_mhz),
          fmt::format("{} KiB", caps.spm_bytes / 1024),
          fmt::format("{} KiB", caps.psram_bytes / 1024),
          fmt::format("{} MiB {}", caps.dram_mib, preset.dram.name)};
}

void print_list() {
  std::vector<Row> rows = {
      {"machine", "int8 MACs a cycle", "VPU lanes", "clock (control CPU)", "scratchpad", "persistent SRAM", "DRAM"}};
  for (const std::string& name : presets::preset_names()) rows.push_back(row_of(presets::load_preset(name)));
  std::array<size_t, std::tuple_size_v<Row> - 1> widths = {};  // of all columns but the last
  for (const Row& row : rows) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    for (size_t i = 0; i < widths.size(); ++i) say("{:<{}}  ", row[i], widths[i]);
    say("{}\n", row.back());
  }
}

}  // namespace

int run_machine(const Arguments& arguments) {
  po::options_description options, hidden;
  hidden.add_options()("machine", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("machine", 1);
  const auto values = parse(arguments, kMachineHelp, options, hidden, positional);
  if (!values) return 0;
  if (values->count("machine") == 0) {
    print_list();
    return 0;
  }
  const std::string machine = (*values)["machine"].as<std::string>();
  const std::string_view text = presets::preset_text(machine);
  if (text.empty()) {
    const presets::Preset preset = presets::load_preset(machine);
    say("# {}, with all keys\n{}", preset.name, presets::to_yaml(preset));
  } else {
    say("{}", text);
  }
  return 0;
}

}  // namespace npu::cli
