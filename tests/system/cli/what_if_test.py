#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether `npu what-if` keeps what it promises: usage what_if_test.py NPU MAKE_NETWORKS."""

import json

import harness
from harness import NpuTest

NETWORKS = ("many_weights", "many_passes", "residual")
PROMISES = 3  # of each network and machine that are run again


class WhatIf(NpuTest):
    def machine(self):
        """One of the user's own, whose scratchpad is at its largest: it has no step."""
        path = self.dir / "own.yaml"
        path.write_text("base: nano\nspm_bytes: 268435456\ndram:\n  t_cas_ns: 40\n")
        return path

    def what_if(self, network, config, *more):
        path = self.dir / "what-if.json"
        text = self.good("what-if", self.dir / f"{network}.tosa", "--config", config, "--json", path, *more).out
        return json.loads(path.read_text()), text

    def cycles(self, network, config):
        path = self.dir / "report.json"
        self.good("run", self.dir / f"{network}.tosa", "--config", config, "--json", path)
        return json.loads(path.read_text())["total"]["cycles_sum"]

    def changed(self, base, change):
        """The file that a user would write."""
        top = [f"{key['key']}: {key['to']}" for key in change["keys"] if not key["key"].startswith("dram.")]
        dram = [f"  {key['key'][5:]}: {key['to']}" for key in change["keys"] if key["key"].startswith("dram.")]
        path = self.dir / "changed.yaml"
        path.write_text("\n".join([f"base: {base}", *top, *(["dram:", *dram] if dram else [])]) + "\n")
        return path

    def test_promises_are_kept(self):
        for machine in ("edge", "nano", self.machine()):
            for network in NETWORKS:
                found, text = self.what_if(network, machine)
                self.assertEqual(found["cycles"], self.cycles(network, machine))
                runs = [change for change in found["changes"] if change["cycles"] is not None]
                self.assertEqual(runs, sorted(runs, key=lambda change: (change["cycles"], len(change["keys"]))))
                self.assertGreater(len(runs), 10)
                self.assertLess(runs[0]["cycles"], found["cycles"])
                for change in runs[:PROMISES]:
                    with self.subTest(network, machine=str(machine), change=change["resource"]):
                        self.assertEqual(self.cycles(network, self.changed(machine, change)), change["cycles"])
                        self.assertAlmostEqual(change["change"], change["cycles"] / found["cycles"] - 1)
                        if change["cycles"] < found["cycles"]:
                            self.assertIn(f"{change['cycles']:,}", text)

    def test_illegal_steps_are_left_out(self):
        found, _ = self.what_if("many_passes", self.machine())
        self.assertNotIn("spm_bytes", [key["key"] for change in found["changes"] for key in change["keys"]])
        found, _ = self.what_if("many_passes", "edge")
        self.assertIn("spm_bytes", [key["key"] for change in found["changes"] for key in change["keys"]])

    def test_bad_input(self):
        network = self.dir / "residual.tosa"
        self.bad(64, "bad_option", "FILE", "what-if")
        self.bad(64, "bad_option", "--best", "what-if", network, "--best", "few")
        self.bad(64, "bad_preset", "huge", "what-if", network, "--config", "huge")
        self.bad(66, "cannot_read", "none.tosa", "what-if", self.dir / "none.tosa")
        self.bad(66, "tool_failed", "none.npy", "what-if", network, "--input", self.dir / "none.npy")


if __name__ == "__main__":
    harness.main()
