// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/variable_manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::runtime {

using contract::ErrorCode;
using contract::VariableEntry;
using contract::VariableFlag;

VariableManager::VariableManager(Hal& hal, VariableEntries& table, const contract::Capabilities& caps,
                                 RangeAllocator& dram)
    : places_(caps, dram), table_(table), values_(hal, table_, places_), dram_(dram) {}

void VariableManager::require_power(std::string_view call) const {
  if (power_ == contract::PsramPower::kOn) return;
  throw Error(ErrorCode::kFaultPower,
              fmt::format("cannot {} while the persistent SRAM is {}; switch it on with set_persistent_power(), or run "
                          "a job.",
                          call, power_ == contract::PsramPower::kOff ? "off" : "in retention"));
}

// --- Allocation

std::vector<uint32_t> VariableManager::declare(uint16_t owner, std::span<const compiler::Variable> variables,
                                               const ContextOptions& options) {
  const Demand demand{owner, variables, options};
  std::vector<uint32_t> indices, fresh;
  std::vector<Adapted> adapted;
  try {
    for (const compiler::Variable& variable : variables) {
      std::optional<uint32_t> index = places_.find(owner, variable.identity);
      if (!index) {
        index = allocate(variable, demand);
        fresh.push_back(*index);
      }
      const VariableSlot& slot = places_.slot(*index);
      if (slot.type != variable.type || !agree(slot.sizes, sizes_of(variable))) {
        throw Error(ErrorCode::kVariableMismatch,
                    fmt::format("variable {} is declared as {}, but this context already holds it as {}; clear it "
                                "first, or use another context.",
                                graph::in_quotes(variable.identity), describe(variable.type, sizes_of(variable)),
                                describe(slot.type, slot.sizes)));
      }
      const Adapted before{*index, variable, slot.place, slot.sizes, slot.declared, slot.written};
      adapt(*index, variable, demand);
      adapted.push_back(before);
      indices.push_back(*index);
    }
  } catch (...) {
    undo(fresh, adapted, demand);
    throw;
  }
  return indices;
}

void VariableManager::undo(std::span<const uint32_t> fresh, std::span<const Adapted> adapted, const Demand& demand) {
  const auto attempt = [](const auto& action) {
    try {
      action();
    } catch (const std::exception&) {
      // The first error tells more.
    }
  };
  attempt([&] { release(fresh); });
  for (size_t i = adapted.size(); i-- > 0;) {
    const Adapted& before = adapted[i];
    if (!places_.taken(before.index)) continue;
    attempt([&] { bind(before.index, before.sizes.shape); });
    if (needs_move(places_.slot(before.index), before.place, before.sizes.largest)) {
      attempt([&] { relocate(before.index, before.variable, before.place, before.sizes.largest, demand); });
    }
    VariableSlot& slot = places_.slot(before.index);
    slot.declared = before.declared;
    slot.written = before.written;
  }
}

uint32_t VariableManager::allocate(const compiler::Variable& variable, const Demand& demand) {
  if (!places_.has_free_entry()) throw_table_full(variable, demand);
  require_power(fmt::format("allocate variable {}", graph::in_quotes(variable.identity)));
  VariableStorage place = wanted_place(variable, nullptr, demand.options);
  find_place(variable, place, demand);

  ++generation_;
  VariableSlot slot;
  slot.owner = demand.owner;
  slot.identity = variable.identity;
  slot.tensor_name = variable.tensor_name;
  slot.type = variable.type;
  set_sizes(sizes_of(variable), slot);
  slot.declared = slot.sizes.shape;
  slot.untouched = variable.initial;
  slot.late = variable.declared_late;
  slot.place = place;
  const uint32_t index = places_.insert(std::move(slot));
  try {
    write_initial(index, variable, demand.options.zero_init);
  } catch (...) {
    places_.erase(index);
    values_.doubt(index);
    throw;
  }
  return index;
}

void VariableManager::write_initial(uint32_t index, const compiler::Variable& variable, bool zero_init) {
  const bool has_content = !variable.initial.empty() || zero_init;
  std::vector<uint8_t> initial = variable.initial;
  if (has_content) initial.resize(variable.bytes);
  values_.place(index, initial);
  values_.write_entry(index, has_content ? static_cast<uint8_t>(VariableFlag::kIsWritten) : uint8_t{0});
}

VariableStorage VariableManager::wanted_place(const compiler::Variable& variable, const VariableSlot* slot,
                                              const ContextOptions& options) {
  VariableStorage place;
  place.in_dram = variable.in_dram && (slot == nullptr || slot->place.in_dram);
  place.double_buffered = options.double_buffer && (variable.written || (slot != nullptr && slot->written));
  return place;
}

void VariableManager::find_place(const compiler::Variable& variable, VariableStorage& place, const Demand& demand) {
  if (place.address != 0 && places_.take(variable.bytes, place)) return;
  if (places_.allocate(variable.bytes, place)) return;
  if (place.in_dram) throw_dram_full(variable, place, demand);
  const uint64_t bytes = places_.piece_bytes(variable.bytes, place);
  if (!make_room(bytes) || !places_.allocate(variable.bytes, place)) throw_persistent_full(variable, place, demand);
}

bool VariableManager::needs_move(const VariableSlot& slot, const VariableStorage& to, const graph::Shape& largest) {
  return to.in_dram != slot.place.in_dram || to.double_buffered != slot.place.double_buffered ||
         largest != slot.sizes.largest;
}

void VariableManager::adapt(uint32_t index, const compiler::Variable& variable, const Demand& demand) {
  const VariableSlot& slot = places_.slot(index);
  const bool written = slot.written || variable.written;
  const VariableStorage to = wanted_place(variable, &slot, demand.options);
  const VariableSizes sizes = merged(slot.sizes, sizes_of(variable));
  if (needs_move(slot, to, sizes.largest)) {
    const std::string name = graph::in_quotes(slot.identity);
    if (!is_quiet(slot.owner)) {
      throw Error(ErrorCode::kWrongOrder,
                  fmt::format("this program needs variable {} in another place, and it cannot move while a job of the "
                              "context is in flight; wait for its end first.",
                              name));
    }
    require_power(fmt::format("move variable {}", name));
    relocate(index, variable, to, sizes.largest, demand);
  }
  bind(index, sizes.shape);
  VariableSlot& adapted = places_.slot(index);
  adapted.declared = merged({adapted.declared, sizes.largest}, sizes_of(variable)).shape;
  adapted.written = written;
}

// --- Sizes

void VariableManager::require_sizes(std::span<const uint32_t> indices, std::span<const graph::Shape> shapes) const {
  for (size_t i = 0; i < indices.size(); ++i) {
    const VariableSlot& slot = places_.slot(indices[i]);
    if (agree(slot.sizes, {shapes[i], shapes[i]})) continue;
    throw Error(
        ErrorCode::kVariableMismatch,
        fmt::format("variable {} is {} until it is cleared, but {} by the sizes of this job; give inputs of the "
                    "size that it has, or clear it first (in a snapshot: npu state clear).",
                    graph::in_quotes(slot.identity), describe(slot.type, slot.sizes),
                    graph::describe_type(slot.type, shapes[i])));
  }
}

void VariableManager::bind(uint32_t index, const graph::Shape& shape) {
  VariableSlot& slot = places_.slot(index);
  if (slot.sizes.shape == shape) return;
  const uint8_t flags = values_.read_entry(index).flags;
  const VariableSizes before = slot.sizes;
  set_sizes({shape, before.largest}, slot);
  try {
    values_.write_entry(index, flags);
  } catch (...) {
    set_sizes(before, slot);
    throw;
  }
}

// --- De-allocation

bool VariableManager::clear(uint16_t owner, std::string_view identity) {
  const std::optional<uint32_t> index = places_.find(owner, identity);
  if (!index) return false;
  require_power("clear a variable");
  release({&*index, 1});
  return true;
}

void VariableManager::clear_all(uint16_t owner) { release(places_.of_owner(owner)); }

void VariableManager::forget_all() {
  ++generation_;
  uncounted_.clear();
  places_.erase_all();
  values_.forget_doubts();
  table_.set_lost(false);
}

void VariableManager::lose() {
  if (uses_ == 0) return forget_all();
  table_.set_lost(true);
}

void VariableManager::release(std::span<const uint32_t> indices) {
  if (indices.empty()) return;
  ++generation_;
  const bool reachable = power_ == contract::PsramPower::kOn;
  std::exception_ptr failure;
  for (const uint32_t index : indices) {
    try {
      if (reachable) values_.mend(index);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    std::erase_if(uncounted_, [index](const Uncounted& late) { return late.index == index; });
    places_.erase(index);
    values_.doubt(index);
  }
  if (reachable) values_.settle();
  if (failure) std::rethrow_exception(failure);
}

// --- Looking

std::vector<VariableInfo> VariableManager::list(uint16_t owner) {
  const std::vector<uint32_t> indices = places_.of_owner(owner);
  if (indices.empty()) return {};
  require_power("list variables");
  count_late();
  const std::vector<VariableEntry> entries = values_.read_entries(indices);
  std::vector<VariableInfo> result;
  for (size_t i = 0; i < indices.size(); ++i) result.push_back(info(indices[i], entries[i].flags));
  return result;
}

VariableInfo VariableManager::info(uint32_t index, uint8_t flags) const {
  const VariableSlot& slot = places_.slot(index);
  VariableInfo info;
  info.identity = slot.identity;
  info.tensor_name = slot.tensor_name;
  info.type = slot.type;
  info.shape = slot.sizes.shape;
  if (has_open(slot.declared)) info.largest = slot.sizes.largest;
  info.bytes = slot.bytes;
  info.room = slot.room;
  info.offset = slot.place.address;
  info.index = index;
  info.is_written = is_written(slot, flags);
  info.in_dram = slot.place.in_dram;
  info.double_buffered = slot.place.double_buffered;
  // While a job of the context runs, a write under way is no interrupted one.
  info.torn = is_quiet(slot.owner) ? is_torn(flags) : has(flags, VariableFlag::kTorn);
  info.last_writer = slot.last_writer;
  info.invocations = slot.invocations;
  return info;
}

std::string VariableManager::identity_of(uint32_t index) const {
  if (places_.taken(index)) return places_.slot(index).identity;
  return fmt::format("(free table entry {})", index);
}

// --- Contents

bool VariableManager::is_written(const VariableSlot& slot, uint8_t flags) {
  if (!has(flags, VariableFlag::kIsWritten) || has_open(slot.sizes.shape)) return false;
  return !slot.untouched || !slot.late || has(flags, VariableFlag::kDeclared);
}

std::vector<uint8_t> VariableManager::read(uint32_t index) {
  require_power("read a variable");
  const uint8_t flags = values_.read_entry(index).flags;
  if (!is_written(places_.slot(index), flags)) {
    throw Error(ErrorCode::kVariableUnwritten,
                fmt::format("variable {} was never written nor initialised, so there is nothing to read; write it, or "
                            "run a job that does.",
                            graph::in_quotes(places_.slot(index).identity)));
  }
  if (is_torn(flags)) {
    const VariableSlot& slot = places_.slot(index);
    throw Error(ErrorCode::kVariableTorn,
                fmt::format("{}; write it, clear it, or restore a snapshot.",
                            slot.entry_lost
                                ? fmt::format("the table entry of variable {} had two wrong bits in a word, so its "
                                              "contents are unknown",
                                              graph::in_quotes(slot.identity))
                                : fmt::format("a write of variable {} was interrupted, so its content is neither old "
                                              "nor new",
                                              graph::in_quotes(slot.identity))));
  }
  return values_.read(index, flags);
}

void VariableManager::write(uint32_t index, std::span<const uint8_t> bytes, std::string_view writer) {
  require_power("write a variable");
  places_.slot(index).untouched.reset();
  uint8_t flags = 0;
  try {
    flags = values_.read_entry(index).flags;
  } catch (const Error& error) {
    // Content and entry are replaced, so that their old values do not matter.
    if (error.code() != ErrorCode::kFaultEcc) throw;
  }
  values_.write(index, with(flags, VariableFlag::kDeclared), bytes);
  places_.slot(index).last_writer = writer;
}

void VariableManager::start_anew(uint32_t index, const compiler::Variable& variable, const ContextOptions& options) {
  require_power("write a variable");
  ++generation_;  // the next job of each program is the first again to declare it
  VariableSlot& slot = places_.slot(index);
  set_sizes({slot.declared, slot.sizes.largest}, slot);
  write_initial(index, variable, options.zero_init);
  slot.untouched = variable.initial;
  slot.late = slot.late || variable.declared_late;
  slot.entry_lost = false;
  slot.last_writer.clear();
  slot.invocations = 0;
}

bool VariableManager::begin(std::span<const uint32_t> indices, std::span<const compiler::Variable> variables,
                            const ContextOptions& options) {
  for (const uint32_t index : indices) {
    VariableSlot& slot = places_.slot(index);
    if (!slot.untouched || !slot.late) continue;
    if (has(values_.read_entry(index).flags, VariableFlag::kDeclared)) slot.untouched.reset();
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!variables[i].read_first || !places_.slot(indices[i]).untouched) continue;
    throw Error(
        ErrorCode::kVariableUndeclared,
        fmt::format("variable {} is used before its declaration, so that only another program of the context can "
                    "have given it a value: run that one before (npu stream --share), or restore a snapshot that has "
                    "the variable (npu run --resume)",
                    graph::in_quotes(variables[i].identity)));
  }
  bool all_declared = true;
  for (size_t i = 0; i < indices.size(); ++i) {
    VariableSlot& slot = places_.slot(indices[i]);
    if (!slot.untouched) continue;
    if (*slot.untouched != variables[i].initial) write_initial(indices[i], variables[i], options.zero_init);
    if (variables[i].declared_late) {
      slot.untouched = variables[i].initial;
      slot.late = true;
      all_declared = false;
    } else {
      slot.untouched.reset();
    }
  }
  return all_declared;
}

bool VariableManager::depends_on_jobs(uint16_t owner, std::span<const compiler::Variable> variables) const {
  return std::any_of(variables.begin(), variables.end(), [&](const compiler::Variable& variable) {
    const std::optional<uint32_t> index = places_.find(owner, variable.identity);
    // The table says only of the last execution whether it declared the variable, so that each is asked for by itself.
    return index && places_.slot(*index).late;
  });
}

void VariableManager::count_invocation(std::span<const uint32_t> indices, std::span<const compiler::Variable> variables,
                                       uint8_t epoch) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (variables[i].declared_late) {
      uncounted_.push_back({indices[i], epoch, variables[i].writer});
    } else {
      count(indices[i], variables[i].writer);
    }
  }
}

void VariableManager::count_late() {
  for (const Uncounted& late : std::exchange(uncounted_, {})) {
    if (!places_.taken(late.index)) continue;
    const VariableEntry entry = values_.read_entry(late.index);
    if (has(entry.flags, VariableFlag::kSeenValid) && entry.seen_epoch == late.epoch) count(late.index, late.writer);
  }
}

void VariableManager::count(uint32_t index, const std::string& writer) {
  VariableSlot& slot = places_.slot(index);
  if (slot.invocations < UINT64_MAX) ++slot.invocations;  // a snapshot may have brought any number
  if (writer.empty()) return;
  slot.last_writer = writer;
  slot.entry_lost = false;
}

void VariableManager::note_damage(uint32_t index) {
  if (places_.taken(index)) {
    places_.slot(index).damaged = true;
    values_.suspect(index);
  } else if (index < places_.entries()) {
    values_.doubt(index);
  }
}

void VariableManager::renew_free_entries() {
  for (uint32_t index = 0; index < places_.entries(); ++index) {
    if (!places_.taken(index)) values_.doubt(index);
  }
  settle();
}

std::vector<uint32_t> VariableManager::find_damaged() {
  std::vector<uint32_t> damaged;
  for (uint32_t index = 0; index < places_.entries(); ++index) {
    try {
      if (places_.taken(index)) values_.check_readable(index);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kFaultEcc) throw;
      damaged.push_back(index);
    }
  }
  return damaged;
}

void VariableManager::forget_seen(uint16_t owner) {
  const std::vector<uint32_t> indices = places_.of_owner(owner);
  const std::vector<VariableEntry> entries = values_.read_entries(indices);
  std::vector<VariableEntries::Write> writes;
  for (size_t i = 0; i < indices.size(); ++i) writes.push_back(values_.entry(indices[i], entries[i].flags));
  values_.write_entries(writes);
}

}  // namespace npu::runtime
