// SPDX-License-Identifier: Apache-2.0
// What a debugger's commands mean for a halted CPU: takes the payload of a packet, does it, and gives the answer's.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "hw/model/cpu_debugger.h"
#include "sim/platform/gdb_protocol.h"

namespace npu::platform::gdb {

class Session {
 public:
  enum class Then : uint8_t { kStay, kContinue, kStep, kDetach };
  struct Answer {
    std::optional<std::string> reply;  // payload; an empty one says that the command is unknown
    Then then = Then::kStay;
  };

  explicit Session(model::CpuDebugPort& cpu) : cpu_(cpu) {}

  // A debugger has connected; it asks why the CPU halted.
  void restart(model::CpuDebugger::Halt why);
  // The CPU halted again after kContinue or kStep; returns the answer to that.
  [[nodiscard]] std::string halted(model::CpuDebugger::Halt why);
  [[nodiscard]] Answer handle(std::string_view packet);
  // The debugger has agreed to do without + and -.
  [[nodiscard]] bool without_acks() const { return without_acks_; }
  // What a debugger leaves behind that goes away.
  void remove_breakpoints();

 private:
  [[nodiscard]] Answer query(std::string_view packet);
  [[nodiscard]] Answer read_features(Fields fields) const;
  [[nodiscard]] std::string read_registers() const;
  [[nodiscard]] std::string write_registers(Fields fields);
  [[nodiscard]] std::string read_register(Fields fields) const;
  [[nodiscard]] std::string write_register(Fields fields);
  [[nodiscard]] std::string read_memory(Fields fields);
  [[nodiscard]] std::string write_memory(Fields fields, bool binary);
  [[nodiscard]] std::string set_breakpoint(Fields fields, bool on);
  [[nodiscard]] Answer resume(Fields fields, bool signal, Then then);
  [[nodiscard]] Answer resume_threads(Fields fields);
  [[nodiscard]] std::string stop_reply() const;

  model::CpuDebugPort& cpu_;
  model::CpuDebugger::Halt why_ = model::CpuDebugger::Halt::kReset;
  std::set<uint32_t> breakpoints_;
  bool without_acks_ = false;
};

}  // namespace npu::platform::gdb
