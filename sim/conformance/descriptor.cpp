// SPDX-License-Identifier: Apache-2.0
#include "sim/conformance/descriptor.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::conformance {
namespace {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;
using nlohmann::json;

constexpr uintmax_t kMaxBytes = uintmax_t{4} << 20;
constexpr int kMaxDepth = 32;
// The suite's own tests have at most a dozen.
constexpr size_t kMaxFiles = 1024;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::kBadInput, "desc.json: " + what); }

json parse_bounded(const std::vector<uint8_t>& bytes) {
  const auto shallow = [](int depth, json::parse_event_t, json&) {
    if (depth > kMaxDepth) refuse(fmt::format("nested deeper than {} levels", kMaxDepth));
    return true;
  };
  try {
    return json::parse(bytes.begin(), bytes.end(), shallow);
  } catch (const json::exception&) {
    refuse("is not JSON");
  }
}

// A member that has to be there; `type_name` completes "... is not".
const json& member(const json& object, const char* key, json::value_t type, std::string_view type_name) {
  const auto found = object.find(key);
  if (found == object.end()) refuse(fmt::format("'{}' is missing", key));
  if (found->type() != type) refuse(fmt::format("'{}' is not {}", key, type_name));
  return *found;
}

// Null when it is missing.
const json* optional_member(const json& object, const char* key, json::value_t type, std::string_view type_name) {
  return object.contains(key) ? &member(object, key, type, type_name) : nullptr;
}

std::vector<std::string> strings(const json& object, const char* key) {
  std::vector<std::string> result;
  for (const json& item : member(object, key, json::value_t::array, "a list")) {
    if (!item.is_string()) refuse(fmt::format("'{}' has an entry that is not a text", key));
    if (result.size() == kMaxFiles) refuse(fmt::format("'{}' has more than {} entries", key, kMaxFiles));
    result.push_back(item.get<std::string>());
  }
  return result;
}

fs::path file_in(const fs::path& folder, const std::string& name) {
  const bool plain = !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
                     name.find('\0') == std::string::npos;
  // The official checker takes lists of files, split at commas.
  if (!plain || name.find(',') != std::string::npos) {
    refuse(in_quotes(name) + " is not the name of a file in the test's folder");
  }
  const fs::path file = folder / name;
  std::error_code ignored;
  if (fs::is_symlink(file, ignored)) refuse(in_quotes(name) + " is a link; it may lead out of the test's folder");
  return file;
}

// Names beside files, as "ifm_name" and "ifm_file" have them.
std::vector<TestInput> named_files(const json& object, const char* names_key, const char* files_key,
                                   const fs::path& folder) {
  const std::vector<std::string> names = strings(object, names_key), files = strings(object, files_key);
  if (names.size() != files.size()) {
    refuse(fmt::format("'{}' has {} entries and '{}' {}", names_key, names.size(), files_key, files.size()));
  }
  std::vector<TestInput> result;
  std::set<std::string> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!seen.insert(names[i]).second) refuse(fmt::format("'{}' lists {} twice", names_key, in_quotes(names[i])));
    result.push_back({names[i], file_in(folder, files[i])});
  }
  return result;
}

// The compliance section's entries by tensor; null without that section.
const json* compliance_tensors(const json& object) {
  const json* meta = optional_member(object, "meta", json::value_t::object, "an object");
  const json* compliance =
      meta != nullptr ? optional_member(*meta, "compliance", json::value_t::object, "an object") : nullptr;
  return compliance != nullptr ? &member(*compliance, "tensors", json::value_t::object, "an object") : nullptr;
}

std::string mode_of(const json* tensors, const std::string& output) {
  if (tensors == nullptr) return "";
  const auto found = tensors->find(output);
  if (found == tensors->end() || !found->is_object()) {
    refuse(fmt::format("the compliance section does not describe output {}", in_quotes(output)));
  }
  if (found->contains("scale_tensor_name")) refuse("block-scaled outputs are not of TOSA 1.0");
  return member(*found, "mode", json::value_t::string, "a text").get<std::string>();
}

}  // namespace

ConformanceTest read_test(const fs::path& folder) {
  const json object = parse_bounded(graph::read_file(folder / "desc.json", kMaxBytes));
  if (!object.is_object()) refuse("is not an object");
  ConformanceTest test;
  test.folder = folder;
  test.network = file_in(folder, member(object, "tosa_file", json::value_t::string, "a text").get<std::string>());
  test.inputs = named_files(object, "ifm_name", "ifm_file", folder);
  if (const json* expected = optional_member(object, "expected_failure", json::value_t::boolean, "true or false")) {
    test.expected_failure = expected->get<bool>();
  }
  bool needs_bounds = false;
  if (const json* asks = optional_member(object, "test_requirements", json::value_t::object, "an object")) {
    test.requirements = strings(*asks, "profiles_supported");
    if (asks->contains("extensions_required")) {
      for (std::string& name : strings(*asks, "extensions_required")) test.requirements.push_back(std::move(name));
    }
    const json* bounds = optional_member(*asks, "bounds_file_required", json::value_t::boolean, "true or false");
    needs_bounds = bounds != nullptr && bounds->get<bool>();
  }
  if (const json* details = optional_member(object, "test_details", json::value_t::object, "an object")) {
    if (const json* name = optional_member(*details, "operator", json::value_t::string, "a text")) {
      test.operator_name = name->get<std::string>();
    }
  }
  const json* tensors = compliance_tensors(object);
  for (const auto& [name, file] : named_files(object, "ofm_name", "ofm_file", folder)) {
    const std::string bounds = "bounds_" + file.filename().string();
    test.outputs.push_back({name, file, needs_bounds ? file_in(folder, bounds) : fs::path(),
                            test.expected_failure ? "" : mode_of(tensors, name)});
  }
  if (test.outputs.empty() && !test.expected_failure) refuse("a test without outputs shows nothing");
  return test;
}

}  // namespace npu::conformance
