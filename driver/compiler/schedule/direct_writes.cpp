// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/direct_writes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "driver/compiler/lower/registers.h"
#include "driver/compiler/schedule/flow.h"
#include "driver/compiler/schedule/shift.h"
#include "driver/compiler/schedule/step_views.h"
#include "driver/compiler/schedule/view.h"
#include "hw/contract/overloaded.h"

namespace npu::compiler::backend {
namespace {

bool same_walk(const View& a, const View& b) {
  return a.offset == b.offset && a.type == b.type && a.dims == b.dims && a.strides == b.strides;
}

bool disjoint(const View& a, const View& b) {
  const ByteSpan x = span_of(a), y = span_of(b);
  return x.high <= y.low || y.high <= x.low;
}

// By buffer: how many views of steps see it.
using Uses = std::vector<size_t>;

Uses count_uses(const Module& module) {
  Uses uses(module.buffers.size());
  for (const Step& step : module.steps) {
    for (const auto& v : views_of(step)) ++uses[v.view->buffer];
  }
  return uses;
}

// One copy from a buffer to a variable, and what surrounds it: `steps` between two of control flow.
class Candidate {
 public:
  Candidate(const Module& module, const std::vector<Step>& steps, const Uses& uses, size_t copy, uint32_t registers)
      : module_(module), steps_(steps), copy_(copy), registers_(registers) {
    const auto& work = std::get<CopyStep>(steps_[copy].work);
    buffer_ = work.src.buffer;
    variable_ = work.dst.buffer;
    size_t found = 0;
    for (size_t s = 0; s < steps_.size(); ++s) {
      bool reads = false, writes = false;
      for (const auto& v : views_of(steps_[s])) {
        if (v.view->buffer != buffer_) continue;
        ++found;
        (v.result ? writes : reads) = true;
      }
      if (s == copy_) continue;
      if (reads) readers_.push_back(s);
      if (writes) writers_.push_back(s);
    }
    in_one_block_ = found == uses[buffer_];
  }

  [[nodiscard]] bool possible() const {
    // All that makes, copies and reads the value runs as often as the copy does, in this order.
    if (!in_one_block_ || writers_.empty() || writers_.back() > copy_) return false;
    if (!readers_.empty() && readers_.front() <= writers_.back()) return false;
    for (size_t writer : writers_) {
      if (!can_make(writer)) return false;
    }
    return old_value_read_before() && new_value_lives();
  }

  // Puts the variable in the buffer's place.
  void apply(std::vector<Step>& steps) const {
    const size_t first = writers_.front(), last = readers_.empty() ? copy_ : std::max(copy_, readers_.back());
    std::vector<Step> out;
    const auto take = [&](Step step) {
      for (const auto& v : views_of(step)) {
        if (v.view->buffer == buffer_) v.view->buffer = variable_;
      }
      out.push_back(std::move(step));
    };
    // What stays of the old value moves before anything new comes.
    for (size_t writer : writers_) {
      if (!moves(writer)) continue;
      for (CopyStep& piece : pieces(writer)) take({steps_[writer].layer, std::move(piece), false});
    }
    size_t end = 0;  // where the copy would be
    for (size_t s = first; s <= last; ++s) {
      if (s == copy_) end = out.size();
      const bool is_move = std::find(writers_.begin(), writers_.end(), s) != writers_.end() && moves(s);
      if (s != copy_ && !is_move) take(reads_first(steps_[s]).value());
    }
    commit_last_write(out, end);
    const auto at = steps.begin() + static_cast<std::ptrdiff_t>(first);
    const auto behind = steps.erase(at, steps.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    steps.insert(behind, std::make_move_iterator(out.begin()), std::make_move_iterator(out.end()));
  }

  // The layer whose step completes the variable.
  [[nodiscard]] uint32_t writer_layer() const { return steps_[writers_.back()].layer; }

 private:
  // A copy from the variable to the buffer. It asks for one kind: only copies become pieces that move.
  [[nodiscard]] bool moves(size_t step) const {
    const auto* copy = std::get_if<CopyStep>(&steps_[step].work);
    return copy != nullptr && !copy->fill && copy->src.buffer == variable_ && copy->dst.buffer == buffer_;
  }

  [[nodiscard]] std::vector<CopyStep> pieces(size_t step) const {
    CopyStep copy = std::get<CopyStep>(steps_[step].work);
    copy.dst.buffer = variable_;
    return shift_pieces(copy);
  }

  // The step, which reads all that it wants of the old value before it makes the new one: a load behind the store would
  // find that. Nullopt: not enough registers.
  [[nodiscard]] std::optional<Step> reads_first(const Step& step) const {
    Step out = step;
    // What stores nothing before it has read everything stays as it is.
    const bool can =
        std::visit(Overloaded{[&](EwiseStep& ewise) { return load_first(ewise); }, [](const MxuStep&) { return true; },
                              [](const PoolStep&) { return true; }, [](const ReduceStep&) { return true; },
                              [](const CopyStep&) { return true; }, [](const GatherStep&) { return true; },
                              [](const DeclareStep&) { return true; }, [](const LabelStep&) { return true; },
                              [](const BranchStep&) { return true; }},
                   out.work);
    return can ? std::optional(std::move(out)) : std::nullopt;
  }

  // False: not enough registers.
  [[nodiscard]] bool load_first(EwiseStep& ewise) const {
    const auto names = [&](BufferId buffer) {
      return [&ewise, buffer](uint32_t operand) { return ewise.operands[operand].view.buffer == buffer; };
    };
    auto program =
        loads_before_stores({ewise.uops, ewise.register_count}, names(variable_), names(buffer_), registers_);
    if (!program) return false;
    ewise.uops = std::move(program->uops);
    ewise.register_count = program->register_count;
    return true;
  }

  // Whether the step can make its part in the variable: an engine that can complete a write, and its command does not
  // read what it overwrites.
  [[nodiscard]] bool can_make(size_t step) const {
    return std::visit(Overloaded{[&](const CopyStep&) { return !moves(step) || !pieces(step).empty(); },
                                 [&](const EwiseStep&) { return can_compute(step, true); },
                                 [&](const MxuStep&) { return can_compute(step, false); },
                                 [&](const PoolStep&) { return can_compute(step, false); },
                                 [&](const ReduceStep&) { return can_compute(step, false); },
                                 [&](const GatherStep& gather) { return !gather.scatter && !reads_variable(step); },
                                 [](const DeclareStep&) { return false; }, [](const LabelStep&) { return false; },
                                 [](const BranchStep&) { return false; }},
                      steps_[step].work);
  }

  [[nodiscard]] bool reads_variable(size_t step) const {
    const auto views = views_of(steps_[step]);
    return std::any_of(views.begin(), views.end(), [&](const auto& v) { return v.view->buffer == variable_; });
  }

  // `in_place`: its engine may read exactly the bytes that it writes, and can complete a write.
  [[nodiscard]] bool can_compute(size_t step, bool in_place) const {
    const bool window = std::any_of(writers_.begin(), writers_.end(), [&](size_t writer) { return moves(writer); });
    if (!in_place && !window) return false;
    if (!reads_first(steps_[step])) return false;
    const View* made = nullptr;
    for (const auto& v : views_of(steps_[step])) {
      if (!v.result) continue;
      if (made != nullptr && v.view->buffer == buffer_) return false;  // two parts
      if (module_.buffers[v.view->buffer].kind == BufferKind::kVariable) return false;
      if (v.view->buffer == buffer_) made = v.view;
    }
    for (const auto& v : views_of(steps_[step])) {
      if (v.view->buffer == variable_ && (!in_place || !same_walk(*v.view, *made))) return false;
    }
    return true;
  }

  // Whether only the makers of the new value, each of its own part, touch the old one once it begins to vanish.
  [[nodiscard]] bool old_value_read_before() const {
    std::vector<const View*> made;
    for (size_t s = writers_.front(); s < copy_; ++s) {
      if (moves(s)) continue;
      const bool maker = std::find(writers_.begin(), writers_.end(), s) != writers_.end();
      for (const auto& v : views_of(steps_[s])) {
        if (v.view->buffer != variable_) continue;
        if (v.result || !maker) return false;
        for (const View* part : made) {
          if (!disjoint(*part, *v.view)) return false;
        }
        for (size_t writer : writers_) {  // moved over by then
          if (moves(writer) && !disjoint(std::get<CopyStep>(steps_[writer].work).dst, *v.view)) return false;
        }
      }
      if (!maker) continue;
      for (const auto& v : views_of(steps_[s])) {
        if (v.result && v.view->buffer == buffer_) made.push_back(v.view);
      }
    }
    return moves_are_apart();
  }

  // What moves make is made by nothing else, and not read by other moves: they come first.
  [[nodiscard]] bool moves_are_apart() const {
    for (size_t a : writers_) {
      if (!moves(a)) continue;
      const View& moved = std::get<CopyStep>(steps_[a].work).dst;
      for (size_t b : writers_) {
        if (a == b) continue;
        if (moves(b) && !disjoint(moved, std::get<CopyStep>(steps_[b].work).src)) return false;
        for (const auto& v : views_of(steps_[b])) {
          if (v.result && v.view->buffer == buffer_ && !disjoint(moved, *v.view)) return false;
        }
      }
    }
    return true;
  }

  // Whether the variable keeps the value until its last reader has it.
  [[nodiscard]] bool new_value_lives() const {
    if (readers_.empty()) return true;
    for (size_t s = copy_ + 1; s <= readers_.back(); ++s) {
      for (const auto& v : views_of(steps_[s])) {
        if (v.result && v.view->buffer == variable_) return false;
      }
    }
    return true;
  }

  void commit_last_write(std::vector<Step>& out, size_t end) const {
    for (size_t s = end; s-- > 0;) {
      for (const auto& v : views_of(out[s])) {
        if (!v.result || v.view->buffer != variable_) continue;
        out[s].commit = true;
        return;
      }
    }
  }

  const Module& module_;
  const std::vector<Step>& steps_;
  const size_t copy_;
  const uint32_t registers_;  // of the VPU
  BufferId buffer_ = 0, variable_ = 0;
  bool in_one_block_ = false;              // all that use the buffer are among the steps
  std::vector<size_t> writers_, readers_;  // of the buffer, ascending; the copy left out
};

// Asks for one kind: the copy is what direct writing does without.
bool is_candidate(const Module& module, const Step& step) {
  const auto* copy = std::get_if<CopyStep>(&step.work);
  if (copy == nullptr || !step.commit || copy->fill) return false;
  const Buffer& from = module.buffers[copy->src.buffer];
  const Buffer& to = module.buffers[copy->dst.buffer];
  if (from.on_chip) return false;  // a branch reads it in the scratchpad
  return from.kind == BufferKind::kIntermediate && from.bytes == to.bytes && !module.variables[to.index].in_dram &&
         covers(copy->src, static_cast<int64_t>(from.bytes)) && covers(copy->dst, static_cast<int64_t>(to.bytes));
}

// Goes over a module block by block: what can be spared is found, and changed, within one.
class DirectWriter {
 public:
  DirectWriter(const Module& module, const contract::Capabilities& capabilities)
      : module_(module), uses_(count_uses(module)), registers_(capabilities.vpu_registers) {}

  // Nullopt where nothing can be spared.
  std::optional<Module> run() {
    const auto may_be_spared = [&](const Step& step) { return is_candidate(module_, step); };
    if (std::none_of(module_.steps.begin(), module_.steps.end(), may_be_spared)) return std::nullopt;
    for (size_t s = 0; s < module_.steps.size();) {
      take_block(s);
      write_block();
      steps_.insert(steps_.end(), std::make_move_iterator(block_.begin()), std::make_move_iterator(block_.end()));
    }
    if (joined_.empty()) return std::nullopt;
    Module out = module_;
    out.steps = std::move(steps_);
    for (const auto& [writer, copy] : joined_) {
      if (writer != copy) out.layers[writer].operators += "+" + out.layers[copy].operators;
    }
    drop_empty_layers(out);
    return out;
  }

 private:
  // The steps from `s` on, up to and with the next one of control flow.
  void take_block(size_t& s) {
    block_.clear();
    for (bool control = false; s < module_.steps.size() && !control; ++s) {
      control = is_control(module_.steps[s].work);
      block_.push_back(module_.steps[s]);
    }
  }

  void write_block() {
    for (size_t s = 0; s < block_.size();) {
      if (!is_candidate(module_, block_[s])) {
        ++s;
        continue;
      }
      const Candidate candidate(module_, block_, uses_, s, registers_);
      if (!candidate.possible()) {
        ++s;
        continue;
      }
      joined_.emplace_back(candidate.writer_layer(), block_[s].layer);
      const size_t before = block_.size();
      candidate.apply(block_);
      s = s + 1 + block_.size() - before;  // behind where the copy was
    }
  }

  const Module& module_;
  const Uses uses_;
  const uint32_t registers_;
  std::vector<Step> steps_, block_;
  std::vector<std::pair<uint32_t, uint32_t>> joined_;  // layers of the writers and of the copies
};

}  // namespace

std::optional<Module> write_directly(const Module& module, const contract::Capabilities& capabilities) {
  return DirectWriter(module, capabilities).run();
}

}  // namespace npu::compiler::backend
