# SPDX-License-Identifier: Apache-2.0
"""Reads one YAML file of the contract strictly: no duplicate, unknown or missing key, no value of the wrong kind."""

import re
from pathlib import Path

import yaml

MAX_WORD = 0xFFFFFFFF
IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*\Z")

# Names of fields become members in C and C++.
KEYWORDS = set("""alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const consteval constexpr
constinit const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept not nullptr operator or private
protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast
struct switch template this throw true try typedef typeid typename union unsigned using virtual void volatile while xor
header""".split())


class ContractError(Exception):
    """A mistake in the YAML; the message is one sentence that starts with the file's name."""


# libyaml reads some ten times as fast; where PyYAML was built without it, its own parser reads the same.
class _StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                line = key_node.start_mark.line + 1
                raise ContractError(f"{self.file_name}: line {line}: the key '{key}' appears twice in one mapping.")
            seen.add(key)
        return super().construct_mapping(node, deep)


class Source:
    """One YAML file; its methods check a value and name the file and the place when it is wrong."""

    def __init__(self, path: Path):
        self.name = path.name
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ContractError(f"{self.name}: cannot be read: {error}.") from error
        loader = _StrictLoader(text)
        loader.file_name = self.name
        try:
            self.root = loader.get_single_data()
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f"line {mark.line + 1}: " if mark else ""
            raise ContractError(f"{self.name}: {where}is not valid YAML: {getattr(error, 'problem', error)}.") from error
        finally:
            loader.dispose()

    def fail(self, where: str, what: str):
        raise ContractError(f"{self.name}: {where}: {what}.")

    def mapping(self, value, where: str, required: str, optional: str = "") -> dict:
        """`value` as a mapping that has every key of `required` and no key beyond `optional` (space-separated)."""
        if not isinstance(value, dict):
            self.fail(where, "must be a mapping")
        for key in required.split():
            if key not in value:
                self.fail(where, f"the key '{key}' is missing")
        known = set(required.split()) | set(optional.split())
        for key in value:
            if key not in known:
                self.fail(where, f"the key '{key}' is unknown")
        return value

    def sequence(self, value, where: str) -> list:
        if not isinstance(value, list):
            self.fail(where, "must be a list")
        return value

    def integer(self, mapping: dict, key: str, where: str, low: int, high: int, default=None) -> int:
        value = mapping.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(where, f"'{key}' must be an integer, but is {value!r}")
        if not low <= value <= high:
            self.fail(where, f"'{key}' is {value}, but must be from {low} to {high}")
        return value

    def boolean(self, mapping: dict, key: str, where: str) -> bool:
        value = mapping.get(key, False)
        if not isinstance(value, bool):
            self.fail(where, f"'{key}' must be true or false, but is {value!r}")
        return value

    def text(self, mapping: dict, key: str, where: str) -> str:
        value = mapping.get(key, "")
        if not isinstance(value, str) or "\n" in value:
            self.fail(where, f"'{key}' must be one line of text, but is {value!r}")
        return value

    def identifier(self, value, where: str) -> str:
        if not isinstance(value, str) or not IDENTIFIER.match(value):
            self.fail(where, f"the name {value!r} must be lower case letters, digits and '_', a letter first")
        return value

    def member(self, value, where: str) -> str:
        """A name that becomes a member of a structure."""
        if self.identifier(value, where) in KEYWORDS:
            self.fail(where, f"the name '{value}' means something else in C or C++")
        return value

    def choice(self, mapping: dict, key: str, where: str, choices, default=None) -> str:
        value = mapping.get(key, default)
        if value not in choices:
            self.fail(where, f"'{key}' is {value!r}, but must be one of {', '.join(map(str, choices))}")
        return value

    def unique(self, items, where: str, what: str, key):
        """Fails when two items have the same key; both are named."""
        seen = {}
        for item in items:
            value = key(item)
            if value in seen:
                shown = f"'{value}'" if isinstance(value, str) else hex(value) if isinstance(value, int) else value
                self.fail(where, f"'{seen[value].name}' and '{item.name}' have the same {what} {shown}")
            seen[value] = item
