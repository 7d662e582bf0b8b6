# SPDX-License-Identifier: Apache-2.0
"""C++ headers: errors.h, capabilities.h, registers.h (commands.h: cpp_commands.py)."""

from generator.model import BLOCKS, Contract
from generator.text import comment, constant, notice, pascal, quote, trailing


def header(source: str, includes: list, body: list) -> str:
    lines = [notice(source), "#pragma once", ""]
    system = [i for i in includes if not i.startswith('"')]
    own = [i for i in includes if i.startswith('"')]
    lines += [f"#include {i}" for i in sorted(system)]
    if own:
        lines += [""] + [f"#include {i}" for i in sorted(own)]
    lines += ["", "namespace npu::contract {", ""] + body + ["", "}  // namespace npu::contract", ""]
    return "\n".join(lines)


def name_function(enum: str, members: list, comment_text: str = "") -> list:
    """`name(Enum)`: the YAML name of a value, "?" for a number that names none."""
    lines = comment(comment_text) if comment_text else []
    lines += [f"[[nodiscard]] constexpr std::string_view name({enum} value) {{", "  switch (value) {"]
    for member in members:
        lines += [f"    case {enum}::{constant(member)}:", f"      return {quote(member)};"]
    return lines + ["  }", '  return "?";', "}"]


def errors(contract: Contract) -> str:
    body = comment("Every error that a user or a device can meet; a code is (class << 8) | number.")
    body += ["enum class ErrorCode : uint32_t {"]
    for error in contract.errors:
        body += trailing(f"  {constant(error.name)} = {error.code:#x},", error.doc)
    body += ["};", ""]
    body += name_function("ErrorCode", [e.name for e in contract.errors],
                          'Its name as users see it, "require_failed"; "?" for a number that is no code.')
    body += [""] + comment("What the code means, one sentence.")
    body += ["[[nodiscard]] constexpr std::string_view describe(ErrorCode code) {", "  switch (code) {"]
    for error in contract.errors:
        body += [f"    case ErrorCode::{constant(error.name)}:", f"      return {quote(error.doc)};"]
    body += ["  }", '  return "An unknown error code.";', "}", ""]
    body += comment("Exit status of the command line: the class of the code.")
    body += ["[[nodiscard]] constexpr int exit_status(ErrorCode code) { return static_cast<int>(code) >> 8; }"]
    return header("errors.yaml", ["<cstdint>", "<string_view>"], body)


def capabilities(contract: Contract) -> str:
    body = comment("What a device says about itself: the capability registers, in their order.")
    body += ["struct Capabilities {"]
    for cap in contract.capabilities:
        body += trailing(f"  uint32_t {cap.name} = 0;", f"{cap.unit}. {cap.doc}")
    body += ["", "  friend constexpr bool operator==(const Capabilities&, const Capabilities&) = default;", "};", ""]
    body += ["struct CapabilityInfo {", "  std::string_view name;", "  std::string_view unit;", "  std::string_view doc;",
             "  uint32_t min;", "  uint32_t max;", "  bool power_of_two;",
             "  uint32_t register_offset;  // bytes from the base of the register file",
             "  uint32_t Capabilities::*member;",
             "  std::optional<uint32_t> otherwise;  // in a machine's file without it, for each of `times`; none: it must be there",
             "  uint32_t Capabilities::*times;  // or null", "};", "",
             f"inline constexpr uint32_t kCapabilityCount = {len(contract.capabilities)};", "",
             "inline constexpr std::array<CapabilityInfo, kCapabilityCount> kCapabilities = {{"]
    for cap in contract.capabilities:
        body += [f"    {{{quote(cap.name)}, {quote(cap.unit)},", f"     {quote(cap.doc)},",
                 f"     {cap.min}, {cap.max}, {str(cap.power_of_two).lower()}, {cap.offset:#x}, "
                 f"&Capabilities::{cap.name}, {'std::nullopt' if cap.otherwise is None else cap.otherwise}, "
                 + (f"&Capabilities::{cap.times}" if cap.times else "nullptr") + "},"]
    body += ["}};", ""]
    body += comment("FNV-1a (32 bit) over the capability registers in order, little endian: the value of register "
                    "caps_hash.")
    body += ["[[nodiscard]] constexpr uint32_t caps_hash(const Capabilities& caps) {", "  uint32_t hash = 0x811c9dc5;",
             "  for (const CapabilityInfo& info : kCapabilities) {",
             "    for (uint32_t shift = 0; shift < 32; shift += 8) {",
             "      hash = (hash ^ (caps.*info.member >> shift & 0xff)) * 0x01000193;", "    }", "  }",
             "  return hash;", "}"]
    return header("capabilities.yaml", ["<array>", "<cstdint>", "<optional>", "<string_view>"], body)


def registers(contract: Contract) -> str:
    body = comment("Registers: byte offsets, masks of their fields. All registers are 32 bits wide.")
    body += ["namespace reg {", ""]
    groups = {}
    for reg in contract.registers:
        base = constant(reg.name)
        access = "" if reg.access == "rw" else " Read only."
        body += comment(reg.doc + access)
        body += [f"inline constexpr uint32_t {base} = {reg.offset:#05x};"]
        for entry in reg.fields:
            mask = ((1 << entry.width) - 1) << entry.lsb
            body += trailing(f"inline constexpr uint32_t {base}{pascal(entry.name)}Mask = {mask:#x};", entry.doc)
            body += [f"inline constexpr uint32_t {base}{pascal(entry.name)}Lsb = {entry.lsb};"]
        if reg.group:
            groups[reg.group] = reg
            body += [f"[[nodiscard]] constexpr uint32_t {reg.name}(uint32_t index) "
                     f"{{ return {base} + index * {reg.step}; }}"]
        if reg.reset:
            body += [f"inline constexpr uint32_t {base}Reset = {reg.reset:#x};"]
        body += [""]
    for group, reg in groups.items():
        body += comment(f"Elements of the {group}_* registers, and bytes from one to the next.")
        body += [f"inline constexpr uint32_t {constant(group)}Count = {reg.count};",
                 f"inline constexpr uint32_t {constant(group)}Step = {reg.step};", ""]
    body += comment("Capability registers, read only.")
    for cap in contract.capabilities:
        body += [f"inline constexpr uint32_t {constant('cap_' + cap.name)} = {cap.offset:#05x};"]
    body += ["", "}  // namespace reg", "", "// Size of the register file."]
    body += [f"inline constexpr uint32_t kRegisterSpaceBytes = {contract.register_space:#x};"]
    for window in contract.windows:
        body += comment("Where the host's socket shows it: " + window.doc[0].lower() + window.doc[1:])
        body += [f"inline constexpr uint32_t k{pascal(window.name)}Window = {window.base:#x};"]
    body += ["", "// What the control CPU sees."]
    for part in contract.cpu_map:
        body += comment(part.doc)
        body += [f"inline constexpr uint32_t kCpu{pascal(part.name)}Base = {part.base:#x};",
                 f"inline constexpr uint32_t kCpu{pascal(part.name)}Bytes = {part.bytes:#x};"]
    body += [""]
    body += comment("Performance counters of one queue.")
    body += ["enum class Counter : uint32_t {"]
    for counter in contract.counters:
        body += trailing(f"  {constant(counter.name)} = {counter.index},", counter.doc)
    body += ["};", "", f"inline constexpr uint32_t kCounterCount = {len(contract.counters)};"]
    body += comment("Counters of queue q start at index q * kCountersPerQueue.")
    body += [f"inline constexpr uint32_t kCountersPerQueue = {contract.counters_per_queue};", ""]
    body += comment("Index of a counter in the counter_lo and counter_hi registers.")
    body += ["[[nodiscard]] constexpr uint32_t counter_index(uint32_t queue, Counter counter) {",
             "  return queue * kCountersPerQueue + static_cast<uint32_t>(counter);", "}", ""]
    body += name_function("Counter", [c.name for c in contract.counters])
    body += [""] + comment("Whose a register is; see registers.yaml.")
    body += ["enum class Block : uint8_t { " + ", ".join(constant(block) for block in BLOCKS) + " };"]
    body += ["", "struct RegisterInfo {", "  std::string_view name;", "  Block block;",
             "  uint32_t offset;  // of the first element", "  uint32_t count;", "  uint32_t step;", "  bool writable;",
             "  uint32_t reset;", "};", ""]
    body += comment("Every register but the capabilities (kCapabilities).")
    body += [f"inline constexpr std::array<RegisterInfo, {len(contract.registers)}> kRegisters = {{{{"]
    for reg in contract.registers:
        writable = "true" if reg.access == "rw" else "false"
        body += [f"    {{{quote(reg.name)}, Block::{constant(reg.block)}, {reg.offset:#05x}, {reg.count}, {reg.step}, {writable}, {reg.reset:#x}}},"]
    body += ["}};"]
    return header("registers.yaml", ["<array>", "<cstdint>", "<string_view>"], body)
