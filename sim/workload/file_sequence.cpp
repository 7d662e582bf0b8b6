// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/file_sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/tool/staged_files.h"
#include "sim/workload/input_argument.h"

namespace npu::workload {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;

namespace {

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// The digits at the end of a name, without zeros in front, so that longer ones are larger whatever their length.
std::string number_of(const fs::path& file) {
  const std::string stem = file.stem().string();
  const size_t before = stem.find_last_not_of("0123456789");
  std::string digits = stem.substr(before == std::string::npos ? 0 : before + 1);
  if (digits.empty()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} has no number at its end, which says what invocation of the sequence it is: name the "
                            "files of a folder 0.npy, 1.npy and so on",
                            in_quotes(file.string())));
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return digits;
}

// By number: of a length, digits are in order of their numbers.
using NumberedFiles = std::map<std::pair<size_t, std::string>, fs::path>;

NumberedFiles files_in(const fs::path& folder) {
  NumberedFiles by_number;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const fs::path& file = at->path();
    if (file.extension() != ".npy" || file.filename().string().starts_with('.')) continue;
    const std::string number = number_of(file);
    const auto [other, added] = by_number.emplace(std::pair{number.size(), number}, file);
    if (added) continue;
    const auto [first, second] = std::minmax(other->second, file);
    throw Error(ErrorCode::kBadInput, fmt::format("{} and {} are both number {} of the sequence: rename one of them",
                                                  in_quotes(first.string()), in_quotes(second.string()), number));
  }
  if (failed) {
    throw Error(ErrorCode::kCannotRead,
                fmt::format("cannot read the folder {}: {}", in_quotes(folder.string()), failed.message()));
  }
  if (by_number.empty()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("the folder {} has no .npy files: a file for each invocation, 0.npy, 1.npy and so on, is "
                            "what a sequence needs",
                            in_quotes(folder.string())));
  }
  return by_number;
}

// Files of one number belong to one invocation, so where one is lost the others would be taken for the wrong frames.
void check_same_numbers(const fs::path& one, const NumberedFiles& first, const fs::path& other,
                        const NumberedFiles& second) {
  for (const auto& [number, file] : first) {
    if (second.contains(number)) continue;
    throw Error(ErrorCode::kBadInput,
                fmt::format("the folder {} has number {} of the sequence ({}), but {} has not: add it there, or take "
                            "it out here",
                            in_quotes(one.string()), number.second, in_quotes(file.filename().string()),
                            in_quotes(other.string())));
  }
}

}  // namespace

bool FileSequence::is_meant(const std::vector<GraphPort>& ports, const std::vector<std::string>& arguments) {
  std::set<size_t> seen;
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    const NamedFile named = split(ports, argument);
    return !seen.insert(named.port).second || is_folder(named.file);
  });
}

FileSequence::FileSequence(const std::vector<GraphPort>& ports, const std::vector<std::string>& arguments,
                           const InvocationRange& range)
    : files_(ports.size()), skip_(range.skip) {
  std::optional<std::pair<fs::path, NumberedFiles>> folder;
  for (const std::string& argument : arguments) {
    const NamedFile named = split(ports, argument);
    std::vector<fs::path>& files = files_[named.port];
    if (!is_folder(named.file)) {
      files.emplace_back(named.file);
      continue;
    }
    NumberedFiles more = files_in(named.file);
    if (folder) {
      check_same_numbers(folder->first, folder->second, named.file, more);
      check_same_numbers(named.file, more, folder->first, folder->second);
    }
    for (const auto& [number, file] : more) files.push_back(file);
    if (!folder) folder.emplace(named.file, std::move(more));
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    if (files_[i].empty()) throw_missing(ports[i]);
    names_.push_back(ports[i].name);
    if (files_[i].size() == files_[0].size()) continue;
    throw Error(ErrorCode::kBadInput, fmt::format("{} has {} file{}, but {} has {}: where one has a file for each "
                                                  "invocation, all need as many",
                                                  label(ports[i]), files_[i].size(), files_[i].size() == 1 ? "" : "s",
                                                  label(ports[0]), files_[0].size()));
  }
  invocations_ = invocations_in(static_cast<int64_t>(files_.at(0).size()), range);
}

void FileSequence::add_to(tool::FilePlaces& places) const {
  for (size_t port = 0; port < files_.size(); ++port) {
    for (const fs::path& file : files_[port]) places.read("an input", file);
  }
}

std::string FileSequence::files_of(int64_t invocation) const {
  std::string text;
  for (size_t port = 0; port < files_.size(); ++port) {
    text += (text.empty() ? "" : ", ") + in_quotes(file(port, invocation).string());
  }
  return text;
}

FileSequence::Frame FileSequence::read(int64_t invocation) const {
  Frame frame;
  for (size_t port = 0; port < files_.size(); ++port) {
    frame.arrays.push_back(graph::read_npy(file(port, invocation)));
    frame.shapes.emplace(names_[port], frame.arrays.back().shape);
  }
  return frame;
}

std::vector<graph::Value> FileSequence::values(const Frame& frame, const std::vector<GraphPort>& ports) {
  std::vector<graph::Value> values;
  for (size_t i = 0; i < ports.size(); ++i) {
    const GraphPort& port = ports[i];
    values.push_back(graph::to_value(frame.arrays.at(i), port.type, &port.shape, port.is_unsigned, label(port)));
  }
  return values;
}

FileOutputs::FileOutputs(const std::vector<GraphPort>& ports, fs::path folder, int64_t first)
    : folder_(std::move(folder)), first_(first), next_(first) {
  for (const GraphPort& port : ports) names_.push_back(port.name);
}

fs::path FileOutputs::file(const std::string& output, int64_t invocation) const {
  return folder_ / file_name_for(output) / fmt::format("{}.npy", invocation);
}

void FileOutputs::add_to(tool::FilePlaces& places, int64_t invocations) const {
  if (folder_.empty()) return;
  for (const std::string& name : std::set<std::string>(names_.begin(), names_.end())) {
    for (int64_t i = 0; i < invocations; ++i) places.write("output " + in_quotes(name), file(name, first_ + i));
  }
}

void FileOutputs::add(const std::vector<graph::Value>& values) {
  NPU_CHECK(values.size() == names_.size());
  const int64_t invocation = next_++;
  if (folder_.empty()) return;
  tool::StagedFiles files;
  std::set<std::string> written;  // an output that is listed twice is the same tensor
  for (size_t i = 0; i < values.size(); ++i) {
    if (!written.insert(names_[i]).second) continue;
    const fs::path place = file(names_[i], invocation);
    files.make_folder(place.parent_path());
    files.write(place, graph::serialize_npy(graph::to_npy(values[i])));
  }
  files.commit();
}

std::string FileOutputs::files_of(const std::string& output) const {
  if (folder_.empty() || next_ == first_) return "";
  const std::string first = file(output, first_).string();
  return next_ == first_ + 1 ? first : fmt::format("{} to {}.npy", first, next_ - 1);
}

}  // namespace npu::workload
