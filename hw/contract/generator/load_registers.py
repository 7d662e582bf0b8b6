# SPDX-License-Identifier: Apache-2.0
"""Reads registers.yaml: registers, memory maps and counters."""

from generator.model import BLOCKS, Contract, Counter, Field, Range, Register
from generator.source import MAX_WORD, Source


def _load_register_field(src: Source, item, where: str, contract: Contract) -> Field:
    item = src.mapping(item, where, "name lsb width", "doc enum")
    name = src.identifier(item["name"], where)
    where = f"{where}, field {name}"
    lsb = src.integer(item, "lsb", where, 0, 31)
    width = src.integer(item, "width", where, 1, 32)
    if lsb + width > 32:
        src.fail(where, f"bits {lsb + width - 1}:{lsb} do not fit into a register of 32 bits")
    enum = src.choice(item, "enum", where, list(contract.enums)) if "enum" in item else ""
    for member, value in contract.enums.get(enum, {}).items():
        if value >> width:
            src.fail(where, f"{width} bits are too few for '{member}' = {value} of enum {enum}")
    return Field(name, 0, lsb, width, "enum" if enum else "unsigned", enum, 0, src.text(item, "doc", where))


def _load_register(src: Source, item, contract: Contract) -> Register:
    item = src.mapping(item, "registers", "name offset access doc", "reset fields array block")
    name = src.identifier(item["name"], "registers")
    where = f"register {name}"
    offset = src.integer(item, "offset", where, 0, MAX_WORD)
    reg = Register(name, src.choice(item, "block", where, BLOCKS, "core"), offset, src.choice(item, "access", where, ("ro", "rw")),
                   src.integer(item, "reset", where, 0, MAX_WORD, 0), src.text(item, "doc", where), [])
    if "array" in item:
        array = src.mapping(item["array"], f"{where}, array", "count step", "group")
        reg.count = src.integer(array, "count", where, 1, 4096)
        reg.step = src.integer(array, "step", where, 4, 4096)
        reg.group = src.identifier(array["group"], where) if "group" in array else name
    if offset % 4 or reg.step % 4:
        src.fail(where, f"the offset {offset:#x} or its step is not a multiple of 4")
    reg.fields = [_load_register_field(src, f, where, contract) for f in src.sequence(item.get("fields", []), where)]
    src.unique(reg.fields, where, "name", lambda f: f.name)
    owner = {}
    for entry in reg.fields:
        for bit in range(entry.lsb, entry.lsb + entry.width):
            if bit in owner:
                src.fail(where, f"the fields '{owner[bit]}' and '{entry.name}' overlap in bit {bit}")
            owner[bit] = entry.name
    return reg


def load_registers(src: Source, contract: Contract):
    root = src.mapping(src.root, "file", "size windows cpu_map registers counters_per_queue counters")
    size = contract.register_space = src.integer(root, "size", "file", 4, 0x10000000)
    contract.windows = _load_ranges(src, root["windows"], "windows", "offset", size)
    contract.cpu_map = _load_ranges(src, root["cpu_map"], "cpu_map", "base", 0)
    contract.registers = [_load_register(src, item, contract) for item in src.sequence(root["registers"], "registers")]
    src.unique(contract.registers, "registers", "name", lambda r: r.name)
    owner = {cap.offset: f"capability {cap.name}" for cap in contract.capabilities}
    for reg in contract.registers:
        for offset in reg.offsets():
            if offset in owner:
                src.fail(f"register {reg.name}", f"it has the offset {offset:#x} of {owner[offset]}")
            owner[offset] = f"register {reg.name}"
    for offset, name in owner.items():
        if offset + 4 > size:
            src.fail(name, f"the offset {offset:#x} lies beyond the register file's {size:#x} bytes")
    groups = {}
    for reg in contract.registers:
        if reg.group and groups.setdefault(reg.group, (reg.count, reg.step)) != (reg.count, reg.step):
            src.fail(f"register {reg.name}", f"the registers of group '{reg.group}' differ in count or step")
    _load_counters(src, root, contract)


def _load_ranges(src: Source, items, what: str, key: str, first: int) -> list:
    """Ascending; those with `bytes` do not overlap."""
    ranges = []
    for item in src.sequence(items, what):
        item = src.mapping(item, what, f"name {key} doc", "bytes")
        name = src.identifier(item["name"], what)
        where = f"{what}, {name}"
        base = src.integer(item, key, where, first, MAX_WORD)
        size = src.integer(item, "bytes", where, 0, MAX_WORD + 1 - base, 0)
        if base % 4096 or size % 4096:
            src.fail(where, "its place or its bytes are not a multiple of 4096")
        ranges.append(Range(name, base, size, src.text(item, "doc", where)))
        first = base + max(size, 1)
    src.unique(ranges, what, "name", lambda r: r.name)
    return ranges


def _load_counters(src: Source, root: dict, contract: Contract):
    per_queue = contract.counters_per_queue = src.integer(root, "counters_per_queue", "file", 1, 256)
    for item in src.sequence(root["counters"], "counters"):
        item = src.mapping(item, "counters", "name index doc")
        name = src.identifier(item["name"], "counters")
        where = f"counter {name}"
        contract.counters.append(
            Counter(name, src.integer(item, "index", where, 0, per_queue - 1), src.text(item, "doc", where)))
    src.unique(contract.counters, "counters", "name", lambda c: c.name)
    src.unique(contract.counters, "counters", "index", lambda c: c.index)
    needed = per_queue * (max(contract.enums["queue"].values()) + 1)
    for reg in contract.registers:
        if reg.group == "counter" and reg.count < needed:
            src.fail(f"register {reg.name}", f"its {reg.count} elements are too few for {needed} counters")
