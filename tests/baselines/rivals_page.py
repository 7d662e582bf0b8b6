# SPDX-License-Identifier: Apache-2.0
"""The text of docs/reference/rivals.md: tables of figures, and why they differ."""

import performance
import rival_tools
import yaml

MACHINE = "edge"
DATAFLOWS = {"ws": "weight stationary", "os": "output stationary"}

TEXT = """# Beside other accelerators

What the tools of two other accelerators say of networks and layers that edge runs, too. One command runs all of them and writes this page:

    sim/setup.sh rivals
    tests/baselines/rivals.py --npu build/release/npu build/release/networks [FOLDER...]

With `--ours`, and after `baselines.py --update`, the tools' figures stay (`tests/baselines/rivals.json`) and only edge's are taken anew. Nothing here is
a measurement of a chip, and the three tools count different things: read the differences below the tables.

## Ethos-U65, by Vela {vela_version}

Vela is Arm's compiler for Ethos-U; it estimates the cycles of what it compiled. It reads the same `.tosa` files. Its system is the nearest to
edge in the file that it brings: Client-Server at 1 GHz, with DRAM of 12 bytes a cycle (edge: {dram}) and the memory mode Dedicated_Sram, here
with {arena} bytes on the chip as edge has. The accelerators have 512 and 256 MACs a cycle, edge {macs}.

- **used**: MACs of the network over those of the array in these cycles.
- **over edge's**: the ratio of the cycles; **at as many MACs a cycle**: the ratio of the shares that are used, below 1 where the other array has
  more work.

{vela}

What the larger one's cycles are made of, and what Vela made of the network:

{parts}

Vela compiles no `.tosa` file of which a part would have to run on a host. These need a `.tflite` file, of which a host can run that part: put
NAME.tflite beside NAME.tosa, and the command takes it.

{refused}

Why the figures differ:

- **What is counted.** Vela's cycles are, in its own words, internal compiler estimates, and a compiled network's performance is to be had on a model
  or an FPGA. They are made of the three parts above. Its summary has nothing for fetching commands, for waiting for the results of other
  operators, or for a DRAM that opens rows and refreshes. The cycles of edge are those of a simulation with all of that;
  [Performance](performance.md) shows how many they are.
- **Memory on the chip.** The one of Vela's system moves 16 bytes a cycle, the scratchpad of edge {scratchpad}. Its traffic takes {resnet_sram} cycles in
  resnet50_int8.
- **Tensors between operators.** Quantised additions are INT32 chains of RESCALE and ADD in a `.tosa` file. On edge the output stage of the
  convolution in front makes such a chain, or one layer does. Vela has {resnet_operators} operators left of resnet50_int8, and moves {resnet_bytes}
  bytes of DRAM, edge {our_bytes}. A `.tflite` file has one operator for such an addition, which is the form that Vela is made for.
- **Small layers.** Streaming networks compute one pixel a step. Edge waits for their weights from DRAM; Vela's MAC engine takes more cycles for them
  than its DRAM.

## A systolic array, by SCALE-Sim {scalesim_version}

SCALE-Sim simulates a systolic array cycle by cycle, one layer at a time. Here it has edge's sizes, {depth} products deep and {columns} columns wide, and
operands that come in time. So its cycles compare with the busy cycles of edge's MXU; the whole layer, with DRAM and commands, is the column
behind it. The layers are those of {layers_of}.

{scalesim}

Why the figures differ:

- **Weight stationary**, as edge is: SCALE-Sim loads the weights of a fold, streams the pixels and lets the array run empty before the next fold. A
  layer takes folds x ({depth} to load + pixels + {fill} to fill and drain) cycles, less one. The MXU of edge loads the weights of the next step into
  shadow registers meanwhile, and fills and drains once a tile. The fewer pixels there are, the more that saves.
- **Output stationary**: folds of {depth} pixels and {columns} channels, each as many cycles as the reduction is long and the same {fill}. Long
  reductions hide them, short ones do not.
- **Few channels**: a step of the reduction takes {depth} products. Both pack the window of few channels densely, and neither fills columns that have no
  output channel.
- The MXU's cycles contain the drain of its output stage (bias, scaling, clamp) and waiting for memory banks, which SCALE-Sim's do not.
"""


def machine():
    """The sizes of the preset, with the MACs of its array and the bytes that its DRAM moves in a cycle."""
    keys = yaml.safe_load((performance.PRESETS / f"{MACHINE}.yaml").read_text(encoding="utf-8"))
    return {**keys, "macs": keys["mxu_cols"] * keys["mxu_depth"], "dram_bytes": performance.Machine(MACHINE).dram}


def used(macs, cycles, peak):
    return f"{100 * macs / (cycles * peak):.1f} %"


def table(titles, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [titles, ["---"] * len(titles), *rows])


def compiled(figures):
    """Name and results of the networks that Vela compiled for all accelerators."""
    return [(name, results) for name, results in figures["vela"].items() if not any("refused" in result for result in results.values())]


def vela_table(figures, ours, edge):
    titles, rows = ["network", "MACs", MACHINE, "used"], []
    for accelerator in rival_tools.VELA_MACS:
        titles += [accelerator, "used", f"over {MACHINE}'s", "at as many MACs a cycle"]
    for name, results in compiled(figures):
        cycles, macs = int(ours[name]["cycles"]), int(ours[name]["macs"])
        cells = [name, f"{macs:,}", f"{cycles:,}", used(macs, cycles, edge["macs"])]
        for accelerator, peak in rival_tools.VELA_MACS.items():
            theirs = results[accelerator]["cycles"]
            cells += [f"{theirs:,}", used(macs, theirs, peak), f"{theirs / cycles:.2f}", f"{theirs * peak / (cycles * edge['macs']):.2f}"]
        rows.append(cells)
    return table(titles, rows)


def parts_table(figures):
    accelerator = next(iter(rival_tools.VELA_MACS))
    keys = ["cycles", "npu", "sram", "dram", "operators", "dram_bytes"]
    titles = ["network", accelerator, "its MAC engine", "its memory on the chip", "its DRAM", "operators", "DRAM bytes"]
    return table(titles, [[name, *(f"{results[accelerator][key]:,}" for key in keys)] for name, results in compiled(figures)])


def refused_table(figures):
    rows = []
    for name, results in figures["vela"].items():
        reasons = sorted({result["refused"] for result in results.values() if "refused" in result})
        if reasons:
            rows.append([name, "; ".join(reasons)])
    return table(["network", "Vela says"], rows)


def folded(dataflow, layer, edge):
    """The cycles that the page's text explains."""
    depth, columns = edge["mxu_depth"], edge["mxu_cols"]
    pixels, channels = layer["output_shape"][1] * layer["output_shape"][2], layer["output_shape"][3]
    reduction = layer["kernel"][0] * layer["kernel"][1] * layer["input_shape"][3]
    fill = depth + columns - 2
    if dataflow == "ws":
        return -(-reduction // depth) * -(-channels // columns) * (depth + pixels + fill) - 1
    return -(-pixels // depth) * -(-channels // columns) * (reduction + fill) - 1


def scalesim_table(figures, layers, edge):
    titles, rows = ["layer", "input", "output", "MACs", f"MXU of {MACHINE}", "used", "whole layer"], []
    for words in DATAFLOWS.values():
        titles += [f"SCALE-Sim, {words}", "used", "over the MXU's"]
    for name, layer in layers.items():
        shapes = ["x".join(map(str, layer[key][1:])) for key in ("input_shape", "output_shape")]
        cells = [name, *shapes, f"{layer['macs']:,}", f"{layer['mxu']:,}", used(layer["macs"], layer["mxu"], edge["macs"]), f"{layer['cycles']:,}"]
        for dataflow in DATAFLOWS:
            cycles = figures["scalesim"][dataflow][name]
            if cycles != folded(dataflow, layer, edge):
                raise SystemExit(f"rivals: SCALE-Sim takes {cycles:,} cycles for {name} ({dataflow}), but the page explains {folded(dataflow, layer, edge):,}")
            cells += [f"{cycles:,}", used(layer["macs"], cycles, edge["macs"]), f"{cycles / layer['mxu']:.2f}"]
        rows.append(cells)
    return table(titles, rows)


def page(figures, layers, layers_of):
    """figures: rivals.json; layers: those of the network layers_of, as edge ran them."""
    edge = machine()
    ours = {row["network"]: row for row in performance.rows_of(performance.FILE) if row["machine"] == MACHINE}
    texts = {"vela": vela_table(figures, ours, edge), "parts": parts_table(figures), "refused": refused_table(figures),
             "scalesim": scalesim_table(figures, layers, edge), "vela_version": figures["tools"]["ethos-u-vela"],
             "scalesim_version": figures["tools"]["scalesim"], "macs": f"{edge['macs']:,}", "dram": f"{float(edge['dram_bytes']):g}",
             "arena": f"{edge['spm_bytes']:,}", "scratchpad": f"{edge['spm_banks'] * edge['spm_bank_bytes']:,}", "layers_of": layers_of,
             "depth": str(edge["mxu_depth"]), "columns": str(edge["mxu_cols"]), "fill": str(edge["mxu_depth"] + edge["mxu_cols"] - 2)}
    resnet = figures["vela"]["resnet50_int8"][next(iter(rival_tools.VELA_MACS))]
    texts.update(resnet_operators=f"{resnet['operators']:,}", resnet_sram=f"{resnet['sram']:,}", resnet_bytes=f"{resnet['dram_bytes']:,}")
    texts["our_bytes"] = f"{int(ours['resnet50_int8']['dram_read']) + int(ours['resnet50_int8']['dram_written']):,}"
    text = TEXT
    for key, value in texts.items():
        text = text.replace("{" + key + "}", value)
    return text
