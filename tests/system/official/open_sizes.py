#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resolves random networks that leave sizes open with `npu resolve` and with Arm's infer_shapes, and compares the shape of every tensor; then runs
what `npu resolve` wrote on `npu reference` and on the official model, and compares every element of every output.

usage: open_sizes.py NPU MAKE_CASES [--first SEED] [--count N] [--keep FOLDER]

N networks have all of this compared, each with the sizes that it was made with and up to three others. Where `npu resolve` refuses sizes, the
official model has to refuse the network that infer_shapes made of them, for that breaks a rule which infer_shapes does not look at. Two faults of
infer_shapes are excused, and counted:
  stretched  it broadcasts an open size that turns out to be 1, so that the network runs with sizes that its file does not allow
  variables  behind a variable it leaves sizes open or makes them 0, or ends with an error
Random networks that the official tools are known to get wrong or not to take come in between. They are not among the N and are counted apart, as
are the tensors that they excuse:
  CONV3D     infer_shapes gives it another width than the file has
  RESHAPE    infer_shapes leaves a size open where the constant of a RESHAPE has -1, and computes with it
  (VARIABLE, which declares one, and COND_IF without results: the official model runs neither, so only shapes are compared)
Anything else that differs is a problem. Exit status 0 without problems, 1 with some, 77 without the Python environment (1 with
NPU_REQUIRE_NETWORKS set)."""

import argparse
import collections
import concurrent.futures
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import compare

MISMATCH = 1  # npu's exit status for sizes that a rule does not allow
# What infer_shapes gets wrong: whether a size that it gives is right if it is one.
FAULTS = {"variables": True, "CONV3D": False, "RESHAPE": False}


def call(*command, folder):
    return subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, errors="replace", timeout=compare.TIMEOUT, check=False)


class Network:
    """A file as data."""

    def __init__(self, tools, file):
        call(tools / "flatc", "--json", "--strict-json", "--defaults-json", "--raw-binary", tools / "tosa.fbs", "--", file.name, folder=file.parent)
        self.regions = json.loads(file.with_suffix(".json").read_text())["regions"]

    def shapes(self):
        return {(region["name"], tensor["name"]): tensor["shape"] for region in self.regions for tensor in region["blocks"][0]["tensors"]}

    @functools.cached_property
    def faulty(self):
        """Tensors that infer_shapes may get wrong, by place: what is at fault. Whatever depends on one is another one."""
        found = {(region["name"], tensor["name"]): "variables" for region in self.regions for tensor in region["blocks"][0]["tensors"] if tensor["variable"]}
        while self.spread(found):
            pass
        return found

    def spread(self, found):
        before = len(found)
        for region in self.regions:
            block = region["blocks"][0]
            shapes = {shape["name"]: shape.get("data", []) for shape in block.get("shapes", [])}
            for op in block["operators"]:
                cause = cause_of(op, shapes) or next((found[region["name"], name] for name in op["inputs"] if (region["name"], name) in found), None)
                inner = [other for other in self.regions if other["name"] in op.get("attribute", {}).values()]
                results = [found[other["name"], name] for other in inner for name in other["blocks"][0]["outputs"] if (other["name"], name) in found]
                cause = cause or next(iter(results), None)
                if cause is None:
                    continue
                places = [(region["name"], name) for name in op["outputs"]]
                places += [(other["name"], tensor["name"]) for other in inner for tensor in other["blocks"][0]["tensors"]]
                for place in places:
                    found.setdefault(place, cause)
        return len(found) > before

    def can_run(self):
        """Whether the official model takes all operators."""
        operators = [op for region in self.regions for op in region["blocks"][0]["operators"]]
        return not any(op["attribute_type"] == "VariableAttribute" or (op["op"] == "COND_IF" and not op["outputs"]) for op in operators)


def cause_of(op, shapes):
    """The fault of infer_shapes that an operator brings up."""
    kind = op["attribute_type"]
    if kind == "ReshapeAttribute":
        data = shapes.get(op["inputs"][1], [])
        return "RESHAPE" if any(data[i + 7] > 127 for i in range(0, len(data), 8)) else None
    return {"VariableReadAttribute": "variables", "Conv3dAttribute": "CONV3D"}.get(kind)


def is_stretched(message, shapes, opened):
    """Whether `npu resolve` refuses an open size that is 1 beside another one."""
    return "size_mismatch" in message and any(size == 1 and was < 0 for name, shape in shapes.items() for size, was in zip(shape, opened[name]))


def excuses(fault, ours, theirs):
    """Whether the fault explains that infer_shapes has another shape."""
    if fault is None or theirs is None or len(theirs) != len(ours):
        return False
    return not FAULTS[fault] or all(size == other or other < 1 for size, other in zip(ours, theirs))


class Tally:
    """What was found in some networks."""

    def __init__(self):
        self.counts, self.comparison, self.problems = collections.Counter(), compare.Comparison(), []

    def shapes(self, where, ours, theirs, faulty):
        """Shapes of all tensors, by place."""
        if ours.keys() != theirs.keys():
            self.problems.append(f"{where}: only one side has tensors {sorted(ours.keys() ^ theirs.keys())[:3]}")
        for place, shape in ours.items():
            if theirs.get(place) == shape:
                self.counts["equal"] += 1
            elif excuses(faulty.get(place), shape, theirs.get(place)):
                self.counts[faulty[place]] += 1
            else:
                self.problems.append(f"{where}: tensor {place} is {shape}, by infer_shapes {theirs.get(place, 'missing')}")
        self.counts["resolved"] += 1

    def add(self, other):
        self.counts.update(other.counts)
        self.problems += other.problems + other.comparison.problems
        for name in ("exact", "refused", "crashed"):
            setattr(self.comparison, name, getattr(self.comparison, name) + getattr(other.comparison, name))


def check_itself():
    """Fails unless a wrong shape of each kind is noticed."""
    tally, x, y = Tally(), ("main", "x"), ("main", "y")
    tally.shapes("", {x: [2, 3]}, {x: [2, 4]}, {})
    tally.shapes("", {x: [2, 3]}, {x: [2, -1]}, {})
    tally.shapes("", {x: [2, 3]}, {x: [2, 4]}, {x: "variables"})
    tally.shapes("", {x: [2, 3]}, {x: [-1]}, {x: "variables"})
    tally.shapes("", {x: [2]}, {x: [2], y: [2]}, {})
    assert len(tally.problems) == 5, tally.problems
    tally.shapes("", {x: [2, 3]}, {x: [2, -1]}, {x: "variables"})
    tally.shapes("", {x: [2, 3]}, {x: [2, 0]}, {x: "RESHAPE"})
    assert len(tally.problems) == 5 and tally.counts["variables"] == tally.counts["RESHAPE"] == 1, tally.counts


class Trial:
    """One choice of sizes of a network."""

    def __init__(self, check, folder, network, case, number):
        self.check, self.folder, self.network, self.case = check, folder, network, case
        self.shapes = case["sizes"][number]
        self.where = f"{folder.name} with {self.shapes}"
        self.scratch = folder / str(number)
        self.tally = Tally()

    def problem(self, text):
        self.tally.problems.append(f"{self.where}: {text}")

    def ours(self):
        options = [word for name, shape in self.shapes.items() if shape for word in ("--shape", f"{name}={'x'.join(map(str, shape))}")]
        return call(self.check.npu, "resolve", self.folder / "network.tosa", *options, "-o", self.scratch / "network.tosa", folder=self.scratch)

    def official(self):
        """The file, or nothing where it refuses."""
        there = self.scratch / "official"
        there.mkdir()
        (there / "network.tosa").write_bytes((self.folder / "network.tosa").read_bytes())
        (there / "request.json").write_text(json.dumps({"tosa_file": "network.tosa", "shapes": self.shapes}))
        call(self.check.tools / "infer_shapes", "request.json", folder=there)
        for name in ("resolved_network.tosa", "dynnetwork.tosa"):  # the second one with sizes that it leaves open
            if (there / name).exists():
                return (there / name).replace(there / "network.tosa")
        return None

    def run(self):
        """The tally, and the shapes by both where both have them."""
        (self.scratch / "run").mkdir()
        done, theirs = self.ours(), self.official()
        if done.returncode not in (0, MISMATCH):
            self.problem(f"npu resolve ends with status {done.returncode}: {done.stderr.strip()}")
        elif done.returncode == 0:
            pair = self.compare_shapes(theirs)
            if not self.tally.problems:
                self.compare_results()
            return self.tally, pair
        elif theirs is not None and self.runs(theirs.parent):
            self.judge_refusal(done.stderr)
        else:
            self.tally.counts["refused"] += 1
        return self.tally, None

    def judge_refusal(self, message):
        opened = {tensor["name"]: tensor["shape"] for tensor in self.network.regions[0]["blocks"][0]["tensors"]}
        if is_stretched(message, self.shapes, opened):
            self.tally.counts["stretched"] += 1
        else:
            self.problem(f"npu resolve refuses what the official model runs: {message.strip()}")

    def runs(self, folder):
        """Whether the official model runs the network of a folder with the inputs of these sizes."""
        inputs = [self.scratch / f"{name}.npy" for name in self.case["inputs"]]
        try:
            self.check.model.run(folder, self.case, inputs, folder / "results", None)
        except compare.Refused:
            return False
        return True

    def compare_shapes(self, theirs):
        ours = Network(self.check.tools, self.scratch / "network.tosa").shapes()
        if theirs is None:
            if not self.network.faulty:
                self.problem("only infer_shapes refuses")
            self.tally.counts["failed"] += 1
            return None
        official = Network(self.check.tools, theirs).shapes()
        self.tally.shapes(self.where, ours, official, self.network.faulty)
        return ours, official

    def compare_results(self):
        if not self.network.can_run():
            self.tally.counts["shapes only"] += 1
            return
        try:
            compare.compare_case(self.check.npu, self.check.model, self.scratch, self.scratch / "run", self.tally.comparison, case=self.case,
                                 name=self.where)
        except AssertionError as error:
            self.problem(str(error))


class Check:

    def __init__(self, npu):
        self.npu, self.model = npu, compare.OfficialModel()
        self.tools = self.model.program.parent

    def network(self, folder):
        """The tally of one network, and whether shapes by other sizes would have been noticed: None where nothing shows it."""
        network, case = Network(self.tools, folder / "network.tosa"), json.loads((folder / "case.json").read_text())
        tally, pairs = Tally(), []
        for number in range(len(case["sizes"])):
            one, pair = Trial(self, folder, network, case, number).run()
            tally.add(one)
            pairs += [pair] if pair else []
        return tally, notices(pairs, network.faulty)


def notices(pairs, faulty):
    """Whether our shapes of the first sizes are not taken for the official ones of others."""
    crossed = next(((pairs[0][0], official) for ours, official in pairs[1:] if ours != pairs[0][0]), None)
    if crossed is None:
        return None
    tally = Tally()
    tally.shapes("", *crossed, faulty)
    return bool(tally.problems)


def summary(networks, tally, faults):
    counts, comparison = tally.counts, tally.comparison
    excused = ", ".join(f"{counts[fault]} {fault}" for fault in faults)
    return (f"{networks} networks at {counts['resolved'] + counts['failed']} sizes that npu resolve takes and {counts['refused']} that both refuse: "
            f"{counts['equal']} shapes of tensors and {comparison.exact} elements of results equal\n"
            f"  by faults of infer_shapes: {excused} tensors have other shapes, {counts['stretched']} sizes are stretched, it fails on {counts['failed']}\n"
            f"  at {comparison.refused} sizes both sides refuse to run, the official model crashes on {comparison.crashed} "
            f"and takes no such operator on {counts['shapes only']}")


def too_little(arguments, networks, tally, noticed):
    """What says that less was compared than there should be."""
    counts, comparison = tally.counts, tally.comparison
    reasons = {
        f"{networks} networks, not {arguments.count}": networks != arguments.count,
        "few shapes were compared": counts["equal"] < 10 * arguments.count,
        "few elements were compared": comparison.exact < 100 * counts["resolved"],
        "a network ran on one side only": counts["shapes only"] > 0,
        f"the official model crashes on {comparison.crashed}": comparison.crashed > compare.MOST_CRASHES * counts["resolved"],
        "shapes by other sizes were not noticed": noticed[False] > 0 or noticed[True] < arguments.count / 10,
    }
    return [reason for reason, holds in reasons.items() if holds]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("npu", type=Path)
    parser.add_argument("make_cases")
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--count", type=int, default=100, help="networks")
    parser.add_argument("--keep", type=Path, help="where the networks go, to stay there")
    arguments = parser.parse_args()
    check_itself()
    check = Check(arguments.npu.resolve())
    counted, more, noticed = Tally(), Tally(), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="npu-open-") as scratch:
        cases = arguments.keep or Path(scratch)
        subprocess.run([arguments.make_cases, "open", str(arguments.first), str(arguments.count), cases], check=True)
        folders = sorted(cases.iterdir())
        seeds = [int(folder.name.split("_")[1]) for folder in folders]
        print(f"seeds {arguments.first} to {max(seeds)}; --first and --count choose others", flush=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for folder, (tally, notice) in zip(folders, pool.map(check.network, folders)):
                kind = counted if folder.name.startswith("open_") else more
                kind.add(tally)
                noticed[notice if kind is counted else None] += 1
    networks = sum(folder.name.startswith("open_") for folder in folders)
    problems = counted.problems + more.problems + too_little(arguments, networks, counted, noticed)
    for problem in problems[:20]:
        print(f"DIFFERENT: {problem}")
    print(summary(networks, counted, ["variables"]))
    print("beside them, " + summary(len(folders) - networks, more, FAULTS))
    print(f"shapes by other sizes are noticed in {noticed[True]} networks, not in {noticed[False]}; {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
