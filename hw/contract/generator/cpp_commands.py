# SPDX-License-Identifier: Apache-2.0
"""commands.h: the command set in C++, with inline encoders and decoders."""

import re

from generator.cpp import header, name_function
from generator.model import Command, Contract, Field, Structure
from generator.text import comment, constant, pascal, trailing

DETAIL = """namespace detail {

// Places fields in words and takes them out. put_* panics on a value that does not fit: the caller's bug, never input.
inline void put(std::span<uint32_t> words, size_t word, uint32_t lsb, uint32_t width, uint32_t value) {
  NPU_CHECK(width == 32 || value >> width == 0);
  words[word] |= value << lsb;
}

inline void put_signed(std::span<uint32_t> words, size_t word, uint32_t lsb, uint32_t width, int32_t value) {
  NPU_CHECK(width == 32 || (value >> (width - 1) == 0) || (value >> (width - 1) == -1));
  words[word] |= (static_cast<uint32_t>(value) & (0xffffffffu >> (32 - width))) << lsb;
}

// Words beyond the end read as 0, so that a truncated command decodes without harm.
inline uint32_t get(std::span<const uint32_t> words, size_t word, uint32_t lsb, uint32_t width) {
  return word < words.size() ? words[word] >> lsb & (0xffffffffu >> (32 - width)) : 0;
}

inline int32_t get_signed(std::span<const uint32_t> words, size_t word, uint32_t lsb, uint32_t width) {
  return static_cast<int32_t>(get(words, word, lsb, width) << (32 - width)) >> (32 - width);
}

inline void put_address(std::span<uint32_t> words, size_t word, const Address& address) {
  put(words, word, 0, 32, address.offset);
  put(words, word + 1, 0, 8, static_cast<uint32_t>(address.region));
  put(words, word + 1, 8, 16, address.variable);
}

inline Address get_address(std::span<const uint32_t> words, size_t word) {
  return {get(words, word, 0, 32), static_cast<Region>(get(words, word + 1, 0, 8)),
          static_cast<uint16_t>(get(words, word + 1, 8, 16))};
}

template <typename Integer>
void store(uint8_t* bytes, Integer value) {
  for (size_t i = 0; i < sizeof(Integer); ++i) bytes[i] = static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i));
}

template <typename Integer>
Integer load(const uint8_t* bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(Integer); ++i) value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return static_cast<Integer>(value);
}

}  // namespace detail"""

EQUAL = "  friend bool operator==(const {0}&, const {0}&) = default;"


def enum_type(name: str) -> str:
    return "UopCode" if name == "uop" else pascal(name)


def enum_default(contract: Contract, name: str) -> str:
    """The member that is 0, so that a default-constructed command encodes to zeros."""
    for member, value in contract.enums[name].items():
        if value == 0:
            return f"{enum_type(name)}::{constant(member)}"
    return f"{enum_type(name)}{{}}"


def field_type(entry: Field) -> str:
    if entry.kind == "address":
        return "Address"
    if entry.kind == "enum":
        return enum_type(entry.enum)
    if entry.kind == "signed":
        plain = "int8_t" if entry.array and entry.width == 8 else "int32_t"
    elif entry.array:
        plain = "uint8_t" if entry.width == 8 else "uint32_t"
    else:
        plain = "bool" if entry.width == 1 else "uint32_t"
    return f"std::array<{plain}, {entry.array}>" if entry.array else plain


def member(contract: Contract, entry: Field) -> list:
    if entry.kind == "address":
        value = ""
    elif entry.array:
        value = "{}"
    elif entry.kind == "enum":
        value = f" = {enum_default(contract, entry.enum)}"
    else:
        value = " = false" if entry.width == 1 else " = 0"
    return trailing(f"  {field_type(entry)} {entry.name}{value};", entry.doc)


def put(entry: Field, words: str, value: str) -> list:
    if entry.kind == "address":
        return [f"  detail::put_address({words}, {entry.word}, {value});"]
    function = "put_signed" if entry.kind == "signed" else "put"
    cast = f"static_cast<uint32_t>({value})" if entry.kind == "enum" or entry.width == 1 else value
    if not entry.array:
        return [f"  detail::{function}({words}, {entry.word}, {entry.lsb}, {entry.width}, {cast});"]
    return [f"  detail::{function}({words}, {word}, {lsb}, {entry.width}, {value}[{i}]);"
            for i, (word, lsb) in enumerate(entry.places())]


def get(entry: Field, words: str, target: str) -> list:
    if entry.kind == "address":
        return [f"  {target} = detail::get_address({words}, {entry.word});"]
    function = "get_signed" if entry.kind == "signed" else "get"

    def read(word, lsb):
        return f"detail::{function}({words}, {word}, {lsb}, {entry.width})"

    if entry.array:
        kind = field_type(entry).split("<")[1].split(",")[0]
        return [f"  {target}[{i}] = " + (f"static_cast<{kind}>({read(*place)});" if entry.width < 32 else
                                         f"{read(*place)};") for i, place in enumerate(entry.places())]
    if entry.kind == "enum":
        return [f"  {target} = static_cast<{enum_type(entry.enum)}>({read(entry.word, entry.lsb)});"]
    if entry.width == 1 and entry.kind == "unsigned":
        return [f"  {target} = {read(entry.word, entry.lsb)} != 0;"]
    return [f"  {target} = {read(entry.word, entry.lsb)};"]


def visible(fields: list, hidden=()) -> list:
    return [f for f in fields if not f.reserved and f.name not in hidden]


def enums(contract: Contract) -> list:
    lines = []
    for name, members in contract.enums.items():
        kind = enum_type(name)
        lines += [f"enum class {kind} : uint32_t {{"]
        for m, value in members.items():
            lines += trailing(f"  {constant(m)} = {value},", contract.enum_docs[name][m])
        lines += ["};", ""] + name_function(kind, list(members)) + [""]
        lines += comment(f"False for a number that is no {kind}.")
        lines += [f"[[nodiscard]] constexpr bool known({kind} value) {{ return name(value) != \"?\"; }}", ""]
    return lines


def header_struct(contract: Contract) -> list:
    fields = visible(contract.header)
    lines = comment("First words of every command. `opcode` and `words` are set by the command's encode().")
    lines += ["struct Header {"]
    for entry in fields:
        lines += member(contract, entry)
    lines += ["", "  [[nodiscard]] static Header decode(std::span<const uint32_t> words);",
              EQUAL.format("Header"), "};", "",
              "inline Header Header::decode(std::span<const uint32_t> words) {", "  Header header;"]
    for entry in fields:
        lines += get(entry, "words", f"header.{entry.name}")
    lines += ["  return header;", "}", "", "namespace detail {", "",
              "inline void put_header(std::span<uint32_t> words, const Header& header, Opcode opcode) {"]
    for entry in fields:
        value = {"opcode": "opcode", "words": "static_cast<uint32_t>(words.size())"}.get(entry.name,
                                                                                         f"header.{entry.name}")
        lines += put(entry, "words", value)
    return lines + ["}", "", "}  // namespace detail", ""]


def group_struct(contract: Contract, group, command: str) -> list:
    kind = pascal(group.element)
    fields = visible(group.fields)
    lines = comment(f"One of the `{group.name}` of {command}; at most kMax{pascal(group.name)}.")
    lines += [f"struct {kind} {{", f"  static constexpr uint32_t kWords = {group.words};", ""]
    for entry in fields:
        lines += member(contract, entry)
    lines += ["", "  void put(std::span<uint32_t> words) const;",
              f"  [[nodiscard]] static {kind} get(std::span<const uint32_t> words);", EQUAL.format(kind), "};", "",
              f"inline void {kind}::put(std::span<uint32_t> words) const {{"]
    for entry in fields:
        lines += put(entry, "words", entry.name)
    lines += ["}", "", f"inline {kind} {kind}::get(std::span<const uint32_t> words) {{", f"  {kind} value;"]
    for entry in fields:
        lines += get(entry, "words", f"value.{entry.name}")
    return lines + ["  return value;", "}", ""]


def command_struct(contract: Contract, command: Command) -> list:
    kind = pascal(command.name) + "Command"
    counts = {group.count: group for group in command.groups}
    fields = visible(command.fields, counts)
    lines = comment(command.doc)
    lines += [f"struct {kind} {{"]
    words = "fixed part" if command.groups else "header included"
    lines += [f"  static constexpr uint32_t kWords = {command.words};  // {words}",
              f"  static constexpr Opcode kOpcode = Opcode::{constant(command.opcode)};"]
    if command.queue:
        lines += [f"  static constexpr Queue kQueue = Queue::{constant(command.queue)};  // where it belongs"]
    lines += ["", "  Header header;"]
    for entry in fields:
        lines += member(contract, entry)
    for group in command.groups:
        lines += [f"  std::vector<{pascal(group.element)}> {group.name};"]
    if command.sizes:
        one = command.sizes[0].name
        value = f"{one}.begin(), {one}.end()" if command.sizes[0].array else ", ".join(entry.name for entry in command.sizes)
        lines += ["", "  // Of what it computes, outermost first.",
                  f"  [[nodiscard]] std::vector<uint32_t> sizes() const {{ return {{{value}}}; }}"]
    lines += ["", "  // Appends the command to `out`; sets opcode and words.", "  void encode(std::vector<uint32_t>& out) const;",
              f"  [[nodiscard]] static {kind} decode(std::span<const uint32_t> words);", EQUAL.format(kind), "};", "",
              f"inline void {kind}::encode(std::vector<uint32_t>& out) const {{", "  const size_t start = out.size();"]
    size = "kWords"
    for group in command.groups:
        lines += [f"  NPU_CHECK({group.name}.size() <= kMax{pascal(group.name)});"]
        size += f" + {group.name}.size() * {pascal(group.element)}::kWords"
    lines += [f"  out.resize(start + {size});", "  const std::span<uint32_t> words = std::span(out).subspan(start);",
              "  detail::put_header(words, header, kOpcode);"]
    for entry in command.fields:
        if entry.name in counts:
            lines += put(entry, "words", f"static_cast<uint32_t>({counts[entry.name].name}.size())")
        elif not entry.reserved:
            lines += put(entry, "words", entry.name)
    if command.groups:
        lines += ["  size_t at = kWords;"]
    for group in command.groups:
        element = pascal(group.element)
        lines += [f"  for (const {element}& {group.element} : {group.name}) {{",
                  f"    {group.element}.put(words.subspan(at, {element}::kWords));", f"    at += {element}::kWords;", "  }"]
    lines += ["}", "", f"inline {kind} {kind}::decode(std::span<const uint32_t> words) {{", f"  {kind} command;",
              "  command.header = Header::decode(words);"]
    for entry in fields:
        lines += get(entry, "words", f"command.{entry.name}")
    if command.groups:
        lines += ["  size_t at = kWords;"]
    for group in command.groups:
        element = pascal(group.element)
        entry = next(f for f in command.fields if f.name == group.count)
        lines += [f"  const uint32_t {entry.name} = detail::get(words, {entry.word}, {entry.lsb}, {entry.width});",
                  f"  for (uint32_t i = 0; i < {entry.name} && at + {element}::kWords <= words.size(); ++i) {{",
                  f"    command.{group.name}.push_back({element}::get(words.subspan(at, {element}::kWords)));",
                  f"    at += {element}::kWords;", "  }"]
    return lines + ["  return command;", "}", ""]


def integer(entry) -> str:
    return f"{'' if entry.signed else 'u'}int{entry.bytes * 8}_t"


def structure(item: Structure) -> list:
    kind = pascal(item.name)
    fields = [f for f in item.fields if not f.reserved]
    lines = comment(item.doc) + [f"struct {kind} {{", f"  static constexpr uint32_t kBytes = {item.bytes};", ""]
    for entry in fields:
        plain = integer(entry)
        code = f"  std::array<{plain}, {entry.array}> {entry.name}{{}};" if entry.array else f"  {plain} {entry.name} = 0;"
        lines += trailing(code, entry.doc)
    lines += ["", "  // Little endian, kBytes long; reserved bytes are written as 0.", "  void store(uint8_t* bytes) const;",
              f"  [[nodiscard]] static {kind} load(const uint8_t* bytes);", EQUAL.format(kind), "};", "",
              f"inline void {kind}::store(uint8_t* bytes) const {{"]
    for entry in item.fields:
        for i in range(max(entry.array, 1)):
            index = f"[{i}]" if entry.array else ""
            value = f"{integer(entry)}{{0}}" if entry.reserved else entry.name + index
            lines += [f"  detail::store(bytes + {entry.offset + i * entry.bytes}, {value});"]
    lines += ["}", "", f"inline {kind} {kind}::load(const uint8_t* bytes) {{", f"  {kind} value;"]
    for entry in fields:
        for i in range(max(entry.array, 1)):
            index = f"[{i}]" if entry.array else ""
            lines += [f"  value.{entry.name}{index} = detail::load<{integer(entry)}>(bytes + "
                      f"{entry.offset + i * entry.bytes});"]
    return lines + ["  return value;", "}", ""]


def well_formed(contract: Contract) -> list:
    words = next(f for f in contract.header if f.name == "words")
    opcode = next(f for f in contract.header if f.name == "opcode")
    lines = comment("Length in words that the header at the start of `words` claims; 0 when `words` is empty.")
    lines += ["[[nodiscard]] inline uint32_t command_words(std::span<const uint32_t> words) {",
              f"  return detail::get(words, {words.word}, {words.lsb}, {words.width});", "}", ""]
    lines += comment("Whether `command` is exactly one command: a known opcode, the length that its header and its counts say, "
                     "counts within their limits. Values of other fields are not looked at.")
    lines += ["[[nodiscard]] inline bool well_formed(std::span<const uint32_t> command) {",
              "  if (command.size() < kHeaderWords || command_words(command) != command.size()) return false;",
              f"  switch (static_cast<Opcode>(detail::get(command, {opcode.word}, {opcode.lsb}, {opcode.width}))) {{"]
    for command in contract.commands:
        kind = pascal(command.name) + "Command"
        lines += [f"    case Opcode::{constant(command.opcode)}:" + (" {" if command.groups else "")]
        if not command.groups:
            lines += [f"      return command.size() == {kind}::kWords;"]
            continue
        size = f"{kind}::kWords"
        limits = ""
        for group in command.groups:
            entry = next(f for f in command.fields if f.name == group.count)
            lines += [f"      const uint32_t {group.count} = detail::get(command, {entry.word}, {entry.lsb}, {entry.width});"]
            size += f" + {group.count} * {pascal(group.element)}::kWords"
            limits += f"{group.count} <= kMax{pascal(group.name)} && "
        lines += [f"      return {limits}", f"             command.size() == {size};", "    }"]
        lines[-3] = lines[-3].rstrip()
    return lines + ["  }", "  return false;", "}", ""]


def reserved_zero(contract: Contract) -> list:
    """Masks of the reserved bits, so that the device can refuse what a later version may give a meaning."""
    def masks(fields, words):
        result = [0] * words
        for entry in fields:
            if entry.kind == "address":
                result[entry.word + 1] |= 0xFF000000
            elif entry.reserved:
                for word, lsb in entry.places():
                    result[word] |= ((1 << entry.width) - 1) << lsb
        return [(word, mask) for word, mask in enumerate(result) if mask]

    def test(words, fields, count):
        return [f"detail::get({words}, {word}, 0, 32) & {mask:#x}" for word, mask in masks(fields, count)]

    lines = comment("Whether all reserved bits of a well-formed command are 0.")
    lines += ["[[nodiscard]] inline bool reserved_zero(std::span<const uint32_t> command) {", "  uint32_t bits = 0;"]
    lines += [f"  bits |= {expression};" for expression in test("command", contract.header, contract.header_words)]
    lines += ["  switch (Header::decode(command).opcode) {"]
    for command in contract.commands:
        kind = pascal(command.name) + "Command"
        lines += [f"    case Opcode::{constant(command.opcode)}:" + (" {" if command.groups else "")]
        lines += [f"      bits |= {expression};" for expression in test("command", command.fields, command.words)]
        start = f"{kind}::kWords"
        for i, group in enumerate(command.groups):
            if not any(masks(later.fields, later.words) for later in command.groups[i:]):
                break
            entry = next(f for f in command.fields if f.name == group.count)
            checks = test("command.subspan(at)", group.fields, group.words)
            element = pascal(group.element)
            count = f"detail::get(command, {entry.word}, {entry.lsb}, {entry.width})"
            end = f"{group.name}_end"
            lines += [f"      const size_t {end} = {start} + size_t{{{count}}} * {element}::kWords;"]
            if checks:
                lines += [f"      for (size_t at = {start}; at < {end} && at < command.size(); at += {element}::kWords) {{"]
                lines += [f"        bits |= {expression};" for expression in checks] + ["      }"]
            start = end
        lines += ["      break;"] + (["    }"] if command.groups else [])
    return lines + ["  }", "  return bits == 0;", "}", ""]


def any_command(contract: Contract) -> list:
    kinds = [f"{pascal(command.name)}Command" for command in contract.commands]
    lines = ["using AnyCommand =", f"    std::variant<{', '.join(kinds)}>;", ""]
    lines += comment("Of a well-formed command.")
    lines += ["[[nodiscard]] inline AnyCommand decode_command(std::span<const uint32_t> words) {",
              "  switch (Header::decode(words).opcode) {"]
    for command, kind in zip(contract.commands, kinds):
        lines += [f"    case Opcode::{constant(command.opcode)}:", f"      return {kind}::decode(words);"]
    return lines + ["  }", '  panic(__FILE__, __LINE__, "a command with an unknown opcode was decoded");', "}", ""]


def commands(contract: Contract) -> str:
    queues = next(f for f in contract.header if f.name == "wait").array
    body = comment("The contract's version. A device refuses a program of another major version or of a later minor one.")
    body += [f"inline constexpr uint32_t kContractMajor = {contract.major};",
             f"inline constexpr uint32_t kContractMinor = {contract.minor};", "",
             f"inline constexpr uint32_t kHeaderWords = {contract.header_words};",
             f"inline constexpr uint32_t kWaitQueues = {queues};  // queues that a command can wait for"]
    for command in contract.commands:
        for group in command.groups:
            body += [f"inline constexpr uint32_t kMax{pascal(group.name)} = {group.max};"]
    longest = max(command.max_words for command in contract.commands)
    body += [f"inline constexpr uint32_t kMaxCommandWords = {longest};", ""]
    for item in contract.constants:
        body += trailing(f"inline constexpr uint32_t {constant(item.name)} = {item.value};", item.doc)
    body += [""]
    body += enums(contract)
    body += comment("Bytes of an element in memory; 0 for a number that is no Element.")
    body += ["[[nodiscard]] constexpr uint32_t element_bytes(Element type) {", "  switch (type) {"]
    for element in contract.enums["element"]:
        body += [f"    case Element::{constant(element)}:", f"      return {element_size(element)};"]
    body += ["  }", "  return 0;", "}", ""]
    body += comment("Two words of a command: a byte offset in a region; `variable` is the table index for Region::kVariable.")
    body += ["struct Address {", "  uint32_t offset = 0;", "  Region region = Region::kScratchpad;", "  uint16_t variable = 0;",
             "", EQUAL.format("Address"), "};", "", DETAIL, ""]
    body += header_struct(contract)
    for command in contract.commands:
        for group in command.groups:
            body += group_struct(contract, group, command.name)
        body += command_struct(contract, command)
    body += well_formed(contract) + reserved_zero(contract)
    body += any_command(contract)
    for item in contract.structures:
        body += structure(item)
    includes = ["<array>", "<cstddef>", "<cstdint>", "<span>", "<string_view>", "<variant>", "<vector>", '"hw/contract/error.h"']
    return header("commands.yaml", includes, body[:-1])


def element_size(element: str) -> int:
    """Storage of a machine element: whole bytes, a power of two; bool is one byte. The first number in a name counts its bits."""
    bits = 8 if element == "bool" else int(re.search(r"\d+", element)[0])
    size = 1
    while size * 8 < bits:
        size *= 2
    return size
