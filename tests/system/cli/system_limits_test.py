#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `npu` says when the operating system gives it no thread, no process, no memory or no temporary folder: usage
system_limits_test.py NPU MAKE_NETWORKS."""

import collections
import json
import os
import resource
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from harness import NpuTest, npy_bytes

OTHER_USER = 65534
COSIM_LIST = "presets: [nano]\nseeds: [1]\noperators: {}\n"


class Limits(NpuTest):
    """Fails with exit status 4 or 66 and one sentence."""

    def refused(self, result, *fragments):
        self.assertIn(result.returncode, (4, 66), result.stderr)
        self.assertRegex(result.stderr, r"\Anpu: error: [^\n]+ \[\w+\]\n\Z")
        for fragment in fragments:
            self.assertIn(fragment, result.stderr)

    def limited(self, limit, value, *arguments, user=None, program=None):
        def prepare():
            resource.setrlimit(limit, (value, value))
        return subprocess.run([program or Path(harness.NPU).resolve(), *map(str, arguments)], capture_output=True,
                              text=True, errors="replace", timeout=harness.TIMEOUT, check=False, preexec_fn=prepare, user=user,
                              cwd=self.dir)


class Threads(Limits):
    """Root has no limit of processes: then the program runs as another user, from a folder that this one can read."""

    def run_without_threads(self, *arguments):
        with tempfile.TemporaryDirectory(prefix="npu-limits-") as folder:
            place = Path(folder)
            program, user = harness.NPU, None
            if os.getuid() == 0:
                user = OTHER_USER
                os.chmod(place, 0o755)
                os.chmod(self.dir, 0o755)
                program = place / "npu"
                shutil.copy(harness.NPU, program)
                for module in Path(harness.NPU).parent.glob("libnpu_*.so"):
                    shutil.copy(module, place)
                try:
                    if subprocess.run([program, "--version"], user=user, check=False, stdout=subprocess.DEVNULL).returncode != 0:
                        raise unittest.SkipTest("another user cannot run the program")
                except PermissionError:
                    raise unittest.SkipTest("another user cannot run the program") from None
            return self.limited(resource.RLIMIT_NPROC, 0 if user else 1, *arguments, user=user, program=program)

    def test_run(self):
        self.refused(self.run_without_threads("run", "convolution.tosa", "--input", "x.npy"), "no thread for the simulation",
                     "ulimit -u")

    def test_conformance_goes_on_with_the_thread_that_it_has(self):
        for number in range(4):
            folder = self.dir / f"tree/case{number}"
            folder.mkdir(parents=True)
            shutil.copy(self.dir / "running_sum.tosa", folder / "test.tosa")
            (folder / "x.npy").write_bytes(npy_bytes("|i1", (1, 4), [1, -2, 3, -4]))
            (folder / "y.npy").write_bytes(npy_bytes("|i1", (1, 4), [2, 0, 6, 0]))
            (folder / "desc.json").write_text(json.dumps({
                "tosa_file": "test.tosa", "ifm_name": ["x"], "ifm_file": ["x.npy"], "ofm_name": ["y"], "ofm_file": ["y.npy"],
                "expected_failure": False, "version": "1.2",
                "meta": {"compliance": {"version": "1.2", "tensors": {"y": {"mode": "EXACT", "data_type": "INT8"}}}},
                "test_requirements": {"profiles_supported": ["tosa-pro-int"], "extensions_required": ["tosa-ext-variable"],
                                      "bounds_file_required": False},
                "test_details": {"operator": "ADD"}}))
        result = self.run_without_threads("conformance", "tree", "--jobs", "4")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("4", result.stdout)

    def test_cosim(self):
        (self.dir / "list.yaml").write_text(COSIM_LIST)
        result = self.run_without_threads("cosim", "list.yaml", "--jobs", "2")
        if result.returncode == 3:
            self.skipTest("no RTL")
        self.assertIn(result.returncode, (4, 7, 66), result.stderr)  # 7: each case is broken, and says why


class Memory(Limits):
    def statuses(self, mebibytes, *options):
        """Exit statuses by address space: each is 0, or 4 with a sentence."""
        seen = collections.Counter()
        for size in mebibytes:
            result = self.limited(resource.RLIMIT_AS, size << 20, "run", "convolution.tosa", "--input", "x.npy", *options)
            seen[result.returncode] += 1
            with self.subTest(size):
                if result.returncode != 0:
                    self.refused(result, "[")
        print(f"exit statuses {dict(seen)}")
        return seen

    def test_address_space(self):
        # Around the sum of what DRAM and instruction-set simulator take, where something else is the first to fail.
        self.assertEqual(set(self.statuses([40, 100, 1100, 1200, *range(2200, 2260, 3), 2600])), {0, 4})

    def test_address_space_without_the_simulator(self):
        self.assertEqual(set(self.statuses([*range(1090, 1180, 5), 1400], "--bypass-firmware")), {0, 4})


class TemporaryFolder(Limits):
    def test_run_needs_none(self):
        self.good("run", self.dir / "convolution.tosa", "--input", self.dir / "x.npy", env={"TMPDIR": "/nonexistent"})

    def test_import(self):
        tflite = self.dir / "net.tflite"
        tflite.write_bytes(b"\x1c\0\0\0TFL3" + bytes(64))
        mlir = self.dir / "net.mlir"
        mlir.write_text("func.func @main(%arg0: tensor<1xi8>) -> tensor<1xi8> { return %arg0 : tensor<1xi8> }\n")
        for file in (tflite, mlir):
            for folder in ("/nonexistent", "/proc", str(self.dir / "x.npy")):
                result = harness.run("import", file, "--output", self.dir / "out.tosa", env={"TMPDIR": folder})
                self.assertIn(result.returncode, (2, 4, 66), result.err)  # 2: the file is looked at first

    def test_cosim(self):
        path = self.dir / "list.yaml"
        path.write_text(COSIM_LIST)
        result = harness.run("cosim", path, env={"TMPDIR": "/nonexistent"})
        if result.returncode == 3:
            self.skipTest("no RTL")
        self.assertEqual(result.returncode, 66, result.err)
        self.assertIn("set TMPDIR", result.err)


if __name__ == "__main__":
    harness.main()
