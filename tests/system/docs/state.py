#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the tables of docs/reference/state.md: every cell names tests that exist, or says behind a dash why there is none.

    tests/system/docs/state.py BUILD-FOLDER [--without-rtl]

The tests are those that ctest knows in the build folder. Exit status 0 when all is well, 1 with a line for each cell that is not, 77
when a test was not found and programs with tests are not built.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[3] / "docs/reference/state.md"
COLUMNS = ["reference", "device", "RTL"]  # of the tables that are checked, behind the rule and what holds
NOT_BUILT = "_NOT_BUILT"


def plain(name):
    """Without what a parametrised test has around its name, or a test of several types behind it:
    Wakewords/State.Equal/okay_nabu and State.Equal<npu::Device> -> State.Equal."""
    name = re.sub(r"<.*>$", "", name)
    parts = [part for part in name.split("/") if "." in part]
    return parts[0] if parts else name


def tests_of(build):
    """Names of all tests, and of the programs that are not built."""
    done = subprocess.run(["ctest", "-N", "--test-dir", build], stdout=subprocess.PIPE, text=True, check=True)
    names = re.findall(r"^ *Test +#\d+: (\S+)", done.stdout, re.MULTILINE)
    missing = [name.removesuffix(NOT_BUILT) for name in names if name.endswith(NOT_BUILT)]
    return {plain(name) for name in names}, missing


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
