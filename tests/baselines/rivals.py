#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/rivals.md: cycles of other accelerators, by their own tools, beside those of edge.

    tests/baselines/rivals.py --npu build/release/npu FOLDER...           runs the tools (sim/setup.sh rivals) on the networks of the folders
    tests/baselines/rivals.py --npu build/release/npu FOLDER... --ours    keeps the tools' figures: after edge's cycles moved
    tests/baselines/rivals.py --npu build/release/npu FOLDER... --check   fails when the page is not what --ours would write

FOLDER holds networks as for baselines.py, one of them unet_int8. Where a tool refuses NAME.tosa and NAME.tflite lies beside it, it gets that. The
tools' figures stay in rivals.json beside this script, those of networks that no folder has, too. The cycles of edge come from cycles.csv and, for
single layers, from a run.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import performance
import rival_tools
from rivals_page import DATAFLOWS, MACHINE, machine, page

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FILE = HERE / "rivals.json"
PAGE = ROOT / "docs/reference/rivals.md"
LAYERS_OF = "unet_int8"
LAYERS = ["conv2d_84", "conv2d_106", "conv2d_27"]  # many channels; few pixels more and half the columns; few channels


def networks(folders):
    """Path of each network by its name, those of cycles.csv alone."""
    known = {row["network"] for row in performance.rows_of(performance.FILE)}
    found = {}
    for folder in folders:
        for path in sorted([*folder.glob("*.tosa"), *folder.glob("*/*.tosa")]):
            if path.stem in known:
                found.setdefault(path.stem, path)
    return found


def run_layers(npu, network):
    """Shapes and cycles of the layers on edge, by their position."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [npu, "run", network, "--config", MACHINE, "--random-inputs", "1", "--quiet", "--json", report.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"rivals: {network} does not run on {MACHINE}: {done.stderr.strip()}")
        layers = {layer["position"]: layer for layer in json.loads(Path(report.name).read_text())["layers"]}
    missing = [name for name in LAYERS if name not in layers]
    if missing:
        raise SystemExit(f"rivals: {network} has no layer {', '.join(missing)}")
    shape = ["input_shape", "output_shape", "kernel", "stride"]
    return {name: {**{key: layers[name][key] for key in shape}, "macs": round(layers[name]["macs"]),
                   "cycles": int(layers[name]["cycles"]), "mxu": int(layers[name]["mxu_busy_cycles"])}
            for name in LAYERS}


def vela_of(path, accelerator, arena):
    result = rival_tools.vela(path, accelerator, arena)
    other = path.with_suffix(".tflite")
    if "refused" in result and other.exists():
        return {**rival_tools.vela(other, accelerator, arena), "file": other.name}
    return {**result, "file": path.name}


def kept(before, versions, found):
    """Vela's results for networks that no folder has. Those of another version are refused: a page has one."""
    rest = {name: results for name, results in before.get("vela", {}).items() if name not in found}
    if rest and before["tools"] != versions:
        raise SystemExit(f"rivals: the tools are {versions}, but {FILE.name} has figures of {before['tools']} for {', '.join(rest)}: name the folders "
                         "of these, too")
    return rest


def run_tools(found, layers):
    rival_tools.check_tools()
    edge, tools = machine(), rival_tools.versions()
    rest = kept(recorded() if FILE.exists() else {}, tools, found)
    vela = {}
    for name, path in found.items():
        print(f"vela: {name}", flush=True)
        vela[name] = {accelerator: vela_of(path, accelerator, edge["spm_bytes"]) for accelerator in rival_tools.VELA_MACS}
    print("scalesim", flush=True)
    vela = dict(sorted({**rest, **vela}.items()))
    return {"tools": tools, "vela": vela, "scalesim": {dataflow: rival_tools.scalesim(layers, dataflow, edge) for dataflow in DATAFLOWS}}


def recorded():
    if not FILE.exists():
        raise SystemExit(f"rivals: there is no {FILE.relative_to(ROOT)}: run this without --ours and --check")
    return json.loads(FILE.read_text(encoding="utf-8"))


def write_ours(npu, network):
    """The page with edge's cycles anew. network: the path of LAYERS_OF."""
    PAGE.write_text(page(recorded(), run_layers(npu, network), LAYERS_OF), encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--npu", type=Path, required=True)
    parser.add_argument("--ours", action="store_true", help="keep the tools' figures")
    parser.add_argument("--check", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    found = networks(options.folders)
    if LAYERS_OF not in found:
        raise SystemExit(f"rivals: no folder has {LAYERS_OF}.tosa: build and run baselines_make_networks build/release/networks")
    layers = run_layers(options.npu, found[LAYERS_OF])
    figures = recorded() if options.ours or options.check else run_tools(found, layers)
    text = page(figures, layers, LAYERS_OF)
    if options.check:
        current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text
        print("rivals: the page is current" if current else f"rivals: {PAGE.relative_to(ROOT)} is not what --ours writes: run it")
        return 0 if current else 1
    if not options.ours:
        FILE.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
