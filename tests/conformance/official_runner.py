#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arm's runner and `npu conformance` agree, test by test. SELECTION is what generate.py takes, --part 30 by default.

Takes tests of every operator out of the selection, with --on device those of integers only, which every machine runs.
Two of them get descriptors that say the opposite of what is right: both have to notice, so `npu conformance` shows two
failures on purpose. Exit status: 0; 1 when the two differ, miss a false descriptor, or have too few tests; 64 for wrong
options; 66 when there is no NPU; 77 without Arm's tools.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import generate  # noqa: E402
from suite_test import judge, make, parse  # noqa: E402

PER_FOLDER = 10  # tests of an operator, or of one of its kernels; 0: all
DEFAULT_SELECTION = ["--part", "30"]  # as conformance_part has, so that the tests are made once
FEWEST = 500  # of the default selection


def is_integer(test):
    return "tosa-pro-int" in json.loads((test / "desc.json").read_text())["test_requirements"]["profiles_supported"]


def take(tests, folder, per_folder, wanted):
    """Copies, since Arm's runner writes into them."""
    by_folder = {}
    for test in generate.tests_below(tests):
        if wanted(test):
            by_folder.setdefault(test.parent, []).append(test)
    for found in by_folder.values():
        count = min(per_folder or len(found), len(found))
        for test in {found[i * len(found) // count] for i in range(count)}:
            shutil.copytree(test, folder / test.relative_to(tests))


def falsify(test):
    file = test / "desc.json"
    desc = json.loads(file.read_text())
    desc["expected_failure"] = not desc["expected_failure"]
    file.write_text(json.dumps(desc))


def ask_arm(npu, machine, tools, folder, scratch):
    """Whether each test passed by its name. Each of them once: a test of floating point first runs on Arm's model."""
    report = scratch / "official.xml"
    jobs = str(os.cpu_count() or 1)
    environment = {**tools.environment, "PYTHONPATH": str(HERE)}
    with (scratch / "official.log").open("w") as log:
        subprocess.run([tools.bin / "tosa_verif_run_tests", "--sut-module", "npu_sut", "--sut-module-args",
                        f"npu_sut:{Path(npu).resolve()}", *machine, "--recursive", "--jobs", jobs, "--test", folder, "--xunit-file", report],
                       env=environment, stdout=log, stderr=subprocess.STDOUT, check=False)
    if not report.is_file():
        sys.exit(f"FAILED: Arm's runner writes no report:\n{(scratch / 'official.log').read_text(errors='replace')[-2000:]}")
    suites = {suite.get("name"): suite for suite in xml.etree.ElementTree.parse(report).getroot().iter("testsuite")}
    return {str(Path(case.get("name")).relative_to(folder)): len(case) == 0 for case in suites["npu_sut"].iter("testcase")}


def first_passed(document, negative):
    """One that passes, so that it is the falsehood that makes it fail."""
    for entry in document["results"]:
        if entry["expected_failure"] == negative and entry["outcome"] == "passed":
            return entry["name"]
    sys.exit(f"FAILED: no {'illegal' if negative else 'legal'} graph among the tests passes, to falsify its descriptor")


def main():
    parser = generate.Parser(usage="%(prog)s NPU [--on device] [--config MACHINE] [--per-folder N] [--fewest N] [SELECTION...]",
                             description=__doc__)
    parser.add_argument("npu", help="the program")
    parser.add_argument("--on", choices=["reference", "device"], default="reference", help="what runs the tests")
    parser.add_argument("--config", metavar="MACHINE", default="edge", help="the machine of --on device")
    parser.add_argument("--per-folder", type=int, metavar="N", default=PER_FOLDER,
                        help=f"tests of an operator, or of one of its kernels; 0: all; {PER_FOLDER} by default")
    parser.add_argument("--fewest", type=int, metavar="N",
                        help=f"fail with fewer tests; by default {FEWEST} for the default selection, 1 for another")
    parsed, selection = parse(parser)
    npu = parsed.npu
    fewest = parsed.fewest if parsed.fewest is not None else 1 if selection else FEWEST
    tests = make(selection or DEFAULT_SELECTION)
    tools = generate.Tools()
    with tempfile.TemporaryDirectory(prefix="npu-conformance-") as name:
        scratch, folder = Path(name), Path(name) / "tests"
        on_device = parsed.on == "device"
        take(tests, folder, parsed.per_folder, is_integer if on_device else lambda test: True)
        options = ["--on", "device", "--config", parsed.config] if on_device else []
        document = judge(npu, folder, scratch, *options)[1]
        false = [first_passed(document, negative) for negative in (False, True)]
        for test in false:
            print(f"{test} gets a false descriptor: it has to fail", flush=True)
            falsify(folder / test)
        ours = {entry["name"]: entry["outcome"] == "passed" for entry in judge(npu, folder, scratch, *options)[1]["results"]}
        arms = ask_arm(npu, [f"npu_sut:{parsed.config}"] if on_device else [], tools, folder, scratch)
    differing = sorted(name for name in ours.keys() | arms.keys() if ours.get(name) != arms.get(name))
    both = sum(ours[name] and arms.get(name, False) for name in ours)
    print(f"{len(ours)} tests, {len(arms)} of them run by Arm's runner: both pass {both}, they differ on {len(differing)}")
    for name in differing[:50]:
        print(f"FAILED: {name}: npu conformance {ours.get(name)}, Arm's runner {arms.get(name)}")
    unnoticed = [name for name in false if ours[name] or arms.get(name)]
    for name in unnoticed:
        print(f"FAILED: {name} passes with a false descriptor")
    if len(ours) < fewest:
        print(f"FAILED: fewer than {fewest} tests; --fewest sets how many there have to be")
    return 1 if differing or unnoticed or len(ours) < fewest else 0


if __name__ == "__main__":
    sys.exit(main())
