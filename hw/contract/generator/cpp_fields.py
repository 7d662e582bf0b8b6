# SPDX-License-Identifier: Apache-2.0
"""fields.h: the fields of commands, numbered, for what puts values into a command stream that is already encoded."""

from generator.cpp import header
from generator.model import Command, Contract
from generator.text import comment, constant, pascal

INFO = """struct CommandFieldInfo {
  std::string_view name;  // "dma.src.variable"
  Opcode opcode;
  uint32_t group;             // 0: of the fixed part, else of the group with this number
  uint32_t word, lsb, width;  // words count from the start of the command, or of an element of the group
  bool names_variable;        // by its index in the table of variables
};

struct PlacedField {
  CommandField field;
  uint32_t word;  // of the command
};"""

ACCESS = """[[nodiscard]] inline uint32_t field_of(uint32_t word, CommandField field) {
  const CommandFieldInfo& info = info_of(field);
  return word >> info.lsb & (0xffffffffu >> (32 - info.width));
}

// Panics on a value that the field cannot hold.
inline void set_field(uint32_t& word, CommandField field, uint32_t value) {
  const CommandFieldInfo& info = info_of(field);
  const uint32_t most = 0xffffffffu >> (32 - info.width);
  NPU_CHECK(value <= most);
  word = (word & ~(most << info.lsb)) | value << info.lsb;
}

// Whether word `word` of `command`, which may be anything, is one that holds this field.
[[nodiscard]] inline bool has_field(std::span<const uint32_t> command, size_t word, CommandField field) {
  const CommandFieldInfo& info = info_of(field);
  if (word >= command.size() || Header::decode(command).opcode != info.opcode) return false;
  if (info.group == 0) return word == info.word;
  const detail::Elements elements = detail::elements_of(command, info.opcode, info.group);
  return word >= elements.start && (word - elements.start) / elements.words < elements.count &&
         (word - elements.start) % elements.words == info.word;
}"""


def _fields(command: Command, owner: str, fields: list, group: int) -> list:
    """(name, group, word, lsb, width, whether it names a variable) of each; the parts of an address and the elements of an array are fields of their own."""
    counts = {g.count for g in command.groups}
    rows = []
    for entry in fields:
        if entry.reserved or entry.name in counts:
            continue
        name = f"{owner}.{entry.name}"
        if entry.kind == "address":
            rows += [(f"{name}.offset", group, entry.word, 0, 32, False), (f"{name}.region", group, entry.word + 1, 0, 8, False),
                     (f"{name}.variable", group, entry.word + 1, 8, 16, True)]
        elif entry.array:
            rows += [(f"{name}.{i}", group, word, lsb, entry.width, False) for i, (word, lsb) in enumerate(entry.places())]
        else:
            rows += [(name, group, entry.word, entry.lsb, entry.width, entry.names_variable)]
    return rows


def _all_fields(command: Command) -> list:
    rows = _fields(command, command.name, command.fields, 0)
    for number, group in enumerate(command.groups, 1):
        rows += _fields(command, f"{command.name}.{group.element}", group.fields, number)
    return rows


def _member(name: str) -> str:
    return constant(name.replace(".", "_"))


def _elements(contract: Contract) -> list:
    lines = ["namespace detail {", ""]
    lines += comment("Where the elements of a group lie in a command.")
    lines += ["struct Elements {", "  size_t start = 0, count = 0, words = 1;", "};", "",
              "inline Elements elements_of(std::span<const uint32_t> command, Opcode opcode, uint32_t group) {",
              "  Elements elements;", "  switch (opcode) {"]
    plain = []
    for command in contract.commands:
        if not command.groups:
            plain += [f"    case Opcode::{constant(command.opcode)}:"]
            continue
        lines += [f"    case Opcode::{constant(command.opcode)}:", f"      elements.start = {pascal(command.name)}Command::kWords;"]
        for number, group in enumerate(command.groups, 1):
            entry = next(f for f in command.fields if f.name == group.count)
            lines += [f"      elements.count = get(command, {entry.word}, {entry.lsb}, {entry.width});",
                      f"      elements.words = {pascal(group.element)}::kWords;"]
            if number < len(command.groups):
                lines += [f"      if (group == {number}) return elements;", "      elements.start += elements.count * elements.words;"]
        lines += ["      return elements;"]
    return lines + plain + ["      return elements;", "  }", "  return elements;", "}", "", "}  // namespace detail", ""]


def _variables(command: Command) -> list:
    """The function that visits the fields by which a command names variables."""
    body = []

    def visit(fields, owner, value, indent, base):
        for entry in fields:
            if entry.kind == "address":
                member = _member(f"{owner}.{entry.name}.variable")
                body.extend([f"{indent}if ({value}.{entry.name}.region == Region::kVariable) {{",
                             f"{indent}  visit(PlacedField{{CommandField::{member}, {base}{entry.word + 1}}}, "
                             f"uint32_t{{{value}.{entry.name}.variable}});", f"{indent}}}"])
            elif entry.names_variable:
                member = _member(f"{owner}.{entry.name}")
                body.append(f"{indent}visit(PlacedField{{CommandField::{member}, {base}{entry.word}}}, {value}.{entry.name});")

    visit(command.fields, command.name, "c", "  ", "")
    start = f"{pascal(command.name)}Command::kWords"
    for group in command.groups:
        element = pascal(group.element)
        before = len(body)
        visit(group.fields, f"{command.name}.{group.element}", f"c.{group.name}[i]", "    ",
              f"{start} + static_cast<uint32_t>(i) * {element}::kWords + ")
        if len(body) > before:
            body.insert(before, f"  for (size_t i = 0; i < c.{group.name}.size(); ++i) {{")
            body.append("  }")
        start += f" + static_cast<uint32_t>(c.{group.name}.size()) * {element}::kWords"
    kind = f"const {pascal(command.name)}Command&"
    if not body:
        return ["template <typename Visit>", f"void for_each_variable({kind}, Visit&&) {{}}", ""]
    return ["template <typename Visit>", f"void for_each_variable({kind} c, Visit&& visit) {{"] + body + ["}", ""]


def fields(contract: Contract) -> str:
    rows = [(command, row) for command in contract.commands for row in _all_fields(command)]
    lines = comment("The fields of commands; each element of an array is one, and so are offset, region and variable of an address. "
                    "Headers, and the counts of groups, are not among them: what a command is stays as it was encoded. The numbers "
                    "are those of one version of the contract.")
    lines += ["enum class CommandField : uint32_t {"] + [f"  {_member(row[0])}," for _, row in rows] + ["};", ""]
    lines += INFO.splitlines() + ["", "namespace detail {", "",
                                  f"inline constexpr std::array<CommandFieldInfo, {len(rows)}> kCommandFields = {{{{"]
    lines += [f'    {{"{name}", Opcode::{constant(command.opcode)}, {group}, {word}, {lsb}, {width}, '
              f"{str(variable).lower()}}}," for command, (name, group, word, lsb, width, variable) in rows]
    lines += ["}};", "", "}  // namespace detail", ""]
    lines += comment("False for a number that is no CommandField.")
    lines += ["[[nodiscard]] constexpr bool known(CommandField field) {",
              "  return static_cast<size_t>(field) < detail::kCommandFields.size();", "}", ""]
    lines += comment("Of a known field.")
    lines += ["[[nodiscard]] constexpr const CommandFieldInfo& info_of(CommandField field) {", "  NPU_CHECK(known(field));",
              "  return detail::kCommandFields[static_cast<size_t>(field)];", "}", ""]
    lines += _elements(contract) + ACCESS.splitlines() + [""]
    lines += comment("for_each_variable(command, visit) calls visit(PlacedField, index) for every field by which a command names an "
                     "entry of the table of variables.") + [""]
    for command in contract.commands:
        lines += _variables(command)
    includes = ["<array>", "<cstddef>", "<cstdint>", "<span>", "<string_view>", '"hw/contract/error.h"',
                '"hw/contract/gen/commands.h"']
    return header("commands.yaml", includes, lines[:-1])
