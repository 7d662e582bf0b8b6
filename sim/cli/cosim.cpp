// SPDX-License-Identifier: Apache-2.0
// `npu cosim`: RTL against model and reference, for a list of networks, operators and random trials of blocks.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/cli/command.h"
#include "sim/cli/options.h"
#include "sim/cli/rtl_on_demand.h"
#include "sim/cosim/blocks.h"
#include "sim/regression/list.h"
#include "sim/regression/report.h"
#include "sim/regression/run.h"
#include "sim/tool/junit.h"
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
using tool::say_error;

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

struct CosimOptions {
  fs::path list;
  regression::Selection selection;
  regression::RunOptions run;
  std::string junit, json, markdown;
  bool only_names = false;
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
void parse_shard(const std::string& text, regression::Selection& selection) {
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

regression::Selection read_selection(const po::variables_map& values) {
  regression::Selection selection;
  selection.preset = cosim_text_of(values, "preset");
  selection.only = cosim_text_of(values, "only");
  if (values.count("shard") > 0) parse_shard(cosim_text_of(values, "shard"), selection);
  if (values.count("seed") > 0) {
    selection.seed = parse_number(cosim_text_of(values, "seed"), "--seed");
    if (*selection.seed > regression::kMostSeed) {
      throw Error(ErrorCode::kBadOption,
                  fmt::format("--seed takes at most {}, not {}", regression::kMostSeed, *selection.seed));
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
  options.run.jobs = parse_jobs(cosim_text_of(*values, "jobs"));
  if (values->count("budget") > 0) options.run.budget = parse_budget(cosim_text_of(*values, "budget"));
  options.junit = cosim_text_of(*values, "junit");
  options.json = cosim_text_of(*values, "json");
  options.markdown = cosim_text_of(*values, "markdown");
  options.run.bundles = cosim_text_of(*values, "keep-bundles");
  options.only_names = (*values)["list"].as<bool>();
  options.run.quiet = (*values)["quiet"].as<bool>();
  return options;
}

std::string in_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : tool::printable(text)) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// For the command that makes a document; the folders of networks differ from one computer to the next.
std::string in_shell(const regression::Selection& selection) {
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
void tell_of_nothing(const regression::RegressionRun& run, const regression::Selection& selection) {
  if (run.cases.empty()) {
    say_error("npu: note: --shard {}/{} has none of the cases, which are fewer\n", selection.shard, selection.shards);
  } else if (count(run, regression::Outcome::kNotRun) + count(run, regression::Outcome::kMissing) == run.cases.size()) {
    say_error("npu: note: no case was run\n");
  }
}

// Reports replace nothing that the run reads.
void check_files(const CosimOptions& options, const regression::RegressionRun& run) {
  tool::FilePlaces read;
  read.read("the list", options.list);
  for (const regression::Case& one : run.cases) {
    read.read_machine(one.preset);
    if (const auto* network = std::get_if<regression::NetworkCase>(&one.work)) read.read("the network", network->file);
  }
  tool::check_report_files({{"--junit", options.junit}, {"--json", options.json}, {"--markdown", options.markdown}},
                           std::move(read));
}

int run_and_report(const CosimOptions& options) {
  const regression::List list = regression::read_list(options.list);
  regression::RegressionRun run{
      options.list.string(), in_shell(options.selection), regression::cases_of(list, options.selection), {}};
  check_files(options, run);
  if (options.only_names) {
    for (const regression::Case& one : run.cases) say("{}\n", one.name);
    return 0;
  }
  provide_rtl();
  static_cast<void>(cosim::required_blocks());
  tool::StagedFiles files;
  if (!options.run.bundles.empty()) files.make_folder(options.run.bundles);
  regression::run_cases(run, options.run);
  if (!options.junit.empty()) files.write(options.junit, regression::to_junit_text(run));
  if (!options.json.empty()) files.write(options.json, regression::to_json_text(run));
  if (!options.markdown.empty()) files.write(options.markdown, regression::to_markdown(run, options.markdown));
  files.commit();
  say("{}", regression::to_table(run));
  tell_of_nothing(run, options.selection);
  return regression::all_good(run) ? 0 : contract::exit_status(ErrorCode::kElementsDiffer);
}

}  // namespace

int run_cosim(const Arguments& arguments) {
  const std::optional<CosimOptions> options = parse_cosim_options(arguments);
  if (!options) return 0;
  return tool::stoppable([&] { return run_and_report(*options); });
}

}  // namespace npu::cli
