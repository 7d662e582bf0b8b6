#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmark: what state costs, in ratios of one run.

  build/venv/bin/python tests/bench/state.py                       wake words, and cells of our own
  build/venv/bin/python tests/bench/state.py --zoo ../shared/zoo   and the exported LSTM steps

Needs the release build (cmake --preset release && cmake --build build/release).

Cycles: each streaming network on `edge`, once with its variables in persistent SRAM and once with all of them in DRAM; the outputs
of both must be equal in every element. A ratio above 1 means that the persistent SRAM is faster.

Overhead: what the driver takes of this computer for an invocation, against a device that does nothing, with 1, 100 and 1,000
variables. It must not grow faster than their number, and a variable more must not cost much more among 1,000 than among
100. Exit status 1 when one of these does not hold."""

import argparse
import json
import subprocess
from pathlib import Path

from run import ROOT, check_file, check_program, fail

WAKE_WORDS = {"okay_nabu": "okay_nabu", "hey_jarvis": "hey_jarvis", "alexa": "okay_nabu", "hey_mycroft": "okay_nabu"}
LSTM = ["lstm_step_int8", "lstm_step_int16x8"]


def bench(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        fail(done.stderr.strip())
    return json.loads(done.stdout)


def cycles(args):
    files = []
    for name, phrase in WAKE_WORDS.items():
        files += [args.networks / f"{name}.tosa", ROOT / f"sim/demo/data/{phrase}_frames.npy"]
    for name in LSTM if args.zoo else []:
        files += [args.zoo / name / f"{name}.tosa", args.zoo / name / "frames.npy"]
    for file in files:
        check_file(file, "name the folder of the imported wake words with --networks; the build makes build/release/networks")
    print("cycles a frame on edge        variables    bytes   in SRAM   in DRAM   ratio   outputs that differ")
    equal = True
    for row in bench(args.program, "cycles", *files):
        spilled = f"   {row['variables_spilled']} spilled" if row["variables_spilled"] else ""
        print(f"  {row['network']:<26}{row['variables']:11}{row['state_bytes']:9}{row['sram_cycles']:10.0f}{row['dram_cycles']:10.0f}"
              f"{row['dram_cycles'] / row['sram_cycles']:8.2f}   {row['differing']} of {row['compared']}{spilled}")
        equal = equal and row["differing"] == 0
    return equal


def flat_growth(rows):
    """What each further variable costs from 100 to 1,000, against from 1 to 100. With quadratic costs it would be eleven times as
    much; measuring noise of a tenth of an invocation counts as cost."""
    one, few, many = rows
    bound, flat = 3, True
    for key, name in (("use_all_us", "program uses all"), ("use_one_us", "program uses one")):
        early = (few[key] - one[key]) / (few["variables"] - one["variables"])
        late = (many[key] - few[key]) / (many["variables"] - few["variables"])
        noise = one[key] / 10 / (few["variables"] - one["variables"])
        print(f"  {name}: a variable more costs {1000 * early:.1f} ns up to {few['variables']}, {1000 * late:.1f} ns from there to "
              f"{many['variables']} (bound {1000 * bound * max(early, noise):.1f})")
        flat = flat and late <= bound * max(early, noise)
    return flat


def overhead(args):
    rows = bench(args.program, "overhead")
    print("\ndriver, us an invocation      program uses all   program uses one of them")
    for row in rows:
        print(f"  {row['variables']:5} variables {row['use_all_us']:29.1f}{row['use_one_us']:27.1f}")
    linear = flat_growth(rows)
    for few, many in zip(rows, rows[1:]):
        factor = many["variables"] / few["variables"]
        ratios = [many[key] / few[key] for key in ("use_all_us", "use_one_us")]
        print(f"  {many['variables']} against {few['variables']} variables: {ratios[0]:.2f} and {ratios[1]:.2f} times the time "
              f"(bound {factor:.0f})")
        linear = linear and max(ratios) <= factor
    return linear


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/release/tests/bench/state_bench")
    parser.add_argument("--networks", type=Path, default=ROOT / "build/release/networks", help="imported wake words")
    parser.add_argument("--zoo", type=Path, help="folder with NAME/NAME.tosa and NAME/frames.npy of the LSTM steps (optional)")
    args = parser.parse_args()
    check_program(args.program)
    if not cycles(args):
        fail("outputs differ")
    if not overhead(args):
        fail("the driver's overhead grows faster than the number of variables")


if __name__ == "__main__":
    main()
