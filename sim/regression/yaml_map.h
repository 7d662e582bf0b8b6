// SPDX-License-Identifier: Apache-2.0
// A YAML file whose mappings have known keys, read with errors that name file, line and key.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace npu::regression {

// A value of the file with its place. Everything throws Error(bad_input) for what is not as asked.
class YamlValue {
 public:
  YamlValue(std::string file, std::string key, YAML::Node node)
      : file_(std::move(file)), key_(std::move(key)), node_(std::move(node)) {}

  // The only document of a file of at most `most_bytes`. Throws Error(cannot_read), too.
  [[nodiscard]] static YamlValue read(const std::filesystem::path& file, size_t most_bytes);

  [[nodiscard]] bool is_map() const { return node_.IsMap(); }
  // For a mapping: refuses keys that are none of these, and those that stand twice, which yaml-cpp takes.
  void check_keys(std::initializer_list<std::string_view> known) const;
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] YamlValue at(std::string_view key) const;

  [[nodiscard]] std::vector<YamlValue> items() const;  // of a list with one entry or more
  [[nodiscard]] std::string text() const;
  [[nodiscard]] uint64_t number(uint64_t least, uint64_t most) const;
  [[nodiscard]] bool truth() const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  [[nodiscard]] std::string name() const;

  std::string file_, key_;
  YAML::Node node_;
};

}  // namespace npu::regression
