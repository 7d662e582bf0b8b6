#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arm_generator.py makes what Arm's program makes, file by file, and a part of the tests is a part of them."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import generate  # noqa: E402

# Few, since Arm's program is slow: types, regions, dynamic shapes, constants, tests that are listed twice, errors.
SELECTION = ["--operators", "argmax", "clamp", "cond_if", "reshape", "table"]
STEP = 7


def contents(tests):
    """The bytes of each file by its path."""
    return {file.relative_to(tests): file.read_bytes() for file in tests.rglob("*") if file.is_file()}


def selection(*more):
    return generate.Selection(generate.parse([*SELECTION, *more]))


def from_here(tools, tests, folder):
    """Without goldens, which are not the generator's."""
    return contents(generate.generate(tools, tests, folder) / "tests")


def from_arm(tools, tests, folder):
    subprocess.run([tools.bin / "tosa_verif_conformance_generator", "--tosa-version", generate.TOSA_VERSION, "--seed",
                    str(tests.seed), "--output-type", "binary", *tests.generator_arguments(), "--build-directory",
                    folder / "build", "--output-directory", folder / "tests"], env=tools.environment, check=True)
    return contents(folder / "tests")


def main():
    try:
        tools = generate.Tools()
    except generate.GenerationError as error:
        print(error)
        return 1 if "NPU_REQUIRE_NETWORKS" in os.environ else 77
    with tempfile.TemporaryDirectory(prefix="npu-conformance-") as name:
        scratch = Path(name)
        whole = from_here(tools, selection(), scratch)
        part = from_here(tools, selection("--part", str(STEP)), scratch)
        arms = from_arm(tools, selection(), scratch)
    different = sorted(str(path) for path in arms.keys() | whole.keys() if arms.get(path) != whole.get(path))
    strangers = sorted(str(path) for path in part if part[path] != arms.get(path))
    count = len({path.parent for path in part})
    share = len({path.parent for path in whole}) / count
    print(f"{len(arms)} files of Arm's; {len(different)} differ; {count} tests in the part, one in {share:.1f}")
    for path in (different + strangers)[:20]:
        print(f"FAILED: {path}")
    return 1 if different or strangers or not STEP / 2 < share <= STEP else 0


if __name__ == "__main__":
    sys.exit(main())
