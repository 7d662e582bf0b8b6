// `npu run`: a network on the simulated NPU, invocation by invocation.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include "driver/compiler/compile.h"
#include "driver/graph/file.h"
#include "driver/runtime/runtime.h"
#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/data.h"
#include "sim/cli/data_options.h"
#include "sim/cli/network.h"
#include "sim/cli/options.h"
#include "sim/cli/oracle.h"
#include "sim/cli/progress.h"
#include "sim/cli/staged_files.h"
#include "sim/platform/platform.h"
#include "sim/report/json.h"
#include "sim/report/report.h"
#include "sim/report/table.h"
#include "sim/report/trace.h"

namespace npu::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using contract::ErrorCode;

namespace {

constexpr CommandHelp kHelp = {
    "npu run FILE [--input [NAME=]FILE.npy]... [options]",
    "Runs a network on the simulated NPU and prints what every layer costs and what limits it. Variables start\n"
    "cleared. Cycle counts are those of a model that is not calibrated against RTL yet.",
    "  npu run net.tosa --input input.npy\n"
    "  npu run net.tosa --input a=left.npy --input b=right.npy --config nano --check reference\n"
    "  npu run wake_word.tosa --input frames.npy --sequence --outputs out/ --json out/report.json\n"
    "  npu run net.tosa --input input.npy --trace trace.json      (open it at ui.perfetto.dev)\n"
    "  npu run net.tosa --input input.npy --check reference --inject constants:100:3\n"};

// How long a job runs without a word about its progress.
constexpr auto kPatience = std::chrono::milliseconds(200);

struct Injection {
  uint64_t offset = 0;
  uint32_t bit = 0;
};

struct RunOptions {
  DataOptions data;
  std::string file, config, mode, json, csv, trace;
  bool check = false;
  std::optional<std::pair<uint64_t, uint32_t>> jitter;  // seed, most cycles
  std::vector<Injection> injections;
};

po::options_description visible_options() {
  po::options_description options;
  add_data_options(options);
  options.add_options()  //
      ("config,c", po::value<std::string>()->default_value("edge")->value_name("NAME|FILE"),
       "the machine: nano, edge, or a YAML file with its sizes")  //
      ("mode", po::value<std::string>()->default_value("timed")->value_name("MODE"),
       "timed, or functional: the same bits without time, faster")  //
      ("check", po::value<std::string>()->value_name("reference"),
       "run the software reference too and compare every element of every output; exit status 7 when any differs")  //
      ("json", po::value<std::string>()->value_name("FILE"), "write the report as JSON")                            //
      ("csv", po::value<std::string>()->value_name("FILE"), "write the layers as CSV")                              //
      ("trace", po::value<std::string>()->value_name("FILE"), "write a Chrome/Perfetto trace")                      //
      ("jitter", po::value<std::string>()->value_name("SEED:MAX"),
       "test hook: random extra latency of up to MAX cycles on every tile, DMA command and burst, drawn anew from SEED "
       "in every invocation")  //
      ("inject", po::value<std::vector<std::string>>()->value_name("constants:OFFSET[:BIT]"),
       "test hook: flip a bit of a byte of the constants in device memory before the first invocation");
  return options;
}

// SEED:MAX
std::pair<uint64_t, uint32_t> parse_jitter(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw Error(ErrorCode::kBadOption, fmt::format("--jitter needs SEED:MAX, not '{}'", text));
  }
  constexpr uint64_t kMost = 1'000'000;
  const uint64_t most = parse_number(std::string_view(text).substr(colon + 1), "MAX of --jitter");
  if (most > kMost) {
    throw Error(ErrorCode::kBadOption, fmt::format("MAX of --jitter is {}, but at most {} is allowed", most, kMost));
  }
  return {parse_number(std::string_view(text).substr(0, colon), "SEED of --jitter"), static_cast<uint32_t>(most)};
}

// constants:OFFSET[:BIT]
Injection parse_injection(const std::string& text) {
  constexpr std::string_view kPrefix = "constants:";
  if (text.rfind(kPrefix, 0) != 0) {
    throw Error(ErrorCode::kBadOption, fmt::format("--inject needs constants:OFFSET[:BIT], not '{}'", text));
  }
  const std::string_view rest = std::string_view(text).substr(kPrefix.size());
  const size_t colon = rest.find(':');
  Injection injection;
  injection.offset = parse_number(rest.substr(0, colon), "OFFSET of --inject");
  if (colon != std::string_view::npos) {
    const uint64_t bit = parse_number(rest.substr(colon + 1), "BIT of --inject");
    if (bit > 7)
      throw Error(ErrorCode::kBadOption, fmt::format("BIT of --inject is {}, but a byte has bits 0 to 7", bit));
    injection.bit = static_cast<uint32_t>(bit);
  }
  return injection;
}

RunOptions read_options(const po::variables_map& values) {
  RunOptions options;
  options.data = data_options(values);
  options.file = required(values, "file", "the network's FILE");
  options.config = values["config"].as<std::string>();
  options.mode = values["mode"].as<std::string>();
  if (options.mode != "timed" && options.mode != "functional") {
    throw Error(ErrorCode::kBadOption, fmt::format("--mode is timed or functional, not '{}'", options.mode));
  }
  if (values.count("check") > 0) {
    if (values["check"].as<std::string>() != "reference") {
      throw Error(ErrorCode::kBadOption,
                  fmt::format("--check knows 'reference', not '{}'", values["check"].as<std::string>()));
    }
    options.check = true;
  }
  for (const auto& [name, target] :
       {std::pair{"json", &options.json}, std::pair{"csv", &options.csv}, std::pair{"trace", &options.trace}}) {
    if (values.count(name) == 0) continue;
    *target = values[name].as<std::string>();
    check_file_writable(*target);
  }
  if (!options.data.outputs.empty()) check_folder_writable(options.data.outputs);
  if (values.count("jitter") > 0) options.jitter = parse_jitter(values["jitter"].as<std::string>());
  if (values.count("inject") > 0) {
    for (const std::string& text : values["inject"].as<std::vector<std::string>>()) {
      options.injections.push_back(parse_injection(text));
    }
  }
  return options;
}

// No file that is read may be written, and none may be written twice.
void check_files_apart(const RunOptions& options) {
  std::vector<std::pair<std::string, fs::path>> files;  // what it is, where
  const auto add = [&](const std::string& what, const std::string& path, bool written) {
    if (path.empty()) return;
    std::error_code ignored;
    const fs::path place = fs::weakly_canonical(path, ignored);
    for (const auto& [other, taken] : files) {
      if (!written || taken != place) continue;
      throw Error(ErrorCode::kBadOption,
                  fmt::format("{} and {} are the same file, '{}'; choose another", what, other, path));
    }
    files.emplace_back(what, place);
  };
  add("the network", options.file, false);
  add("the machine's file", options.config, false);
  for (const std::string& input : options.data.inputs) {
    const size_t split = input.rfind('=');
    add("an input", split == std::string::npos ? input : input.substr(split + 1), false);
  }
  add("--json", options.json, true);
  add("--csv", options.csv, true);
  add("--trace", options.trace, true);
}

runtime::Device open_device(const RunOptions& options, const presets::Preset& preset) {
  platform::PlatformOptions machine;
  machine.preset = preset;
  machine.mode = options.mode == "timed" ? model::Mode::kTimed : model::Mode::kFunctional;
  if (options.jitter) {
    machine.jitter_seed = options.jitter->first;
    machine.jitter_max_cycles = options.jitter->second;
  }
  machine.control_cpu = false;
  runtime::DeviceOptions driver;
  driver.bypass_firmware = true;
  return runtime::Device::open(platform::open_tlm_device(machine), driver);
}

// Flips the bits; returns what was done, in words.
std::vector<std::string> inject(const std::vector<Injection>& injections, runtime::Device& device,
                                const runtime::LoadedProgram& program) {
  std::vector<std::string> done;
  for (const Injection& injection : injections) {
    const uint64_t address = program.constant_address(injection.offset);
    std::vector<uint8_t> byte(1);
    device.read_memory(address, byte);
    byte[0] ^= static_cast<uint8_t>(1u << injection.bit);
    device.write_memory(address, byte);
    done.push_back(fmt::format("bit {} of constants byte {} flipped", injection.bit, injection.offset));
  }
  return done;
}

report::RunInfo run_info(const RunOptions& options, const Network& network, const presets::Preset& preset,
                         const compiler::Program& program) {
  report::RunInfo info;
  info.tool_version = NPU_VERSION;
  info.file = network.path.string();
  info.file_sha256 = network.sha256;
  info.machine = preset;
  info.mode = options.mode;
  if (options.jitter) {
    info.jitter_seed = options.jitter->first;
    info.jitter_max = options.jitter->second;
  }
  info.program_sha256 = report::hash_program(program);
  return info;
}

void write_files(const RunOptions& options, const OutputData& outputs, const report::Report& report,
                 report::TraceWriter* trace) {
  StagedFiles files;
  if (!options.data.outputs.empty()) outputs.write(files, options.data.outputs);
  if (!options.json.empty()) files.write(options.json, report::to_json(report));
  if (!options.csv.empty()) files.write(options.csv, report::to_csv(report));
  uint64_t left_out = 0;
  if (trace != nullptr) {
    left_out = trace->close();
    files.adopt(trace->release(), options.trace);
  }
  files.commit();
  if (left_out > 0) fmt::print("trace     full: {} records of later invocations are left out\n", left_out);
}

void print_check(const report::CheckResult& check, size_t outputs, int64_t invocations) {
  fmt::print("check     {} differing of {} elements compared with the reference ({} output{}, {} invocation{})\n",
             report::grouped(check.differing), report::grouped(check.compared), outputs, outputs == 1 ? "" : "s",
             report::grouped(static_cast<uint64_t>(invocations)), invocations == 1 ? "" : "s");
}

}  // namespace

int run_run(const Arguments& arguments) {
  po::options_description hidden;
  po::positional_options_description positional;
  add_file_and_inputs(hidden, positional);
  const auto values = parse(arguments, kHelp, visible_options(), hidden, positional);
  if (!values) return 0;
  const RunOptions options = read_options(*values);
  check_files_apart(options);
  const presets::Preset preset = presets::load_preset(options.config);
  const Network network = load_network(options.file);

  runtime::Device device = open_device(options, preset);
  const compiler::Program program = compiler::compile(network.graph, device.capabilities());
  // After compiling: whoever has no data yet learns first whether the network runs at all.
  const InputData inputs(network.inputs, options.data.inputs, options.data.sequence);
  runtime::Context context = device.create_context({.zero_init = options.data.zero_init});
  const runtime::LoadedProgram loaded = context.load(program);
  report::RunInfo info = run_info(options, network, preset, program);
  info.injected = inject(options.injections, device, loaded);

  report::Collector collector(std::move(info), program);
  OutputData outputs(network.outputs, options.data.sequence);
  std::optional<Oracle> oracle;
  if (options.check) oracle.emplace(network, options.data.zero_init);
  std::optional<report::TraceWriter> trace;
  if (!options.trace.empty()) trace.emplace(options.trace, program, preset.caps);
  runtime::Job job = loaded.create_job();
  {
    Progress progress(inputs.invocations(), "invocation", options.data.quiet);
    for (int64_t i = 0; i < inputs.invocations(); ++i) {
      const std::vector<graph::Value> frame = inputs.invocation(i);
      for (size_t port = 0; port < frame.size(); ++port) job.set_input(port, frame[port]);
      job.start();
      while (!job.wait(kPatience)) {
        progress.part(static_cast<double>(job.commands_done()) / std::max(program.command_count, 1u));
      }
      const runtime::RunResult& result = job.result();
      collector.add(result);
      outputs.add(job.outputs());
      if (trace) trace->add(result);
      if (oracle) oracle->check(frame, job.outputs());
      progress.step();
    }
  }
  report::Report report = collector.finish(context.variables(), device.memory_use());
  if (oracle) report.check = oracle->result();

  fmt::print("{} on {} ({}), {} invocation{}\n\n{}", network.path.string(), preset.name, options.mode,
             report::grouped(report.invocations), report.invocations == 1 ? "" : "s", report::to_table(report));
  for (const std::string& fault : report.info.injected) fmt::print("injected  {}\n", fault);
  if (options.jitter) {
    fmt::print(
        "jitter    up to {} cycles on every tile, DMA command and burst, seed {}, the same in every invocation\n",
        options.jitter->second, options.jitter->first);
  }
  if (report.check) print_check(*report.check, network.outputs.size(), inputs.invocations());
  write_files(options, outputs, report, trace ? &*trace : nullptr);
  if (report.check && report.check->differing > 0) {
    throw Error(ErrorCode::kElementsDiffer,
                fmt::format("{} of {} elements differ from the reference, the first is {}", report.check->differing,
                            report.check->compared, report.check->first));
  }
  return 0;
}

}  // namespace npu::cli
