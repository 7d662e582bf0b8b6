#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Saving state, resuming from it in another process, and `npu state`: usage state_test.py NPU MAKE_NETWORKS."""

import json
import os
import struct
import zlib

import harness
from harness import NpuTest, listing, read_npy, run

NETWORK = "running_sum.tosa"


class State(NpuTest):
    def frames(self, command, *arguments, network=NETWORK):
        return self.good(command, self.dir / network, "--input", self.dir / "frames.npy", "--sequence", *arguments)

    def values(self, folder):
        return read_npy(self.dir / folder / "y.npy")[2]

    def saved(self, name, *arguments, command="run"):
        path = self.dir / name
        self.frames(command, "--save-state", path, *arguments)
        return path

    def variables(self, path):
        return {v["identity"]: v for v in json.loads(self.good("state", "list", path, "--json").out)["variables"]}

    def test_a_stream_that_stops_and_resumes_equals_one_that_does_not(self):
        for command in ("run", "reference"):
            whole = self.saved(f"{command}_whole.state", "-o", self.dir / "whole", command=command)
            for stop in range(1, 5):
                path = self.saved("part.state", "--invocations", stop, "-o", self.dir / "part", command=command)
                self.frames(command, "--skip", stop, "--resume", path, "--save-state", path, "-o", self.dir / "rest")
                self.assertEqual(self.values("part") + self.values("rest"), self.values("whole"))
                self.assertEqual(path.read_bytes(), whole.read_bytes())
                self.assertIn("0 differing variables, 4 elements compared",
                              self.good("state", "diff", whole, path).out)

    def test_device_and_reference_leave_the_same_state(self):
        device, reference = self.saved("device.state"), self.saved("reference.state", command="reference")
        self.assertEqual(json.loads(self.good("state", "diff", device, reference, "--json").out),
                         {"schema": "npu-state-diff", "schema_version": 1, "a": str(device), "b": str(reference),
                          "compared": 4, "differences": []})

    def test_the_check_resumes_too(self):
        path = self.saved("check.state", "--invocations", 2)
        self.assertIn("0 differing of 12 elements compared",
                      self.frames("run", "--skip", 2, "--resume", path, "--check", "reference").out)

    def test_device_and_reference_take_each_others_state(self):
        self.frames("run", "-o", self.dir / "one")
        for first, second in (("run", "reference"), ("reference", "run")):
            path = self.saved("exchange.state", "--invocations", 3, command=first)
            self.frames(second, "--skip", 3, "--resume", path, "-o", self.dir / "two")
            self.assertEqual(self.values("two"), self.values("one")[12:])

    def test_a_variable_that_is_declared_behind_its_first_read(self):
        early, late = self.dir / "early.state", self.dir / "declared_late.tosa"
        frame = ("--input", self.dir / "frame.npy")
        self.good("run", self.dir / "running_sum.tosa", *frame, "--save-state", early)
        for command in ("run", "reference"):
            self.bad(1, "variable_undeclared", "'sum/state' is used before its declaration", command, late, *frame)
            self.bad(1, "variable_undeclared", "'sum/state'", command, late, *frame, "--zero-init")
            self.good(command, late, *frame, "--resume", early, "--outputs", self.dir / command)
            self.assertEqual(read_npy(self.dir / command / "y.npy")[2], [2, 0, 6, 0])

    def test_invocations_repeat_the_same_inputs(self):
        for command in ("run", "reference"):
            out = self.dir / ("repeat_" + command)
            self.good(command, self.dir / NETWORK, "--input", self.dir / "frame.npy", "--invocations", 3, "-o", out)
            self.assertEqual(read_npy(out / "y.npy"), ("|i1", (3, 1, 4), [2, 0, 6, 0, 3, -2, 9, -4, 4, -4, 12, -8]))

    def test_list_names_writers_and_invocations(self):
        path = self.saved("list.state")
        row = self.variables(path)["sum/state"]
        self.assertEqual((row["type"], row["shape"], row["bytes"], row["is_written"], row["invocations"]),
                         ("INT8", [1, 4], 4, True, 5))
        self.assertTrue(row["last_writer"])
        self.assertRegex(self.good("state", "list", path).out,
                         r"sum/state +INT8\[1, 4\] +4  persistent SRAM +yes +\S+ +5\n")

    def test_list_names_owner_and_place(self):
        for name, arguments, command, owner, whose, place in (
                ("sram.state", (), "run", 1, "context 1", "persistent SRAM"),
                ("dram.state", ("--state-in-dram",), "run", 1, "context 1", "DRAM"),
                ("host.state", (), "reference", 0, "the reference", "host")):
            path = self.saved(name, *arguments, command=command)
            document = json.loads(self.good("state", "list", path, "--json").out)
            self.assertEqual((document["owner"], document["variables"][0]["place"]), (owner, place))
            text = self.good("state", "list", path).out
            self.assertIn(f"1 variable of '{NETWORK}', owner: {whose}, 4 bytes", text)
            self.assertRegex(text, rf"sum/state +INT8\[1, 4\] +4  {place} +yes")

    def patched(self, name, path, *replacements):
        """The file with bytes replaced by as many others, and a checksum that is right."""
        data = path.read_bytes()[:-4]
        for old, new in replacements:
            self.assertEqual((data.count(old), len(old)), (1, len(new)))
            data = data.replace(old, new)
        other = self.dir / name
        other.write_bytes(data + struct.pack("<I", zlib.crc32(data)))
        return other

    def test_hostile_names_do_not_reach_the_terminal(self):
        path = self.saved("plain.state")
        writer = self.variables(path)["sum/state"]["last_writer"].encode()
        hostile = self.patched("hostile.state", path, (b"sum/state", b"s\x1b[31m\nxy"), (writer, b"\x1b]0;" + writer[4:]))
        text = self.good("state", "list", hostile).out
        self.assertNotIn("\x1b", text)
        self.assertIn("s\\x1b[31m\\x0axy ", text)
        self.assertIn("\\x1b]0;" + writer[4:].decode(), text)
        self.assertEqual(text.count("\n"), self.good("state", "list", path).out.count("\n"))
        self.assertEqual(list(self.variables(hostile)), ["s\x1b[31m\nxy"])

    def test_a_count_of_invocations_does_not_wrap(self):
        path = self.saved("count.state")
        writer = self.variables(path)["sum/state"]["last_writer"].encode()
        most = 2**64 - 1
        full = self.patched("full.state", path, (writer + struct.pack("<Q", 5), writer + struct.pack("<Q", most - 2)))
        for command in ("run", "reference"):
            after = self.saved("after.state", "--resume", full, command=command)
            self.assertEqual(self.variables(after)["sum/state"]["invocations"], most)

    def test_differences_are_named(self):
        a, b = self.saved("a.state", "--invocations", 1), self.saved("b.state", "--invocations", 2)
        result = run("state", "diff", a, b)
        self.assertEqual(result.returncode, 7, result.err)
        self.assertIn("of 4 elements differ", result.out)
        self.assertIn("[elements_differ]", result.err)

    def test_cleared_variables_start_with_their_initial_value(self):
        path = self.saved("clear.state")
        self.assertIn("cleared 1 of 1 variables", self.good("state", "clear", path, "-o", self.dir / "cleared.state").out)
        self.assertTrue(self.variables(path)["sum/state"]["is_written"])
        self.assertFalse(self.variables(self.dir / "cleared.state")["sum/state"]["is_written"])
        for command in ("run", "reference"):
            self.frames(command, "-o", self.dir / "fresh")
            self.frames(command, "--resume", self.dir / "cleared.state", "-o", self.dir / "again")
            self.assertEqual(self.values("again"), self.values("fresh"))
        self.good("state", "clear", path, "sum/state")
        self.assertEqual(path.read_bytes(), (self.dir / "cleared.state").read_bytes())
        self.assertIn("cleared 1 of 1 variables", self.good("state", "clear", path, "sum/state", "sum/state").out)
        self.bad(64, "bad_option", "has no variable 'absent'; there are: 'sum/state'", "state", "clear", path, "absent")

    def test_what_does_not_fit_is_refused_before_anything_runs(self):
        path = self.saved("fit.state")
        self.assertIn("fits", self.good("state", "check", path, self.dir / NETWORK).out)
        for network, why in (("running_sum_16", "variable 'sum/state' is INT8[1, 4] in"),
                             ("unwritten", "'sum/state' of"), ("convolution", "is no variable of")):
            tosa = self.dir / (network + ".tosa")
            self.bad(64, "bad_snapshot", why, "state", "check", path, tosa)
            for command in ("run", "reference"):
                # No input either: the snapshot is looked at first.
                self.bad(64, "bad_snapshot", why, command, tosa, "--resume", path)

    def test_damaged_files_are_refused(self):
        path = self.saved("good.state")
        good = path.read_bytes()
        bad = self.dir / "bad.state"
        for data in (b"", good[:-1], good[:20], good + b"x", b"X" + good[1:], good[:-5] + bytes([good[-5] ^ 1]) + good[-4:]):
            bad.write_bytes(data)
            for arguments in (("state", "list", bad), ("run", self.dir / NETWORK, "--resume", bad),
                              ("reference", self.dir / NETWORK, "--resume", bad)):
                self.bad(64, "bad_snapshot", "bad.state", *arguments)
        self.bad(66, "cannot_read", "none.state", "state", "list", self.dir / "none.state")

    def test_every_action_says_what_a_file_is_that_is_none(self):
        good = self.saved("one.state")
        places = {name: self.dir / name for name in ("folder", "fifo", "circle", "foreign", "version", "flipped")}
        places["folder"].mkdir()
        os.mkfifo(places["fifo"])
        places["circle"].symlink_to("circle")
        places["foreign"].write_bytes((self.dir / NETWORK).read_bytes())
        data = good.read_bytes()
        places["version"].write_bytes(data[:8] + b"\x09" + data[9:])
        places["flipped"].write_bytes(data[:60] + bytes([data[60] ^ 16]) + data[61:])
        cases = {"folder": (66, "cannot_read", "it is not a regular file"), "fifo": (66, "cannot_read", "it is not a regular file"),
                 "circle": (66, "cannot_read", "Too many levels of symbolic links"),
                 "foreign": (64, "bad_snapshot", "this is no snapshot of variables; give one"),
                 "version": (64, "bad_snapshot", "format version 9, but this program knows version"),
                 "flipped": (64, "bad_snapshot", "its checksum does not fit")}
        before = listing(self.dir)
        for name, (status, code, why) in cases.items():
            place = places[name]
            for arguments in (("list", place), ("list", place, "--json"), ("diff", good, place), ("diff", place, good, "--json"),
                              ("check", place, self.dir / NETWORK), ("clear", place, "-o", self.dir / "cleared")):
                result = self.bad(status, code, why, "state", *arguments)
                self.assertEqual(result.out, "")
                self.assertIn(name, result.err)
            for command in ("run", "reference"):
                self.bad(status, code, why, command, self.dir / NETWORK, "--resume", place, "--save-state", self.dir / "saved")
        self.assertEqual(listing(self.dir), before)

    def test_usage_errors_name_the_actions_help(self):
        path = self.saved("usage.state")
        for action, *arguments in (("list", path, path), ("diff", path, path, path), ("check", path, path, path), ("clear", "--foo")):
            self.bad(64, "bad_option", f"; see npu state {action} --help", "state", action, *arguments)

    def test_nothing_is_saved_when_a_run_fails(self):
        out = self.dir / "failing"
        out.mkdir()
        self.bad(1, "variable_unwritten", "lost/state", "run", self.dir / "unwritten.tosa", "--input",
                 self.dir / "frame.npy", "--save-state", out / "s.state")
        self.assertEqual(listing(out), [])

    def test_state_in_dram_and_two_places_change_no_bit(self):
        self.frames("run", "-o", self.dir / "sram")
        path = self.dir / "places.json"
        for option, key, want in (("--state-in-dram", "place", "dram"), ("--double-buffer", "double_buffered", True)):
            text = self.frames("run", option, "--check", "reference", "--json", path, "-o", self.dir / "other").out
            self.assertIn("0 differing of 20 elements", text)
            self.assertEqual(self.values("other"), self.values("sram"))
            self.assertEqual(json.loads(path.read_text())["state"]["variables"][0][key], want)
        state = self.saved("dram.state", "--state-in-dram")
        self.frames("run", "--resume", state, "-o", self.dir / "from_dram")
        self.frames("run", "--resume", self.saved("sram.state"), "--state-in-dram", "-o", self.dir / "to_dram")
        self.assertEqual(self.values("from_dram"), self.values("to_dram"))

    def test_state_that_does_not_fit_goes_to_dram_and_is_said_to(self):
        network, large = self.dir / "large_state.tosa", self.save("large.npy", "|i1", (1, 100000), [1] * 100000)
        path = self.dir / "large.json"
        for config in ("edge", "nano"):
            self.assertIn("does not fit, so that some variables will lie in DRAM",
                          self.good("info", network, "--config", config).out)
            text = self.good("run", network, "--input", large, "--config", config, "--check", "reference", "--json", path,
                             "--save-state", self.dir / "large.state").out
            self.assertIn("0 differing of 100,000 elements", text)
            self.assertIn("in persistent SRAM, 100,000 bytes in DRAM", text)
            state = json.loads(path.read_text())["state"]
            self.assertEqual(state["variables"][0]["place_reason"], "it is larger than the persistent SRAM")
            self.assertEqual(state["traffic"]["dram"], {"read_bytes": 0, "written_bytes": 100000})
            self.good("run", network, "--input", large, "--config", config, "--resume", self.dir / "large.state")
        info = json.loads(self.good("info", network, "--json").out)["persistent"]
        self.assertEqual((info["fits"], info["spills"]), (False, True))

    def test_bad_options(self):
        frames = ("run", self.dir / NETWORK, "--input", self.dir / "frames.npy", "--sequence")
        self.bad(64, "bad_option", "leaves none of the 5", *frames, "--skip", 5)
        self.bad(64, "bad_option", "the sequence has 3 behind", *frames, "--skip", 2, "--invocations", 4)
        self.bad(64, "bad_option", "--invocations is 0", *frames, "--invocations", 0)
        self.bad(64, "bad_option", "add --sequence", "run", self.dir / NETWORK, "--skip", 1)
        self.bad(66, "cannot_write", "no writable folder", *frames, "--save-state", self.dir / "no/s.state")
        self.bad(64, "bad_option", "are the same file", *frames, "--save-state", self.dir / "s", "--json", self.dir / "s")
        self.bad(64, "bad_option", "needs an action", "state")
        self.bad(64, "bad_option", "no action 'lost'", "state", "lost")

    def test_strict_refuses_types_beyond_the_specification(self):
        frames16 = self.save("frames16.npy", "<i2", (2, 1, 4), range(8))
        network = self.dir / "running_sum_16.tosa"
        for command in ("run", "reference"):
            arguments = (command, network, "--input", frames16, "--sequence")
            self.good(*arguments)
            self.bad(3, "type_unsupported", "variable 'sum/state' is INT16", *arguments, "--strict")
            self.frames(command, "--strict")
        self.assertIn("a type beyond TOSA 1.0 (refused by --strict)", self.good("info", network).out)
        self.assertTrue(json.loads(self.good("info", network, "--json").out)["variables"][0]["extension_type"])
        self.assertIn("a type beyond TOSA 1.0", self.good("run", network, "--input", frames16, "--sequence").out)

    def test_help(self):
        self.assertIn("npu state list FILE", self.good("state", "--help").out)
        for action in ("list", "diff", "clear", "check"):
            self.assertIn("examples:\n  npu state " + action, self.good("state", action, "--help").out)


if __name__ == "__main__":
    harness.main()
