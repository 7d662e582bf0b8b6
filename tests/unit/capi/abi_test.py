#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""abi_test.py HEADER LIBRARY [--also SYMBOL]... : the shared library exports exactly the functions of its header.

Also checked: its name carries the header's major version, it finds its neighbours relative to itself, and it needs no
library that is not for everybody (Unicorn, whose licence is another; SystemC, unless --systemc is given)."""

import argparse
import re
import subprocess
import sys
from pathlib import Path


def run(*command) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def declared(header: str) -> set:
    """Functions that the header declares for users."""
    return set(re.findall(r"^NPU_EXPORT\b[^;(]*?\b(npu_\w+)\(", header, re.MULTILINE))


def exported(library: str) -> set:
    """Defined dynamic symbols but the version's own name."""
    lines = run("nm", "-D", "--defined-only", library).splitlines()
    fields = [line.split() for line in lines]
    return {f[-1].split("@")[0] for f in fields if f[-2] != "A"}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("header", type=Path)
    parser.add_argument("library")
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("--api", type=Path, help="the header that has the version")
    parser.add_argument("--systemc", action="store_true")
    options = parser.parse_args()

    problems = []
    header = options.header.read_text(encoding="utf-8")
    functions = declared(header)
    if not functions:
        problems.append(f"no function found in {options.header}")
    wanted, found = functions | set(options.also), exported(options.library)
    problems += [f"declared, but not exported: {name}" for name in sorted(wanted - found)]
    problems += [f"exported, but not declared: {name}" for name in sorted(found - wanted)]

    dynamic = run("readelf", "-d", "-W", options.library)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    major = re.search(r"NPU_API_VERSION_MAJOR (\d+)u", (options.api or options.header).read_text()).group(1)
    name = re.search(r"\(SONAME\).*\[(.*)\]", dynamic)
    if not name or not re.fullmatch(rf"lib\w+\.so\.{major}", name.group(1)):
        problems.append(f"its name is {name and name.group(1)}, without version {major}")
    forbidden = ["unicorn", "npu_iss"] + ([] if options.systemc else ["systemc"])
    problems += [f"needs {lib}" for lib in needed for word in forbidden if word in lib]
    if options.systemc and not any("systemc" in lib for lib in needed):
        problems.append("does not need SystemC: what does it simulate with?")

    for problem in problems:
        print(problem)
    print(f"{options.library}: {len(found)} symbols, needs {', '.join(needed)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
