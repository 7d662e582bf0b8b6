// SPDX-License-Identifier: Apache-2.0
// `npu what-if`: a network on machines that differ in one resource. Each is a process of its own, since SystemC
// elaborates once a process.
#include "sim/inspect/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "driver/compiler/compile.h"
#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/cli/command.h"
#include "sim/cli/json_option.h"
#include "sim/cli/machine_options.h"
#include "sim/cli/options.h"
#include "sim/tool/parallel.h"
#include "sim/tool/process.h"
#include "sim/tool/say.h"
#include "sim/tool/staged_files.h"
#include "sim/tool/stop.h"
#include "sim/tool/temporary_folder.h"
#include "sim/workload/data.h"
#include "sim/workload/network.h"

namespace npu::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using contract::ErrorCode;

namespace {

constexpr CommandHelp kWhatIfHelp = {
    "npu what-if FILE [--input [NAME=]FILE.npy]... [options]",
    "Runs a network on the machine, and compiles and runs it again on machines with one resource changed: scratchpad, "
    "DRAM,\nMXU, VPU, DMA and so on, each twice as large or with half of the latency. Prints the changes that save "
    "most "
    "cycles.\nWithout --input it runs random inputs.",
    "  npu what-if net.tosa\n"
    "  npu what-if net.tosa --config nano --best 5\n"
    "  npu what-if wake_word.tosa --input frames.npy --sequence --invocations 3\n"
    "  npu what-if net.tosa --json | jq '.changes[0]'\n"};

constexpr uintmax_t kMostReportBytes = uintmax_t{256} << 20;

// Options that `npu run` gets as they are.
constexpr const char* kPassedOn[] = {"input",         "sequence",      "invocations",   "skip",           "zero-init",
                                     "random-inputs", "state-in-dram", "double-buffer", "bypass-firmware"};

po::options_description what_if_options() {
  po::options_description options;
  add_config_option(options);
  options.add_options()  //
      ("input,i", po::value<std::vector<std::string>>()->value_name("NAME=FILE.npy"),
       "data of an input, as of npu run; and so are the following options")                                     //
      ("sequence", po::bool_switch(), "the first axis of the data counts invocations")                          //
      ("invocations", po::value<std::string>()->value_name("N"), "run N invocations")                           //
      ("skip", po::value<std::string>()->value_name("N"), "leave out the first N")                              //
      ("zero-init", po::bool_switch(), "variables start as zeros")                                              //
      ("random-inputs", po::value<std::string>()->value_name("SEED"), "random data for inputs without a file")  //
      ("state-in-dram", po::bool_switch(), "put all variables into DRAM")                                       //
      ("double-buffer", po::bool_switch(), "two places for each variable that is written")                      //
      ("bypass-firmware", po::bool_switch(), "without control CPU")                                             //
      ("best", po::value<std::string>()->default_value("3")->value_name("N"), "print the best N changes")       //
      ("jobs,j", po::value<std::string>()->value_name("N"), "run N machines at a time; as many as processors")  //
      ("quiet,q", po::bool_switch(), "no progress");
  return options;
}

struct Outcome {
  std::optional<uint64_t> cycles;
  uint64_t invocations = 0;
  std::string why_not;
};

// `npu run` with the user's options, on any machine.
class MachineRun {
 public:
  MachineRun(const std::string& file, const std::vector<Given>& given) {
    arguments_ = {fs::read_symlink("/proc/self/exe").string(), "run", file, "--quiet"};
    for (const Given& one : given) {
      if (std::find(std::begin(kPassedOn), std::end(kPassedOn), one.option) == std::end(kPassedOn)) continue;
      arguments_.push_back("--" + one.option);
      if (!one.value.empty()) arguments_.push_back(one.value);
    }
  }

  // `name` tells the files in the temporary folder apart.
  [[nodiscard]] Outcome operator()(const presets::Preset& machine, const std::string& name) const {
    const fs::path config = folder_.path() / (name + ".yaml"), json = folder_.path() / (name + ".json");
    const std::string text = presets::to_yaml(machine);
    graph::write_file(config, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
    std::vector<std::string> arguments = arguments_;
    arguments.insert(arguments.end(), {"--config", config.string(), "--json", json.string()});
    const tool::ProcessResult process = tool::run_process(arguments, fs::current_path(), "/usr/bin");
    Outcome outcome;
    if (process.status != 0 || !fs::exists(json)) {
      outcome.why_not = tool::last_error(process.output);
      return outcome;
    }
    const std::vector<uint8_t> bytes = graph::read_file(json, kMostReportBytes);
    const auto report = nlohmann::json::parse(bytes.begin(), bytes.end());
    outcome.cycles = report.at("total").at("cycles_sum").get<uint64_t>();
    outcome.invocations = report.at("run").at("invocations").get<uint64_t>();
    return outcome;
  }

 private:
  tool::TemporaryFolder folder_;
  std::vector<std::string> arguments_;
};

inspect::WhatIf try_all(const std::string& file, const presets::Preset& preset, const MachineRun& run, size_t jobs,
                        bool quiet) {
  inspect::WhatIf result{file, preset, 0, 0, {}};
  const Outcome base = run(preset, "base");
  if (!base.cycles)
    throw Error(ErrorCode::kToolFailed, fmt::format("npu run {}: {}", graph::in_quotes(file), base.why_not));
  result.cycles = *base.cycles;
  result.invocations = base.invocations;
  for (inspect::MachineChange& change : inspect::list_changes(preset))
    result.rows.push_back({std::move(change), {}, {}});
  tool::Progress progress(static_cast<int64_t>(result.rows.size()), "machine", quiet);
  tool::run_parallel(result.rows.size(), jobs, progress, [&](size_t index, size_t) {
    inspect::WhatIfRow& row = result.rows[index];
    Outcome outcome = run(row.change.machine, fmt::format("machine{}", index));
    row.cycles = outcome.cycles;
    row.why_not = std::move(outcome.why_not);
  });
  inspect::sort_by_cycles(result);
  return result;
}

}  // namespace

int run_what_if(const Arguments& arguments) {
  po::options_description options = what_if_options(), hidden;
  hidden.add_options()("file", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("file", 1);
  JsonOption json(options, hidden, positional, kJsonHelp);
  std::vector<Given> order;
  const auto values = parse(arguments, kWhatIfHelp, options, hidden, positional, &order);
  if (!values) return 0;
  const std::string file = required(*values, "file", "the network's FILE", "npu what-if");
  tool::FilePlaces places;
  places.read_machine((*values)["config"].as<std::string>());
  places.read("the network", file);
  if (values->count("input") > 0) {
    for (const std::string& input : (*values)["input"].as<std::vector<std::string>>()) {
      tool::read_input(places, "an input", input);
    }
  }
  json.read(*values, order, kWhatIfHelp, std::move(places));
  const uint64_t best = parse_number((*values)["best"].as<std::string>(), "--best");
  const size_t jobs = parse_jobs(values->count("jobs") > 0 ? (*values)["jobs"].as<std::string>() : "");
  const presets::Preset preset = config_option(*values);
  // What the machine as it is cannot run is told before anything runs.
  static_cast<void>(compiler::compile(workload::load_network(file).graph, preset.caps));
  return tool::stoppable([&] {
    const MachineRun run(file, order);
    const inspect::WhatIf result = try_all(file, preset, run, jobs, (*values)["quiet"].as<bool>());
    json.tell([&] { return inspect::to_text(result, best); }, [&] { return inspect::to_json_text(result); });
    return 0;
  });
}

}  // namespace npu::cli
