// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/backtrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {
namespace {

constexpr size_t kDeepest = 16;
constexpr size_t kRa = 1, kFp = 8;  // registers x1 and x8

std::string_view next_word(std::string_view& line) {
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

bool is_code(uint32_t address) { return address % 2 == 0 && address < contract::kCpuCodeBytes && address != 0; }

bool is_frame(uint32_t pointer) {
  return pointer % 4 == 0 && pointer >= contract::kCpuDataBase + 8 &&
         pointer <= contract::kCpuDataBase + contract::kCpuDataBytes;
}

std::optional<uint32_t> load(const StoppedCpu& cpu, uint32_t address) {
  const uint32_t offset = address - contract::kCpuDataBase;
  if (offset > cpu.data.size() || cpu.data.size() - offset < 4) return std::nullopt;
  uint32_t word = 0;
  std::memcpy(&word, cpu.data.data() + offset, sizeof(word));
  return word;
}

// The exceptions of the privileged architecture; the CPU has machine mode only.
std::string_view cause_name(uint32_t cause) {
  switch (cause) {
    case 0:
      return "instruction address misaligned";
    case 1:
      return "instruction access fault";
    case 2:
      return "illegal instruction";
    case 3:
      return "breakpoint";
    case 4:
      return "load address misaligned";
    case 5:
      return "load access fault";
    case 6:
      return "store address misaligned";
    case 7:
      return "store access fault";
    case 11:
      return "environment call";
    case 0x80000003:
      return "software interrupt";
    case 0x80000007:
      return "timer interrupt";
    case 0x8000000b:
      return "external interrupt";
    default:
      return "unknown cause";
  }
}

}  // namespace

Symbols::Symbols(std::string_view text) {
  while (!text.empty()) {
    const size_t length = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    const std::string_view digits = next_word(line);
    std::string_view name = next_word(line);
    if (const std::string_view third = next_word(line); !third.empty()) name = third;
    uint32_t address = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
    if (error != std::errc{} || end != digits.data() + digits.size() || name.empty()) continue;
    if (address < contract::kCpuCodeBytes) names_.emplace_back(address, name);
  }
  std::sort(names_.begin(), names_.end());
}

size_t Symbols::function(uint32_t address) const {
  const auto after = std::upper_bound(names_.begin(), names_.end(), address,
                                      [](uint32_t wanted, const auto& entry) { return wanted < entry.first; });
  if (after == names_.begin() || address >= contract::kCpuCodeBytes) return names_.size();
  return static_cast<size_t>(after - names_.begin()) - 1;
}

std::string Symbols::name(uint32_t address) const {
  const size_t index = function(address);
  if (index == names_.size()) return fmt::format("{:#x}", address);
  const auto& [start, name] = names_[index];
  return address == start ? name : fmt::format("{}+{:#x}", name, address - start);
}

std::vector<uint32_t> unwind(const StoppedCpu& cpu, const Symbols& symbols) {
  std::vector<uint32_t> callers;
  uint32_t frame = cpu.registers[kFp];
  while (callers.size() < kDeepest && is_frame(frame)) {
    const std::optional<uint32_t> above = load(cpu, frame - 4), below = load(cpu, frame - 8);
    if (!above || !below) break;
    uint32_t caller = *above, next = *below;
    // A function that calls nothing keeps its return address in the register and saves only the frame pointer.
    if (callers.empty() && !is_code(caller) && is_frame(caller)) {
      next = caller;
      caller = cpu.registers[kRa];
    }
    if (!is_code(caller)) break;
    callers.push_back(caller);
    if (next <= frame) break;  // the stack grows downwards
    frame = next;
  }
  const uint32_t ra = cpu.registers[kRa];
  const bool known = !callers.empty() && callers.front() == ra;
  if (is_code(ra) && !known && !symbols.same_function(ra, cpu.pc)) callers.insert(callers.begin(), ra);
  return callers;
}

std::string describe_place(const StoppedCpu& cpu, const Symbols& symbols) {
  std::string text = fmt::format("{} (pc {:#x})", symbols.name(cpu.pc), cpu.pc);
  std::string_view called = ", called";
  for (const uint32_t caller : unwind(cpu, symbols)) {
    text += fmt::format("{} from {}", called, symbols.name(caller));
    called = "";
  }
  return text;
}

std::string describe_stop(const StoppedCpu& cpu, const Symbols& symbols) {
  std::string text = "the control CPU stopped";
  const auto reason = static_cast<contract::CpuStop>(cpu.reason);
  switch (reason) {
    case contract::CpuStop::kWatchdog:
      text += " (watchdog): its firmware ran in a loop";
      break;
    default:
      text += fmt::format(" ({}): {} (mcause {:#x}, mtval {:#x})", contract::name(reason), cause_name(cpu.cause),
                          cpu.cause, cpu.value);
      break;
  }
  return text + " at " + describe_place(cpu, symbols);
}

}  // namespace npu::runtime
