#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmark: the simulated device against the official reference model, and with its firmware against without, on the same
files, in one run.

Needs the release build (tests/run.sh or cmake --preset release) and the Python environment (sim/setup.sh python):

  build/venv/bin/python tests/bench/run.py                      the wake word
  build/venv/bin/python tests/bench/run.py --zoo ../shared/zoo  and the large networks
  build/venv/bin/python tests/bench/run.py --floats             a MobileNet of floating point, with --zoo the folder's, too

Both sides run in process and report the minimum of --repeats passes; reading, compiling and loading are printed apart. The official
model loads the graph anew in every call; that time is measured by itself and taken off. It keeps no variables from call to call, which
changes its results for a stateful network but not its work. A ratio above 1 means that this device is faster.

Jobs go through the firmware, as they do everywhere. Bypassing it is for this measurement only: a wake word's frames a second with
firmware, timed, must be at least half of those without. Exit status 1 when they are not."""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import numpy as np
except ModuleNotFoundError:
    sys.exit(f"{Path(sys.argv[0]).name}: this Python lacks the pinned packages: run sim/setup.sh python, then "
             f"build/venv/bin/python tests/bench/{Path(sys.argv[0]).name}")

ROOT = Path(__file__).resolve().parents[2]


def fail(text):
    """Ends in the name of the script that runs, which may be one that uses this one."""
    sys.exit(f"{Path(sys.argv[0]).name}: {text}")


def repeats(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 on")
    return int(text)


def check_program(path):
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        fail(f"there is no program {path}; build it: cmake --preset release && cmake --build build/release")


def check_file(path, how):
    if not path.is_file():
        fail(f"there is no file {path}; {how}")


FLOATS = ["small_cnn_fp32", "transformer_gelu_fp32"]
LARGE = ["resnet8_int8", "vww_mbv1_025_int8", "mobilenet_v2_int8"]
# With firmware at least so many of the frames a second without.
FIRMWARE_BOUND = 0.5


def device(program, network, data, mode, repeats, sequence, bypass=False, lockstep=False, resident=False):
    command = [program, network, data, mode, str(repeats)]
    command += ["sequence"] * sequence + ["bypass"] * bypass + ["lockstep"] * lockstep + ["resident"] * resident
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        fail(done.stderr.strip())
    return json.loads(done.stdout)


@contextlib.contextmanager
def silence():
    """The official model warns about every 1.0 file, once a call, on the process's own standard error and output."""
    sys.stdout.flush()
    kept = [os.dup(1), os.dup(2)]
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        yield
    finally:
        for fd, old in ((1, kept[0]), (2, kept[1])):
            os.dup2(old, fd)
            os.close(old)
        os.close(null)


def official(network, frames, repeats):
    """Seconds of the official model: one pass over all frames without loading, and one loading; minimum of `repeats` each."""
    from tosa_reference_model import GraphStatus, run

    graph = network.read_bytes()

    def load():
        try:
            run(graph, [])  # refuses the missing input right after it has loaded the graph
        except ValueError:
            return
        raise RuntimeError("the official model ran without its input")

    def all_frames():
        for frame in frames:
            _, status = run(graph, [frame])
            if status != GraphStatus.TOSA_VALID:
                raise RuntimeError(f"the official model says {status}")

    best = {}
    with silence():
        for work in (load, all_frames):
            best[work] = float("inf")
            for _ in range(repeats):
                start = time.perf_counter()
                work()
                best[work] = min(best[work], time.perf_counter() - start)
    return best[all_frames] - len(frames) * best[load], best[load]


def measure(args, name, network, data, sequence):
    frames = np.load(data)
    frames = list(frames) if sequence else [frames]
    base, load = official(network, frames, args.repeats)
    print(f"\n{name}: {len(frames)} invocation(s)")
    print(f"  official reference model                {base:9.4f} s{len(frames) / base:12.1f} invocations/s")
    print(f"    apart: load {load:.4f} s")
    # A sequence with constants that stay, as `npu stream` runs it, too.
    for mode, resident in [("functional", False), ("timed", False)] + [("timed", True)] * sequence:
        r = device(args.program, network, data, mode, args.repeats, sequence, resident=resident)
        seconds = r["run_seconds"]
        how = f"{mode}, constants stay" if resident else mode
        line = (f"  device, {how:<30} {seconds:9.4f} s{len(frames) / seconds:12.1f} invocations/s"
                f"  {r['macs'] / seconds / 1e9:7.2f} GMAC/s  ratio {base / seconds:6.2f}")
        if mode == "timed":
            line += f"  {r['cycles'] / len(frames):12.0f} cycles each  {r['cycles'] / seconds / 1e6:7.1f} M cycles/s"
        print(line)
        print(f"    on {r['machine']}; apart: read {r['read_seconds']:.3f} s, open {r['open_seconds']:.3f} s, compile {r['compile_seconds']:.3f} s, "
              f"load {r['load_seconds']:.3f} s; peak memory {r['peak_bytes'] / 1e6:.0f} MB")


def firmware(args, name, network, data, mode):
    """Prints what the firmware costs the host; returns the part of the frames a second that is left with it. The two take turns, so that
    a disturbance of this computer meets both."""
    best = {}
    for _ in range(3):
        for bypass in (True, False):
            result = device(args.program, network, data, mode, args.repeats, True, bypass)
            if bypass not in best or result["run_seconds"] < best[bypass]["run_seconds"]:
                best[bypass] = result
    through, around = best[False], best[True]
    ratio = around["run_seconds"] / through["run_seconds"]
    frames = through["invocations"]
    print(f"\n{name} through the firmware and around it, {mode}:")
    print(f"  through {frames / through['run_seconds']:10.1f} frames/s, around {frames / around['run_seconds']:10.1f} frames/s: "
          f"ratio {ratio:.2f}")
    if mode == "timed":
        print(f"  a frame: {through['cycles'] / frames:.0f} engine cycles of {through['device_cycles'] / frames:.0f} device cycles, "
              f"{through['firmware_cycles'] / frames:.0f} busy cycles of the control CPU")
        print(f"  doorbell to interrupt: {through['round_trip_cycles']:.0f} device cycles, "
              f"{through['round_trip_seconds'] * 1e6:.1f} us of host time")
    return ratio


def floats(args, networks):
    """Networks of floating point; the first one is made here, with random weights."""
    with tempfile.TemporaryDirectory() as folder:
        made = [Path(folder) / "mobilenet_fp32.tosa", Path(folder) / "input0.npy"]
        subprocess.run([args.program.parent / "float_mobilenet", *made], check=True)
        for name, network, data in [("mobilenet_fp32", *made), *networks]:
            measure(args, name, network, data, False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/tests/bench/system_bench")
    parser.add_argument("--networks", type=Path, default=ROOT / "build/release/networks", help="imported wake words")
    parser.add_argument("--zoo", type=Path, help="folder with NAME/NAME.tosa and NAME/input0.npy of the large networks (optional)")
    parser.add_argument("--floats", action="store_true", help="networks of floating point instead of the others")
    parser.add_argument("--repeats", type=repeats, default=5, help="passes, 5 by default")
    args = parser.parse_args()
    wake_word, phrase = args.networks / "okay_nabu.tosa", ROOT / "sim/demo/data/okay_nabu_frames.npy"
    names = FLOATS if args.floats else LARGE
    large = [(name, args.zoo / name / f"{name}.tosa", args.zoo / name / "input0.npy") for name in names] if args.zoo else []
    check_program(args.program)
    check_file(wake_word, "name the folder of the imported wake words with --networks; the build makes build/release/networks")
    for file in (file for _, *files in large for file in files):
        check_file(file, f"--zoo needs {', '.join(names)}")
    if args.floats:
        floats(args, large)
        return
    measure(args, "okay_nabu", wake_word, phrase, True)
    for name, network, data in large:
        measure(args, name, network, data, False)
    firmware(args, "okay_nabu", wake_word, phrase, "functional")
    if firmware(args, "okay_nabu", wake_word, phrase, "timed") < FIRMWARE_BOUND:
        fail(f"timed, the firmware costs more than its bound, a ratio of {FIRMWARE_BOUND}")


if __name__ == "__main__":
    main()
