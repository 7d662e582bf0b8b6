// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/fusion.h"

#include <algorithm>
#include <optional>
#include <set>

#include "driver/compiler/lower/ewise_program.h"
#include "driver/compiler/lower/ewise_rules.h"
#include "driver/compiler/lower/residual.h"
#include "driver/compiler/lower/views.h"
#include "driver/graph/element.h"
#include "hw/contract/elements.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using graph::DType;
using graph::Op;
using graph::TensorId;

// Both bound the time that odd graphs take: a group spans at most so many operators of the list, and a search for a
// cycle gives up, and the fusion with it, after so many.
constexpr size_t kMaxSpan = 1000;
constexpr size_t kSearchLimit = 2000;

class Fuser {
 public:
  Fuser(const Facts& facts, const Dependencies& dependencies, const contract::Capabilities& machine,
        std::vector<size_t>& group_of)
      : facts_(facts),
        dependencies_(dependencies),
        machine_(machine),
        group_of_(group_of),
        covered_until_(group_of.size()),
        seen_(group_of.size()) {}

  std::vector<Group> run() {
    for (size_t op : dependencies_.nodes()) {
      std::vector<size_t> ops = {op};
      for (size_t follower : followers(op)) ops.push_back(follower);
      if (kind(op) == Kind::kMxu || ops.size() > 1) close(std::move(ops));
    }
    for (size_t op : dependencies_.nodes()) {
      if (group_of_[op] != Grouping::kNone) continue;
      close(group_around(op));
    }
    return std::move(groups_);
  }

 private:
  Kind kind(size_t op) const { return family_of(facts_.op(op).op).kind; }

  [[nodiscard]] std::vector<size_t> followers(size_t op) {
    if (kind(op) == Kind::kMxu) {
      std::vector<size_t> all = mxu_followers(facts_, op, true);
      std::vector<size_t> ops = all;
      ops.push_back(op);
      std::sort(ops.begin(), ops.end());
      // The other side of an addition may have taken it, or what makes the operand may come before what the convolution
      // waits for: a read of a variable, and then a write.
      const auto taken = [&](size_t follower) { return group_of_[follower] != Grouping::kNone; };
      const bool apart = std::any_of(all.begin(), all.end(), taken) || closes_cycle(ops);
      return apart ? mxu_followers(facts_, op, false) : all;
    }
    const auto of_family = family_of(facts_.op(op).op).followers;
    return of_family == nullptr ? std::vector<size_t>{} : of_family(facts_, op, machine_);
  }

  // Of an operator that no other one has taken along.
  std::vector<size_t> group_around(size_t op) {
    switch (kind(op)) {
      case Kind::kElementwise:
        return grow(op);
      case Kind::kStep:
      case Kind::kRead:
      case Kind::kDeclare:
      case Kind::kControl:
        return {op};
      case Kind::kMxu:  // has its group already
      case Kind::kUnsupported:
      case Kind::kConstant:
      case Kind::kView:
        break;
    }
    panic(__FILE__, __LINE__, "an operator that makes no group");
  }

  void close(std::vector<size_t> ops) {
    for (size_t op : ops) group_of_[op] = groups_.size();
    const auto [first, end] = std::minmax_element(ops.begin(), ops.end());
    const size_t last = *end;
    for (size_t i = *first; i < last; ++i) covered_until_[i] = std::max(covered_until_[i], last);
    groups_.push_back({std::move(ops)});
  }

  // The largest group around `seed` that one command can hold.
  std::vector<size_t> grow(size_t seed) {
    const Dims space = squeeze(facts_.result(facts_.op(seed)).shape);
    std::vector<size_t> ops = {seed};
    std::set<size_t> rejected;
    while (const std::optional<size_t> next = candidate(ops, space, rejected)) {
      std::vector<size_t> larger = ops;
      larger.insert(std::upper_bound(larger.begin(), larger.end(), *next), *next);
      if (may_fit(larger) && !reads_through_memory(larger) && !closes_cycle(larger)) {
        ops = std::move(larger);
      } else {
        rejected.insert(*next);
      }
    }
    // The last operators go until everything that others read fits, too.
    while (ops.size() > 1 && !fits(program(ops, true, Lookups::kUsed))) {
      ops.pop_back();
      keep_connected(ops, seed);
    }
    while (const std::optional<size_t> op = better_at_reader(ops)) {
      ops.erase(std::find(ops.begin(), ops.end(), *op));
      keep_connected(ops, seed);
    }
    return ops;
  }

  // An operator that makes a wider value for one operator behind the group, of a value that memory holds anyway: the
  // group of the other one reads fewer bytes when it has both. So a residual branch waits as 8 bits, not as 32.
  [[nodiscard]] std::optional<size_t> better_at_reader(const std::vector<size_t>& ops) const {
    const auto inside = [&](size_t op) { return std::binary_search(ops.begin(), ops.end(), op); };
    const Dims space = squeeze(facts_.result(facts_.op(ops.front())).shape);
    for (size_t op : ops) {
      const graph::Operator& node = facts_.op(op);
      const TensorId from = node.inputs[0], to = node.outputs[0];
      if (ewise_rule(node.op)->streams != 1 || facts_.is_output(to) || facts_.uses(to).size() != 1) continue;
      const size_t reader = facts_.uses(to)[0].op;
      const auto maker = facts_.producer(facts_.alias_root(from));
      if (inside(reader) || !may_join(reader, space) || !maker || !inside(*maker)) continue;
      if (bytes_of(to) > bytes_of(from) && read_outside(facts_, from, inside)) return op;
    }
    return std::nullopt;
  }

  [[nodiscard]] uint32_t bytes_of(TensorId id) const {
    return contract::element_bytes(*element_of(facts_.tensor(id).type));
  }

  bool fits(const EwiseProgram& program) const {
    return program.fits_command(machine_) && program.fits_tables(machine_);
  }

  bool may_join(size_t op, const Dims& space) const {
    return dependencies_.is_node(op) && group_of_[op] == Grouping::kNone && kind(op) == Kind::kElementwise &&
           squeeze(facts_.result(facts_.op(op)).shape) == space;
  }

  // The first operator that could join and reads from or writes to one of `ops` in registers.
  std::optional<size_t> candidate(const std::vector<size_t>& ops, const Dims& space,
                                  const std::set<size_t>& rejected) const {
    std::optional<size_t> best;
    for (size_t op : ops) {
      for (size_t other : neighbours(op)) {
        if (rejected.count(other) != 0 || std::binary_search(ops.begin(), ops.end(), other)) continue;
        if (other > ops.front() + kMaxSpan) continue;
        if ((!best || other < *best) && may_join(other, space)) best = other;
      }
    }
    return best;
  }

  // Element-wise operators that make an operand of `op` or read its result, aliases seen through.
  std::vector<size_t> neighbours(size_t op) const {
    std::vector<size_t> result;
    for (TensorId id : facts_.op(op).inputs) {
      if (const auto producer = facts_.producer(facts_.alias_root(id))) result.push_back(*producer);
    }
    for_each_reader(facts_.op(op).outputs[0], [&](size_t reader) { result.push_back(reader); });
    return result;
  }

  template <typename Visit>
  void for_each_reader(TensorId id, Visit visit) const {
    std::vector<TensorId> pending = {id};
    while (!pending.empty()) {
      const TensorId current = pending.back();
      pending.pop_back();
      for (const Use& use : facts_.uses(current)) {
        if (facts_.is_alias(facts_.op(use.op))) {
          pending.push_back(facts_.op(use.op).outputs[0]);
        } else {
          visit(use.op);
        }
      }
    }
  }

  // Readers that may still join do not count as outside yet.
  bool may_fit(const std::vector<size_t>& ops) const {
    return fits(program(ops, false, Lookups::kNone)) || fits(program(ops, false, Lookups::kUsed));
  }

  EwiseProgram program(const std::vector<size_t>& ops, bool final, Lookups lookups) const {
    const Dims space = squeeze(facts_.result(facts_.op(ops.front())).shape);
    return make_ewise_program(
        facts_, ops,
        [&](TensorId id) {
          return read_outside(facts_, id, [&](size_t reader) {
            return std::binary_search(ops.begin(), ops.end(), reader) || (!final && may_join(reader, space));
          });
        },
        lookups);
  }

  // Whether one of `ops` reads another one's result by a view that registers cannot give, such as a transposed one, or
  // as an operand that is no stream.
  bool reads_through_memory(const std::vector<size_t>& ops) const {
    const auto made_inside = [&](TensorId id) {
      const auto producer = facts_.producer(id);
      return producer && std::binary_search(ops.begin(), ops.end(), *producer);
    };
    for (size_t op : ops) {
      const std::vector<TensorId>& inputs = facts_.op(op).inputs;
      for (size_t k = 0; k < inputs.size(); ++k) {
        const bool stream = k < ewise_rule(facts_.op(op).op)->streams && made_inside(facts_.alias_root(inputs[k]));
        if (made_inside(facts_.view_root(inputs[k])) && !stream) return true;
      }
    }
    return false;
  }

  // Operators behind this one cannot lead back to `op` or an earlier one: edges go forward, and no group reaches over
  // it.
  size_t last_that_leads_back(size_t op) const {
    while (covered_until_[op] > op) op = covered_until_[op];
    return op;
  }

  // Whether a path leaves `ops` and comes back, groups taken as one.
  bool closes_cycle(const std::vector<size_t>& ops) {
    const auto inside = [&](size_t op) { return std::binary_search(ops.begin(), ops.end(), op); };
    const size_t last = last_that_leads_back(ops.back());
    std::vector<size_t> pending;
    size_t count = 0;
    ++search_;
    const auto visit = [&](size_t op) {
      if (op > last || seen_[op] == search_) return;
      seen_[op] = search_;
      ++count;
      pending.push_back(op);
    };
    for (size_t op : ops) {
      for (size_t next : dependencies_.after(op)) {
        if (!inside(next)) visit(next);
      }
    }
    while (!pending.empty()) {
      const size_t op = pending.back();
      pending.pop_back();
      if (count > kSearchLimit) return true;
      if (group_of_[op] != Grouping::kNone) {
        for (size_t other : groups_[group_of_[op]].ops) visit(other);
      }
      for (size_t next : dependencies_.after(op)) {
        if (inside(next)) return true;
        visit(next);
      }
    }
    return false;
  }

  // Drops operators that have no connection with `seed` left.
  void keep_connected(std::vector<size_t>& ops, size_t seed) const {
    std::set<size_t> kept = {seed};
    std::vector<size_t> pending = {seed};
    while (!pending.empty()) {
      const size_t op = pending.back();
      pending.pop_back();
      for (size_t other : neighbours(op)) {
        if (std::binary_search(ops.begin(), ops.end(), other) && kept.insert(other).second) pending.push_back(other);
      }
    }
    ops.assign(kept.begin(), kept.end());
  }

  const Facts& facts_;
  const Dependencies& dependencies_;
  const contract::Capabilities& machine_;
  std::vector<size_t>& group_of_;
  std::vector<Group> groups_;
  std::vector<size_t> covered_until_;  // by operator: last one of the groups that reach over it
  std::vector<size_t> seen_;           // by operator: number of the search that met it
  size_t search_ = 0;
};

// Types that the output stage rescales from and to.
bool output_stage_takes(const Facts& facts, const graph::Operator& rescale) {
  const DType from = facts.tensor(rescale.inputs[0]).type, to = facts.result(rescale).type;
  if (rescale.attributes.input_unsigned) return false;
  if (from == DType::kInt32) return rescale.attributes.scale32 && (to == DType::kInt8 || to == DType::kInt16);
  return from == DType::kInt48 && !rescale.attributes.scale32 && to == DType::kInt16;
}

// A CLAMP that the output stage takes: of integers behind a rescale, of floating point where a NaN stays one.
bool output_stage_clamps(const Facts& facts, const graph::Operator& clamp, bool is_rescaled) {
  if (!contract::is_float(*element_of(facts.result(clamp).type))) return is_rescaled;
  return clamp.attributes.nan_mode != graph::NanMode::kIgnore;
}

}  // namespace

std::optional<size_t> only_reader(const Facts& facts, TensorId id) {
  if (facts.is_output(id) || facts.uses(id).size() != 1 || facts.uses(id)[0].operand != 0) return std::nullopt;
  return facts.uses(id)[0].op;
}

std::vector<size_t> mxu_followers(const Facts& facts, size_t op, bool residual) {
  std::vector<size_t> followers;
  const int64_t channels = facts.result(facts.op(op)).shape.back();
  bool is_unsigned = false;
  graph::TensorId result = facts.op(op).outputs[0];
  if (const auto add = residual ? float_residual_add(facts, op) : std::nullopt) {
    followers = add->ops;
    result = facts.op(followers.back()).outputs[0];
  }
  auto reader = only_reader(facts, result);
  for (; reader; reader = only_reader(facts, facts.op(*reader).outputs[0])) {
    const graph::Operator& next = facts.op(*reader);
    if (keeps_elements(next.op)) continue;
    if (next.op == Op::kRescale && followers.empty()) {
      const int64_t entries = facts.tensor(next.inputs[1]).shape[0];
      const graph::Shape& shape = facts.tensor(next.inputs[0]).shape;
      const bool same_channels = !shape.empty() && shape.back() == channels;
      if (!output_stage_takes(facts, next) || (next.attributes.per_channel && entries > 1 && !same_channels)) break;
      is_unsigned = next.attributes.output_unsigned;
      followers.push_back(*reader);
      if (const auto add = residual ? residual_add(facts, op, *reader) : std::nullopt) {
        followers.insert(followers.end(), add->ops.begin(), add->ops.end());
        reader = followers.back();
      }
      continue;
    }
    if (next.op != Op::kClamp || is_unsigned || !output_stage_clamps(facts, next, !followers.empty())) break;
    followers.push_back(*reader);
  }
  return followers;
}

bool read_outside(const Facts& facts, TensorId id, const std::function<bool(size_t)>& ignored) {
  std::vector<TensorId> pending = {id};
  while (!pending.empty()) {
    const TensorId current = pending.back();
    pending.pop_back();
    if (facts.is_output(current)) return true;
    for (const Use& use : facts.uses(current)) {
      if (facts.is_alias(facts.op(use.op))) {
        pending.push_back(facts.op(use.op).outputs[0]);
      } else if (!ignored(use.op)) {
        return true;
      }
    }
  }
  return false;
}

std::vector<Group> fuse(const Facts& facts, const Dependencies& dependencies, const contract::Capabilities& machine,
                        std::vector<size_t>& group_of) {
  group_of.assign(facts.block().operators.size(), Grouping::kNone);
  return Fuser(facts, dependencies, machine, group_of).run();
}

}  // namespace npu::compiler
