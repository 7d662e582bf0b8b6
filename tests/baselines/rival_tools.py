# SPDX-License-Identifier: Apache-2.0
"""Runs the compiler and the simulator of other accelerators: Vela, of Arm's Ethos-U, and SCALE-Sim, of a systolic array."""

import csv
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "build/rivals/bin"
TIMEOUT = 1200  # seconds

# MACs a cycle of the accelerators that Vela compiles for.
VELA_MACS = {"ethos-u65-512": 512, "ethos-u65-256": 256}
# Of the files that Vela brings: at 1 GHz, a memory on the chip of 16 bytes a cycle and DRAM of 12.
VELA_SYSTEM = ["--config", "Arm/vela.ini", "--system-config", "Ethos_U65_Client_Server", "--memory-mode", "Dedicated_Sram"]
VELA_FIGURES = {"cycles": "cycles_total", "npu": "cycles_npu", "sram": "cycles_sram_access", "dram": "cycles_dram_access", "macs": "nn_macs",
                "operators": "passes_after_fusing", "dram_bytes": "dram_total_bytes"}

SCALESIM_CONFIG = """[general]
run_name = run

[architecture_presets]
ArrayHeight : {depth}
ArrayWidth : {columns}
IfmapSramSzkB: {quarter}
FilterSramSzkB: {quarter}
OfmapSramSzkB: {half}
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Bandwidth : 16
Dataflow : {dataflow}
MemoryBanks: 1
ReadRequestBuffer: 64
WriteRequestBuffer: 64

[layout]
IfmapCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterCustomLayout: False
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2

[sparsity]
SparsitySupport : false
SparseRep : ellpack_block
OptimizedMapping : false
BlockSize : 8
RandomNumberGeneratorSeed : 40

[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
"""


def check_tools():
    missing = [name for name in ("vela", "python") if not (TOOLS / name).exists()]
    if missing:
        raise SystemExit(f"rivals: {TOOLS.relative_to(ROOT)} has no {' and no '.join(missing)}: run sim/setup.sh rivals")


def versions():
    code = "import importlib.metadata as m; print(m.version('ethos-u-vela'), m.version('scalesim'))"
    done = subprocess.run([TOOLS / "python", "-c", code], capture_output=True, text=True, check=True)
    return dict(zip(("ethos-u-vela", "scalesim"), done.stdout.split()))


def vela(network, accelerator, arena_bytes):
    """What Vela says of a .tosa or .tflite file: its figures, or {"refused": its reason}."""
    with tempfile.TemporaryDirectory(prefix="npu-vela-") as folder:
        command = [TOOLS / "vela", network, "--accelerator-config", accelerator, *VELA_SYSTEM, "--arena-cache-size", str(arena_bytes), "--output-dir", folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        summary = next(Path(folder).glob("*_summary_*.csv"), None)
        if done.returncode != 0 or summary is None:
            lines = (done.stderr + done.stdout).strip().splitlines()
            return {"refused": lines[-1].split(": ", 1)[-1] if lines else f"exit status {done.returncode}"}
        with summary.open(newline="") as file:
            row = next(csv.DictReader(file))
        return {figure: int(float(row[name])) for figure, name in VELA_FIGURES.items()}


def scalesim(layers, dataflow, machine):
    """Cycles of each layer on an array of the machine's size, with operands that come in time (CALC: its bandwidth is what they need).

    layers: by name, input_shape and output_shape (NHWC), kernel, stride; "same" padding is laid into the input."""
    half = machine["spm_bytes"] // 1024 // 2
    config = SCALESIM_CONFIG.format(depth=machine["mxu_depth"], columns=machine["mxu_cols"], half=half, quarter=half // 2, dataflow=dataflow)
    topology = "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides, Sparsity,\n"
    # The layout takes part only with custom layouts, but has to be there.
    layout = "Layer name," + "factor," * 20 + "\n"
    for name, layer in layers.items():
        (height, width), (kernel_h, kernel_w), stride = layer["output_shape"][1:3], layer["kernel"], layer["stride"][0]
        rows, columns = (height - 1) * stride + kernel_h, (width - 1) * stride + kernel_w
        topology += f"{name},{rows},{columns},{kernel_h},{kernel_w},{layer['input_shape'][3]},{layer['output_shape'][3]},{stride},1:1,\n"
        layout += f"{name}," + "1," * 20 + "\n"
    with tempfile.TemporaryDirectory(prefix="npu-scalesim-") as name:
        folder = Path(name)
        for file, text in (("config.cfg", config), ("topology.csv", topology), ("layout.csv", layout)):
            (folder / file).write_text(text)
        command = [TOOLS / "python", "-m", "scalesim.scale", "-c", "config.cfg", "-t", "topology.csv", "-l", "layout.csv", "-p", "out", "-s", "N"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        report = folder / "out/run/COMPUTE_REPORT.csv"
        if done.returncode != 0 or not report.exists():
            raise SystemExit(f"rivals: SCALE-Sim ends with status {done.returncode}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
        with report.open(newline="") as file:
            rows = [{key.strip(): value for key, value in row.items() if key} for row in csv.DictReader(file)]
    return {layer: int(float(row["Total Cycles"])) for layer, row in zip(layers, rows)}
