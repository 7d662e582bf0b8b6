// The variables of all contexts of a device: places in the persistent SRAM and entries of the device's variable table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/runtime/link.h"
#include "driver/runtime/range_allocator.h"
#include "driver/runtime/runtime.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"

namespace npu::runtime {

class VariableManager {
 public:
  VariableManager(Hal& hal, VariableTable& table, const contract::Capabilities& caps);

  // Table index of each variable. Those that `owner` does not have yet are allocated, first fit, and get their initial
  // value; when one cannot be, none is. Throws Error: kVariableMismatch, kPersistentFull, kVariableTableFull.
  [[nodiscard]] std::vector<uint32_t> declare(uint16_t owner, std::span<const compiler::Variable> variables,
                                              bool zero_init);

  // De-allocates one variable of `owner` (false: it has none of that identity), or all.
  bool clear(uint16_t owner, std::string_view identity);
  void clear_all(uint16_t owner);
  // The device lost its table and its persistent memory.
  void forget_all();

  [[nodiscard]] std::vector<VariableInfo> list(uint16_t owner) const;
  [[nodiscard]] std::optional<VariableInfo> find(uint16_t owner, std::string_view identity) const;
  // Name of the variable in an entry of the table, for messages.
  [[nodiscard]] std::string identity_of(uint32_t index) const;
  [[nodiscard]] std::vector<uint8_t> read(uint32_t index) const;
  // Gives a variable a content, or with no bytes makes it unwritten.
  void write(uint32_t index, std::span<const uint8_t> bytes, std::string_view writer);
  // A job that declared these, as `variables` of its program, has ended well.
  void count_invocation(std::span<const uint32_t> indices, std::span<const compiler::Variable> variables);
  void set_invocations(uint32_t index, uint64_t invocations) { slots_[index]->invocations = invocations; }

  // Entries remember 8 bits of the execution that declared them. Called when these repeat in a context without jobs in
  // flight, so that an entry from 256 executions ago is not taken for declared in this one.
  void forget_seen(uint16_t owner);

  // Changes whenever a variable was allocated or de-allocated: until then declare() answers the same.
  [[nodiscard]] uint64_t generation() const { return generation_; }
  [[nodiscard]] uint64_t bytes() const { return memory_.capacity(); }
  [[nodiscard]] uint64_t bytes_used() const { return memory_.used(); }
  [[nodiscard]] uint32_t entries() const { return static_cast<uint32_t>(slots_.size()); }
  [[nodiscard]] uint32_t entries_used() const;

 private:
  struct Slot {
    uint16_t owner = 0;
    std::string identity, tensor_name;
    graph::DType type = graph::DType::kUnknown;
    graph::Shape shape;
    uint32_t offset = 0, bytes = 0;
    std::string last_writer = {};
    uint64_t invocations = 0;
  };

  [[nodiscard]] std::optional<uint32_t> index_of(uint16_t owner, std::string_view identity) const;
  uint32_t allocate(uint16_t owner, const compiler::Variable& variable, bool zero_init,
                    std::span<const compiler::Variable> wanted);
  [[noreturn]] void throw_persistent_full(uint16_t owner, const compiler::Variable& variable,
                                          std::span<const compiler::Variable> wanted) const;
  [[noreturn]] void throw_table_full(uint16_t owner, const compiler::Variable& variable,
                                     std::span<const compiler::Variable> wanted) const;
  // Variables of `wanted` that `owner` has not: how many, and the memory that they take.
  [[nodiscard]] std::vector<const compiler::Variable*> missing(uint16_t owner,
                                                               std::span<const compiler::Variable> wanted) const;
  void write_initial(uint32_t index, const compiler::Variable& variable, bool zero_init);
  void release(std::span<const uint32_t> indices);
  [[nodiscard]] std::vector<uint32_t> indices_of(uint16_t owner) const;
  [[nodiscard]] VariableInfo info(uint32_t index, const contract::VariableEntry& entry) const;
  [[nodiscard]] contract::VariableEntry read_entry(uint32_t index) const;

  Hal& hal_;
  VariableTable& table_;
  uint64_t table_bytes_;
  RangeAllocator memory_;
  std::vector<std::optional<Slot>> slots_;  // by table index
  uint64_t generation_ = 1;
};

}  // namespace npu::runtime
