#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the RTL blocks reach: lines and toggles of each block, from Verilator's counts.

    rtl/coverage/summary.py FOLDER [--markdown FILE] [--check [--page FILE]] [--missing BLOCK]

FOLDER has the .dat files of the tests. A point stands in the source once: it is covered when any instance of its module
covered it, in any test. --missing prints what is not covered. Exit status 0; 1 with --check below the targets or with
another page than --markdown writes; 65 for counts or exclusions that do not fit the sources.
"""
import argparse
import collections
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXCLUSIONS = ROOT / "rtl/coverage/exclusions.txt"
BLOCKS = ["rescale", "mac_array", "vector_alu", "table", "cast", "float", "pool", "reduce", "vpu", "dma_address", "scratchpad",
          "persistent_sram", "lib"]
TARGETS = {"line": 95.0, "toggle": 90.0}  # percent
UNCOUNTED = ["cast"]  # blocks in which Verilator counts nothing: functions of packages

# A statement or branch ("line") or a bit of a signal ("toggle"). `text` is the line's source, or the signal's name.
Point = collections.namedtuple("Point", "kind file line text")
Exclusion = collections.namedtuple("Exclusion", "file kind pattern reason number")


class Trouble(Exception):
    pass


def read_points(folder):
    """Counts by point, of all .dat files."""
    counts = collections.Counter()
    names = {}
    sources = {}
    for path in sorted(folder.glob("*.dat")):
        for line in path.read_text(encoding="latin-1").splitlines():
            match = re.match(r"C '(.*)' (\d+)$", line)
            if not match:
                continue
            key, count = match[1], int(match[2])
            if key not in names:
                names[key] = points_of(key, sources)
            for point in names[key]:
                counts[point] += count
    if not counts:
        raise Trouble(f"{folder} has no coverage data")
    return counts


def points_of(key, sources):
    """The points that a record of a .dat file counts; none outside of rtl."""
    fields = dict(re.findall("\x01([^\x02]*)\x02([^\x01]*)", key))
    file = os.path.relpath(os.path.join(ROOT, fields["f"]), ROOT)
    if not file.startswith("rtl/"):
        return []
    kind, at = fields["page"].split("/")[0].removeprefix("v_"), int(fields["l"])
    if kind == "toggle":
        return [Point("toggle", file, at, fields["o"])]
    if file not in sources:
        sources[file] = (ROOT / file).read_text().splitlines()
    # Branches of one line are points of their own.
    return [Point("line", file, number, f"{sources[file][number - 1].strip()}  [{fields['o']} of {at}:{fields['n']}]")
            for number in numbers(fields.get("S") or str(at))]


def numbers(ranges):
    """12-14,16 as numbers."""
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def read_exclusions():
    exclusions = []
    for number, line in enumerate(EXCLUSIONS.read_text().splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 4 or parts[1] not in TARGETS or not parts[3]:
            raise Trouble(f"{EXCLUSIONS}:{number} is not 'files | line or toggle | pattern | reason'")
        exclusions.append(Exclusion(*parts, number))
    return exclusions


def exclude(counts, exclusions):
    """By exclusion, the uncovered points that it takes out."""
    taken = {}
    for exclusion in exclusions:
        matches = [point for point, count in counts.items()
                   if count == 0 and re.fullmatch(exclusion.file, point.file)
                   and point.kind == exclusion.kind and re.fullmatch(exclusion.pattern, point.text)
                   and point not in taken]
        if not matches:
            raise Trouble(f"{EXCLUSIONS}:{exclusion.number} excludes nothing that is not covered: remove it")
        taken.update(dict.fromkeys(matches, exclusion))
    return taken


def block_of(point):
    parts = point.file.split("/")
    return parts[2] if parts[1] == "blocks" else parts[1]


def summarise(counts, taken):
    """By block and kind: covered, all that count, excluded."""
    table = {block: {kind: [0, 0, 0] for kind in TARGETS} for block in BLOCKS}
    for point, count in counts.items():
        row = table[block_of(point)][point.kind]
        if point in taken:
            row[2] += 1
            continue
        row[0] += count > 0
        row[1] += 1
    return table


def check_sources(counts):
    """Every module must have been part of a test."""
    seen = {point.file for point in counts}
    for path in sorted([*ROOT.glob("rtl/blocks/*/*.sv"), *ROOT.glob("rtl/lib/*.sv")]):
        file = str(path.relative_to(ROOT))
        if file not in seen and "\nmodule " in path.read_text():
            raise Trouble(f"no test has a block with {file}")
        if block_of(Point("line", file, 0, "")) not in BLOCKS:
            raise Trouble(f"rtl/coverage/summary.py does not know the block of {file}")


def share(covered, total):
    return 100.0 * covered / total if total else 100.0


def cells(row):
    covered, total, excluded = row
    return [f"{covered} of {total}", f"{share(covered, total):.1f} %", str(excluded)] if total else ["not counted", "", ""]


HEADER = ["block", "lines", "", "excluded", "toggles", "", "excluded"]


def rows_of(table):
    return [[block, *cells(kinds["line"]), *cells(kinds["toggle"])] for block, kinds in table.items()]


def print_table(table):
    rows = [HEADER, *rows_of(table)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADER))]
    for row in rows:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))


def reasons(taken):
    """File, kind, pattern, excluded points and reason of each exclusion."""
    count = collections.Counter(taken.values())
    return [(e.file, e.kind, e.pattern, count[e], e.reason) for e in dict.fromkeys(taken.values())]


def escape(pattern):
    """For a cell of a Markdown table."""
    return pattern.replace("|", "\\|")


def markdown(table, taken):
    lines = ["# Coverage of the RTL blocks", "",
             "Generated by `rtl/coverage/run.sh --markdown docs/reference/rtl-coverage.md`; do not edit.", "",
             "What the tests of `tests/block` execute (lines, a branch each) and toggle (a bit each, of signals, ports and",
             "registers) in blocks of the sizes in `rtl/coverage/small.yaml`. A point counts once, however many instances",
             f"its module has. Targets: {TARGETS['line']:.0f} % of the lines and {TARGETS['toggle']:.0f} % of the toggles"
             " of every block; `lib` are the cells that blocks share.", "",
             "Verilator counts nothing in functions of packages, which blocks call lane by lane within expressions and functions",
             "of their own. `cast` has nothing else: it has no figures, and `--check` does not judge it; it is tested through",
             "`vector_alu` and `vpu`. The figures of `float` are those of its lanes, without the arithmetic in its package, which",
             "`float_test` tries on its own. Nor does Verilator count signals of more than 1,024 bits: the command of the MXU, the",
             "lists of operations and operands of a VPU command, and the places of all lanes.", "",
             "| " + " | ".join(HEADER) + " |", "|---" + "|--:" * (len(HEADER) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows_of(table)]
    lines += ["", "## Excluded", "",
              "Uncovered points that do not count, from `rtl/coverage/exclusions.txt`, with the reason: bits that are constant or that",
              "the block does not read, and bits of what is counted up from 0, which take longer than a test. Sizes, steps and",
              "strides are tried over all that make_tile takes. An exclusion that matches nothing uncovered is an error.", "",
              "| files | kind | points | count | reason |", "|---|---|---|--:|---|"]
    lines += [f"| `{escape(file)}` | {kind} | `{escape(pattern)}` | {count} | {reason} |"
              for file, kind, pattern, count, reason in reasons(taken)]
    return "\n".join(lines) + "\n"


def print_missing(counts, taken, block):
    """Uncovered points; bits of a signal in one line."""
    signals = collections.defaultdict(list)
    for point in sorted(counts):
        if counts[point] or point in taken or block_of(point) != block:
            continue
        if point.kind == "line":
            print(f"{point.file}:{point.line}: {point.text}")
        else:
            signal, _, bits = point.text.partition("[")
            signals[point.file, point.line, signal].append(bits.rstrip("]") or "-")
    for (file, line, signal), bits in signals.items():
        print(f"{file}:{line}: {signal}: {len(bits)} bits: {' '.join(bits)[:400]}")


def below(table):
    for block, kinds in table.items():
        for kind, (covered, total, _) in kinds.items():
            if (total == 0) != (block in UNCOUNTED):
                yield f"{block}: {total} {kind}s are counted; UNCOUNTED in rtl/coverage/summary.py says something else"
            if share(covered, total) < TARGETS[kind]:
                yield f"{block}: {share(covered, total):.1f} % of the {kind}s are covered, {TARGETS[kind]:.0f} % are asked for"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--missing", choices=BLOCKS)
    arguments = parser.parse_args()
    try:
        counts = read_points(arguments.folder)
        if not arguments.missing:
            check_sources(counts)
        taken = exclude(counts, read_exclusions())
    except Trouble as trouble:
        print(f"rtl/coverage: {trouble}", file=sys.stderr)
        return 65
    table = summarise(counts, taken)
    if arguments.missing:
        print_missing(counts, taken, arguments.missing)
        return 0
    print_table(table)
    for file, kind, pattern, count, reason in reasons(taken):
        print(f"excluded: {file}: {count} {kind}s {pattern}: {reason}")
    if arguments.markdown:
        temporary = arguments.markdown.with_name(arguments.markdown.name + ".tmp")
        temporary.write_text(markdown(table, taken))
        temporary.replace(arguments.markdown)
    failures = list(below(table))
    if arguments.page and arguments.page.read_text() != markdown(table, taken):
        failures.append(f"{arguments.page} is of other counts: rtl/coverage/run.sh --markdown {arguments.page} writes it anew")
    for failure in failures:
        print(f"rtl/coverage: {failure}", file=sys.stderr)
    return 1 if failures and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
