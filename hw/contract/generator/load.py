# SPDX-License-Identifier: Apache-2.0
"""Reads and checks the contract. Every refusal is a ContractError: one sentence with file and name."""

from pathlib import Path

from generator.load_commands import load_commands
from generator.load_registers import load_registers
from generator.model import Capability, Contract, ErrorClass, ErrorCode
from generator.source import MAX_WORD, Source


def load(folder: Path) -> Contract:
    contract = Contract()
    _load_errors(Source(folder / "errors.yaml"), contract)
    _load_capabilities(Source(folder / "capabilities.yaml"), contract)
    load_commands(Source(folder / "commands.yaml"), contract)
    load_registers(Source(folder / "registers.yaml"), contract)
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
        item = src.mapping(item, "capabilities", "name unit min max doc", "power_of_two otherwise times")
        name = src.member(item["name"], "capabilities")
        where = f"capability {name}"
        low = src.integer(item, "min", where, 0, MAX_WORD)
        high = src.integer(item, "max", where, low, MAX_WORD)
        power = src.boolean(item, "power_of_two", where)
        if power and (low & (low - 1) or high & (high - 1) or low == 0):
            src.fail(where, f"'min' {low} and 'max' {high} must be powers of two")
        otherwise = src.integer(item, "otherwise", where, 0, high) if "otherwise" in item else None
        times = src.member(item["times"], where) if "times" in item else ""
        if times and (otherwise is None or times not in [cap.name for cap in contract.capabilities]):
            src.fail(where, "'times' goes with 'otherwise', and names a capability above this one")
        contract.capabilities.append(
            Capability(name, src.text(item, "unit", where), low, high, power, src.text(item, "doc", where),
                       base + 4 * index, otherwise, times))
    src.unique(contract.capabilities, "capabilities", "name", lambda c: c.name)
