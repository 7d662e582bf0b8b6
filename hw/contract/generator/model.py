"""The contract in memory, checked. Every refusal is a ContractError: one sentence with file and name."""

from dataclasses import dataclass, field
from pathlib import Path

from generator.source import ContractError, Source  # noqa: F401  (re-exported for the caller)

MAX_WORD = 0xFFFFFFFF
BLOCKS = ("id", "core", "mailbox", "cpu")


@dataclass
class Field:
    """A field of a command, a repeat group or a register."""

    name: str
    word: int
    lsb: int
    width: int
    kind: str  # unsigned, signed, enum, address
    enum: str = ""
    array: int = 0
    doc: str = ""

    @property
    def reserved(self) -> bool:
        return self.name.startswith("reserved")

    def places(self):
        """(word, lsb) of each element."""
        for i in range(max(self.array, 1)):
            bit = self.lsb + i * self.width
            yield self.word + bit // 32, bit % 32


@dataclass
class Group:
    """Words that follow the fixed part of a command, `count` times."""

    name: str
    count: str
    max: int
    words: int
    fields: list

    @property
    def element(self) -> str:
        return self.name.removesuffix("s")


@dataclass
class Command:
    name: str
    opcode: str
    words: int
    doc: str
    fields: list
    groups: list

    @property
    def max_words(self) -> int:
        return self.words + sum(group.max * group.words for group in self.groups)


@dataclass
class StructField:
    name: str
    offset: int
    bytes: int
    signed: bool
    array: int
    doc: str

    @property
    def reserved(self) -> bool:
        return self.name.startswith("reserved")


@dataclass
class Structure:
    name: str
    bytes: int
    doc: str
    fields: list


@dataclass
class Register:
    name: str
    block: str
    offset: int
    access: str
    reset: int
    doc: str
    fields: list
    count: int = 1
    step: int = 0
    group: str = ""

    def offsets(self):
        return [self.offset + i * self.step for i in range(self.count)]


@dataclass
class Range:
    """A window of the host's socket (no bytes), or a part of the control CPU's address space."""

    name: str
    base: int
    bytes: int
    doc: str


@dataclass
class Capability:
    name: str
    unit: str
    min: int
    max: int
    power_of_two: bool
    doc: str
    offset: int


@dataclass
class Counter:
    name: str
    index: int
    doc: str


@dataclass
class ErrorClass:
    name: str
    id: int
    doc: str


@dataclass
class ErrorCode:
    name: str
    cls: ErrorClass
    number: int
    doc: str

    @property
    def code(self) -> int:
        return self.cls.id << 8 | self.number


@dataclass
class Contract:
    major: int = 0
    minor: int = 0
    enums: dict = field(default_factory=dict)  # name -> {member: value}
    enum_docs: dict = field(default_factory=dict)  # name -> {member: doc}
    header: list = field(default_factory=list)
    header_words: int = 0
    commands: list = field(default_factory=list)
    structures: list = field(default_factory=list)
    registers: list = field(default_factory=list)
    register_space: int = 0
    windows: list = field(default_factory=list)
    cpu_map: list = field(default_factory=list)
    counters: list = field(default_factory=list)
    counters_per_queue: int = 0
    capabilities: list = field(default_factory=list)
    classes: list = field(default_factory=list)
    errors: list = field(default_factory=list)


def load(folder: Path) -> Contract:
    contract = Contract()
    _load_errors(Source(folder / "errors.yaml"), contract)
    _load_capabilities(Source(folder / "capabilities.yaml"), contract)
    _load_commands(Source(folder / "commands.yaml"), contract)
    _load_registers(Source(folder / "registers.yaml"), contract)
    return contract


def _load_errors(src: Source, contract: Contract):
    root = src.mapping(src.root, "file", "classes errors")
    for item in src.sequence(root["classes"], "classes"):
        item = src.mapping(item, "classes", "name id doc")
        name = src.identifier(item["name"], "classes")
        where = f"class {name}"
        contract.classes.append(ErrorClass(name, src.integer(item, "id", where, 0, 125), src.text(item, "doc", where)))
    src.unique(contract.classes, "classes", "name", lambda c: c.name)
    src.unique(contract.classes, "classes", "id", lambda c: c.id)
    classes = {c.name: c for c in contract.classes}
    for item in src.sequence(root["errors"], "errors"):
        item = src.mapping(item, "errors", "name class number doc")
        name = src.identifier(item["name"], "errors")
        where = f"error {name}"
        cls = classes[src.choice(item, "class", where, list(classes))]
        number = src.integer(item, "number", where, 0, 255)
        contract.errors.append(ErrorCode(name, cls, number, src.text(item, "doc", where)))
    src.unique(contract.errors, "errors", "name", lambda e: e.name)
    src.unique(contract.errors, "errors", "code", lambda e: e.code)


def _load_capabilities(src: Source, contract: Contract):
    root = src.mapping(src.root, "file", "base capabilities")
    base = src.integer(root, "base", "file", 0, MAX_WORD)
    if base % 4:
        src.fail("file", f"'base' is {base:#x}, but must be a multiple of 4")
    for index, item in enumerate(src.sequence(root["capabilities"], "capabilities")):
        item = src.mapping(item, "capabilities", "name unit min max doc", "power_of_two")
        name = src.member(item["name"], "capabilities")
        where = f"capability {name}"
        low = src.integer(item, "min", where, 0, MAX_WORD)
        high = src.integer(item, "max", where, low, MAX_WORD)
        power = src.boolean(item, "power_of_two", where)
        if power and (low & (low - 1) or high & (high - 1) or low == 0):
            src.fail(where, f"'min' {low} and 'max' {high} must be powers of two")
        contract.capabilities.append(
            Capability(name, src.text(item, "unit", where), low, high, power, src.text(item, "doc", where),
                       base + 4 * index))
    src.unique(contract.capabilities, "capabilities", "name", lambda c: c.name)


def _load_field(src: Source, item, where: str, contract: Contract, words: int) -> Field:
    item = src.mapping(item, where, "name word", "lsb width type enum array doc")
    name = src.member(item["name"], where)
    where = f"{where}, field {name}"
    kind = src.choice(item, "type", where, ("unsigned", "signed", "enum", "address"), "unsigned")
    word = src.integer(item, "word", where, 0, words - 1)
    doc = src.text(item, "doc", where)
    if kind == "address":
        for key in ("lsb", "width", "enum", "array"):
            if key in item:
                src.fail(where, f"an address has no '{key}'")
        if word + 2 > words:
            src.fail(where, f"the address ends beyond the last word, {words - 1}")
        return Field(name, word, 0, 64, kind, doc=doc)
    for key in ("lsb", "width"):
        if key not in item:
            src.fail(where, f"the key '{key}' is missing")
    width = src.integer(item, "width", where, 1, 32)
    lsb = src.integer(item, "lsb", where, 0, 31)
    array = src.integer(item, "array", where, 1, 255) if "array" in item else 0
    if lsb + width > 32 and not array:
        src.fail(where, f"bits {lsb + width - 1}:{lsb} do not fit into a word of 32 bits")
    if array:
        if width not in (8, 16, 32) or lsb % width:
            src.fail(where, f"elements of {width} bits at bit {lsb} straddle words (use 8, 16 or 32 bits, aligned)")
        last = word + (lsb + array * width - 1) // 32
        if last >= words:
            src.fail(where, f"the array ends in word {last}, beyond the last word, {words - 1}")
    enum = ""
    if (kind == "enum") != ("enum" in item):
        src.fail(where, "'type: enum' and 'enum' must come together")
    if kind == "enum":
        enum = src.choice(item, "enum", where, list(contract.enums))
        if array:
            src.fail(where, "an array of an enum is not supported")
        for member, value in contract.enums[enum].items():
            if value >> width:
                src.fail(where, f"{width} bits are too few for '{member}' = {value} of enum {enum}")
    return Field(name, word, lsb, width, kind, enum, array, doc)


def _check_words(src: Source, where: str, fields: list, words: int, first: int = 0):
    """Every bit of the words [first, words) belongs to exactly one field."""
    owner = {}

    def claim(name, word, lsb, width):
        if word < first:
            src.fail(where, f"the field '{name}' lies in word {word}, which belongs to the header")
        for bit in range(lsb, lsb + width):
            if (word, bit) in owner:
                src.fail(where, f"the fields '{owner[word, bit]}' and '{name}' overlap in word {word}, bit {bit}")
            owner[word, bit] = name

    for item in fields:
        if item.kind == "address":
            claim(item.name, item.word, 0, 32)
            claim(item.name, item.word + 1, 0, 32)
            continue
        for word, lsb in item.places():
            claim(item.name, word, lsb, item.width)
    for word in range(first, words):
        for bit in range(32):
            if (word, bit) not in owner:
                src.fail(where, f"word {word}, bit {bit} belongs to no field (name the gap: reserved...)")


def _load_fields(src: Source, items, where: str, contract: Contract, words: int, first: int = 0) -> list:
    fields = [_load_field(src, item, where, contract, words) for item in src.sequence(items, where)]
    src.unique(fields, where, "name", lambda f: f.name)
    _check_words(src, where, fields, words, first)
    return fields


def _load_enums(src: Source, enums, contract: Contract):
    if not isinstance(enums, dict):
        src.fail("enums", "must be a mapping")
    for name, members in enums.items():
        where = f"enum {src.identifier(name, 'enums')}"
        if not isinstance(members, dict) or not members:
            src.fail(where, "must be a mapping of names to numbers, with at least one")
        values, docs = {}, {}
        for member, item in members.items():
            src.identifier(member, where)
            item = item if isinstance(item, dict) else {"value": item}
            src.mapping(item, f"{where}, member {member}", "value", "doc")
            value = src.integer(item, "value", f"{where}, member {member}", 0, 255)
            docs[member] = src.text(item, "doc", f"{where}, member {member}")
            if value in values:
                src.fail(where, f"'{values[value]}' and '{member}' have the same value {value}")
            values[value] = member
        contract.enums[name] = {member: value for value, member in values.items()}
        contract.enum_docs[name] = docs
    for needed in ("opcode", "queue", "region", "element"):
        if needed not in contract.enums:
            src.fail("enums", f"the enum '{needed}' is missing")


def _load_group(src: Source, item, command: str, contract: Contract) -> Group:
    where = f"command {command}, repeat"
    item = src.mapping(item, where, "name count max words fields")
    name = src.identifier(item["name"], where)
    where = f"command {command}, repeat {name}"
    src.member(name, where)
    words = src.integer(item, "words", where, 1, 255)
    fields = _load_fields(src, item["fields"], where, contract, words)
    return Group(name, src.identifier(item["count"], where), src.integer(item, "max", where, 1, 255), words, fields)


def _load_command(src: Source, item, contract: Contract) -> Command:
    item = src.mapping(item, "commands", "name opcode words doc fields", "repeat")
    name = src.identifier(item["name"], "commands")
    where = f"command {name}"
    opcode = src.choice(item, "opcode", where, list(contract.enums["opcode"]))
    words = src.integer(item, "words", where, contract.header_words, 255)
    fields = _load_fields(src, item["fields"], where, contract, words, contract.header_words)
    groups = [_load_group(src, group, name, contract) for group in src.sequence(item.get("repeat", []), where)]
    src.unique(fields + groups, where, "name", lambda f: f.name)
    src.unique(groups, where, "count", lambda g: g.count)
    by_name = {f.name: f for f in fields}
    for group in groups:
        counter = by_name.get(group.count)
        if counter is None or counter.kind != "unsigned" or counter.array:
            src.fail(where, f"the count '{group.count}' of '{group.name}' is not an unsigned field of the command")
        if group.max >> counter.width:
            src.fail(where, f"{counter.width} bits of '{group.count}' are too few for {group.max} '{group.name}'")
    command = Command(name, opcode, words, src.text(item, "doc", where), fields, groups)
    limit = (1 << next(f for f in contract.header if f.name == "words").width) - 1
    if command.max_words > limit:
        src.fail(where, f"its {command.max_words} words do not fit into the header's length field, at most {limit}")
    return command


def _load_structure(src: Source, item) -> Structure:
    item = src.mapping(item, "structures", "name bytes doc fields")
    name = src.identifier(item["name"], "structures")
    where = f"structure {name}"
    size = src.integer(item, "bytes", where, 1, 4096)
    fields, owner = [], {}
    for entry in src.sequence(item["fields"], where):
        entry = src.mapping(entry, where, "name offset bytes", "type array doc")
        field_name = src.member(entry["name"], where)
        here = f"{where}, field {field_name}"
        offset = src.integer(entry, "offset", here, 0, size - 1)
        width = src.choice(entry, "bytes", here, (1, 2, 4, 8))
        array = src.integer(entry, "array", here, 1, 255) if "array" in entry else 0
        signed = src.choice(entry, "type", here, ("unsigned", "signed"), "unsigned") == "signed"
        if offset % width:
            src.fail(here, f"the offset {offset} is not a multiple of its {width} bytes")
        end = offset + width * max(array, 1)
        if end > size:
            src.fail(here, f"it ends at byte {end}, beyond the structure's {size} bytes")
        for byte in range(offset, end):
            if byte in owner:
                src.fail(where, f"the fields '{owner[byte]}' and '{field_name}' overlap in byte {byte}")
            owner[byte] = field_name
        fields.append(StructField(field_name, offset, width, signed, array, src.text(entry, "doc", here)))
    src.unique(fields, where, "name", lambda f: f.name)
    for byte in range(size):
        if byte not in owner:
            src.fail(where, f"byte {byte} belongs to no field (name the gap: reserved...)")
    return Structure(name, size, src.text(item, "doc", where), fields)


def _load_commands(src: Source, contract: Contract):
    root = src.mapping(src.root, "file", "version enums header commands structures")
    version = src.mapping(root["version"], "version", "major minor")
    contract.major = src.integer(version, "major", "version", 0, 0xFFFF)
    contract.minor = src.integer(version, "minor", "version", 0, 0xFFFF)
    _load_enums(src, root["enums"], contract)
    header = src.mapping(root["header"], "header", "words fields")
    contract.header_words = src.integer(header, "words", "header", 1, 255)
    contract.header = _load_fields(src, header["fields"], "header", contract, contract.header_words)
    for needed in ("opcode", "words", "queue", "layer", "wait"):
        if needed not in [f.name for f in contract.header]:
            src.fail("header", f"the field '{needed}' is missing")
    contract.commands = [_load_command(src, item, contract) for item in src.sequence(root["commands"], "commands")]
    src.unique(contract.commands, "commands", "name", lambda c: c.name)
    src.unique(contract.commands, "commands", "opcode", lambda c: c.opcode)
    used = {command.opcode for command in contract.commands}
    for opcode in contract.enums["opcode"]:
        if opcode not in used:
            src.fail("enum opcode", f"no command has the opcode '{opcode}'")
    contract.structures = [_load_structure(src, item) for item in src.sequence(root["structures"], "structures")]
    src.unique(contract.structures, "structures", "name", lambda s: s.name)


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


def _load_registers(src: Source, contract: Contract):
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
