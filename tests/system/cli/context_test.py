#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that share state in contexts of one device, `npu stream --context`: usage context_test.py NPU MAKE_NETWORKS."""

import json
import shutil

import harness
from harness import NpuTest, listing, read_npy

FRAMES = 6  # of the encoder
URGENT = 24


class Contexts(NpuTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.save("spoken.npy", "|i1", (FRAMES, 1, 32, 32, 16), [(i * i + 37 * i) // 5 % 256 - 128 for i in range(FRAMES * 16384)])
        cls.save("urgent.npy", "|i1", (URGENT, 1, 4), [i * 3 % 5 - 2 for i in range(4 * URGENT)])
        for name, count in (("one", 12), ("two", 4)):
            shutil.copy(cls.dir / "running_sum.tosa", cls.dir / (name + ".tosa"))
            cls.save(name + ".npy", "|i1", (count, 1, 4), [(i * (3 + len(name)) + count) % 5 - 2 for i in range(4 * count)])
        # With longer FIFOs the sequencer is past a small network's yields before an urgent job can come.
        (cls.dir / "short.yaml").write_text("base: edge\nfifo_depth: 1\n")
        cls.encoder = [f"{cls.dir / 'encoder'}.tosa={cls.dir / 'spoken'}.npy", "--per-round", "2"]
        cls.decoder = [cls.dir / "decoder.tosa", "--invocations", "5"]
        cls.talk = ["--context", "talk", *cls.encoder, *cls.decoder]
        cls.wake = ["--context", "wake", "--priority", "1", f"{cls.dir / 'running_sum'}.tosa={cls.dir / 'urgent'}.npy", "--per-round", "6"]

    def document(self, *arguments):
        path = self.dir / "stream.json"
        text = self.good("stream", *arguments, "--json", path).out
        return json.loads(path.read_text()), text

    def test_every_element_is_the_reference_s(self):
        elements = 64 * (FRAMES + 5)
        interrupted = 0
        for machine in ("edge", self.dir / "short.yaml", "nano"):
            for options in ((), ("--mode", "functional"), ("--retention", "--double-buffer"), ("--state-in-dram",)):
                for urgent, more in (((), 0), (self.wake, 4 * URGENT)):
                    document, text = self.document(*self.talk, *urgent, "--config", machine, *options, "--check", "reference")
                    self.assertIn(f"check     0 differing of {elements + more:,} elements compared with the reference", text)
                    interruptions = [network["interruptions"] for network in document["networks"]]
                    if urgent:
                        self.assertEqual(interruptions[2], 0)
                    else:
                        self.assertEqual(interruptions, [0, 0])
                    interrupted += interruptions[0] > 0
        # On nano and with short FIFOs, timed, the encoder is interrupted.
        self.assertGreaterEqual(interrupted, 4)

    def test_undisturbed_is_a_context_alone(self):
        for machine in ("edge", "nano"):
            text = self.good("stream", *self.talk, *self.wake, "--config", machine, "--retention", "--check", "undisturbed").out
            self.assertIn(f"0 differing of {64 * (FRAMES + 5) + 4 * URGENT} elements compared with runs of each context alone", text)

    def test_order_of_invocations(self):
        document, text = self.document(*self.talk)
        self.assertIn("2 networks on edge (timed), all in one context, seed 1\n", text)
        self.assertIn("order     round 0: encoder 0, encoder 1, decoder 0\n"
                      "          round 1: encoder 2, encoder 3, decoder 1\n"
                      "          round 2: encoder 4, encoder 5, decoder 2\n"
                      "          and 2 more rounds, which --json lists\n", text)
        self.assertEqual([one["networks"] for one in document["rounds"]], [[0, 0, 1], [0, 0, 1], [0, 0, 1], [1], [1]])
        self.assertEqual(document["contexts"], [{"name": "talk", "priority": 0}])
        self.assertEqual([(n["context"], n["frames"], n["frames_a_round"]) for n in document["networks"]], [(0, FRAMES, 2), (0, 5, 1)])
        self.assertTrue(document["shared"])

    def test_contexts_take_turns_at_random_and_the_same_way_again(self):
        for seed in (1, 2):
            first, _ = self.document(*self.talk, *self.wake, "--interleave", seed, "--retention")
            again, _ = self.document(*self.talk, *self.wake, "--interleave", seed, "--retention")
            self.assertEqual(first, again)
            ran = [i for one in first["rounds"] for i in one["networks"]]
            self.assertEqual([i for i in ran if i != 2], [0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1])
            self.assertEqual(ran.count(2), URGENT)
            self.assertEqual(first["contexts"], [{"name": "talk", "priority": 0}, {"name": "wake", "priority": 1}])
            self.assertFalse(first["shared"])
            together = [one["networks"] for one in first["rounds"] if 0 in one["networks"] and 2 in one["networks"]]
            self.assertTrue(together)
            # Frames of both contexts in turn, whichever comes first.
            for networks in together:
                self.assertIn(networks[:4], ([0, 2, 0, 2], [2, 0, 2, 0]))

    def test_outputs_are_those_of_the_order(self):
        """One network with the frames of both in the order of the rounds gives the same sums."""
        frames = {name: read_npy(self.dir / f"{name}.npy")[2] for name in ("one", "two")}
        order = ["one", "one", "one", "two"] * 4
        at, values = {"one": 0, "two": 0}, []
        for name in order:
            values += frames[name][4 * at[name]:4 * at[name] + 4]
            at[name] += 1
        self.save("both.npy", "|i1", (16, 1, 4), values)
        self.good("run", self.dir / "running_sum.tosa", "--input", self.dir / "both.npy", "--sequence", "-o", self.dir / "run")
        sums = read_npy(self.dir / "run/y.npy")[2]
        out = self.dir / "sums"
        networks = [f"{self.dir / 'one'}.tosa={self.dir / 'one'}.npy", "--per-round", "3", f"{self.dir / 'two'}.tosa={self.dir / 'two'}.npy"]
        # A third network of another context has the same variable, and its own value.
        apart = f"{self.dir / 'running_sum'}.tosa={self.dir / 'urgent'}.npy"
        for line in (["--context", "a", *networks], [apart, "--context", "a", *networks],
                     ["--context", "a", *networks[:3], "--context", "b", apart, "--context", "a", networks[3]]):
            self.good("stream", *line, "--check", "reference", "-o", out)
            for name in ("one", "two"):
                want = [sums[4 * i + k] for i, who in enumerate(order) if who == name for k in range(4)]
                self.assertEqual(read_npy(out / name / "y.npy")[2], want)

    def test_declarations_that_clash(self):
        out = self.dir / "clash"
        out.mkdir()
        other = [self.dir / "other_decoder.tosa", "--invocations", "2"]
        encoder, decoder = self.dir / "encoder.tosa", other[0]
        self.bad(1, "variable_mismatch", f"variable 'talk/features' of context 'talk' is INT8[1, 8, 8, 64] in '{encoder}', but INT8[1, 2, 2, 64] in "
                 f"'{decoder}'", "stream", *self.wake, "--context", "talk", *self.encoder, *other, "--check", "reference", "-o", out / "o", "--json",
                 out / "j.json")
        words = self.save("words.npy", "<i2", (2, 1, 4), list(range(8)))
        wide = f"{self.dir / 'running_sum_16'}.tosa={words}"
        self.bad(1, "variable_mismatch", f"'sum/state' of context 'wake' is INT8[1, 4] in '{self.dir / 'running_sum.tosa'}', but INT16[1, 4] in "
                 f"'{self.dir / 'running_sum_16.tosa'}'", "stream", *self.wake, wide, "--mode", "functional")
        self.assertEqual(listing(out), [])
        # In contexts of their own each has its variable.
        self.good("stream", *self.wake, "--context", "other", wide, "--check", "reference")
        self.good("stream", "--context", "talk", *self.encoder, "--context", "other", *other, "--check", "reference")

    def test_a_shared_variable_has_one_place(self):
        """What the first network keeps in persistent SRAM takes its room once, though two of them have none."""
        for options, in_dram in (((), [0, 0]), (("--state-in-dram",), [4096, 4160])):
            document, _ = self.document(*self.talk, "--config", "nano", *options)
            self.assertEqual([network["dram_bytes"] for network in document["networks"]], in_dram)

    def test_two_places_of_what_a_later_network_writes(self):
        """The first network only reads the variable, the second one writes it, and its second place does not fit."""
        frames = self.save("much.npy", "|i1", (3, 1, 24000), [(i * 37 + i // 24000) % 251 - 125 for i in range(72000)])
        networks = [f"{self.dir / name}.tosa={frames}" for name in ("much_reader", "much_state")]
        machine = self.dir / "tight.yaml"
        machine.write_text("base: edge\npsram_bytes: 32768\n")
        for options, in_dram in (((), 0), (("--double-buffer",), 24000)):
            document, text = self.document("--context", "much", *networks, "--config", machine, *options, "--check", "reference")
            self.assertIn("0 differing of 144,000 elements", text)
            self.assertEqual([network["dram_bytes"] for network in document["networks"]], [in_dram] * 2)

    def test_many_networks_in_one_context(self):
        networks = [f"{self.dir / 'one'}.tosa={self.dir / 'one'}.npy"] * 20
        text = self.good("stream", "--context", "all", *networks, "--check", "reference").out
        self.assertIn(f"0 differing of {20 * 48} elements", text)
        self.assertIn("one-12 0 and 8 more\n", text)
        contexts = [word for i in range(16) for word in ("--context", f"c{i}", networks[i], networks[i])]
        self.bad(4, "contexts_full", "16 contexts are on the command line, but a device serves 15 at a time;", "stream", *contexts)

    def test_share_is_one_context(self):
        networks = [f"{self.dir / name}.tosa={self.dir / name}.npy" for name in ("one", "two")]
        document, text = self.document(*networks, "--share", "--check", "reference")
        named, named_text = self.document("--context", "shared", *networks, "--check", "reference")
        self.assertEqual((document, text), (named, named_text))

    def test_bad_options(self):
        one = f"{self.dir / 'one'}.tosa={self.dir / 'one'}.npy"
        for fragment, line in (("--context needs a name", ["--context", "", one]),
                               ("no network stands behind --context 'b'", ["--context", "a", one, "--context", "b"]),
                               ("--per-round '2' has no network before it; give", ["--per-round", "2", one]),
                               ("--per-round '2' has no network before it in its context", [one, "--context", "a", "--per-round", "2", one]),
                               ("--input 'x.npy' has no network before it in its context", [one, "--context", "a", "--input", "x.npy", one]),
                               ("--per-round takes 1 to", [one, "--per-round", "0"]),
                               ("--per-round needs a whole number", [one, "--per-round", "x"]),
                               ("--invocations takes 1 to", [one, "--invocations", "0"]),
                               ("--invocations is 13, but the sequence has 12", [one, "--invocations", "13"]),
                               ("--priority '1' has no network or --context before it", ["--priority", "1", one]),
                               ("--priority takes 0 to 255, not 256", [one, "--priority", "256"]),
                               ("leave out --share", ["--context", "a", one, "--share"]),
                               ("leave out --share", [one, "--priority", "3", "--share"]),
                               ("no --input stands behind it", ["--context", "a", self.dir / "decoder.tosa"])):
            self.bad(64, "bad_option", fragment, "stream", *line)
        self.bad(64, "bad_input", "input 'x' (INT8[1, 4]) is missing", "stream", self.dir / "one.tosa", "--invocations", "2")
        self.bad(64, "bad_input", "the network has 0 inputs (none)", "stream", f"{self.dir / 'decoder'}.tosa={self.dir / 'one'}.npy", "--invocations", "2")

    def test_help(self):
        self.assertIn("--context talk encoder.tosa", self.good("stream", "--help").out)


if __name__ == "__main__":
    harness.main()
