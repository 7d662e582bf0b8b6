#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks whose files leave sizes open or compute shapes: `npu resolve`, and sizes that `npu run` and `npu reference` take from
data.

  resolve_test.py NPU MAKER
"""

import json

from harness import NpuTest, main, read_npy


class Resolve(NpuTest):

    def rows(self, name, count, start=0):
        return self.save(name, "|i1", (count, 4), [(start + 37 * i) % 251 - 125 for i in range(4 * count)])

    def test_run_and_reference_take_the_sizes_of_the_data(self):
        for rows in (1, 3, 64):
            x, y = self.rows("rx.npy", rows), self.rows("ry.npy", rows, 90)
            out = self.dir / f"out{rows}"
            inputs = ["--input", f"x={x}", f"y={y}"]
            result = self.good("run", self.dir / "open_sizes.tosa", *inputs, "--check", "reference", "-o", out)
            self.assertIn("0 differ", result.out)
            descr, shape, values = read_npy(out / "z.npy")
            self.assertEqual((descr, shape), ("|i1", (2 * rows, 2, 2)))
            a, b = read_npy(x)[2], read_npy(y)[2]
            self.assertEqual(values, [p ^ q for p, q in zip(a, b)] + b)
            self.good("reference", self.dir / "open_sizes.tosa", *inputs)

    def test_a_resolved_file_is_one_with_fixed_sizes(self):
        fixed = self.dir / "fixed.tosa"
        result = self.good("resolve", self.dir / "open_sizes.tosa", "--shape", "x=3x4", "--shape", "y=3x4", "-o", fixed)
        self.assertIn("input x: INT8[3, 4]\n", result.out)
        self.assertIn("output z: INT8[6, 2, 2]\n", result.out)
        self.good("compile", fixed, "-o", self.dir / "fixed.npu")
        self.good("info", fixed)
        self.bad(64, "bad_option", "fixed already", "resolve", fixed, "--shape", "x=3x4", "-o", self.dir / "again.tosa")
        self.bad(64, "bad_input", "shape", "run", fixed, "--input", f"x={self.rows('four.npy', 4)}", f"y={self.rows('f.npy', 3)}")

    def test_a_state_takes_the_size_of_what_is_given(self):
        frames = self.save("open_frames.npy", "|i1", (2, 2, 4), [5, 1, 1, 1, 2, 2, 2, 2, 0, 9, 0, 9, 3, 1, 3, 1])
        out = self.dir / "states"
        self.good("run", self.dir / "open_state.tosa", "--shape", "state=2x4", "--input", frames, "--sequence", "--zero-init",
                  "-o", out, "--check", "reference")
        self.assertEqual(read_npy(out / "y.npy")[2], [5, 1, 1, 1, 2, 2, 2, 2, 5, 8, 1, 8, 1, 3, 1, 3])
        # It is as large as x, which is written to it.
        self.good("run", self.dir / "open_state.tosa", "--input", frames, "--sequence", "--zero-init", "-o", out, "--check", "reference")
        self.assertEqual(read_npy(out / "y.npy")[2], [5, 1, 1, 1, 2, 2, 2, 2, 5, 8, 1, 8, 1, 3, 1, 3])

    def test_sizes_alone_are_enough_to_run(self):
        self.good("run", self.dir / "open_sizes.tosa", "--shape", "x=3x4", "--shape", "y=3x4", "--check", "reference")

    def test_what_does_not_fit_is_said(self):
        network, target = self.dir / "open_sizes.tosa", self.dir / "never.tosa"

        def refused(status, code, fragment, *shapes):
            options = [word for shape in shapes for word in ("--shape", shape)]
            self.bad(status, code, fragment, "resolve", network, *options, "-o", target)
            self.assertFalse(target.exists())

        refused(1, "size_mismatch", "[3, 4] and input2 'y' [5, 4] do not broadcast: dimension 0 must be equal", "x=3x4", "y=5x4")
        refused(1, "size_mismatch", "only a size that the file gives as 1 broadcasts", "x=1x4", "y=5x4")
        refused(64, "bad_input", "--shape 'y=8x4'", "x=3x4")
        refused(64, "bad_input", "not [3, 5]", "x=3x5", "y=3x4")
        refused(64, "bad_input", "not [3]", "x=3", "y=3x4")
        refused(64, "bad_input", "no input and no variable 'w'; there are 'x', 'y'", "x=3x4", "y=3x4", "w=1")
        refused(64, "bad_input", "no input and no variable 'X'; there are 'x', 'y'", "X=3x4", "y=3x4")
        refused(64, "bad_option", "twice", "x=3x4", "x=3x4", "y=3x4")
        for wrong in ("x=0x4", "x=-1x4", "x=9223372036854775807x4", "x=2147483648x4", "x=", "x", "=3", "x=3x", "x=a"):
            refused(64, "bad_option", "--shape needs NAME=5x4", wrong, "y=3x4")

    def test_shape_that_is_not_asked_for_is_an_error(self):
        three = self.rows("three.npy", 3)
        inputs = ["--input", f"x={three}", f"y={three}"]
        self.bad(64, "bad_input", "--shape gives 'x' as [5, 4], but its data has the shape [3, 4]", "run", self.dir / "open_sizes.tosa", *inputs,
                 "--shape", "x=5x4")
        for command in ("run", "reference"):
            self.bad(64, "bad_option", "leave out --shape", command, self.dir / "running_sum.tosa", "--input", self.dir / "frame.npy", "--shape",
                     "x=1x4")
        damaged = self.dir / "damaged.npy"
        damaged.write_bytes(b"no array")
        self.bad(64, "bad_npy", "npu: error: '" + str(damaged), "run", self.dir / "open_sizes.tosa", "--input", f"x={damaged}", f"y={three}")

    def test_shapes_are_computed_from_the_sizes_of_the_data(self):
        network = self.dir / "open_shapes.tosa"
        for rows in (2, 6):
            x, out = self.rows("sx.npy", rows), self.dir / f"shapes{rows}"
            self.good("run", network, "--input", x, "--check", "reference", "-o", out)
            self.assertEqual(read_npy(out / "y.npy"), ("|i1", (rows // 2, 8), read_npy(x)[2]))
            self.good("reference", network, "--input", x)
        message = "(ASSERT_EQUAL_SHAPE): input1 'layer_2' is [1] and input2 'layer_3' is [0]; they must be equal"
        for command in ("run", "reference"):
            self.bad(1, "size_mismatch", message, command, network, "--input", self.rows("odd.npy", 5))
        fixed = self.dir / "fixed_shapes.tosa"
        self.bad(1, "size_mismatch", message, "resolve", network, "--shape", "x=3x4", "-o", fixed)
        self.good("resolve", network, "--shape", "x=6x4", "-o", fixed)
        self.bad(64, "bad_option", "fixed already", "resolve", fixed, "-o", self.dir / "again.tosa")

    def test_every_command_takes_a_network_that_computes_shapes(self):
        network, fixed = self.dir / "computed_shapes.tosa", self.dir / "constant_shapes.tosa"
        frame = self.rows("four_rows.npy", 4)
        self.assertIn("EXT-SHAPE", self.good("info", network).out)
        self.good("compile", network, "-o", self.dir / "shapes.npu")
        self.good("run", self.dir / "shapes.npu", "--input", frame)
        self.good("run", network, "--input", frame, "--check", "reference")
        self.good("what-if", network)
        self.good("resolve", network, "-o", fixed)
        self.assertNotIn("EXT-SHAPE", self.good("info", fixed).out)
        for command in ("info", "reference"):
            self.bad(2, "bad_argument", "(ASSERT_EQUAL_SHAPE)", command, self.dir / "unequal_shapes.tosa")

    def test_other_commands_say_the_way_out(self):
        for command in (["compile", "-o", self.dir / "no.npu"], ["what-if"]):
            for network in ("open_sizes", "open_shapes"):
                result = self.bad(3, "feature_unsupported", "npu resolve", command[0], self.dir / f"{network}.tosa", *command[1:])
                self.assertEqual("bounds compile it for all sizes within them: --dim x.0=" in result.err, command[0] == "compile")
        result = self.bad(3, "feature_unsupported", "npu resolve", "compile", self.dir / "open_images.tosa", "-o", self.dir / "no.npu")
        self.assertRegex(result.err, r"within them: --dim x\.0=1\.\.8 --dim x\.1=\d\.\.8 --dim x\.2=\d\.\.8, say")

    def test_sizes_that_the_rules_decide_need_not_be_given(self):
        network, program, fixed = self.dir / "decided.tosa", self.dir / "decided.npu", self.dir / "decided_fixed.tosa"
        x, y = self.rows("decided_x.npy", 3), self.rows("decided_y.npy", 3, 90)
        self.good("compile", network, "-o", program)
        for file in (network, program):
            out = self.dir / "decided_out"
            self.good("run", file, "--input", f"x={x}", f"y={y}", "-o", out)
            self.assertEqual(read_npy(out / "z.npy")[2], [a ^ b for a, b in zip(read_npy(x)[2], read_npy(y)[2])])
            self.good("run", file)
        self.good("what-if", network)
        self.assertIn("input x: INT8[3, 4]\n", self.good("resolve", network, "-o", fixed).out)
        self.bad(1, "size_mismatch", "dimension 0 must be equal", "resolve", network, "--shape", "x=5x4", "-o", fixed)
        given = ["compile", network, "-o", program, "--dim"]
        self.bad(64, "bad_option", "size 'x.0' is 3 in this network, whatever the other sizes are, not 1..5", *given, "x.0=1..5")
        self.bad(1, "size_mismatch", "size 'x.0' is 3 in this network", *given, "x.0=4..5")
        self.bad(64, "bad_option", "leaves no size open; compile it without bounds", *given, "x.0=3")

    def test_info_says_what_is_open_and_what_must_hold(self):
        text = self.good("info", self.dir / "open_sizes.tosa").out
        self.assertIn("inputs      'x'  INT8[x.0, 4]\n            'y'  INT8[x.0, 4]\n", text)
        self.assertIn("outputs     'z'  INT8[2*x.0, 2, 2]\n", text)
        self.assertIn("y.0 = x.0   operator 0 (BITWISE_XOR)\n", text)
        self.assertNotIn("tensor ", text)
        self.assertRegex(self.good("info", self.dir / "open_sizes.tosa", "--tensors").out, r"'layer_1' +main +INT8\[2\*x.0, 4\]")
        self.assertIn("x.0 must be a multiple of 2 ", self.good("info", self.dir / "open_shapes.tosa").out)
        self.assertIn("state.0 = x.0", self.good("info", self.dir / "open_state.tosa").out)

    def test_info_gives_sizes_that_fit(self):
        for network in ("open_sizes", "open_state", "open_shapes", "open_reshape"):
            info = json.loads(self.good("info", self.dir / f"{network}.tosa", "--json").out)["open_sizes"]
            shapes = [word for name, shape in info["example"].items() for word in ("--shape", f"{name}={'x'.join(map(str, shape))}")]
            self.assertTrue(shapes)
            fixed = self.dir / f"{network}_example.tosa"
            self.good("resolve", self.dir / f"{network}.tosa", *shapes, "-o", fixed)
            self.assertIsNone(json.loads(self.good("info", fixed, "--json").out)["open_sizes"])

    def test_info_names_what_fits_no_sizes(self):
        self.bad(1, "size_mismatch", "operator 0 (BITWISE_XOR): input1 'x' [", "info", self.dir / "contradictory.tosa")

    def test_a_reshape_takes_sizes_from_other_operators(self):
        network, fixed = self.dir / "open_reshape.tosa", self.dir / "fixed_reshape.tosa"
        result = self.good("resolve", network, "--shape", "x=10x4", "--shape", "like=2x4x5", "-o", fixed)
        self.assertIn("output y: INT8[2, 4, 5]\n", result.out)
        self.bad(1, "size_mismatch", "no sizes fit", "resolve", network, "--shape", "x=10x4", "--shape", "like=3x4x5", "-o", fixed)
        self.assertIn("y.0   from 1 to ", self.good("info", self.dir / "undecided_reshape.tosa").out)
        self.bad(3, "feature_unsupported", "'x' [10, 4] becomes [y.0, 4, y.2]", "resolve", self.dir / "undecided_reshape.tosa",
                 "--shape", "x=10x4", "--shape", "like=2x4x5", "-o", fixed)


if __name__ == "__main__":
    main()
