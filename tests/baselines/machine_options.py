# SPDX-License-Identifier: Apache-2.0
"""What each option of a machine gives: options.csv beside this file, and its table of docs/reference/performance.md.

baselines.py measures, compares and writes them with its own rows."""

import csv
import tempfile
from pathlib import Path

FILE = Path(__file__).resolve().parent / "options.csv"
BASE = "edge"
NETWORKS = ["resnet50_int8", "mobilenet_v2_int8", "resnet8_int8", "ds_cnn_int8", "transformer_relu_int8"]
# Keys of the machine's file, and the value that leaves the option out.
WITHOUT = {"mxu_residual": 0, "mxu_split": 1, "vpu_rescale": 0, "vpu_tree": 0, "vpu_table_pairs": 0, "vpu_shared_pass": 0, "dma_read_ahead": 0,
           "refreshes_postponed": 0, "refresh_by_bank": 0}
# Those of the DRAM, and keys that fit the machine without them.
OF_DRAM = {"refreshes_postponed": "", "refresh_by_bank": ", t_rfc_ns: 280"}

HEAD = f"""## What the options give

Cycles of networks on `{BASE}`, and what is added when one [option of the machine's file](../../hw/presets/README.md) is left out, with the others as they
are: without `refresh_by_bank` a refresh of all banks takes 280 ns, and without `refreshes_postponed` streams meet refreshes that come bank by bank.
[What they cost](../../rtl/README.md#what-options-cost) in cells is another matter.

"""


def work(found):
    """What is to be measured, of the networks that were found: pairs of a network and an option."""
    return [(name, option) for name in NETWORKS if name in found for option in WITHOUT]


def text_of(option):
    line = f"{option}: {WITHOUT[option]}"
    return f"base: {BASE}\n" + (f"dram: {{{line}{OF_DRAM[option]}}}\n" if option in OF_DRAM else f"{line}\n")


def measure(option, report):
    """Cycles without the option. `report` runs the network on a machine's file, and gives the JSON."""
    with tempfile.TemporaryDirectory(prefix="npu-options-") as folder:
        file = Path(folder) / f"{option}.yaml"
        file.write_text(text_of(option), encoding="utf-8")
        data = report(file)
    if data is None:
        raise SystemExit(f"baselines: a machine without {option} cannot run all of {', '.join(NETWORKS)}")
    return int(data["total"]["cycles_sum"])


def recorded():
    if not FILE.exists():
        return {}
    with FILE.open(newline="") as file:
        return {(row["network"], row["without"]): int(row["cycles"]) for row in csv.DictReader(file)}


def moved(before, after, measured):
    """Lines of a table, as of baselines.py: what is not as it was, of the networks that were measured."""
    keys = sorted({key for key in before if key[0] in measured} | set(after))
    return [f"{name:<24} {BASE:<8} {'without ' + option:<25} {before.get((name, option), '-'):>14} {after.get((name, option), '-'):>14}"
            for name, option in keys if before.get((name, option)) != after.get((name, option))]


def write(rows):
    part = FILE.with_suffix(".part")
    with part.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["network", "without", "cycles"])
        table.writerows([*key, rows[key]] for key in sorted(rows))
    part.replace(FILE)


def section(rows, cycles):
    """`cycles`: those of a network and a machine with all of its options."""
    names = [name for name in NETWORKS if (name, BASE) in cycles and all((name, option) in rows for option in WITHOUT)]
    lines = ["| network | cycles | " + " | ".join(f"`{option}`" for option in WITHOUT) + " |", f"|{'---|' * (len(WITHOUT) + 2)}"]
    for name in names:
        whole = cycles[name, BASE]
        more = [f"{100 * (rows[name, option] / whole - 1):+.1f} %".replace("-0.0", "+0.0") for option in WITHOUT]
        lines.append(f"| {name} | {whole:,} | " + " | ".join(more) + " |")
    return HEAD + "\n".join(lines) + "\n"
