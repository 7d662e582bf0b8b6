#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sample networks on every machine: each element of each output is the reference's, timed and functional. Usage: sample_networks_test.py NPU
MAKE_NETWORKS."""

import subprocess
import sys
import tempfile
from pathlib import Path

from baselines import presets


def main():
    npu, maker = sys.argv[1:]
    runs = 0
    with tempfile.TemporaryDirectory(prefix="npu-samples-") as folder:
        subprocess.run([maker, folder], check=True)
        for path in sorted(Path(folder).glob("*.tosa")):
            for machine in presets(npu):
                for mode in ("timed", "functional"):
                    # A decoder takes its state to the second invocation.
                    command = [npu, "run", path, "--config", machine, "--mode", mode, "--random-inputs", "3", "--invocations", "2", "--check", "reference",
                               "--quiet"]
                    result = subprocess.run(command, capture_output=True, text=True, check=False)
                    checked = [line for line in result.stdout.splitlines() if line.startswith("check ")]
                    print(f"{path.stem} on {machine}, {mode}: {checked[0] if checked else result.stderr.strip()}")
                    if result.returncode != 0 or not checked:
                        return 1
                    runs += 1
    print(f"{runs} runs")
    return 0 if runs else 1


if __name__ == "__main__":
    sys.exit(main())
