# SPDX-License-Identifier: Apache-2.0
"""C++ headers: micro_operations.h, a table of them; accesses.h, which bytes commands read and write."""

from generator.cpp import header
from generator.cpp_commands import EQUAL, enum_type, get, member, put, visible
from generator.model import Access, Command, Contract, Immediate
from generator.text import comment, constant, pascal

ROLES = """// What a field of a micro-operation means.
enum class UopRole : uint8_t {
  kUnused,      // nothing: it is not looked at
  kResult,      // the register that it writes, after it has read its sources
  kSource,      // a register that it reads
  kLoaded,      // an operand of which it reads an element
  kStored,      // an operand of which it writes an element
  kParameters,  // an operand that is a parameter block
  kTable,       // an operand that is a block of at least `bytes` bytes
  kElement,     // an element type: bit e of `elements` says that it may be e
  kNumber,      // from `low` to `high`
  kPacked,      // fields of an immediate
};

struct UopField {
  UopRole role = UopRole::kUnused;
  uint32_t elements = 0, bytes = 0;
  int32_t low = 0, high = 0;
  bool (*allowed)(int32_t bits) = nullptr;  // of a packed immediate
};

struct UopInfo {
  UopField dst, a, b, imm0, imm1;
  bool floats = false;  // takes or makes FP32
};"""


def _uop_field(contract: Contract, role) -> str:
    if role is None:
        return "{}"
    name = f"UopRole::{constant(role.role)}"
    if role.role == "element":
        return f"{{{name}, {sum(1 << contract.enums['element'][e] for e in role.elements):#x}}}"
    if role.role == "table":
        return f"{{{name}, 0, {role.bytes}}}"
    if role.role == "number":
        low = "INT32_MIN" if role.low == -(1 << 31) else role.low
        high = "INT32_MAX" if role.high == (1 << 31) - 1 else role.high
        return f"{{{name}, 0, 0, {low}, {high}}}"
    if role.role == "packed":
        return f"{{{name}, 0, 0, 0, 0, {pascal(role.packed)}::allowed}}"
    return f"{{{name}}}"


def micro_operations(contract: Contract) -> str:
    lines = []
    for immediate in contract.immediates:
        lines += _immediate(contract, immediate)
    lines += ROLES.splitlines() + [""]
    lines += comment("Micro-operations; they count from 0.")
    lines += [f"inline constexpr uint32_t kUopCount = {len(contract.micro_operations)};", ""]
    lines += ["namespace detail {", "", "inline constexpr std::array<UopInfo, kUopCount> kUops = {{"]
    for name, roles in contract.micro_operations.items():
        fields = ", ".join(_uop_field(contract, roles.get(key)) for key in ("dst", "a", "b", "imm0", "imm1"))
        floats = ", true" if name in contract.float_operations else ""
        lines += [f"    {{{fields}{floats}}},  // {name}"]
    lines += ["}};", "", "}  // namespace detail", ""]
    lines += comment("Of a known micro-operation.")
    lines += ["[[nodiscard]] constexpr const UopInfo& uop_info(UopCode op) {",
              "  NPU_CHECK(static_cast<size_t>(op) < detail::kUops.size());",
              "  return detail::kUops[static_cast<size_t>(op)];", "}", ""]
    includes = ["<array>", "<cstddef>", "<cstdint>", '"hw/contract/error.h"', '"hw/contract/gen/commands.h"']
    return header("commands.yaml", includes, lines[:-1])


def _immediate(contract: Contract, item: Immediate) -> list:
    kind = pascal(item.name)
    fields = visible(item.fields)
    lines = comment(item.doc) + [f"struct {kind} {{"]
    for entry in fields:
        lines += member(contract, entry)
    tests = ["unpack(bits).pack() == bits"]
    for name, members in item.only.items():
        entry = next(f for f in fields if f.name == name)
        chosen = " || ".join(f"value.{name} == {enum_type(entry.enum)}::{constant(m)}" for m in members)
        tests += [f"({chosen})"]
    for exclusion in item.excludes:
        one = [f"value.{name} == " + (str(value).lower() if isinstance(value, bool) else
                                      f"{enum_type(next(f for f in fields if f.name == name).enum)}::{constant(value)}")
               for name, value in exclusion.items()]
        tests += [f"!({' && '.join(one)})"]
    lines += ["", "  [[nodiscard]] int32_t pack() const;", f"  [[nodiscard]] static {kind} unpack(int32_t bits);"]
    lines += comment("Whether all fields are what the contract allows, and reserved bits 0.", "  ")
    lines += ["  [[nodiscard]] static bool allowed(int32_t bits);", EQUAL.format(kind), "};", "",
              f"inline int32_t {kind}::pack() const {{", "  std::array<uint32_t, 1> words{};"]
    for entry in fields:
        lines += put(entry, "words", entry.name)
    lines += ["  return static_cast<int32_t>(words[0]);", "}", "",
              f"inline {kind} {kind}::unpack(int32_t bits) {{",
              "  const std::array<uint32_t, 1> words = {static_cast<uint32_t>(bits)};", f"  {kind} value;"]
    for entry in fields:
        lines += get(entry, "words", f"value.{entry.name}")
    lines += ["  return value;", "}", "", f"inline bool {kind}::allowed(int32_t bits) {{",
              f"  const {kind} value = unpack(bits);"]
    return lines + ["  return " + " &&\n         ".join(tests) + ";", "}", ""]


def _value(name: str, owner) -> str:
    return f"{owner(name.split('[')[0])}.{name}"


def _factor(contract: Contract, factor, owner) -> str:
    if factor.kind == "number":
        return str(factor.value)
    if factor.kind == "field":
        return _value(factor.name, owner)
    if factor.kind == "size":
        return f"{pascal(factor.name)}::kBytes"
    if factor.name in contract.enums["element"]:
        return f"element_bytes(Element::{constant(factor.name)})"
    return f"element_bytes({_value(factor.name, owner)})"


def _sum(contract: Contract, products: list, owner) -> str:
    def product(factors):
        texts = [_factor(contract, factor, owner) for factor in factors]
        return texts[0] if len(texts) == 1 else f"saturating_product({', '.join(texts)})"

    if len(products) == 1:
        return product(products[0])
    return f"saturating_sum({', '.join(f'uint64_t{{{product(p)}}}' for p in products)})"


def _fill(contract: Contract, access: Access, owner, spaces: str, kind: str) -> list:
    """Statements that make `access`; windows are called rows and columns."""
    lines = ["MemoryAccess access;", f"access.base = {_value(access.field, owner)};", f"access.access = {kind};"]
    dims = [f"{{{_sum(contract, count, owner)}, {_value(stride, owner)}}}" for count, stride in access.dims]
    for window, name in zip(access.windows, ("rows", "columns")):
        step = _value(window.step, owner)
        dims += [f"{{{name}.count, {step}}}"]
    if access.windows:
        first = [f"static_cast<int64_t>({name}.first) * {_value(window.step, owner)}"
                 for window, name in zip(access.windows, ("rows", "columns"))]
        lines += [f"access.first = {' + '.join(first)};"]
    if dims:
        lines += [f"access.set_dims({{{', '.join(dims)}}});"]
    lines += [f"access.run = {_sum(contract, access.run, owner)};"]
    if access.moves:
        lines += [f"access.moves = {_sum(contract, access.moves, owner)};"]
    if access.type:
        fixed = access.type in contract.enums["element"]
        lines += ["access.type = " + (f"Element::{constant(access.type)};" if fixed else f"{_value(access.type, owner)};")]
    if access.unsigned:
        lines += [f"access.is_unsigned = {_value(access.unsigned, owner)};"]
    return lines + [f"access.spaces = {spaces};"]


def _spaces(contract: Contract, command: Command) -> str:
    return f"{sum(1 << contract.enums['space'][m] for m in command.memories):#x}"


def _condition(command: Command, access: Access) -> str:
    if not access.condition:
        return ""
    name, members, positive = access.condition
    entry = next(f for f in command.fields if f.name == name)
    tests = [f"c.{name} {'==' if positive else '!='} {enum_type(entry.enum)}::{constant(m)}" for m in members]
    return (" || " if positive else " && ").join(tests)


def _plain(contract: Contract, command: Command) -> list:
    def owner(_):
        return "c"

    lines = []
    for access in command.accesses:
        kind = "Access::kWrite" if access.write else "Access::kRead"
        body = _fill(contract, access, owner, _spaces(contract, command), kind)
        if access.commit:
            body += [f"access.commit = c.{access.commit};"]
        body += ["visit(access);"]
        tests = []
        for window, name in zip(access.windows, ("rows", "columns")):
            dilation = f"c.{window.dilation}" if window.dilation else "1"
            values = ", ".join(f"c.{value}" for value in (window.size, window.count, window.stride, window.pad, window.kernel))
            tests += [f"const detail::Reached {name} = detail::reached({values}, {dilation});"]
        if tests:
            body = tests + ["if (rows.count > 0 && columns.count > 0) {  // not in the padding alone"] + \
                [f"  {line}" for line in body] + ["}"]
        condition = _condition(command, access)
        lines += [f"  {f'if ({condition}) ' if condition else ''}{{"] + [f"    {line}" for line in body] + ["  }"]
    return lines


def _grouped(contract: Contract, command: Command, group) -> list:
    """A function that makes the access of an element of a group."""
    names = {f.name for f in group.fields}
    access = group.access

    def owner(name):
        return group.element if name in names else "c"

    lines = comment(f"Of one of the {group.name}.")
    lines += [f"[[nodiscard]] inline MemoryAccess access_of(const {pascal(command.name)}Command& c, "
              f"const {pascal(group.element)}& {group.element}, Access kind) {{"]
    lines += [f"  {line}" for line in _fill(contract, access, owner, _spaces(contract, command), "kind")]
    if access.commit:
        lines += [f"  access.commit = kind == Access::kWrite && {_value(access.commit, owner)};"]
    block = _value(access.block, owner)
    lines += [f"  if ({block} > 0) {{", "    access.set_dims({});", "    access.dims = {};", f"    access.run = {block};", "  }"]
    return lines + ["  return access;", "}", ""]


def accesses(contract: Contract) -> str:
    body = comment("for_each_access(command, visit) calls visit(MemoryAccess) for everything that a command reads, then for "
                   "everything that it writes.") + [""]
    for command in contract.commands:
        groups = [group for group in command.groups if group.access]
        for group in groups:
            body += _grouped(contract, command, group)
        used = command.accesses or groups
        kind = f"const {pascal(command.name)}Command&{' c' if used else ''}"
        body += ["template <typename Visit>", f"void for_each_access({kind}, Visit&&{' visit' if used else ''}) {{" +
                 ("" if used else "}")]
        body += _plain(contract, command)
        for group in groups:
            body += ["  const auto uses = operand_uses(c);", "  for (const Access kind : {Access::kRead, Access::kWrite}) {",
                     f"    for (size_t i = 0; i < c.{group.name}.size() && i < uses.size(); ++i) {{",
                     "      if (kind == Access::kRead ? uses[i].read : uses[i].written) "
                     f"visit(access_of(c, c.{group.name}[i], kind));", "    }", "  }"]
        body += ["}", ""] if used else [""]
    includes = ["<cstddef>", "<cstdint>", '"hw/contract/gen/commands.h"', '"hw/contract/memory_access.h"',
                '"hw/contract/uop_fields.h"']
    return header("commands.yaml", includes, body[:-1])
