# SPDX-License-Identifier: Apache-2.0
"""npu_contract.h: the contract in C11 (and C++), for firmware and drivers in C."""

from generator.model import Contract
from generator.text import comment, notice, trailing

PREAMBLE = """#ifndef NPU_CONTRACT_H_
#define NPU_CONTRACT_H_

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
"""

HELPERS = """// A field of a command: NPU_GET(words, DMA_MODE) and, into words that are 0 there, NPU_PUT(words, DMA_MODE, value).
// Signed fields come out sign-extended by NPU_GET_SIGNED. Arrays: NPU_GET_AT(words, DMA_COUNT, index).
#define NPU_GET(words, field) npu_get((words), NPU_##field##_WORD, NPU_##field##_LSB, NPU_##field##_WIDTH)
#define NPU_GET_SIGNED(words, field) \\
  npu_get_signed((words), NPU_##field##_WORD, NPU_##field##_LSB, NPU_##field##_WIDTH)
#define NPU_GET_AT(words, field, index)                                                               \\
  npu_get((words), NPU_##field##_WORD + (NPU_##field##_LSB + (index) * NPU_##field##_WIDTH) / 32u,    \\
          (NPU_##field##_LSB + (index) * NPU_##field##_WIDTH) % 32u, NPU_##field##_WIDTH)
#define NPU_PUT(words, field, value) \\
  npu_put((words), NPU_##field##_WORD, NPU_##field##_LSB, NPU_##field##_WIDTH, (uint32_t)(value))

static inline uint32_t npu_get(const uint32_t *words, uint32_t word, uint32_t lsb, uint32_t width) {
  return words[word] >> lsb & (0xffffffffu >> (32u - width));
}

static inline int32_t npu_get_signed(const uint32_t *words, uint32_t word, uint32_t lsb, uint32_t width) {
  const uint32_t sign = 1u << (width - 1u);
  return (int32_t)((npu_get(words, word, lsb, width) ^ sign) - sign);
}

static inline void npu_put(uint32_t *words, uint32_t word, uint32_t lsb, uint32_t width, uint32_t value) {
  words[word] |= (value & (0xffffffffu >> (32u - width))) << lsb;
}
"""


def macro(name: str, value: str, doc: str = "") -> list:
    return trailing(f"#define NPU_{name.upper()} {value}", doc)


def enum(name: str, members: list, heading: str = "") -> list:
    """`members`: (name, value as text, doc)."""
    lines = comment(heading) if heading else []
    lines += [f"enum npu_{name} {{"]
    for member, value, doc in members:
        lines += trailing(f"  NPU_{name.upper()}_{member.upper()} = {value},", doc)
    return lines + ["};", ""]


def registers(contract: Contract) -> list:
    lines = comment("Registers: byte offsets, and position and mask of their fields.")
    groups = {}
    for reg in contract.registers:
        base = f"reg_{reg.name}"
        doc = reg.doc + ("" if reg.access == "rw" else " Read only.")
        if reg.group:
            groups[reg.group] = reg
            lines += comment(doc) + [f"#define NPU_{base.upper()}(index) ({reg.offset:#05x}u + (index) * {reg.step}u)"]
        else:
            lines += macro(base, f"{reg.offset:#05x}u", doc)
        for entry in reg.fields:
            mask = ((1 << entry.width) - 1) << entry.lsb
            lines += macro(f"{base}_{entry.name}_lsb", f"{entry.lsb}u")
            lines += macro(f"{base}_{entry.name}_mask", f"{mask:#x}u", entry.doc)
        if reg.reset:
            lines += macro(f"{base}_reset", f"{reg.reset:#x}u")
    for group, reg in groups.items():
        lines += macro(f"reg_{group}_count", f"{reg.count}u", f"Elements of the {group}_* registers.")
    lines += macro("register_space_bytes", f"{contract.register_space:#x}u", "Size of the register file.")
    for window in contract.windows:
        lines += macro(f"{window.name}_window", f"{window.base:#x}u", window.doc)
    lines += [""] + comment("What the control CPU sees.")
    for part in contract.cpu_map:
        lines += macro(f"cpu_{part.name}_base", f"{part.base:#x}u", part.doc)
        lines += macro(f"cpu_{part.name}_bytes", f"{part.bytes:#x}u")
    return lines + [""]


def capabilities(contract: Contract) -> list:
    lines = comment("Capability registers, read only, and a structure for what they say.")
    for cap in contract.capabilities:
        lines += macro(f"reg_cap_{cap.name}", f"{cap.offset:#05x}u")
    lines += macro("capability_count", f"{len(contract.capabilities)}u")
    lines += ["", "struct npu_capabilities {"]
    for cap in contract.capabilities:
        lines += trailing(f"  uint32_t {cap.name};", f"{cap.unit}. {cap.doc}")
    return lines + ["};", ""]


def fields(prefix: str, entries: list) -> list:
    lines = []
    for entry in entries:
        if entry.reserved:
            continue
        name = f"{prefix}_{entry.name}"
        if entry.kind == "address":
            lines += macro(f"{name}_word", f"{entry.word}u", entry.doc or "Address: two words.")
            continue
        lines += macro(f"{name}_word", f"{entry.word}u", entry.doc)
        lines += macro(f"{name}_lsb", f"{entry.lsb}u") + macro(f"{name}_width", f"{entry.width}u")
        if entry.array:
            lines += macro(f"{name}_count", f"{entry.array}u")
    return lines


def commands(contract: Contract) -> list:
    lines = comment("Commands: word, lowest bit and width of every field. All words are little endian in memory.")
    lines += macro("header_words", f"{contract.header_words}u") + fields("header", contract.header) + [""]
    lines += comment("The two words of an address: word 0 is the byte offset.")
    lines += macro("address_region_word", "1u") + macro("address_region_lsb", "0u") + macro("address_region_width", "8u")
    lines += macro("address_variable_word", "1u") + macro("address_variable_lsb", "8u")
    lines += macro("address_variable_width", "16u") + [""]
    for command in contract.commands:
        lines += comment(command.doc) + macro(f"{command.name}_words", f"{command.words}u")
        lines += fields(command.name, command.fields)
        for group in command.groups:
            lines += macro(f"{command.name}_max_{group.name}", f"{group.max}u",
                           f"The {group.name} follow, {group.words} words each.")
            lines += macro(f"{group.element}_words", f"{group.words}u") + fields(group.element, group.fields)
        lines += [""]
    return lines + HELPERS.splitlines() + [""]


def structures(contract: Contract) -> list:
    lines = []
    for item in contract.structures:
        kind = f"struct npu_{item.name}"
        lines += comment(item.doc + " Little endian.") + [f"{kind} {{"]
        for entry in sorted(item.fields, key=lambda f: f.offset):
            plain = f"{'' if entry.signed else 'u'}int{entry.bytes * 8}_t"
            lines += trailing(f"  {plain} {entry.name}{f'[{entry.array}]' if entry.array else ''};", entry.doc)
        lines += ["};", f'static_assert(sizeof({kind}) == {item.bytes}, "size of {item.name}");']
        for entry in item.fields:
            lines += [f'static_assert(offsetof({kind}, {entry.name}) == {entry.offset}, "{item.name}.{entry.name}");']
        lines += [""]
    return lines


def header(contract: Contract) -> str:
    lines = [notice("*.yaml")] + PREAMBLE.splitlines() + [""]
    lines += macro("contract_major", f"{contract.major}u") + macro("contract_minor", f"{contract.minor}u") + [""]
    for item in contract.constants:
        lines += macro(item.name, f"{item.value}u", item.doc)
    lines += [""] + registers(contract) + capabilities(contract)
    lines += enum("counter", [(c.name, c.index, c.doc) for c in contract.counters],
                  "Performance counters; counter c of queue q is element q * NPU_COUNTERS_PER_QUEUE + c.")
    lines += macro("counters_per_queue", f"{contract.counters_per_queue}u") + [""]
    lines += enum("error", [(e.name, f"{e.code:#x}", e.doc) for e in contract.errors],
                  "Error codes: (class << 8) | number.")
    for name, members in contract.enums.items():
        lines += enum(name, [(m, value, contract.enum_docs[name][m]) for m, value in members.items()])
    lines += commands(contract) + structures(contract)
    return "\n".join(lines + ["#endif  // NPU_CONTRACT_H_", ""])
