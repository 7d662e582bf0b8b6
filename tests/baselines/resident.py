# SPDX-License-Identifier: Apache-2.0
"""Networks whose constants stay in the scratchpad: resident.csv beside this file, and its table of docs/reference/performance.md.

baselines.py measures, compares and writes them with its own rows."""

import csv
from pathlib import Path

FILE = Path(__file__).resolve().parent / "resident.csv"
KEYS = ["network", "machine"]
FIGURES = ["cycles", "bytes", "load_cycles", "dram_read"]

HEAD = """## Constants that stay

Networks whose constants fit into the scratchpad beside what they need, and which are faster then by the compiler's estimate, as of their second invocation
on (`--resident-constants`, or `npu stream`): the cycles of the job's stream, how many bytes of constants stay, in how many cycles they were loaded before
the first invocation, and the bytes that an invocation reads from DRAM, commands included. Behind the cycles stand those of an invocation that loads its
constants.

| network | machine | cycles | loading its constants | bytes that stay | loaded in | DRAM read |
|---|---|---|---|---|---|---|
"""


def row_of(name, machine, data):
    """Of the JSON of two invocations, of which the second one is faster; nothing where the constants do not stay."""
    resident = data["resident_constants"]
    if resident is None:
        return None
    if resident["loads"] != 1:
        raise SystemExit(f"baselines: {name} on {machine} loads its constants {resident['loads']} times in two invocations")
    return {"network": name, "machine": machine, "cycles": data["total"]["cycles_min"], "bytes": resident["bytes"],
            "load_cycles": resident["load_cycles"], "dram_read": round(data["total"]["dram_read_bytes"])}


def recorded():
    if not FILE.exists():
        return {}
    with FILE.open(newline="") as file:
        return {tuple(row[key] for key in KEYS): {**row, **{figure: int(row[figure]) for figure in FIGURES}} for row in csv.DictReader(file)}


def moved(before, after, measured):
    """Lines of a table, as of baselines.py: what is not as it was, of the networks that were measured."""
    lines = []
    for key in sorted({key for key in before if key[0] in measured} | set(after)):
        old, new = before.get(key), after.get(key)
        for figure in FIGURES:
            was, now = (old[figure] if old else "-"), (new[figure] if new else "-")
            if was != now:
                lines.append(f"{key[0]:<24} {key[1]:<8} {'resident ' + figure:<21} {was:>12} {now:>14}")
    return lines


def write(rows):
    part = FILE.with_suffix(".part")
    with part.open("w", newline="") as file:
        table = csv.DictWriter(file, [*KEYS, *FIGURES], lineterminator="\n")
        table.writeheader()
        table.writerows(rows[key] for key in sorted(rows))
    part.replace(FILE)


def section(rows, loading):
    """The page's text; `loading`: cycles of each network and machine that loads its constants."""
    lines = [f"| {row['network']} | {row['machine']} | {row['cycles']:,} | {loading[key]:,} "
             f"| {row['bytes']:,} | {row['load_cycles']:,} | {row['dram_read']:,} |\n"
             for key, row in sorted(rows.items(), key=lambda item: (item[0][1], item[0][0]))]
    return HEAD + "".join(lines)
