// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/ewise_lookup.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "driver/compiler/lower/registers.h"
#include "driver/compiler/lower/tensor_range.h"
#include "driver/graph/element.h"
#include "hw/contract/uop_fields.h"
#include "hw/timing/cycles.h"
#include "hw/timing/vpu_cycles.h"
#include "hw/timing/vpu_program.h"

namespace npu::compiler {
namespace {

using contract::Uop;
using contract::UopCode;
using contract::UopRole;

constexpr int64_t kEntries = 256;                  // of the table of a look-up
constexpr int64_t kMostOffset = int64_t{1} << 30;  // so that a negation does not clip

// A clamp between equal limits: a constant, whatever it reads.
bool is_constant(const Uop& uop) { return uop.op == UopCode::kClamp && uop.imm0 == uop.imm1; }

template <typename Visit>
void for_each_value(const Uop& uop, Visit&& visit) {
  Uop copy = uop;
  for_each_source(copy, [&](uint32_t& value) { visit(value); });
}

ValueRange both(const ValueRange& a, const ValueRange& b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }

// The operand that a micro-operation names; null when it names none.
uint32_t* operand_index(Uop& uop) {
  const contract::UopInfo& info = contract::uop_info(uop.op);
  if (contract::is_operand(info.a.role)) return &uop.a;
  return contract::is_operand(info.b.role) ? &uop.b : nullptr;
}

// What a program costs: cycles of the VPU, and of DRAM for its tables and parameters.
uint64_t cost(const Facts& facts, const EwiseProgram& program) {
  const contract::Capabilities& machine = facts.machine();
  std::vector<contract::Element> types;
  uint64_t bytes = 0, rows = 0;
  for (const EwiseOperand& operand : program.operands) {
    const bool block = operand.bytes != 0;
    types.push_back(block ? contract::Element::kI32 : *element_of(facts.tensor(operand.tensor).type));
    bytes += operand.bytes;
    rows += timing::table_rows_of(operand.bytes, machine);
  }
  std::vector<Uop> uops = program.uops;
  loads_before_use(uops);
  allocate_registers(uops);
  const uint64_t passes = timing::program_passes(timing::uop_groups(uops, types, machine));
  const auto vectors = timing::ceil_div(static_cast<uint64_t>(product(program.dims)), uint64_t{machine.vpu_lanes});
  return vectors * passes + rows + timing::ceil_div(bytes, uint64_t{machine.dma_port_bytes});
}

// Finds what each value of one program depends on.
class Finder {
 public:
  Finder(const Facts& facts, const std::map<uint32_t, ValueRange>& known, const EwiseProgram& program)
      : facts_(facts), program_(program) {
    if (!known.empty()) makers_.resize(known.rbegin()->first + 1);  // no new value takes the range of one that went
    for (size_t i = 0; i < program.uops.size(); ++i) {
      const Uop& uop = program.uops[i];
      if (!has_result(uop.op)) continue;
      makers_.resize(std::max<size_t>(makers_.size(), uop.dst + 1));
      makers_[uop.dst] = i;
      ranges_.resize(makers_.size(), kAnyValue);
      ranges_[uop.dst] = range_of(uop);
      const auto hint = known.find(uop.dst);
      if (hint != known.end()) ranges_[uop.dst] = both(ranges_[uop.dst], hint->second);
    }
  }

  // The best program that one replacement makes, if it costs less than `most`.
  [[nodiscard]] std::optional<EwiseProgram> better(uint64_t most) {
    std::optional<EwiseProgram> best;
    for (const Uop& root : program_.uops) {
      if (!has_result(root.op) || is_constant(root) || ranges_[root.dst].size() > kEntries) continue;
      depend_on(root.dst);
      for (const Uop& uop : program_.uops) {
        if (!has_result(uop.op) || uop.dst == root.dst || !depends_[uop.dst] || is_constant(uop)) continue;
        std::optional<EwiseProgram> other = replaced(root.dst, uop.dst);
        if (!other) continue;
        const uint64_t takes = cost(facts_, *other);
        if (takes < most) best = std::move(other), most = takes;
      }
    }
    return best;
  }

 private:
  [[nodiscard]] KnownBlock block_of(const Uop& uop) const {
    const contract::NamedOperand named = operand_of(uop);
    if (named.role != UopRole::kParameters && named.role != UopRole::kTable) return {};
    const EwiseOperand& operand = program_.operands[named.index];
    if (operand.role == EwiseOperand::Role::kTable) return {nullptr, facts_.constant(operand.tensor)};
    if (operand.role != EwiseOperand::Role::kParams || operand.params.at_run_time()) return {};
    return {&operand.params.known, nullptr};
  }

  [[nodiscard]] ValueRange range_of(const Uop& uop) const {
    if (uop.op == UopCode::kLoad) {
      const graph::TensorId tensor = program_.operands[uop.a].tensor;
      const ValueRange range = tensor_range(facts_, tensor);
      if (uop.imm0 == 0 || range.low >= 0) return range;
      const int64_t bits = 8 * int64_t{contract::element_bytes(*element_of(facts_.tensor(tensor).type))};
      return {0, (int64_t{1} << bits) - 1};
    }
    std::array<ValueRange, 3> sources = {kAnyValue, kAnyValue, kAnyValue};
    size_t k = 0;
    for_each_value(uop, [&](uint32_t value) { sources.at(k++) = ranges_[value]; });
    return uop_range(uop, sources, block_of(uop));
  }

  // Which values follow from `root` alone.
  void depend_on(uint32_t root) {
    depends_.assign(makers_.size(), false);
    depends_[root] = true;
    for (size_t i = makers_[root] + 1; i < program_.uops.size(); ++i) {
      const Uop& uop = program_.uops[i];
      if (!has_result(uop.op) || !is_known(uop, block_of(uop))) continue;
      bool all = true, any = false;
      for_each_value(uop, [&](uint32_t value) {
        any = any || depends_[value];
        all = all && (depends_[value] || is_constant(program_.uops[makers_[value]]));
      });
      depends_[uop.dst] = all && any;
    }
  }

  // Of each value of `root`, in order.
  [[nodiscard]] int64_t value_of(uint32_t value, uint32_t root, int64_t at, std::vector<int64_t>& values) const {
    values[root] = at;
    for (size_t i = 0; i <= makers_[value]; ++i) {
      const Uop& uop = program_.uops[i];
      if (!has_result(uop.op)) continue;
      if (is_constant(uop)) values[uop.dst] = uop.imm0;
      if (!depends_[uop.dst] || uop.dst == root || is_constant(uop)) continue;
      UopSources sources{};
      size_t k = 0;
      for_each_value(uop, [&](uint32_t source) { sources.at(k++) = values[source]; });
      values[uop.dst] = uop_value(uop, sources, block_of(uop));
    }
    return values[value];
  }

  // The program with another way from `root` to `value`; nullopt where none takes fewer passes.
  [[nodiscard]] std::optional<EwiseProgram> replaced(uint32_t root, uint32_t value) const {
    std::vector<int64_t> values(makers_.size());
    const ValueRange& range = ranges_[root];
    const int64_t offset = value_of(value, root, range.low, values) - range.low;
    bool constant = std::abs(offset) <= kMostOffset && ValueRange{-kMostOffset, kMostOffset}.contains(range);
    for (int64_t at = range.low + 1; constant && at <= range.high; ++at) {
      constant = value_of(value, root, at, values) - at == offset;
    }
    if (constant && offset == 0) return drop_unused(with_same(root, value));
    const uint64_t passes = chain_passes(root, value);
    if (constant && passes > 2) return drop_unused(with_offset(root, value, offset));
    if (passes <= timing::uop_passes({UopCode::kTable32, 0, 0, 0, 0, 0}, {}, facts_.machine())) return std::nullopt;
    EwiseOperand table{EwiseOperand::Role::kEntries, 0, {}, {}};
    table.entries.resize(kEntries);
    table.bytes = kEntries * sizeof(int32_t);
    for (int64_t at = range.low; at <= range.high; ++at) {
      const int64_t entry = value_of(value, root, at, values);
      if (entry != static_cast<int32_t>(entry)) return std::nullopt;
      table.entries.at(static_cast<size_t>(at - range.low)) = static_cast<int32_t>(entry);
    }
    EwiseProgram other = program_;
    const auto index = static_cast<uint32_t>(other.operands.size());
    other.uops[makers_[value]] = {UopCode::kTable32, value, root, index, static_cast<int32_t>(range.low), 0};
    other.operands.push_back(std::move(table));
    return drop_unused(std::move(other));
  }

  [[nodiscard]] EwiseProgram with_same(uint32_t root, uint32_t value) const {
    EwiseProgram other = program_;
    for (Uop& uop : other.uops) {
      for_each_source(uop, [&](uint32_t& source) { source = source == value ? root : source; });
    }
    return other;
  }

  // Two negations, whose zero points are immediates.
  [[nodiscard]] EwiseProgram with_offset(uint32_t root, uint32_t value, int64_t offset) const {
    constexpr auto kType = static_cast<uint32_t>(contract::Element::kI32);
    const auto negative = static_cast<uint32_t>(makers_.size());
    EwiseProgram other = program_;
    const auto place = other.uops.begin() + static_cast<std::ptrdiff_t>(makers_[value]);
    *place = {UopCode::kNegate, value, negative, kType, 0, static_cast<int32_t>(offset)};
    other.uops.insert(place, {UopCode::kNegate, negative, root, kType, 0, 0});
    return other;
  }

  // Passes of what leads from `root` to `value`.
  [[nodiscard]] uint64_t chain_passes(uint32_t root, uint32_t value) const {
    std::vector<bool> needed(makers_.size());
    needed[value] = true;
    uint64_t passes = 0;
    for (size_t i = makers_[value] + 1; i-- > makers_[root] + 1;) {
      const Uop& uop = program_.uops[i];
      if (!has_result(uop.op) || !needed[uop.dst]) continue;
      passes += timing::uop_passes(uop, contract::Element::kI32, facts_.machine());
      for_each_value(uop, [&](uint32_t source) { needed[source] = true; });
    }
    return passes;
  }

  // Without micro-operations whose results nothing reads any more, and operands that nothing names. Nullopt where a
  // constant has no register left to start from, or the program fits a command no more.
  [[nodiscard]] std::optional<EwiseProgram> drop_unused(EwiseProgram program) const {
    const size_t count = makers_.size() + 1;  // the last one for a value that is new
    const std::vector<bool> read_before = readers(program_, count);
    std::vector<bool> read(count);
    std::vector<Uop> kept;
    for (size_t i = program.uops.size(); i-- > 0;) {
      const Uop& uop = program.uops[i];
      // What nothing read before is for operators that may still join.
      if (has_result(uop.op) && !read[uop.dst] && read_before[uop.dst]) continue;
      kept.push_back(uop);
      if (is_constant(uop)) continue;
      for_each_value(uop, [&](uint32_t source) { read[source] = true; });
    }
    std::reverse(kept.begin(), kept.end());
    std::vector<bool> there(count);
    std::optional<uint32_t> last;
    for (Uop& uop : kept) {
      if (is_constant(uop) && !there[uop.a]) {
        if (!last) return std::nullopt;
        uop.a = *last;
      }
      if (!has_result(uop.op)) continue;
      there[uop.dst] = true;
      last = uop.dst;
    }
    program.uops = std::move(kept);
    drop_operands(program);
    if (program.operands.size() > std::max<size_t>(contract::kMaxOperands, program_.operands.size()) ||
        program.uops.size() > std::max<size_t>(contract::kMaxUops, program_.uops.size())) {
      return std::nullopt;
    }
    return program.fits_tables(facts_.machine()) || !program_.fits_tables(facts_.machine()) ? std::optional(program)
                                                                                            : std::nullopt;
  }

  // Which values are read, of `count`.
  static std::vector<bool> readers(const EwiseProgram& program, size_t count) {
    std::vector<bool> read(count);
    for (const Uop& uop : program.uops) {
      for_each_value(uop, [&](uint32_t source) { read[source] = true; });
    }
    return read;
  }

  static void drop_operands(EwiseProgram& program) {
    constexpr uint32_t kNone = UINT32_MAX;
    std::vector<uint32_t> place(program.operands.size(), kNone);
    for (const Uop& uop : program.uops) {
      const contract::NamedOperand named = operand_of(uop);
      if (named.role != UopRole::kUnused) place[named.index] = 0;
    }
    std::vector<EwiseOperand> operands;
    for (size_t i = 0; i < place.size(); ++i) {
      if (place[i] == kNone) continue;
      place[i] = static_cast<uint32_t>(operands.size());
      operands.push_back(std::move(program.operands[i]));
    }
    program.operands = std::move(operands);
    for (Uop& uop : program.uops) {
      if (uint32_t* index = operand_index(uop)) *index = place[*index];
    }
  }

  const Facts& facts_;
  const EwiseProgram& program_;
  std::vector<size_t> makers_;      // by value
  std::vector<ValueRange> ranges_;  // by value
  std::vector<bool> depends_;       // by value: on the root at hand
};

}  // namespace

void use_lookups(const Facts& facts, const std::map<uint32_t, ValueRange>& known, EwiseProgram& program) {
  while (std::optional<EwiseProgram> better = Finder(facts, known, program).better(cost(facts, program))) {
    program = std::move(*better);
  }
  number_values(program.uops);
}

}  // namespace npu::compiler
