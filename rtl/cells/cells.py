#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the arithmetic of the RTL costs: generic cells of yosys' `synth`, part by part, and what a machine has of them.

    rtl/cells/cells.py [--markdown FILE | --page FILE]

Prints the page as Markdown, or writes it to FILE. --page FILE: exit status 1 when FILE is not what --markdown writes.
Exit status 77: yosys is not installed (sim/setup.sh formal).

Examples:
    rtl/cells/cells.py --markdown docs/reference/rtl-cells.md
"""
import argparse
import concurrent.futures
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORD = "input logic [31:0]"
FLOAT_PACKAGE = ROOT / "rtl/blocks/float/npu_float_pkg.sv"
FLOAT_LANE = ROOT / "rtl/blocks/float/npu_float_lane.sv"
RESCALE_LANE = ROOT / "rtl/blocks/rescale/npu_rescale_lane.sv"


class Trouble(Exception):
    pass


class Part:
    """What is counted: a module of a file, or statements that make `y` of ports."""

    def __init__(self, name, statements="", ports="", file=None, parameters=""):
        self.name = name
        self.top = file.stem if file else "part"
        self.file = file
        self.parameters = parameters
        self.wrapper = "" if file else f"module part({ports}, output logic [31:0] y); {statements} endmodule\n"


def function(name, call, ports):
    return Part(name, f"assign y = npu_float_pkg::{call};", ports)


def product(name, width, exact):
    call = f"product(npu_float_pkg::width_of(npu_contract_pkg::Element{width}), 1'b{exact}, a, b)"
    return function(name, call, f"{WORD} a, {WORD} b")


ONE, TWO = f"{WORD} a", f"{WORD} a, {WORD} b"
TYPED = "input npu_contract_pkg::element_e t, " + ONE
CHOICE = "input logic larger, input logic ignore_nan, " + TWO
PARTS = {
    "integer": Part("product of two bytes with its zero points taken off, and its register",
                    "logic signed [17:0] q; always_ff @(posedge clk) q <= 18'(a) * 18'(b); assign y = 32'(q);",
                    "input logic clk, input logic signed [8:0] a, input logic signed [8:0] b"),
    "f8": product("product of f8e4m3 or f8e5m2", "F8e4m3", 1),
    "f16": product("product of f16", "F16", 1),
    "bf16": product("product of bf16", "Bf16", 0),
    "both": product("product of f16 or bf16", "F16", 0),
    "f32": product("product of f32", "F32", 0),
    "add": function("sum of f32 (`add`)", "add(a, b)", TWO),
    "better": function("the larger or the smaller one (`better`)", "better(larger, ignore_nan, a, b)", CHOICE),
    "node": Part("node of the tree of `reduce`: sum, or the larger or the smaller one",
                 "assign y = sums ? npu_float_pkg::add(a, b) : npu_float_pkg::better(larger, ignore_nan, a, b);",
                 "input logic sums, " + CHOICE),
    "order": function("integer of the same order (`order`)", "order(ignore_nan, a)", "input logic ignore_nan, " + ONE),
    "widen": function("any format to f32 (`widen`)", "widen(t, a)", TYPED),
    "narrow": function("f32 to any format (`narrow`)", "narrow(t, a)", TYPED),
    "lane": Part("`npu_float_lane`: the micro-operations of a lane of the VPU", file=FLOAT_LANE),
    "rescale": Part("`npu_rescale_lane`: the output stage of a column of the MXU", file=RESCALE_LANE),
    "rescale_float": Part("`npu_rescale_lane` with floating point", file=RESCALE_LANE, parameters="-set Float 1"),
}


def contract(folder):
    """Of the contract's package what yosys can read: the codes, not the structures with arrays behind them."""
    text = (ROOT / "hw/contract/gen/npu_contract_pkg.sv").read_text()
    file = folder / "npu_contract_pkg.sv"
    file.write_text(text[:text.index("  typedef struct packed")] + "endpackage\n")
    return file


def count(key, package, folder):
    part = PARTS[key]
    wrapper, report = folder / f"{key}.sv", folder / f"{key}.txt"
    wrapper.write_text(part.wrapper)
    chosen = f"chparam {part.parameters} {part.top};" if part.parameters else ""
    script = (f"read_verilog -sv {package} {FLOAT_PACKAGE} {part.file or wrapper}; {chosen} synth -top {part.top} -flatten; "
              f"tee -o {report} stat")
    run = subprocess.run(["yosys", "-q", "-p", script], cwd=ROOT, capture_output=True, text=True, check=False)
    found = re.search(r"Number of cells:\s+(\d+)", report.read_text()) if report.exists() else None
    if run.returncode != 0 or not found:
        raise Trouble(f"yosys did not count '{part.name}': {run.stderr.strip() or run.stdout.strip()}")
    return int(found[1])


def count_all():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        package = contract(folder)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return dict(zip(PARTS, pool.map(lambda key: count(key, package, folder), PARTS)))


def column(sizes, cells):
    """Parts that a column has for floating point: what, how many, and their cells."""
    depth = sizes["mxu_depth"]
    lanes = {name: math.ceil(depth / sizes[key]) if sizes.get(key) else 0
             for name, key in (("f8", "mxu_fp8_cycles"), ("f16", "mxu_fp16_cycles"), ("bf16", "mxu_bf16_cycles"),
                               ("f32", "mxu_fp32_cycles"))}
    # A lane multiplies as many bits as the widest format that reaches it has (npu_mac_array_dot).
    widest = []
    for lane in range(max(lanes.values())):
        reached = {name for name, count_ in lanes.items() if lane < count_}
        widest.append("f32" if "f32" in reached else "both" if {"f16", "bf16"} <= reached else
                      "f16" if "f16" in reached else "bf16" if "bf16" in reached else "f8")
    rows = [(f"products: {PARTS[name].name.removeprefix('product of ')}", widest.count(name), cells[name])
            for name in ("f8", "f16", "bf16", "both", "f32") if name in widest]
    rows.append(("sums: those of the tree, and the accumulator's", len(widest), cells["add"]))
    rows.append(("a weight to f32", depth, cells["widen"]))
    rows.append(("the output stage's floating point", 1, cells["rescale_float"] - cells["rescale"]))
    return rows


def presets():
    """Name and sizes of each machine of the project, small ones first."""
    machines = [(file.stem, yaml.safe_load(file.read_text())) for file in ROOT.glob("hw/presets/*.yaml")]
    return sorted(machines, key=lambda machine: machine[1]["mxu_cols"] * machine[1]["mxu_depth"])


def has_floats(sizes):
    return any(sizes.get(f"mxu_{name}_cycles") for name in ("fp8", "fp16", "bf16", "fp32"))


def markdown(cells):
    lines = ["# Cells of the RTL's arithmetic", "",
             "Generated by `rtl/cells/cells.py --markdown docs/reference/rtl-cells.md`; do not edit.", "",
             "Generic cells of yosys' `synth`, each part by itself: gates and registers before any library of cells, so that they",
             "compare parts with each other and say nothing of an area.", "", "| part | cells |", "|---|--:|"]
    lines += [f"| {part.name} | {cells[key]:,} |" for key, part in PARTS.items()]
    lane = cells["lane"] + cells["widen"] + cells["narrow"] + cells["order"]
    lines += ["", "## A lane of the VPU", "",
              f"With `vpu_float` a lane has `npu_float_lane`, `widen` where it loads, `narrow` where it stores, and `order`: {lane:,} cells,",
              f"with `vpu_tree` a node more, {cells['node']:,}.", "", "## A column of the MXU", "",
              "What a column has for floating point, added up from the parts, which were not synthesised together. A lane multiplies as",
              "many bits as the widest format that reaches it has; an activation to f32 is there once for all columns."]
    for name, sizes in presets():
        if not has_floats(sizes):
            continue
        rows = column(sizes, cells)
        integers = sizes["mxu_depth"] * cells["integer"]
        total = sum(number * each for _, number, each in rows)
        lines += ["", f"`{name}`, a depth of {sizes['mxu_depth']}:", "", "| what | how many | cells each | cells |", "|---|--:|--:|--:|"]
        lines += [f"| {what} | {number} | {each:,} | {number * each:,} |" for what, number, each in rows]
        lines += [f"| all | | | {total:,} |", "", f"Beside them are {integers:,} cells of products of integers."]
    lines += ["", "## The residual's lanes", "",
              "`mxu_residual` gives each column two lanes of `npu_rescale_lane` more. For values of floating point come conversions and",
              "registers, which are not counted here.", "",
              "| machine | columns | cells | beside products of integers |", "|---|--:|--:|--:|"]
    for name, sizes in presets():
        columns, depth = sizes["mxu_cols"], sizes["mxu_depth"]
        if sizes.get("mxu_residual"):
            lines.append(f"| `{name}` | {columns} | {2 * columns * cells['rescale']:,} | {columns * depth * cells['integer']:,} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__.split("\n\n", 2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help="write the page to FILE")
    target.add_argument("--page", type=pathlib.Path, metavar="FILE", help="compare FILE with what --markdown writes")
    arguments = parser.parse_args()
    if not shutil.which("yosys"):
        print("rtl/cells: yosys is not installed (sim/setup.sh formal installs it)", file=sys.stderr)
        return 77
    try:
        page = markdown(count_all())
        old = arguments.page.read_text() if arguments.page else page
    except (Trouble, OSError) as trouble:
        print(f"rtl/cells: {trouble}", file=sys.stderr)
        return 65
    if arguments.markdown:
        temporary = arguments.markdown.with_name(arguments.markdown.name + ".tmp")
        temporary.write_text(page)
        temporary.replace(arguments.markdown)
    elif not arguments.page:
        print(page, end="")
    if old != page:
        print(f"rtl/cells: {arguments.page} is of other counts: rtl/cells/cells.py --markdown {arguments.page} writes it anew",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
