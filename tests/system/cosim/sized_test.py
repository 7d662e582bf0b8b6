#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs for all sizes within bounds, on model and RTL side by side: `npu run --sequence --dim ... --lockstep`.

usage: sized_test.py NPU MAKER WRONG [TRANSFORMER]. MAKER writes networks that leave sizes open, WRONG is an npu with a wrong MXU, VPU
and persistent SRAM of preset nano. TRANSFORMER is the file of one, optional."""

import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import harness
from harness import NpuTest

WRONG, TRANSFORMER = "", None
PRESETS = ("nano", "edge")
RTL = ["--rtl", "mxu,vpu,psram"]
# Bounds, and the inputs' shapes of each invocation: odd ones, so that tiles are cut short on either end, the largest and the least.
ROWS = ["--dim", "x.0=1..300"], [{"x": (n, 4), "w": (n, 4)} for n in (37, 300, 1, 129, 3, 211, 37)]
IMAGES = (["--dim", "x.0=1..3", "--dim", "x.1=3..23", "--dim", "x.2=3..23"],
          [{"x": (*shape, 4)} for shape in ((1, 7, 5), (3, 23, 23), (2, 13, 19), (1, 3, 3), (3, 5, 17), (1, 23, 11))])
STEPS = ["--dim", "TosaInput_0.1=1..48"], [{"TosaInput_0": (1, n, 64)} for n in (1, 7, 33, 48, 29, 13)]


def elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count


class Sized(NpuTest):

    def files(self, name, invocations):
        """The options that give the inputs of all invocations."""
        options = ["--sequence", "--input"]
        for port in invocations[0]:
            folder = self.dir / name / port
            folder.mkdir(parents=True, exist_ok=True)
            for i, shapes in enumerate(invocations):
                values = [(37 * k + 11 * i + len(port)) % 251 - 125 for k in range(elements(shapes[port]))]
                self.save(f"{name}/{port}/{i}.npy", "|i1", shapes[port], values)
            options.append(f"{port}={folder}")
        return options

    def report(self, *arguments):
        path = self.dir / "sizes.json"
        self.good("run", *arguments, "--json", path)
        return json.loads(path.read_text())

    def wrong(self, *arguments):
        return subprocess.run([WRONG, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False, cwd=self.dir)

    def check_engines(self, name, preset, ran):
        for engine in ran["engines"]:
            tiles = engine["tiles"]
            self.assertEqual((engine["back_end"], engine["rtl_tiles"]), ("lockstep", tiles))
            exact = {"tiles": tiles, "exact": tiles, "mean_absolute": 0.0, "worst": 0, "same_requests": tiles}
            self.assertEqual(engine["cycle_differences"], exact if tiles else None)
            self.assertEqual(engine["elements_compared"] > 0, tiles > 0)
        sram = ran["persistent_sram"]
        self.assertEqual((sram["back_end"], sram["compared"] > 0), ("lockstep", True))
        mxu, vpu = ran["engines"]
        print(f"{name} on {preset}: {len(ran['invocations'])} invocations by {ran['cache']['misses']} of {ran['cache']['compiled']} programs; "
              f"{mxu['tiles']:.0f} tiles of the MXU, {vpu['tiles']:.0f} of the VPU, {mxu['elements_compared'] + vpu['elements_compared']:.0f} "
              f"elements of them, {sram['compared']} words and answers of the persistent SRAM: 0 differ")
        return mxu["tiles"], vpu["tiles"]

    def lockstep(self, name, dims, invocations):
        """Each preset, timed: nothing differs, and bits and cycles are those of the model alone. Returns tiles of MXU and VPU."""
        network, inputs = self.dir / f"{name}.tosa", self.files(name, invocations)
        tiles = []
        for preset in PRESETS:
            arguments = [network, *inputs, *dims, "--config", preset, "--check", "reference"]
            both, model = self.report(*arguments, *RTL, "--lockstep"), self.report(*arguments)
            tiles.append(self.check_engines(name, preset, both))
            self.assertEqual(both["check"], model["check"])
            self.assertEqual(both["check"]["differing"], 0)
            self.assertEqual(both["invocations"], model["invocations"])
            for one, other in zip(both["programs"], model["programs"]):
                self.assertEqual((one["report"]["total"], one["report"]["layers"]), (other["report"]["total"], other["report"]["layers"]))
            self.assertEqual([engine["back_end"] for engine in model["engines"]], ["model", "model"])
            self.assertEqual(model["persistent_sram"]["back_end"], "model")
        return tiles

    def test_rows(self):
        self.assertGreater(min(vpu for _, vpu in self.lockstep("rows", *ROWS)), len(ROWS[1]))

    def test_images(self):
        for mxu, vpu in self.lockstep("images", *IMAGES):
            self.assertGreater(min(mxu, vpu), len(IMAGES[1]))

    def test_a_transformer(self):
        if TRANSFORMER is None:
            self.skipTest("no zoo of networks")
        for mxu, vpu in self.lockstep("transformer", *STEPS):
            self.assertGreater(min(mxu, vpu), len(STEPS[1]))

    def test_the_text_says_what_was_compared(self):
        dims, invocations = ROWS
        out = self.good("run", self.dir / "rows.tosa", *self.files("text", invocations), *dims, "--config", "nano", *RTL, "--lockstep").out
        self.assertRegex(out, r"\n {10}VPU in lockstep: ([\d,]+) of \1 tiles, 0 of [\d,]+ elements differ")
        self.assertRegex(out, r"\npsram     in lockstep: .*, 0 of [\d,]+ words, entries and answers differ")

    def test_a_program_for_each_choice_of_sizes(self):
        _, invocations = IMAGES
        ran = self.report(self.dir / "images.tosa", *self.files("each", invocations), "--config", "nano", *RTL, "--lockstep")
        self.check_engines("images, each size compiled", "nano", ran)

    def test_rtl_alone(self):
        dims, invocations = IMAGES
        arguments = [self.dir / "images.tosa", *self.files("alone", invocations), *dims, "--config", "nano", "--check", "reference"]
        rtl, model = self.report(*arguments, *RTL), self.report(*arguments)
        self.assertEqual([engine["back_end"] for engine in rtl["engines"]], ["rtl", "rtl"])
        self.assertEqual((rtl["check"], rtl["invocations"]), (model["check"], model["invocations"]))

    def test_layers_of_one_program_are_refused(self):
        dims, invocations = ROWS
        self.bad(64, "bad_option", "--rtl ENGINE@LAYER cannot tell them apart", "run", self.dir / "rows.tosa", *self.files("layers", invocations),
                 *dims, "--rtl", "vpu@0")

    def test_a_wrong_block_is_found_and_its_tile_kept(self):
        dims, invocations = IMAGES
        for network, engine in (("clipped", "mxu"), ("images", "psram")):
            bundle = self.dir / f"kept-{engine}"
            arguments = ["run", self.dir / f"{network}.tosa", *self.files("wrong", invocations), *dims, "--config", "nano", "--quiet"]
            done = self.wrong(*arguments, "--rtl", engine, "--lockstep", "--keep-bundle", bundle)
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertEqual(bundle.exists(), engine == "mxu")
            if engine == "psram":
                self.assertRegex(done.stderr, r"invocation \d on the persistent SRAM: .* \[elements_differ\]\n$")
                continue
            self.assertRegex(done.stderr, r"^npu: error: invocation 0 \('.*/0\.npy'\): layer 0 '\w+' \(CONV2D\+RESCALE\), tile 0 of invocation 0 on the "
                                          rf"MXU: \d+ of \d+ elements differ, .*; run it again with: npu replay {re.escape(str(bundle))} "
                                          r"\[elements_differ\]\n$")
            again = self.wrong("replay", bundle, "--no-waveform")
            self.assertEqual(again.returncode, 7, again.stderr)
            self.assertIn("every byte as recorded", again.stdout)


if __name__ == "__main__":
    WRONG = Path(sys.argv[3]).resolve()
    TRANSFORMER = Path(sys.argv[4]) if len(sys.argv) > 4 else None
    harness.MAKER_OPTIONS = [TRANSFORMER] if TRANSFORMER else []
    sys.argv = sys.argv[:3]
    harness.main()
