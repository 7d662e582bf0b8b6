#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says where the time of a test run went: the slowest cases, and the tier's seconds beside its budget.

    tests/tools/slowest.py BUILD-FOLDER CTEST-JUNIT [--most 20] [--budget SECONDS] [--name TIER]

Reads what ctest wrote with --output-junit and what the googletest programs left in test-results/ during that run. Exit status 0;
2 when a file cannot be read. Being over the budget is said, it is no failure: the machine may be busy.
"""

import argparse
import sys
import xml.etree.ElementTree as ET
from pathlib import Path


def ctest_rows(junit):
    """(seconds, name) of each ctest test that ran."""
    return [(float(case.get("time") or 0), case.get("name")) for case in ET.parse(junit).getroot().iter("testcase")]


def cases_of(file):
    """(seconds, name) of each case that a googletest program ran."""
    rows = []
    for case in ET.parse(file).getroot().iter("testcase"):
        if case.get("status") == "run":
            rows.append((float(case.get("time") or 0), f"{case.get('classname')}.{case.get('name')}"))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("junit", type=Path)
    parser.add_argument("--most", type=int, default=20, help="how many cases are listed")
    parser.add_argument("--budget", type=float, help="seconds of all tests together, each counted by itself")
    parser.add_argument("--name", default="tests")
    arguments = parser.parse_args()
    rows, cases = [], 0
    try:
        for seconds, name in ctest_rows(arguments.junit):
            results = arguments.build / "test-results" / f"{name}.xml"
            if results.is_file():
                inner = cases_of(results)
                rows += inner
                cases += len(inner)
            else:
                rows.append((seconds, name))
                cases += 1
    except (OSError, ET.ParseError) as error:
        print(f"slowest.py: {error}", file=sys.stderr)
        return 2
    rows.sort(reverse=True)
    total = sum(seconds for seconds, _ in rows)
    print(f"The {min(arguments.most, len(rows))} slowest of {cases} cases:")
    for seconds, name in rows[:arguments.most]:
        print(f"  {seconds:8.1f} s  {name}")
    budget = "" if arguments.budget is None else f", budget {arguments.budget:.0f} s"
    over = " (over budget)" if arguments.budget is not None and total > arguments.budget else ""
    print(f"{arguments.name}: {cases} cases took {total:.0f} s in all{budget}{over}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
