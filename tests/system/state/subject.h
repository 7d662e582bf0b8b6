// SPDX-License-Identifier: Apache-2.0
// What keeps state: the device through its driver, or the reference. Contexts and programs go by small numbers that the
// test chooses. Every call throws npu::Error as what is behind it does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/system/state/rules.h"

namespace npu::test {

// What is said of a variable.
struct Listed {
  std::string identity;
  Form form;
  bool is_written = false, torn = false;
  bool double_buffered = false;  // a stopped write leaves the old value
  bool in_dram = false;
};

class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  // Has contexts whose variables start as zeros that count as written.
  [[nodiscard]] virtual bool has_zero_init() const = 0;
  // Served at a time.
  [[nodiscard]] virtual size_t most_contexts() const = 0;
  // With the options that the rules have.
  virtual void create(int context, const Rules& rules) = 0;
  virtual void destroy(int context) = 0;
  // Replaces the program of that number in the context by recipe number `recipe`.
  virtual void load(int context, int program, size_t recipe) = 0;
  virtual void unload(int context, int program) = 0;
  virtual std::vector<graph::Value> run(int context, int program, const std::vector<graph::Value>& inputs) = 0;

  virtual std::vector<Listed> list(int context) = 0;
  virtual graph::Value read(int context, const std::string& identity) = 0;
  virtual void write(int context, const std::string& identity, const graph::Value& value) = 0;
  virtual void clear(int context) = 0;
  virtual void clear(int context, const std::string& identity) = 0;
};

[[nodiscard]] std::unique_ptr<Subject> make_reference(const std::vector<Recipe>& recipes);

}  // namespace npu::test
