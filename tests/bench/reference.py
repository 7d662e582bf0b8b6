#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmark: the software reference against the official reference model, on the same files, in one run, on one processor.

Needs the release build (tests/run.sh or cmake --preset release) and the Python environment (sim/setup.sh python):

  build/venv/bin/python tests/bench/reference.py --zoo ../shared/zoo

and a folder of networks, each in a folder NAME with a desc.json as official tests have it (docs/reference/conformance.md), which names
the .tosa file and the .npy of its input: those of --networks and the small small_cnn_int8, for the start-up.

Both take turns, and each is timed in two ways:

  inference  one call in process, without reading the file. The official model loads the graph anew in every call; how long
             that takes is measured by calls that it refuses after loading, and taken off.
  command    a program from start to end: start-up, reading, checking, the inference, writing the result. A small network shows
             how much of it is start-up.

Ratios are those of medians; above 1, the reference is faster. All outputs of both are compared, element by element. The exit status
is 1 when any element differs or an inference of the reference is less than --bound times as fast."""

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from run import ROOT, check_file, check_program, fail, np, repeats, silence

NETWORKS = ["mobilenet_v2_int8", "resnet50_int8"]
SMALL = "small_cnn_int8"


def seconds_of(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def call(arguments):
    done = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True)
    if done.returncode:
        fail(f"{arguments[0]} ends with status {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def read_descriptor(folder):
    if not folder.is_dir():
        fail(f"there is no network {folder.name} in {folder.parent}")
    file = folder / "desc.json"
    check_file(file, "networks that keep variables have none, and cannot be measured: the official model starts anew in each call")
    try:
        descriptor = json.loads(file.read_text())
        counts = [len(descriptor[key]) for key in ("ifm_file", "ofm_file")]
    except (ValueError, KeyError, TypeError) as error:
        fail(f"{file} is no descriptor of a network ({error!r})")
    if "tosa_file" not in descriptor or counts != [1, 1]:
        fail(f"{file} has to name a tosa_file, one ifm_file and one ofm_file: only networks with one input and one output are measured")
    return descriptor


def refuse_unfit(file, build):
    info = json.loads(call([build / "npu", "info", file, "--json"]))
    if info["variables"]:
        fail(f"{file} keeps variables, and the official model starts anew in each call")
    types = [entry["type"] for entry in info["inputs"] + info["outputs"]] + [entry["types"] for entry in info["operators"]]
    if any(re.search("FP|BF", text) for text in types):
        fail(f"{file} computes in floating point, where the results of the two may differ in their last bits; integers only")


class Network:
    """A network with one input and one output, and the ways to run it."""

    def __init__(self, folder, build, scratch):
        descriptor = read_descriptor(folder)
        self.descriptor, self.build, self.scratch = folder / "desc.json", build, scratch
        self.file, self.data = folder / descriptor["tosa_file"], folder / descriptor["ifm_file"][0]
        self.official_output, self.output = scratch / descriptor["ofm_file"][0], scratch / "reference.npy"
        for file in (self.file, self.data):
            check_file(file, f"{self.descriptor} names it")
        refuse_unfit(self.file, build)
        self.graph, self.frame = self.file.read_bytes(), np.load(self.data)

    def official_load(self):
        from tosa_reference_model import run

        try:
            run(self.graph, [])  # refuses the missing input right after it has loaded the graph
        except ValueError:
            return
        raise RuntimeError("the official model ran without its input")

    def official_call(self):
        from tosa_reference_model import GraphStatus, run

        if run(self.graph, [self.frame])[1] != GraphStatus.TOSA_VALID:
            raise RuntimeError("the official model does not find the graph valid")

    def official_command(self):
        model, = (ROOT / "build/venv").glob("lib/python3*/site-packages/bin/tosa_reference_model")
        call([model, f"--test_desc={self.descriptor}", f"--operator_fbs={model.parent / 'tosa.fbs'}", f"--output_dir={self.scratch}"])

    def inferences(self, repeats):
        """Seconds of calls of the reference; leaves its result in `output`."""
        program = self.build / "tests/bench/reference_bench"
        return json.loads(call([program, self.file, self.data, self.output, repeats]))["run_seconds"]

    def command(self):
        call([self.build / "npu", "reference", self.file, "--quiet", "--input", self.data, "--outputs", self.scratch / "outputs"])


def measure_inference(network, repeats):
    """Seconds of both: loads and calls of the official model, calls of the reference."""
    loads, calls, own = [], [], []
    for _ in range(repeats):
        with silence():
            loads.append(seconds_of(network.official_load))
            calls.append(seconds_of(network.official_call))
        own += network.inferences(3)
    load = statistics.median(loads)
    return load, [seconds - load for seconds in calls], own


def row(what, official, own):
    def text(seconds):
        return f"{min(seconds):15.4f} s {statistics.median(seconds):9.4f} s"

    ratio = statistics.median(official) / statistics.median(own)
    print(f"  {what:<20}{text(official)}{text(own)}{ratio:8.1f}")
    return {"official_seconds": official, "reference_seconds": own, "ratio": ratio}


def measure_commands(network, repeats):
    official, own = [], []
    for _ in range(repeats):
        official.append(seconds_of(network.official_command))
        own.append(seconds_of(network.command))
    return row("command", official, own)


def measure(name, network, repeats):
    load, official, own = measure_inference(network, repeats)
    print(f"\n{name:<22}{'official minimum, median':>28}{'reference minimum, median':>28}{'ratio':>8}")
    result = {"name": name, "official_load_seconds": load, "inference": row("inference", official, own),
              "command": measure_commands(network, repeats)}
    golden, got = np.load(network.official_output), np.load(network.output)
    if golden.dtype != got.dtype or golden.shape != got.shape:
        fail(f"{name} gives {golden.dtype}{golden.shape} in the official model, {got.dtype}{got.shape} in the reference")
    result.update(compared=golden.size, differing=int(np.count_nonzero(golden != got)))
    print(f"  the official model's loading, taken off its inferences: {load:.4f} s")
    print(f"  {result['differing']} of {result['compared']} elements of the output differ")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zoo", type=Path, required=True, help="folder of networks, each in a folder with a desc.json")
    parser.add_argument("--networks", nargs="+", default=NETWORKS, metavar="NAME",
                        help=f"folders there with integer networks, {' '.join(NETWORKS)} by default; {SMALL} is needed too")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build folder, build/release by default")
    parser.add_argument("--repeats", type=repeats, default=7, help="turns of both, 7 by default")
    parser.add_argument("--bound", type=float, default=5.0, help="least ratio of an inference")
    parser.add_argument("--json", type=Path, help="also write the results there")
    args = parser.parse_args()
    for program in ("npu", "tests/bench/reference_bench"):
        check_program(args.build / program)
    if args.json and (args.json.is_dir() or not os.access(args.json.resolve().parent, os.W_OK | os.X_OK)):
        fail(f"cannot write {args.json}: there is no writable folder for it, or it is a folder itself")
    if not args.zoo.is_dir():
        fail(f"there is no folder {args.zoo}")
    processor = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processor})  # also of the programs started here: one processor for each side
    with tempfile.TemporaryDirectory() as scratch:
        networks = {name: Network(args.zoo / name, args.build, Path(scratch)) for name in [SMALL, *args.networks]}
        results = [measure(name, networks[name], args.repeats) for name in args.networks]
        print(f"\nstart-up: the command on {SMALL}")
        start_up = measure_commands(networks[SMALL], args.repeats)
    if args.json:
        report = {"schema": "reference-benchmark", "schema_version": 1, "networks": results, "start_up": start_up}
        args.json.write_text(json.dumps(report, indent=1) + "\n")
    if any(result["differing"] for result in results):
        fail("the reference differs from the official model")
    if any(result["inference"]["ratio"] < args.bound for result in results):
        fail(f"an inference is less than {args.bound} times as fast as the official model's")


if __name__ == "__main__":
    main()
