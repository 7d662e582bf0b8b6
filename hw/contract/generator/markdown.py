# SPDX-License-Identifier: Apache-2.0
"""docs/reference/contract.md: the contract for people."""

from generator.model import Command, Contract

INTRODUCTION = """What hardware, driver and firmware agree on: the registers of the host port, the capabilities of a device, the commands of
its engines, structures in memory, performance counters and error codes. All numbers are little endian; a word has 32 bits.
Reserved bits are written as 0."""


def table(heads: list, rows: list) -> list:
    def line(cells):
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    return [line(heads), line(["---"] * len(heads))] + [line(row) for row in rows] + [""]


def bits(lsb: int, width: int) -> str:
    return str(lsb) if width == 1 else f"{lsb + width - 1}:{lsb}"


def registers(contract: Contract) -> list:
    lines = ["## Registers", "",
             f"The register space has {contract.register_space:#x} bytes; every register has 32 bits. Block `id` is for everybody; `core` is the "
             "sequencer's: the control CPU's, or the host's on a device without one; `mailbox` is shared by host and firmware; "
             "`cpu` only the control CPU sees. `access` is the owner's view, for the mailbox the host's.", ""]
    rows = []
    for reg in contract.registers:
        offset = f"`{reg.offset:#05x}`" + (f" + {reg.step} × i, i < {reg.count}" if reg.count > 1 else "")
        reset = f" Resets to `{reg.reset:#x}`." if reg.reset else ""
        rows.append([offset, reg.block, f"`{reg.name}`", reg.access, reg.doc + reset])
    lines += table(["offset", "block", "register", "access", "meaning"], rows)
    lines += ["### Fields of registers", ""]
    rows = []
    for reg in contract.registers:
        for entry in reg.fields:
            doc = " ".join(filter(None, [entry.doc, f"One of [{entry.enum}](#{entry.enum})." if entry.enum else ""]))
            rows.append([f"`{reg.name}`", bits(entry.lsb, entry.width), f"`{entry.name}`", doc])
    return lines + table(["register", "bits", "field", "meaning"], rows)


def memory_maps(contract: Contract) -> list:
    lines = ["## Memory maps", "", "Memories that the host's port shows beside the registers:", ""]
    lines += table(["offset", "window", "meaning"], [[f"`{w.base:#010x}`", f"`{w.name}`", w.doc] for w in contract.windows])
    lines += ["What the control CPU sees:", ""]
    rows = [[f"`{p.base:#010x}`", f"{p.bytes // 1024} KiB", f"`{p.name}`", p.doc] for p in contract.cpu_map]
    return lines + table(["address", "size", "part", "meaning"], rows)


def capabilities(contract: Contract) -> list:
    lines = ["## Capabilities", "", "Read-only registers, and the keys of a machine's YAML file (hw/presets).", ""]
    rows = []
    for cap in contract.capabilities:
        allowed = f"{cap.min} to {cap.max}" + (", a power of two" if cap.power_of_two else "")
        rows.append([f"`{cap.offset:#05x}`", f"`{cap.name}`", cap.unit, allowed, cap.doc])
    return lines + table(["offset", "capability", "unit", "allowed", "meaning"], rows)


def counters(contract: Contract) -> list:
    lines = ["## Performance counters", "",
             f"{contract.counters_per_queue} for each queue, 64 bits wide; counter c of queue q is element q × "
             f"{contract.counters_per_queue} + c of `counter_lo` and `counter_hi`.", ""]
    return lines + table(["c", "counter", "meaning"], [[c.index, f"`{c.name}`", c.doc] for c in contract.counters])


def fields(entries: list) -> list:
    rows = []
    for entry in sorted(entries, key=lambda f: (f.word, f.lsb)):
        places = list(entry.places())
        last = entry.word + 1 if entry.kind == "address" else places[-1][0]
        words = str(entry.word) if last == entry.word else f"{entry.word} to {last}"
        where = "address" if entry.kind == "address" else bits(entry.lsb, entry.width)
        if entry.array:
            where = f"{entry.array} × {entry.width} bits"
        kind = {"enum": f"[{entry.enum}](#{entry.enum})", "signed": "signed", "address": "[address](#addresses)",
                "unsigned": ""}[entry.kind]
        name = "reserved" if entry.reserved else f"`{entry.name}`"
        rows.append([words, where, name, kind, entry.doc])
    return table(["word", "bits", "field", "type", "meaning"], rows)


def constants(contract: Contract) -> list:
    rows = [[f"`{item.name}`", item.value, item.doc] for item in contract.constants]
    return ["## Constants", "", "The same for every device.", ""] + table(["constant", "value", "meaning"], rows)


def commands(contract: Contract) -> list:
    lines = ["## Commands", "", "A stream of commands, one after the other; the first is `begin`, the last is `end`.", "",
             "### Header", "", "First words of every command.", ""] + fields(contract.header)
    lines += ["### Addresses", "", "Two words: the byte offset; then the region in bits 7:0 and, for the region `variable`, the index "
              "in the variable table in bits 23:8.", ""]
    for command in contract.commands:
        opcode = contract.enums["opcode"][command.opcode]
        length = f"{command.words} words" + "".join(f" + {g.words} × `{g.count}`" for g in command.groups)
        belongs = f", for queue `{command.queue}`" if command.queue else ""
        lines += [f"### Command `{command.name}`", "", f"Opcode {opcode}, {length}{belongs}. {command.doc}", ""]
        if command.fields:
            lines += fields(command.fields)
        lines += accesses(command)
        for group in command.groups:
            lines += [f"`{group.name}`: {group.words} words, `{group.count}` times, at most {group.max}.", ""]
            lines += fields(group.fields)
            if group.access:
                strides = sorted({stride.split("[")[0] for _, stride in group.access.dims})
                counts = sorted({count[0][0].name.split("[")[0] for count, _ in group.access.dims})
                lines += [f"{lie_in(command)} An operand is read or written as the [micro-operations](#micro-operations) name it: "
                          f"{total(group.access.run)} for each index of `{', '.join(counts)}`, `{', '.join(strides)}` bytes apart. One "
                          f"whose `{group.access.block}` is not 0 is a block, which is always read, as a whole.", ""]
    return lines


def total(products: list) -> str:
    def text(factor):
        return {"number": str(factor.value), "field": factor.name}.get(factor.kind, f"{factor.kind}({factor.name})")

    return " + ".join(" × ".join(text(factor) for factor in product) for product in products)


def lie_in(command: Command) -> str:
    *others, last = command.memories
    return f"Its addresses lie in {', '.join(others)}{' or ' if others else ''}{last}."


def window(item) -> str:
    dilation = f", its taps `{item.dilation}` apart" if item.dilation else ""
    return (f"those of {item.size}, by `{item.step}`, that a window reaches: of {item.count} of `{item.kernel}`{dilation}, `{item.stride}` apart, "
            f"the first {item.pad} before the box")


def accesses(command: Command) -> list:
    """What the command reads and writes."""
    rows = []
    for access in command.accesses:
        box = [f"{total(count)} by `{stride}`" for count, stride in access.dims]
        box += [window(item) for item in access.windows]
        when = ""
        if access.condition:
            name, members, positive = access.condition
            when = f"`{name}` is {'' if positive else 'not '}{' or '.join(members)}"
        moved = f"; {total(access.moves)} are moved" if access.moves else ""
        rows.append([f"`{access.field}`", "written" if access.write else "read", when, "; ".join(box), total(access.run) + moved])
    if not rows:
        return []
    heads = ["address", "is", "when", "for each of", "bytes"]
    return [f"{lie_in(command)} `bytes` is the size of an element type, `size` that of a structure.", ""] + table(heads, rows)


def micro_operations(contract: Contract) -> list:
    lines = ["## Micro-operations", "",
             "Of `vpu_ewise`; see [uop](#uop) for what they compute. A field names the register of the result or of a source, an operand of "
             "which an element is loaded or stored, an operand that is a parameter block or a table, an element type, or holds a number. "
             "Fields without an entry are not looked at.", ""]

    def meaning(role):
        if role is None:
            return ""
        if role.role == "element":
            return f"element: {', '.join(role.elements)}"
        if role.role == "table":
            return f"operand, {role.bytes} bytes"
        if role.role == "packed":
            return f"[{role.packed}](#{role.packed})"
        if role.role == "number" and (role.low, role.high) != (-(1 << 31), (1 << 31) - 1):
            return f"{role.low} to {role.high}"
        return role.role

    keys = ("dst", "a", "b", "imm0", "imm1")
    rows = [[f"`{name}`"] + [meaning(roles.get(key)) for key in keys] for name, roles in contract.micro_operations.items()]
    lines += table(["operation"] + list(keys), rows)
    for item in contract.immediates:
        lines += [f"### {item.name}", "", item.doc, ""] + fields(item.fields)
        lines += [f"`{name}` is {' or '.join(members)}." for name, members in item.only.items()]
        lines += [f"Never {' with '.join(f'`{k}` {str(v).lower()}' for k, v in exclusion.items())}." for exclusion in item.excludes] + [""]
    return lines


def enums(contract: Contract) -> list:
    lines = ["## Enumerations", ""]
    for name, members in contract.enums.items():
        docs = contract.enum_docs[name]
        rows = [[value, f"`{m}`", docs[m]] for m, value in members.items()]
        if any(docs.values()):
            rows = table(["value", "name", "meaning"], rows)
        else:
            rows = table(["value", "name"], [row[:2] for row in rows])
        lines += [f"### {name}", ""] + rows
    return lines


def structures(contract: Contract) -> list:
    lines = ["## Structures in memory", ""]
    for item in contract.structures:
        lines += [f"### `{item.name}`", "", f"{item.bytes} bytes. {item.doc}", ""]
        rows = []
        for entry in sorted(item.fields, key=lambda f: f.offset):
            kind = f"{'' if entry.signed else 'u'}int{entry.bytes * 8}" + (f"[{entry.array}]" if entry.array else "")
            name = "reserved" if entry.reserved else f"`{entry.name}`"
            rows.append([entry.offset, kind, name, entry.doc])
        lines += table(["byte", "type", "field", "meaning"], rows)
    return lines


def errors(contract: Contract) -> list:
    lines = ["## Errors", "", "A code is (class << 8) | number; its class is the exit status of `npu`.", ""]
    for cls in contract.classes:
        rows = [[f"`{e.code:#05x}`", f"`{e.name}`", e.doc] for e in contract.errors if e.cls is cls]
        lines += [f"### Exit status {cls.id}: {cls.name}", "", cls.doc, ""] + table(["code", "name", "meaning"], rows)
    return lines


def reference(contract: Contract) -> str:
    lines = ["<!-- Generated by hw/contract/generate.py from hw/contract/*.yaml; do not edit. -->",
             f"# The contract, version {contract.major}.{contract.minor}", "", INTRODUCTION, ""]
    for part in (registers, memory_maps, capabilities, constants, counters, commands, micro_operations, enums, structures, errors):
        lines += part(contract)
    return "\n".join(lines).rstrip("\n") + "\n"
