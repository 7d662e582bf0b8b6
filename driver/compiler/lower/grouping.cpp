// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/grouping.h"

#include <queue>

#include "driver/compiler/lower/fusion.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

// Groups so that each comes after those that it depends on, else in the order of their first operators.
std::vector<size_t> execution_order(const std::vector<Group>& groups, const std::vector<size_t>& group_of,
                                    const Dependencies& dependencies) {
  std::vector<size_t> waiting(groups.size());
  std::vector<std::vector<size_t>> after(groups.size());
  for (size_t op : dependencies.nodes()) {
    for (size_t next : dependencies.after(op)) {
      if (group_of[op] == group_of[next]) continue;
      after[group_of[op]].push_back(group_of[next]);
      ++waiting[group_of[next]];
    }
  }
  using Entry = std::pair<size_t, size_t>;  // first operator, group
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (waiting[i] == 0) ready.emplace(groups[i].ops.front(), i);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t group = ready.top().second;
    ready.pop();
    order.push_back(group);
    for (size_t next : after[group]) {
      if (--waiting[next] == 0) ready.emplace(groups[next].ops.front(), next);
    }
  }
  NPU_CHECK(order.size() == groups.size());
  return order;
}

}  // namespace

Grouping make_grouping(const Facts& facts, const contract::Capabilities& machine) {
  const Dependencies dependencies(facts);
  Grouping grouping;
  std::vector<size_t> group_of;
  std::vector<Group> groups = fuse(facts, dependencies, machine, group_of);
  grouping.direct_reads = dependencies.direct_reads();
  for (size_t index : execution_order(groups, group_of, dependencies)) {
    grouping.groups.push_back(std::move(groups[index]));
  }
  grouping.group_of.assign(group_of.size(), Grouping::kNone);
  for (size_t i = 0; i < grouping.groups.size(); ++i) {
    for (size_t op : grouping.groups[i].ops) grouping.group_of[op] = i;
  }
  return grouping;
}

}  // namespace npu::compiler
