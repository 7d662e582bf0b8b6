#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates what hardware, driver, firmware and RTL share from the YAML files of this folder.

  generate.py           writes the outputs
  generate.py --check   compares them with what is checked in; exit status 1 and a diff when they differ

Needs Python 3.9 or later and PyYAML. A mistake in the YAML is one sentence on stderr and exit status 1.
"""

import argparse
import difflib
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from generator import c, cmake, cpp, cpp_accesses, cpp_commands, cpp_fields, markdown, sv  # noqa: E402
from generator.load import load  # noqa: E402
from generator.source import ContractError  # noqa: E402


def outputs(contract) -> dict:
    """Path below the root of the repository -> text."""
    return {
        "hw/contract/gen/errors.h": cpp.errors(contract),
        "hw/contract/gen/capabilities.h": cpp.capabilities(contract),
        "hw/contract/gen/registers.h": cpp.registers(contract),
        "hw/contract/gen/commands.h": cpp_commands.commands(contract),
        "hw/contract/gen/fields.h": cpp_fields.fields(contract),
        "hw/contract/gen/micro_operations.h": cpp_accesses.micro_operations(contract),
        "hw/contract/gen/accesses.h": cpp_accesses.accesses(contract),
        "hw/contract/gen/npu_contract.h": c.header(contract),
        "hw/contract/gen/capabilities.cmake": cmake.capabilities(contract),
        "hw/contract/gen/npu_contract_pkg.sv": sv.package(contract),
        "docs/reference/contract.md": markdown.reference(contract),
    }


def check_names(header: str):
    """Fails when names that differ in the YAML make one name in C, as register `a_b` with field `c` and `a` with `b_c`."""
    seen = set()
    for name in re.findall(r"^#define (\w+)|^  (NPU_\w+) =", header, re.MULTILINE):
        name = "".join(name)
        if name in seen:
            raise ContractError(f"hw/contract: two different things would both be called {name} in C.")
        seen.add(name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of write")
    parser.add_argument("--source", type=Path, default=HERE, metavar="DIR", help="folder of the YAML files")
    parser.add_argument("--root", type=Path, default=HERE.parent.parent, metavar="DIR", help="where the outputs belong")
    options = parser.parse_args()
    try:
        texts = outputs(load(options.source))
        check_names(texts["hw/contract/gen/npu_contract.h"])
    except ContractError as error:
        print(error, file=sys.stderr)
        return 1
    differs = False
    for name, text in texts.items():
        path = options.root / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old == text:
            continue
        differs = True
        if options.check:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True), f"{name} (checked in)",
                                                       f"{name} (generated)"))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    if options.check and differs:
        print("The checked-in outputs differ from the YAML: run hw/contract/generate.py.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
