# SPDX-License-Identifier: Apache-2.0
"""Reads what the fields of micro-operations mean, and the fields of their immediates."""

from generator.model import Contract, Immediate, UopField
from generator.source import Source

FIELDS = ("dst", "a", "b", "imm0", "imm1")
PLAIN = ("result", "source", "loaded", "stored", "parameters", "element", "number")
OPERANDS = ("loaded", "stored", "parameters", "table")


def _load_role(src: Source, item, where: str, contract: Contract) -> UopField:
    elements = list(contract.enums["element"])
    if item == "element":
        return UopField("element", elements=elements)
    if isinstance(item, str) and item in PLAIN:
        return UopField(item, low=-(1 << 31), high=(1 << 31) - 1)
    if isinstance(item, list) and len(item) == 2 and all(type(x) is int for x in item) and item[0] <= item[1]:
        return UopField("number", low=item[0], high=item[1])
    if isinstance(item, dict) and len(item) == 1:
        if "table" in item:
            return UopField("table", bytes=src.integer(item, "table", where, 1, 1 << 20))
        if "packed" in item:
            return UopField("packed", packed=src.identifier(item["packed"], where))
        if "element" in item:
            members = src.sequence(item["element"], where)
            for member in members:
                src.choice({"element": member}, "element", where, elements)
            return UopField("element", elements=members)
    src.fail(where, f"{item!r} is not one of {', '.join(PLAIN)}, [low, high], table, packed and element")


def load_micro_operations(src: Source, items, contract: Contract):
    if not isinstance(items, dict) or not items:
        src.fail("micro_operations", "must be a mapping, with at least one")
    values, docs = {}, {}
    for name, item in items.items():
        where = f"micro-operation {src.identifier(name, 'micro_operations')}"
        src.mapping(item, where, "value doc", " ".join(FIELDS) + " floats")
        values[name] = src.integer(item, "value", where, 0, 255)
        if values[name] != len(values) - 1:
            src.fail(where, f"its value is {values[name]}, but they count from 0 without gaps, and it is number {len(values) - 1}")
        docs[name] = src.text(item, "doc", where)
        roles = {key: _load_role(src, item[key], f"{where}, {key}", contract) for key in FIELDS if key in item}
        if sum(role.role in OPERANDS for role in roles.values()) > 1:
            src.fail(where, "more than one of its fields names an operand")
        for key, role in roles.items():
            if (role.role == "result") != (key == "dst"):
                src.fail(f"{where}, {key}", "a result is what 'dst' names, and 'dst' names nothing else")
            if role.role in OPERANDS and key not in ("a", "b"):
                src.fail(f"{where}, {key}", "an operand is what 'a' or 'b' names")
            if role.role == "packed" and key not in ("imm0", "imm1"):
                src.fail(f"{where}, {key}", "only an immediate has packed fields")
        if item.get("floats", True) is not True:
            src.fail(f"{where}, floats", "must be true, or is left out")
        if "floats" in item:
            contract.float_operations.add(name)
        elif contract.float_operations:
            src.fail(where, "those with floats come last: the RTL knows them by their values")
        contract.micro_operations[name] = roles
    contract.enums["uop"], contract.enum_docs["uop"] = values, docs


def load_immediates(src: Source, items, contract: Contract, load_field, check_words):
    if not isinstance(items, dict):
        src.fail("immediates", "must be a mapping")
    for name, item in items.items():
        where = f"immediate {src.identifier(name, 'immediates')}"
        src.mapping(item, where, "doc fields", "excludes")
        fields, only = [], {}
        for entry in src.sequence(item["fields"], where):
            entry = dict(entry)
            members = entry.pop("only", None)
            fields.append(load_field(src, entry, where, contract, 1))
            if members is None:
                continue
            for member in src.sequence(members, where):
                src.choice({"only": member}, "only", f"{where}, field {fields[-1].name}", list(contract.enums.get(fields[-1].enum, {})))
            only[fields[-1].name] = members
        src.unique(fields, where, "name", lambda f: f.name)
        check_words(src, where, fields, 1)
        excludes = src.sequence(item.get("excludes", []), where)
        by_name = {f.name: f for f in fields if not f.reserved}
        for exclusion in excludes:
            src.mapping(exclusion, f"{where}, excludes", "", " ".join(by_name))
            for key in exclusion:
                entry = by_name[key]
                src.choice(exclusion, key, f"{where}, excludes", list(contract.enums[entry.enum]) if entry.enum else [True, False])
        contract.immediates.append(Immediate(name, src.text(item, "doc", where), fields, only, excludes))
    known = {immediate.name for immediate in contract.immediates}
    used = {role.packed for roles in contract.micro_operations.values() for role in roles.values() if role.packed}
    for name in sorted(used - known):
        src.fail("micro_operations", f"there is no immediate '{name}'")
    for name in sorted(known - used):
        src.fail(f"immediate {name}", "no micro-operation has it")
