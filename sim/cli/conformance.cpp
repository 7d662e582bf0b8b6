// SPDX-License-Identifier: Apache-2.0
// `npu conformance`: a tree of official conformance tests, several at a time.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/cli/command.h"
#include "sim/cli/conformance_device.h"
#include "sim/cli/machine_options.h"
#include "sim/cli/options.h"
#include "sim/conformance/suite.h"
#include "sim/tool/report_files.h"
#include "sim/tool/say.h"
#include "sim/tool/staged_files.h"
#include "sim/tool/stop.h"

namespace npu::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;
using tool::say;

namespace {

constexpr CommandHelp kConformanceHelp = {
    "npu conformance DIR [options]",
    "Runs every conformance test below DIR (a folder with a desc.json) on the software reference or the simulated NPU\n"
    "and judges the results as the descriptors say: illegal graphs have to be refused, exact results have to be equal, "
    "and Arm's\n"
    "checker judges the rest. The exit status is 7 unless all of them pass. tests/conformance/run.sh makes the tests,\n"
    "below build/conformance; folders there that are not finished, *.partial, are left out.",
    "  npu conformance build/conformance\n"
    "  npu conformance build/conformance --operator CONV2D --jobs 4\n"
    "  npu conformance build/conformance --on device --config nano\n"
    "  npu conformance build/conformance --filter ERRORIF --json results.json --junit results.xml\n"};

struct ConformanceOptions {
  conformance::Selection selection;
  std::optional<MachineOptions> device;  // nullopt: the reference runs the tests
  std::string junit, json;
  size_t jobs = 1;
  bool quiet = false;
};

std::string text_of(const po::variables_map& values, const char* option) {
  return values.count(option) > 0 ? values[option].as<std::string>() : "";
}

// The machine of --on device; nullopt: the tests run on the reference.
std::optional<MachineOptions> device_of(const po::variables_map& values) {
  const std::string on = values["on"].as<std::string>();
  if (on == "device") return machine_options(values);
  if (on != "reference") {
    throw Error(ErrorCode::kBadOption, fmt::format("--on is reference or device, not {}", in_quotes(on)));
  }
  for (const char* option : {"config", "mode"}) {
    if (!values[option].defaulted()) {
      throw Error(ErrorCode::kBadOption, fmt::format("--{} is for --on device", option));
    }
  }
  return std::nullopt;
}

std::optional<ConformanceOptions> parse_options(const Arguments& arguments) {
  po::options_description options, hidden;
  po::positional_options_description positional;
  const auto text = [] { return po::value<std::string>(); };
  options.add_options()("on", text()->default_value("reference")->value_name("WHAT"),
                        "what runs the tests: reference, or device, for which the next two are");
  add_machine_options(options, false);
  options.add_options()                                                                         //
      ("filter", text()->value_name("REGEX"), "only tests with a match in their name")          //
      ("operator", text()->value_name("OP"), "only tests of an operator, such as CONV2D")       //
      ("jobs,j", text()->value_name("N"), "tests at a time; by default as many as processors")  //
      ("junit", text()->value_name("FILE"), "write the results as JUnit XML")                   //
      ("json", text()->value_name("FILE"), "write the results as JSON")                         //
      ("quiet,q", "no progress");
  hidden.add_options()("dir", text());
  positional.add("dir", 1);
  const auto values = parse(arguments, kConformanceHelp, options, hidden, positional);
  if (!values) return std::nullopt;
  ConformanceOptions result;
  result.selection.root = required(*values, "dir", "the tests' DIR");
  result.selection.filter = text_of(*values, "filter");
  result.selection.operator_name = text_of(*values, "operator");
  result.junit = text_of(*values, "junit");
  result.json = text_of(*values, "json");
  result.quiet = values->count("quiet") > 0;
  result.device = device_of(*values);
  result.jobs = parse_jobs(text_of(*values, "jobs"));
  return result;
}

// A report replaces no part of a test.
void check_beside_tests(const std::string& file) {
  std::error_code ignored;
  if (file.empty() || file == tool::kStandardOutput ||
      !fs::exists(graph::place_of(file).parent_path() / "desc.json", ignored))
    return;
  throw Error(ErrorCode::kBadOption,
              fmt::format("{} would lie in the folder of a test; choose another folder", in_quotes(file)));
}

int run_and_report(const ConformanceOptions& options) {
  tool::check_report_files({{"--json", options.json}, {"--junit", options.junit}});
  for (const std::string& file : {options.json, options.junit}) check_beside_tests(file);
  std::vector<conformance::Result> results = conformance::select_tests(options.selection);
  std::optional<ConformanceDevice> device;
  if (options.device) device.emplace(*options.device);
  const size_t jobs = device ? std::min(options.jobs, ConformanceDevice::kMostJobs) : options.jobs;
  conformance::judge_all(results, device ? device->runner() : conformance::reference_runner(), jobs, options.quiet);
  tool::StagedFiles files;
  if (!options.junit.empty()) files.write(options.junit, conformance::to_junit_text(results));
  if (!options.json.empty())
    files.write(options.json, conformance::to_json_text(results, device ? options.device->config : ""));
  files.commit();
  say("{}", conformance::to_table(results));
  return conformance::all_passed(results) ? 0 : contract::exit_status(ErrorCode::kElementsDiffer);
}

}  // namespace

int run_conformance(const Arguments& arguments) {
  const std::optional<ConformanceOptions> options = parse_options(arguments);
  if (!options) return 0;
  return tool::stoppable([&] { return run_and_report(*options); });
}

}  // namespace npu::cli
