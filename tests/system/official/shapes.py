#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the sizes of random networks and compares the shapes that `npu resolve` gives them with those of Arm's infer_shapes.

usage: shapes.py NPU MAKE_CASES [--first SEED] [--count N]

Each network gets the sizes that it had, then others. Both programs have to give every tensor the same shape. infer_shapes takes sizes
that break rules, a RESHAPE to another number of elements say: npu resolve may refuse what it takes, but not the other way round. Three
faults of infer_shapes are kept out of it: it stretches an open size that turns out to be 1, so no size of 1 is opened; it leaves wrong
shapes behind variables, so networks with variables or control flow are left out; and it gives CONV3D another width than the file has,
so networks with that are left out, too. Exit status 0 when all agree, 1 when not, 77 when the
Python environment is missing (1 with NPU_REQUIRE_NETWORKS set)."""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TIMEOUT = 60
SIZES_PER_NETWORK = 4


def tools():
    folders = list((ROOT / "build/venv/lib").glob("python3*/site-packages/bin"))
    if folders and (folders[0] / "infer_shapes").is_file():
        return folders[0]
    print(f"no infer_shapes in {ROOT / 'build/venv'}; run sim/setup.sh python")
    sys.exit(1 if os.environ.get("NPU_REQUIRE_NETWORKS") else 77)


class Shapes:

    def __init__(self, npu, folder):
        self.npu, self.folder, self.tools = npu, folder, tools()
        self.agreed = self.refused = 0
        self.problems = []

    def call(self, *command):
        return subprocess.run(list(map(str, command)), cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT, check=False)

    def read(self, file):
        """A network as a dictionary."""
        self.call(self.tools / "flatc", "--json", "--strict-json", "--defaults-json", "--raw-binary", self.tools / "tosa.fbs", "--", file)
        return json.loads((self.folder / f"{Path(file).stem}.json").read_text())

    def write(self, network, name):
        (self.folder / f"{name}.json").write_text(json.dumps(network))
        self.call(self.tools / "flatc", "-b", self.tools / "tosa.fbs", f"{name}.json")
        return self.folder / f"{name}.tosa"

    @staticmethod
    def shapes_of(network):
        block = network["regions"][0]["blocks"][0]
        return {tensor["name"]: tensor["shape"] for tensor in block["tensors"]}

    def official(self, file, shapes):
        """Shapes by tensor; None where it refuses."""
        (self.folder / "request.json").write_text(json.dumps({"tosa_file": file.name, "shapes": shapes}))
        target = self.folder / f"resolved_{file.name}"
        target.unlink(missing_ok=True)
        self.call(self.tools / "infer_shapes", "request.json")
        return self.shapes_of(self.read(target)) if target.exists() else None

    def ours(self, file, shapes):
        options = [word for name, shape in shapes.items() if shape for word in ("--shape", f"{name}={'x'.join(map(str, shape))}")]
        target = self.folder / "ours.tosa"
        done = self.call(self.npu, "resolve", file, *options, "-o", target)
        if done.returncode not in (0, 1):
            self.problems.append(f"{file.name}: npu resolve ends with status {done.returncode}: {done.stderr.strip()}")
        return self.shapes_of(self.read(target)) if done.returncode == 0 else None

    def compare(self, name, source, choice):
        network = self.read(source)
        if len(network["regions"]) > 1 or any(tensor["variable"] for tensor in network["regions"][0]["blocks"][0]["tensors"]):
            return
        block = network["regions"][0]["blocks"][0]
        if any(op["op"] == "CONV3D" for op in block["operators"]):
            return
        before = self.shapes_of(network)
        open_inputs = [place for place in block["inputs"] if any(size > 1 for size in before[place])]
        for tensor in block["tensors"]:
            if not tensor.get("data"):
                tensor["shape"] = [-1 if size > 1 else size for size in tensor["shape"]]
        if not open_inputs:
            return
        file = self.write(network, name)
        for trial in range(SIZES_PER_NETWORK):
            shapes = {place: list(before[place]) for place in block["inputs"]}
            if trial > 0:
                place = choice.choice([(name, d) for name, shape in shapes.items() for d, size in enumerate(shape) if size > 1])
                was = shapes[place[0]][place[1]]
                size = choice.choice([was * 2, was + 1, was * 3])
                for shape in shapes.values():
                    for d, same in enumerate(shape):
                        if same == was and (trial > 1 or d == place[1]):
                            shape[d] = size
            official, ours = self.official(file, shapes), self.ours(file, shapes)
            if official is None or ours is None:
                self.refused += 1
                if ours is not None:
                    self.problems.append(f"{name} with {shapes}: only infer_shapes refuses")
                if trial == 0 and ours is None:
                    self.problems.append(f"{name}: npu resolve refuses the sizes that the network had")
                continue
            differing = [f"{tensor}: {ours.get(tensor)}, infer_shapes {shape}" for tensor, shape in official.items() if ours.get(tensor) != shape]
            self.agreed += not differing
            if differing:
                self.problems.append(f"{name} with {shapes}: {differing[0]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("npu", type=Path)
    parser.add_argument("make_cases")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        cases = folder / "cases"
        cases.mkdir()
        subprocess.run([arguments.make_cases, "integer", str(arguments.first), str(arguments.count), cases], check=True)
        shapes = Shapes(arguments.npu.resolve(), folder)
        print(f"seeds {arguments.first} to {arguments.first + arguments.count - 1}")
        for source in sorted(cases.rglob("*.tosa")):
            shapes.compare(f"open_{source.parent.name}_{source.stem}".replace(".", "_"), source, random.Random(str(source.relative_to(cases))))
    for problem in shapes.problems[:20]:
        print(problem)
    print(f"{shapes.agreed} sizes resolved alike, {shapes.refused} refused, {len(shapes.problems)} problems")
    return 1 if shapes.problems or shapes.agreed < arguments.count / 8 else 0


if __name__ == "__main__":
    sys.exit(main())
