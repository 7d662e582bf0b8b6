# SPDX-License-Identifier: Apache-2.0
"""Mutants of C++ sources: small wrong changes of one line each, found by rules over the text.

Comments, strings and the arguments of what only words a message are left alone. A mutant is named by what a reader sees: the
file, the line without its indentation, and what it becomes.
"""

import hashlib
import re
from dataclasses import dataclass

KINDS = ("rounding", "comparison", "bound", "sign", "index", "condition", "removed", "table")
TABLE = "driver/graph/operators.cpp"

# Calls whose arguments only word a message.
MESSAGES = re.compile(r"(?:\bfmt::format|\bthrow Error|\bfail|\bbad_\w+|\bbad|\bwrong|\bdescribe)\s*\(")
# Lines that declare or assert and compute nothing.
IDLE = re.compile(r"\s*(?:#|using |template|namespace|static_assert|friend |\[\[nodiscard\]\]|__extension__)")


@dataclass(frozen=True)
class Mutant:
    file: str
    number: int  # of the line, from 1
    kind: str
    line: str  # without indentation
    becomes: str
    nth: int  # of the equal lines of the file, from 1
    source: str  # the whole line that takes the place of the old one

    @property
    def key(self):
        return (self.file, self.line, self.becomes, self.nth)

    def apply(self, text):
        lines = text.split("\n")
        lines[self.number - 1] = self.source
        return "\n".join(lines)


def _spaces(text):
    return re.sub(r"[^\n]", " ", text)


def code_only(text):
    """The text with spaces for comments, strings, characters and the wording of messages; every other place keeps its column."""
    tokens = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
    text = tokens.sub(lambda match: _spaces(match[0]), text)
    start = 0
    while call := MESSAGES.search(text, start):
        start = end = call.end()
        depth = 1
        while depth > 0 and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        text = text[:start] + _spaces(text[start:end - 1]) + text[end - 1:]
    return text


def _swap(*pairs):
    """Alternatives for tokens, both ways."""
    table = {}
    for a, b in pairs:
        table.setdefault(a, []).append(b)
        table.setdefault(b, []).append(a)
    return table


COMPARISONS = {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "!=": ["=="]}
SIGNS = {"+": ["-"], "-": ["+"], "+=": ["-="], "-=": ["+="]}
LIMITS = _swap(("kMin", "kMax"), ("std::min", "std::max"), ("larger", "smaller"), ("lowest", "highest"), ("largest", "infinity"))
AXES = _swap(("iy", "ix"), ("oy", "ox"), ("ky", "kx"), ("kh", "kw"), ("ih", "iw"), ("oh", "ow"), ("ic", "oc"), ("y0", "x0"),
             ("y1", "x1"), ("first", "second"), ("front", "back"), ("height", "width"), ("stride_y", "stride_x"),
             ("dilation_y", "dilation_x"), ("kernel_y", "kernel_x"), ("pad_top", "pad_left"), ("weight_y", "weight_x"),
             ("y_axis", "x_axis"), ("outer", "inner"), ("input_zp", "output_zp"), ("min_val", "max_val"))
INTEGER_TYPES = ("Int8", "Int16", "Int32", "Int48")
WORD = r"(?<![\w])(?:%s)(?!\w)"


def _words(table):
    pattern = WORD % "|".join(sorted(map(re.escape, table), key=len, reverse=True))
    return pattern, lambda match: table[match[0]]


def _operators(table):
    pattern = "(?<= )(?:" + "|".join(sorted(map(re.escape, table), key=len, reverse=True)) + ")(?= )"
    return pattern, lambda match: table[match[0]]


def _numbers(match):
    digits = match["digits"]
    value = int(digits, 0)
    text = hex if digits.startswith("0x") else str
    near = [value + 1] + ([value - 1] if value > 0 else [])
    return [text(other) + match["suffix"] for other in near]


def _indices(match):
    inner = match["index"]
    if inner.isdigit():
        return [f"[{int(inner) + 1}]"] + ([f"[{int(inner) - 1}]"] if int(inner) > 0 else [])
    if inner.endswith(" + 1"):
        return [f"[{inner[:-4]}]"]
    return [f"[{inner} + 1]"]


def _limit_types(match):
    position = INTEGER_TYPES.index(match["type"])
    near = [INTEGER_TYPES[i] for i in (position - 1, position + 1) if 0 <= i < len(INTEGER_TYPES)]
    return [match["call"] + "<" + other + ">" for other in near]


NUMBER = r"(?<![\w.\['])(?P<digits>0x[0-9a-f]+|\d+)(?P<suffix>[uU]?)(?![\w.'\]])"
CODE_RULES = [
    # The remainder is dropped, moved to the other side, or rounded the other way.
    ("rounding", r"std::nearbyint", lambda _: ["std::trunc", "std::floor", "std::round"]),
    ("rounding", r"std::(?:floor|ceil)(?=\(x)", lambda match: ["std::ceil" if "floor" in match[0] else "std::floor"]),
    ("rounding", r" \+ (?:round|last_bit_out|kNoFraction - kNoFraction)\b", lambda _: [""]),
    ("rounding", r">> (?P<shift>shift|amount)\b", lambda match: [f"/ (int64_t{{1}} << {match['shift']})"]),
    ("rounding", r"(?<= )\(?int64_t\{1\} << \(shift - 1\)\)?", lambda _: ["0", "((int64_t{1} << (shift - 1)) - 1)"]),
    ("rounding", r"(?<=round = )limit", lambda _: ["limit - 1", "0"]),
    ("rounding", r"(?<=double_round && shift )> 31", lambda _: ["> 32"]),
    ("rounding", r" - 1\) / ", lambda _: [") / "]),
    ("rounding", r"static_cast<float>\(value\)", lambda _: ["std::nextafter(static_cast<float>(value), 0.0f)"]),
    ("rounding", r"Out::store\(to_integer\((?P<value>\w+), [^()]*\)\)", lambda match: [f"Out::store({match['value']})"]),
    ("comparison", *_operators(COMPARISONS)),
    ("bound", NUMBER, _numbers),
    ("bound", *_words(LIMITS)),
    ("bound", r"\b(?P<call>in_range|clip|add)<(?P<type>Int\d+)>", _limit_types),
    ("bound", r"\bINT(?:16|32|64)_M(?:AX|IN)\b", lambda match: [match[0].replace("32", "16") if "32" in match[0]
                                                                 else match[0].translate(str.maketrans("64", "32"))]),
    ("sign", *_operators(SIGNS)),
    ("sign", r"(?<=[(\[,?:{ ])-(?=[\w(])(?!\d)", lambda _: [""]),
    ("index", r"\[(?P<index>\w+(?: [+*] \w+)*)\](?![ (]*[({])", _indices),
    ("index", *_words(AXES)),
    ("condition", r"&&|\|\|", lambda match: ["||" if match[0] == "&&" else "&&"]),
    ("condition", r"!(?=[\w(])", lambda _: [""]),
    ("removed", r"(?<=^)(?:continue|break);", lambda _: [";"]),
]

TYPES = ("kB", "kI4", "kI8", "kI16", "kI32", "kI48", "kF16", "kF32", "kBf", "kE4", "kE5")
FEATURES = ("kProInt", "kProFp", "kBoth", "kExtInt16", "kExtInt4", "kExtBf16", "kExtFp8E4M3", "kExtFp8E5M2", "kExtFft",
            "kExtVariable", "kExtControlFlow")
SLOTS = ("Slot::kIn", "Slot::kOther", "Slot::kOut")


def _next_of(names):
    pattern = WORD % "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return pattern, lambda match: [names[(names.index(match[0]) + 1) % len(names)], names[names.index(match[0]) - 1]]


TABLE_RULES = [
    ("table", *_next_of(TYPES)),
    ("table", *_next_of(FEATURES)),
    ("table", *_next_of(SLOTS)),
    ("table", NUMBER, _numbers),
    ("table", r"\{\{k\w+(?:, k\w+)*\}(?:, [\w |]+)+\},? *", lambda _: [""]),
    ("table", r"kHas\w+ \| | \| kHas\w+", lambda _: [""]),
    ("table", r"\brule_(?!same_shape)\w+", lambda _: ["rule_same_shape"]),
    ("table", r", true(?=\))", lambda _: [", false"]),
    ("table", r"\bany_rank\(", lambda _: ["some_rank("]),
    ("table", r"\bsome_rank\(", lambda _: ["any_rank("]),
    ("table", r"\bshape\(", lambda _: ["any_rank("]),
    ("table", r"\bkMaxRank - 1\b", lambda _: ["kMaxRank"]),
]

# A statement that is no declaration: a call or an assignment.
STATEMENT = re.compile(r"(?:\+\+|--)?(?!return\b|else\b|case\b|default\b)[\w:.<>*]+(?:->\w+|\[[^\]]*\]|\.\w+)*(?:\(|<\w+>\(| [-+*/|&^]?= )")
IF = re.compile(r"(?:\} else )?if \((?!constexpr)")


def _line_rules(code):
    """Removed conditions and statements: (kind, start, end, replacement) with columns."""
    indent = len(code) - len(code.lstrip())
    body = code.strip()
    if condition := IF.match(code, indent):
        start = end = condition.end()
        depth = 1
        while depth > 0 and end < len(code):
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        if depth == 0:
            yield "removed", start, end - 1, "false"
            yield "removed", start, end - 1, "true"
    elif body.endswith((";", "(", ",")) and STATEMENT.match(code, indent):
        yield "removed", indent, indent, "if (false) "


def _is_statement_start(previous):
    """Whether a line after this code starts a statement."""
    return previous == "" or previous.endswith((";", "{", "}", ":"))


def mutants_of(file, text):
    """All mutants of a source, in the order of its lines."""
    code = code_only(text)
    lines, code_lines = text.split("\n"), code.split("\n")
    table_end = code.find("constexpr bool in_order") if file == TABLE else 0
    seen, position, previous = {}, 0, ""
    for number, (line, plain) in enumerate(zip(lines, code_lines), 1):
        in_table = position < table_end
        position += len(line) + 1
        stripped = line.strip()
        seen[stripped] = seen.get(stripped, 0) + 1
        starts = _is_statement_start(previous)
        previous = plain.strip() or previous
        if not plain.strip() or IDLE.match(plain):
            continue
        changes = [(kind, match.start(), match.end(), other)
                   for kind, pattern, alternatives in (TABLE_RULES if in_table else CODE_RULES)
                   for match in re.finditer(pattern, plain) for other in alternatives(match)]
        if starts and not in_table:
            changes += _line_rules(plain)
        found = set()
        for kind, start, end, other in changes:
            source = line[:start] + other + line[end:]
            # A change that two rules make is one mutant, of the first one's kind.
            if source != line and source not in found:
                found.add(source)
                yield Mutant(file, number, kind, stripped, source.strip(), seen[stripped], source)


def draw(mutants, seed, count):
    """`count` of the mutants, the kinds in turn. Each one's place follows from the seed and its name only, so that a change of
    a source leaves the choice elsewhere as it is, and more mutants are the same ones and others."""
    def place(mutant):
        return hashlib.sha256("\0".join(map(str, (seed, *mutant.key))).encode()).digest()

    queues = {kind: sorted((m for m in mutants if m.kind == kind), key=place, reverse=True) for kind in KINDS}
    drawn = []
    while len(drawn) < count and any(queues.values()):
        for kind in KINDS:
            if queues[kind] and len(drawn) < count:
                drawn.append(queues[kind].pop())
    return drawn
