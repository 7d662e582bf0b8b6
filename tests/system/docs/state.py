#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the tables of docs/reference/state.md: every cell names tests that exist, or says behind a dash why there is none.

    tests/system/docs/state.py BUILD-FOLDER [--without-rtl]

The tests are the cases of all test programs of the build folder. Exit status 0 when all is well, 1 with a line for each cell that is not, 77
when a test was not found and programs with tests are not built.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[3] / "docs/reference/state.md"
COLUMNS = ["reference", "device", "RTL"]  # of the tables that are checked, behind the rule and what holds


def plain(suite, case):
    """Suite.Case without what a parametrised or typed test has around its name: Wakewords/State and Equal/okay_nabu, or State/0
    and Equal, become State.Equal."""
    return re.sub(r"/\d+$", "", suite).split("/")[-1] + "." + case.split("/")[0]


def cases_of(program):
    """Names of the cases of a googletest program, as Suite.Case."""
    done = subprocess.run([program, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    suite, cases = "", set()
    for line in done.stdout.splitlines():
        name = line.split("#")[0].rstrip()
        if not line.startswith(" ") and name.endswith("."):
            suite = name.removesuffix(".")
        elif line.startswith("  ") and suite:
            cases.add(plain(suite, name.strip()))
    return cases


def tests_of(build):
    """Names of all tests, and of the programs that are not built."""
    programs = (build / "test-programs.txt").read_text(encoding="utf-8").split()
    missing = [program for program in programs if not Path(program).is_file()]
    done = subprocess.run(["ctest", "-N", "--test-dir", build], stdout=subprocess.PIPE, text=True, check=True)
    names = set(re.findall(r"^ *Test +#\d+: (\S+)", done.stdout, re.MULTILINE))
    for program in programs:
        if program not in missing:
            names |= cases_of(program)
    return names, [Path(program).name for program in missing]


def rows_of(text):
    """Rule and cells of every row of the tables with the columns."""
    inside = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[-len(COLUMNS):] == COLUMNS:
            inside = True
        elif inside and not set(line) <= set("|-"):
            yield cells[0], cells[-len(COLUMNS):], len(cells) == 2 + len(COLUMNS)


def problems_of(text, tests, without_rtl):
    """A sentence for each cell that is wrong, and the names that were not found."""
    rows, problems, unknown = 0, [], []
    for rule, cells, whole in rows_of(text):
        rows += 1
        if not whole:
            problems.append(f"the row of '{rule}' has not {2 + len(COLUMNS)} cells")
            continue
        for column, cell in zip(COLUMNS, cells):
            names = re.findall(r"`([^`]+)`", cell)
            if cell.startswith("—"):
                if not cell.removeprefix("—").strip():
                    problems.append(f"'{rule}' does not say why it has no test on {column}")
            elif not names:
                problems.append(f"'{rule}' names no test on {column}")
            elif not (without_rtl and column == "RTL"):
                unknown += [(rule, column, name) for name in names if name not in tests]
    if rows == 0:
        problems.append(f"it has no table with the columns {', '.join(COLUMNS)}")
    return rows, problems, unknown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="folder of the build")
    parser.add_argument("--without-rtl", action="store_true", help="the build has no tests of RTL: do not look for them")
    arguments = parser.parse_args()
    tests, not_built = tests_of(arguments.build)
    rows, problems, unknown = problems_of(DOCUMENT.read_text(), tests, arguments.without_rtl)
    if unknown and not problems and not_built:
        print(f"state.py: {unknown[0][2]} was not found, but {len(not_built)} programs with tests are not built: {', '.join(not_built)}")
        return 77
    problems += [f"'{rule}' names {name} on {column}, but there is no such test" for rule, column, name in unknown]
    for problem in problems:
        print(f"state.py: {DOCUMENT.name}: {problem}", file=sys.stderr)
    print(f"{rows} rules, {len(tests)} tests known, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
