// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/state_plan.h"

#include <algorithm>
#include <numeric>

#include "driver/compiler/dram_needs.h"
#include "driver/compiler/schedule/step_views.h"
#include "driver/compiler/schedule/view.h"

namespace npu::compiler::backend {
namespace {

struct Item {
  uint64_t bytes = 0;    // of memory, alignment included
  uint64_t traffic = 0;  // bytes that steps read and write in one invocation
  bool written = false;
  bool kept = false;  // in SRAM
};

std::vector<Item> items_of(const Module& module, const contract::Capabilities& capabilities,
                           const ScheduleOptions& options) {
  const uint32_t port = capabilities.psram_port_bytes;
  std::vector<Item> items(module.variables.size());
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].bytes = static_cast<uint64_t>(round_up(module.variables[i].bytes, port));
    items[i].written = options.written_by_others.contains(module.variables[i].identity);
  }
  for (const Step& step : module.steps) {
    for (const auto& v : views_of(step)) {
      const Buffer& buffer = module.buffers[v.view->buffer];
      if (buffer.kind != BufferKind::kVariable) continue;
      Item& item = items[buffer.index];
      item.traffic += static_cast<uint64_t>(moved_bytes(step, v));
      item.written |= v.result;
    }
  }
  for (Item& item : items) {
    if (options.two_places && item.written) item.bytes *= 2;
  }
  return items;
}

// Keeps the densest in traffic as long as there is room. Returns the room that is left.
uint64_t keep_densest(std::vector<Item>& items, uint64_t room) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto density = [&](size_t i) {
    return static_cast<double>(items[i].traffic) / static_cast<double>(items[i].bytes);
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return density(a) > density(b); });
  for (size_t i : order) {
    items[i].kept = items[i].bytes <= room;
    if (items[i].kept) room -= items[i].bytes;
  }
  return room;
}

// Exchanges one kept item for one that is not while that saves traffic.
void exchange(std::vector<Item>& items, uint64_t room) {
  for (bool better = true; better;) {
    better = false;
    for (Item& out : items) {
      for (Item& in : items) {
        if (!out.kept || in.kept || in.bytes > room + out.bytes || in.traffic <= out.traffic) continue;
        room += out.bytes - in.bytes;
        out.kept = false;
        in.kept = better = true;
      }
    }
    for (Item& item : items) {
      if (item.kept || item.bytes > room) continue;
      room -= item.bytes;
      item.kept = better = true;
    }
  }
}

}  // namespace

void plan_state(Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  if (module.variables.empty()) return;
  const std::vector<Item> all = items_of(module, capabilities, options);
  std::vector<Item> open;  // to be placed
  std::vector<Variable*> whose;
  for (size_t i = 0; i < all.size(); ++i) {
    Variable& variable = module.variables[i];
    variable.written = options.written_by_others.contains(variable.identity);
    if (const auto placed = options.placed_in_dram.find(variable.identity); placed != options.placed_in_dram.end()) {
      variable.in_dram = placed->second;
      continue;
    }
    open.push_back(all[i]);
    whose.push_back(&variable);
  }
  const uint64_t budget =
      options.state_in_dram ? 0 : std::min(options.persistent_bytes, persistent_capacity(capabilities));
  exchange(open, keep_densest(open, budget));
  for (size_t i = 0; i < open.size(); ++i) whose[i]->in_dram = !open[i].kept;
}

}  // namespace npu::compiler::backend
