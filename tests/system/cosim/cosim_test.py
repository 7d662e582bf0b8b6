#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`npu run --rtl`, `--lockstep` and `npu replay`.

usage: cosim_test.py NPU MAKER WRONG NETWORKS [ZOO]. WRONG is an npu with a wrong MXU and VPU of preset nano: values that
are clipped from above have their lowest bit flipped. NETWORKS has the imported wake words, ZOO is optional."""

import json
import re
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import harness
from harness import NpuTest

WRONG, NETWORKS, ZOO = "", None, None
PRESETS = ("nano", "edge")
SAMPLES = ("unet_int8", "super_resolution_int8", "greedy_decoder_int8")  # beside the wake words in NETWORKS
# By engine: a network whose first layer the wrong one gets wrong, that layer's operators, and a result of RTL and model there.
CAUGHT = {"mxu": ("two_layers", "CONV2D+RESCALE", 126, 127), "vpu": ("clamped", "CLAMP", 61, 60)}


class Cosim(NpuTest):
    def report(self, *arguments):
        path = self.dir / "report.json"
        self.good("run", *arguments, "--json", path)
        return json.loads(path.read_text())

    def same_persistent_sram(self, ran, back_end):
        """The cycles of every operation are the device's, and in lockstep something was compared."""
        self.assertEqual(ran["back_end"], back_end)
        self.assertGreater(ran["operations"], 0)
        self.assertGreater(ran["accesses"], 0)
        self.assertEqual(ran["compared"] > 0, back_end == "lockstep")
        cycles = ran["cycle_differences"]
        self.assertEqual(cycles, {"operations": cycles["operations"], "exact": cycles["operations"], "mean_absolute": 0.0, "worst": 0})
        self.assertGreaterEqual(cycles["operations"], ran["operations"])

    def lockstep(self, file, *inputs, presets=PRESETS):
        """Runs in lockstep on the presets; nothing differs, and cycles are those of the model alone."""
        for preset in presets:
            arguments = [file, *(["--input", *inputs] if inputs else ["--random-inputs", "1"]), "--config", preset]
            report, model = self.report(*arguments, "--lockstep"), self.report(*arguments)
            self.assertEqual([engine["engine"] for engine in report["engines"]], ["mxu", "vpu"])
            for engine in report["engines"]:
                tiles = engine["tiles"]
                self.assertEqual((engine["back_end"], engine["rtl_tiles"]), ("lockstep", tiles))
                self.assertEqual(engine["elements_compared"] > 0, tiles > 0)
                exact = {"tiles": tiles, "exact": tiles, "mean_absolute": 0.0, "worst": 0, "same_requests": tiles}
                exact = exact if tiles else None
                self.assertEqual(engine["cycle_differences"], exact)
            mxu, vpu = report["engines"]
            self.assertGreater(mxu["tiles"], 0)
            self.same_persistent_sram(report["persistent_sram"], "lockstep")
            self.assertEqual(model["persistent_sram"]["back_end"], "model")
            self.assertEqual(report["total"], model["total"])
            self.assertEqual(report["layers"], model["layers"])
            print(f"{Path(file).stem} on {preset}: {mxu['tiles']} tiles of the MXU, {vpu['tiles']} of the VPU in lockstep, "
                  f"{mxu['elements_compared'] + vpu['elements_compared']} elements")


class SmallNetwork(Cosim):
    def arguments(self, *more, network="two_layers"):
        return [self.dir / f"{network}.tosa", "--input", self.dir / "x.npy", "--config", "nano", *more]

    def wrong(self, *arguments):
        return subprocess.run([WRONG, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False,
                              cwd=self.dir)

    def test_lockstep_finds_nothing(self):
        for network in ("two_layers", "upscaled"):
            self.lockstep(self.dir / f"{network}.tosa", self.dir / "x.npy")

    def test_rtl_gives_the_same_bits_and_cycles(self):
        for preset in PRESETS:
            more = ["--config", preset, "--outputs"]
            file = [self.dir / "two_layers.tosa", "--input", self.dir / "x.npy"]
            model = self.report(*file, *more, self.dir / "model")
            rtl = self.report(*file, *more, self.dir / "rtl", "--rtl", "mxu,vpu", "--check", "reference")
            self.assertEqual((self.dir / "model/y.npy").read_bytes(), (self.dir / "rtl/y.npy").read_bytes())
            self.assertEqual(rtl["total"], model["total"])
            self.assertEqual(rtl["check"]["differing"], 0)
            self.assertEqual([e["back_end"] for e in rtl["engines"]], ["rtl", "rtl"])
            self.assertEqual([e["back_end"] for e in model["engines"]], ["model", "model"])

    def test_functional_mode_compares_bits_without_cycles(self):
        mxu = self.report(*self.arguments("--mode", "functional", "--lockstep"))["engines"][0]
        self.assertGreater(mxu["elements_compared"], 0)
        self.assertIsNone(mxu["cycle_differences"])

    def test_layers_are_chosen_by_name_and_number(self):
        layers = [layer for layer in self.report(*self.arguments())["layers"] if layer["engine"] == "mxu"]
        self.assertEqual(len(layers), 2)
        whole = self.report(*self.arguments("--rtl", "mxu"))["engines"][0]
        parts = [self.report(*self.arguments("--rtl", f"mxu@{layer['name']}"))["engines"][0] for layer in layers]
        self.assertEqual([part["rtl_tiles"] for part in parts], [layer["tiles"] for layer in layers])
        self.assertEqual(sum(part["rtl_tiles"] for part in parts), whole["rtl_tiles"])
        self.assertEqual(self.report(*self.arguments("--rtl", "mxu@0"))["engines"][0]["layers"], ["0"])

    def test_wrong_choices_are_errors(self):
        for choice, fragment in (("tpu", "not 'tpu'"), ("mxu@nothing", "no such layer"), ("mxu@99", "no such layer"),
                                 ("mxu,mxu@0", "whole mxu"), ("", "not ''")):
            self.bad(64, "bad_option", fragment, "run", *self.arguments("--rtl", choice))
        self.bad(64, "bad_option", "give --lockstep", "run", *self.arguments("--keep-bundle", self.dir / "none"))
        self.bad(64, "bad_option", "does not exist yet", "run",
                 *self.arguments("--lockstep", "--keep-bundle", self.dir))

    def test_a_machine_without_rtl_is_an_error(self):
        machine = self.report(*self.arguments())["machine"]
        machine["capabilities"]["mxu_acc_bytes"] *= 2
        lines = [f"{name}: {value}" for name, value in machine["capabilities"].items()]
        lines += ["dram:"] + [f"  {name}: {value}" for name, value in machine["dram"].items()]
        path = self.dir / "other.yaml"
        path.write_text("\n".join(lines) + "\n")
        for fragment in ("no RTL was built of an MXU of 8 columns, depth 8 and 8192 bytes of accumulators with mxu_int16 1, mxu_residual 1, ",
                         "mxu_split 1, mxu_fp8_cycles 0, ",
                         "as this machine has; there is RTL of nano, edge",
                         "cmake -DNPU_RTL_MACHINES=FILE.yaml"):
            self.bad(64, "bad_preset", fragment, "run", self.dir / "two_layers.tosa", "--input",
                     self.dir / "x.npy", "--rtl", "mxu", "--config", path)

    def test_a_wrong_block_is_found_named_and_replayed(self):
        for engine, caught in CAUGHT.items():
            with self.subTest(engine):
                self.find_and_replay(engine, *caught)

    def find_and_replay(self, engine, network, operators, of_rtl, of_model):
        bundle = self.dir / f"kept-{engine}"
        layer = self.report(*self.arguments(network=network))["layers"][0]["name"]
        result = self.wrong("run", *self.arguments("--lockstep", "--rtl", engine, "--keep-bundle", bundle, network=network))
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertRegex(result.stderr, rf"^npu: error: layer 0 '{layer}' \({re.escape(operators)}\), tile 0 of invocation 0 "
                                        rf"on the {engine.upper()}: \d+ of \d+ elements differ, the first is element "
                                        rf"\[[\d, ]+\] \(number \d+, i8\): RTL {of_rtl}, model {of_model}; \d+ cycles on the "
                                        rf"RTL, \d+ in the model; run it again with: npu replay .*kept-{engine} "
                                        r"\[elements_differ\]\n$")
        tile = json.loads((bundle / "tile.json").read_text())
        self.assertEqual((tile["engine"], tile["layer"], tile["tile"]), (engine, layer, 0))
        expected, got = (bundle / "expected.bin").read_bytes(), (bundle / "got.bin").read_bytes()
        differing = [i for i in range(len(expected)) if expected[i] != got[i]]
        self.assertEqual(len(differing), tile["found"]["differing"])
        self.assertIn(f"(number {differing[0]}, i8)", result.stderr)

        again = self.wrong("replay", bundle, "--no-waveform")
        self.assertEqual(again.returncode, 7, again.stderr)
        self.assertIn("every byte as recorded", again.stdout)
        self.assertIn(tile["found"]["difference"], again.stderr)
        # The right block has the model's bits.
        right = self.good("replay", bundle, "--no-waveform")
        self.assertIn("now       equal in all of", right.out)
        self.assertIn("not those that were recorded", right.out)

    def test_rtl_alone_computes_with_the_wrong_block(self):
        for engine, (network, *_) in CAUGHT.items():
            result = self.wrong("run", *self.arguments("--rtl", engine, "--check", "reference", network=network))
            self.assertEqual(result.returncode, 7, result.stderr)
            self.assertIn("differ from the reference", result.stderr)

    def test_bundles_get_names_of_their_own(self):
        for name in ("npu-bundle", "npu-bundle-2"):
            result = self.wrong("run", *self.arguments("--lockstep"))
            self.assertIn(f"npu replay {name} ", result.stderr)
            self.assertTrue((self.dir / name / "tile.json").is_file())

    def test_a_bundles_folder_may_end_with_a_slash(self):
        result = self.wrong("run", *self.arguments("--lockstep", "--keep-bundle", f"{self.dir}/slash/deep/"))
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertTrue((self.dir / "slash/deep/tile.json").is_file())

    def test_replay_writes_a_waveform_or_says_why_not(self):
        for engine, (network, *_) in CAUGHT.items():
            bundle = self.dir / f"waves-{engine}"
            self.wrong("run", *self.arguments("--lockstep", "--keep-bundle", bundle, network=network))
            out = self.good("replay", bundle).out
            wave = bundle / "tile.fst"
            before = harness.listing(bundle)
            self.bad(64, "bad_option", "are the same file", "replay", bundle, "--waveform", bundle / "got.bin")
            self.bad(66, "cannot_write", "it is a folder", "replay", bundle, "--waveform", bundle)
            self.assertEqual(harness.listing(bundle), before)
            if "built without blocks" in out:
                self.bad(3, "feature_unsupported", "NPU_RTL_TRACE", "replay", bundle, "--waveform", wave)
                continue
            # It is of two cycles of reset, one that starts the tile, and those of this one tile, two steps each.
            cycles = int(re.search(r"^cycles +(\d+) on the RTL", out, re.MULTILINE)[1])
            kind, _, _, end = struct.unpack(">BQQQ", wave.read_bytes()[:25])
            self.assertEqual((kind, end), (0, 2 * (3 + cycles) - 1))
            self.assertEqual(sorted(bundle.glob("*.partial*")), [])

    def test_replay_refuses_what_is_no_bundle(self):
        self.bad(66, "cannot_read", "tile.json", "replay", self.dir / "nothing")
        damaged = self.dir / "damaged"
        damaged.mkdir()
        for text in ("", "{}", "[1]", '{"schema": "npu-tile", "schema_version": 99}'):
            (damaged / "tile.json").write_text(text)
            self.bad(64, "bad_input", "tile.json", "replay", damaged)

    def test_replay_refuses_a_tile_that_no_engine_runs(self):
        bundle = self.dir / "no-tile"
        self.wrong("run", *self.arguments("--lockstep", "--rtl", "mxu", "--keep-bundle", bundle))
        tile = json.loads((bundle / "tile.json").read_text())
        for words in ([], [0, *tile["command"][1:]], tile["command"][:4]):
            (bundle / "tile.json").write_text(json.dumps({**tile, "command": words}))
            self.bad(64, "bad_input", "refuses the command", "replay", bundle)


class PersistentSram(Cosim):
    """A network with a variable: its state on RTL."""

    def arguments(self, preset, *more):
        frames = self.dir / "rows.npy"
        if not frames.exists():
            self.save("rows.npy", "|i1", (9, 1, 1, 8, 4), [(i * 29) % 200 - 100 for i in range(9 * 32)])
        return [self.dir / "small_stream.tosa", "--input", frames, "--sequence", "--config", preset, *more]

    def test_the_state_runs_on_rtl(self):
        for preset in PRESETS:
            model = self.report(*self.arguments(preset, "--save-state", self.dir / "model.state"))
            for engines, back_end, more in (("psram", "rtl", []), ("mxu,vpu,psram", "rtl", []), ("psram", "lockstep", ["--lockstep"]),
                                            (None, "lockstep", ["--lockstep"])):
                chosen = ["--rtl", engines] if engines else []
                state = self.dir / f"{back_end}-{preset}-{engines}.state"
                rtl = self.report(*self.arguments(preset, *chosen, *more, "--check", "reference", "--save-state", state))
                self.same_persistent_sram(rtl["persistent_sram"], back_end)
                self.assertEqual(rtl["check"]["differing"], 0)
                self.assertGreater(rtl["check"]["compared"], 0)
                self.assertEqual((rtl["total"], rtl["layers"], rtl["state"]), (model["total"], model["layers"], model["state"]))
                self.assertEqual(rtl["engines"][0]["back_end"], "model" if engines == "psram" else back_end)
                self.assertEqual(state.read_bytes(), (self.dir / "model.state").read_bytes())
            print(f"small_stream on {preset}: {rtl['persistent_sram']['compared']} words, entries and answers compared in lockstep")

    def test_the_table_says_what_was_compared(self):
        out = self.good("run", *self.arguments("nano", "--rtl", "psram", "--lockstep")).out
        self.assertRegex(out, r"\npsram     in lockstep: [\d,]+ operations on the table, [\d,]+ accesses, 0 of [\d,]+ words, entries and "
                              r"answers differ; cycles of device and RTL equal in [\d,]+\n")
        self.assertNotIn("psram  ", self.good("run", *self.arguments("nano", "--rtl", "mxu")).out)

    def test_flipped_bits_and_power_strike_the_rtl_too(self):
        for faults, code in (("flip 0x1000.3@job2; flip 0x1008.70@job3", None), ("flip 0x0.3; flip 0x0.70", "fault_ecc"),
                             ("brown-out 40@job3", "fault_power")):
            for more in (["--rtl", "psram"], ["--rtl", "psram", "--lockstep"]):
                arguments = ["run", *self.arguments("nano", *more, "--faults", faults)]
                if code:
                    self.bad(5, code, "", *arguments)
                else:
                    self.good(*arguments)

    def test_several_networks_share_it(self):
        frames = self.arguments("nano")[2]
        networks = [f"{self.dir / 'small_stream.tosa'}={frames}"] * 2
        path = self.dir / "stream.json"
        for more, back_end in (["--lockstep"], "lockstep"), (["--rtl", "psram"], "rtl"):
            self.good("stream", *networks, "--config", "nano", "--retention", "--check", "undisturbed", "--json", path, *more)
            ran = json.loads(path.read_text())
            self.assertGreater(ran["power_downs"], 0)
            self.assertEqual(ran["check"]["differing"], 0)
            self.same_persistent_sram(ran["persistent_sram"], back_end)
            self.assertEqual([engine["back_end"] for engine in ran["engines"]],
                             ["lockstep" if back_end == "lockstep" else "model"] * 2)
        self.bad(64, "bad_option", "names a layer", "stream", *networks, "--rtl", "mxu@0")

    def test_wrong_choices_are_errors(self):
        self.bad(64, "bad_option", "which all layers use: give psram", "run", *self.arguments("nano", "--rtl", "psram@0"))
        self.bad(64, "bad_preset", "no RTL was built of a persistent SRAM of 1048576 bytes with a port of 128 and a table of 1024 entries",
                 "run", *self.arguments("server", "--rtl", "psram"))

    def test_a_wrong_block_is_found(self):
        for engine in ("psram", "mxu,vpu,psram"):
            result = subprocess.run([WRONG, "run", *map(str, self.arguments("nano", "--rtl", engine, "--lockstep"))], capture_output=True,
                                    text=True, timeout=60, check=False, cwd=self.dir)
            self.assertEqual(result.returncode, 7, result.stderr)
            if engine == "psram":
                self.assertRegex(result.stderr, r"^npu: error: invocation \d on the persistent SRAM: bytes 0x[0-9a-f]+ to 0x[0-9a-f]+ of the "
                                                r"persistent SRAM: RTL 0x[0-9a-f]+, model 0x[0-9a-f]+ \[elements_differ\]\n$")
        alone = subprocess.run([WRONG, "run", *map(str, self.arguments("nano", "--rtl", "psram", "--check", "reference"))],
                               capture_output=True, text=True, timeout=60, check=False, cwd=self.dir)
        self.assertEqual(alone.returncode, 7, alone.stderr)
        self.assertIn("differ from the reference", alone.stderr)


class RealNetworks(Cosim):
    def test_wake_words(self):
        files = [file for file in sorted(NETWORKS.glob("*.tosa")) if file.stem not in SAMPLES]
        if not files:
            self.skipTest("no wake words: they were not imported")
        for file in files:
            self.save("frame.npy", "|i1", (1, 3, 40), [(i * 29) % 200 - 100 for i in range(120)])
            self.lockstep(file, self.dir / "frame.npy")

    def test_samples(self):
        for name in SAMPLES:
            self.lockstep(NETWORKS / f"{name}.tosa")

    def test_zoo(self):
        if ZOO is None:
            self.skipTest("no zoo of networks")
        for name in ("ds_cnn_int8", "resnet8_int8", "ds_cnn_int16x8", "ad_autoencoder_int8", "transformer_relu_int8"):
            self.lockstep(ZOO / name / f"{name}.tosa", ZOO / name / "input0.npy")

    def test_floating_point(self):
        if ZOO is None:
            self.skipTest("no zoo of networks")
        self.lockstep(ZOO / "small_cnn_fp16" / "small_cnn_fp16.tosa", ZOO / "small_cnn_fp16" / "input0.npy", presets=("edge",))


if __name__ == "__main__":
    WRONG, NETWORKS = Path(sys.argv[3]).resolve(), Path(sys.argv[4])
    ZOO = Path(sys.argv[5]) if len(sys.argv) > 5 else None
    sys.argv = sys.argv[:3]
    harness.main()
