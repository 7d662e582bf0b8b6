#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs networks on `npu reference` and on the official reference model and compares every element of every output.

usage: compare.py NPU MAKE_CASES state|random|control [--first SEED] [--count N] [--keep FOLDER]

Integers and truth values have to be equal, floating point too where make_cases does not say how far it may be off.
Where one side refuses (an unpredictable result), the other one has to refuse as well. `state`: networks with variables
and control flow, several invocations each: the official model forgets variables at its end, so that the state of one
invocation is handed to the next one. `control`: random graphs of such, of hundreds of operators. The official model crashes on
a tenth of these, which are counted: more than a quarter are a failure."""

import argparse
import ast
import concurrent.futures
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TIMEOUT = 120  # seconds for one run
MOST_CRASHES = 0.25  # of the networks on which the official model may crash
UNPREDICTABLE = 1  # npu's exit status where a REQUIRE of the specification fails
# Bytes of an element.
WIDTHS = {"BOOL": 1, "INT8": 1, "INT16": 2, "INT32": 4, "INT48": 8, "FP32": 4, "FP16": 2, "BF16": 2, "FP8E4M3": 1,
          "FP8E5M2": 1}
# Below these magnitudes the distance between neighbours does not shrink further.
SMALLEST = {"FP32": 2.0**-126, "BF16": 2.0**-126, "FP16": 2.0**-24}


class Refused(Exception):
    """One side gives no result."""


class Crashed(Refused):
    """A signal ended the official model."""


def split_npy(path):
    """Header and data of a version 1 .npy file."""
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    return ast.literal_eval(data[10:10 + length].decode().strip()), data[10 + length:]


def join_npy(header, shape, data):
    text = repr({**header, "shape": tuple(shape)})
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def row_of(path, index, target):
    """Writes one entry of the first axis as an array of its own."""
    header, data = split_npy(path)
    size = len(data) // header["shape"][0]
    target.write_bytes(join_npy(header, header["shape"][1:], data[index * size:(index + 1) * size]))


def numbers(kind, data):
    if kind == "BF16":
        return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]
    code, width = {"FP32": ("f", 4), "FP16": ("e", 2)}[kind]
    return struct.unpack(f"<{len(data) // width}{code}", data)


class OfficialModel:
    def __init__(self):
        tools = Path(os.environ.get("NPU_PYTHON_TOOLS", ROOT / "build/venv/bin"))
        programs = sorted(tools.parent.glob("lib/python3*/site-packages/bin"))
        if not programs or not (programs[0] / "tosa_reference_model").is_file():
            print(f"no tosa_reference_model in {tools}; run sim/setup.sh python")
            sys.exit(1 if os.environ.get("NPU_REQUIRE_NETWORKS") else 77)
        self.program, self.schema = programs[0] / "tosa_reference_model", programs[0] / "tosa.fbs"

    def run(self, folder, case, inputs, results, state):
        """Writes each output to results/<number>.npy. `state`: None, or a file of each variable's value."""
        results.mkdir()
        names = [output["name"] for output in case["outputs"]]
        description = {
            "tosa_file": "network.tosa", "ifm_name": case["inputs"], "ifm_file": [str(file) for file in inputs],
            "ofm_name": names, "ofm_file": [f"{i}.npy" for i in range(len(names))], "expected_failure": False,
        }
        flags = []
        if state is not None:
            description.update(variable_name=case["variables"], variable_file=[str(file) for file in state])
            flags = ["--initialize_variable_tensor_from_numpy", "1"]
        (results / "desc.json").write_text(json.dumps(description))
        # Without a PATH, so that it finds no debugger to start when it crashes.
        result = subprocess.run([self.program, "--operator_fbs", self.schema, "--test_desc", results / "desc.json",
                                 "--flatbuffer_dir", folder, "--output_dir", results, *flags], cwd=folder,
                                env={"PATH": "/nonexistent"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                timeout=TIMEOUT, check=False)
        files = [results / f"{i}.npy" for i in range(len(names))]
        if result.returncode != 0 or not all(file.is_file() for file in files):
            kind = Crashed if result.returncode < 0 else Refused
            raise kind(f"status {result.returncode}: {result.stdout.decode(errors='replace').strip()[-400:]}")
        return files


def run_npu(npu, folder, case, results):
    """The outputs' files, in order; a sequence's with the steps as first axis."""
    options = ["--sequence"] if case["steps"] else []
    for name in case["inputs"]:
        options += ["--input", f"{name}={folder / (name + '.npy')}"]
    result = subprocess.run([npu, "reference", folder / "network.tosa", *options, "--outputs", results, "--quiet"],
                            capture_output=True, timeout=TIMEOUT, check=False)
    if result.returncode == UNPREDICTABLE:
        raise Refused(result.stderr.decode())
    if result.returncode != 0:
        raise AssertionError(f"npu reference: status {result.returncode}: {result.stderr.decode()}")
    return [results / (output["name"] + ".npy") for output in case["outputs"]]


class Comparison:
    """Elements compared, and what differs."""

    def __init__(self):
        self.exact = self.near = self.overflowed = self.refused = self.crashed = 0
        self.worst = 0.0  # largest distance as a part of what is allowed
        self.problems = []

    def outputs(self, name, case, got, want):
        """`got` and `want`: the data of each output, as bytes."""
        order = {output["name"]: i for i, output in enumerate(case["outputs"])}
        for i, output in enumerate(case["outputs"]):
            if len(got[i]) != len(want[i]):
                self.problems.append(f"{name}: output {output['name']} has {len(got[i])} bytes, not {len(want[i])}")
            elif "bound" in output:
                bound = order[output["bound"]]
                self.close(f"{name}: {output['name']}", output, numbers(output["type"], got[i]),
                           numbers(output["type"], want[i]), numbers(output["type"], want[bound]))
            else:
                self.equal(f"{name}: {output['name']}", output["type"], got[i], want[i])

    def equal(self, where, kind, got, want):
        if got != want and kind in SMALLEST:  # any NaN is a NaN
            pairs = zip(numbers(kind, got), numbers(kind, want))
            wrong = [(a, b) for a, b in pairs
                     if struct.pack("<d", a) != struct.pack("<d", b) and not (a != a and b != b)]
        else:
            wrong = [(a, b) for a, b in zip(got, want) if a != b]
        self.exact += len(want) // WIDTHS[kind]
        if wrong:
            first = wrong[0]
            self.problems.append(f"{where} ({kind}): {len(wrong)} differ, the first is {first[0]}, not {first[1]}")

    def close(self, where, output, got, want, bounds):
        for a, b, bound in zip(got, want, bounds):
            self.near += 1
            if (a != a and b != b) or a == b:
                continue
            if not math.isfinite(bound):  # a sum that may overflow in one order of its terms
                self.overflowed += 1
                continue
            allowed = output["factor"] * max(abs(bound), SMALLEST[output["type"]])
            part = abs(a - b) / allowed
            self.worst = max(self.worst, part)
            if not part <= 1:
                self.problems.append(f"{where}: {a} is {part:.3g} times as far from {b} as allowed")
                return


def check_itself():
    """Fails unless a wrong element of each kind is noticed."""
    comparison = Comparison()
    output = {"name": "y", "type": "FP32", "bound": "y", "factor": 2.0**-22}
    one, far = struct.pack("<f", 1), struct.pack("<f", 1 + 3 * 2.0**-22)
    comparison.equal("", "INT8", b"\0\1", b"\0\0")
    comparison.equal("", "FP32", one, far)
    comparison.outputs("", {"outputs": [output]}, [far], [one])
    comparison.outputs("", {"outputs": [output]}, [one + one], [one])
    comparison.outputs("", {"outputs": [output]}, [one], [one])  # right
    assert len(comparison.problems) == 4, comparison.problems


def compare_case(npu, model, folder, scratch, comparison, case=None, name=None):
    """`case` and `name`: those of the folder, unless they are given."""
    case = case or json.loads((folder / "case.json").read_text())
    name = name or folder.name
    refusals = []
    try:
        got_files = run_npu(npu, folder, case, scratch / "npu")
    except Refused as refusal:
        refusals.append(f"npu: {refusal}")
    want, state = [], None
    try:
        for step in range(max(case["steps"], 1)):
            inputs = [folder / (name + ".npy") for name in case["inputs"]]
            if case["steps"]:
                rows = [scratch / f"input{step}_{i}.npy" for i in range(len(inputs))]
                for file, row in zip(inputs, rows):
                    row_of(file, step, row)
                inputs = rows
            files = model.run(folder, case, inputs, scratch / f"model{step}", state)
            want.append([split_npy(file)[1] for file in files])
            if case["steps"]:
                state = files[-len(case["variables"]):]  # the last outputs are what the variables hold at the end
    except Crashed as crash:
        if not refusals and case["may_crash"]:
            comparison.crashed += 1
            return
        refusals.append(f"official model: {crash}")
    except Refused as refusal:
        refusals.append(f"official model: {refusal}")
    if len(refusals) == 1:
        comparison.problems.append(f"{name}: only one side refuses: {refusals[0]}")
    elif refusals:
        comparison.refused += 1
    else:
        joined = [b"".join(step[i] for step in want) for i in range(len(case["outputs"]))]
        comparison.outputs(name, case, [split_npy(file)[1] for file in got_files], joined)


def make_cases(arguments, folder):
    seeds = [str(arguments.first), str(arguments.count)]
    kinds = {"state": [["state"]], "random": [["integer", *seeds], ["float", *seeds]], "control": [["control", *seeds]]}[arguments.kind]
    for kind in kinds:
        subprocess.run([arguments.make_cases, *kind, folder], check=True)
    if arguments.kind != "state":
        last = arguments.first + arguments.count - 1
        print(f"seeds {arguments.first} to {last}, of {' and of '.join(kind[0] for kind in kinds)} graphs; --first and --count choose others")
    return sorted(folder.iterdir())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("npu")
    parser.add_argument("make_cases")
    parser.add_argument("kind", choices=["state", "random", "control"])
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--count", type=int, default=100, help="graphs of each kind")
    parser.add_argument("--keep", type=Path, help="where the networks go, to stay there")
    arguments = parser.parse_args()
    check_itself()
    model = OfficialModel()
    comparison = Comparison()
    with tempfile.TemporaryDirectory(prefix="npu-official-") as name:
        scratch = Path(name)
        cases = make_cases(arguments, arguments.keep or scratch / "cases")

        def one(folder):
            mine = scratch / "results" / folder.name
            mine.mkdir(parents=True)
            compare_case(arguments.npu, model, folder, mine, comparison)
            shutil.rmtree(mine)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for _ in pool.map(one, cases):
                pass
    if comparison.crashed > MOST_CRASHES * len(cases):
        comparison.problems.append(f"the official model crashes on {comparison.crashed} of {len(cases)} networks")
    for problem in comparison.problems:
        print(f"DIFFERENT: {problem}")
    print(f"{len(cases)} networks, {comparison.refused} of them refused by both sides, {comparison.crashed} crash the official model; "
          f"{comparison.exact} elements "
          f"compared exactly, {comparison.near} within a tolerance, at most {comparison.worst:.3f} of it used, "
          f"{comparison.overflowed} not judged since they overflow; {len(comparison.problems)} problems")
    return 1 if comparison.problems or comparison.exact == 0 or comparison.refused > len(cases) / 2 else 0


if __name__ == "__main__":
    sys.exit(main())
