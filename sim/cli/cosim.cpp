// SPDX-License-Identifier: Apache-2.0
// `npu cosim`: RTL against model and reference, for a list of networks, operators and random trials of blocks.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/cli/command.h"
#include "sim/cli/cosim_case.h"
#include "sim/cli/cosim_device.h"
#include "sim/cli/cosim_report.h"
#include "sim/cli/cosim_trials.h"
#include "sim/cli/junit.h"
#include "sim/cli/options.h"
#include "sim/cli/parallel.h"
#include "sim/cli/progress.h"
#include "sim/cli/report_files.h"
#include "sim/cli/rtl_on_demand.h"
#include "sim/cli/say.h"
#include "sim/cli/staged_files.h"
#include "sim/cli/stop.h"
#include "sim/cli/temporary_folder.h"
#include "sim/cosim/blocks.h"

namespace npu::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;

namespace {

constexpr CommandHelp kCosimHelp = {
    "npu cosim LIST.yaml [options]",
    "Compares RTL with model and reference, bits and cycles, for all that a list names: networks and random operators\n"
    "on the device, and random trials of single blocks. Exit status 7 when anything differs, or a block takes other\n"
    "cycles than its formula says. docs/reference/cosim.md has the list's keys and the reports' fields.",
    "  npu cosim tests/cases/cosim.yaml\n"
    "  npu cosim tests/cases/cosim.yaml --list\n"
    "  npu cosim tests/cases/cosim.yaml --seed 20260101 --shard 3/8 --budget 30m --junit cosim.xml\n"
    "  npu cosim tests/cases/cosim.yaml --only 'trials/mxu/nano' --keep-bundles failed\n"
    "  npu cosim tests/cases/cosim.yaml --only 'trials/mxu/nano/held_back/' --trial 137\n"
    "  npu cosim tests/cases/calibration.yaml --markdown docs/reference/cycle-accuracy.md\n"};

using Clock = std::chrono::steady_clock;

struct CosimOptions {
  fs::path list;
  CosimSelection selection;
  std::optional<std::chrono::seconds> budget;
  std::string junit, json, markdown, bundles;
  size_t jobs = 1;
  bool only_names = false, quiet = false;
};

po::options_description visible_options() {
  po::options_description options;
  const auto text = [] { return po::value<std::string>(); };
  options.add_options()                                                                                          //
      ("shard", text()->value_name("K/N"), "the K-th of N parts of the cases")                                   //
      ("only", text()->value_name("REGEX"), "only cases with a match in their name")                             //
      ("trial", text()->value_name("N"), "only the trial N of blocks, alone: the number that a failure prints")  //
      ("preset", text()->value_name("NAME"), "only this machine of the list")                                    //
      ("seed", text()->value_name("N"), "this seed in place of the list's")                                      //
      ("networks", po::value<std::vector<std::string>>()->value_name("DIR"),
       "where networks are looked for by name, before the list's folder and the build's imported ones; repeatable")  //
      ("jobs,j", text()->value_name("N"), "cases at a time; by default as many as processors")                       //
      ("budget", text()->value_name("TIME"), "begin no case after this time, such as 90s, 30m or 2h")                //
      ("list", po::bool_switch(), "print the names of the cases and run none")                                       //
      ("junit", text()->value_name("FILE"), "write the results as JUnit XML")                                        //
      ("json", text()->value_name("FILE"), "write the results as JSON")                                              //
      ("markdown", text()->value_name("FILE"), "write the tables of cycle accuracy as a document")                   //
      ("keep-bundles", text()->value_name("DIR"),
       "where tiles that differ go, a folder each, for npu replay")  //
      ("quiet,q", po::bool_switch(), "no progress");
  return options;
}

std::string cosim_text_of(const po::variables_map& values, const char* option) {
  return values.count(option) > 0 ? values[option].as<std::string>() : "";
}

// K/N
void parse_shard(const std::string& text, CosimSelection& selection) {
  constexpr uint64_t kMost = 10'000;
  const size_t slash = text.find('/');
  if (slash == std::string::npos) throw Error(ErrorCode::kBadOption, "--shard needs K/N, not " + in_quotes(text));
  const uint64_t k = parse_number(std::string_view(text).substr(0, slash), "K of --shard");
  const uint64_t n = parse_number(std::string_view(text).substr(slash + 1), "N of --shard");
  if (k < 1 || k > n || n > kMost) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("--shard {} makes no sense: K goes from 1 to N, and N to {}", in_quotes(text), kMost));
  }
  selection.shard = k;
  selection.shards = n;
}

// A number and s, m or h.
std::chrono::seconds parse_budget(const std::string& text) {
  constexpr uint64_t kMost = 1'000'000;
  const std::string_view units = "smh";
  const size_t unit = text.empty() ? std::string_view::npos : units.find(text.back());
  if (unit == std::string_view::npos) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("--budget needs a time such as 90s, 30m or 2h, not {}", in_quotes(text)));
  }
  const uint64_t number = parse_number(std::string_view(text).substr(0, text.size() - 1), "--budget");
  if (number > kMost) {
    throw Error(ErrorCode::kBadOption, fmt::format("--budget takes at most {} of a unit, not {}", kMost, number));
  }
  constexpr uint64_t kSeconds[] = {1, 60, 3600};
  return std::chrono::seconds(number * kSeconds[unit]);
}

CosimSelection read_selection(const po::variables_map& values) {
  CosimSelection selection;
  selection.preset = cosim_text_of(values, "preset");
  selection.only = cosim_text_of(values, "only");
  if (values.count("shard") > 0) parse_shard(cosim_text_of(values, "shard"), selection);
  if (values.count("seed") > 0) {
    selection.seed = parse_number(cosim_text_of(values, "seed"), "--seed");
    if (*selection.seed > kMostSeed) {
      throw Error(ErrorCode::kBadOption, fmt::format("--seed takes at most {}, not {}", kMostSeed, *selection.seed));
    }
  }
  if (values.count("trial") > 0) selection.trial = parse_number(cosim_text_of(values, "trial"), "--trial");
  if (values.count("networks") == 0) return selection;
  for (const std::string& folder : values["networks"].as<std::vector<std::string>>()) {
    if (!fs::is_directory(folder)) {
      throw Error(ErrorCode::kCannotRead, fmt::format("--networks {} is no folder", in_quotes(folder)));
    }
    selection.folders.emplace_back(folder);
  }
  return selection;
}

std::optional<CosimOptions> parse_cosim_options(const Arguments& arguments) {
  po::options_description hidden;
  hidden.add_options()("file", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("file", 1);
  const auto values = parse(arguments, kCosimHelp, visible_options(), hidden, positional);
  if (!values) return std::nullopt;
  CosimOptions options;
  options.list = required(*values, "file", "the LIST.yaml of cases", "npu cosim");
  options.selection = read_selection(*values);
  options.jobs = parse_jobs(cosim_text_of(*values, "jobs"));
  if (values->count("budget") > 0) options.budget = parse_budget(cosim_text_of(*values, "budget"));
  options.junit = cosim_text_of(*values, "junit");
  options.json = cosim_text_of(*values, "json");
  options.markdown = cosim_text_of(*values, "markdown");
  options.bundles = cosim_text_of(*values, "keep-bundles");
  options.only_names = (*values)["list"].as<bool>();
  options.quiet = (*values)["quiet"].as<bool>();
  return options;
}

// The folder for a case's bundle, which does not exist yet: the case's name with '-' for '/'.
fs::path bundle_for(const CosimCase& one, const fs::path& folder) {
  std::string name = one.name;
  std::replace(name.begin(), name.end(), '/', '-');
  fs::path free = folder / name;
  for (int i = 2; fs::exists(free); ++i) free = folder / fmt::format("{}-{}", name, i);
  return free;
}

// `folder` is where bundles go.
CosimResult run_case(const CosimCase& one, TrialBlocks& blocks, const fs::path& folder) {
  const auto* network = std::get_if<NetworkCase>(&one.work);
  if (network != nullptr && network->file.empty()) {
    CosimResult result;
    result.outcome = CosimOutcome::kMissing;
    result.reason = fmt::format("the optional network {} is in no folder of networks", in_quotes(network->network));
    return result;
  }
  const fs::path bundle = bundle_for(one, folder);
  if (std::holds_alternative<TrialCase>(one.work)) return run_trials(one, blocks, bundle);
  return run_on_device(one, bundle);
}

void run_cases(CosimRun& run, const CosimOptions& options) {
  const Clock::time_point start = Clock::now();
  const TemporaryFolder scratch;
  const bool keep = !options.bundles.empty();
  const fs::path folder = keep ? fs::absolute(options.bundles) : scratch.path();
  std::vector<TrialBlocks> blocks(options.jobs);
  Progress progress(static_cast<int64_t>(run.cases.size()), "case", options.quiet);
  run.results.resize(run.cases.size());
  run_parallel(run.cases.size(), options.jobs, progress, [&](size_t i, size_t worker) {
    CosimResult& result = run.results[i];
    if (options.budget && Clock::now() - start >= *options.budget) {
      result.reason = "no time was left";
      return;
    }
    result = result_of([&] { return run_case(run.cases[i], blocks[worker], folder); });
    if (!keep) result.bundle.clear();
  });
}

std::string in_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : printable(text)) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// For the command that makes a document; the folders of networks differ from one computer to the next.
std::string in_shell(const CosimSelection& selection) {
  std::string text;
  if (!selection.preset.empty()) text += " --preset " + in_shell(selection.preset);
  if (selection.seed) text += fmt::format(" --seed {}", *selection.seed);
  if (!selection.only.empty()) text += " --only " + in_shell(selection.only);
  if (selection.trial) text += fmt::format(" --trial {}", *selection.trial);
  if (selection.shards > 1) text += fmt::format(" --shard {}/{}", selection.shard, selection.shards);
  for (size_t i = 0; i < selection.folders.size(); ++i) text += " --networks DIR";
  return text;
}

// A run that compares nothing ends well, but not in silence.
void tell_of_nothing(const CosimRun& run, const CosimSelection& selection) {
  if (run.cases.empty()) {
    say_error("npu: note: --shard {}/{} has none of the cases, which are fewer\n", selection.shard, selection.shards);
  } else if (count(run, CosimOutcome::kNotRun) + count(run, CosimOutcome::kMissing) == run.cases.size()) {
    say_error("npu: note: no case was run\n");
  }
}

// Reports replace nothing that the run reads.
void check_files(const CosimOptions& options, const CosimRun& run) {
  FilePlaces read;
  read.read("the list", options.list);
  for (const CosimCase& one : run.cases) {
    read.read_machine(one.preset);
    if (const auto* network = std::get_if<NetworkCase>(&one.work)) read.read("the network", network->file);
  }
  check_report_files({{"--junit", options.junit}, {"--json", options.json}, {"--markdown", options.markdown}},
                     std::move(read));
}

int run_and_report(const CosimOptions& options) {
  const CosimList list = read_cosim_list(options.list);
  CosimRun run{options.list.string(), in_shell(options.selection), cosim_cases(list, options.selection), {}};
  check_files(options, run);
  if (options.only_names) {
    for (const CosimCase& one : run.cases) say("{}\n", one.name);
    return 0;
  }
  provide_rtl();
  static_cast<void>(cosim::required_blocks());
  StagedFiles files;
  if (!options.bundles.empty()) files.make_folder(options.bundles);
  run_cases(run, options);
  if (!options.junit.empty()) files.write(options.junit, cosim_junit(run));
  if (!options.json.empty()) files.write(options.json, cosim_json(run));
  if (!options.markdown.empty()) files.write(options.markdown, cosim_markdown(run, options.markdown));
  files.commit();
  say("{}", cosim_table(run));
  tell_of_nothing(run, options.selection);
  return all_good(run) ? 0 : contract::exit_status(ErrorCode::kElementsDiffer);
}

}  // namespace

int run_cosim(const Arguments& arguments) {
  const std::optional<CosimOptions> options = parse_cosim_options(arguments);
  if (!options) return 0;
  return stoppable([&] { return run_and_report(*options); });
}

}  // namespace npu::cli
