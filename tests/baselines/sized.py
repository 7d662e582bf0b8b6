# SPDX-License-Identifier: Apache-2.0
"""Networks that leave sizes open: a program for all sizes within bounds against one for each size alone. sized.csv beside this file, and its
table of docs/reference/performance.md.

baselines.py measures, compares and writes them with its own rows."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system/cli"))
from harness import npy_bytes

FILE = Path(__file__).resolve().parent / "sized.csv"
FOLDER = "open"  # below one of networks: the networks that leave sizes open
KEYS = ["network", "machine", "sizes"]
FIGURES = ["cycles", "alone"]
MACHINES = ["edge", "nano"]
# Cycles over those of a program for the sizes alone, at the largest sizes and at any others.
MOST_AT_LARGEST, MOST = 1.05, 1.25


class Network(NamedTuple):
    bounds: dict  # of each open size
    input: str
    shape: Callable  # of the input, by the sizes
    sizes: list  # that are measured; the first ones are the largest


NETWORKS = {
    "transformer": Network({"TosaInput_0.1": (1, 128)}, "TosaInput_0", lambda steps: (1, steps, 64),
                           [(128,), (127,), (112,), (96,), (80,), (64,), (48,), (32,), (31,), (16,), (8,), (5,), (2,), (1,)]),
    "images": Network({"x.0": (1, 4), "x.1": (1, 32), "x.2": (1, 32)}, "x", lambda images, height, width: (images, height, width, 4),
                      [(4, 32, 32), (1, 32, 32), (4, 1, 32), (4, 32, 1), (1, 1, 1), (2, 17, 23), (3, 9, 31), (1, 5, 5), (4, 16, 16), (2, 31, 8),
                       (1, 20, 32), (3, 25, 14)]),
}


def bounds_in_words():
    return ", ".join(f"{' x '.join(f'{least} to {most}' for least, most in network.bounds.values())} for {name}" for name, network in NETWORKS.items())


HEAD = f"""## Sizes that change

Networks whose files leave sizes open: a transformer of sequences, and convolutions of images of any number, height and width.
The bounds are {bounds_in_words()}.
**bounds** are the cycles of a job's stream by the [programs for all sizes within bounds](npu.md#sizes-that-change) (`--dim`), **alone** those of
a program that was compiled for these sizes and no others; **times** is the one over the other. The firmware's work for the sizes
([how much](../architecture/firmware.md#sized-jobs)) is not in them. The tests allow {MOST_AT_LARGEST} times at the largest sizes of
this table and {MOST} at its others, and at any others within the bounds, of which a nightly test draws some (`tests/baselines/random_sizes.py`).
[What the sizes take of the host](speed.md#sizes-that-change) is another matter.

"""


def text_of(sizes):
    return "x".join(map(str, sizes))


def place(key):
    """To sort by: sizes are numbers."""
    network, machine, sizes = key
    return network, machine, [int(size) for size in sizes.split("x")]


def networks(folders):
    """Path of each network by its name, of those that are known here."""
    files = {name: [folder / FOLDER / f"{name}.tosa" for folder in folders] for name in NETWORKS}
    return {name: path for name, paths in files.items() for path in paths if path.is_file()}


def cycles_of(npu, path, machine, inputs, *options):
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [npu, "run", path, "--sequence", "--input", inputs, "--config", machine, "--quiet", "--json", report.name, *options]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise SystemExit(f"baselines: {path.name} on {machine}: {result.stderr.strip()}")
        return [one["cycles"] for one in json.loads(Path(report.name).read_text())["invocations"]]


def measure(npu, path, machine):
    """A row for each choice of sizes of the table."""
    rows = run(npu, path, machine, NETWORKS[path.stem].sizes)
    for row in rows:
        check(row)
    return rows


def run(npu, path, machine, choices):
    """A row for each of the choices of sizes."""
    network = NETWORKS[path.stem]
    dims = [word for name, (least, most) in network.bounds.items() for word in ("--dim", f"{name}={least}..{most}")]
    with tempfile.TemporaryDirectory(prefix="npu-sized-") as scratch:
        for i, sizes in enumerate(choices):
            shape = network.shape(*sizes)
            count = 1
            for size in shape:
                count *= size
            Path(scratch, f"{i:05}.npy").write_bytes(npy_bytes("|i1", shape, [(37 * k + 11 * i) % 251 - 125 for k in range(count)]))
        bounds, alone = cycles_of(npu, path, machine, scratch, *dims), cycles_of(npu, path, machine, scratch)
    return [{"network": path.stem, "machine": machine, "sizes": text_of(sizes), "cycles": one, "alone": other}
            for sizes, one, other in zip(choices, bounds, alone)]


def most_of(row):
    largest = NETWORKS[row["network"]].sizes[0]
    return MOST_AT_LARGEST if row["sizes"] == text_of(largest) else MOST


def check(row):
    times = row["cycles"] / row["alone"]
    if times > most_of(row):
        raise SystemExit(f"baselines: {row['network']} on {row['machine']} at {row['sizes']} takes {row['cycles']:,} cycles by a program for bounds, "
                         f"{times:.3f} times the {row['alone']:,} of one for these sizes alone: more than {most_of(row)}. What changed may be missing in "
                         "driver/compiler/schedule/sizes.cpp, or the estimate that decides about programs of their own be wrong")


def recorded():
    if not FILE.exists():
        return {}
    with FILE.open(newline="") as file:
        return {tuple(row[key] for key in KEYS): {**row, **{figure: int(row[figure]) for figure in FIGURES}} for row in csv.DictReader(file)}


def moved(before, after, measured):
    """Lines of a table, as of baselines.py: what is not as it was, of the networks that were measured."""
    lines = []
    for key in sorted({key for key in before if key[0] in measured} | set(after), key=place):
        old, new = before.get(key), after.get(key)
        for figure in FIGURES:
            was, now = (old[figure] if old else "-"), (new[figure] if new else "-")
            if was != now:
                lines.append(f"{key[0]:<24} {key[1]:<8} {f'{figure} at {key[2]}':<25} {was:>14} {now:>14}")
    return lines


def write(rows):
    part = FILE.with_suffix(".part")
    with part.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*KEYS, *FIGURES, "times"])
        for key in sorted(rows, key=place):
            row = rows[key]
            table.writerow([*key, *(row[figure] for figure in FIGURES), f"{row['cycles'] / row['alone']:.3f}"])
    part.replace(FILE)


def section(rows):
    """The page's text."""
    lines = ["| network | sizes |" + "".join(f" {machine}: bounds | alone | times |" for machine in MACHINES), f"|{'---|' * (2 + 3 * len(MACHINES))}"]
    for name, network in NETWORKS.items():
        for sizes in network.sizes:
            found = [rows.get((name, machine, text_of(sizes))) for machine in MACHINES]
            cells = [f" {row['cycles']:,} | {row['alone']:,} | {row['cycles'] / row['alone']:.2f} |" if row else " - | - | - |" for row in found]
            if any(found):
                lines.append(f"| {name} | {text_of(sizes)} |" + "".join(cells))
    return HEAD + "\n".join(lines) + "\n"
