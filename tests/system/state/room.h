// SPDX-License-Identifier: Apache-2.0
// What variables take of a device, as plainly as can be: one list of them, whose bytes and entries are added up. The
// driver moves variables together where that makes room, so nothing but the sum counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/capabilities.h"
#include "tests/system/state/rules.h"

namespace npu::test {

class Room {
 public:
  struct Place {
    Form form;
    uint64_t bytes = 0;       // of its content
    bool written = false;     // by a program that its context has loaded since it is there
    bool in_dram = false;     // every program so far was compiled for that
    bool two_places = false;  // one for the old value, one for the new
  };
  using Places = std::map<std::string, Place>;  // of one context, by identity

  explicit Room(const contract::Capabilities& caps);

  // What the contexts hold, by number.
  [[nodiscard]] std::map<int, Places>& contexts() { return contexts_; }
  // A context gets the variables of a program, one after the other, each new one or one that its place does not suit in
  // a place that is free then. What refuses it: kOk, kVariableMismatch, kVariableTableFull, kPersistentFull, or
  // kFaultPower for what needs power and has none. Then nothing has changed.
  [[nodiscard]] contract::ErrorCode declare(int context, const std::vector<compiler::Variable>& variables,
                                            bool double_buffer, bool power);

  [[nodiscard]] uint64_t entries() const;
  [[nodiscard]] uint64_t sram_bytes() const;
  // Variables that were allocated in DRAM.
  [[nodiscard]] int64_t spilled() const { return spilled_; }

 private:
  [[nodiscard]] contract::ErrorCode declare(Places& places, const compiler::Variable& variable, bool double_buffer,
                                            bool power);
  [[nodiscard]] uint64_t sram_bytes(const Place& place) const;

  uint64_t entries_, capacity_, port_bytes_;
  std::map<int, Places> contexts_;
  int64_t spilled_ = 0;
};

}  // namespace npu::test
