#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmark: model and RTL in lockstep against the model alone, on the same networks, preset edge, in one run.

Needs the release build (tests/run.sh or cmake --preset release) and the Python environment (sim/setup.sh python):

  build/venv/bin/python tests/bench/cosim.py                                  the wake word
  build/venv/bin/python tests/bench/cosim.py --zoo ../shared/zoo              and DS-CNN and MobileNetV2
  build/venv/bin/python tests/bench/cosim.py --zoo ../shared/zoo --nightly    and ResNet-50, which takes minutes

Prints a Markdown table of medians, writes them with --json. In every round each side has its turn, so that a disturbance of this computer
meets all of them. Seconds are those of running; reading and compiling the network are not in them. Lockstep compares bytes and cycles, so
it stands beside the timed model too. Exit status 1 when a network takes longer than its target.

--other PROGRAM is system_bench of a build with NPU_RTL_TRACE=ON, or of another commit: it runs in lockstep too, and its seconds are given
as a part of those of --program."""

import argparse
import json
import os
from pathlib import Path
from statistics import median

from run import ROOT, check_file, check_program, device, fail, repeats

WAKE_WORD = "okay_nabu"
# Of the zoo, with the seconds that lockstep may take on one core.
ZOO = {"ds_cnn_int8": 2, "mobilenet_v2_int8": 30}
NIGHTLY = {"resnet50_int8": 300}


def median_seconds(runs):
    return median(seconds for run in runs for seconds in run["pass_seconds"])


def measure(args, name, network, data, sequence, target):
    sides = {"functional": (args.program, "functional", False), "timed": (args.program, "timed", False),
             "lockstep": (args.program, "timed", True)}
    if args.other:
        sides["other"] = (args.other, "timed", True)
    runs = {side: [] for side in sides}
    for _ in range(args.rounds):
        for side, (program, mode, lockstep) in sides.items():
            runs[side].append(device(program, network, data, mode, 1 if lockstep else 3, sequence, lockstep=lockstep))
    if not runs["lockstep"][0]["elements_compared"]:
        fail(f"{name} has no tile that was compared")
    row = {"network": name, "invocations": runs["lockstep"][0]["invocations"],
           "elements_compared": runs["lockstep"][0]["elements_compared"], "target_seconds": target}
    row |= {f"{side}_seconds": median_seconds(runs[side]) for side in sides}
    row["ratio_functional"] = row["lockstep_seconds"] / row["functional_seconds"]
    row["ratio_timed"] = row["lockstep_seconds"] / row["timed_seconds"]
    if args.other:
        row["ratio_other"] = row["other_seconds"] / row["lockstep_seconds"]
    return row


def line(row):
    cells = [row["network"], row["invocations"]]
    cells += [f"{row[f'{side}_seconds']:.4f}" for side in ("functional", "timed", "lockstep")]
    cells += [f"{row['lockstep_seconds'] / row['invocations']:.4f}", f"{row['ratio_functional']:.1f}", f"{row['ratio_timed']:.1f}"]
    cells.append(f"< {row['target_seconds']}" if row["target_seconds"] else "")
    if "ratio_other" in row:
        cells.append(f"{row['ratio_other']:.3f}")
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/release/tests/bench/system_bench")
    parser.add_argument("--other", help="a second system_bench")
    parser.add_argument("--networks", type=Path, default=ROOT / "build/release/networks", help="imported wake words")
    parser.add_argument("--zoo", type=Path, help="folder with NAME/NAME.tosa and NAME/input0.npy of larger networks (optional)")
    parser.add_argument("--nightly", action="store_true", help="ResNet-50 of the zoo too")
    parser.add_argument("--rounds", type=repeats, default=3, help="3 by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures")
    args = parser.parse_args()
    if args.nightly and not args.zoo:
        parser.error("--nightly needs --zoo")
    for program in filter(None, (args.program, args.other)):
        check_program(program)
    jobs = [(WAKE_WORD, args.networks / f"{WAKE_WORD}.tosa", ROOT / f"sim/demo/data/{WAKE_WORD}_frames.npy", True, None)]
    for name, target in ((ZOO | (NIGHTLY if args.nightly else {})) if args.zoo else {}).items():
        jobs.append((name, args.zoo / name / f"{name}.tosa", args.zoo / name / "input0.npy", False, target))
    for _, *files, _, _ in jobs:
        for file in files:
            check_file(file, "--networks names the folder of the imported wake words, --zoo that of the larger networks")

    heads = ["network", "invocations", "functional s", "timed s", "lockstep s", "s each", "lockstep / functional", "lockstep / timed", "target s"]
    heads += ["other / lockstep"] * bool(args.other)
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    rows = []
    for job in jobs:
        rows.append(measure(args, *job))
        print(line(rows[-1]), flush=True)
    if args.json:
        partial = args.json.with_name(args.json.name + ".partial")
        partial.write_text(json.dumps({"schema": "npu-cosim-bench", "schema_version": 1, "networks": rows}, indent=2) + "\n")
        os.replace(partial, args.json)
    late = [row["network"] for row in rows if row["target_seconds"] and row["lockstep_seconds"] >= row["target_seconds"]]
    if late:
        fail(f"longer than the target: {', '.join(late)}")


if __name__ == "__main__":
    main()
