#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`npu import` of MLIR: what exporters leave behind, and what must be refused. import_test.py NPU MAKER VENV [ZOO]

Without the Python environment: exit status 77 (skipped), or 1 where NPU_REQUIRE_NETWORKS says that it must be there.
"""

import gzip
import os
import random
import signal
import subprocess
import sys
import unittest
from pathlib import Path

import harness
from harness import NpuTest, listing, read_npy

VENV = Path()
ZOO = None

IDENTITIES = """module attributes {tfl.metadata = {text = "}{ \\22 ui8"}, llvm.triple = "none"} {
  func.func private @helper(%a: tensor<4xi8>) -> tensor<4xi8> {
    return %a : tensor<4xi8>
  }
  func.func @main(%a: tensor<4xui8> {tf_saved_model.index_path = ["a"], tosa.tensor_name = "first"}, %b: tensor<2xi32>)
      -> (tensor<4xui8>, tensor<2xi32> {tosa.tensor_name = "second"}) attributes {tf.entry_function = {inputs = "a,b"}} {
    %0:2 = "tosa.custom"(%a, %b) <{operator_name = "IDENTITYN", domain_name = "tf", implementation_attrs = ""}>
        : (tensor<4xui8>, tensor<2xi32>) -> (tensor<4xui8>, tensor<2xi32>) loc("layer/x"("a.py":1:2))
    %1 = builtin.unrealized_conversion_cast %0#0 : tensor<4xui8> to tensor<4xi8>
    %2 = builtin.unrealized_conversion_cast %1 : tensor<4xi8> to tensor<4xui8>
    %3 = tosa.add %0#1, %0#1 {my.note = "%0 = ui8"} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    return %2, %3 : tensor<4xui8>, tensor<2xi32>
  }
}
"""

# Gives what came one step earlier.
DELAY = """tosa.variable @"a/b" = dense<3> : tensor<1xi8>
func.func @step(%a: tensor<1xi8>) -> tensor<1xi8> {
  %0 = tosa.variable_read @"a/b" : tensor<1xi8>
  %1 = builtin.unrealized_conversion_cast %0 : tensor<1xi8> to tensor<1x!quant.uniform<i8:f32, 0.5>>
  %2 = builtin.unrealized_conversion_cast %1 : tensor<1x!quant.uniform<i8:f32, 0.5>> to tensor<1xi8>
  tosa.variable_write @"a/b", %a : tensor<1xi8>
  return %2 : tensor<1xi8>
}
"""

RESOURCE = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = "tosa.const"() <{values = dense_resource<blob> : tensor<4xf32>}> : () -> tensor<4xf32>
  %1 = tosa.add %c, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  return %1 : tensor<4xf32>
}
{-# dialect_resources: { builtin: { blob: "0x04000000000080400000803f0000004000004040" } } #-}
"""

# From [4, 6] to [12, 2], by operators of TOSA 1.1; Arm's serialiser says 1.0 all the same.
SHAPES = """func.func @main(%a: tensor<4x6xi8>) -> tensor<12x2xi8> {
  %d = tosa.dim %a {axis = 1 : i32} : (tensor<4x6xi8>) -> !tosa.shape<1>
  %two = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  %m = tosa.mul_shape %d, %two : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<1>
  %s = tosa.concat_shape %m, %two : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<2>
  %r = tosa.reshape %a, %s : (tensor<4x6xi8>, !tosa.shape<2>) -> tensor<12x2xi8>
  return %r : tensor<12x2xi8>
}
"""

# Two loops in one another, and one behind them, without locations and with constants from outside.
LOOP = """%{out}:2 = tosa.while_loop (%i = %zero, %x = {x}) : (tensor<i32>, tensor<2xi32>) -> (tensor<i32>, tensor<2xi32>) {{
  %g = tosa.greater %three, %i : (tensor<i32>, tensor<i32>) -> tensor<i1> loc(unknown)
  tosa.yield %g : tensor<i1>
}} do {{
^bb0(%i: tensor<i32>, %x: tensor<2xi32>):
  %n = tosa.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32> loc(unknown)
  {inner}
  %y = tosa.add {y}, {y} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32> loc(unknown)
  tosa.yield %n, %y : tensor<i32>, tensor<2xi32>
}} loc(unknown)
"""


QUANTISED = """func.func @main(%x: tensor<4xTYPE>) -> tensor<4xTYPE> {
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xTYPE> to tensor<4xi8>
  %1 = tosa.bitwise_not %0 : (tensor<4xi8>) -> tensor<4xi8>
  %2 = builtin.unrealized_conversion_cast %1 : tensor<4xi8> to tensor<4xTYPE>
  return %2 : tensor<4xTYPE>
}
"""

KEPT = """tosa.variable @v : tensor<3xELEMENT>
func.func @main(%x: tensor<3xELEMENT>) -> tensor<3xELEMENT> {
  tosa.variable_write @v, %x : tensor<3xELEMENT>
  %0 = tosa.variable_read @v : tensor<3xELEMENT>
  return %0 : tensor<3xELEMENT>
}
"""

# Adds up 1 to n in a variable, which three blocks use.
COUNTER = """tosa.variable @acc = dense<0> : tensor<1xi32>
func.func @main(%n: tensor<1xi32>) -> tensor<1xi32> {
  %r = tosa.while_loop (%i = %n) : (tensor<1xi32>) -> tensor<1xi32> {
    %zero = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
    %g = tosa.greater %i, %zero : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    tosa.yield %g : tensor<1xi1>
  } do {
  ^bb0(%i: tensor<1xi32>):
    %one = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %v = tosa.variable_read @acc : tensor<1xi32>
    %w = tosa.add %v, %i : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    tosa.variable_write @acc, %w : tensor<1xi32>
    %m = tosa.sub %i, %one : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    tosa.yield %m : tensor<1xi32>
  }
  %out = tosa.variable_read @acc : tensor<1xi32>
  return %out : tensor<1xi32>
}
"""


def loops():
    inner = LOOP.replace("%i", "%j").replace("%x", "%z").replace("%n", "%m").replace("%g", "%h").replace("%y", "%w")
    inner = inner.format(out="in", x="%x", inner="", y="%z")
    constants = "".join(f'%{name} = "tosa.const"() <{{values = dense<{value}> : tensor<i32>}}> : () -> tensor<i32>\n'
                        for name, value in (("zero", 0), ("one", 1), ("three", 3)))
    return ("func.func @main(%a: tensor<2xi32>) -> tensor<2xi32> {\n" + constants +
            LOOP.format(out="p", x="%a", inner=inner, y="%in#1") + LOOP.format(out="q", x="%p#1", inner="", y="%x") +
            "return %q#1 : tensor<2xi32>\n}\n")


def tool(*arguments):
    subprocess.run([VENV / "bin" / arguments[0], *map(str, arguments[1:])], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Import(NpuTest):
    def file(self, name, data):
        path = self.dir / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def imported(self, name, data, *options):
        out = self.dir / "out.tosa"
        self.good("import", self.file(name, data), "-o", out, *options)
        return out

    def outputs(self, network, *arguments):
        """Of the reference: file name -> bytes."""
        folder = self.dir / "outputs"
        self.good("reference", network, *arguments, "--outputs", folder, "--quiet")
        result = {path.name: path.read_bytes() for path in folder.iterdir()}
        for path in folder.iterdir():
            path.unlink()
        return result

    def values(self, name):
        return read_npy(self.dir / "outputs" / name)[2]

    def deserialise(self, tosa, mlir):
        tool("tosa-opt", self.file("nothing.mlir", "module {}"), f"--tosa-deserialize=tosa-flatbuffer-filename={tosa}", "-o",
             mlir)

    def refused(self, status, code, fragment, data, *options, name="net.mlir"):
        source = self.file(name, data)
        before = listing(self.dir)
        self.bad(status, code, fragment, "import", source, "-o", self.dir / "none.tosa", *options)
        self.assertEqual(listing(self.dir), before)


OPEN = """func.func @main(%a: tensor<?x4xi8>) -> tensor<?x4xi8> {
  %0 = tosa.bitwise_not %a : (tensor<?x4xi8>) -> tensor<?x4xi8>
  return %0 : tensor<?x4xi8>
}
"""


class OpenSizes(Import):
    def test_stay_open_and_run_at_any_size(self):
        out = self.dir / "open.tosa"
        said = self.good("import", self.file("open.mlir", OPEN), "-o", out).out
        self.assertIn("; it leaves sizes open, which npu info names", said)
        self.assertIn("TosaInput_0.0", self.good("info", out).out)
        for rows in (1, 3):
            self.save("a.npy", "|i1", (rows, 4), range(4 * rows))
            self.good("run", out, "--input", self.dir / "a.npy", "--check", "reference")

    def test_shape_fixes_them(self):
        fixed = self.imported("open.mlir", OPEN, "--shape", "TosaInput_0=2x4")
        self.save("a.npy", "|i1", (2, 4), range(8))
        self.good("run", fixed, "--input", self.dir / "a.npy", "--check", "reference")
        self.refused(64, "bad_input", "no_such", OPEN, "--shape", "no_such=2x4")
        self.refused(64, "bad_option", "leaves no size open", OPEN.replace("?", "2"), "--shape", "TosaInput_0=2x4")


class Leftovers(Import):
    def test_identityn_names_unsigned_types_and_foreign_attributes(self):
        self.save("a.npy", "|u1", (4,), [0, 1, 200, 255])
        self.save("b.npy", "<i4", (2,), [5, -7])
        for name in ("net.mlir", "odd name (1).mlir", "-o.txt"):
            network = self.imported(name, IDENTITIES)
            text = self.good("info", network).out
            for expected in ("first", "TosaInput_0", "second", "IDENTITY"):
                self.assertIn(expected, text)
        self.save("a.npy", "|i1", (4,), [0, 1, -56, -1])
        self.good("reference", network, "--input", f"first={self.dir}/a.npy", f"TosaInput_0={self.dir}/b.npy", "--outputs",
                  self.dir / "outputs")
        self.assertEqual(self.values("TosaOutput_0.npy"), [0, 1, -56, -1])
        self.assertEqual(self.values("second.npy"), [10, -14])

    def test_the_only_function_and_casts_around_variables(self):
        self.save("steps.npy", "|i1", (3, 1), [1, 9, 2])
        network = self.imported("delay.mlir", DELAY)
        self.good("reference", network, "--sequence", "--input", self.dir / "steps.npy", "--outputs", self.dir / "outputs")
        self.assertEqual(self.values("TosaOutput_0.npy"), [3, 1, 9])

    def test_a_named_function(self):
        two = DELAY.replace("@step", "@one") + "func.func @two(%a: tensor<1xi32>) -> tensor<1xi32> {\n" \
            "  return %a : tensor<1xi32>\n}\n"
        self.refused(64, "bad_option", "--function (one, two)", two)
        self.assertIn("INT32[1]", self.good("info", self.imported("two.mlir", two, "--function", "two")).out)
        self.assertIn("INT8[1]", self.good("info", self.imported("two.mlir", two, "--function", "one")).out)

    def test_resources(self):
        self.save("f.npy", "<f4", (4,), [0, 1, 2, 3])
        network = self.imported("resource.mlir", RESOURCE)
        self.good("reference", network, "--input", self.dir / "f.npy", "--outputs", self.dir / "outputs")
        self.assertEqual(self.values("TosaOutput_0.npy"), [4, 2, 4, 6])

    def test_loops_that_use_constants_from_outside(self):
        self.save("two.npy", "<i4", (2,), [1, -3])
        network = self.imported("loops.mlir", loops())
        self.good("reference", network, "--input", self.dir / "two.npy", "--outputs", self.dir / "outputs")
        # Three times (three doublings and one more), then three more.
        self.assertEqual(self.values("TosaOutput_0.npy"), [2**15, -3 * 2**15])

    def test_loops_have_a_limit(self):
        self.save("two.npy", "<i4", (2,), [1, -3])
        network, data = self.imported("loops.mlir", loops()), ("--input", self.dir / "two.npy")
        self.good("run", network, *data, "--most-iterations", "3", "--check", "reference")
        self.bad(4, "loop_limit", "more than its limit of 2 iterations", "run", network, *data, "--most-iterations", "2")
        for wrong in ("0", "10000001", "-1", "many"):
            self.bad(64, "bad_option", "--most-iterations", "run", network, *data, "--most-iterations", wrong)
        self.good("compile", network, "-o", self.dir / "net.npu", "--most-iterations", "2")
        self.bad(4, "loop_limit", "more than its limit of 2 iterations", "run", self.dir / "net.npu", *data)
        self.bad(64, "bad_option", "--most-iterations belongs to npu compile", "run", self.dir / "net.npu", *data, "--most-iterations", "3")

    def test_bytecode_whatever_its_name(self):
        source, bytecode = self.file("net.mlir", DELAY), self.dir / "net.mlirbc"
        tool("tosa-opt", "--allow-unregistered-dialect", source, "--emit-bytecode", "-o", bytecode)
        self.save("steps.npy", "|i1", (3, 1), [1, 9, 2])
        arguments = ("--sequence", "--input", self.dir / "steps.npy")
        expected = self.outputs(self.imported("net.mlir", DELAY), *arguments)
        for name in ("other.mlirbc", "other.mlir", "other"):
            self.assertEqual(self.outputs(self.imported(name, bytecode.read_bytes()), *arguments), expected)
        whole = bytecode.read_bytes()
        for length in (4, 20, len(whole) // 2, len(whole) - 1):
            self.refused(2, "file_damaged", "net2.mlirbc", whole[:length], name="net2.mlirbc")


    def test_quantised_types_of_arguments_and_results(self):
        text = QUANTISED.replace("TYPE", "!quant.uniform<i8:f32, 5.000000e-01:3>")
        self.save("x.npy", "|i1", (4,), [0, 1, -2, 127])
        for quantised in (text, text.replace("i8:f32", "i8<-127:127>:f32:0"), "// of a \"!quant.uniform<\n" + text):
            network = self.imported("quant.mlir", quantised)
            self.good("reference", network, "--input", self.dir / "x.npy", "--outputs", self.dir / "outputs")
            self.assertEqual(self.values("TosaOutput_0.npy"), [-1, -2, 1, -128])
        self.refused(3, "operator_unsupported", "net.mlir line 3", text.replace("tosa.bitwise_not %0", '"tfl.x"(%0)'))

    def test_variables_that_nothing_uses_are_left_out(self):
        unused = "".join(f"tosa.variable @unused{i} = dense<{i}> : tensor<1xi8>\n" for i in range(40))
        network = self.imported("net.mlir", unused + DELAY)
        self.assertIn("variables   1, 1 bytes", self.good("info", network).out)
        self.save("steps.npy", "|i1", (3, 1), [1, 9, 2])
        self.good("run", network, "--sequence", "--input", self.dir / "steps.npy", "--config", "nano", "--check", "reference")

    def test_shapes_that_operators_compute(self):
        network = self.imported("net.mlir", SHAPES)
        self.assertIn("INT8[12, 2]", self.good("info", network).out)
        self.good("run", network, "--check", "reference")

    def test_notes_are_said_once(self):
        lines = self.good("info", self.imported("net.mlir", COUNTER)).out.split("\n")
        notes = [line for line in lines if line.startswith("note")]
        self.assertEqual((len(notes), "'acc' is INT32" in notes[0]), (1, True), notes)


class Refused(Import):
    def test_types_that_tosa_lacks_name_the_user_file(self):
        for element in ("index", "complex<f32>"):
            self.refused(3, "type_unsupported", f"net.mlir' has the type tensor<3x{element}>", KEPT.replace("ELEMENT", element))
        for element in ("i64", "f64", "i33"):
            self.refused(3, "type_unsupported", f"net.mlir line 2: argument %arg0 has the type tensor<3x{element}>",
                         KEPT.replace("ELEMENT", element))
        self.imported("net.mlir", KEPT.replace("ELEMENT", "i32"))

    def test_operations_that_are_not_tosa(self):
        text = ("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                '  %0 = "arith.addf"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n'
                '  %1 = "tfl.gelu"(%0) : (tensor<4xf32>) -> tensor<4xf32>\n'
                "  return %1 : tensor<4xf32>\n}\n")
        self.refused(3, "operator_unsupported", "arith.addf (net.mlir line 2), tfl.gelu (net.mlir line 3)", text)
        self.refused(3, "operator_unsupported", "line 2", text.replace('"arith.addf"(%a, %a)', "arith.addf %a, %a"))
        self.refused(3, "operator_unsupported", "line 3",
                     text.replace('"arith.addf"', '"tfl.add"').replace("tfl.gelu", "tosa.gelu"))
        # The tool knows the dialect when there is TOSA, too.
        self.refused(3, "operator_unsupported", "line 2", text.replace('"tfl.gelu"(%0)', "tosa.tanh %0"))

    def test_operators_of_later_versions(self):
        self.refused(3, "operator_unsupported", "tosa.matmul_t (net.mlir line 2)",
                     "func.func @main(%a: tensor<1x4x2xf32>, %b: tensor<1x3x2xf32>, %z: tensor<1xf32>) -> tensor<1x4x3xf32> {\n"
                     "  %1 = tosa.matmul_t %a, %b, %z, %z : (tensor<1x4x2xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>)"
                     " -> tensor<1x4x3xf32>\n"
                     "  return %1 : tensor<1x4x3xf32>\n}\n")

    def test_files_without_a_network(self):
        self.refused(2, "bad_structure", "no function", "module {}\n")
        self.refused(2, "bad_structure", "no function", "func.func private @main(tensor<4xi8>)\n")
        self.refused(2, "file_damaged", "line 1", "This is a letter.\n")

    def test_branches(self):
        self.refused(2, "bad_structure", "line 1: func.func has 2 blocks, but TOSA has no branches (cf.br",
                     "func.func @main(%a: tensor<4xi8>) -> tensor<4xi8> {\n"
                     '  "cf.br"()[^next] : () -> ()\n^next:\n  return %a : tensor<4xi8>\n}\n')

    def test_calls_dynamic_shapes_and_unsigned_arithmetic(self):
        head = "func.func @main(%a: tensor<4xi32>) -> tensor<4xi32> {\n"
        self.refused(3, "operator_unsupported", "func.call (net.mlir line 2), which must be inlined",
                     head + "  %0 = func.call @f(%a) : (tensor<4xi32>) -> tensor<4xi32>\n  return %0 : tensor<4xi32>\n}\n"
                     "func.func private @f(%a: tensor<4xi32>) -> tensor<4xi32> {\n  return %a : tensor<4xi32>\n}\n")
        self.refused(3, "feature_unsupported", "tensor<*xi32>, of no known rank; export the network with ranks",
                     head.replace("4x", "*x") + "  return %a : tensor<*xi32>\n}\n")
        self.refused(3, "type_unsupported", "tensor<4xui32>", head.replace("i32", "ui32") +
                     "  %0 = tosa.add %a, %a : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>\n"
                     "  return %0 : tensor<4xui32>\n}\n")

    def test_data_that_was_left_out(self):
        self.refused(2, "bad_data", "net.mlir line 2", RESOURCE.replace("blob>", "__elided__>"))

    def test_truncated_and_damaged_text(self):
        whole_lines = DELAY.index("\n") + 1
        self.refused(2, "bad_structure", "no function", DELAY[:whole_lines])
        for length in range(whole_lines + 5, len(DELAY) - 2, 61):
            self.refused(2, "file_damaged", "net.mlir", DELAY[:length])
        choice = random.Random(1)
        for _ in range(20):
            damaged = bytearray(IDENTITIES.encode())
            for _ in range(3):
                damaged[choice.randrange(len(damaged))] = choice.randrange(32, 127)
            result = harness.run("import", self.file("net.mlir", bytes(damaged)), "-o", self.dir / "out.tosa")
            self.assertIn(result.returncode, (0, 2, 3, 64, 66), result.err)

    def test_truncated_tflite(self):
        model = next(VENV.glob("lib/python3*/site-packages/pymicro_wakeword/models/okay_nabu.tflite")).read_bytes()
        for length in (8, 1000, len(model) // 2):
            self.refused(2, "file_damaged", "not a whole TensorFlow Lite file", model[:length], name="cut.tflite")
        root = b"\xff\xff\xff\x7f"
        self.refused(2, "file_damaged", "not a whole TensorFlow Lite file", root + model[4:], name="root.tflite")

    def test_a_signal_ends_it_with_its_tool_and_without_leavings(self):
        tools, scratch = self.dir / "slow", self.dir / "tmp"
        tools.mkdir()
        scratch.mkdir()
        started = tools / "started"
        (tools / "tosa-opt").write_text(f"#!/bin/sh\ntouch {started}\nsh -c 'sleep 30; true'\n")
        (tools / "tosa-opt").chmod(0o755)
        source = self.file("net.mlir", DELAY)
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            result = harness.stopped(number, started, "import", source, "-o", self.dir / "none.tosa",
                                     env={"NPU_PYTHON_TOOLS": str(tools), "TMPDIR": str(scratch)})
            self.assertEqual(result, (status, ""))
            self.assertEqual((listing(scratch), (self.dir / "none.tosa").exists()), ([], False))
            started.unlink()

    def test_without_tools(self):
        env = {"NPU_PYTHON_TOOLS": str(self.dir), "PATH": "/nowhere"}
        copy = self.dir / "bin" / "release" / "npu"
        copy.parent.mkdir(parents=True)
        copy.write_bytes(Path(harness.NPU).read_bytes())
        copy.chmod(0o755)
        source = self.file("net.mlir", DELAY)
        result = subprocess.run([copy, "import", source, "-o", self.dir / "none.tosa"], env={**os.environ, **env},
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 66, result.stderr)
        self.assertIn("tosa-opt was not found: run sim/setup.sh python", result.stderr)


class RoundTrips(Import):
    def test_the_wake_word_by_every_way(self):
        models = next(VENV.glob("lib/python3*/site-packages/pymicro_wakeword/models"))
        tosa, mlir, bytecode, again = (self.dir / f"nabu.{end}" for end in ("tosa", "mlir", "mlirbc", "again.mlir"))
        self.good("import", models / "okay_nabu.tflite", "-o", tosa)
        tool("tosa-converter-for-tflite", "--text", models / "okay_nabu.tflite", "-o", mlir)
        tool("tosa-opt", "--allow-unregistered-dialect", mlir, "--emit-bytecode", "-o", bytecode)
        self.deserialise(tosa, again)
        noise = random.Random(2)
        self.save("frames.npy", "|i1", (60, 1, 3, 40), [abs((row * 3 + band) % 40 - 20) * 7 // 5 + noise.randrange(12) - 128
                                                        for row in range(180) for band in range(40)])
        arguments = ("--sequence", "--input", self.dir / "frames.npy")
        expected = self.outputs(tosa, *arguments)
        self.assertGreater(len(set(read_npy_bytes(expected["TosaOutput_0.npy"]))), 1)
        for source in (mlir, bytecode, again):
            self.good("import", source, "-o", self.dir / "out.tosa")
            self.assertEqual(self.outputs(self.dir / "out.tosa", *arguments), expected, source.name)
            # All of it: operators, constants, variables, names.
            self.deserialise(self.dir / "out.tosa", self.dir / "out.mlir")
            self.assertTrue((self.dir / "out.mlir").read_bytes() == again.read_bytes(), source.name)


def read_npy_bytes(data):
    return data[10 + int.from_bytes(data[8:10], "little"):]


class Zoo(Import):
    """Real networks, where they are present."""

    # Left by the converter with operations that have no TOSA form.
    REFUSED = {"cond_fp32.raw": "tf.If", "transformer_gelu_int16x8.raw": "tfl.rsqrt"}

    def setUp(self):
        if ZOO is None:
            self.skipTest("no networks: NPU_ZOO_DIR")

    def data(self, folder):
        frames = folder / "frames.npy"
        return ("--sequence", "--input", frames) if frames.exists() else ("--input", folder / "input0.npy")

    def test_every_sample(self):
        samples = sorted((ZOO / "mlir").glob("*.mlir.gz"))
        self.assertGreater(len(samples), 20)
        for sample in samples:
            name = sample.name.removesuffix(".mlir.gz")
            with self.subTest(name):
                text = gzip.decompress(sample.read_bytes())
                if name in self.REFUSED:
                    self.refused(3, "operator_unsupported", self.REFUSED[name], text, name=f"{name}.mlir")
                    continue
                network = self.imported(f"{name}.mlir", text)
                stem = name.split(".")[0]
                folder = ZOO / ("while_fp32_iso" if stem == "while_fp32" else stem)
                if folder.exists():
                    data = self.data(folder)
                    self.assertEqual(self.outputs(network, *data), self.outputs(folder / f"{folder.name}.tosa", *data))

    def test_files_to_mlir_and_back(self):
        for name in ("hey_jarvis", "lstm_step_int16x8", "small_cnn_fp16", "small_cnn_int8", "while_fp32_iso"):
            with self.subTest(name):
                folder = ZOO / name
                self.deserialise(folder / f"{name}.tosa", self.dir / "back.mlir")
                self.good("import", self.dir / "back.mlir", "-o", self.dir / "out.tosa")
                data = self.data(folder)
                self.assertEqual(self.outputs(self.dir / "out.tosa", *data), self.outputs(folder / f"{name}.tosa", *data))


if __name__ == "__main__":
    harness.NPU, harness.MAKER, VENV = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    ZOO = Path(sys.argv[4]) if len(sys.argv) > 4 and sys.argv[4] else None
    if not (VENV / "bin" / "tosa-opt").exists():
        print(f"no Python environment in {VENV}: run sim/setup.sh python")
        sys.exit(1 if os.environ.get("NPU_REQUIRE_NETWORKS") else 77)
    os.environ.setdefault("NPU_PYTHON_TOOLS", str(VENV / "bin"))
    unittest.main(argv=sys.argv[:1], verbosity=1)
