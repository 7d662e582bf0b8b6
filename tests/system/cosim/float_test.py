#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of floating point in lockstep of model and RTL: float_test.py NPU MAKER ZOO. NPU is one with the RTL of the
machines in tests/block."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import harness
from harness import NpuTest

ZOO = None
MACHINES = [Path(__file__).resolve().parents[2] / "block" / f"{name}.yaml" for name in ("floats", "floats_at_once")]


class Floats(NpuTest):
    def report(self, *arguments):
        path = self.dir / "report.json"
        self.good("run", *arguments, "--json", path)
        return json.loads(path.read_text())

    def lockstep(self, name, *data):
        """Bits and cycles of every tile are the model's, and so is the result as a whole."""
        for machine in MACHINES:
            data = data or ("--input", ZOO / name / "input0.npy")
            file = [ZOO / name / f"{name}.tosa", *data, "--config", machine]
            report, model = self.report(*file, "--lockstep", "--check", "reference"), self.report(*file)
            for engine in report["engines"]:
                tiles = engine["tiles"]
                exact = {"tiles": tiles, "exact": tiles, "mean_absolute": 0.0, "worst": 0, "same_requests": tiles}
                self.assertEqual((engine["back_end"], engine["rtl_tiles"]), ("lockstep", tiles))
                self.assertEqual(engine["elements_compared"] > 0, tiles > 0)
                self.assertEqual(engine["cycle_differences"], exact if tiles > 0 else None)
            self.assertEqual(report["layers"], model["layers"])
            mxu, vpu = report["engines"]
            self.assertGreater(mxu["tiles"] + vpu["tiles"], 10)
            print(f"{name} on {machine.stem}: {mxu['tiles']} tiles of the MXU, {vpu['tiles']} of the VPU in lockstep, "
                  f"{mxu['elements_compared'] + vpu['elements_compared']} elements")

    def test_fp32(self):
        self.lockstep("small_cnn_fp32")

    def test_fp16(self):
        self.lockstep("small_cnn_fp16")

    def test_transformer(self):
        self.lockstep("transformer_gelu_fp32")

    def test_loop(self):
        self.lockstep("while_fp32_iso")

    def test_state(self):
        self.lockstep("lstm_step_fp32", "--input", ZOO / "lstm_step_fp32/frames.npy", "--sequence")


if __name__ == "__main__":
    ZOO = Path(sys.argv.pop(3))
    harness.main()
