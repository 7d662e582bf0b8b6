#include "driver/compiler/schedule/layout.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>

#include "driver/compiler/schedule/cost.h"
#include "driver/compiler/schedule/memory_map.h"
#include "hw/contract/error.h"

namespace npu::compiler::backend {
namespace {

constexpr int64_t kBufferAlignment = 64;
constexpr int64_t kEdgeSteps = 2;  // at the beginning and the end, where nothing hides a transfer
constexpr double kHiddenPart = 0.1;
constexpr int kPasses = 4;
constexpr double kWorthwhile = 0.995;
constexpr int64_t kStepsAhead = 8;  // how many steps before its own a constant may be loaded

class LayoutMaker {
 public:
  LayoutMaker(const Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options)
      : module_(module), capabilities_(capabilities), options_(options), size_(capabilities.spm_bytes) {}

  Layout run() {
    for (const Step& step : module_.steps) layout_.steps.push_back(make_tiled(step, capabilities_));
    measure_lifetimes();
    choose_homes();
    while (!place()) {
    }
    place_dram();
    return std::move(layout_);
  }

 private:
  void measure_lifetimes() {
    layout_.lifetimes.resize(module_.buffers.size());
    for (size_t s = 0; s < layout_.steps.size(); ++s) {
      if (!layout_.steps[s]) continue;
      for (const Operand& o : layout_.steps[s]->operands()) {
        if (o.view == nullptr) continue;
        Lifetime& life = layout_.lifetimes[o.view->buffer];
        life.first = std::min(life.first, static_cast<int64_t>(s));
        life.last = static_cast<int64_t>(s);
        if (o.result) life.last_write = static_cast<int64_t>(s);
        life.traffic += packed_bytes(*o.view, whole(*o.view), true);
      }
    }
  }

  [[nodiscard]] bool resident(BufferId buffer) const { return layout_.homes[buffer] == Home::kScratchpad; }
  [[nodiscard]] int64_t footprint(BufferId buffer) const {
    return round_up(static_cast<int64_t>(module_.buffers[buffer].bytes), kBufferAlignment);
  }

  // Least bytes of tile buffers that step `s` needs with the homes of now.
  const Plan& least(size_t s) {
    const std::vector<Home> homes = operand_homes(*layout_.steps[s], layout_.homes);
    const auto key = std::make_pair(s, homes);
    const auto found = least_.find(key);
    if (found != least_.end()) return found->second;
    return least_.emplace(key, plan_step(*layout_.steps[s], homes, 0, capabilities_, options_)).first->second;
  }

  void choose_homes() {
    layout_.homes.assign(module_.buffers.size(), Home::kDram);
    live_.assign(layout_.steps.size(), 0);
    for (BufferId b = 0; b < module_.buffers.size(); ++b) {
      const Buffer& buffer = module_.buffers[b];
      if (buffer.kind == BufferKind::kConstant) {
        layout_.homes[b] = Home::kConstant;
      } else if (buffer.kind == BufferKind::kVariable) {
        layout_.homes[b] = Home::kPersistent;
      } else if (layout_.lifetimes[b].last >= 0) {
        layout_.homes[b] = Home::kScratchpad;
        count_live(b, footprint(b));
      }
    }
    for (;;) {
      int64_t worst = -1, excess = 0;
      for (size_t s = 0; s < layout_.steps.size(); ++s) {
        if (!layout_.steps[s]) continue;
        const int64_t over = live_[s] + least(s).least_bytes - size_;
        if (over > excess) {
          excess = over;
          worst = static_cast<int64_t>(s);
        }
      }
      if (worst < 0) break;
      demote_one(static_cast<size_t>(worst));
    }
    improve_homes();
  }

  // Estimate for step `s` with the homes of now; nullopt when it does not fit.
  std::optional<double> step_cycles(size_t s) {
    if (!layout_.steps[s]) return 0;
    const int64_t available = size_ - live_[s];
    if (available < 0) return std::nullopt;
    std::vector<Home> homes = operand_homes(*layout_.steps[s], layout_.homes);
    const auto key = std::make_tuple(s, std::move(homes), available);
    auto found = cycles_.find(key);
    if (found == cycles_.end()) {
      const Plan plan = plan_step(*layout_.steps[s], std::get<1>(key), available, capabilities_, options_);
      found = cycles_.emplace(key, plan.fits ? std::optional(plan.cycles) : std::nullopt).first;
    }
    return found->second;
  }

  // Estimate for what a buffer's home changes: the steps during its life, and the transfer of a resident port.
  std::optional<double> buffer_cycles(BufferId b) {
    const Lifetime& life = layout_.lifetimes[b];
    double cycles = 0;
    for (int64_t s = life.first; s <= life.last; ++s) {
      const std::optional<double> step = step_cycles(static_cast<size_t>(s));
      if (!step) return std::nullopt;
      cycles += *step;
    }
    const BufferKind kind = module_.buffers[b].kind;
    if (resident(b) && (kind == BufferKind::kInput || kind == BufferKind::kOutput)) {
      // Other work hides it, unless it is the first or the last there is.
      const auto steps = static_cast<int64_t>(layout_.steps.size());
      const bool exposed = kind == BufferKind::kInput ? life.first < kEdgeSteps : life.last_write >= steps - kEdgeSteps;
      cycles += transfer_latency(true) +
                (exposed ? 1.0 : kHiddenPart) * transfer_cycles(1, footprint(b), true, capabilities_);
    }
    return cycles;
  }

  // Moves single buffers between scratchpad and DRAM as long as the estimate gets better.
  void improve_homes() {
    std::vector<BufferId> order;
    for (BufferId b = 0; b < module_.buffers.size(); ++b) {
      const bool movable = layout_.homes[b] == Home::kScratchpad || layout_.homes[b] == Home::kDram;
      if (movable && layout_.lifetimes[b].last >= 0 && footprint(b) <= size_) order.push_back(b);
    }
    std::stable_sort(order.begin(), order.end(), [&](BufferId a, BufferId b) { return footprint(a) > footprint(b); });
    for (int pass = 0; pass < kPasses; ++pass) {
      bool moved = false;
      for (BufferId b : order) {
        const std::optional<double> before = buffer_cycles(b);
        toggle(b);
        const std::optional<double> after = buffer_cycles(b);
        if (after && (!before || *after < *before * kWorthwhile)) {
          moved = true;
        } else {
          toggle(b);
        }
      }
      if (!moved) return;
    }
  }

  void toggle(BufferId b) {
    const bool was = resident(b);
    layout_.homes[b] = was ? Home::kDram : Home::kScratchpad;
    count_live(b, was ? -footprint(b) : footprint(b));
  }

  void count_live(BufferId buffer, int64_t bytes) {
    const Lifetime& life = layout_.lifetimes[buffer];
    for (int64_t s = life.first; s <= life.last; ++s) live_[static_cast<size_t>(s)] += bytes;
  }

  // Moves the buffer to DRAM that frees most room for least traffic, of those that live in step `s`.
  void demote_one(size_t s) {
    const int64_t need = least(s).least_bytes;
    BufferId best = 0;
    double best_score = 0;
    for (BufferId b = 0; b < module_.buffers.size(); ++b) {
      const Lifetime& life = layout_.lifetimes[b];
      if (!resident(b) || life.first > static_cast<int64_t>(s) || life.last < static_cast<int64_t>(s)) continue;
      layout_.homes[b] = Home::kDram;
      const int64_t freed = footprint(b) - (least(s).least_bytes - need);
      layout_.homes[b] = Home::kScratchpad;
      if (freed <= 0) continue;
      const double score = static_cast<double>(footprint(b)) * static_cast<double>(life.last - life.first + 1) /
                           static_cast<double>(life.traffic + 1);
      if (score > best_score) {
        best_score = score;
        best = b;
      }
    }
    if (best_score == 0) fail(s, live_[s]);
    demote(best);
  }

  void demote(BufferId buffer) {
    layout_.homes[buffer] = Home::kDram;
    count_live(buffer, -footprint(buffer));
  }

  [[noreturn]] void fail(size_t s, int64_t live) {
    const Plan& plan = least(s);
    const std::string layer =
        module_.steps[s].layer < module_.layers.size() ? module_.layers[module_.steps[s].layer].name : "?";
    int64_t enough = 1;
    while (enough < live + plan.least_bytes) enough *= 2;
    throw Error(contract::ErrorCode::kScratchpadFull,
                "layer " + layer + " does not fit into the scratchpad: its smallest tile needs " +
                    std::to_string(plan.least_bytes) + " bytes (the largest part: " + plan.largest + "), " +
                    std::to_string(size_ - live) + " of " + std::to_string(size_) +
                    " are available; spm_bytes = " + std::to_string(enough) + " is enough");
  }

  // Gives every resident buffer and every tile buffer an address; false when homes had to change and it must start
  // again.
  bool place() {
    MemoryMap map(size_);
    layout_.scratchpad.assign(module_.buffers.size(), -1);
    std::vector<BufferId> order;
    for (BufferId b = 0; b < module_.buffers.size(); ++b) {
      if (resident(b)) order.push_back(b);
    }
    const auto area = [&](BufferId b) {
      return footprint(b) * (layout_.lifetimes[b].last - layout_.lifetimes[b].first + 1);
    };
    std::stable_sort(order.begin(), order.end(), [&](BufferId a, BufferId b) { return area(a) > area(b); });
    for (BufferId b : order) {
      const Lifetime& life = layout_.lifetimes[b];
      const auto address = map.find(footprint(b), life.first, life.last, kBufferAlignment);
      if (!address) {
        demote(b);
        return false;
      }
      layout_.scratchpad[b] = *address;
      map.take(*address, footprint(b), life.first, life.last);
    }
    layout_.plans.assign(layout_.steps.size(), {});
    layout_.slots.assign(layout_.steps.size(), {});
    for (size_t s = 0; s < layout_.steps.size(); ++s) {
      if (layout_.steps[s] && !place_step(s, map)) return false;
    }
    layout_.scratchpad_peak = map.peak();
    return true;
  }

  bool place_step(size_t s, MemoryMap& map) {
    const TiledStep& step = *layout_.steps[s];
    const std::vector<Home> homes = operand_homes(step, layout_.homes);
    for (int64_t available = size_ - live_[s]; available >= 0;) {
      Plan plan = plan_step(step, homes, available, capabilities_, options_);
      if (!plan.fits) break;
      const size_t mark = map.count();
      for (int64_t ahead : {kStepsAhead, int64_t{0}}) {
        if (ahead > 0 && !options_.prefetch) continue;
        if (place_slots(s, plan, ahead, map)) {
          layout_.plans[s] = std::move(plan);
          return true;
        }
        map.rewind(mark);
      }
      available = std::min(available, plan.bytes) - std::max<int64_t>(kSlotAlignment, available / 16);
    }
    // Free memory is in too small pieces: take the largest buffer out that lives now.
    BufferId largest = 0;
    int64_t bytes = 0;
    for (BufferId b = 0; b < module_.buffers.size(); ++b) {
      const Lifetime& life = layout_.lifetimes[b];
      if (!resident(b) || life.first > static_cast<int64_t>(s) || life.last < static_cast<int64_t>(s)) continue;
      if (footprint(b) > bytes) {
        bytes = footprint(b);
        largest = b;
      }
    }
    if (bytes == 0) fail(s, live_[s]);
    demote(largest);
    return false;
  }

  // Large slots first; those of constants start up to `ahead` steps early, as far as memory is free then.
  bool place_slots(size_t s, const Plan& plan, int64_t ahead, MemoryMap& map) {
    std::vector<size_t> order(plan.bundles.size());
    std::iota(order.begin(), order.end(), 0);
    const auto early = [&](size_t b) { return ahead > 0 && plan.bundles[b].kind == Bundle::Kind::kConstant; };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      if (early(a) != early(b)) return early(a);
      return plan.bundles[a].slot_bytes > plan.bundles[b].slot_bytes;
    });
    const int64_t now = static_cast<int64_t>(s);
    layout_.slots[s].assign(plan.bundles.size(), {-1, -1});
    for (size_t b : order) {
      const Bundle& bundle = plan.bundles[b];
      for (uint32_t slot = 0; slot < bundle.slots; ++slot) {
        int64_t first = std::max<int64_t>(0, now - (early(b) ? ahead : 0));
        std::optional<int64_t> address;
        while (!(address = map.find(bundle.slot_bytes, first, now, kSlotAlignment)) && first < now) {
          first += (now - first + 1) / 2;
        }
        if (!address) return false;
        layout_.slots[s][b][slot] = *address;
        map.take(*address, bundle.slot_bytes, first, now);
      }
    }
    return true;
  }

  void place_dram() {
    layout_.dram.assign(module_.buffers.size(), -1);
    MemoryMap workspace(std::numeric_limits<int64_t>::max() / 2);
    for (BufferId b = 0; b < module_.buffers.size(); ++b) {
      const Buffer& buffer = module_.buffers[b];
      const int64_t bytes = footprint(b);
      if (buffer.kind == BufferKind::kInput) {
        layout_.dram[b] = layout_.input_bytes;
        layout_.input_bytes += bytes;
      } else if (buffer.kind == BufferKind::kOutput) {
        layout_.dram[b] = layout_.output_bytes;
        layout_.output_bytes += bytes;
      } else if (layout_.homes[b] == Home::kDram && layout_.lifetimes[b].last >= 0) {
        const Lifetime& life = layout_.lifetimes[b];
        layout_.dram[b] = *workspace.find(bytes, life.first, life.last, kBufferAlignment);
        workspace.take(layout_.dram[b], bytes, life.first, life.last);
      }
    }
    layout_.workspace_bytes = workspace.peak();
  }

  const Module& module_;
  const contract::Capabilities& capabilities_;
  const ScheduleOptions& options_;
  const int64_t size_;
  Layout layout_;
  std::vector<int64_t> live_;  // bytes of resident buffers, one a step
  std::map<std::pair<size_t, std::vector<Home>>, Plan> least_;
  std::map<std::tuple<size_t, std::vector<Home>, int64_t>, std::optional<double>> cycles_;
};

}  // namespace

std::vector<Home> operand_homes(const TiledStep& step, const std::vector<Home>& homes) {
  std::vector<Home> out;
  for (const Operand& o : step.operands()) out.push_back(o.view == nullptr ? Home::kConstant : homes[o.view->buffer]);
  return out;
}

Layout make_layout(const Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  return LayoutMaker(module, capabilities, options).run();
}

}  // namespace npu::compiler::backend
