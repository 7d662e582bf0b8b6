#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/operators.md: what `npu operators` says, with how many official tests each row has.

    tests/system/docs/operators.py                          # after the operator table, the reference or the compiler changed
    tests/system/docs/operators.py --count DIR              # runs the tests in DIR, made by tests/conformance/generate.py
    tests/system/docs/operators.py --count DIR --report F   # the same with what `npu conformance DIR --json F` wrote
    tests/system/docs/operators.py --check                  # fails when the document is not what it would write

The counts stay in operator_counts.json and operator_counts_1_1.json beside this script, for the suites of TOSA 1.0 and of the draft
of 1.1, so that only --count needs the tests.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
DOCUMENT = ROOT / "docs/reference/operators.md"
# By the version of the operators that a suite is about.
COUNTS = {"1.0": HERE / "operator_counts.json", "1.1": HERE / "operator_counts_1_1.json"}
ANEW = "tests/system/docs/operators.py"


class Problem(Exception):
    """One sentence for the user."""


def call(npu, *arguments):
    """What the program prints; Problem when it is not there or ends with another status than 0 or 7."""
    try:
        done = subprocess.run([npu, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise Problem(f"cannot start {npu}: {error.strerror}; build it, or name it with --npu") from error
    if done.returncode not in (0, 7):
        raise Problem(f"{npu} {arguments[0]} ends with status {done.returncode}")
    return done.stdout


def operators_of(npu):
    return json.loads(call(npu, "operators", "--json"))


def json_of(file):
    try:
        return json.loads(file.read_text())
    except OSError as error:
        raise Problem(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise Problem(f"{file} is not JSON") from error


def whole_suite(tests):
    """Version and seed of the suite in this folder and the number of tests that the generator lists."""
    name = re.fullmatch(r"(?:(1\.1\.0-draft)-)?all-seed(\d+)-[0-9a-f]+", tests.parent.name)
    if not name or tests.name != "tests":
        raise Problem(f"{tests} is not the `tests` of a whole suite: tests/conformance/generate.py prints one")
    if not tests.is_dir():
        raise Problem(f"there is no folder {tests}")
    listed = {line.split()[-1] for line in (tests.parent / "listed").read_text().splitlines() if line.strip()}
    return name[1], int(name[2]), len(listed)


def report_of(npu, tests, file):
    if file is None:
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "report.json"
            call(npu, "conformance", tests, "--json", file)
            return json_of(file)
    report = json_of(file)
    if not isinstance(report, dict) or report.get("schema") != "npu-conformance":
        raise Problem(f"{file} is not what `npu conformance --json` writes")
    return report


def count(table, tests, later_version, seed, listed, report):
    # Generator and tools as generate.py finds them; only counting needs their environment.
    sys.path.insert(0, str(ROOT / "tests/conformance"))
    from generate import TOSA_VERSION, Tools, tests_below
    if report["tests"] != len(tests_below(tests)):
        raise Problem(f"the report has {report['tests']} tests and {tests} has {len(tests_below(tests))}")
    counts = {"tosa": later_version or TOSA_VERSION, "seed": seed, "tools": Tools().version.removesuffix(".dist-info"), "listed": listed,
              **{key: report[key] for key in ("tests", "passed", "failed", "unsupported", "broken")}}
    tested = [entry for entry in table["operators"] if (entry["version"] == "1.1") == bool(later_version)]
    rows = {entry["name"]: {row["types"]: [0, 0] for row in entry["rows"]} for entry in tested}
    illegal = {entry["name"]: [0, 0] for entry in tested}
    for result in report["results"]:
        name, types = result["operator"], result["types"]
        if result["expected_failure"]:
            cell = illegal.get(name)
        else:
            cell = rows.get(name, {}).get(types)
        if cell is None:
            raise Problem(f"test {result['name']} uses {name} with types '{types}', which the table lacks: {result['reason']}")
        cell[0] += 1
        cell[1] += result["outcome"] == "passed"
    counts["operators"] = {name: {"legal": rows[name], "illegal": illegal[name]} for name in rows}
    return counts


def as_text(counts):
    """JSON with a line for each operator, so that a difference shows where it is."""
    head = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in counts.items() if key != "operators")
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(cells)}" for name, cells in counts["operators"].items())
    return f'{{{head},\n"operators": {{\n{rows}\n}}}}\n'


def tests_and_passed(cell):
    return str(cell[0]) if cell[0] == cell[1] else f"{cell[0]}, {cell[1]} passed"


def needs(row):
    text = " or ".join(row["any_of"])
    return f"{text}, with {' and '.join(row['all_of'])}" if row["all_of"] else text


def feature_lines(table):
    """A table of the profiles and extensions, and what of them is missing."""
    runners = [runner["name"] for runner in table["features"][0]["runners"]]
    lines = [f"| profile or extension | status | rows | {' | '.join(runners)} |", "|---|---|---|" + "---|" * len(runners)]
    for feature in table["features"]:
        title = f"{feature['feature']} with {feature['with']}" if feature["with"] else feature["feature"]
        cells = ["whole" if runner["whole"] else str(runner["runs"]) for runner in feature["runners"]]
        lines.append(f"| {title} | {feature['status']} | {feature['rows']} | {' | '.join(cells)} |")
    return lines


def suite_lines(what, counts, again=""):
    return [
        f"The suite {what} is that of TOSA {counts['tosa']}, made by {counts['tools'].replace('-', ' ')} with seed {counts['seed']}{again}:",
        f"{counts['tests']:,} tests of {counts['listed']:,} that the generator lists. On the reference {counts['passed']:,} pass, "
        f"{counts['failed']:,} fail, {counts['unsupported']:,} are unsupported and",
        f"{counts['broken']:,} cannot be judged.",
    ]


def render(table, suites):
    rows = [row for entry in table["operators"] for row in entry["rows"]]
    on_reference, on_device = sum(row["reference"] for row in rows), sum(bool(row["engine"]) for row in rows)
    machine = table["machine"]
    of_version = {version: sum(entry["version"] == version for entry in table["operators"]) for version in COUNTS}
    lines = [
        "# Operators",
        "",
        f"<!-- Written by {ANEW}; change that, or the table in driver/graph/operators.cpp. -->",
        "",
        f"The {of_version['1.0']} operators of TOSA 1.0, and the {of_version['1.1']} of the draft of TOSA 1.1 that compute shapes",
        f"(EXT-SHAPE), with their {len(rows)} combinations of types. The reference runs {on_reference} of them, the machine `{machine}` {on_device}.",
        "`npu operators` prints the same for any machine, and with `--json` the operands, ranks and attributes too.",
        "",
        "- *profile or extension*: any one of the first, and all of those after \"with\". Not of the specification is",
        "  PROPOSAL-VARIABLE: types of variables that only the proposals for stateful operators have. An operand that has to be a",
        "  constant may be a run-time value with EXT-DYNAMIC; RESCALE's rounding modes DOUBLE_ROUND and INEXACT_ROUND need",
        "  EXT-DOUBLEROUND and EXT-INEXACTROUND.",
        f"- *reference* and *{machine}*: whether the software reference computes, and the compiler takes, the smallest network of",
        "  the operator with these types, where weights and biases are constants; on the machine, the engine that runs it.",
        "  `view` moves no data; a `constant` is known before anything runs, as all shapes are. Larger networks can be above a limit of",
        "  the machine; `npu info` says so.",
        "- *tests*: how many tests of the official suite use the operator with these types; *illegal graphs*: how many ask",
        "  that a wrong use of the operator is refused. The number that pass stands beside it where some do not. Where the suite",
        "  has none, only the project's own tests look at it.",
        "",
        *suite_lines("of the operators of 1.0, with all profiles and extensions,", suites["1.0"], " ([how](conformance.md))"),
        "",
        *suite_lines("of those that compute shapes", suites["1.1"]),
        "",
        "## Profiles and extensions",
        "",
        "A row of an extension counts beside each profile or extension that has it. Rows of EXT-DYNAMIC are those with one operand at run",
        "time, rows of EXT-DOUBLEROUND and EXT-INEXACTROUND those of RESCALE with that rounding. *Status* is the specification's:",
        "what is experimental may change. Reference and machines run a row as below; the table says how many, or that they run them all",
        "(whole). `npu operators` names what is missing where some of them run. No profile asks for CUSTOM.",
        "",
        *feature_lines(table),
        "",
        "## Operators with their types",
        "",
        f"| operator | types | profile or extension | reference | {machine} | tests |",
        "|---|---|---|---|---|---|",
    ]
    for entry in table["operators"]:
        counted = suites[entry["version"]]["operators"].get(entry["name"], {"legal": {}, "illegal": [0, 0]})
        for i, row in enumerate(entry["rows"]):
            lines.append(f"| {'' if i else entry['name']} | {row['types'] or 'any'} | {needs(row)} | "
                         f"{'yes' if row['reference'] else 'no'} | {row['engine'] or 'no'} | "
                         f"{tests_and_passed(counted['legal'].get(row['types'], [0, 0]))} |")
        if counted["illegal"][0]:
            lines.append(f"| | illegal graphs | | | | {tests_and_passed(counted['illegal'])} |")
    return "\n".join(lines) + "\n"


def write(path, text):
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text)
    os.replace(partial, path)


def first_difference(old, new):
    for number, (was, now) in enumerate(zip(old.splitlines() + [""], new.splitlines() + [""]), 1):
        if was != now:
            return f"line {number} is\n  {was}\nand should be\n  {now}"
    return "it ends too early or too late"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--npu", type=Path, default=ROOT / "build/release/npu", help="the program, build/release/npu by default")
    parser.add_argument("--count", type=Path, metavar="DIR", help="count the tests in DIR anew")
    parser.add_argument("--report", type=Path, metavar="FILE", help="with --count: the report of a run of these tests")
    parser.add_argument("--check", action="store_true", help="write nothing, fail when the document is not up to date")
    arguments = parser.parse_args()
    if arguments.report and not arguments.count:
        parser.error("--report needs --count DIR, the tests that it is about")
    try:
        table = operators_of(arguments.npu.resolve())
        if arguments.count:
            tests = arguments.count.resolve()
            later_version, seed, listed = whole_suite(tests)
            counts = count(table, tests, later_version, seed, listed,
                           report_of(arguments.npu.resolve(), tests, arguments.report))
            if not arguments.check:
                write(COUNTS["1.1" if later_version else "1.0"], as_text(counts))
        text = render(table, {version: json_of(file) for version, file in COUNTS.items()})
        if not arguments.check:
            write(DOCUMENT, text)
        elif DOCUMENT.read_text() != text:
            raise Problem(f"{DOCUMENT.relative_to(ROOT)} is not up to date: {first_difference(DOCUMENT.read_text(), text)}\n"
                          f"make it anew with {ANEW} --npu {arguments.npu}")
    except (Problem, OSError) as problem:
        print(f"operators.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
