#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input: each kind is one sentence with its own code and exit status, and nothing is half-written. Usage:
bad_input_test.py NPU MAKE_NETWORKS."""

import json
import os
import random
import resource
import subprocess

import harness
from harness import NpuTest, listing, npy_bytes, run


class BadInput(NpuTest):
    def setUp(self):
        self.before = listing(self.dir)

    def tearDown(self):
        """Whatever failed left no file behind."""
        self.assertEqual(listing(self.dir), self.before)

    def file(self, name, data):
        """A file for this test alone."""
        path = self.dir / name
        path.write_bytes(data)
        self.addCleanup(path.unlink)
        self.before = listing(self.dir)
        return path

    def drop_files(self):
        self.doCleanups()
        self.before = listing(self.dir)


class CommandLine(BadInput):
    def test_table(self):
        net, x = self.dir / "convolution.tosa", self.dir / "x.npy"
        table = [
            ("there is no command 'fly'", ["fly"]),
            ("FILE is missing", ["info"]),
            ("FILE is missing; see npu run --help", ["run", "--check", "reference"]),
            ("there is no option '--speed'", ["run", net, "--speed", "9"]),
            ("--mode is timed or functional", ["run", net, "--input", x, "--mode", "fast"]),
            ("--check knows 'reference'", ["run", net, "--input", x, "--check", "golden"]),
            ("--jitter needs SEED:MAX", ["run", net, "--input", x, "--jitter", "5"]),
            ("SEED of --jitter needs a whole number", ["run", net, "--input", x, "--jitter", "-1:5"]),
            ("at most", ["run", net, "--input", x, "--jitter", "1:99999999"]),
            ("--inject needs constants:OFFSET", ["run", net, "--input", x, "--inject", "weights:5"]),
            ("OFFSET of --inject", ["run", net, "--input", x, "--inject", "constants:0x5"]),
            ("bits 0 to 7", ["run", net, "--input", x, "--inject", "constants:5:8"]),
            ("bytes of constants", ["run", net, "--input", x, "--inject", "constants:99999999"]),
            ("there are too many words", ["info", net, net]),
            ("there is no option '--cofnig'; see npu run --help; did you mean '--config'?", ["run", net, "--cofnig", "nano"]),
            ("there is no option '--fil'; see npu run --help [", ["run", net, "--fil", "x"]),
            ("--config needs a value; see npu run", ["run", net, "--config"]),
            ("--quiet takes no value; see npu run", ["run", net, "--quiet=1"]),
            ("--config is given twice", ["run", net, "--config", "nano", "--config", "edge"]),
            ("there is no command 'rnu'; see npu --help; did you mean 'run'?", ["rnu", net]),
            ("-o FILE.tosa", ["import", x]),
        ]
        for fragment, arguments in table:
            with self.subTest(fragment):
                self.bad(64, "bad_option", fragment, *arguments)

    def test_without_a_command_the_usage_is_shown(self):
        result = run()
        self.assertEqual(result.returncode, 64)
        self.assertIn("usage: npu COMMAND", result.err)

    def test_a_full_disk_is_no_success(self):
        with open("/dev/full", "wb") as full:
            self.bad(66, "cannot_write", "standard output", "--help", stdout=full)


class Networks(BadInput):
    def test_files_that_are_no_network(self):
        whole = (self.dir / "convolution.tosa").read_bytes()
        self.bad(66, "cannot_read", "nowhere.tosa", "info", self.dir / "nowhere.tosa")
        self.bad(66, "cannot_read", str(self.dir), "info", self.dir)
        for data in (b"", whole[:10], whole[:len(whole) // 2], whole[:-1], b"x" * 5000, whole[100:]):
            self.bad(2, "file_damaged", "damaged.tosa", "info", self.file("damaged.tosa", data))
            self.drop_files()

    def test_a_huge_file_is_refused_before_it_is_read(self):
        path = self.file("huge.tosa", b"")
        os.truncate(path, 3 << 30)
        self.before = listing(self.dir)
        self.bad(4, "budget_exceeded", "huge.tosa", "info", path)

    def test_illegal_and_unsupported_graphs(self):
        self.bad(3, "version_unsupported", "2.0", "info", self.dir / "other_version.tosa")
        self.bad(2, "bad_shape", "9]", "info", self.dir / "wrong_shape.tosa")
        frame = self.save_float()
        self.bad(3, "type_unsupported", "FP32", "run", self.dir / "floating_point.tosa", "--config", "nano", "--input", frame)

    def save_float(self):
        return self.file("float.npy", npy_bytes("<f4", (4,), [1, 2, 3, 4]))

    def test_an_unknown_operator(self):
        path = self.patched_operator(200)
        self.bad(2, "unknown_operator", "200", "info", path)

    def patched_operator(self, number):
        """The network with its ADD turned into another operator, found by trying: ADD is 15 in the file."""
        data = bytearray((self.dir / "constant_only.tosa").read_bytes())
        for at in range(len(data)):
            if data[at] != 15:
                continue
            changed = bytes(data[:at]) + bytes([number]) + bytes(data[at + 1:])
            path = self.file("unknown.tosa", changed)
            if "unknown_operator" in run("info", path).err:
                return path
            self.drop_files()
        self.fail("found no operator to change")

    def test_flipped_bits_never_crash_or_hang(self):
        """Every run is legal or refused with one sentence; no status stands for a crash."""
        seed = 20261121
        random.seed(seed)
        statuses = {}
        for name, data in (("convolution.tosa", "x.npy"), ("running_sum.tosa", "frame.npy")):
            whole = (self.dir / name).read_bytes()
            for _ in range(150):
                damaged = bytearray(whole)
                for _ in range(random.choice((1, 1, 1, 4))):
                    damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
                path = self.file("flipped.tosa", bytes(damaged))
                for arguments in (("info", path), ("run", path, "--input", self.dir / data)):
                    result = run(*arguments)
                    statuses[result.returncode] = statuses.get(result.returncode, 0) + 1
                    self.assertIn(result.returncode, (0, 1, 2, 3, 4, 64), f"seed {seed}: {result.err}")
                    self.assertLessEqual(len(result.err.splitlines()), 1, f"seed {seed}: {result.err}")
                self.drop_files()
        self.assertGreater(statuses.get(2, 0), 20)
        print("flipped bits:", dict(sorted(statuses.items())))


class Data(BadInput):
    def bad_x(self, code, fragment, data):
        path = self.file("bad.npy", data)
        for command in ("run", "reference"):
            self.bad(64, code, fragment, command, self.dir / "running_sum.tosa", "--input", path)
        self.drop_files()

    def test_npy_files(self):
        good = npy_bytes("|i1", (1, 4), [1, 2, 3, 4])
        self.bad_x("bad_input", "INT8", npy_bytes("<i4", (1, 4), [1, 2, 3, 4]))
        self.bad_x("bad_input", "[4, 1]", npy_bytes("|i1", (4, 1), [1, 2, 3, 4]))
        self.bad_x("bad_input", "INT8", npy_bytes("|u1", (1, 4), [1, 2, 3, 4]))
        self.bad_x("bad_npy", "bad.npy", b"")
        self.bad_x("bad_npy", "bad.npy", b"not an array at all")
        self.bad_x("bad_npy", "bad.npy", good[:-1])
        self.bad_x("bad_npy", "bad.npy", good + b"x")
        self.bad_x("bad_npy", "bad.npy", good[:20])
        self.bad_x("bad_npy", "bad.npy", npy_bytes(">i4", (1, 4), [1, 2, 3, 4]))
        self.bad_x("bad_npy", "bad.npy", npy_bytes("|i1", (1, 4), [1, 2, 3, 4], fortran=True))
        self.bad_x("bad_npy", "bad.npy", good.replace(b"'|i1'", b"'|O8'"))
        self.bad_x("bad_npy", "bad.npy", good.replace(b"(1, 4)", b"(9, 4)"))
        self.bad_x("bad_npy", "bad.npy", good.replace(b"(1, 4), ", b"(-1,-4),"))

    def test_inputs(self):
        sums, odd = self.dir / "running_sum.tosa", self.dir / "odd_names.tosa"
        frame, left, right = self.dir / "frame.npy", self.dir / "left.npy", self.dir / "right.npy"
        short = self.file("short.npy", npy_bytes("<i4", (2, 2, 3), list(range(12))))
        long = self.file("long.npy", npy_bytes("<i4", (3, 2, 3), list(range(18))))
        scalar = self.file("scalar.npy", npy_bytes("|i1", (), [1]))
        none = self.file("none.npy", npy_bytes("|i1", (0, 1, 4), []))
        table = [
            ("input 'x' (INT8[1, 4]) is missing; add --input 'x=FILE.npy'", [sums]),
            ("input 'right:0' (INT32[2, 3]) is missing", [odd, "--input", f"left=a={left}"]),
            ("no input 'z'", [sums, "--input", f"z={frame}"]),
            ("no input 'left'", [odd, "--input", f"left={left}"]),
            ("input 'x' is given twice", [sums, "--input", frame, "--input", f"x={frame}"]),
            ("needs a name", [odd, "--input", left, "--input", right]),
            ("has 3 invocations, but input 'left=a' has 2", [odd, "--sequence", "--input", f"left=a={short}", f"right:0={long}"]),
            ("counts no invocations", [sums, "--sequence", "--input", scalar]),
            ("counts no invocations", [sums, "--sequence", "--input", none]),
            ("has shape [4]", [sums, "--sequence", "--input", frame]),
            ("add --sequence to run it frame by frame", [sums, "--input", self.dir / "frames.npy"]),
            ("the network has none", [self.dir / "constant_only.tosa", "--sequence"]),
            ("no input", [self.dir / "constant_only.tosa", "--input", f"x={frame}"]),
        ]
        for fragment, arguments in table:
            for command in ("run", "reference"):
                if command == "run" and len(arguments) == 1:
                    continue  # random inputs
                with self.subTest(fragment, command=command):
                    self.bad(64, "bad_input", fragment, command, *arguments)
        self.bad(64, "bad_option", "each input has one", "run", sums, "--input", frame, "--random-inputs", "2")
        self.bad(64, "bad_option", "the network has none", "run", self.dir / "constant_only.tosa", "--random-inputs", "2")
        self.bad(64, "bad_option", "add --invocations", "run", sums, "--sequence")
        self.bad(64, "bad_option", "SEED of --random-inputs", "run", sums, "--random-inputs", "x")
        self.bad(66, "cannot_read", "nowhere.npy", "run", sums, "--input", self.dir / "nowhere.npy")

    def test_values_that_the_specification_forbids(self):
        zeros = self.file("zeros.npy", npy_bytes("<i4", (4,), [1, 0, 1, 1]))
        self.bad(1, "require_failed", "INTDIV", "reference", self.dir / "division.tosa", "--input", zeros)

    def test_a_variable_that_was_never_written(self):
        for command in ("run", "reference"):
            self.bad(1, "variable_unwritten", "'lost/state'", command, self.dir / "unwritten.tosa", "--input",
                     self.dir / "frame.npy", "-o", self.dir / "never")


class Machines(BadInput):
    def machine(self, text):
        return self.file("machine.yaml", text.encode())

    def test_table(self):
        good = self.good_machine()
        table = [
            ("mxu_cols", good.replace("mxu_cols: 32", "mxu_cols: -32")),
            ("mxu_cols", good.replace("mxu_cols: 32", "mxu_cols: 1000000000")),
            ("mxu_cols", good.replace("mxu_cols: 32", "mxu_cols: 33")),
            ("mxu_cols", good.replace("mxu_cols: 32", "mxu_cols: many")),
            ("mxu_cols", good.replace("mxu_cols: 32\n", "")),
            ("mxu_cols", good + "mxu_cols: 32\n"),
            ("spm_bytes", good.replace("spm_bytes: 1048576", "spm_bytes: 99999999999999999999")),
            ("turbo", good + "turbo: 1\n"),
            ("machine.yaml", "{ not yaml"),
            ("machine.yaml", ""),
            ("machine.yaml", "- 1\n- 2\n"),
        ]
        for fragment, text in table:
            with self.subTest(text[-40:]):
                path = self.machine(text)
                for command in (["info"], ["run", "--input", self.dir / "x.npy"]):
                    self.bad(64, "bad_preset", fragment, command[0], self.dir / "convolution.tosa", *command[1:],
                             "--config", path)
                self.drop_files()

    def good_machine(self):
        out = self.file("machine.json", b"")
        result = run("run", self.dir / "convolution.tosa", "--input", self.dir / "x.npy", "--json", out)
        self.assertEqual(result.returncode, 0, result.err)
        machine = json.loads(out.read_text())["machine"]
        lines = [f"{name}: {value}" for name, value in machine["capabilities"].items()]
        lines += ["dram:"] + [f"  {name}: {value}" for name, value in machine["dram"].items()]
        self.drop_files()
        return "\n".join(lines) + "\n"

    def test_too_little_memory_for_the_control_cpu(self):
        def small_computer():
            resource.setrlimit(resource.RLIMIT_AS, (800 << 20, 800 << 20))

        if subprocess.run([harness.NPU, "--version"], capture_output=True, preexec_fn=small_computer, check=False).returncode != 0:
            self.skipTest("this build of the program needs more to start at all (a sanitizer's shadow memory)")
        self.bad(4, "budget_exceeded", "--bypass-firmware", "run", self.dir / "convolution.tosa", "--input", self.dir / "x.npy",
                 "--config", "nano", preexec_fn=small_computer)

    def test_names(self):
        for command in ("info", "run"):
            result = run(command, self.dir / "convolution.tosa", "--config", "gigantic")
            self.assertIn(result.returncode, (64, 66))
            self.assertIn("gigantic", result.err)


class Places(BadInput):
    """Output paths that cannot be written are refused before anything runs."""

    def test_table(self):
        file = self.dir / "x.npy"
        table = [
            ["--outputs", file],
            ["--outputs", file / "below"],
            ["--json", self.dir],
            ["--json", self.dir / "no/where.json"],
            ["--json", file / "r.json"],
            ["--csv", self.dir / "no/where.csv"],
            ["--trace", self.dir],
            ["--trace", self.dir / "no/where.json"],
            ["--json", "/proc/npu.json"],
            ["--outputs", "/proc/npu/out"],
        ]
        for arguments in table:
            with self.subTest(arguments):
                self.bad(66, "cannot_write", str(arguments[1])[:20], "run", self.dir / "running_sum.tosa", "--input",
                         self.dir / "frame.npy", *arguments)
        self.bad(64, "bad_option", "--csv needs a name", "run", self.dir / "running_sum.tosa", "--input",
                 self.dir / "frame.npy", "--csv", "")
        for place in (file, file / "below"):
            self.bad(66, "cannot_write", "x.npy", "reference", self.dir / "running_sum.tosa", "--input",
                     self.dir / "frame.npy", "--outputs", place)
        self.bad(66, "cannot_write", "no/where", "import", file, "-o", self.dir / "no/where.tosa")

    def test_a_folder_without_permission(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        closed = self.dir / "closed"
        closed.mkdir(mode=0o500)
        self.addCleanup(closed.rmdir)
        self.before = listing(self.dir)
        self.bad(66, "cannot_write", "closed", "run", self.dir / "running_sum.tosa", "--input", self.dir / "frame.npy",
                 "--outputs", closed)

    def test_a_late_failure_leaves_no_file(self):
        out = self.dir / "taken"
        (out / "y.npy").mkdir(parents=True)
        self.addCleanup(out.rmdir)
        self.addCleanup((out / "y.npy").rmdir)
        self.before = listing(self.dir)
        self.bad(66, "cannot_write", "y.npy", "run", self.dir / "running_sum.tosa", "--input", self.dir / "frame.npy",
                 "--json", self.dir / "late.json", "--csv", self.dir / "late.csv", "--trace", self.dir / "late.trace",
                 "--outputs", out)

    def test_a_full_device(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        # Not a place that files can be renamed to: /dev is writable for root, and nothing may stay there.
        before = set(os.listdir("/dev"))
        run("run", self.dir / "running_sum.tosa", "--input", self.dir / "frame.npy", "--outputs", "/dev/full")
        self.assertEqual(set(os.listdir("/dev")), before)


class Import(BadInput):
    def test_what_is_no_tflite_file(self):
        text = self.file("not.tflite", b"not a network")
        out = self.dir / "out.tosa"
        self.bad(2, "file_damaged", "text, but named .tflite", "import", text, "-o", out)
        self.bad(2, "file_damaged", "it is empty", "import", self.file("empty.mlir", b""), "-o", out)
        self.bad(2, "file_damaged", "gunzip", "import", self.file("net.mlir.gz", b"\x1f\x8b\x08\0"), "-o", out)
        self.bad(2, "file_damaged", "binary", "import", self.file("net.mlir", b"PK\x03\x04\0\0"), "-o", out)
        self.bad(2, "file_damaged", "needs no import", "import", self.dir / "running_sum.tosa", "-o", out)
        huge = self.file("huge.mlir", b"module {}")
        os.truncate(huge, 3 << 30)
        self.bad(4, "budget_exceeded", "huge.mlir", "import", huge, "-o", out)
        os.truncate(huge, len("module {}"))
        self.assertFalse(out.exists())
        self.bad(66, "cannot_read", "nowhere.tflite", "import", self.dir / "nowhere.tflite", "-o", self.dir / "out.tosa")


if __name__ == "__main__":
    harness.main()
