// SPDX-License-Identifier: Apache-2.0
// The variables of all contexts of a device: what programs declare gets a place (variable_places.h) and a content
// (variable_values.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compiler/dram_needs.h"
#include "driver/compiler/program.h"
#include "driver/runtime/guarded_table.h"
#include "driver/runtime/link.h"
#include "driver/runtime/range_allocator.h"
#include "driver/runtime/runtime.h"
#include "driver/runtime/variable_places.h"
#include "driver/runtime/variable_values.h"
#include "hw/contract/advice.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::runtime {

class VariableManager {
 public:
  VariableManager(Hal& hal, VariableEntries& table, const contract::Capabilities& caps, RangeAllocator& dram);

  // Says of a context whether none of its jobs is in flight, so that its variables may move.
  std::function<bool(uint16_t owner)> is_quiet = [](uint16_t) { return true; };

  // Table index of each variable. Those that `owner` does not have yet are allocated, first fit, and get their initial
  // value; when one cannot be, none is, and those that it has stay as they are. Variables of quiet contexts move where
  // that makes room. A variable in DRAM that a program wants in the persistent SRAM moves there. Throws Error:
  // kVariableMismatch, kPersistentFull, kDramFull, kVariableTableFull; kFaultPower where the persistent SRAM has no
  // power for it; kWrongOrder when a variable would have to move while a job of its context is in flight; kFaultEcc.
  [[nodiscard]] std::vector<uint32_t> declare(uint16_t owner, std::span<const compiler::Variable> variables,
                                              const ContextOptions& options);

  // De-allocates one variable of `owner` (false: it has none of that identity), or all.
  bool clear(uint16_t owner, std::string_view identity);
  // Without power of the persistent SRAM their entries are freed when it is back.
  void clear_all(uint16_t owner);
  // The device lost its table and its persistent memory.
  void forget_all();
  // The same, found during a call that uses the device. While a Use lives, all stays known, so that the call keeps what
  // it works on. The call fails with Error(kPowerLost) at its exchange with the table, and everything is forgotten when
  // the last Use ends.
  void lose();
  class Use {
   public:
    explicit Use(VariableManager& variables) : variables_(variables) { ++variables_.uses_; }
    ~Use() {
      if (--variables_.uses_ == 0 && variables_.table_.lost()) variables_.forget_all();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    VariableManager& variables_;
  };
  // In order.
  [[nodiscard]] std::vector<std::string> identities_of(uint16_t owner) const { return places_.identities_of(owner); }
  [[nodiscard]] std::vector<uint32_t> of_owner(uint16_t owner) const { return places_.of_owner(owner); }
  [[nodiscard]] std::vector<uint16_t> owners() const { return places_.owners(); }

  [[nodiscard]] std::vector<VariableInfo> list(uint16_t owner);
  [[nodiscard]] std::optional<uint32_t> find(uint16_t owner, std::string_view identity) const {
    return places_.find(owner, identity);
  }
  [[nodiscard]] const VariableSlot& slot(uint32_t index) const { return places_.slot(index); }
  [[nodiscard]] bool taken(uint32_t index) const { return places_.taken(index); }
  // Name of the variable in an entry of the table, for messages.
  [[nodiscard]] std::string identity_of(uint32_t index) const;

  // Of a variable whose context is quiet. Throws Error(kVariableUnwritten, kVariableTorn, kFaultEcc,
  // kFaultPower) naming it.
  [[nodiscard]] std::vector<uint8_t> read(uint32_t index);
  void write(uint32_t index, std::span<const uint8_t> bytes, std::string_view writer);
  // As if it had been cleared and declared again by `variable`, where it is: sizes that jobs bring are open again.
  void start_anew(uint32_t index, const compiler::Variable& variable, const ContextOptions& options);
  // A job of a program for sizes within bounds is about to start, and brings these shapes, within those bounds. Throws
  // Error(kVariableMismatch) naming both sizes where the context holds a variable in another one.
  void require_sizes(std::span<const uint32_t> indices, std::span<const graph::Shape> shapes) const;
  // The sizes of a variable from now on; open ones may be among them. They have room. Not while a job that uses it is
  // in flight.
  void bind(uint32_t index, const graph::Shape& shape);
  // A job of a program with these is about to start. Variables that no job has declared so far, and that are unwritten,
  // get its initial values, as if its declarations had been the first: others may have been loaded before. Throws
  // Error(kVariableUndeclared) where the program reads such a variable before it declares it. False: the job may end
  // without having declared all of them, so that the next one has to begin, too.
  bool begin(std::span<const uint32_t> indices, std::span<const compiler::Variable> variables,
             const ContextOptions& options);
  // Whether begin() of a program with these depends on what jobs in flight will declare.
  [[nodiscard]] bool depends_on_jobs(uint16_t owner, std::span<const compiler::Variable> variables) const;
  // A job of a program with these has ended well; `epoch` is that of its execution. Those that it may have declared
  // late are counted by count_late(): it asks the device, which the one who tells of the end may be waiting for.
  void count_invocation(std::span<const uint32_t> indices, std::span<const compiler::Variable> variables,
                        uint8_t epoch);
  void count_late();
  void set_invocations(uint32_t index, uint64_t invocations) { places_.slot(index).invocations = invocations; }

  // The device found two wrong bits in a word of the variable, or of its entry; nothing if it is not an entry.
  void note_damage(uint32_t index);
  // Writes the entries that are free anew: what the device has in them may be damaged. Others only if they are.
  void renew_free_entries();
  // What of the persistent SRAM a program with these would lack on this machine.
  [[nodiscard]] std::vector<contract::Need> lacking(uint16_t owner, std::span<const compiler::Variable> variables,
                                                    const ContextOptions& options) const;

  // Indices of those variables in which two wrong bits are found now.
  [[nodiscard]] std::vector<uint32_t> find_damaged();

  // Entries remember 8 bits of the execution that declared them. Called when these repeat in a context without jobs in
  // flight, so that an entry from 256 executions ago is not taken for declared in this one.
  void forget_seen(uint16_t owner);
  // Before a job: puts right what the device may still hold of variables that are gone, and entries with two wrong
  // bits.
  void settle() {
    values_.settle();
    const Use use(*this);
    values_.mend_entries(is_quiet);
  }

  // Of the persistent SRAM, as it was last switched or seen.
  [[nodiscard]] contract::PsramPower power() const { return power_; }
  void set_power(contract::PsramPower state) { power_ = state; }
  // Throws Error(kFaultPower) unless it is on; `call` completes the sentence "cannot ...".
  void require_power(std::string_view call) const;

  // Changes whenever a variable was allocated or de-allocated, or changed between SRAM and DRAM: until then declare()
  // answers the same.
  [[nodiscard]] uint64_t generation() const { return generation_; }
  [[nodiscard]] uint64_t bytes() const { return places_.sram().capacity(); }
  [[nodiscard]] uint64_t bytes_used() const { return places_.sram().used(); }
  [[nodiscard]] uint64_t dram_bytes_used() const { return places_.dram_used(); }
  [[nodiscard]] uint32_t entries() const { return places_.entries(); }
  [[nodiscard]] uint32_t entries_used() const { return places_.entries_used(); }

 private:
  // All that one program declares.
  struct Demand {
    uint16_t owner;
    std::span<const compiler::Variable> variables;
    const ContextOptions& options;
  };
  // What a declaration did to a variable that the context held already.
  struct Adapted {
    uint32_t index;
    const compiler::Variable& variable;
    // Before:
    VariableStorage place;
    VariableSizes sizes;
    graph::Shape declared;
    bool written;
  };
  // Takes a declaration back, as far as the device can be reached.
  void undo(std::span<const uint32_t> fresh, std::span<const Adapted> adapted, const Demand& demand);
  uint32_t allocate(const compiler::Variable& variable, const Demand& demand);
  void write_initial(uint32_t index, const compiler::Variable& variable, bool zero_init);
  // Whether it has a value, by the flags of its entry. One that only late declarations name has none before the first.
  [[nodiscard]] static bool is_written(const VariableSlot& slot, uint8_t flags);
  // What the place of a variable has to be like, whether the context holds it already (`slot`) or not (null); the
  // address is not set.
  [[nodiscard]] static VariableStorage wanted_place(const compiler::Variable& variable, const VariableSlot* slot,
                                                    const ContextOptions& options);
  // A place for it: the address in `place` if that is free, else from what is free or can be freed; or throws.
  void find_place(const compiler::Variable& variable, VariableStorage& place, const Demand& demand);
  // Whether another place, or a larger one, is wanted.
  [[nodiscard]] static bool needs_move(const VariableSlot& slot, const VariableStorage& to,
                                       const graph::Shape& largest);
  // Gives a variable that the context holds already the place that this program needs, and the sizes that it says.
  void adapt(uint32_t index, const compiler::Variable& variable, const Demand& demand);

  // Moving (variable_moves.cpp).
  void relocate(uint32_t index, const compiler::Variable& variable, VariableStorage to, const graph::Shape& largest,
                const Demand& demand);
  // Moves variables so that a piece of `bytes` gets free; false when there is no way.
  [[nodiscard]] bool make_room(uint64_t bytes);
  struct Content {
    uint8_t flags = 0;
    std::vector<uint8_t> bytes;
  };
  using Contents = std::map<uint32_t, Content>;  // by table index
  // What moves for that, with what it holds; nullopt when there is no way.
  [[nodiscard]] std::optional<std::vector<VariableMove>> plan_room(uint64_t bytes, Contents& contents);
  // Adds what the variable holds; false when two of its bits are wrong.
  [[nodiscard]] bool read_content(uint32_t index, Contents& contents);
  // Bytes, then entries, to where the books have the variables now.
  void write_contents(const std::vector<VariableMove>& moves, const Contents& contents);

  // An invocation that may have declared the variable.
  struct Uncounted {
    uint32_t index;
    uint8_t epoch;
    std::string writer;
  };
  void count(uint32_t index, const std::string& writer);
  void release(std::span<const uint32_t> indices);
  [[nodiscard]] VariableInfo info(uint32_t index, uint8_t flags) const;

  // Entries of the table, and bytes of persistent SRAM with that table, with which all of the demand would fit beside
  // what others have; `place` is what `variable` needs, unless that is null.
  struct Room {
    uint64_t entries, bytes;
  };
  [[nodiscard]] Room needed_room(const compiler::Variable* variable, const VariableStorage& place,
                                 const Demand& demand) const;
  // What the machine has too little of for that.
  [[nodiscard]] std::vector<contract::Need> lacking(const Room& room) const;
  // Of the demand, without `variable`: those that take DRAM and have none yet.
  [[nodiscard]] compiler::DramNeeds dram_needs(const compiler::Variable& variable, const Demand& demand) const;
  [[nodiscard]] std::string larger_machine(const Room& room, const compiler::Variable& variable,
                                           const Demand& demand) const;
  [[noreturn]] void throw_dram_full(const compiler::Variable& variable, const VariableStorage& place,
                                    const Demand& demand) const;
  [[noreturn]] void throw_persistent_full(const compiler::Variable& variable, const VariableStorage& place,
                                          const Demand& demand) const;
  [[noreturn]] void throw_table_full(const compiler::Variable& variable, const Demand& demand) const;

  VariablePlaces places_;
  GuardedTable table_;
  VariableValues values_;
  RangeAllocator& dram_;
  std::vector<Uncounted> uncounted_;
  uint32_t uses_ = 0;
  contract::PsramPower power_ = contract::PsramPower::kOn;
  uint64_t generation_ = 1;
};

}  // namespace npu::runtime
