#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random machines as RTL, in lockstep with the model and compared with the reference.

usage: random_machines.py NPU MAKE_CASES CMAKE FOLDER

Draws five machines from a seed, today's or NPU_SEED=N, builds their RTL in FOLDER (-DNPU_RTL_MACHINES), and runs on each: random
networks with --lockstep, and `npu cosim` with a network of every operator and random work for each block. Fails when anything
differs, takes other cycles than the model says, or is refused. A machine is drawn again when `npu machine` or the RTL's limits
(cmake/machine_file.cmake) refuse it."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
MACHINES = 5
NETWORKS = 150
SECONDS_OF_A_DAY = 24 * 60 * 60
UNSUPPORTED = 3  # npu's exit status for what a machine has not
UNPREDICTABLE = 1  # npu's exit status where a REQUIRE of the specification fails
# Small enough for Verilator, and large enough for what is run. Other keys take any value that they may have.
LEAST = {"spm_bytes": 1 << 16, "psram_bytes": 1 << 13, "dram_mib": 32, "clock_mhz": 100, "cpu_clock_mhz": 100}
MOST = {"mxu_cols": 16, "mxu_depth": 16, "mxu_dw_taps": 16, "mxu_acc_bytes": 1 << 16, "mxu_weight_port_bytes": 256, "vpu_lanes": 32,
        "vpu_table_bytes": 1 << 16, "spm_bytes": 1 << 20, "spm_banks": 16, "spm_bank_bytes": 32, "psram_bytes": 1 << 16,
        "psram_port_bytes": 32, "var_entries": 256, "dma_port_bytes": 64, "dram_mib": 64}
CASES = """presets: [{machines}]
seeds: [{seed}]
operators: {{}}
trials:
  - {{block: mxu, count: 200}}
  - {{block: vpu, count: 200}}
  - {{block: dma, count: 100}}
  - {{block: scratchpad, count: 10}}
  - {{block: persistent_sram, count: 10}}
"""


class Failure(Exception):
    """What went wrong, in a sentence."""


def run(*command, **more):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **more)


def done(*command, **more):
    """What a command prints that must succeed."""
    result = run(*command, **more)
    if result.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with {result.returncode}:\n{result.stdout[-4000:]}{result.stderr[-4000:]}")
    return result.stdout


def draw(key, source):
    """A value of a capability: each power of two between the bounds is as likely as the next."""
    least, most = max(key["min"], LEAST.get(key["name"], 0)), min(key["max"], MOST.get(key["name"], key["max"]))
    if key["max"] == 1:
        return source.randint(0, 1)
    if least == 0 and source.randint(0, 1) == 0:
        return 0
    least = max(least, 1)
    power = 1 << source.randint(least.bit_length() - 1, most.bit_length() - 1)
    value = power if key.get("power_of_two") else power + source.randrange(power)
    return min(max(value, least), most)


def draw_machines(npu, cmake, folder, source):
    """Files of machines that program and RTL accept."""
    keys = yaml.safe_load((ROOT / "hw/contract/capabilities.yaml").read_text())["capabilities"]
    files, drawn = [], 0
    while len(files) < MACHINES:
        drawn += 1
        path = folder / f"random{len(files) + 1}.yaml"
        lines = [f"base: {source.choice(['nano', 'edge', 'server'])}"] + [f"{key['name']}: {draw(key, source)}" for key in keys]
        path.write_text("\n".join(lines) + "\n")
        if (run(cmake, f"-DMACHINE={path}", "-P", ROOT / "cmake/machine_file.cmake").returncode == 0
                and run(npu, "machine", path).returncode == 0):
            files.append(path)
            print(f"{path.stem}: {', '.join(lines)}", flush=True)
    print(f"{drawn} machines drawn, {drawn - MACHINES} of them beyond the limits", flush=True)
    return files


def build_rtl(cmake, folder, machines):
    """The module with the machines' RTL; a folder to load it from."""
    build = folder / "build"
    done(cmake, "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DNPU_BUILD_TESTS=OFF", "-DNPU_INSTALL=OFF",
         "-DNPU_RTL_PRESETS=", f"-DNPU_RTL_MACHINES={';'.join(map(str, machines))}")
    done(cmake, "--build", build, "--parallel", os.cpu_count() or 1, "--target", "npu_rtl_module")
    return build


def random_networks(npu, make_cases, folder, seed):
    """Random networks, with their inputs, of which the specification says what they compute."""
    done(make_cases, "integer", seed * NETWORKS % 2**31, NETWORKS, folder)
    cases = []
    for case in sorted(folder.iterdir()):
        arguments = [case / "network.tosa"]
        for name in json.loads((case / "case.json").read_text())["inputs"]:
            arguments += ["--input", f"{name}={case / name}.npy"]
        result = run(npu, "reference", *arguments)
        if result.returncode not in (0, UNPREDICTABLE):
            raise Failure(f"npu reference {case.name} ended with {result.returncode}: {result.stderr}")
        if result.returncode == 0:
            cases.append(arguments)
    return cases


def run_networks(npu, machine, cases, env):
    """Every network on a machine; prints the counts."""
    tiles = lockstep = compared = refused = 0
    for arguments in cases:
        result = run(npu, "run", *arguments, "--config", machine, "--lockstep", "--check", "reference", "--quiet", "--json", "-", env=env)
        if result.returncode == UNSUPPORTED and "mxu_int16" in result.stderr and "mxu_int16: 0" in machine.read_text():
            refused += 1
            continue
        if result.returncode != 0:
            raise Failure(f"{machine.stem}: {arguments[0]} ended with {result.returncode}:\n{result.stdout[-4000:]}{result.stderr[-4000:]}")
        report = json.loads(result.stdout)
        for engine in report["engines"]:
            differences = engine["cycle_differences"]
            if engine["rtl_tiles"] != engine["tiles"] or (differences and differences["exact"] != engine["tiles"]):
                raise Failure(f"{machine.stem}: {arguments[0]}: not all tiles of the {engine['engine']} took the model's cycles: {differences}")
            tiles += engine["tiles"]
            lockstep += engine["elements_compared"]
        compared += report["check"]["compared"]
        if report["check"]["differing"] != 0:
            raise Failure(f"{machine.stem}: {arguments[0]}: {report['check']['differing']} elements differ from the reference")
    if not tiles or not compared:
        raise Failure(f"{machine.stem}: nothing was compared")
    print(f"{machine.stem}: {len(cases) - refused} random networks, {refused} beyond the machine, {tiles} tiles and {lockstep} elements in "
          f"lockstep, {compared} elements compared with the reference, 0 differing", flush=True)


def run_cases(npu, machines, folder, seed, env):
    """Operators and blocks of all machines."""
    cases = folder / "cases.yaml"
    cases.write_text(CASES.format(machines=", ".join(map(str, machines)), seed=seed))
    report = folder / "cosim.json"
    report.unlink(missing_ok=True)
    result = run(npu, "cosim", cases, "--quiet", "--jobs", os.cpu_count() or 1, "--json", report, env=env)
    if not report.exists():
        raise Failure(f"npu cosim ended with {result.returncode}: {result.stderr}")
    found = json.loads(report.read_text())
    for case in found["results"]:
        if case["outcome"] != "passed":
            print(f"{case['name']}: {case['outcome']}: {case['reason']}")
    if result.returncode != 0 or found["passed"] != found["cases"]:
        raise Failure(f"npu cosim ended with {result.returncode}: {found['passed']} of {found['cases']} cases passed")
    for machine in machines:
        mine = [case for case in found["results"] if case["preset"] == str(machine)]
        trials = [case["trials"] for case in mine if case["trials"]]
        devices = [case["device"] for case in mine if case["device"]]
        counts = trials + devices
        compared, differing = (sum(part[key] for part in counts) for key in ("compared", "differing"))
        if not trials or not devices or differing:
            raise Failure(f"{machine.stem}: {len(devices)} operators, {len(trials)} batches of trials, {differing} elements differ")
        print(f"{machine.stem}: {len(devices)} operators and {sum(part['trials'] for part in trials)} trials of the blocks, "
              f"{compared} elements compared, 0 differing", flush=True)


def main():
    npu, make_cases, cmake, folder = sys.argv[1:]
    seed = int(os.environ.get("NPU_SEED", int(time.time()) // SECONDS_OF_A_DAY))
    print(f"NPU_SEED={seed}", flush=True)
    folder = Path(folder)
    networks = folder / "networks"
    folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    machines = draw_machines(npu, cmake, folder, random.Random(seed))
    build = build_rtl(cmake, folder, machines)
    print(f"RTL built after {time.monotonic() - started:.0f} s", flush=True)
    env = {**os.environ, "LD_LIBRARY_PATH": str(build)}  # in front of the module beside npu
    done(cmake, "-E", "rm", "-rf", networks)
    cases = random_networks(npu, make_cases, networks, seed)
    for machine in machines:
        run_networks(npu, machine, cases, env)
    run_cases(npu, machines, folder, seed, env)
    print(f"{MACHINES} machines in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"random_machines.py: {failure}")
