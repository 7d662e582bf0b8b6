#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`npu` builds the module with the RTL where the one that it finds does not fit.

usage: module_test.py NPU MAKER MODULE CC. MODULE is libnpu_rtl.so of the same sources. The test's folder looks like a build
folder: npu, a module of other sources, and a cache that names a build tool of the test's own."""

import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import harness
from harness import NpuTest

MODULE, CC = "", ""
BUILDING, WAITING = "npu: building the RTL with Verilator, once", "npu: waiting for another process that builds the RTL"


class Module(NpuTest):
    def setUp(self):
        self.build = self.dir / self.id().rsplit(".", maxsplit=1)[-1]
        self.build.mkdir()
        self.npu = self.build / "npu"
        shutil.copy(harness.NPU, self.npu)
        self.put('const char* npu_rtl_source_version(void) { return "other"; }')

    def put(self, text):
        """A module of other sources."""
        source = self.build / "other.c"
        source.write_text(text + "\n")
        subprocess.run([CC, "-shared", "-fPIC", source, "-o", self.build / "libnpu_rtl.so"], check=True)

    def cache(self, script, with_rtl="ON"):
        """A build folder whose build tool runs `script`, and notes that it ran."""
        tool = self.build / "cmake"
        tool.write_text(f"#!/bin/sh\ncd '{self.build}'\necho \"$*\" >>calls\n{script}\n")
        tool.chmod(0o755)
        (self.build / "CMakeCache.txt").write_text(f"CMAKE_COMMAND:INTERNAL={tool}\nNPU_WITH_RTL:BOOL={with_rtl}\n")

    def calls(self):
        file = self.build / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def start(self):
        return subprocess.Popen(
            [self.npu, "run", self.dir / "two_layers.tosa", "--input", self.dir / "x.npy", "--config", "nano", "--lockstep", "--quiet"],
            env={"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(self.build)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)

    def ended(self, process):
        err = process.communicate(timeout=harness.TIMEOUT)[1]
        return process.returncode, err

    def test_a_module_of_the_first_version_is_built_anew(self):
        self.put("unsigned npu_rtl_version(void) { return 1; }")
        self.cache(f"ln -sf '{MODULE}' libnpu_rtl.so")
        status, err = self.ended(self.start())
        self.assertEqual(status, 0, err)
        self.assertIn(BUILDING, err)

    def test_a_module_of_other_sources_is_built_anew(self):
        self.cache(f"ln -sf '{MODULE}' libnpu_rtl.so")
        status, err = self.ended(self.start())
        self.assertEqual(status, 0, err)
        self.assertIn(BUILDING, err)
        self.assertEqual(self.calls(), [f"--build {self.build} --target npu_rtl_module"])
        status, err = self.ended(self.start())
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(len(self.calls()), 1)

    def test_two_processes_build_once(self):
        self.cache(f"sleep 2; ln -sf '{MODULE}' libnpu_rtl.so")
        results = [self.ended(process) for process in [self.start(), self.start()]]
        self.assertEqual([status for status, _ in results], [0, 0], results)
        said = "".join(err for _, err in results)
        self.assertEqual((said.count(BUILDING), said.count(WAITING)), (1, 1), said)
        self.assertEqual(len(self.calls()), 1)

    def test_a_build_that_fails(self):
        self.cache("echo no Verilator here; exit 9")
        status, err = self.ended(self.start())
        self.assertEqual(status, 3, err)
        self.assertIn("\nno Verilator here\n", err)
        self.assertIn("the RTL could not be built: ", err)
        self.assertIn("ended with status 9, ", err)

    def test_a_build_that_does_not_help(self):
        self.cache("true")
        status, err = self.ended(self.start())
        self.assertEqual(status, 66, err)
        self.assertIn("it was built from other sources (version other) than this program", err)

    def test_elsewhere_nothing_is_built(self):
        for with_rtl in (None, "OFF"):
            if with_rtl:
                self.cache("true", with_rtl)
            status, err = self.ended(self.start())
            self.assertEqual(status, 66, err)
            self.assertIn("it was built from other sources (version other) than this program", err)
            self.assertEqual(len(err.strip().split("\n")), 1, err)
        self.assertEqual(self.calls(), [])


if __name__ == "__main__":
    MODULE, CC = sys.argv[3], sys.argv[4]
    del sys.argv[3:5]
    harness.main()
