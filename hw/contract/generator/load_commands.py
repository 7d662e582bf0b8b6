# SPDX-License-Identifier: Apache-2.0
"""Reads commands.yaml: version, constants, enums, commands and structures."""

from generator.load_accesses import load_accesses, load_group_access
from generator.load_micro_operations import load_immediates, load_micro_operations
from generator.model import Command, Constant, Contract, Field, Group, StructField, Structure
from generator.source import MAX_WORD, Source


def _load_field(src: Source, item, where: str, contract: Contract, words: int) -> Field:
    item = src.mapping(item, where, "name word", "lsb width type enum array names doc")
    name = src.member(item["name"], where)
    where = f"{where}, field {name}"
    kind = src.choice(item, "type", where, ("unsigned", "signed", "enum", "address"), "unsigned")
    word = src.integer(item, "word", where, 0, words - 1)
    doc = src.text(item, "doc", where)
    if kind == "address":
        for key in ("lsb", "width", "enum", "array", "names"):
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
    if "names" in item:
        src.choice(item, "names", where, ("variable",))
        if kind != "unsigned" or array:
            src.fail(where, "only an unsigned number can name a variable")
    return Field(name, word, lsb, width, kind, enum, array, doc, "names" in item)


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
    item = src.mapping(item, where, "name count max words fields", "access")
    name = src.identifier(item["name"], where)
    where = f"command {command}, repeat {name}"
    src.member(name, where)
    words = src.integer(item, "words", where, 1, 255)
    fields = _load_fields(src, item["fields"], where, contract, words)
    return Group(name, src.identifier(item["count"], where), src.integer(item, "max", where, 1, 255), words, fields)


def _load_command(src: Source, item, contract: Contract) -> Command:
    item = src.mapping(item, "commands", "name opcode words doc fields", "repeat memories accesses queue sizes")
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
    if "queue" in item:
        command.queue = src.choice(item, "queue", where, list(contract.enums["queue"]))
    sizes = {entry.name: entry for entry in fields if not entry.reserved}
    command.sizes = [sizes[src.choice({"sizes": name}, "sizes", where, sizes)] for name in item.get("sizes", [])]
    load_accesses(src, item, command, contract)
    for group, entry in zip(groups, item.get("repeat", [])):
        load_group_access(src, entry, group, command, contract)
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


def _load_constant(src: Source, name, item) -> Constant:
    where = f"constant {src.identifier(name, 'constants')}"
    src.mapping(item, where, "value doc")
    return Constant(name, src.integer(item, "value", where, 0, MAX_WORD), src.text(item, "doc", where))


def load_commands(src: Source, contract: Contract):
    root = src.mapping(src.root, "file", "version constants enums immediates micro_operations header commands structures")
    version = src.mapping(root["version"], "version", "major minor")
    contract.major = src.integer(version, "major", "version", 0, 0xFFFF)
    contract.minor = src.integer(version, "minor", "version", 0, 0xFFFF)
    if not isinstance(root["constants"], dict):
        src.fail("constants", "must be a mapping")
    contract.constants = [_load_constant(src, name, item) for name, item in root["constants"].items()]
    _load_enums(src, root["enums"], contract)
    load_micro_operations(src, root["micro_operations"], contract)
    load_immediates(src, root["immediates"], contract, _load_field, _check_words)
    header = src.mapping(root["header"], "header", "words fields")
    contract.header_words = src.integer(header, "words", "header", 1, 255)
    contract.header = _load_fields(src, header["fields"], "header", contract, contract.header_words)
    for needed in ("opcode", "words", "queue", "layer", "wait"):
        if needed not in [f.name for f in contract.header]:
            src.fail("header", f"the field '{needed}' is missing")
    contract.structures = [_load_structure(src, item) for item in src.sequence(root["structures"], "structures")]
    src.unique(contract.structures, "structures", "name", lambda s: s.name)
    contract.commands = [_load_command(src, item, contract) for item in src.sequence(root["commands"], "commands")]
    src.unique(contract.commands, "commands", "name", lambda c: c.name)
    src.unique(contract.commands, "commands", "opcode", lambda c: c.opcode)
    used = {command.opcode for command in contract.commands}
    for opcode in contract.enums["opcode"]:
        if opcode not in used:
            src.fail("enum opcode", f"no command has the opcode '{opcode}'")
