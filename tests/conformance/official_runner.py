#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arm's runner and `npu conformance` agree, test by test. SELECTION is what generate.py takes, --part 30 by default.

Takes tests of every operator out of the selection, and some at a time, since the results of all take much room. Two of
the first get descriptors that say the opposite of what is right: both have to notice, so `npu conformance` shows two
failures on purpose. Exit status: 0; 1 when the two differ, miss a false descriptor, or pass too few tests; 64 for wrong
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

AT_A_TIME = 1000  # tests; their results take some 3 GB
PER_FOLDER = 10  # tests of an operator, or of one of its kernels; 0: all
DEFAULT_SELECTION = ["--part", "30"]  # as conformance_part has, so that the tests are made once
FEWEST = 500  # of the default selection


def chosen_of(tests, per_folder):
    """Of each folder, spread over it."""
    by_folder = {}
    for test in generate.tests_below(tests):
        by_folder.setdefault(test.parent, []).append(test)
    chosen = []
    for found in by_folder.values():
        count = min(per_folder or len(found), len(found))
        chosen += [found[i * len(found) // count] for i in range(count)]
    return chosen


def take(chosen, tests, folder):
    """Arm's runner writes into the folders: files that it only reads are links, where the system has them."""
    def link(source, target):
        if Path(source).name == "desc.json":
            return shutil.copy2(source, target)
        try:
            os.link(source, target)
        except OSError:
            shutil.copy2(source, target)
        return target

    for test in chosen:
        shutil.copytree(test, folder / test.relative_to(tests), copy_function=link)


def drop_goldens(folder):
    """Arm's runner makes them anew, into the files of these names."""
    for test in generate.tests_below(folder):
        for name in json.loads((test / "desc.json").read_text())["ofm_file"]:
            for golden in (test / name, test / f"bounds_{name}"):
                golden.unlink(missing_ok=True)


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


class Verdicts:
    """Of both, by the tests' names: whether they passed."""

    def __init__(self, npu, machine):
        self.npu = npu
        self.options = ["--on", "device", "--config", machine] if machine else []
        self.machine = [f"npu_sut:{machine}"] if machine else []
        self.tools = generate.Tools()
        self.ours, self.arms, self.false = {}, {}, []

    def judge(self, chosen, tests):
        with tempfile.TemporaryDirectory(suffix=".partial", dir=tests.parent) as name:
            scratch, folder = Path(name), Path(name) / "tests"
            take(chosen, tests, folder)
            document = judge(self.npu, folder, scratch, *self.options)[1]
            if not self.false:
                self.false = [first_passed(document, negative) for negative in (False, True)]
                for test in self.false:
                    print(f"{test} gets a false descriptor: it has to fail", flush=True)
                    falsify(folder / test)
                document = judge(self.npu, folder, scratch, *self.options)[1]
            self.ours |= {entry["name"]: entry["outcome"] == "passed" for entry in document["results"]}
            drop_goldens(folder)
            self.arms |= ask_arm(self.npu, self.machine, self.tools, folder, scratch)

    def both_pass(self):
        return sum(passed and self.arms.get(name, False) for name, passed in self.ours.items())

    def problems(self):
        differing = sorted(name for name in self.ours.keys() | self.arms.keys() if self.ours.get(name) != self.arms.get(name))
        print(f"{len(self.ours)} tests, {len(self.arms)} of them run by Arm's runner: both pass {self.both_pass()}, they differ on {len(differing)}")
        found = [f"{name}: npu conformance {self.ours.get(name)}, Arm's runner {self.arms.get(name)}" for name in differing[:50]]
        found += [f"they differ on {len(differing)} tests in all"] if differing else []
        return found + [f"{name} passes with a false descriptor" for name in self.false if self.ours[name] or self.arms.get(name)]


def main():
    parser = generate.Parser(usage="%(prog)s NPU [--on device] [--config MACHINE] [--per-folder N] [--fewest N] [SELECTION...]",
                             description=__doc__)
    parser.add_argument("npu", help="the program")
    parser.add_argument("--on", choices=["reference", "device"], default="reference", help="what runs the tests")
    parser.add_argument("--config", metavar="MACHINE", default="edge", help="the machine of --on device")
    parser.add_argument("--per-folder", type=int, metavar="N", default=PER_FOLDER,
                        help=f"tests of an operator, or of one of its kernels; 0: all; {PER_FOLDER} by default")
    parser.add_argument("--fewest", type=int, metavar="N",
                        help=f"fail when both pass fewer tests; by default {FEWEST} for the default selection, 1 for another")
    parsed, selection = parse(parser)
    fewest = parsed.fewest if parsed.fewest is not None else 1 if selection else FEWEST
    tests = make(selection or DEFAULT_SELECTION)
    verdicts = Verdicts(parsed.npu, parsed.config if parsed.on == "device" else "")
    for left in tests.parent.glob("tmp*.partial"):  # of a run that was stopped
        shutil.rmtree(left, ignore_errors=True)
    chosen = chosen_of(tests, parsed.per_folder)
    for first in range(0, len(chosen), AT_A_TIME):
        verdicts.judge(chosen[first : first + AT_A_TIME], tests)
        print(f"{len(verdicts.ours)} of {len(chosen)} tests", flush=True)
    problems = verdicts.problems()
    if verdicts.both_pass() < fewest:
        problems.append(f"fewer than {fewest} tests pass; --fewest sets how many have to")
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
