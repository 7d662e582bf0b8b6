# SPDX-License-Identifier: Apache-2.0
"""Reads which bytes commands read and write."""

import re

from generator.model import Access, Command, Contract, Factor, Group, Window
from generator.source import MAX_WORD, Source

MAX_DIMS = 5
CALL = re.compile(r"(bytes|size)\((\w+)\)\Z")
ELEMENT = re.compile(r"(\w+)\[(\d+)\]\Z")


class _Scope:
    """The fields that an access may name."""

    def __init__(self, src: Source, where: str, contract: Contract, fields: list):
        self.src, self.where, self.contract = src, where, contract
        self.fields = {f.name: f for f in fields if not f.reserved}

    def fail(self, what: str):
        self.src.fail(self.where, what)

    def number(self, name: str):
        """A field that holds one number or several."""
        entry = self.fields.get(name)
        if entry is None or entry.kind not in ("unsigned", "signed"):
            self.fail(f"'{name}' is no field with a number")
        return entry

    def factor(self, text: str) -> Factor:
        if text.isdigit():
            return Factor("number", value=self.src.integer({"number": int(text)}, "number", self.where, 0, MAX_WORD))
        element = ELEMENT.match(text)
        if element is not None:
            if int(element.group(2)) >= self.number(element.group(1)).array:
                self.fail(f"'{text}' is no element of an array")
            return Factor("field", text)
        call = CALL.match(text)
        if call is None:
            if self.number(text).array:
                self.fail(f"'{text}' is an array")
            return Factor("field", text)
        kind, name = call.groups()
        if kind == "size" and name not in [s.name for s in self.contract.structures]:
            self.fail(f"there is no structure '{name}'")
        if kind == "bytes":
            self.element(name)
        return Factor(kind, name)

    def element(self, name: str) -> str:
        entry = self.fields.get(name)
        if name not in self.contract.enums["element"] and (entry is None or entry.enum != "element"):
            self.fail(f"'{name}' is neither an element type nor a field with one")
        return name

    def sum(self, text) -> list:
        if not isinstance(text, str):
            self.fail(f"{text!r} must be a sum of products")
        return [[self.factor(factor.strip()) for factor in product.split("*")] for product in text.split("+")]

    def condition(self, item: dict) -> tuple:
        for key in ("when", "unless"):
            if key not in item:
                continue
            if key == "when" and "unless" in item:
                self.fail("'when' and 'unless' exclude each other")
            condition = item[key]
            if not isinstance(condition, dict) or len(condition) != 1:
                self.fail(f"'{key}' must name one field")
            (name, members), = condition.items()
            entry = self.fields.get(name)
            if entry is None or entry.kind != "enum":
                self.fail(f"'{name}' is no field with an enumeration")
            for member in self.src.sequence(members, self.where):
                self.src.choice({key: member}, key, self.where, list(self.contract.enums[entry.enum]))
            return name, members, key == "when"
        return ()

    def dims(self, items) -> list:
        dims = []
        for item in self.src.sequence(items, self.where):
            if not isinstance(item, list) or len(item) not in (2, 3):
                self.fail("a dimension is [count, stride]")
            count, stride = item[:2]
            steps = self.number(stride)
            elements = item[2] if len(item) == 3 else range(steps.array)
            if len(item) == 3 and not (isinstance(elements, list) and all(i in range(steps.array) for i in elements)):
                self.fail(f"{elements!r} are no elements of '{stride}'")
            if steps.array and self.number(count).array == steps.array:
                dims += [([[Factor("field", f"{count}[{i}]")]], f"{stride}[{i}]") for i in elements]
            elif steps.array:
                self.fail(f"'{count}' and '{stride}' have not the same length")
            else:
                dims.append((self.sum(count), stride))
        if len(dims) > MAX_DIMS:
            self.fail(f"{len(dims)} dimensions are more than {MAX_DIMS}")
        return dims

    def windows(self, items) -> list:
        windows = []
        for item in self.src.sequence(items, self.where):
            self.src.mapping(item, self.where, "size step count stride pad kernel", "dilation")
            for name in item.values():
                self.number(name)
            windows.append(Window(**{"dilation": "", **item}))
        if len(windows) not in (0, 2):
            self.fail("windows have two directions")
        return windows

    def flag(self, item: dict, key: str) -> str:
        name = item.get(key, "")
        if name and (self.number(name).width != 1 or self.fields[name].kind != "unsigned"):
            self.fail(f"'{key}' names '{name}', which is no single bit")
        return name

    def access(self, item: dict, write: bool) -> Access:
        entry = self.fields.get(item["field"])
        if entry is None or entry.kind != "address":
            self.fail(f"'{item['field']}' is no address")
        windows = self.windows(item.get("windows", []))
        if windows and (item.get("dims") or write):
            self.fail("windows are read, and have no other dimensions")
        kind = item.get("type", "")
        return Access(item["field"], write, self.condition(item), self.dims(item.get("dims", [])), windows,
                      self.sum(item["run"]), self.element(kind) if kind else "", self.flag(item, "unsigned"),
                      self.flag(item, "commit"), moves=self.sum(item["moves"]) if "moves" in item else [])


def load_accesses(src: Source, item: dict, command: Command, contract: Contract):
    """The accesses and memories of a command whose fields are loaded."""
    where = f"command {command.name}"
    command.memories = src.sequence(item.get("memories", []), where)
    for memory in command.memories:
        src.choice({"memories": memory}, "memories", where, [m for m in contract.enums["space"] if m != "none"])
    scope = _Scope(src, f"{where}, accesses", contract, command.fields)
    for entry in src.sequence(item.get("accesses", []), where):
        src.mapping(entry, scope.where, "field access run", "when unless dims windows type unsigned commit moves")
        kind = src.choice(entry, "access", scope.where, ("read", "write"))
        command.accesses.append(scope.access(entry, kind == "write"))
    if [a.write for a in command.accesses] != sorted(a.write for a in command.accesses):
        src.fail(scope.where, "reads come before writes")
    named = {a.field for a in command.accesses}
    for entry in command.fields:
        if entry.kind == "address" and entry.name not in named:
            src.fail(where, f"no access has the address '{entry.name}'")
    if bool(command.memories) != bool(command.accesses or any("access" in g for g in item.get("repeat", []))):
        src.fail(where, "'memories' and accesses must come together")


def load_group_access(src: Source, item: dict, group: Group, command: Command, contract: Contract):
    """The access of a group's addresses, which the micro-operations of the command decide upon."""
    where = f"command {command.name}, repeat {group.name}"
    if "access" not in item:
        if any(f.kind == "address" for f in group.fields):
            src.fail(where, "it has an address and no access")
        return
    scope = _Scope(src, f"{where}, access", contract, command.fields + group.fields)
    access = src.mapping(item["access"], scope.where, "field by dims run type block", "commit")
    src.choice(access, "by", scope.where, ("uops",))
    if "uops" not in [g.name for g in command.groups]:
        src.fail(scope.where, "the command has no uops")
    group.access = scope.access({key: value for key, value in access.items() if key not in ("by", "block")}, False)
    scope.number(access["block"])
    group.access.block = access["block"]
