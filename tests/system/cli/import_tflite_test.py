#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`npu import` of TensorFlow Lite files: free sizes, and LSTMs against TensorFlow Lite's own runtime.

import_tflite_test.py NPU MAKER VENV FOLDER-OF-TFLITE_C. Without the Python environment: exit status 77 (skipped), or 1
where NPU_REQUIRE_NETWORKS says that it must be there.
"""

import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

import harness
import tflite_files
from harness import NpuTest, listing, read_npy

VENV = Path()
TFLITE_C = Path()
FRAMES = 50


class Import(NpuTest):
    def file(self, name, data):
        path = self.dir / name
        path.write_bytes(data)
        return path

    def refused(self, status, code, fragment, data, *options):
        source = self.file("refused.tflite", data)
        before = listing(self.dir)
        result = self.bad(status, code, fragment, "import", source, "-o", self.dir / "none.tosa", *options)
        self.assertEqual(listing(self.dir), before)
        return result.err


class FreeSizes(Import):
    def imported(self, data, *options):
        source, target = self.file("free.tflite", data), self.dir / "free.tosa"
        lines = self.good("import", source, "-o", target, *options).out.strip().split("\n")
        self.assertTrue(lines[-1].startswith(f"{source} -> {target}: 1 operators"), lines)
        return target, lines[:-1]

    def test_the_file_own_sizes_are_taken_and_said(self):
        network, notes = self.imported(tflite_files.relu([1, 4], [-1, 4]))
        self.assertEqual(len(notes), 1)
        self.assertIn("free.tflite': input 'x' has the free shape ?x4; taken as 1x4, which the file gives (--shape x=", notes[0])
        self.save("row.npy", "<f4", (1, 4), [-1, 2, -3, 4])
        self.good("reference", network, "--input", self.dir / "row.npy", "--outputs", self.dir / "outputs")
        self.assertEqual(read_npy(self.dir / "outputs" / "TosaOutput_0.npy"), ("<f4", (1, 4), [0, 2, 0, 4]))

    def test_a_file_of_fixed_sizes_has_nothing_to_say(self):
        self.assertEqual(self.imported(tflite_files.relu([1, 4], None))[1], [])

    def test_chosen_sizes(self):
        network, notes = self.imported(tflite_files.relu([1, 4], [-1, 4]), "--shape", "x=5x4")
        self.assertEqual(notes, [])
        self.save("rows.npy", "<f4", (5, 4), [i - 10 for i in range(20)])
        self.good("reference", network, "--input", self.dir / "rows.npy", "--outputs", self.dir / "outputs")
        self.assertEqual(read_npy(self.dir / "outputs" / "TosaOutput_0.npy")[1], (5, 4))
        network, notes = self.imported(tflite_files.relu([1, 7], [-1, -1]), "--shape", "x=3x9")
        self.assertIn("FP32[3, 9]", self.good("info", network).out)

    def test_sizes_inside_follow(self):
        source, network = self.file("flat.tflite", tflite_files.flattened([1, 3, 4], [-1, 3, 4])), self.dir / "flat.tosa"
        for options, rows in (((), 3), (("--shape", "x=5x3x4"), 15)):
            self.good("import", source, "-o", network, *options)
            self.save("x3.npy", "<f4", (rows // 3, 3, 4), [i - 7 for i in range(4 * rows)])
            self.good("reference", network, "--input", self.dir / "x3.npy", "--outputs", self.dir / "outputs")
            self.assertEqual(read_npy(self.dir / "outputs" / "TosaOutput_0.npy"),
                             ("<f4", (rows, 4), [max(i - 7, 0) for i in range(4 * rows)]))
        two = tflite_files.flattened([2, 3, 4], [-1, -1, 4])
        self.refused(3, "argument_unsupported", "size 0 of tensor 'z'", two, "--shape", "x=5x7x4")

    def test_tensors_that_share_a_list_of_sizes(self):
        def shared(*sizes):
            return tflite_files.Vector(sizes, "i")

        network, notes = self.imported(tflite_files.relu(shared(1, 4), shared(-1, 4)), "--shape", "x=5x4")
        self.assertEqual(notes, [])
        self.assertEqual(self.good("info", network).out.count("FP32[5, 4]"), 2)
        self.assertEqual(len(self.imported(tflite_files.relu(shared(1, 4), shared(-1, 4)))[1]), 1)
        # A fixed size that lies where a chosen one goes.
        self.refused(3, "argument_unsupported", "size 0 of tensor 'y'", tflite_files.relu(shared(1, 4), [-1, 4], [1, 4]),
                     "--shape", "x=5x4")

    def test_sizes_that_do_not_fit(self):
        free = tflite_files.relu([1, 4], [-1, 4])
        self.refused(64, "bad_option", "does not fit the input's shape in", free, "--shape", "x=5x5")
        self.refused(64, "bad_option", "?x4", free, "--shape", "x=5")
        self.refused(64, "bad_option", "the inputs of", free, "--shape", "y=5x4")
        self.refused(64, "bad_option", "--shape gives 'x' twice", free, "--shape", "x=5x4", "--shape", "x=6x4")
        for text in ("x", "x=", "=5x4", "x=5x", "x=0x4", "x=5x-4", "x=5y4", "x=99999999999x4"):
            self.refused(64, "bad_option", "--shape needs NAME=5x4", free, "--shape", text)
        self.refused(64, "bad_option", "does not fit", tflite_files.relu([1, 4], None), "--shape", "x=5x4")
        source = self.file("net.mlir", b"func.func @main(%a: tensor<4xi8>) -> tensor<4xi8> {\n  return %a : tensor<4xi8>\n}\n")
        self.bad(64, "bad_option", "leaves no size open: leave out --shape", "import", source, "-o", self.dir / "none.tosa",
                 "--shape", "a=5")

    def test_sizes_that_the_file_does_not_give(self):
        self.refused(3, "feature_unsupported", "choose them with --shape x=", tflite_files.relu([-1, 4], [-1, 4]))

    def test_damaged_files_end_in_a_sentence(self):
        whole = tflite_files.lstm(random.Random(3), 2, 3, 2)
        choice = random.Random(4)
        for _ in range(25):
            damaged = bytearray(whole)
            for _ in range(2):
                damaged[choice.randrange(8, len(damaged))] = choice.randrange(256)
            result = harness.run("import", self.file("damaged.tflite", bytes(damaged)), "-o", self.dir / "out.tosa")
            self.assertIn(result.returncode, (0, 2, 3, 64, 66), result.err)
            self.assertNotIn("made/", result.err)
            if result.returncode != 0:
                self.assertIn("damaged.tflite", result.err)


class Lstm(Import):
    CASES = {
        "batch first": {}, "two at a time": {"batch": 2}, "time first": {"time_major": True, "batch": 2},
        "coupled gates": {"cifg": True}, "clipped cell": {"clip": 0.25}, "one step": {"steps": 1}, "one cell": {"cells": 1},
    }

    def compare(self, name, options, most, share):
        """At most `most` between an output and TensorFlow Lite's, and at most this share of them differing."""
        shape = {"steps": 4, "inputs": 3, "cells": 5} | options
        model, network = self.dir / "lstm.tflite", self.dir / "lstm.tosa"
        model.write_bytes(tflite_files.lstm(random.Random(1), **shape))
        said = self.good("import", model, "-o", network).out
        self.assertIn("the state of its LSTM stays in variables", said)
        size = shape["steps"] * shape.get("batch", 1)
        order = [shape["steps"], shape.get("batch", 1)] if shape.get("time_major") else [shape.get("batch", 1), shape["steps"]]
        choice = random.Random(2)
        int8 = shape.get("int8", False)
        values = [choice.randrange(-128, 128) if int8 else choice.uniform(-1, 1) for _ in range(FRAMES * size * 3)]
        frames = self.save("lstm.npy", "|i1" if int8 else "<f4", (FRAMES, *order, 3), values)
        library = next(VENV.glob("lib/python3*/site-packages/pymicro_wakeword/lib/libtensorflowlite_c.so"))
        subprocess.run([VENV / "bin" / "python", Path(__file__).with_name("tflite_golden.py"), TFLITE_C, library, model, frames,
                        self.dir / "golden.npy"], check=True, stderr=subprocess.DEVNULL)
        golden = read_npy(self.dir / "golden.npy")[2]
        arguments = (network, "--sequence", "--input", frames, "--outputs", self.dir / "outputs", "--quiet")
        self.good("reference", *arguments)
        got = read_npy(self.dir / "outputs" / "TosaOutput_0.npy")[2]
        differences = [abs(a - b) for a, b in zip(got, golden, strict=True)]
        differing = sum(difference > 0 for difference in differences)
        print(f"LSTM, {name}{', int8' if int8 else ''}: {differing} of {len(got)} elements differ from TensorFlow Lite's, by at "
              f"most {max(differences):.3g}; values go from {min(golden):.3g} to {max(golden):.3g}")
        self.assertGreater(len(set(golden)), 20)
        self.assertLessEqual(max(differences), most)
        self.assertLessEqual(differing, share * len(got))
        if int8:
            report = self.good("run", *arguments, "--check", "reference", "--mode", "functional").out
            self.assertEqual([line for line in report.split("\n") if line.startswith("check")],
                             [f"check     0 differing of {len(got):,} elements compared with the reference (1 output, "
                              f"{FRAMES} invocations)"])

    def test_float(self):
        for name, options in self.CASES.items():
            with self.subTest(name):
                self.compare(name, options, most=1e-6, share=1)

    def test_int8_on_reference_and_device(self):
        for name, options in self.CASES.items():
            with self.subTest(name):
                self.compare(name, options | {"int8": True}, most=1, share=0.06)

    def test_what_is_not_expanded_is_refused_by_name(self):
        def lstm(**options):
            return tflite_files.lstm(random.Random(1), 2, 3, 2, **options)

        self.refused(3, "operator_unsupported", "with peephole connections", lstm(peephole=True))
        self.refused(3, "operator_unsupported", "with the activation RELU", lstm(activation=1))
        self.refused(3, "operator_unsupported", "with an input of type f32 and weights of type i8", lstm(hybrid=True))
        self.refused(3, "operator_unsupported", "with a projection", lstm(projection=True))
        self.refused(3, "operator_unsupported", "with layer normalisation", lstm(normalisation=True))

    def test_of_the_chosen_function(self):
        def lstm(finer, **options):
            return tflite_files.lstm(random.Random(1), 2, 3, 2, int8=True, finer=finer, **options)

        first = tflite_files.Model()
        lstm(1, model=first)
        both = self.file("both.tflite", lstm(2, model=tflite_files.Model(behind=first, name="other")))
        alone = self.file("alone.tflite", lstm(2))
        choice = random.Random(5)
        frames = self.save("lstm.npy", "|i1", (FRAMES, 1, 2, 3), [choice.randrange(-128, 128) for _ in range(FRAMES * 6)])
        outputs = []
        for source, options in ((both, ()), (both, ("--function", "other")), (alone, ())):
            self.good("import", source, "-o", self.dir / "lstm.tosa", *options)
            self.good("reference", self.dir / "lstm.tosa", "--sequence", "--input", frames, "--outputs", self.dir / "outputs", "--quiet")
            outputs.append(read_npy(self.dir / "outputs" / "TosaOutput_0.npy"))
        self.assertNotEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[1], outputs[2])

    def test_the_state_has_the_names_of_the_file(self):
        model = self.file("lstm.tflite", tflite_files.lstm(random.Random(1), 2, 3, 2, int8=True))
        self.good("import", model, "-o", self.dir / "lstm.tosa")
        text = self.good("info", self.dir / "lstm.tosa").out
        self.assertIn("'h'  INT8[1, 2]", text)
        self.assertIn("'c'  INT16[1, 2]", text)


if __name__ == "__main__":
    harness.NPU, harness.MAKER, VENV, TFLITE_C = sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
    if not (VENV / "bin" / "tosa-opt").exists():
        print(f"no Python environment in {VENV}: run sim/setup.sh python")
        sys.exit(1 if os.environ.get("NPU_REQUIRE_NETWORKS") else 77)
    os.environ.setdefault("NPU_PYTHON_TOOLS", str(VENV / "bin"))
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=1)
