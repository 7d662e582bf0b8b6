#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cycles and bytes of networks on each preset, exactly as they were: cycles.csv beside this file.

    tests/baselines/baselines.py --npu build/release/npu [FOLDER...]            compares; exit status 1 when something moved
    tests/baselines/baselines.py --npu build/release/npu [FOLDER...] --update   writes cycles.csv anew and prints what moved

FOLDER holds networks (*.tosa, or a folder a network with manifest.json beside them). Rows of networks that no folder has stay as
they are, and are not compared; a network without a row is an error. Inputs are random, of seed 1: no cycle depends on them.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = Path(__file__).resolve().parent / "cycles.csv"
KEYS = ["network", "machine"]
FIGURES = ["cycles", "estimate", "commands", "macs", "dram_read", "dram_written", "scratchpad", "persistent"]
UNSUPPORTED = 3  # npu's exit status: this device cannot run it


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--npu", type=Path, required=True)
    parser.add_argument("--update", action="store_true")
    return parser.parse_args()


def networks(folders):
    """Path of each network by its name."""
    found = {}
    for folder in folders:
        single = (folder / "manifest.json").exists()
        for path in sorted(folder.glob("*/*.tosa" if single else "*.tosa")):
            if not single or path.stem == path.parent.name:
                found[path.stem] = path
    return found


def presets(npu):
    table = subprocess.run([npu, "machine"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[0] for line in table[1:]]


def measure(npu, path, machine):
    """The row of a network on a machine, nothing where the machine cannot run it."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [npu, "run", path, "--config", machine, "--random-inputs", "1", "--quiet", "--json", report.name]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode == UNSUPPORTED:
            return None
        if result.returncode != 0:
            raise SystemExit(f"baselines: {path.name} on {machine}: {result.stderr.strip()}")
        data = json.loads(Path(report.name).read_text())
    total, queues = data["total"], data["queues"]

    def bytes_of(*names):
        return sum(queue[name] for queue in queues for name in names)

    dram_read, dram_written = bytes_of("dram_read"), bytes_of("dram_written")
    persistent = bytes_of("psram_read", "psram_written")
    return {"network": path.stem, "machine": machine, "cycles": total["cycles_sum"], "estimate": data["program"]["estimated_cycles"],
            "commands": data["program"]["commands"], "macs": total["macs"], "dram_read": dram_read, "dram_written": dram_written,
            "scratchpad": bytes_of("bytes_read", "bytes_written") - dram_read - dram_written - persistent, "persistent": persistent}


def recorded():
    if not FILE.exists():
        return {}
    with FILE.open(newline="") as file:
        return {tuple(row[key] for key in KEYS): {**row, **{figure: int(row[figure]) for figure in FIGURES}} for row in csv.DictReader(file)}


def moved(before, after, measured):
    """Lines of a table: what is not as it was, of the networks that were measured."""
    lines = [f"{key[0]:<24} {key[1]:<8} cannot run any more" for key in sorted(before) if key[0] in measured and key not in after]
    for key in sorted(after):
        for figure in FIGURES:
            old, new = before.get(key, {}).get(figure), after[key][figure]
            if old != new:
                change = "new" if old is None else f"{new - old:+,}" + (f" ({100 * (new - old) / old:+.2f} %)" if old else "")
                lines.append(f"{key[0]:<24} {key[1]:<8} {figure:<13} {'-' if old is None else f'{old:,}':>14} {new:>14,}  {change}")
    return lines


def write(rows):
    part = FILE.with_suffix(".part")
    with part.open("w", newline="") as file:
        table = csv.DictWriter(file, KEYS + FIGURES, lineterminator="\n")
        table.writeheader()
        table.writerows(rows[key] for key in sorted(rows))
    part.replace(FILE)


def main():
    options = arguments()
    found = networks(options.folders)
    work = [(path, machine) for path in found.values() for machine in presets(options.npu)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = [row for row in pool.map(lambda job: measure(options.npu, *job), work) if row]
    after, before = {tuple(row[key] for key in KEYS): row for row in rows}, recorded()
    lines = moved(before, after, found)
    if lines:
        print(f"{'network':<24} {'machine':<8} {'figure':<13} {'before':>14} {'now':>14}\n" + "\n".join(lines))
    figures = len(after) * len(FIGURES)
    print(f"baselines: {len(lines)} of {figures} figures moved, {len(after)} of {len(before)} rows measured")
    if options.update:
        write({**{key: row for key, row in before.items() if key[0] not in found}, **after})
        return 0
    if lines:
        print("baselines: if that is what was meant, run this again with --update, and say in the commit why they moved")
    return 1 if lines or not after else 0


if __name__ == "__main__":
    sys.exit(main())
