#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Official tests pass on the software reference, and on the simulated NPU those that it runs. SELECTION is what generate.py takes.

There have to be FEWEST tests or more, of every operator, profile and extension of the version, and a wrong golden has to be noticed.
Each test passes on the NPU; machines without a format of floating point may refuse those with it, with a reason, and those whose data their
DRAM does not hold. --on-device N: N tests or more pass on it.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import generate  # noqa: E402

OPERATOR_TABLE = HERE.parents[1] / "tests/unit/graph/operator_table.txt"
# In the table: what needs this extension comes with TOSA 1.1.
LATER_EXTENSION = "EXT-SHAPE"
# The official suite has no tests of these.
UNTESTED_OPERATORS = {"CONST_SHAPE", "CUSTOM", "VARIABLE", "VARIABLE_READ", "VARIABLE_WRITE"}
UNTESTED_EXTENSIONS = {"variable"}
MACHINES = ("edge", "nano", "server")
# What the MXU computes, and the formats that edge's has. nano has no floating point.
OF_THE_MXU = {"CONV2D", "CONV3D", "DEPTHWISE_CONV2D", "TRANSPOSE_CONV2D", "MATMUL", "FFT2D", "RFFT2D"}
FLOATS_OF_EDGE = ("FP16", "BF16")
DRAM_FULL = re.compile(r"inputs (?P<inputs>\d+), outputs (?P<outputs>\d+),.* the device has (?P<dram>\d+), .*\[dram_full\]$")
FLOAT = re.compile(r"\bB?FP?\d\w*")  # FP32, BF16, FP8E4M3


def parse(parser):
    """The arguments with NPU, and those that are left for generate.py. Ends the process where either are wrong."""
    parsed, selection = parser.parse_known_args()
    parsed.later = generate.parse(selection).tosa_version in generate.LATER_VERSIONS
    if not Path(parsed.npu).is_file() or not os.access(parsed.npu, os.X_OK):
        parser.exit(66, f"{parser.prog}: there is no program {parsed.npu}; build it\n")
    return parsed, selection


def make(selection):
    """The folder with the tests; ends the process where Arm's tools are missing or do not make them."""
    try:
        generate.Tools()
    except generate.GenerationError as error:
        print(error)
        sys.exit(1 if "NPU_REQUIRE_NETWORKS" in os.environ else 77)
    generated = subprocess.run([HERE / "generate.py", *selection], stdout=subprocess.PIPE, text=True, check=False)
    if generated.returncode != 0:
        sys.exit(generated.returncode)
    return Path(generated.stdout.strip())


def judge(npu, tests, scratch, *options):
    """Exit status and the JSON report."""
    report = scratch / "results.json"
    report.unlink(missing_ok=True)
    result = subprocess.run([npu, "conformance", tests, "--json", report, "--quiet", *options], check=False)
    if not report.is_file():
        sys.exit(f"FAILED: {npu} writes no report, status {result.returncode}")
    return result.returncode, json.loads(report.read_text())


def operators_of(later):
    """Those of the table that TOSA 1.0 has, or those that are later."""
    entries = re.findall(r"^([A-Z][A-Z0-9_]*) .*\n((?:  .*\n)+)", OPERATOR_TABLE.read_text(), re.MULTILINE)
    return {name for name, rows in entries if (LATER_EXTENSION in rows) == later}


def missing(document, later):
    """The operators, profiles and extensions of the version of which the report has no test."""
    operators = operators_of(later) - UNTESTED_OPERATORS
    requirements = {name for names in generate.PROFILES.values() for name in names}
    if not later:  # the tests of later ones do not name their extension
        requirements |= {f"tosa-ext-{name}" for name in set(generate.EXTENSIONS) - UNTESTED_EXTENSIONS}
    there = {entry["name"] for key in ("operators", "requirements") for entry in document[key]}
    return sorted((operators | requirements) - there)


def notices_damage(npu, tests, document, profile, scratch):
    """Whether a positive test of the profile fails once an element of its golden is another."""
    entry = next((entry for entry in document["results"]
                  if entry["requirements"] == [profile] and not entry["expected_failure"]), None)
    if entry is None:
        return False
    damaged = scratch / profile
    shutil.copytree(tests / entry["name"], damaged / "test")
    golden = damaged / "test" / json.loads((damaged / "test/desc.json").read_text())["ofm_file"][0]
    data = golden.read_bytes()
    golden.write_bytes(data[:-1] + bytes([data[-1] ^ 0x40]))  # far off in integers, and in the exponent of a float
    status, document = judge(npu, damaged, scratch)
    return status == 7 and document["failed"] == 1


def too_large(entry):
    """Whether inputs and outputs alone exceed the machine's DRAM."""
    said = DRAM_FULL.search(entry["reason"])
    return bool(said) and sum(int(said[name]) for name in ("inputs", "outputs")) > int(said["dram"])


def lacks(entry, machine):
    """Whether a machine may leave this test out, for want of a format of floating point or of DRAM."""
    if machine == "server":
        return False
    if too_large(entry):
        return True
    if "tosa-pro-int" in entry["requirements"]:
        return False
    of_input = FLOAT.search(entry["types"])
    return machine == "nano" or (entry["operator"] in OF_THE_MXU and of_input and of_input[0] not in FLOATS_OF_EDGE)


def refusals(results):
    """What the device refuses, by operator and types."""
    return collections.Counter(f"{entry['operator']} of {entry['types']}" for entry in results if entry["outcome"] == "unsupported")


def device_problems(document, machine, chosen, fewest):
    """What is wrong with the report of the chosen tests on the simulated NPU."""
    results = document["results"]
    refused = refusals(results)
    wrong = [entry for entry in results if entry["outcome"] not in ("passed", "unsupported")
             or (entry["outcome"] == "unsupported" and not (lacks(entry, machine) and entry["reason"]))]
    problems = [f"{machine}: {entry['name']}: {entry['outcome']}: {entry['reason']}" for entry in wrong[:5]]
    if wrong:
        problems.append(f"{machine}: {len(wrong)} tests in all")
    passed = sum(entry["outcome"] == "passed" for entry in results)
    if not chosen == len(results) == passed + sum(refused.values()):
        problems.append(f"{machine}: {chosen} tests were chosen, {passed} passed and {sum(refused.values())} were refused")
    if passed < fewest:
        problems.append(f"{machine}: {passed} tests passed, {fewest} are wanted")
    if not any(entry["outcome"] == "passed" and not entry["expected_failure"] for entry in results):
        problems.append(f"{machine}: no legal network ran")
    return problems


def notices_lost_tests(document, chosen):
    """Whether a report of the device without one of its tests, or with one that is refused without need, is wrong."""
    passed = next(entry for entry in document["results"] if entry["outcome"] == "passed")
    others = [entry for entry in document["results"] if entry is not passed]
    return all(device_problems({**document, "results": results}, "server", chosen, 0)
               for results in (others, [*others, {**passed, "outcome": "unsupported", "reason": "no"}]))


def main():
    parser = generate.Parser(usage="%(prog)s NPU FEWEST [--on-device N] [SELECTION...]", description=__doc__)
    parser.add_argument("npu", help="the program")
    parser.add_argument("fewest", type=int, help="fail when there are fewer tests")
    parser.add_argument("--on-device", type=int, default=1, metavar="N", help="fail when fewer tests pass on a machine, 1 by default")
    parsed, selection = parse(parser)
    npu, fewest = parsed.npu, parsed.fewest
    tests = make(selection)
    chosen = (tests.parent / "chosen").read_text().split()
    problems = []
    with tempfile.TemporaryDirectory(prefix="npu-conformance-") as name:
        scratch = Path(name)
        status, document = judge(npu, tests, scratch)
        if status != 0 or document["passed"] != document["tests"]:
            problems.append(f"status {status}, {document['passed']} of {document['tests']} tests passed")
        if document["tests"] != len(chosen) or len(chosen) < fewest:
            problems.append(f"{document['tests']} tests ran, {len(chosen)} were chosen, {fewest} are wanted")
        if missing(document, parsed.later):
            problems.append(f"no tests of {', '.join(missing(document, parsed.later))}")
        for profile in ("tosa-pro-int", "tosa-pro-fp"):
            if not notices_damage(npu, tests, document, profile, scratch):
                problems.append(f"a test of {profile} passes with a wrong golden, or there is none")
        for machine in MACHINES:
            _, document = judge(npu, tests, scratch, "--on", "device", "--config", machine)
            refused = ", ".join(f"{count} {what}" for what, count in refusals(document["results"]).most_common(5))
            print(f"{machine}: {document['passed']} of {document['tests']} tests passed, {document['unsupported']} refused"
                  + (f", most of all {refused}" if refused else ""))
            problems += device_problems(document, machine, len(chosen), parsed.on_device)
        if not notices_lost_tests(document, len(chosen)):
            problems.append("a test that the device does not run is not missed")
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
