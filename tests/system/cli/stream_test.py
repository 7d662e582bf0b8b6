#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several networks at once on one device, `npu stream`: usage stream_test.py NPU MAKE_NETWORKS."""

import json
import re
import shutil
from pathlib import Path

import harness
from harness import NpuTest, listing, read_npy

FRAMES = 24


class Stream(NpuTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Three networks whose variables have the same name, and one without any.
        for name in ("one", "two", "three"):
            shutil.copy(cls.dir / "running_sum.tosa", cls.dir / (name + ".tosa"))
            cls.save(name + ".npy", "|i1", (FRAMES, 1, 4), [(i * (3 + len(name)) + len(name)) % 5 - 2 for i in range(4 * FRAMES)])
        cls.save("pictures.npy", "|i1", (3, 1, 8, 8, 4), [(i * 37 + 11) % 251 - 125 for i in range(768)])
        cls.streams = [f"{cls.dir / name}.tosa={cls.dir / name}.npy" for name in ("one", "two", "three")]
        cls.streams.append(f"{cls.dir / 'convolution'}.tosa={cls.dir / 'pictures'}.npy")

    def test_streams_do_not_disturb_each_other(self):
        for check in ("undisturbed", "reference"):
            for seed in (1, 2):
                text = self.good("stream", *self.streams, "--interleave", seed, "--retention", "--check", check).out
                elements = 3 * 4 * FRAMES + 3 * 8 * 8 * 8
                self.assertIn(f"0 differing of {elements:,} elements compared", text)
                self.assertIn(f"4 networks on edge (timed), each in a context of its own, seed {seed}\n", text)

    def test_floating_point_is_near_the_reference_and_undisturbed_in_every_bit(self):
        self.save("numbers.npy", "<f4", (FRAMES, 1, 1, 1, 64), [((i * 37 + 11) % 251 - 125) / 97 for i in range(64 * FRAMES)])
        stream = f"{self.dir / 'singles'}.tosa={self.dir / 'numbers'}.npy"
        elements = 8 * FRAMES
        near = self.good("stream", stream, "--config", "server", "--check", "reference").out
        self.assertIn(f"0 differing of {elements} elements compared", near)
        others = re.search(rf"floating point: (\d+) of {elements} elements have other bits, 0 of these are more than 64 units", near)
        self.assertGreater(int(others[1]), 0)
        exact = self.good("stream", stream, stream, "--config", "server", "--check", "undisturbed").out
        self.assertIn(f"0 differing of {2 * elements} elements compared", exact)
        self.assertNotIn("floating point:", exact)

    def test_outputs_are_those_of_npu_run(self):
        out = self.dir / "streams"
        self.good("stream", *self.streams, "--retention", "-o", out)
        for name in ("one", "two", "three"):
            self.good("run", self.dir / (name + ".tosa"), "--input", self.dir / (name + ".npy"), "--sequence", "-o", self.dir / "run")
            self.assertEqual(read_npy(out / name / "y.npy"), read_npy(self.dir / "run/y.npy"))

    def test_sizes_that_a_network_leaves_open_are_those_of_its_frames(self):
        network, out = self.dir / "open_stream.tosa", self.dir / "open_streams"
        inputs = [f"{name}={self.save(f'open_{name}.npy', '|i1', (6, rows, 4), [(step * i) % 251 - 125 for i in range(24 * rows)])}"
                  for name, step, rows in (("x", 37, 5), ("w", 53, 5))]
        for context in ([], ["--context", "one"]):
            text = self.good("stream", *context, self.streams[0], network, "--input", inputs[0], "--input", inputs[1], "--check", "reference", "-o", out).out
            self.assertIn(f"0 differing of {4 * FRAMES + 6 * 20} elements compared", text)
            self.good("run", network, "--sequence", "--input", *inputs, "-o", self.dir / "open_run")
            self.assertEqual(read_npy(out / "open_stream" / "y.npy"), read_npy(self.dir / "open_run" / "y.npy"))
        print(f"stream: 0 differing of {4 * FRAMES + 6 * 20} elements")
        self.bad(64, "bad_input", "open_stream.tosa': input 'w' (INT8[-1, 4]) is missing", "stream", network, "--input", inputs[0])
        four = self.save("open_four.npy", "|i1", (6, 4, 4), [1] * 96)
        self.bad(1, "size_mismatch", "open_stream.tosa': operator 0 (BITWISE_XOR): input1 'x' [5, 4] and input2 'w' [4, 4]", "stream", network, "--input",
                 inputs[0], "--input", f"w={four}")
        self.bad(64, "bad_input", "input 'x' is INT8[-1, 4], not [6]", "stream", network, "--input", f"x={self.save('open_flat.npy', '|i1', (6,), [1] * 6)}",
                 "--input", inputs[1])
        # Networks of one context have one variable, of one size.
        one, two = (self.save(f"open_kept{rows}.npy", "|i1", (2, rows, 4), [1] * (8 * rows)) for rows in (2, 3))
        kept = self.dir / "open_kept.tosa"
        self.good("stream", "--context", "one", f"{kept}={one}", f"{kept}={one}", "--check", "reference")
        self.bad(1, "variable_mismatch", "INT8[2, 4]", "stream", "--context", "one", f"{kept}={one}", f"{kept}={two}")

    def test_the_document_says_what_ran_when(self):
        path = self.dir / "stream.json"
        documents = []
        for seed in (5, 5, 6):
            self.good("stream", *self.streams, "--interleave", seed, "--retention", "--check", "undisturbed", "--json", path)
            documents.append(json.loads(path.read_text()))
        document = documents[0]
        self.assertEqual(document, documents[1])
        self.assertNotEqual(document["rounds"], documents[2]["rounds"])
        self.assertEqual((document["schema"], document["seed"], document["check"]["differing"]), ("npu-stream", 5, 0))
        ran = [i for one in document["rounds"] for i in one["networks"]]
        self.assertEqual([ran.count(i) for i in range(4)], [FRAMES, FRAMES, FRAMES, 3])
        self.assertEqual([n["frames"] for n in document["networks"]], [FRAMES, FRAMES, FRAMES, 3])
        self.assertEqual(document["power_downs"], sum(one["power_down"] for one in document["rounds"]))
        self.assertGreater(document["power_downs"], 0)
        self.assertTrue(any(len(one["networks"]) > 1 for one in document["rounds"]))

    def test_constants_stay_until_the_power_goes(self):
        path = self.dir / "stays.json"
        for options, most in (((), 1), (("--retention",), 3), (("--no-resident-constants",), 0)):
            text = self.good("stream", *self.streams, *options, "--check", "reference", "--json", path).out
            self.assertEqual("stay in the scratchpad" in text, most > 0, options)
            convolution = json.loads(path.read_text())["networks"][3]
            self.assertEqual(convolution["resident_bytes"] > 0, most > 0)
            self.assertEqual(convolution["loads"] > 0, most > 0)
            self.assertLessEqual(convolution["loads"], most)

    def test_functional_mode_and_another_machine(self):
        text = self.good("stream", *self.streams, "--config", "nano", "--mode", "functional", "--check", "reference").out
        self.assertIn("on nano (functional)", text)
        self.assertIn("powered down after 0 of them", text)

    def test_state_that_does_not_fit_goes_to_dram(self):
        frames = self.save("much.npy", "|i1", (4, 1, 24000), [(i * 37 + i // 24000) % 251 - 125 for i in range(96000)])
        streams = []
        for i in range(4):
            shutil.copy(self.dir / "much_state.tosa", self.dir / f"much_{i}.tosa")
            streams.append(f"{self.dir / f'much_{i}'}.tosa={frames}")
        path = self.dir / "spilled.json"
        for option, in_dram in (((), (0, 0, 24000, 24000)), (("--double-buffer",), (0, 24000, 24000, 24000)),
                                (("--state-in-dram",), (24000,) * 4)):
            for check in ("undisturbed", "reference"):
                text = self.good("stream", *streams, *option, "--retention", "--check", check, "--json", path).out
                self.assertIn("0 differing of 384,000 elements compared", text)
                networks = json.loads(path.read_text())["networks"]
                self.assertEqual(tuple(n["dram_bytes"] for n in networks), in_dram)
                self.assertEqual([n["bytes"] for n in networks], [24000] * 4)

    def test_more_networks_than_a_device_serves(self):
        streams = []
        for i in range(16):
            shutil.copy(self.dir / "one.tosa", self.dir / f"many_{i}.tosa")
            streams.append(f"{self.dir / f'many_{i}'}.tosa={self.dir / 'one'}.npy")
        self.bad(4, "contexts_full", "16 networks are on the command line, but a device serves 15 at a time", "stream", *streams,
                 "--check", "undisturbed")
        self.good("stream", *streams[:15], "--mode", "functional", "--check", "reference")
        shutil.copy(self.dir / "many_variables.tosa", self.dir / "wide.tosa")
        wide = self.save("wide.npy", "|i1", (1, 1, 4), [0] * 4)
        self.bad(4, "variable_table_full", "201 variables together, but the variable table of the machine has 128 entries; var_entries: 256 is the "
                 "smallest machine that holds them", "stream", streams[0], f"{self.dir / 'wide'}.tosa={wide}")
        # What it says is enough.
        machine = self.dir / "wide.yaml"
        preset = (Path(__file__).resolve().parents[3] / "hw/presets/edge.yaml").read_text()
        machine.write_text(preset.replace("var_entries: 128", "var_entries: 256"))
        self.good("stream", streams[0], f"{self.dir / 'wide'}.tosa={wide}", "--mode", "functional", "--config", machine)

    def test_networks_of_one_context_share_variables_of_one_name(self):
        frames = [read_npy(self.dir / f"{name}.npy")[2] for name in ("one", "two")]
        both = [value for i in range(FRAMES) for values in frames for value in values[4 * i:4 * i + 4]]
        self.save("both.npy", "|i1", (2 * FRAMES, 1, 4), both)
        self.good("run", self.dir / "running_sum.tosa", "--input", self.dir / "both.npy", "--sequence", "-o", self.dir / "run")
        sums = read_npy(self.dir / "run/y.npy")[2]
        out = self.dir / "shared"
        for options in ((), ("--retention", "--interleave", "9"), ("--config", "nano", "--double-buffer"), ("--state-in-dram",)):
            text = self.good("stream", "--context", "both", *self.streams[:2], "--check", "reference", "-o", out, *options).out
            self.assertIn("all in one context", text)
            self.assertIn(f"0 differing of {8 * FRAMES} elements", text)
            for name, turn in (("one", 0), ("two", 1)):
                want = [value for i in range(FRAMES) for value in sums[8 * i + 4 * turn:8 * i + 4 * turn + 4]]
                self.assertEqual(read_npy(out / name / "y.npy")[2], want)

    def test_networks_of_one_context_may_have_variables_of_their_own(self):
        out, x = self.dir / "follows", read_npy(self.dir / "one.npy")[2]
        self.good("stream", "--context", "both", self.streams[0], f"{self.dir}/follower.tosa={self.dir}/one.npy", "--check",
                  "reference", "-o", out)
        sums, kept = read_npy(out / "one/y.npy")[2], [0] * 4
        for i in range(0, 4 * FRAMES, 4):
            self.assertEqual(read_npy(out / "follower/y.npy")[2][i:i + 4], [a ^ b for a, b in zip(sums[i:i + 4], kept)])
            kept = [a ^ b for a, b in zip(sums[i:i + 4], x[i:i + 4])]
        # What comes first declares for a network that reads first.
        late = f"{self.dir}/declared_late.tosa={self.dir}/one.npy"
        self.good("stream", "--context", "both", self.streams[0], late, "--check", "reference")
        self.bad(1, "variable_undeclared", "'sum/state' is used before its declaration", "stream", "--context", "both", late,
                 self.streams[0])

    def test_what_cannot_be_shared(self):
        self.save("words.npy", "<i2", (2, 1, 4), list(range(8)))
        self.bad(1, "variable_mismatch", "'sum/state'", "stream", "--context", "both", self.streams[0],
                 f"{self.dir}/running_sum_16.tosa={self.dir}/words.npy")

    def test_networks_with_several_inputs(self):
        for name in ("left", "right"):
            self.save(f"{name}.npy", "<i4", (FRAMES, 1, 4), [(i * (3 + len(name)) + len(name)) % 50 - 20 for i in range(4 * FRAMES)])
        inputs = [("--input", f"left={self.dir / 'left.npy'}"), ("-i", f"right={self.dir / 'right.npy'}")]
        network, out = self.dir / "two_sums.tosa", self.dir / "several"
        self.good("run", network, *inputs[0], *inputs[1], "--sequence", "-o", self.dir / "run")
        for order in (inputs, inputs[::-1]):
            text = self.good("stream", self.streams[0], network, *order[0], *order[1], self.dir / "two.tosa", "--input",
                             self.dir / "two.npy", "--retention", "--check", "reference", "-o", out).out
            self.assertIn(f"0 differing of {5 * 4 * FRAMES} elements compared", text)
            for name in ("left%20sum.npy", "right%20sum.npy", "difference.npy"):
                self.assertEqual(read_npy(out / "two_sums" / name), read_npy(self.dir / "run" / name))

    def test_bad_inputs_name_their_network(self):
        network, left = self.dir / "two_sums.tosa", self.save("l.npy", "<i4", (3, 1, 4), range(12))
        short = self.save("s.npy", "<i4", (2, 1, 4), range(8))
        given = ("stream", self.streams[0], network, "--input", f"left={left}")
        named = f"'{network}': "
        self.bad(64, "bad_input", named + "input 'right' (INT32[1, 4]) is missing", *given)
        self.bad(64, "bad_input", named + "input 'left' is given twice", *given, "--input", f"left={left}")
        self.bad(64, "bad_input", named + "the network has no input 'middle'", *given, "--input", f"middle={left}")
        self.bad(64, "bad_input", named + "the network has 2 inputs", *given, "--input", left)
        self.bad(64, "bad_input", named + "input 'right' has 2 invocations, but input 'left' has 3", *given, "-i", f"right={short}")
        self.bad(64, "bad_input", f"'{self.dir / 'two.tosa'}': ", *given, "-i", f"right={left}", self.dir / "two.tosa", "-i", left)
        self.bad(64, "bad_option", f"--input 'left={left}' has no network before it", "stream", "--input", f"left={left}", network)
        self.bad(64, "bad_option", f"'{network}' is not NETWORK.tosa=FRAMES.npy, and no --input", "stream", network, *self.streams)
        self.bad(64, "bad_option", "are the same file", *given, "-i", f"right={short}", "--json", short)

    def test_bad_options(self):
        one = self.streams[0]
        self.bad(64, "bad_option", "NETWORK.tosa=FRAMES.npy is missing", "stream")
        self.bad(64, "bad_option", "is not NETWORK.tosa=FRAMES.npy", "stream", self.dir / "one.tosa")
        self.good("stream", one, one, "--check", "undisturbed", "--outputs", self.dir / "twice")
        self.assertEqual(*[(self.dir / "twice" / name / "y.npy").read_bytes() for name in ("one", "one-2")])
        self.bad(64, "bad_option", "--check knows undisturbed and reference", "stream", one, "--check", "x")
        self.bad(64, "bad_option", "SEED of --interleave", "stream", one, "--interleave", "x")
        self.bad(64, "bad_input", "has 2 inputs", "stream", f"{self.dir / 'odd_names'}.tosa={self.dir / 'one'}.npy")
        self.bad(66, "cannot_read", "none.npy", "stream", f"{self.dir / 'one'}.tosa={self.dir / 'none'}.npy")

    def test_odd_names_of_networks(self):
        out = self.dir / "odd" / "out"
        out.mkdir(parents=True)
        for name, folder in (("...tosa", "%2E."), ("a\nb.tosa", "a%0Ab")):
            shutil.copy(self.dir / "one.tosa", self.dir / name)
            text = self.good("stream", f"{self.dir / name}={self.dir / 'one'}.npy", "-o", out).out
            self.assertIn("1 network on edge", text)
            self.assertNotIn("a\nb", text)
            self.assertTrue((out / folder / "y.npy").is_file())
        self.assertEqual(sorted(p.name for p in out.parent.iterdir()), ["out"])
        flat = self.save("flat.npy", "|i1", (4, 4), range(16))
        self.bad(64, "bad_input", "counts invocations by its first axis, and each has shape [4], but the tensor has [1, 4]",
                 "stream", f"{self.dir / 'one'}.tosa={flat}")

    def test_nothing_is_written_when_a_network_fails(self):
        out = self.dir / "failing"
        out.mkdir()
        self.bad(1, "variable_unwritten", "lost/state", "stream", *self.streams,
                 f"{self.dir / 'unwritten'}.tosa={self.dir / 'one'}.npy", "-o", out / "streams", "--json", out / "s.json")
        self.assertEqual(listing(out), [])

    def test_help(self):
        self.assertIn("examples:\n  npu stream", self.good("stream", "--help").out)


if __name__ == "__main__":
    harness.main()
