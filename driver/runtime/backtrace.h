// SPDX-License-Identifier: Apache-2.0
// Why the control CPU stopped, in words.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace npu::runtime {

// Names of code addresses.
class Symbols {
 public:
  // Lines "ADDRESS NAME" or, as nm prints them, "ADDRESS TYPE NAME", addresses hexadecimal; other lines are ignored.
  explicit Symbols(std::string_view text);
  // "npu_dispatch+0x12", or "0x1234" where no name is known.
  [[nodiscard]] std::string name(uint32_t address) const;
  // Whether both lie behind the same name.
  [[nodiscard]] bool same_function(uint32_t a, uint32_t b) const { return function(a) == function(b); }

 private:
  // Place in names_ of the function that an address lies in; its size where none is known.
  [[nodiscard]] size_t function(uint32_t address) const;

  std::vector<std::pair<uint32_t, std::string>> names_;  // by address
};

// What the registers and memories of a stopped CPU say.
struct StoppedCpu {
  uint32_t reason = 0;  // contract::CpuStop
  uint32_t pc = 0, cause = 0, value = 0;
  std::array<uint32_t, 32> registers{};
  std::vector<uint8_t> data;  // data memory
};

// Return addresses, innermost first, found along frame pointers: a frame holds the return address 4 bytes and the
// caller's frame pointer 8 bytes below its own. Ends where that makes no sense any more. A function that has no frame
// (its first instructions, or a jump to nowhere) was called from where the register ra says: elsewhere than in itself.
[[nodiscard]] std::vector<uint32_t> unwind(const StoppedCpu& cpu, const Symbols& symbols);

// "a+0x4 (pc 0x1004), called from b+0x8 from c+0x0".
[[nodiscard]] std::string describe_place(const StoppedCpu& cpu, const Symbols& symbols);

// "the control CPU stopped (trap): load access fault (mcause 5, mtval 0x0) at a+0x4, called from b+0x8 from c+0x0".
[[nodiscard]] std::string describe_stop(const StoppedCpu& cpu, const Symbols& symbols);

}  // namespace npu::runtime
