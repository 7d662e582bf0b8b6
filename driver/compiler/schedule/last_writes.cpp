// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/last_writes.h"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "driver/compiler/schedule/flow.h"
#include "driver/compiler/schedule/step_views.h"
#include "driver/compiler/schedule/view.h"

namespace npu::compiler::backend {
namespace {

class LastWrites {
 public:
  explicit LastWrites(Module& module) : module_(module), dropped_(module.steps.size(), false) {}

  void run() {
    for (const auto& [variable, writes] : writes_by_variable()) {
      for (size_t i = 0; i + 1 < writes.size(); ++i) leave_out(variable, writes[i], writes[i + 1]);
    }
    if (!changed_) return;
    std::vector<Step> kept;
    for (size_t s = 0; s < dropped_.size(); ++s) {
      if (!dropped_[s]) kept.push_back(std::move(module_.steps[s]));
    }
    module_.steps = std::move(kept);
    drop_empty_layers(module_);
  }

 private:
  // Copies that each write a whole variable, ascending; no variables that something else, or control flow, writes too,
  // nor such as the device must find undeclared at one write and declared at another.
  [[nodiscard]] std::map<BufferId, std::vector<size_t>> writes_by_variable() const {
    std::map<BufferId, std::vector<size_t>> out;
    std::vector<BufferId> others;
    std::set<uint32_t> late;  // variables
    const Flow flow(module_.steps);
    for (size_t s = 0; s < module_.steps.size(); ++s) {
      const Step& step = module_.steps[s];
      if (const auto* declaration = std::get_if<DeclareStep>(&step.work)) {
        if (flow.block_begin(s) > 0) late.insert(declaration->variable);
        continue;
      }
      const bool copy = std::holds_alternative<CopyStep>(step.work);  // one kind: what others write is left alone
      for (const auto& [view, result] : views_of(step)) {
        const Buffer& buffer = module_.buffers[view->buffer];
        if (!result || buffer.kind != BufferKind::kVariable) continue;
        const bool once = flow.construct_of(s) == nullptr;  // in each execution
        if (copy && once && step.commit && covers(*view, static_cast<int64_t>(buffer.bytes))) {
          out[view->buffer].push_back(s);
        } else {
          others.push_back(view->buffer);
        }
      }
    }
    for (BufferId other : others) out.erase(other);
    std::erase_if(out, [&](const auto& entry) { return late.contains(module_.buffers[entry.first].index); });
    return out;
  }

  // The write `first`, which `next` overwrites.
  void leave_out(BufferId variable, size_t first, size_t next) {
    changed_ = true;
    std::vector<View*> reads;
    for (size_t s = first + 1; s <= next; ++s) {
      for (const auto& [view, result] : views_of(module_.steps[s])) {
        if (!result && view->buffer == variable) reads.push_back(view);
      }
    }
    auto& copy = std::get<CopyStep>(module_.steps[first].work);
    const std::optional<BufferId> same = reads.empty() ? std::nullopt : source_of(first, next);
    if (reads.empty() || same) {
      dropped_[first] = true;
      Layer& layer = module_.layers[module_.steps[next].layer];
      layer.operators = module_.layers[module_.steps[first].layer].operators + "+" + layer.operators;
    } else {
      copy.dst.buffer = static_cast<BufferId>(module_.buffers.size());
      module_.steps[first].commit = false;
      Buffer value;
      value.name = module_.buffers[variable].name;
      value.bytes = module_.buffers[variable].bytes;
      module_.buffers.push_back(std::move(value));
    }
    for (View* view : reads) view->buffer = same.value_or(copy.dst.buffer);
  }

  // The buffer that the write copies, if it has the same bytes in the same order, until the next write.
  [[nodiscard]] std::optional<BufferId> source_of(size_t first, size_t next) const {
    const auto& copy = std::get<CopyStep>(module_.steps[first].work);
    if (copy.fill) return std::nullopt;
    const Buffer& from = module_.buffers[copy.src.buffer];
    const bool lasts = from.kind == BufferKind::kIntermediate || from.kind == BufferKind::kInput;
    if (!lasts || !covers(copy.src, static_cast<int64_t>(from.bytes))) return std::nullopt;
    for (size_t s = first + 1; s <= next; ++s) {
      for (const auto& [view, result] : views_of(module_.steps[s])) {
        if (result && view->buffer == copy.src.buffer) return std::nullopt;
      }
    }
    return copy.src.buffer;
  }

  Module& module_;
  std::vector<bool> dropped_;  // by step
  bool changed_ = false;
};

}  // namespace

void keep_last_writes(Module& module) { LastWrites(module).run(); }

}  // namespace npu::compiler::backend
