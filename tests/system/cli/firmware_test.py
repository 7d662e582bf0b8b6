#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `npu run` shows of the firmware, and what it does with images that are none: usage firmware_test.py NPU MAKE_NETWORKS IMAGE."""

import json
import re
import shutil
import socket
import struct
import subprocess
import sys
import unittest
from pathlib import Path

import harness
from firmware_image import HEADER, fnv1a, sealed
from harness import NpuTest

IMAGE = Path()


class FirmwareTest(NpuTest):
    """Runs a small network."""

    def network(self):
        return ["run", self.dir / "convolution.tosa", "--input", self.dir / "x.npy"]

    def json_of(self, *options):
        path = self.dir / "report.json"
        self.good(*self.network(), "--json", path, *options)
        return json.loads(path.read_text())


class Cost(FirmwareTest):
    def test_a_run_says_what_the_firmware_costs(self):
        text = self.good(*self.network(), "--check", "reference").out
        self.assertIn("0 differing of 512 elements", text)
        self.assertRegex(text, r"firmware +[\d,]+ busy cycles of the control CPU")
        self.assertRegex(text, r"device cycles from doorbell to completion, [\d,]+ of them with the stream running: \d+\.\d % "
                               r"of the time outside the engines")
        cost = self.json_of()["firmware"]
        self.assertGreater(cost["cycles"], 0)
        self.assertGreater(cost["device_cycles"], cost["engine_cycles"])
        self.assertAlmostEqual(cost["outside_engines"], 1 - cost["engine_cycles"] / cost["device_cycles"])
        self.assertEqual((cost["preemptions"], cost["blocked_cycles"]), (0, 0))

    def test_bypassed_it_costs_nothing_and_the_bits_and_cycles_are_the_same(self):
        with_firmware, without = self.json_of(), self.json_of("--bypass-firmware", "--check", "reference")
        self.assertEqual(with_firmware["run"]["firmware"], "built-in")
        self.assertIsNone(without["run"]["firmware"])
        self.assertIsNone(without["firmware"])
        self.assertEqual(without["check"]["differing"], 0)
        self.assertEqual(with_firmware["total"]["cycles"], without["total"]["cycles"])
        text = self.good(*self.network(), "--bypass-firmware").out
        self.assertNotIn("firmware", text)

    def test_functional_mode_claims_no_time(self):
        self.assertIsNone(self.json_of("--mode", "functional", "--check", "reference")["firmware"])

    def test_the_trace_has_a_track_of_phases_around_the_job(self):
        path = self.dir / "trace.json"
        self.good(*self.network(), "--trace", path)
        records = json.loads(path.read_text())["traceEvents"]
        tracks = {r["args"]["name"]: r["tid"] for r in records if r["name"] == "thread_name"}
        slices = [r for r in records if r["ph"] == "X"]
        phases = [r for r in slices if r["tid"] == tracks["firmware"]]
        for phase in ("boot", "fetch", "dispatch", "complete"):
            self.assertTrue(any(r["name"] == phase for r in phases), phase)
        job = next(r for r in slices if r["tid"] == tracks["invocations"])
        dispatch = max(r["ts"] for r in phases if r["name"] == "dispatch")
        commands = [r for r in slices if r["tid"] in (tracks["mxu"], tracks["dma0"])]
        self.assertTrue(commands)
        for command in commands:  # behind the dispatch, within the job
            self.assertGreaterEqual(command["ts"], dispatch)
            self.assertLessEqual(command["ts"] + command["dur"], job["ts"] + job["dur"])


    def test_bypassed_the_trace_shows_no_firmware(self):
        path = self.dir / "bypass.json"
        self.good(*self.network(), "--bypass-firmware", "--trace", path)
        records = json.loads(path.read_text())["traceEvents"]
        self.assertNotIn("firmware", [r["args"]["name"] for r in records if r["name"] == "thread_name"])
        job = next(r for r in records if r["name"] == "invocation 0")
        self.assertEqual(list(job["args"]), ["cycles"])


class Log(FirmwareTest):
    def test_lines_have_device_time_and_tell_of_the_request(self):
        err = self.good(*self.network(), "--firmware-log").err
        lines = [line for line in err.splitlines() if line.startswith("firmware: ")]
        self.assertTrue(lines, err)
        times = []
        for line in lines:
            match = re.match(r"firmware: +(\d+) (error|event|debug) +\S", line)
            self.assertTrue(match, line)
            times.append(int(match[1]))
        self.assertEqual(times, sorted(times))
        self.assertTrue(any("ring 1" in line for line in lines), err)

    def test_without_the_option_nothing_is_said(self):
        self.assertEqual(self.good(*self.network()).err, "")


class Image(FirmwareTest):
    """Images other than the built-in one. What is wrong is found before the network runs."""

    def image(self, name, change):
        data = bytearray(IMAGE.read_bytes())
        changed = change(data)  # in place, or something new
        path = self.dir / name
        path.write_bytes(data if changed is None else changed)
        return path

    def test_the_same_image_from_a_file(self):
        path = self.image("same.bin", lambda data: None)
        report = self.json_of("--firmware", path, "--check", "reference")
        self.assertEqual(report["check"]["differing"], 0)
        self.assertEqual(report["run"]["firmware"], str(path))
        self.assertEqual(report["firmware"], self.json_of()["firmware"])

    def test_missing(self):
        self.bad(66, "cannot_read", "none.bin", *self.network(), "--firmware", self.dir / "none.bin")
        self.bad(66, "cannot_read", "''", *self.network(), "--firmware", "")

    def test_truncated(self):
        for size in (0, 31, 32, 1000):
            path = self.image(f"short{size}.bin", lambda data, size=size: data[:size])
            self.bad(64, "bad_firmware", "firmware", *self.network(), "--firmware", path)

    def test_too_big(self):
        def grow(data):
            code = bytes(data[32:]) + bytes(0x8004 - len(data) + 32)
            magic, minor, major, _, _, used = HEADER.unpack_from(data)
            return HEADER.pack(magic, minor, major, len(code), fnv1a(code), used) + code
        self.bad(64, "bad_firmware", "32", *self.network(), "--firmware", self.image("big.bin", grow))

    def test_of_another_version(self):
        def age(data):
            fields = list(HEADER.unpack_from(data))
            fields[2] += 1
            HEADER.pack_into(data, 0, *fields)
        self.bad(3, "firmware_mismatch", ".", *self.network(), "--firmware", self.image("old.bin", age))

    def test_no_firmware_at_all(self):
        self.bad(64, "bad_firmware", "convolution.tosa': this is no", *self.network(), "--firmware",
                 self.dir / "convolution.tosa")
        self.bad(64, "bad_firmware", "is an ELF file; give the .bin", *self.network(), "--firmware",
                 IMAGE.with_suffix(".elf"))

    def test_a_damaged_one_that_traps_says_where(self):
        symbols = dict(reversed(line.split()) for line in IMAGE.with_suffix(".sym").read_text().splitlines())

        def trap(data):
            struct.pack_into("<I", data, 32 + int(symbols["npu_dispatch"], 16), 0x00100073)  # ebreak
            return sealed(data)
        path = self.image("trap.bin", trap)
        shutil.copy(IMAGE.with_suffix(".sym"), path.with_suffix(".sym"))
        self.bad(5, "fault_firmware", "npu_dispatch", *self.network(), "--firmware", path)
        result = harness.run(*self.network(), "--firmware", path, "--firmware-log")
        self.assertEqual(result.returncode, 5, result.err)
        self.assertRegex(result.err, r"firmware uart: trap: cause 3, pc [0-9a-f]{8}")


class SlowMemory(FirmwareTest):
    """A DRAM that is too slow for the firmware is refused; it never looks like a mistake of the firmware."""

    SLOW = ("base: edge\ndram: {name: slow, data_rate_mts: 50, bus_bits: 8, banks: 1, t_rcd_ns: 1000, t_rp_ns: 1000, t_cas_ns: 1000, "
            "t_ras_ns: 1000, t_wr_ns: 1000, t_refi_ns: %d, t_rfc_ns: %d, refresh_by_bank: %d}\n")

    def machine(self, text):
        path = self.dir / "slow.yaml"
        path.write_text(text)
        return path

    def test_the_slowest_that_are_taken_run(self):
        for period, refresh, by_bank in ((100, 50, 0), (111111, 55000, 0), (1000000, 100000, 0), (1000000, 100000, 1)):
            with self.subTest(period=period, by_bank=by_bank):
                result = self.good(*self.network(), "--quiet", "--check", "reference", "--config",
                                   self.machine(self.SLOW % (period, refresh, by_bank)))
                self.assertIn("0 differing of 512 elements", result.out)

    def test_slower_ones_are_refused(self):
        self.bad(64, "bad_preset", "reaches the DRAM 150 times in 1 ms, but it does 27 times; lower it", *self.network(), "--config",
                 self.machine(self.SLOW % (111111, 99999, 0)))
        self.bad(64, "bad_preset", "reaches the DRAM 150 times in 1 ms, but it does 30 times; lower it", *self.network(), "--config",
                 self.machine(self.SLOW % (100, 90, 0)))
        self.bad(64, "bad_preset", "dram.t_rfc_ns is 68933, but must be at most 62040 (90 % of dram.t_refi_ns = 68934)",
                 *self.network(), "--config", self.machine("base: edge\ndram: {t_refi_ns: 68934, t_rfc_ns: 68933, refresh_by_bank: 0}\n"))


class Options(FirmwareTest):
    def test_bypassing_excludes_the_others(self):
        for option in (["--firmware", IMAGE], ["--firmware-log"], ["--gdb", "1"]):
            self.bad(64, "bad_option", option[0], *self.network(), "--bypass-firmware", *option)

    def test_ports(self):
        for port in ("0", "65536", "x", ""):
            self.bad(64, "bad_option", "PORT of --gdb", *self.network(), "--gdb", port)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            result = harness.run(*self.network(), "--gdb", port)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(str(port), result.err)
            self.assertIn("use --gdb 1", result.err)

    def test_doctor_looks_for_firmware_and_simulator(self):
        checks = {c["what"]: c for c in json.loads(harness.run("doctor", "--json").out)["checks"]}
        self.assertTrue(checks["firmware"]["ok"])
        self.assertRegex(checks["firmware"]["detail"], r"^\d+ bytes of code, \d+ of data and stacks, contract \d+\.\d+$")
        self.assertTrue(checks["CPU simulator"]["ok"])


@unittest.skipUnless(shutil.which("gdb-multiarch"), "gdb-multiarch is not installed (sim/setup.sh tests)")
class Debugger(FirmwareTest):
    """A debugger in batch mode that follows the command that `npu run --gdb` prints."""

    def session(self, *commands, options=()):
        """Output of the debugger and of npu."""
        npu = subprocess.Popen([harness.NPU, *map(str, self.network()), "--gdb", "1", *map(str, options)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            line = npu.stderr.readline()
            match = re.fullmatch(r"waiting for a debugger at 127\.0\.0\.1:(\d+): gdb-multiarch (\S+)(?: -ex 'directory \S+')? -ex 'target remote :(\d+)'\n",
                                 line)
            self.assertTrue(match, line)
            script = [part for command in commands for part in ("-ex", command)]
            gdb = subprocess.run(["gdb-multiarch", "-batch", "-nx", match[2], "-ex", f"target remote :{match[3]}", *script],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 timeout=harness.TIMEOUT, check=False)
            out, err = npu.communicate(timeout=harness.TIMEOUT)
        finally:
            npu.kill()
            npu.communicate()
        self.assertEqual(npu.returncode, 0, f"{err}\n{gdb.stdout}")
        return gdb.stdout, out

    def test_breaks_in_dispatch_and_prints_the_jobs_fields(self):
        text, out = self.session(
            "break npu_job_load", "continue", "set $at = (struct npu_job *)(0x80000000 + (unsigned int)address)",
            "break npu_dispatch", "continue", "backtrace", "print/x *$at", "print $at->command_words == task->job.command_words",
            "print $at->commands == task->job.commands", "stepi", "info registers pc", "delete", "continue",
            options=["--check", "reference"])
        self.assertRegex(text, r"Breakpoint 2, npu_dispatch \(task=\S+ .*, stream=\S+\) at firmware/dispatch\.c:\d+")
        self.assertRegex(text, r"#1 +0x[0-9a-f]+ in npu_\w+")
        for field in ("commands = 0x", "command_words = 0x", "region_base = {", "cycle_limit = 0x"):
            self.assertIn(field, text)
        self.assertIn("$2 = 1", text)
        self.assertIn("$3 = 1", text)
        self.assertRegex(text, r"pc\s+0x[0-9a-f]+\s+0x[0-9a-f]+ <npu_dispatch\+\d+>")
        self.assertIn("0 differing of 512 elements", out)

    def test_simulated_time_stands_still_while_the_cpu_is_halted(self):
        text, _ = self.session("break npu_dispatch", "continue", "print *(unsigned int *)0x20002040", "shell sleep 0.3",
                               "print *(unsigned int *)0x20002040", "delete", "continue")
        values = re.findall(r"^\$\d+ = (\d+)$", text, re.MULTILINE)
        self.assertEqual(len(values), 2, text)
        self.assertEqual(values[0], values[1])

    def test_a_debugger_that_lets_it_run_changes_no_number(self):
        path = self.dir / "debugged.json"
        self.session("continue", options=["--json", path])
        debugged = json.loads(path.read_text())
        self.assertEqual(debugged["firmware"], self.json_of()["firmware"])


if __name__ == "__main__":
    IMAGE = Path(sys.argv.pop(3))
    harness.main()
