#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `npu run --faults` makes go wrong, kind by kind: usage faults_test.py NPU MAKE_NETWORKS."""

import json
import re

import harness
from harness import NpuTest, read_npy


class FaultsTest(NpuTest):
    """Runs five invocations of a network that remembers a sum of frames."""

    def network(self, *options):
        return ["run", self.dir / "running_sum.tosa", "--input", self.dir / "frames.npy", "--sequence", *options]

    def faulty(self, faults, *options):
        return [*self.network(*options), "--faults", faults]

    def outputs(self, *options):
        self.good(*self.network("--outputs", self.dir / "out", *options))
        return read_npy(self.dir / "out/y.npy")[2]

    def device_cycles(self, *options):
        path = self.dir / "report.json"
        self.good(*self.network("--json", path, *options))
        return 5 * json.loads(path.read_text())["firmware"]["device_cycles"]  # it is an average

    def variable(self):
        text = self.good(*self.network()).out
        return int(re.search(r"sum/state INT8\[1, 4\], 4 bytes at (0x[0-9a-f]+)", text).group(1), 16)


class Strikes(FaultsTest):
    def test_a_hang_is_a_timeout_that_names_the_command(self):
        for mode in ("timed", "functional"):
            self.bad(5, "fault_timeout", "vpu", *self.faulty("hang vpu@0@job3", "--mode", mode))

    def test_a_single_wrong_bit_is_put_right_and_two_are_a_fault(self):
        offset = self.variable()
        clean = self.outputs()
        self.assertEqual(self.outputs("--faults", f"flip {offset:#x}.3@job2", "--check", "reference"), clean)
        self.assertEqual(self.outputs("--faults", f"flip {offset}.70"), clean)
        self.bad(5, "fault_ecc", "sum/state",
                 *self.faulty(f"flip {offset:#x}.3@job2; flip {offset:#x}.9@job2"))

    def test_lost_interrupts_cost_time_and_no_bit(self):
        clean = self.device_cycles()
        self.assertGreater(self.device_cycles("--faults", "drop-irq 1@job2"), clean + 90_000)
        self.assertGreater(self.device_cycles("--faults", "drop-irq 2@job2; drop-irq 1@job4"), clean + 290_000)
        self.assertEqual(self.outputs("--faults", "drop-irq 3", "--check", "reference"), self.outputs())

    def test_power_that_breaks_down_is_a_fault(self):
        self.bad(5, "fault_power", "", *self.faulty("brown-out 2"))
        self.bad(5, "fault_power", "", *self.faulty("brown-out 2@job5"))

    def test_a_burst_that_fails_is_a_fault_of_its_command(self):
        for mode in ("timed", "functional"):
            self.bad(5, "fault_bus", "command", *self.faulty("bus-error 3@job2", "--mode", mode))
        self.bad(5, "fault_bus", "", *self.faulty("bus-error 1@job5", "--bypass-firmware"))

    def test_the_report_says_what_was_asked_for(self):
        path = self.dir / "injected.json"
        text = self.good(*self.faulty("drop-irq 1; flip 0x0.3@job2", "--json", path)).out
        self.assertIn("injected  drop-irq 1\ninjected  flip 0x0.3@job2\n", text)
        self.assertEqual(json.loads(path.read_text())["run"]["injected_faults"], ["drop-irq 1", "flip 0x0.3@job2"])

    def test_what_has_not_struck_is_told(self):
        result = self.good(*self.faulty("brown-out 1000; hang mxu@7; bus-error 99999"))
        for hook in ("brown-out", "hang", "bus-error"):
            self.assertIn(f"npu: note: --faults: {hook} has not struck", result.err)
        self.assertNotIn("note", self.good(*self.faulty("drop-irq 1")).err)


class Refused(FaultsTest):
    def test_every_error_names_the_clause_and_shows_an_example(self):
        for clause, fragment, example in [
            ("", "none of hang, flip, drop-irq, brown-out and bus-error", "hang mxu@40"),
            ("hnag mxu@40", "none of hang, flip", "hang mxu@40"),
            ("hang", "does not say what", "hang mxu@40"),
            ("hang mxu", "QUEUE@COMMAND", "hang mxu@40"),
            ("hang dma@4", "names queue 'dma'", "hang mxu@40"),
            ("hang mxu@-4", "'-4' for the command's index", "hang mxu@40"),
            ("hang mxu@4 5", "'4 5' for the command's index", "hang mxu@40"),
            ("hang dma7@4", "a DMA channel that this machine has not", "hang dma0@40"),
            ("flip 0x800", "OFFSET.BIT", "flip 0x800.3@job7"),
            ("flip 0x801.3", "multiples of 8", "flip 0x800.3"),
            ("flip 0x800.72", "check bits 64 to 71", "flip 0x800.3"),
            ("flip 0x7ffffff8.3", "beyond the persistent SRAM", "flip 0x800.3"),
            ("drop-irq 0", "asks for 0", "drop-irq 2"),
            ("drop-irq 2@job0", "the first job is job 1", "drop-irq 2"),
            ("drop-irq 2@jobs", "'s' for the job's number", "drop-irq 2"),
            ("bus-error 0", "asks for 0", "bus-error 7"),
            ("brown-out 99999999999", "no number below 2^32", "brown-out 100@job2"),
        ]:
            for text in (clause, f"drop-irq 1; {clause}"):
                result = self.bad(64, "bad_option", fragment, *self.faulty(text))
                self.assertIn(f"fault '{clause}' ", result.err)
                self.assertIn(f"; for example: {example}", result.err)

    def test_a_job_has_one_hook_of_a_kind(self):
        result = self.bad(64, "bad_option", "give them different jobs", *self.faulty("hang mxu@1; hang vpu@2@job1"))
        self.assertIn("; for example: hang mxu@40@job2", result.err)
        self.good(*self.faulty("hang mxu@1; hang mxu@2@job2"))

    def test_a_job_that_never_comes(self):
        self.bad(64, "bad_option", "is for job 6, but this run has 5", *self.faulty("drop-irq 1@job6"))

    def test_what_a_device_without_control_cpu_has_not(self):
        self.bad(64, "bad_option", "control CPU", *self.faulty("drop-irq 1", "--bypass-firmware"))
        self.bad(5, "fault_power", "", *self.faulty("brown-out 2@job2", "--bypass-firmware"))


if __name__ == "__main__":
    harness.main()
