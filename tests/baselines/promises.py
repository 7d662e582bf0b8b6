#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether `npu what-if` keeps its promises, and the compiler's estimate holds on machines that it was not fitted to.

    tests/baselines/promises.py --npu build/release/npu FOLDER...

FOLDER holds networks (*.tosa, or a folder a network with manifest.json beside them). For each of them, on each preset, `npu what-if` doubles one
resource of the machine after the other. Each such machine becomes a file, as a user would write it, and runs the network: it takes exactly the
promised cycles, and the estimate, where no loop runs, is at most 10 % off. Exit status 1 where one does not hold. Prints how many held, and how far off the
estimates were.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import baselines
import performance

MOST_PERCENT = 10  # that an estimate may be off
LARGE = 1_000_000  # bytes of a network's file that is left out: each of its runs takes seconds


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--npu", type=Path, required=True)
    return parser.parse_args()


def what_if(npu, path, machine):
    """The changes that the machine can be given and run the network with; none where it cannot run it as it is."""
    command = [npu, "what-if", path, "--config", machine, "--jobs", "1", "--quiet", "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == baselines.UNSUPPORTED:
        return []
    if result.returncode != 0:
        raise SystemExit(f"promises: {path.name} on {machine}: {result.stderr.strip()}")
    return [change for change in json.loads(result.stdout)["changes"] if change["cycles"] is not None]


def machine_file(base, keys):
    top = [f"{key['key']}: {key['to']}" for key in keys if not key["key"].startswith("dram.")]
    dram = [f"  {key['key'].removeprefix('dram.')}: {key['to']}" for key in keys if key["key"].startswith("dram.")]
    return "\n".join([f"base: {base}", *top, *(["dram:", *dram] if dram else [])]) + "\n"


def keep(npu, path, machine):
    """How far off the estimate is on each changed machine (nothing with loops), and what did not hold, in words."""
    off, broken = [], []
    for change in what_if(npu, path, machine):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(machine_file(machine, change["keys"]))
            file.flush()
            data = baselines.report_of(npu, path, file.name)
        where = f"{path.name} on {machine} with {change['resource']}"
        cycles, estimate = data["total"]["cycles_sum"], data["program"]["estimated_cycles"]
        if cycles != change["cycles"]:
            broken.append(f"{where} takes {cycles:,.0f} cycles, and what-if promised {change['cycles']:,}")
        off.append(None if data["loops"] else 100 * (estimate / cycles - 1))
        if off[-1] is not None and abs(off[-1]) > MOST_PERCENT:
            broken.append(f"{where} takes {cycles:,.0f} cycles, and the compiler estimates {estimate:,}: {off[-1]:+.1f} %")
    return off, broken


def main():
    options = arguments()
    found = {name: path for name, path in baselines.networks(options.folders).items() if path.stat().st_size < LARGE}
    work = [(path, machine) for path in found.values() for machine in baselines.presets(options.npu)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: keep(options.npu, *job), work))
    off = [percent for ones, _ in results for percent in ones]
    broken = [line for _, lines in results for line in lines]
    print("\n".join(f"promises: {line}" for line in broken))
    near = [abs(percent) for percent in off if percent is not None]
    inside = sum(percent <= performance.NEAR_PERCENT for percent in near)
    print(f"promises: {len(found)} networks, {len(off)} changed machines, {len(broken)} broken promises")
    if near:
        print(f"promises: {inside} of {len(near)} estimates within {performance.NEAR_PERCENT} %, the worst {max(near):.1f} % off, "
              f"{sum(near) / len(near):.2f} % in the mean")
    return 1 if broken or not off else 0


if __name__ == "__main__":
    sys.exit(main())
