// SPDX-License-Identifier: Apache-2.0
// Which operators run together and in which order.
#pragma once

#include <cstddef>
#include <vector>

#include "driver/compiler/lower/facts.h"
#include "driver/compiler/lower/families.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

struct Grouping {
  std::vector<Group> groups;       // in execution order; every operator that makes steps is in one
  std::vector<size_t> group_of;    // by operator; kNone for views and what needs no step
  std::vector<bool> direct_reads;  // by operator: a VARIABLE_READ whose users look at the variable itself
  static constexpr size_t kNone = static_cast<size_t>(-1);
};

// What must run before what: operators that make steps, with edges for data and for the order of variable accesses.
class Dependencies {
 public:
  explicit Dependencies(const Facts& facts);

  // Operators that make steps, in operator order.
  [[nodiscard]] const std::vector<size_t>& nodes() const { return nodes_; }
  [[nodiscard]] bool is_node(size_t op) const { return is_node_[op]; }
  [[nodiscard]] const std::vector<size_t>& before(size_t op) const { return before_[op]; }
  [[nodiscard]] const std::vector<size_t>& after(size_t op) const { return after_[op]; }
  [[nodiscard]] const std::vector<bool>& direct_reads() const { return direct_reads_; }

 private:
  void find_direct_reads();
  void add_data_edges();
  void add_variable_edges();
  void add_edge(size_t first, size_t second);
  [[nodiscard]] std::vector<size_t> readers(graph::TensorId id) const;

  const Facts& facts_;
  std::vector<size_t> nodes_;
  std::vector<bool> is_node_, direct_reads_;
  std::vector<std::vector<size_t>> before_, after_;
};

[[nodiscard]] Grouping make_grouping(const Facts& facts, const contract::Capabilities& machine);

}  // namespace npu::compiler
