// SPDX-License-Identifier: Apache-2.0
#include "sim/conformance/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/tool/name_filter.h"
#include "sim/tool/parallel.h"
#include "sim/tool/progress.h"
#include "sim/tool/stop.h"

namespace npu::conformance {
namespace {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;

// The folders below `root` that hold a desc.json, sorted. What the generator has not finished does not count.
std::vector<fs::path> find_tests(const fs::path& root) {
  std::vector<fs::path> folders;
  try {
    if (!fs::is_directory(root)) {
      throw Error(ErrorCode::kCannotRead, fmt::format("cannot read {}: it is not a folder", in_quotes(root.string())));
    }
    for (fs::recursive_directory_iterator entry(root), end; entry != end; ++entry) {
      tool::check_stopped();
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

}  // namespace

std::vector<Result> select_tests(const Selection& selection) {
  const tool::NameFilter filter("--filter", selection.filter);
  const std::vector<fs::path> folders = find_tests(selection.root);
  if (folders.empty()) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("there is no desc.json below {}", in_quotes(selection.root.string())));
  }
  std::vector<Result> results;
  for (const fs::path& folder : folders) {
    tool::check_stopped();
    Result result;
    result.name = folder.lexically_relative(selection.root).generic_string();
    if (!filter.matches(result.name)) continue;
    try {
      result.test = read_test(folder);
      if (!selection.operator_name.empty() && lower(result.test.operator_name) != lower(selection.operator_name))
        continue;
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

void judge_all(std::vector<Result>& results, const Run& run, size_t jobs, bool quiet) {
  OfficialChecker checker;
  tool::Progress progress(static_cast<int64_t>(results.size()), "test", quiet);
  tool::run_parallel(results.size(), jobs, progress, [&](size_t i, size_t) {
    if (results[i].verdict.outcome == Outcome::kBroken) return;
    const auto start = std::chrono::steady_clock::now();
    results[i].verdict = judge(results[i].test, run, checker);
    results[i].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
}

}  // namespace npu::conformance
