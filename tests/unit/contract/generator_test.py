#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The contract's generator: what it refuses, with which sentence, and that it writes what is checked in."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CONTRACT = ROOT / "hw" / "contract"

sys.dont_write_bytecode = True
sys.path.insert(0, str(CONTRACT))

from generator.cpp_commands import element_size  # noqa: E402
from generator.load import load  # noqa: E402
from generator.source import ContractError  # noqa: E402

# File, a pattern that must match exactly once, its replacement, and what the refusal must say.
REFUSALS = [
    # Overlaps.
    ("commands.yaml", r"name: reserved1, word: 9, lsb: 9, width: 7", "name: reserved1, word: 9, lsb: 8, width: 8",
     "command dma: the fields 'commit' and 'reserved1' overlap in word 9, bit 8"),
    ("commands.yaml", r"name: dst, word: 7, type: address\}\n      - \{name: mode, word: 9, lsb: 0",
     "name: dst, word: 6, type: address}\n      - {name: mode, word: 9, lsb: 0",
     "command dma: the fields 'src' and 'dst' overlap in word 6, bit 0"),
    ("commands.yaml", r"name: src_stride, word: 18", "name: src_stride, word: 17",
     "command dma: the fields 'count' and 'src_stride' overlap in word 17, bit 0"),
    ("commands.yaml", r"name: count, word: 13", "name: count, word: 4", "'count' lies in word 4, which belongs to the header"),
    ("commands.yaml", r"name: layer, word: 1, lsb: 0, width: 16", "name: layer, word: 1, lsb: 0, width: 17",
     "header: the fields 'layer' and 'skip' overlap in word 1, bit 16"),
    ("commands.yaml", r"name: weight_zp, offset: 4", "name: weight_zp, offset: 0",
     "structure parameter_header: the fields 'input_zp' and 'weight_zp' overlap in byte 0"),
    ("registers.yaml", r"name: done, lsb: 1", "name: done, lsb: 0",
     "register status: the fields 'running' and 'done' overlap in bit 0"),
    ("registers.yaml", r"name: counter_lo, offset: 0x800", "name: counter_lo, offset: 0x3fc",
     "register counter_lo: it has the offset 0x404 of register region_base_hi"),
    ("capabilities.yaml", r"base: 0x100", "base: 0x090",
     "register var_word3: it has the offset 0x90 of capability clock_mhz"),
    # Gaps.
    ("commands.yaml", r"      - \{name: reserved3, word: 35, lsb: 0, width: 32\}\n", "",
     "command mxu: word 35, bit 0 belongs to no field"),
    ("commands.yaml", r"name: reserved1, word: 9, lsb: 9, width: 7", "name: reserved1, word: 9, lsb: 9, width: 6",
     "command dma: word 9, bit 15 belongs to no field"),
    ("commands.yaml", r"name: wait, word: 2, lsb: 0, width: 8, array: 12", "name: wait, word: 2, lsb: 0, width: 8, array: 11",
     "header: word 4, bit 24 belongs to no field"),
    ("commands.yaml", r"name: dst, word: 0, lsb: 8, width: 8", "name: dst, word: 0, lsb: 8, width: 7",
     "command vpu_ewise, repeat uops: word 0, bit 15 belongs to no field"),
    ("commands.yaml", r"name: shift, offset: 12, bytes: 4", "name: shift, offset: 12, bytes: 2",
     "structure parameter_entry: byte 14 belongs to no field"),
    # Widths and places.
    ("commands.yaml", r"name: reserved1, word: 9, lsb: 9, width: 7", "name: reserved1, word: 9, lsb: 9, width: 33",
     "'width' is 33, but must be from 1 to 32"),
    ("commands.yaml", r"name: reserved1, word: 9, lsb: 9, width: 7", "name: reserved1, word: 9, lsb: 9, width: 24",
     "bits 32:9 do not fit into a word of 32 bits"),
    ("commands.yaml", r"name: fill_value_lo, word: 10", "name: fill_value_lo, word: 30",
     "command dma, field fill_value_lo: 'word' is 30, but must be from 0 to 29"),
    ("commands.yaml", r"name: dst_stride, word: 23, lsb: 0, width: 32, array: 5", "name: dst_stride, word: 26, lsb: 0, width: 32, array: 5",
     "the array ends in word 30, beyond the last word, 29"),
    ("commands.yaml", r"name: wait, word: 2, lsb: 0, width: 8, array: 12", "name: wait, word: 2, lsb: 0, width: 12, array: 8",
     "elements of 12 bits at bit 0 straddle words"),
    ("commands.yaml", r"name: src_type, word: 13, lsb: 16, width: 4", "name: src_type, word: 13, lsb: 16, width: 2",
     "2 bits are too few for 'bool' = 4 of enum element"),
    ("commands.yaml", r"count: uop_count\n        max: 32", "count: uop_count\n        max: 64",
     "its 268 words do not fit into the header's length field, at most 255"),
    ("commands.yaml", r"name: bias, offset: 0, bytes: 8", "name: bias, offset: 0, bytes: 3", "'bytes' is 3, but must be one of 1, 2, 4, 8"),
    ("commands.yaml", r"name: multiplier, offset: 8, bytes: 4", "name: multiplier, offset: 10, bytes: 4",
     "the offset 10 is not a multiple of its 4 bytes"),
    ("registers.yaml", r"name: space, lsb: 4, width: 4", "name: space, lsb: 30, width: 4",
     "register region_flags, field space: bits 33:30 do not fit"),
    ("registers.yaml", r"name: status\n    offset: 0x010", "name: status\n    offset: 0x012",
     "register status: the offset 0x12 or its step is not a multiple of 4"),
    ("registers.yaml", r"size: 0x4000", "size: 0x3020", "register phase: the offset 0x3020 lies beyond"),
    ("registers.yaml", r"name: counter_hi, offset: 0x804, access: ro, array: \{count: 256", "name: counter_hi, offset: 0x804, access: ro, array: {count: 255",
     "register counter_hi: the registers of group 'counter' differ in count or step"),
    # Duplicates.
    ("commands.yaml", r"name: fill_value_hi", "name: fill_value_lo",
     "command dma: 'fill_value_lo' and 'fill_value_lo' have the same name 'fill_value_lo'"),
    ("commands.yaml", r"name: vpu_pool\n    opcode: vpu_pool", "name: vpu_pool\n    opcode: vpu_reduce",
     "commands: 'vpu_pool' and 'vpu_reduce' have the same opcode 'vpu_reduce'"),
    ("commands.yaml", r"name: vpu_pool\n", "name: dma\n", "commands: 'dma' and 'dma' have the same name 'dma'"),
    ("commands.yaml", r"dma: 16, mxu: 32", "dma: 16, mxu: 16", "enum opcode: 'dma' and 'mxu' have the same value 16"),
    ("commands.yaml", r"name: variable_entry", "name: event", "structures: 'event' and 'event' have the same name 'event'"),
    ("registers.yaml", r"name: fault_queue, offset: 0x06c", "name: fault_queue, offset: 0x068",
     "register fault_queue: it has the offset 0x68 of register fault_other"),
    ("registers.yaml", r"name: fault_queue", "name: fault_other", "'fault_other' and 'fault_other' have the same name"),
    ("registers.yaml", r"name: macs, index: 13", "name: macs, index: 12", "'bank_conflicts' and 'macs' have the same index 0xc"),
    ("capabilities.yaml", r"name: cpu_clock_mhz", "name: clock_mhz", "capabilities: 'clock_mhz' and 'clock_mhz' have the same name"),
    ("errors.yaml", r"name: bad_npy, class: usage, number: 3", "name: bad_npy, class: usage, number: 2",
     "errors: 'bad_input' and 'bad_npy' have the same code 0x4002"),
    ("errors.yaml", r"name: bad_npy", "name: bad_input", "errors: 'bad_input' and 'bad_input' have the same name"),
    ("errors.yaml", r"name: io, id: 66", "name: io, id: 64", "classes: 'usage' and 'io' have the same id 0x40"),
    ("errors.yaml", r"name: bug, class: internal", "name: bug, name: bag, class: internal",
     "the key 'name' appears twice in one mapping"),
    ("registers.yaml", r"size: 0x4000\n", "size: 0x4000\nsize: 0x8000\n", "line 9: the key 'size' appears twice"),
    ("commands.yaml", r"pool_mode: \{max: 0, avg: 1\}", "pool_mode: {max: 0, max: 1}", "the key 'max' appears twice"),
    # Windows and maps.
    ("registers.yaml", r"name: code, offset: 0x20000000", "name: code, offset: 0x0ffff000",
     "windows, code: 'offset' is 268431360, but must be from 268435457"),
    ("registers.yaml", r"name: data, base: 0x10000000", "name: data, base: 0x7000", "cpu_map, data: 'base' is 28672, but must be from 32768"),
    ("registers.yaml", r"bytes: 0x4000000,", "bytes: 0x4000100,", "cpu_map, psram: its place or its bytes are not a multiple of 4096"),
    ("registers.yaml", r"name: doorbell, block: mailbox", "name: doorbell, block: host", "register doorbell: 'block' is 'host', but must be one of"),
    # What names a variable.
    ("commands.yaml", r"width: 16, names: variable", "width: 16, names: variables",
     "command declare, field variable: 'names' is 'variables', but must be one of variable"),
    ("commands.yaml", r"width: 16, names: variable", "width: 16, type: signed, names: variable",
     "command declare, field variable: only an unsigned number can name a variable"),
    ("commands.yaml", r"name: src, word: 5, type: address\}\n      - \{name: dst, word: 7, type: address\}\n      - \{name: mode, word: 9, lsb: 0",
     "name: src, word: 5, type: address, names: variable}\n      - {name: dst, word: 7, type: address}\n      - {name: mode, word: 9, lsb: 0",
     "command dma, field src: an address has no 'names'"),
    # Accesses.
    ("commands.yaml", r"field: dst, access: write, when: \{mode: \[copy, fill\]\}", "field: dest, access: write, when: {mode: [copy, fill]}",
     "command dma, accesses: 'dest' is no address"),
    ("commands.yaml", r"dims: \[\[count, src_stride\]\], run: run_bytes", "dims: [[count, run_bytes]], run: run_bytes",
     "command dma, accesses: 'count' is an array"),
    ("commands.yaml", r"dims: \[\[count, src_stride\]\]", "dims: [[run_bytes, src_stride]]",
     "command dma, accesses: 'run_bytes' and 'src_stride' have not the same length"),
    ("commands.yaml", r"src_stride, \[0, 1, 3, 4\]\]\]", "src_stride, [0, 1, 3, 5]]]", "command dma, accesses: [0, 1, 3, 5] are no elements of 'src_stride'"),
    ("commands.yaml", r"src_stride, \[0, 1, 3, 4\]\]\]", "src_stride, [0], [1]]]", "command dma, accesses: a dimension is [count, stride]"),
    ("commands.yaml", r'moves: &rows "count\[0\]', 'moves: &rows "count[5]', "command dma, accesses: 'count[5]' is no element of an array"),
    ("commands.yaml", r'moves: &rows "count\[0\]', 'moves: &rows "mode[0]', "command dma, accesses: 'mode' is no field with a number"),
    ("commands.yaml", r"run: kernel_h \* kernel_w \* in_c", "run: kernel_h * kernel_d * in_c", "'kernel_d' is no field with a number"),
    ("commands.yaml", r"run: inner \* bytes\(i32\)", "run: inner * bytes(i33)", "'i33' is neither an element type nor a field with one"),
    ("commands.yaml", r"when: \{mode: \[avg\]\}, run: size\(parameter_header\)", "run: size(parameters)", "there is no structure 'parameters'"),
    ("commands.yaml", r"when: \{mode: \[avg\]\}", "when: {mode: [mean]}", "command vpu_pool, accesses: 'when' is 'mean', but must be one of"),
    ("commands.yaml", r"      - \{field: params, access: read, when: \{mode: \[avg\]\}.*\n", "", "command vpu_pool: no access has the address 'params'"),
    ("commands.yaml", r"field: src, access: read, when: \{mode: \[matmul\]\}", "field: src, access: write, when: {mode: [matmul]}",
     "command mxu, accesses: reads come before writes"),
    ("commands.yaml", r"commit: commit\}\n    fields", "commit: run_bytes}\n    fields", "'commit' names 'run_bytes', which is no single bit"),
    ("commands.yaml", r"    memories: \[dram, scratchpad, persistent\]\n", "", "command dma: 'memories' and accesses must come together"),
    ("commands.yaml", r"by: uops", "by: operands", "command vpu_ewise, repeat operands, access: 'by' is 'operands'"),
    ("commands.yaml", r"        access: \{field: base.*\n", "", "command vpu_ewise: 'memories' and accesses must come together"),
    # Micro-operations.
    ("commands.yaml", r"select: \{value: 21", "select: {value: 22", "micro-operation select: its value is 22, but they count from 0 without gaps"),
    ("commands.yaml", r"fsub: \{value: 30, floats: true", "fsub: {value: 30", "micro-operation fsub: those with floats come last"),
    ("commands.yaml", r"abs: \{value: 8, dst: result", "abs: {value: 8, dst: source", "micro-operation abs, dst: a result is what 'dst' names"),
    ("commands.yaml", r"abs: \{value: 8, dst: result, a: source", "abs: {value: 8, dst: result, a: sources",
     "micro-operation abs, a: 'sources' is not one of result, source"),
    ("commands.yaml", r"table8: \{value: 24, dst: result, a: source", "table8: {value: 24, dst: result, a: loaded",
     "micro-operation table8: more than one of its fields names an operand"),
    ("commands.yaml", r"clamp: \{value: 7, dst: result, a: source, imm0: number", "clamp: {value: 7, dst: result, a: source, imm0: loaded",
     "micro-operation clamp, imm0: an operand is what 'a' or 'b' names"),
    ("commands.yaml", r"fabs: \{value: 36, floats: true", "fabs: {value: 36, floats: false", "micro-operation fabs, floats: must be true, or is left out"),
    ("commands.yaml", r"fabs: \{value: 36, floats: true", "fabs: {value: 36, floats: 1", "micro-operation fabs, floats: must be true, or is left out"),
    ("commands.yaml", r"element: \[f16, bf16, f8e4m3, f8e5m2\]", "element: [f16, bf16, f8, f8e5m2]",
     "micro-operation fcast, imm0: 'element' is 'f8', but must be one of"),
    ("commands.yaml", r"packed: rescale_immediate", "packed: rescale", "there is no immediate 'rescale'"),
    ("commands.yaml", r"only: \[i8, i16, i32\]", "only: [i8, f64]", "immediate rescale_immediate, field type: 'only' is 'f64'"),
    ("commands.yaml", r"name: reserved1, word: 0, lsb: 25, width: 7", "name: reserved1, word: 0, lsb: 25, width: 6",
     "immediate rescale_immediate: word 0, bit 31 belongs to no field"),
    # Unknown and wrong things.
    ("commands.yaml", r"enum: dma_mode", "enum: dma_kind", "command dma, field mode: 'enum' is 'dma_kind', but must be one of"),
    ("commands.yaml", r"type: enum, enum: dma_mode", "enum: dma_mode", "'type: enum' and 'enum' must come together"),
    ("registers.yaml", r"enum: space", "enum: spaces", "register region_flags, field space: 'enum' is 'spaces'"),
    ("commands.yaml", r"name: dma\n    opcode: dma", "name: dma\n    opcode: copy", "command dma: 'opcode' is 'copy', but must be one of"),
    ("commands.yaml", r"count: uop_count", "count: uops_count", "the count 'uops_count' of 'uops' is not an unsigned field"),
    ("commands.yaml", r"branch: 6, dma: 16", "branch: 6, halt: 7, dma: 16", "enum opcode: no command has the opcode 'halt'"),
    ("commands.yaml", r"name: run_bytes, word: 12", "name: run_bytes, wurd: 12", "command dma: the key 'word' is missing"),
    ("commands.yaml", r"name: run_bytes, word: 12", "name: run_bytes, colour: 1, word: 12", "command dma: the key 'colour' is unknown"),
    ("commands.yaml", r"name: run_bytes", "name: Run-Bytes", "the name 'Run-Bytes' must be lower case letters"),
    ("commands.yaml", r"name: run_bytes", "name: register", "the name 'register' means something else in C or C++"),
    ("commands.yaml", r"pool_mode: \{max: 0", "pool_mode: {on: 0", "the name True must be lower case letters"),
    ("commands.yaml", r"pool_mode: \{max: 0", "pool_mode: {max: 256", "'value' is 256, but must be from 0 to 255"),
    ("commands.yaml", r"version: \{major: 1", "version: {major: true", "version: 'major' must be an integer, but is True"),
    ("commands.yaml", r"variable_dram_unit: \{value: 64", "variable_dram_unit: {value: -64",
     "constant variable_dram_unit: 'value' is -64, but must be from 0 to"),
    ("commands.yaml", r"variable_dram_unit: \{value: 64", "variable_dram_unit: {bytes: 64",
     "constant variable_dram_unit: the key 'value' is missing"),
    ("commands.yaml", r"  variable_dram_unit: \{", "  Variable-Unit: {", "the name 'Variable-Unit' must be lower case letters"),
    ("commands.yaml", r"constants:\n(?:  \w+: .*\n)+", "constants: 64\n", "constants: must be a mapping"),
    ("registers.yaml", r"offset: 0x020, access: rw", "offset: 0x020, access: wo", "register command_base_lo: 'access' is 'wo'"),
    ("registers.yaml", r"size: 0x4000", "size: [", "is not valid YAML"),
    ("capabilities.yaml", r"min: 2, max: 8", "min: 9, max: 8", "capability dma_channels: 'max' is 8, but must be from 9"),
    ("capabilities.yaml", r"mxu_cols, unit: channels, min: 4", "mxu_cols, unit: channels, min: 5",
     "capability mxu_cols: 'min' 5 and 'max' 256 must be powers of two"),
    ("errors.yaml", r"name: bug, class: internal", "name: bug, class: inner", "error bug: 'class' is 'inner', but must be one of"),
    ("errors.yaml", r"name: bug, class: internal, number: 1", "name: bug, class: internal, number: 256",
     "error bug: 'number' is 256, but must be from 0 to 255"),
]


class Scratch(unittest.TestCase):
    """Each test has a copy of the contract's YAML files."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        for file in CONTRACT.glob("*.yaml"):
            shutil.copy(file, self.path)

    def tamper(self, file: str, pattern: str, replacement: str):
        text = (CONTRACT / file).read_text(encoding="utf-8")
        text, count = re.subn(pattern, lambda _: replacement, text)
        self.assertEqual(count, 1, f"the pattern {pattern!r} must match once in {file}")
        (self.path / file).write_text(text, encoding="utf-8")

    def generate(self, *arguments):
        command = [sys.executable, CONTRACT / "generate.py", "--source", self.path, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)


class Refusals(Scratch):
    def test_each_is_one_sentence_with_file_and_name(self):
        for file, pattern, replacement, expected in REFUSALS:
            with self.subTest(expected):
                self.tamper(file, pattern, replacement)
                with self.assertRaises(ContractError) as caught:
                    load(self.path)
                message = str(caught.exception)
                self.assertIn(expected, message)
                # A clash between two files is reported by the one that is read last.
                self.assertRegex(message, r"\A[a-z]+\.yaml: [^\n]+\.\Z")
                shutil.copy(CONTRACT / file, self.path)

    def test_missing_file(self):
        (self.path / "errors.yaml").unlink()
        with self.assertRaisesRegex(ContractError, r"\Aerrors.yaml: cannot be read"):
            load(self.path)

    def test_names_that_become_one_in_c(self):
        self.tamper("registers.yaml", r"  - \{name: fault_other", "  - {name: status_running_mask, offset: 0xf0, access: ro, doc: x}\n  - {name: fault_other")
        result = self.generate("--root", self.path / "out")
        self.assertEqual(result.returncode, 1)
        self.assertIn("would both be called NPU_REG_STATUS_RUNNING_MASK in C", result.stderr)

    def test_program_exits_with_1_and_writes_nothing(self):
        self.tamper("errors.yaml", r"name: bad_npy", "name: bad_input")
        result = self.generate("--root", self.path / "out")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertTrue(result.stderr.startswith("errors.yaml: "))
        self.assertFalse((self.path / "out").exists())


class ElementSizes(unittest.TestCase):
    def test_are_whole_bytes_that_hold_the_bits_of_the_name(self):
        sizes = {"i8": 1, "i16": 2, "i32": 4, "i48": 8, "bool": 1, "f16": 2, "bf16": 2, "f32": 4, "f8e4m3": 1, "f8e5m2": 1}
        self.assertEqual({element: element_size(element) for element in load(CONTRACT).enums["element"]}, sizes)


class Outputs(Scratch):
    def test_check_finds_a_drift_and_shows_it(self):
        out = self.path / "out"
        self.assertEqual(self.generate("--root", out).returncode, 0)
        self.assertEqual(self.generate("--root", out, "--check").returncode, 0)
        written = sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file())
        names = ["accesses.h", "capabilities.cmake", "capabilities.h", "commands.h", "errors.h", "fields.h", "micro_operations.h",
                 "npu_contract.h", "npu_contract_pkg.sv", "registers.h"]
        self.assertEqual(written, ["docs/reference/contract.md"] + [f"hw/contract/gen/{name}" for name in names])

        self.tamper("errors.yaml", r"doc: \"An internal check failed\.\"", 'doc: "A check of ours failed."')
        result = self.generate("--root", out, "--check")
        self.assertEqual(result.returncode, 1)
        self.assertIn("-      return \"An internal check failed.\";", result.stdout)
        self.assertIn("+      return \"A check of ours failed.\";", result.stdout)
        self.assertIn("run hw/contract/generate.py", result.stderr)

    def test_micro_operations_of_floats_are_marked(self):
        out = self.path / "out"
        self.assertEqual(self.generate("--root", out).returncode, 0)
        lines = (out / "hw/contract/gen/micro_operations.h").read_text(encoding="utf-8").splitlines()
        marked = [line.split("// ")[1] for line in lines if re.search(r", true\},  // \w+$", line)]
        self.assertEqual(marked, sorted(load(CONTRACT).float_operations, key=list(load(CONTRACT).micro_operations).index))
        self.assertEqual((marked[0], marked[-1], len(marked)), ("fadd", "faffine", 20))

    def test_check_finds_a_missing_output(self):
        out = self.path / "out"
        self.generate("--root", out)
        (out / "hw/contract/gen/commands.h").unlink()
        self.assertEqual(self.generate("--root", out, "--check").returncode, 1)

    def test_two_runs_write_the_same(self):
        outs = [self.path / "a", self.path / "b"]
        for out in outs:
            self.assertEqual(self.generate("--root", out).returncode, 0)
        for file in outs[0].rglob("*.*"):
            self.assertEqual(file.read_bytes(), (outs[1] / file.relative_to(outs[0])).read_bytes())


if __name__ == "__main__":
    unittest.main()
