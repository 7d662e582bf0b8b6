#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/performance.md: the cycles of cycles.csv beside this file, held against their bound.

    tests/baselines/performance.py            writes the page; baselines.py --update does so, too
    tests/baselines/performance.py --check    fails when the page is not what it would write
"""

import argparse
import csv
import sys
from fractions import Fraction
from pathlib import Path

import machine_options
import resident
import sized
import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FILE = HERE / "cycles.csv"
PRESETS = ROOT / "hw/presets"
PAGE = ROOT / "docs/reference/performance.md"
CAUSES = ROOT / "docs/reference/report.md"  # has a table of them
# What the report calls a cycle in which the resource of the bound does its work.
WORK = {"MXU": ["mxu_compute"], "DRAM": ["weight_load_dram", "dram_read", "dram_write", "weight_load_room", "weight_load_first"]}
NEAR_PERCENT = 3  # that the compiler's estimate may be off
SHOWN, LEAST_SHARE = 3, Fraction(1, 100)  # of the causes

HEAD = """# Performance

The cycles of networks on each preset, held against the fewest that the machine can take: the **bound**. `tests/baselines/baselines.py` measures all of
them, and `--update` writes this page anew:

    tests/baselines/baselines.py --npu build/release/npu build/release/networks [FOLDER...] --update

The tests make the networks in `build/release/networks`; FOLDER has others. Batch size is 1, and a network with state runs one step. The cycles are
those of the job's stream, [without the firmware](report.md#what-the-firmware-costs).

- **bound**: the larger of what the MXU's array takes for the MACs, with every product used, and what DRAM takes at its best rate for the bytes that
  have to move: constants, inputs and outputs, each byte once ([exactly](report.md#what-limits-a-layer)). `npu run` and `npu info` print it for any
  network. No order of commands is faster, but a shorter form of the constants, or fewer MACs, would be.
- **times**: cycles over the bound.
- **with room**: the bound with what the chip can hold, where that is more. Weights that are only used behind some tensor can be loaded before it is
  there as far as the chip has room for them; the rest comes from DRAM when the array has done the work before it
  ([exactly](report.md#what-limits-a-layer)). **times**, behind it: cycles over that.
- **beyond the bound**: what else the job waits for: the [causes](report.md#what-limits-a-layer) on the critical path, as shares of the cycles, the
  largest three of at least 1 %. Of the bound's own resource only what exceeds the bound counts: `mxu_compute` there are products of the array that
  have no work.
- **estimate**: how far the compiler's estimate is off, which plays the program without its data
  ([how](report.md#what-limits-a-layer)). It does not know how often a loop runs. The tests allow 3 %.
- **DRAM bytes**: read and written, the commands included. **times**, behind them: over the bytes that have to move.
"""


def rows_of(file):
    with file.open(newline="") as table:
        return list(csv.DictReader(table))


def causes_of(row):
    """Cycles by cause, most first."""
    return {name: int(cycles) for name, cycles in (cause.split("=") for cause in row["causes"].split())}


def bound_of(row):
    """Cycles of the bound, and of what."""
    mxu, dram = int(row["bound_mxu"]), int(row["bound_dram"])
    return (mxu, "MXU") if mxu > dram else (dram, "DRAM")


def room_of(row):
    """The two cells of the bound with what the chip can hold."""
    room = int(row["bound_room"])
    return f"{room:,} | {int(row['cycles']) / room:.2f}" if room > bound_of(row)[0] else "- | -"


def is_near(estimate, cycles):
    return 100 * abs(estimate - cycles) <= NEAR_PERCENT * cycles


def estimate_of(row):
    """How far off the estimate is, in words."""
    if int(row["iterations"]):
        return "-"
    return f"{100 * (int(row['estimate']) / int(row['cycles']) - 1):+.1f} %"


def check_causes():
    """The causes of WORK are still the report's: one of another name would count as lost."""
    documented = CAUSES.read_text(encoding="utf-8")
    for name in (name for names in WORK.values() for name in names):
        if f"`{name}`" not in documented:
            raise SystemExit(f"performance: {CAUSES.name} has no cause {name}: say in WORK of performance.py in which causes the bound's work is done")


def beyond(row):
    """What the job waits for beyond its bound, in words."""
    cycles, causes = int(row["cycles"]), causes_of(row)
    left, resource = bound_of(row)
    for name in WORK[resource]:
        part = min(left, causes.get(name, 0))
        left -= part
        causes[name] = causes.get(name, 0) - part
    most = sorted((cause for cause in causes.items() if Fraction(cause[1], cycles) >= LEAST_SHARE), key=lambda cause: -cause[1])
    return ", ".join(f"`{name}` {100 * count / cycles:.0f} %" for name, count in most[:SHOWN]) or "nothing of 1 %"


def line(row):
    cycles, (bound, resource), must = int(row["cycles"]), bound_of(row), int(row["must_move"])
    moved = int(row["dram_read"]) + int(row["dram_written"])
    return (f"| {row['network']} | {cycles:,} | {bound:,} | {resource} | {cycles / bound:.2f} | {room_of(row)} | {beyond(row)} "
            f"| {estimate_of(row)} | {moved:,} | {must:,} | {moved / must:.2f} |")


class Machine:
    """The rates of a preset, of its file."""

    def __init__(self, name):
        keys = yaml.safe_load((PRESETS / f"{name}.yaml").read_text(encoding="utf-8"))
        self.name = name
        self.macs, self.depthwise = keys["mxu_cols"] * keys["mxu_depth"], keys["mxu_cols"] * keys["mxu_dw_taps"]
        sheet = Fraction(keys["dram"]["data_rate_mts"] * keys["dram"]["bus_bits"], 8 * keys["clock_mhz"])
        self.dram = min(sheet, Fraction(keys["dma_port_bytes"]))

    def words(self):
        return (f"{self.macs:,} int8 MACs a cycle, {self.depthwise:,} of a depthwise convolution, half of both with int16 activations; "
                f"DRAM {float(self.dram):g} bytes a cycle.")

    def check(self, row):
        """The rate is the one that the bound was made with."""
        if -(-int(row["must_move"]) // self.dram) != int(row["bound_dram"]):
            raise SystemExit(f"performance: DRAM of {self.name} moves {self.dram} bytes a cycle, but {row['network']} has a bound of {row['bound_dram']} for "
                             f"{row['must_move']} bytes: measure again (baselines.py --update)")


def table(machine, rows):
    lines = [f"## {machine.name}", "", machine.words(), "",
             "| network | cycles | bound | of | times | with room | times | beyond the bound | estimate | DRAM bytes | have to move | times |",
             f"|{'---|' * 12}"]
    for row in rows:
        machine.check(row)
        lines.append(line(row))
    return "\n".join(lines) + "\n"


def page(rows, staying=None, without=None, of_sizes=None):
    check_causes()
    loading = {(row["network"], row["machine"]): int(row["cycles"]) for row in rows}
    rows = sorted(rows, key=lambda row: (-int(row["macs"]), row["network"]))
    names = sorted({row["machine"] for row in rows})
    tables = [table(Machine(name), [row for row in rows if row["machine"] == name]) for name in names]
    sections = [*([resident.section(staying, loading)] if staying else []), *([machine_options.section(without, loading)] if without else []),
                *([sized.section(of_sizes)] if of_sizes else [])]
    return HEAD + "".join("\n" + one for one in [*tables, *sections])


def whole_page(rows):
    return page(rows, resident.recorded(), machine_options.recorded(), sized.recorded())


def write(rows):
    PAGE.write_text(whole_page(rows), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows = rows_of(FILE)
    if not options.check:
        write(rows)
        return 0
    least = {id(row): max(bound_of(row)[0], int(row["bound_room"])) for row in rows}
    slow = [row for row in rows if int(row["cycles"]) < least[id(row)]]
    for row in slow:
        print(f"performance: {row['network']} on {row['machine']} takes {row['cycles']} cycles, fewer than its bound of {least[id(row)]}", file=sys.stderr)
    current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == whole_page(rows)
    if not current:
        print(f"performance: {PAGE.relative_to(ROOT)} is not what tests/baselines/performance.py writes from {FILE.relative_to(ROOT)}: run it", file=sys.stderr)
    print(f"performance: {len(rows)} rows")
    return 0 if rows and current and not slow else 1


if __name__ == "__main__":
    sys.exit(main())
