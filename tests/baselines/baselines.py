#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cycles, their bound and their causes, and bytes of networks on each preset, exactly as they were: cycles.csv beside this file.

    tests/baselines/baselines.py --npu build/release/npu [FOLDER...]            compares; exit status 1 when something moved
    tests/baselines/baselines.py --npu build/release/npu [FOLDER...] --update   writes cycles.csv, resident.csv, options.csv and sized.csv anew, and of
                                                                                docs/reference performance.md and rivals.md; prints what moved

FOLDER holds networks (*.tosa, or a folder a network with manifest.json beside them). Rows of networks that no folder has stay as
they are, and are not compared; a network without a row is an error. FOLDER/open
holds networks that leave sizes open. Inputs are random, of seed 1: no cycle depends on them.
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

import machine_options
import performance
import resident
import rivals
import sized

FILE = Path(__file__).resolve().parent / "cycles.csv"
KEYS = ["network", "machine"]
# bound_mxu and bound_dram: the fewest cycles that each of the two takes (docs/reference/report.md, "bound"); must_move: the bytes of the latter;
# bound_room: the fewest cycles with what the chip can hold, 0 where it can hold all.
FIGURES = ["cycles", "bound_mxu", "bound_dram", "bound_room", "estimate", "iterations", "commands", "macs", "dram_read", "dram_written", "must_move",
           "scratchpad", "persistent"]
CAUSES = "causes"  # cycles of each cause, "mxu_compute=12 dram_latency=3": most first
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


def check_sums(data, where):
    """Every cycle has one layer, one cause and one resource."""
    total, layers = data["total"], data["layers"]
    for group in ("cycles_by_cause", "limits"):
        for row in (total, *layers):
            if sum(row[group].values()) != row["cycles"]:
                raise SystemExit(f"baselines: {where}: {group} of {row.get('name', 'all layers')} are not all of its cycles")
        for name, cycles in total[group].items():
            if sum(layer[group][name] for layer in layers) != cycles:
                raise SystemExit(f"baselines: {where}: {group}.{name} of the layers do not add up to the total")
    if sum(layer["cycles"] for layer in layers) != total["cycles"]:
        raise SystemExit(f"baselines: {where}: the layers' cycles do not add up to the total")


def report_of(npu, path, machine, *options):
    """The report of an invocation, nothing where the machine cannot run the network."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [npu, "run", path, "--config", machine, "--random-inputs", "1", "--quiet", "--json", report.name, *options]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode == UNSUPPORTED:
            return None
        if result.returncode != 0:
            raise SystemExit(f"baselines: {path.name} on {machine}: {result.stderr.strip()}")
        return json.loads(Path(report.name).read_text())


def measure_resident(npu, path, machine):
    """The row of a network whose constants stay, nothing where they do not."""
    data = report_of(npu, path, machine, "--resident-constants", "--invocations", "2")
    return resident.row_of(path.stem, machine, data) if data else None


def measure(npu, path, machine):
    """The row of a network on a machine, nothing where the machine cannot run it."""
    data = report_of(npu, path, machine)
    if data is None:
        return None
    total, queues = data["total"], data["queues"]
    check_sums(data, f"{path.name} on {machine}")
    bound, room = total["bound"], (total["room_bound"] or {"cycles": 0})["cycles"]
    for least in (bound["cycles"], room):
        if total["cycles"] < least:
            raise SystemExit(f"baselines: {path.name} on {machine} takes {total['cycles']:,.0f} cycles, fewer than its bound of {least:,.0f}")

    def bytes_of(*names):
        return sum(queue[name] for queue in queues for name in names)

    dram_read, dram_written = bytes_of("dram_read"), bytes_of("dram_written")
    persistent = bytes_of("psram_read", "psram_written")
    causes = sorted(((int(cycles), name) for name, cycles in total["cycles_by_cause"].items() if cycles), key=lambda cause: (-cause[0], cause[1]))
    iterations = int(sum(loop["iterations"] for loop in data["loops"]))
    estimate = data["program"]["estimated_cycles"]
    if not iterations and not performance.is_near(estimate, total["cycles_sum"]):
        raise SystemExit(f"baselines: {path.name} on {machine} takes {total['cycles_sum']:,.0f} cycles, and the compiler estimates {estimate:,}: more than "
                         f"{performance.NEAR_PERCENT} % off. What changed may be missing in driver/compiler/play")
    return {"network": path.stem, "machine": machine, "cycles": total["cycles_sum"], "bound_mxu": int(bound["mxu"]), "bound_dram": int(bound["dram"]),
            "bound_room": room, "must_move": int(bound["dram_bytes"]), CAUSES: " ".join(f"{name}={cycles}" for cycles, name in causes),
            "estimate": estimate, "iterations": iterations,
            "commands": data["program"]["commands"], "macs": round(total["macs"]), "dram_read": dram_read, "dram_written": dram_written,
            "scratchpad": bytes_of("bytes_read", "bytes_written") - dram_read - dram_written - persistent, "persistent": persistent}


def recorded():
    if not FILE.exists():
        return {}
    with FILE.open(newline="") as file:
        return {tuple(row[key] for key in KEYS): {**row, **{figure: int(row[figure]) for figure in FIGURES}} for row in csv.DictReader(file)}


def flat(row):
    """All figures of a row, those of each cause, too: a cause and bytes may have the same name."""
    causes = {f"waits {cause}": cycles for cause, cycles in performance.causes_of(row).items()} if row else {}
    return {**{figure: row[figure] for figure in FIGURES}, **causes} if row else {}


def moved(before, after, measured):
    """Lines of a table: what is not as it was, of the networks that were measured."""
    lines = [f"{key[0]:<24} {key[1]:<8} cannot run any more" for key in sorted(before) if key[0] in measured and key not in after]
    for key in sorted(after):
        old_figures, new_figures = flat(before.get(key)), flat(after[key])
        for figure in {**new_figures, **old_figures}:
            missing = None if key not in before else 0  # a cause without cycles is not written down
            old, new = old_figures.get(figure, missing), new_figures.get(figure, 0)
            if old != new:
                change = "new" if old is None else f"{new - old:+,}" + (f" ({100 * (new - old) / old:+.2f} %)" if old else "")
                lines.append(f"{key[0]:<24} {key[1]:<8} {figure:<25} {'-' if old is None else f'{old:,}':>14} {new:>14,}  {change}")
    return lines


def write(rows):
    part = FILE.with_suffix(".part")
    with part.open("w", newline="") as file:
        table = csv.DictWriter(file, [*KEYS, *FIGURES, CAUSES], lineterminator="\n")
        table.writeheader()
        table.writerows(rows[key] for key in sorted(rows))
    part.replace(FILE)


def main():
    options = arguments()
    found = networks(options.folders)
    work = [(path, machine) for path in found.values() for machine in presets(options.npu)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = [row for row in pool.map(lambda job: measure(options.npu, *job), work) if row]
        staying = [row for row in pool.map(lambda job: measure_resident(options.npu, *job), work) if row]
        without = machine_options.work(found)
        cycles = pool.map(lambda job: machine_options.measure(job[1], lambda machine: report_of(options.npu, found[job[0]], machine)), without)
        options_after, options_before = dict(zip(without, cycles)), machine_options.recorded()
        found_open = sized.networks(options.folders)
        open_work = [(path, machine) for path in found_open.values() for machine in sized.MACHINES]
        open_rows = [row for rows_of in pool.map(lambda job: sized.measure(options.npu, *job), open_work) for row in rows_of]
    sized_after, sized_before = {tuple(row[key] for key in sized.KEYS): row for row in open_rows}, sized.recorded()
    resident_after, resident_before = {tuple(row[key] for key in KEYS): row for row in staying}, resident.recorded()
    after, before = {tuple(row[key] for key in KEYS): row for row in rows}, recorded()
    lines = (moved(before, after, found) + resident.moved(resident_before, resident_after, found)
             + machine_options.moved(options_before, options_after, found) + sized.moved(sized_before, sized_after, found_open))
    if lines:
        print(f"{'network':<24} {'machine':<8} {'figure':<25} {'before':>14} {'now':>14}\n" + "\n".join(lines))
    figures = sum(len(flat(row)) for row in after.values()) + len(resident.FIGURES) * len(resident_after) + len(options_after)
    figures += len(sized.FIGURES) * len(sized_after)
    measured, all_rows = len(after) + len(resident_after) + len(sized_after), len(before) + len(resident_before) + len(sized_before)
    print(f"baselines: {len(lines)} of {figures} figures moved, {measured} of {all_rows} rows measured")
    if options.update:
        rows = {**{key: row for key, row in before.items() if key[0] not in found}, **after}
        write(rows)
        resident.write({**{key: row for key, row in resident_before.items() if key[0] not in found}, **resident_after})
        machine_options.write({**{key: row for key, row in options_before.items() if key[0] not in found}, **options_after})
        sized.write({**{key: row for key, row in sized_before.items() if key[0] not in found_open}, **sized_after})
        performance.write(rows.values())
        if rivals.LAYERS_OF in found:
            rivals.write_ours(options.npu, found[rivals.LAYERS_OF])
        return 0
    if lines:
        print("baselines: if that is what was meant, run this again with --update, and say in the commit why they moved")
    return 1 if lines or not after else 0


if __name__ == "__main__":
    sys.exit(main())
