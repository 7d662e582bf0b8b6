#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiled programs as files, `npu compile` and `npu run` of what it wrote: usage compile_test.py NPU MAKE_NETWORKS."""

import json
import random
import struct
import zlib

import harness
from harness import NpuTest, run

FRAME, CHECKSUM = 24, 4  # bytes of a file's header, and of what is behind its content


def resealed(data):
    """The file with a checksum that fits what stands before it."""
    return data[:-CHECKSUM] + struct.pack("<I", zlib.crc32(data[:-CHECKSUM]))


class Compile(NpuTest):
    def compiled(self, network, *options, name="net.npu"):
        self.good("compile", f"{network}.tosa", "-o", name, *options, cwd=self.dir)
        return self.dir / name

    def both(self, network, *options, compile_options=(), same_options=()):
        """Runs network and program with the same options; everything but the first line that names the file is the same."""
        self.compiled(network, *compile_options)
        answers = []
        for file, more in ((f"{network}.tosa", compile_options), ("net.npu", same_options)):
            result = self.good("run", file, *options, *more, "--json", "r.json", "--csv", "r.csv", "-o", "out", "-q", cwd=self.dir)
            files = {path.name: path.read_bytes() for path in [self.dir / "r.json", self.dir / "r.csv", *sorted((self.dir / "out").iterdir())]}
            answers.append((result.out.split("\n")[1:], files, result.err))
        self.assertEqual(*answers)
        self.assertGreater(len(answers[0][1]), 2)
        return answers[0][1]

    def test_a_program_gives_the_bits_the_cycles_and_the_report_of_its_network(self):
        for config in ("edge", "nano"):
            self.both("convolution", "--input", "x.npy", compile_options=("--config", config))
            self.both("running_sum", "--input", "frames.npy", "--sequence", compile_options=("--config", config))
            self.both("listed_twice", compile_options=("--config", config))

    def test_effort_changes_the_schedule_and_no_bit(self):
        found = {}
        for effort in ("0", "1", "2"):
            self.compiled("many_weights", "--effort", effort)
            self.good("run", "net.npu", "--json", "r.json", "-o", "out", "-q", cwd=self.dir)
            report = json.loads((self.dir / "r.json").read_text())
            found[effort] = report["total"]["cycles"], [path.read_bytes() for path in sorted((self.dir / "out").iterdir())]
        self.assertEqual(found["0"][1], found["1"][1])
        self.assertEqual(found["0"][1], found["2"][1])
        self.assertGreater(found["0"][0], found["1"][0])
        self.assertGreaterEqual(found["1"][0], found["2"][0])
        self.assertEqual(self.compiled("many_weights", name="a.npu").read_bytes(), self.compiled("many_weights", "--effort", "1", name="b.npu").read_bytes())
        self.bad(64, "bad_option", "--effort takes 0, 1 or 2", "compile", self.dir / "many_weights.tosa", "--effort", "3", "-o", self.dir / "c.npu")

    def test_compile_time_options_come_from_the_file(self):
        for option in ("--state-in-dram", "--double-buffer"):
            self.both("running_sum", "--input", "frames.npy", "--sequence", compile_options=(option,))
            self.bad(64, "bad_option", f"{option} belongs to npu compile", "run", self.dir / "net.npu", "--input", self.dir / "frames.npy", option)

    def test_constants_stay_where_that_was_compiled(self):
        files = self.both("convolution", "--input", "x.npy", compile_options=("--resident-constants",))
        constants = json.loads(files["r.json"])["resident_constants"]
        self.assertEqual(constants["loads"], 1)
        self.assertGreater(constants["bytes"], 0)
        self.assertGreater(constants["load_cycles"], 0)
        program, pictures = self.dir / "net.npu", self.dir / "x.npy"
        self.bad(64, "bad_option", "--resident-constants belongs to npu compile", "run", program, "--input", pictures, "--resident-constants")
        self.bad(64, "bad_option", "compile it without resident constants", "run", program, "--input", pictures, "--bypass-firmware")
        self.bad(64, "bad_option", "leave out --bypass-firmware", "run", self.dir / "convolution.tosa", "--resident-constants", "--bypass-firmware")

    def test_the_state_that_it_saves_is_that_of_its_network(self):
        self.compiled("running_sum")
        for file in ("running_sum.tosa", "net.npu"):
            self.good("run", file, "--input", "frames.npy", "--sequence", "--invocations", "2", "--save-state", f"{file}.state", cwd=self.dir)
        self.assertEqual((self.dir / "running_sum.tosa.state").read_bytes(), (self.dir / "net.npu.state").read_bytes())
        for file in ("running_sum.tosa", "net.npu"):
            self.good("run", file, "--input", "frames.npy", "--sequence", "--skip", "2", "--resume", "net.npu.state", "-o", f"{file}.out", cwd=self.dir)
        self.assertEqual(*[[path.read_bytes() for path in (self.dir / f"{file}.out").iterdir()] for file in ("running_sum.tosa", "net.npu")])

    def test_the_same_network_gives_the_same_bytes(self):
        self.assertEqual(self.compiled("convolution", name="a.npu").read_bytes(), self.compiled("convolution", name="b.npu").read_bytes())

    def test_the_machine_is_in_the_file(self):
        wide = self.dir / "wide.yaml"
        wide.write_text("base: edge\nvpu_lanes: 128\n", encoding="utf-8")
        self.compiled("convolution", "--config", wide)
        text = wide.read_text(encoding="utf-8")
        wide.unlink()
        self.assertIn(" on wide (timed)", self.good("run", self.dir / "net.npu", "--input", self.dir / "x.npy").out)
        self.bad(3, "contract_mismatch", "'wide' with capabilities", "run", self.dir / "net.npu", "--config", "edge")
        self.bad(3, "contract_mismatch", "vpu_lanes is 64, not 128", "run", self.dir / "net.npu", "--config", "edge")
        wide.write_text(text, encoding="utf-8")
        self.good("run", self.dir / "net.npu", "--config", wide)

    def test_the_reference_needs_the_graph(self):
        program = self.compiled("convolution")
        arguments = ["run", program, "--input", self.dir / "x.npy"]
        for option in (["--check", "reference"], ["--level", "8k"], ["--strict"]):
            self.bad(64, "bad_option", "name its file with --graph", *arguments, *option)
            self.good(*arguments, *option, "--graph", self.dir / "convolution.tosa")
        text = self.good(*arguments, "--check", "reference", "--graph", self.dir / "convolution.tosa").out
        self.assertIn("0 differing of 512 elements", text)
        self.bad(64, "bad_option", "is not the network that", *arguments, "--check", "reference", "--graph", self.dir / "running_sum.tosa")
        self.bad(64, "bad_option", "is a network itself", "run", self.dir / "convolution.tosa", "--graph", self.dir / "convolution.tosa")
        self.bad(66, "cannot_read", "nosuch.npu", "run", self.dir / "nosuch.npu", "--graph", self.dir / "convolution.tosa")

    def test_a_format_that_the_mxu_lacks_is_promoted_on_demand(self):
        single = self.dir / "single.yaml"
        single.write_text("base: server\nmxu_fp16_cycles: 0\n", encoding="utf-8")
        arguments = (self.dir / "halves.tosa", "--config", single)
        said = "promoted  1 CONV2D of FP16 in FP32"
        self.bad(3, "type_unsupported", "--promote fp32", "run", *arguments)
        self.assertIn(said, self.good("run", *arguments, "--promote", "fp32", "--check", "reference", "--json", self.dir / "r.json").out)
        report = json.loads((self.dir / "r.json").read_text())
        self.assertEqual(report["run"]["promoted"], [{"operator": "CONV2D", "result": "y", "from": "FP16"}])
        self.assertEqual([report["check"][key] for key in ("compared", "floats", "nans", "differing")], [48, 48, 0, 0])
        self.assertEqual([one["format"] for one in report["total"]["formats"]], ["f32"])

        program = self.dir / "halves.npu"
        self.assertIn(said, self.good("compile", *arguments, "-o", program, "--promote", "fp32").out)
        self.good("run", program, "--graph", self.dir / "halves.tosa", "--check", "reference")
        self.bad(64, "bad_option", "--promote belongs to npu compile", "run", program, "--promote", "fp32")
        self.bad(64, "bad_option", "--promote takes fp32, not 'fp64'", "run", *arguments, "--promote", "fp64")
        unneeded = self.good("run", self.dir / "halves.tosa", "--config", "server", "--promote", "fp32", "--json", self.dir / "r.json").out
        self.assertIn("promoted  nothing", unneeded)
        self.assertEqual(json.loads((self.dir / "r.json").read_text())["run"]["promoted"], [])

    def test_other_commands_ask_for_the_network(self):
        program = self.compiled("convolution")
        for arguments in (["info", program], ["reference", program, "--input", self.dir / "x.npy"], ["compile", program, "-o", self.dir / "b.npu"],
                          ["stream", f"{program}={self.dir / 'x.npy'}"]):
            self.bad(2, "file_damaged", "is a compiled program, but the network is needed here", *arguments)

    def test_the_command_line(self):
        network = self.dir / "convolution.tosa"
        self.bad(64, "bad_option", "-o FILE.npu is missing", "compile", network)
        self.bad(64, "bad_option", "the network's FILE is missing", "compile", "-o", self.dir / "a.npu")
        self.bad(64, "bad_option", "the network", "compile", network, "-o", network)
        self.bad(66, "cannot_write", "", "compile", network, "-o", self.dir / "none/a.npu")
        self.bad(66, "cannot_read", "", "compile", self.dir / "none.tosa", "-o", self.dir / "a.npu")
        before = sorted(self.dir.iterdir())
        self.bad(3, "type_unsupported", "", "compile", self.dir / "floating_point.tosa", "--config", "nano", "-o", self.dir / "left.npu")
        self.assertEqual(sorted(self.dir.iterdir()), before)

    def test_damaged_files_are_refused_by_name(self):
        data = self.compiled("running_sum").read_bytes()
        bad = self.dir / "bad.npu"
        for wrong, fragment in ((data[:-1], "is truncated"), (data[:20], "is truncated"), (data + b"x", "is damaged"),
                                (data[:100] + bytes([data[100] ^ 1]) + data[101:], "its checksum does not fit its content")):
            bad.write_bytes(wrong)
            self.bad(2, "file_damaged", fragment, "run", bad)
            self.bad(2, "file_damaged", "bad.npu'", "run", bad)
        bad.write_bytes(data[:8] + b"\2" + data[9:])
        self.bad(3, "contract_mismatch", "has format version 2.", "run", bad)

    def test_a_hostile_machine_reads_no_other_file(self):
        data = self.compiled("running_sum").read_bytes()
        start = data.index(b"clock_mhz: ")
        line = data.index(b"\n", start) - start
        hostile = data[:start] + b"base: edge".ljust(line) + data[start + line:]
        bad = self.dir / "bad.npu"
        bad.write_bytes(resealed(hostile))
        self.bad(64, "bad_preset", "base", "run", bad)

    def test_any_content_with_a_checksum_that_fits_ends_as_documented(self):
        data = self.compiled("running_sum").read_bytes()
        bad, draw, endings = self.dir / "bad.npu", random.Random(1), {}
        for _ in range(120):
            changed = bytearray(data)
            for _ in range(draw.choice((1, 1, 2, 8))):
                changed[draw.randrange(FRAME, len(data) - CHECKSUM)] = draw.choice((0, 1, 0x7f, 0xff, draw.randrange(256)))
            bad.write_bytes(resealed(bytes(changed)))
            result = run("run", bad, "--input", self.dir / "frames.npy", "--sequence", "--mode", "functional", "--json", self.dir / "any.json")
            self.assertIn(result.returncode, harness.DOCUMENTED, result.err)
            endings[result.returncode] = endings.get(result.returncode, 0) + 1
            if result.returncode == 0:
                json.loads((self.dir / "any.json").read_text(encoding="utf-8"))
        self.assertGreaterEqual(endings.get(0, 0), 5, endings)
        self.assertGreaterEqual(endings.get(2, 0), 5, endings)


if __name__ == "__main__":
    harness.main()
