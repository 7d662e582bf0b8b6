#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Machine files as the build of RTL reads them: machine_file_test.py NPU CMAKE SCRIPT. `npu machine` reads the same."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

NPU, CMAKE, SCRIPT = "", "", ""
# Keys that may be missing, and all that there were before them.
LATER = ("vpu_registers", "vpu_table_bytes", "mxu_int16", "mxu_residual", "mxu_split", "vpu_rescale", "vpu_tree", "vpu_table_pairs", "vpu_shared_pass",
         "dma_read_ahead", "mxu_fp8_cycles", "mxu_fp16_cycles", "mxu_bf16_cycles", "mxu_fp32_cycles", "vpu_float")
BEFORE = "".join(line + "\n" for line in (Path(__file__).resolve().parents[3] / "hw/presets/nano.yaml").read_text().splitlines()
                 if not line.startswith(LATER))
# Files of one folder, by name.
FILES = {
    "plain.yaml": "# A machine.\nbase: edge   # from there\nvpu_lanes: 16\n\ndram: {latency_ns: 50}\n",
    "quoted.yaml": "base: 'plain.yaml'\nmxu_depth: 8\nmxu_dw_taps: 7\ndram:\n  name: a [b]; c # d\n",
    "narrow.yaml": "base: nano\nmxu_int16: 0\n",
    "windows.yaml": "base: nano\r\nspm_banks: 8\r\n",
    "before.yaml": BEFORE,
}
# Text of a file -> what the refusal must say.
REFUSALS = {
    "{base: nano}": "cannot read '{base: nano}'",
    "base: nano\nvpu_lane: 8": "cannot read 'vpu_lane: 8'",
    "base: nano\nvpu_lanes: eight": "cannot read 'vpu_lanes: eight'",
    "base: nano\nvpu_lanes: 24": "vpu_lanes is 24, but must be a power of two from 4 to 2048",
    "base: nano\nmxu_dw_taps: 0": "mxu_dw_taps is 0, but must be a whole number from 1 to 64",
    "base: nano\nclock_mhz: 5": "clock_mhz is 5, but must be a whole number from 10 to 4000",
    "vpu_lanes: 8": "the key 'mxu_cols' is missing (behind 'base: edge', it would be edge's)",
    "mxu_cols: 8": "the key 'mxu_depth' is missing",
    "base: nowhere": "there is no such machine file",
    "base: file.yaml": "is its own base, directly or through others",
    "base: server": "mxu_depth is 128, but in RTL it is 4 to 64",
    "base: nano\nvpu_lanes: 4": "vpu_lanes is 4, but in RTL it is 8 to 64",
    "base: nano\nmxu_dw_taps: 16": "mxu_dw_taps is 16, but in RTL it is 1 to 8",
    "base: nano\nmxu_weight_port_bytes: 8": "mxu_weight_port_bytes is 8, but in RTL it is 16 to 64",
    "base: nano\nmxu_fp32_cycles: 8": "mxu_weight_port_bytes is 16, but in RTL it is 32 to 64: a beat has at least a whole column of 32-bit weights",
    "base: nano\nmxu_cols: 128\nmxu_acc_bytes: 2048": "mxu_acc_bytes is 2048, but in RTL it is 4096 to",
    "base: nano\nmxu_split: 8": "mxu_split is 8, but in RTL it is 1 to 4",
    "base: nano\nspm_banks: 1": "spm_banks is 1, but in RTL it is 2 to",
    "base: nano\nspm_bank_bytes: 64": "spm_bank_bytes is 64, but in RTL it is 4 to 32",
    "base: nano\npsram_port_bytes: 8": "psram_port_bytes is 8, but in RTL it is 16 to 32",
}


class MachineFile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = Path(self.folder.name)

    def read(self, path):
        """Exit status and what CMake says of a file, as one line."""
        result = subprocess.run([CMAKE, f"-DMACHINE={path}", "-P", SCRIPT], capture_output=True, text=True, check=False)
        return result.returncode, result.stdout, " ".join(result.stderr.split())

    def capabilities(self, text):
        return dict(re.findall(r"^(?:-- )?(\w+): (\d+)$", text, re.MULTILINE))

    def test_files_mean_what_they_mean_to_npu(self):
        for name, text in FILES.items():
            (self.dir / name).write_bytes(text.encode())
        for machine in [self.dir / name for name in FILES] + [Path(SCRIPT).parents[1] / "hw/presets/edge.yaml"]:
            with self.subTest(machine):
                status, out, err = self.read(machine)
                self.assertEqual((status, err), (0, ""))
                npu = subprocess.run([NPU, "machine", machine], capture_output=True, text=True, check=True)
                self.assertEqual(self.capabilities(out), self.capabilities(npu.stdout))

    def test_what_cannot_be_built_is_refused_with_the_reason(self):
        path = self.dir / "file.yaml"
        for text, fragment in REFUSALS.items():
            with self.subTest(text):
                path.write_text(text + "\n")
                status, _, err = self.read(path)
                self.assertEqual(status, 1)
                self.assertIn(fragment, err)
                self.assertIn(str(self.dir), err)


if __name__ == "__main__":
    NPU, CMAKE, SCRIPT = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
