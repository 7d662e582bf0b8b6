# SPDX-License-Identifier: Apache-2.0
"""npu_contract_pkg.sv: the contract as a SystemVerilog package. A command is a packed structure of all its bits."""

from generator.model import Contract
from generator.text import comment, notice, pascal, trailing

# Words that a field of the contract may be called, but not a member in SystemVerilog (`queue`: in Verilator's C++); they get
# a '_' at their end.
KEYWORDS = set("""always and assign begin bit break buf byte case class config const continue default disable do edge else end
enum event export extends final for force forever function if import initial input inside int integer interface join local
logic longint macromodule module nand negedge new nor not null or output package packed parameter posedge priority program
property protected pull0 pull1 pure queue rand ref reg release repeat return scalared sequence shortint signed small solve static
string struct strong0 strong1 super supply0 supply1 table tagged task this time tran tri type typedef union unique unsigned
var vectored virtual void wait wand weak0 weak1 while wire with within wor xnor xor""".split())

ENUM_BITS = 8


def member(name: str) -> str:
    return name + "_" if name in KEYWORDS else name


def parameter(name: str, value: str, doc: str = "", kind: str = "int unsigned") -> list:
    return trailing(f"  parameter {kind} {name} = {value};", doc)


def enum(name: str, members: list, bits: int, heading: str = "") -> list:
    """`members`: (name, value, doc)."""
    lines = comment(heading, "  ") if heading else []
    lines += [f"  typedef enum logic [{bits - 1}:0] {{"]
    for i, (item, value, doc) in enumerate(members):
        comma = "," if i + 1 < len(members) else ""
        lines += trailing(f"    {pascal(name)}{pascal(item)} = {bits}'h{value:x}{comma}", doc)
    return lines + [f"  }} {name}_e;", ""]


def registers(contract: Contract) -> list:
    lines = comment("Registers: byte offsets, and lowest bit and width of their fields.", "  ")
    groups = {}
    for reg in contract.registers:
        base = "Reg" + pascal(reg.name)
        lines += parameter(base, f"32'h{reg.offset:x}", reg.doc + ("" if reg.access == "rw" else " Read only."),
                           "logic [31:0]")
        for entry in reg.fields:
            lines += parameter(f"{base}{pascal(entry.name)}Lsb", str(entry.lsb), entry.doc)
            lines += parameter(f"{base}{pascal(entry.name)}Width", str(entry.width))
        if reg.group:
            groups[reg.group] = reg
        if reg.reset:
            lines += parameter(f"{base}Reset", f"32'h{reg.reset:x}", kind="logic [31:0]")
    for group, reg in groups.items():
        lines += parameter(f"Reg{pascal(group)}Count", str(reg.count), f"Elements of the {group}_* registers.")
        lines += parameter(f"Reg{pascal(group)}Step", str(reg.step), "Bytes from one to the next.")
    lines += parameter("RegisterSpaceBytes", f"32'h{contract.register_space:x}", kind="logic [31:0]")
    for window in contract.windows:
        lines += parameter(f"{pascal(window.name)}Window", f"32'h{window.base:x}", window.doc, "logic [31:0]")
    for part in contract.cpu_map:
        lines += parameter(f"Cpu{pascal(part.name)}Base", f"32'h{part.base:x}", part.doc, "logic [31:0]")
        lines += parameter(f"Cpu{pascal(part.name)}Bytes", f"32'h{part.bytes:x}", kind="logic [31:0]")
    lines += [""]
    lines += comment("Capability registers, read only.", "  ")
    for cap in contract.capabilities:
        lines += parameter(f"RegCap{pascal(cap.name)}", f"32'h{cap.offset:x}", f"{cap.unit}. {cap.doc}", "logic [31:0]")
    return lines + parameter("CapabilityCount", str(len(contract.capabilities))) + [""]


def vector(width: int, signed: bool, array: int) -> str:
    """Type of a field. Elements of a signed packed array would be unsigned, unless their type has a name."""
    if array and signed:
        return f"signed{width}_t [{array - 1}:0]"
    kind = ("logic signed" if signed else "logic") + (f" [{array - 1}:0]" if array else "")
    return kind + (f" [{width - 1}:0]" if width > 1 or array else "")


def packed(name: str, entries: list, heading: str, header: bool = False) -> list:
    """A packed structure; SystemVerilog lists the highest bits first."""
    lines = comment(heading, "  ") + ["  typedef struct packed {"]
    for entry in sorted(entries, key=lambda f: (f.word, f.lsb), reverse=True):
        if entry.kind == "address":
            kind = "address_t"
        elif entry.kind == "enum" and entry.width == ENUM_BITS:
            kind = f"{entry.enum}_e"
        else:
            kind = vector(entry.width, entry.kind == "signed", entry.array)
        doc = entry.doc or (f"{entry.enum}_e" if entry.kind == "enum" and entry.width != ENUM_BITS else "")
        lines += trailing(f"    {kind} {member(entry.name)};", doc)
    if header:
        lines += ["    header_t header;"]
    return lines + [f"  }} {name}_t;", ""]


def structure(item) -> list:
    lines = comment(item.doc + " As it lies in memory, byte 0 lowest.", "  ") + ["  typedef struct packed {"]
    for entry in sorted(item.fields, key=lambda f: f.offset, reverse=True):
        lines += trailing(f"    {vector(entry.bytes * 8, entry.signed, entry.array)} {member(entry.name)};", entry.doc)
    return lines + [f"  }} {item.name}_t;", ""]


def signed_elements(contract: Contract) -> list:
    """Widths of the elements of signed arrays."""
    fields = contract.header + [f for c in contract.commands for part in [c] + c.groups for f in part.fields]
    widths = {f.width for f in fields if f.array and f.kind == "signed"}
    return sorted(widths | {f.bytes * 8 for s in contract.structures for f in s.fields if f.array and f.signed})


def package(contract: Contract) -> str:
    lines = [notice("*.yaml"), "package npu_contract_pkg;", ""]
    lines += parameter("ContractMajor", str(contract.major)) + parameter("ContractMinor", str(contract.minor)) + [""]
    for item in contract.constants:
        lines += parameter(pascal(item.name), str(item.value), item.doc)
    lines += [""] + registers(contract)
    lines += enum("counter", [(c.name, c.index, c.doc) for c in contract.counters], ENUM_BITS,
                  "Performance counters; counter c of queue q is element q * CountersPerQueue + c.")
    lines += parameter("CountersPerQueue", str(contract.counters_per_queue)) + [""]
    lines += enum("error", [(e.name, e.code, e.doc) for e in contract.errors], 32, "Error codes: (class << 8) | number.")
    for name, members in contract.enums.items():
        lines += enum(name, [(m, value, contract.enum_docs[name][m]) for m, value in members.items()], ENUM_BITS)
    lines += comment("Elements of signed arrays.", "  ")
    lines += [f"  typedef logic signed [{width - 1}:0] signed{width}_t;" for width in signed_elements(contract)] + [""]
    lines += comment("Two words of a command.", "  ")
    lines += ["  typedef struct packed {", "    logic [7:0] reserved;", "    logic [15:0] variable;", "    region_e region;",
              "    logic [31:0] offset;", "  } address_t;", ""]
    lines += packed("header", contract.header, "First words of every command; word 0 is the lowest.")
    lines += parameter("HeaderWords", str(contract.header_words)) + [""]
    for command in contract.commands:
        lines += parameter(f"{pascal(command.name)}Words", str(command.words))
        for group in command.groups:
            lines += parameter(f"Max{pascal(group.name)}", str(group.max))
            lines += parameter(f"{pascal(group.element)}Words", str(group.words))
        lines += packed(f"{command.name}_command", command.fields, command.doc, header=True)
        for group in command.groups:
            lines += packed(group.element, group.fields, f"One of the {group.name} of {command.name}.")
    for item in contract.structures:
        lines += structure(item)
    return "\n".join(lines + ["endpackage : npu_contract_pkg", ""])
