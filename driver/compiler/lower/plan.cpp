// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/plan.h"

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

Plan make_plan(const Facts& facts, const contract::Capabilities& machine) {
  const Dependencies dependencies(facts);
  Plan plan;
  std::vector<size_t> group_of;
  std::vector<Group> groups = fuse(facts, dependencies, machine, group_of);
  plan.direct_reads = dependencies.direct_reads();
  for (size_t index : execution_order(groups, group_of, dependencies)) {
    plan.groups.push_back(std::move(groups[index]));
  }
  plan.group_of.assign(group_of.size(), Plan::kNone);
  for (size_t i = 0; i < plan.groups.size(); ++i) {
    for (size_t op : plan.groups[i].ops) plan.group_of[op] = i;
  }
  return plan;
}

}  // namespace npu::compiler
