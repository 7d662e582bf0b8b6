// SPDX-License-Identifier: Apache-2.0
#include "sim/regression/device.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "driver/graph/file.h"
#include "driver/graph/npy.h"
#include "driver/graph/text.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/generator/random_network.h"
#include "sim/regression/operator_network.h"
#include "sim/tool/junit.h"
#include "sim/tool/process.h"
#include "sim/tool/temporary_folder.h"
#include "sim/workload/network.h"

namespace npu::regression {

namespace fs = std::filesystem;
using contract::ErrorCode;
using nlohmann::json;

namespace {

constexpr uintmax_t kMostReport = uintmax_t{256} << 20;
constexpr uint64_t kMostInputs = uint64_t{128} << 20;  // bytes of a network's random data

// What `npu run` gets: a network and its data.
struct Subject {
  fs::path network;
  std::vector<std::string> inputs;  // NAME=FILE.npy
};

std::string write_input(const fs::path& folder, size_t number, const std::string& name, const graph::Value& value) {
  const fs::path file = folder / fmt::format("input{}.npy", number);
  graph::write_npy(file, graph::to_npy(value));
  return fmt::format("{}={}", name, file.string());
}

void check_size(const std::vector<workload::GraphPort>& inputs, const NetworkCase& work) {
  uint64_t left = kMostInputs;
  for (const workload::GraphPort& port : inputs) {
    const uint64_t bytes = generator::stacked_bytes(port.type, port.shape, work.frames);
    if (bytes > left) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("the data for {} frames of {} are more than {} bytes; give it fewer 'frames'",
                              work.frames, graph::in_quotes(work.network), kMostInputs));
    }
    left -= bytes;
  }
}

// Data of all values that the inputs' types have, but for the wide ones.
Subject subject_of(const NetworkCase& work, uint64_t seed, const fs::path& folder) {
  const workload::Network network = workload::load_network(work.file);
  check_size(network.inputs, work);
  Subject subject{work.file, {}};
  cosim::Random random(seed);
  for (size_t i = 0; i < network.inputs.size(); ++i) {
    const workload::GraphPort& port = network.inputs[i];
    const graph::Value data =
        generator::random_value(port.type, port.shape, work.frames, generator::usual_range(port.type), random);
    subject.inputs.push_back(write_input(folder, i, port.name, data));
  }
  return subject;
}

Subject subject_of(const OperatorCase& work, const Case& one, const fs::path& folder) {
  const contract::Capabilities caps = presets::load_preset(one.preset).caps;
  const OperatorNetwork network = random_operator(work.op, caps, one.seed, work.of_each);
  Subject subject{folder / "operator.tosa", {}};
  graph::write_tosa(subject.network, network.graph);
  const graph::Block& block = network.graph.main();
  for (size_t i = 0; i < network.inputs.size(); ++i) {
    subject.inputs.push_back(write_input(folder, i, block.tensors[block.inputs[i]].name, network.inputs[i]));
  }
  return subject;
}

std::string error_of(const std::string& output) {
  std::string text = tool::last_error(output);
  // Where its tile went is told in another place.
  const size_t replay = text.find("; run it again with: npu replay ");
  if (replay != std::string::npos) text.erase(replay);
  return tool::printable(text);
}

// One `npu run` of the subject; the report of a run that went to its end.
class NpuRun {
 public:
  NpuRun(const Case& one, const Subject& subject, const fs::path& folder) : folder_(folder) {
    arguments_ = {fs::read_symlink("/proc/self/exe").string(),
                  "run",
                  subject.network.string(),
                  "--config",
                  one.preset,
                  "--quiet",
                  "--json",
                  (folder / "report.json").string()};
    // A subject without inputs has no sequence of them either.
    if (!subject.inputs.empty()) arguments_.emplace_back("--sequence");
    for (const std::string& input : subject.inputs) arguments_.insert(arguments_.end(), {"--input", input});
  }

  // False, with the outcome and the reason, when it did not end well; `how` says how it ran, in words.
  bool operator()(const std::vector<std::string>& more, const char* how, Result& result) {
    std::vector<std::string> arguments = arguments_;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const fs::path file = folder_ / "report.json";
    fs::remove(file);
    report_ = nullptr;
    const tool::ProcessResult process = tool::run_process(arguments, folder_, "/usr/bin");
    if (fs::exists(file)) {
      const std::vector<uint8_t> bytes = graph::read_file(file, kMostReport);
      report_ = json::parse(bytes.begin(), bytes.end());
    }
    if (process.status == 0 && !report_.is_null()) return true;
    const bool differs = process.status == contract::exit_status(ErrorCode::kElementsDiffer);
    result.outcome = differs ? Outcome::kFailed : Outcome::kBroken;
    result.reason =
        fmt::format("{}: {}", how, process.status == 0 ? "no report was written" : error_of(process.output));
    if (!differs) result.reason += fmt::format(" (exit status {})", process.status);
    return false;
  }
  [[nodiscard]] const json& report() const { return report_; }
  [[nodiscard]] uint64_t cycles() const { return report_.at("total").at("cycles_sum").get<uint64_t>(); }

 private:
  fs::path folder_;
  std::vector<std::string> arguments_;
  json report_;
};

void read_lockstep(const json& report, DeviceNumbers& numbers) {
  if (report.is_null()) return;  // stopped at a tile
  report.at("run").at("invocations").get_to(numbers.invocations);
  report.at("check").at("compared").get_to(numbers.compared);
  report.at("check").at("differing").get_to(numbers.differing);
  for (const json& engine : report.at("engines")) {
    numbers.elements += engine.at("elements_compared").get<uint64_t>();
    const json& cycles = engine.at("cycle_differences");
    if (cycles.is_null()) continue;
    numbers.tiles += cycles.at("tiles").get<uint64_t>();
    numbers.exact += cycles.at("exact").get<uint64_t>();
    numbers.same_requests += cycles.at("same_requests").get<uint64_t>();
  }
}

void run_all(NpuRun& run, const fs::path& bundle, Result& result) {
  DeviceNumbers& numbers = result.device;
  const bool lockstep =
      run({"--lockstep", "--check", "reference", "--keep-bundle", bundle.string()}, "in lockstep", result);
  read_lockstep(run.report(), numbers);
  if (!lockstep) return;
  if (numbers.compared == 0) {
    result.outcome = Outcome::kBroken;
    result.reason = "no element of an output was compared with the reference";
    return;
  }
  if (!run({}, "on the model alone", result)) return;
  numbers.model_cycles = run.cycles();
  if (!run({"--rtl", "mxu,vpu,psram"}, "with the engines on RTL", result)) return;
  numbers.rtl_cycles = run.cycles();
  result.reason = wrong_cycles(numbers);
  result.outcome = result.reason.empty() ? Outcome::kPassed : Outcome::kFailed;
}

}  // namespace

Result run_on_device(const Case& one, const fs::path& bundle) {
  const tool::TemporaryFolder folder;
  const auto* network = std::get_if<NetworkCase>(&one.work);
  const Subject subject = network != nullptr ? subject_of(*network, one.seed, folder.path())
                                             : subject_of(std::get<OperatorCase>(one.work), one, folder.path());
  NpuRun run(one, subject, folder.path());
  Result result;
  run_all(run, bundle, result);
  if (fs::exists(bundle)) result.bundle = bundle.string();
  return result;
}

}  // namespace npu::regression
