// SPDX-License-Identifier: Apache-2.0
// `npu conformance`: a tree of official conformance tests, several at a time.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>

#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/cli/command.h"
#include "sim/cli/conformance_report.h"
#include "sim/cli/name_filter.h"
#include "sim/cli/options.h"
#include "sim/cli/parallel.h"
#include "sim/cli/progress.h"
#include "sim/cli/report_files.h"
#include "sim/cli/say.h"
#include "sim/cli/staged_files.h"
#include "sim/cli/stop.h"

namespace npu::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;

namespace {

constexpr CommandHelp kConformanceHelp = {
    "npu conformance DIR [options]",
    "Runs every conformance test below DIR (a folder with a desc.json) on the software reference and judges the\n"
    "results as the descriptors say: illegal graphs have to be refused, exact results have to be equal, and Arm's\n"
    "checker judges the rest. The exit status is 7 unless all of them pass. tests/conformance/run.sh makes the tests,\n"
    "below build/conformance; folders there that are not finished, *.partial, are left out.",
    "  npu conformance build/conformance\n"
    "  npu conformance build/conformance --operator CONV2D --jobs 4\n"
    "  npu conformance build/conformance --filter ERRORIF --json results.json --junit results.xml\n"};

struct ConformanceOptions {
  fs::path root;
  std::string filter, operator_name, junit, json;
  size_t jobs = 1;
  bool quiet = false;
};

std::string text_of(const po::variables_map& values, const char* option) {
  return values.count(option) > 0 ? values[option].as<std::string>() : "";
}

std::optional<ConformanceOptions> parse_options(const Arguments& arguments) {
  po::options_description options, hidden;
  po::positional_options_description positional;
  const auto text = [] { return po::value<std::string>(); };
  options.add_options()                                                                         //
      ("on", text()->value_name("WHAT"), "what runs the tests: reference (default)")            //
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
  result.root = required(*values, "dir", "the tests' DIR");
  result.filter = text_of(*values, "filter");
  result.operator_name = text_of(*values, "operator");
  result.junit = text_of(*values, "junit");
  result.json = text_of(*values, "json");
  result.quiet = values->count("quiet") > 0;
  if (const std::string on = text_of(*values, "on"); !on.empty() && on != "reference") {
    throw Error(ErrorCode::kBadOption, fmt::format("--on knows only 'reference', not {}", in_quotes(on)));
  }
  result.jobs = parse_jobs(text_of(*values, "jobs"));
  return result;
}

// The folders below `root` that hold a desc.json, sorted. What the generator has not finished does not count.
std::vector<fs::path> find_tests(const fs::path& root) {
  std::vector<fs::path> folders;
  try {
    if (!fs::is_directory(root)) {
      throw Error(ErrorCode::kCannotRead, fmt::format("cannot read {}: it is not a folder", in_quotes(root.string())));
    }
    for (fs::recursive_directory_iterator entry(root), end; entry != end; ++entry) {
      check_stopped();
      if (entry->path().extension() == ".partial") entry.disable_recursion_pending();
      if (entry->path().filename() == "desc.json") folders.push_back(entry->path().parent_path());
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::kCannotRead,
                fmt::format("cannot read {}: {}", in_quotes(error.path1().string()), error.code().message()));
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The tests that are asked for, with their descriptors. One whose descriptor is wrong stays, as broken: it could be
// any.
std::vector<ConformanceResult> select(const ConformanceOptions& options) {
  const NameFilter filter("--filter", options.filter);
  const std::vector<fs::path> folders = find_tests(options.root);
  if (folders.empty()) {
    throw Error(ErrorCode::kBadOption, fmt::format("there is no desc.json below {}", in_quotes(options.root.string())));
  }
  std::vector<ConformanceResult> results;
  for (const fs::path& folder : folders) {
    check_stopped();
    ConformanceResult result;
    result.name = folder.lexically_relative(options.root).generic_string();
    if (!filter.matches(result.name)) continue;
    try {
      result.test = read_conformance_test(folder);
      if (!options.operator_name.empty() && lower(result.test.operator_name) != lower(options.operator_name)) continue;
    } catch (const Error& error) {
      result.verdict = {Outcome::kBroken, error.what()};
    }
    results.push_back(std::move(result));
  }
  if (results.empty()) {
    throw Error(ErrorCode::kBadOption, fmt::format("none of {} tests matches", folders.size()));
  }
  return results;
}

void run_all(std::vector<ConformanceResult>& results, const ConformanceOptions& options) {
  OfficialChecker checker;
  Progress progress(static_cast<int64_t>(results.size()), "test", options.quiet);
  run_parallel(results.size(), options.jobs, progress, [&](size_t i, size_t) {
    if (results[i].verdict.outcome == Outcome::kBroken) return;
    const auto start = std::chrono::steady_clock::now();
    results[i].verdict = judge(results[i].test, checker);
    results[i].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
}

// A report replaces no part of a test.
void check_beside_tests(const std::string& file) {
  std::error_code ignored;
  if (file.empty() || file == kStandardOutput ||
      !fs::exists(graph::place_of(file).parent_path() / "desc.json", ignored))
    return;
  throw Error(ErrorCode::kBadOption,
              fmt::format("{} would lie in the folder of a test; choose another folder", in_quotes(file)));
}

int run_and_report(const ConformanceOptions& options) {
  check_report_files({{"--json", options.json}, {"--junit", options.junit}});
  for (const std::string& file : {options.json, options.junit}) check_beside_tests(file);
  std::vector<ConformanceResult> results = select(options);
  run_all(results, options);
  StagedFiles files;
  if (!options.junit.empty()) files.write(options.junit, conformance_junit(results));
  if (!options.json.empty()) files.write(options.json, conformance_json(results));
  files.commit();
  say("{}", conformance_table(results));
  return all_passed(results) ? 0 : contract::exit_status(ErrorCode::kElementsDiffer);
}

}  // namespace

int run_conformance(const Arguments& arguments) {
  const std::optional<ConformanceOptions> options = parse_options(arguments);
  if (!options) return 0;
  return stoppable([&] { return run_and_report(*options); });
}

}  // namespace npu::cli
