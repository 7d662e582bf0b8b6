// SPDX-License-Identifier: Apache-2.0
#include "sim/regression/yaml_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "hw/presets/yaml_document.h"

namespace npu::regression {

using contract::ErrorCode;
using graph::in_quotes;

namespace {

std::string at_line(const std::string& file, int line, const std::string& what) {
  return fmt::format("{}: line {}: {}", file, line + 1, what);
}

}  // namespace

YamlValue YamlValue::read(const std::filesystem::path& file, size_t most_bytes) {
  const std::vector<uint8_t> bytes = graph::read_file(file, most_bytes);
  try {
    const std::optional<YAML::Node> document = presets::only_document(std::string(bytes.begin(), bytes.end()));
    if (!document || !document->IsMap()) {
      throw Error(ErrorCode::kBadInput, fmt::format("{}: must be one YAML mapping", file.string()));
    }
    return {file.string(), "", *document};
  } catch (const YAML::Exception& error) {
    throw Error(ErrorCode::kBadInput,
                at_line(file.string(), std::max(error.mark.line, 0), "is not valid YAML: " + error.msg));
  }
}

void YamlValue::fail(const std::string& what) const {
  throw Error(ErrorCode::kBadInput, at_line(file_, std::max(node_.Mark().line, 0), what));
}

std::string YamlValue::name() const { return key_.empty() ? "the file" : in_quotes(key_); }

void YamlValue::check_keys(std::initializer_list<std::string_view> known) const {
  if (!node_.IsMap()) fail(fmt::format("{} must be a mapping with the keys {}", name(), fmt::join(known, ", ")));
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const YamlValue key(file_, "", entry.first);
    if (!entry.first.IsScalar()) key.fail("a key must be a name");
    const std::string& text = entry.first.Scalar();
    if (std::find(known.begin(), known.end(), text) == known.end()) {
      key.fail(fmt::format("the key {} is unknown here; there are {}", in_quotes(text), fmt::join(known, ", ")));
    }
    if (!seen.insert(text).second) key.fail(fmt::format("the key {} stands there twice", in_quotes(text)));
  }
}

bool YamlValue::has(std::string_view key) const {
  return std::any_of(node_.begin(), node_.end(), [&](const auto& entry) { return entry.first.Scalar() == key; });
}

YamlValue YamlValue::at(std::string_view key) const {
  for (const auto& entry : node_) {
    if (entry.first.Scalar() == key) return {file_, std::string(key), entry.second};
  }
  fail(fmt::format("the key {} is missing", in_quotes(key)));
}

std::vector<YamlValue> YamlValue::items() const {
  if (!node_.IsSequence() || node_.size() == 0) fail(name() + " must be a list with one entry or more");
  std::vector<YamlValue> values;
  for (const auto& item : node_) values.emplace_back(file_, key_, item);
  return values;
}

std::string YamlValue::text() const {
  if (!node_.IsScalar() || node_.Scalar().empty()) fail(name() + " must be a text");
  return node_.Scalar();
}

uint64_t YamlValue::number(uint64_t least, uint64_t most) const {
  const std::string text = node_.IsScalar() ? node_.Scalar() : "";
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    fail(fmt::format("{} must be a whole number from {} to {}{}", name(), least, most,
                     text.empty() ? "" : ", not " + in_quotes(text)));
  }
  return value;
}

bool YamlValue::truth() const {
  const std::string text = node_.IsScalar() ? node_.Scalar() : "";
  if (text != "true" && text != "false") fail(name() + " must be true or false");
  return text == "true";
}

}  // namespace npu::regression
