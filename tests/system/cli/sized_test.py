#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sequences with a file for each invocation, whose sizes change: `npu run` and `npu reference`.

  sized_test.py NPU MAKER
"""

import json

from harness import NpuTest, main, read_npy

ROWS = [3, 64, 3, 1, 17, 64, 3]


def expected(rows, frames):
    """What open_stream gives: x XOR w XOR the state, which then takes the largest of each column."""
    state, outputs = [1, 2, 3, 4], []
    for count, (x, w) in zip(rows, frames):
        y = [a ^ b ^ state[i % 4] for i, (a, b) in enumerate(zip(x, w))]
        state = [max(y[column::4]) for column in range(4)]
        outputs.append(((count, 4), y))
    return outputs, state


class Sized(NpuTest):

    def frames(self, folder, rows, other=None):
        """A folder x and a folder w with a file for each number of rows; those of `other`, if given, in w."""
        made = []
        for name, counts, step in (("x", rows, 37), ("w", other or rows, 53)):
            (self.dir / folder / name).mkdir(parents=True)
            made.append([[(step * k + 11 * i) % 251 - 125 for k in range(4 * count)] for i, count in enumerate(counts)])
            for i, (count, values) in enumerate(zip(counts, made[-1])):
                self.save(f"{folder}/{name}/frame_{i}.npy", "|i1", (count, 4), values)
        return list(zip(*made))

    def inputs(self, folder):
        return ["--sequence", "--input", f"x={self.dir / folder / 'x'}", f"w={self.dir / folder / 'w'}"]

    def outputs(self, folder, numbers):
        """Shape and elements of the outputs with these numbers, or of so many."""
        numbers = range(numbers) if isinstance(numbers, int) else numbers
        self.assertEqual(sorted(p.name for p in (self.dir / folder / "y").iterdir()), sorted(f"{i}.npy" for i in numbers))
        return [read_npy(self.dir / folder / "y" / f"{i}.npy")[1:] for i in numbers]

    def test_sizes_change_and_the_state_goes_on(self):
        network = self.dir / "open_stream.tosa"
        wanted, state = expected(ROWS, self.frames("change", ROWS))
        elements = sum(4 * count for count in ROWS)
        self.good("reference", network, *self.inputs("change"), "-o", self.dir / "out_reference", "--save-state",
                  self.dir / "reference.state")
        self.assertEqual(self.outputs("out_reference", len(ROWS)), [(shape, y) for shape, y in wanted])
        for machine in ("edge", "nano"):
            out, saved = f"out_{machine}", self.dir / f"{machine}.state"
            result = self.good("run", network, *self.inputs("change"), "--config", machine, "--check", "reference", "-o",
                               self.dir / out, "--save-state", saved, "--json", self.dir / f"{machine}.json")
            self.assertIn(f"check     0 differing of {elements} elements compared with the reference (1 output, 7 invocations)\n",
                          result.out)
            self.assertIn("programs  3 hits, 4 misses, 0 evictions; 4 in ", result.out)
            self.assertIn(f"output    y -> {self.dir / out}/y/0.npy to 6.npy\n", result.out)
            self.assertEqual(self.outputs(out, len(ROWS)), [(shape, y) for shape, y in wanted])
            self.good("state", "diff", saved, self.dir / "reference.state")
            report = json.loads((self.dir / f"{machine}.json").read_text())
            self.assertEqual((report["schema"], report["machine"]), ("npu-sizes", machine))
            self.assertEqual([one["sizes"]["x"][0] for one in report["invocations"]], ROWS)
            self.assertEqual([one["compiled"] for one in report["invocations"]], [True, True, False, True, True, False, False])
            self.assertEqual([one["program"] for one in report["invocations"]], [0, 1, 0, 2, 3, 1, 0])
            self.assertEqual([one["invocations"] for one in report["programs"]], [3, 2, 1, 1])
            self.assertEqual(report["cycles"], sum(one["cycles"] for one in report["invocations"]))
            self.assertEqual(report["cycles"], sum(one["report"]["total"]["cycles_sum"] for one in report["programs"]))
            cache = report["cache"]
            self.assertIsNone(cache["limit_bytes"])
            self.assertEqual(cache["bytes"], sum(one["bytes"] for one in report["programs"]))
            self.assertEqual(report["check"], {"against": "reference", "compared": elements, "differing": 0, "first": None})
            print(f"{machine}: 0 differing of {elements} elements")

    def test_images_of_any_number_and_size(self):
        shapes = [(1, 6, 6, 4), (2, 9, 5, 4), (1, 40, 33, 4), (1, 6, 6, 4), (3, 3, 3, 4)]
        folder = self.dir / "images"
        folder.mkdir()
        for i, shape in enumerate(shapes):
            count = shape[0] * shape[1] * shape[2] * shape[3]
            self.save(f"images/{i}.npy", "|i1", shape, [(37 * k + 5 * i) % 251 - 125 for k in range(count)])
        elements = sum(8 * images * height * width for images, height, width, _ in shapes)
        for machine in ("edge", "nano"):
            out = f"images_{machine}"
            result = self.good("run", self.dir / "open_images.tosa", "--sequence", "--input", folder, "--config", machine, "--check",
                               "reference", "-o", self.dir / out)
            self.assertIn(f"check     0 differing of {elements:,} elements compared with the reference (1 output, 5 invocations)\n",
                          result.out)
            self.assertIn("programs  1 hit, 4 misses, 0 evictions; ", result.out)
            outputs = self.outputs(out, len(shapes))
            self.assertEqual([shape for shape, _ in outputs], [(*shape[:3], 8) for shape in shapes])
            self.assertNotEqual(outputs[0], outputs[3])  # the same size, another state
            print(f"{machine}, images: 0 differing of {elements} elements")

    def test_programs_stay_within_a_limit(self):
        network, report = self.dir / "open_stream.tosa", self.dir / "limit.json"
        self.frames("limit", ROWS)
        for machine in ("edge", "nano"):
            result = self.good("run", network, *self.inputs("limit"), "--config", machine, "--check", "reference", "--specialise", "1",
                               "--json", report)
            self.assertIn("programs  0 hits, 7 misses, 6 evictions; 1 in ", result.out)
            self.assertIn(", limit 1 bytes\n", result.out)
            self.assertIn("check     0 differing of ", result.out)
            cache = json.loads(report.read_text())["cache"]
            self.assertEqual((cache["limit_bytes"], cache["hits"], cache["misses"], cache["evictions"], cache["programs"]), (1, 0, 7, 6, 1))
            self.assertEqual([one["compiled"] for one in json.loads(report.read_text())["programs"]], [3, 2, 1, 1])

    def test_one_compilation_is_for_all_sizes(self):
        network = self.dir / "open_stream.tosa"
        wanted, state = expected(ROWS, self.frames("bounds", ROWS))
        elements = sum(4 * count for count in ROWS)
        reference = self.dir / "bounds_reference.state"
        self.good("reference", network, *self.inputs("bounds"), "--save-state", reference)
        for machine in ("edge", "nano"):
            for more in ([], ["--mode", "functional"], ["--bypass-firmware"], ["--state-in-dram"], ["--double-buffer"], ["--jitter", "7:9"],
                         ["--resident-constants"]):
                if more == ["--resident-constants"] and machine == "nano":
                    continue
                out, report, saved = self.dir / "bounds_out", self.dir / "bounds.json", self.dir / "bounds.state"
                log = ["--firmware-log"] if more == [] else []
                result = self.good("run", network, *self.inputs("bounds"), "--config", machine, "--dim", "x.0=1..64", "--check", "reference", "-o", out,
                                   "--json", report, "--save-state", saved, *more, *log)
                self.assertIn(f"check     0 differing of {elements} elements compared with the reference (1 output, 7 invocations)\n", result.out)
                self.assertRegex(result.out, r"programs  \d of \d loaded, in [\d,]+ bytes; compiled once for x.0 1 to 64\n")
                self.assertEqual(self.outputs("bounds_out", len(ROWS)), [(shape, y) for shape, y in wanted])
                self.good("state", "diff", saved, reference)
                document = json.loads(report.read_text())
                self.assertEqual(document["bounds"], [{"name": "x.0", "least": 1, "most": 64}])
                self.assertEqual([one["sizes"]["x"][0] for one in document["invocations"]], ROWS)
                self.assertLessEqual(document["cache"]["programs"], document["cache"]["compiled"])
                self.assertEqual(document["cache"]["misses"], document["cache"]["programs"])
                for program in document["programs"] if more == [] else []:
                    total = program["report"]["total"]
                    print(f"{machine}, {program['sizes']['x']}: {total['cycles_sum']} cycles")
                for count in ROWS if log else []:  # the firmware hears sizes, and nothing of tiles
                    self.assertRegex(result.err, rf"debug request \d+: sizes {count}\n")
        print(f"bounds: 0 differing of {elements} elements, each time")

    def test_a_compiled_program_is_for_all_sizes_within_bounds(self):
        network, program, reference = self.dir / "open_stream.tosa", self.dir / "all_sizes.npu", self.dir / "all_sizes_reference.state"
        wanted, state = expected(ROWS, self.frames("all_sizes", ROWS))
        elements = sum(4 * count for count in ROWS)
        self.good("reference", network, *self.inputs("all_sizes"), "--save-state", reference)
        for machine in ("edge", "nano"):
            for fixed in ([], ["--state-in-dram"], ["--double-buffer"]):
                result = self.good("compile", network, "-o", program, "--config", machine, "--dim", "x.0=1..64", *fixed)
                self.assertRegex(result.out, rf"all_sizes.npu: \S+ for {machine}, \d programs for x.0 1 to 64, [\d,]+ commands, [\d,]+ bytes\n")
                before = program.read_bytes()
                self.good("compile", network, "-o", program, "--config", machine, "--dim", "x.0=1..64", *fixed)
                self.assertEqual(program.read_bytes(), before)
                for more in ([], ["--bypass-firmware"], ["--mode", "functional"]) if fixed == [] else ([],):
                    answers = []
                    for file, options in ((network, ["--dim", "x.0=1..64", "--config", machine, *fixed]), (program, []),
                                          (program, ["--graph", network, "--check", "reference"])):
                        out, report, saved = self.dir / "all_sizes_out", self.dir / "all_sizes.json", self.dir / "all_sizes.state"
                        result = self.good("run", file, *self.inputs("all_sizes"), *options, *more, "-o", out, "--json", report, "--save-state", saved)
                        self.assertEqual(self.outputs("all_sizes_out", len(ROWS)), [(shape, y) for shape, y in wanted])
                        self.good("state", "diff", saved, reference)
                        document = json.loads(report.read_text().replace(f"{self.dir}/", ""))
                        if "--check" in options:
                            self.assertIn(f"check     0 differing of {elements} elements compared with the reference (1 output, 7 invocations)\n",
                                          result.out)
                            document["check"] = None
                        answers.append((document, result.out.split("check  ")[0].split("\n")[1:]))
                    self.assertEqual(answers[0][0], answers[1][0])
                    self.assertEqual(answers[0][0], answers[2][0])
                    self.assertEqual(answers[0][1], answers[1][1])
                    print(f"{machine} {fixed} {more}: {answers[0][0]['cycles']} cycles and 0 differing of {elements} elements, compiled before and now")

    def test_a_compiled_program_goes_on_with_a_saved_state(self):
        network, program = self.dir / "open_stream.tosa", self.dir / "goes_on.npu"
        wanted, state = expected(ROWS, self.frames("goes_on", ROWS))
        self.good("compile", network, "-o", program, "--dim", "x.0=1..64", "-q")
        saved, given = self.dir / "goes_on.state", ["run", program, *self.inputs("goes_on"), "-o", self.dir / "goes_on_out"]
        self.good(*given, "--invocations", 3, "--save-state", saved)
        self.good(*given, "--skip", 3, "--resume", saved)
        self.assertEqual(self.outputs("goes_on_out", len(ROWS)), [(shape, y) for shape, y in wanted])

    def test_a_compiled_program_has_a_state_as_large_as_the_first_job_says(self):
        network, program, saved = self.dir / "open_state.tosa", self.dir / "state_size.npu", self.dir / "state_size.state"
        frames = [self.save(f"state_size{rows}.npy", "|i1", (rows, 4), [rows] * 4 * rows) for rows in (5, 6)]
        self.good("compile", network, "-o", program, "--dim", "x.0=1..9")
        given = ["run", program, "--sequence"]
        self.good(*given, "--zero-init", "--input", frames[0], frames[0], "--save-state", saved)
        self.assertIn("INT8[5, 4] of [9, 4]", self.good("state", "list", saved).out)
        self.good(*given, "--resume", saved, "--input", frames[0], frames[0], "--check", "reference", "--graph", network)
        for more in ([], ["--graph", network]):
            result = self.bad(1, "variable_mismatch", "INT8[6, 4]", *given, *more, "--zero-init", "--input", *frames)
            self.assertIn("invocation 1 (", result.err)

    def test_what_a_compiled_program_for_bounds_does_not_take(self):
        network, program = self.dir / "open_stream.tosa", self.dir / "taken.npu"
        self.frames("taken", [3, 65])
        self.good("compile", network, "-o", program, "--dim", "x.0=1..64")
        given = ["run", program, *self.inputs("taken")]
        for more in ([], ["--graph", network]):
            result = self.bad(64, "size_out_of_bounds", "invocation 1 (", *given, *more)
            self.assertIn("x.0 is 65, but the programs are for sizes of which x.0 is 1 to 64", result.err)
        self.bad(64, "bad_option", "--dim belongs to npu compile", *given, "--dim", "x.0=1..64")
        self.bad(64, "bad_option", "--specialise bounds programs that npu run compiles", *given, "--specialise", "100")
        self.bad(64, "bad_option", "leave out --shape", *given, "--shape", "x=3x4")
        self.bad(64, "bad_option", "name its file with --graph", *given, "--check", "reference")
        self.bad(64, "bad_option", "is not the network that", *given, "--check", "reference", "--graph", self.dir / "running_sum.tosa")
        self.bad(64, "bad_option", "--csv", *given, "--csv", self.dir / "no.csv")
        frame = self.save("taken_one.npy", "|i1", (3, 4), [1] * 12)
        for shape in ((3, 5), (12,), (1, 3, 4)):
            other = self.save("taken_other.npy", "|i1", shape, [1] * (15 if shape == (3, 5) else 12))
            result = self.bad(64, "bad_input", "invocation 0 (", "run", program, "--sequence", "--input", f"x={other}", f"x={other}", f"w={frame}",
                              f"w={frame}")
            self.assertIn("input 'x'", result.err)
        five = self.save("taken_five.npy", "|i1", (5, 4), [1] * 20)
        self.bad(1, "size_mismatch", "dimension 0 of input 'w' is 5, but dimension 0 of input 'x' is 3", "run", program, "--sequence", "--input",
                 f"x={frame}", f"x={frame}", f"w={five}", f"w={five}")

    def rows(self, name, count, frames=None):
        """Files x and w of so many rows, as inputs, and what they hold; with `frames` so many of them along the first axis."""
        made = [[(step * k + 7) % 251 - 125 for k in range(4 * count * (frames or 1))] for step in (37, 53)]
        shape = (count, 4) if frames is None else (frames, count, 4)
        return ["--input", *(f"{x}={self.save(f'{name}_{x}.npy', '|i1', shape, values)}" for x, values in zip("xw", made))], made

    def answer(self, *arguments):
        """Outputs, report and text of a run, without what differs between a network and its program."""
        out, report = self.dir / "answer_out", self.dir / "answer.json"
        text = self.good("run", *arguments, "-o", out, "--json", report).out
        document = json.loads(report.read_text().replace(f"{self.dir}/", ""))
        if document["check"] is not None:
            self.assertEqual(document["check"]["differing"], 0)
            document["check"] = None
        return read_npy(out / "y.npy")[1:], document, text.split("check  ")[0].split("\n")[1:]

    def test_one_invocation_of_a_program_for_bounds(self):
        network, program, report = self.dir / "open_stream.tosa", self.dir / "one.npu", self.dir / "one.json"
        elements = 0
        for machine in ("edge", "nano"):
            self.good("compile", network, "-o", program, "--config", machine, "--dim", "x.0=1..64")
            for count in (1, 3, 64):
                given, (x, w) = self.rows("one", count)
                wanted, _ = expected([count], [(x, w)])
                for more in ([], ["--mode", "functional"], ["--bypass-firmware"], ["--jitter", "7:9"], ["--invocations", 1]):
                    alone = self.answer(network, "--config", machine, *given, *more)
                    once = self.answer(program, *given, *more)
                    self.assertEqual(once, self.answer(network, "--config", machine, "--dim", "x.0=1..64", *given, *more))
                    self.assertEqual(once, self.answer(program, "--graph", network, "--check", "reference", *given, *more))
                    self.assertEqual(once[0], alone[0])
                    self.assertEqual(once[0][1], wanted[0][1])
                    elements += 4 * 4 * count
                    if more == []:
                        one = self.good("run", program, "--sequence", *[word for g in given for word in ([g, g] if "=" in g else [g])], "--json", report)
                        first = json.loads(report.read_text())
                        self.assertEqual(once[1]["total"]["cycles_sum"], first["invocations"][0]["cycles"], one.out)
                        print(f"{machine}, {count} rows: {once[1]['total']['cycles_sum']} cycles alone and in a sequence, for these sizes only "
                              f"{alone[1]['total']['cycles_sum']}")
        print(f"one invocation: 0 differing of {elements} elements")

    def test_one_invocation_of_images(self):
        network, program, report = self.dir / "open_images.tosa", self.dir / "one_image.npu", self.dir / "one_image.json"
        dims = ["--dim", "x.0=1..3", "--dim", "x.1=3..40", "--dim", "x.2=3..40"]
        for machine, fixed in (("edge", []), ("edge", ["--resident-constants"]), ("nano", [])):
            self.good("compile", network, "-o", program, "--config", machine, *dims, *fixed)
            for shape in (1, 6, 6, 4), (2, 9, 5, 4), (1, 40, 33, 4):
                count = shape[0] * shape[1] * shape[2] * shape[3]
                image = self.save("one_image.npy", "|i1", shape, [(7 * k + 3) % 251 - 125 for k in range(count)])
                once = self.answer(program, "--input", image)
                self.assertEqual(once, self.answer(program, "--graph", network, "--check", "reference", "--input", image))
                self.assertEqual(once[0], self.answer(network, "--config", machine, *fixed, "--input", image)[0])
                self.good("run", program, "--sequence", "--input", image, image, "--json", report)
                first = json.loads(report.read_text())["invocations"][0]
                self.assertEqual(once[1]["total"]["cycles_sum"], first["cycles"])
                self.assertLess(abs(once[1]["program"]["estimated_cycles"] / first["cycles"] - 1), 0.1)
                print(f"{machine} {fixed}, {shape}: 0 differing of {2 * count} elements, {first['cycles']} cycles both ways")

    def test_one_invocation_has_all_options(self):
        network, program = self.dir / "open_stream.tosa", self.dir / "options.npu"
        self.good("compile", network, "-o", program, "--dim", "x.0=1..64")
        given, _ = self.rows("options", 5)
        for subject in ([program], [network, "--dim", "x.0=1..64"]):
            csv, trace = self.dir / "options.csv", self.dir / "options.trace"
            text = self.good("run", *subject, *given, "--csv", csv, "--trace", trace, "--roofline", "--firmware-log").out
            self.assertIn("roofline", text)
            self.assertIn("BITWISE_XOR", csv.read_text())
            self.assertTrue(json.loads(trace.read_text()))
            # Without data, and with --shape.
            shapes = ["--shape", "x=5x4", "--shape", "w=5x4"]
            for more in ([], ["--random-inputs", 3], ["--sequence", "--invocations", 3]):
                self.assertIn("with random inputs, seed", self.good("run", *subject, *shapes, *more).out)
            mixed = ["--input", given[1], "--random-inputs", 2, "--shape", "w=5x4"]
            self.assertEqual(self.answer(*subject, *mixed)[0], self.answer(network, *mixed)[0])
            self.bad(64, "bad_input", "leaves a size of input 'w' open (INT8[-1, 4]): give its shape, with --shape 'w=8x4' say", "run", *subject,
                     "--input", given[1], "--random-inputs", 2)
            self.bad(64, "bad_input", "--shape gives 'x' as [6, 4], but its data has the shape [5, 4]", "run", *subject, *given, "--shape", "x=6x4")
            self.bad(64, "bad_input", "no variable 'z'", "run", *subject, *given, "--shape", "z=6x4")
            if subject == [program]:
                self.bad(64, "bad_option", "--dim belongs to npu compile", "run", *subject, *given, "--dim", "x.0=1..64")
                self.bad(64, "bad_option", "name its file with --graph", "run", *subject, *given, "--check", "reference")
        self.bad(64, "bad_option", "--specialise bounds", "run", network, *given, "--specialise", "100")

    def test_one_invocation_of_sizes_that_cannot_be(self):
        network, program = self.dir / "open_stream.tosa", self.dir / "cannot.npu"
        self.good("compile", network, "-o", program, "--dim", "x.0=1..64")
        report = self.dir / "cannot.json"
        for subject in ([program], [program, "--graph", network], [network, "--dim", "x.0=1..64"]):
            wide, stacked = self.rows("cannot_wide", 65)[0], self.rows("cannot_frames", 65, 2)[0]
            for given in (wide, ["--sequence", *stacked], ["--shape", "x=65x4", "--shape", "w=65x4"]):
                self.bad(64, "size_out_of_bounds", "x.0 is 65, but the programs are for sizes of which x.0 is 1 to 64; compile for wider bounds", "run",
                         *subject, *given, "--json", report)
            five, three = self.rows("cannot_five", 5)[0], self.rows("cannot_three", 3)[0]
            self.bad(1, "size_mismatch", "input", "run", *subject, "--input", five[1], three[2], "--json", report)
            for shape in ((3, 5), (12,), (1, 3, 4)):
                other = self.save("cannot_other.npy", "|i1", shape, [1] * (15 if shape == (3, 5) else 12))
                self.bad(64, "bad_input", f"input 'x' is INT8[-1, 4], not {list(shape)}", "run", *subject, "--input", f"x={other}", three[2])
            self.bad(64, "bad_input", "is given twice", "run", *subject, "--input", three[1], three[1], three[2])
            self.assertFalse(report.exists())
        self.bad(1, "size_mismatch", "dimension 0 of input 'w' is 3, but dimension 0 of input 'x' is 5; they are the same size", "run", program,
                 "--input", five[1], three[2])
        # What must hold of the sizes: an even number of rows.
        shapes, halves = self.dir / "open_shapes.tosa", self.dir / "halves.npu"
        self.good("compile", shapes, "-o", halves, "--dim", "x.0=2..8")
        four, odd = (self.save(f"halves{count}.npy", "|i1", (count, 4), list(range(4 * count))) for count in (4, 5))
        self.assertEqual(self.answer(halves, "--input", four)[0], self.answer(shapes, "--input", four)[0])
        self.bad(1, "size_mismatch", "x.0", "run", halves, "--input", odd)
        # Programs and networks of fixed sizes have none to give.
        self.good("compile", self.dir / "running_sum.tosa", "-o", self.dir / "cannot_fixed.npu")
        for file in ("running_sum.tosa", "cannot_fixed.npu"):
            self.bad(64, "bad_option", "fixed: leave out --shape", "run", self.dir / file, "--shape", "x=1x4")

    def test_frames_in_one_file_of_a_program_for_bounds(self):
        network, program, report = self.dir / "open_stream.tosa", self.dir / "stacked.npu", self.dir / "stacked.json"
        for machine in ("edge", "nano"):
            self.good("compile", network, "-o", program, "--config", machine, "--dim", "x.0=1..64")
            given, (x, w) = self.rows("stacked", 17, 4)
            frames = [(x[68 * i:68 * (i + 1)], w[68 * i:68 * (i + 1)]) for i in range(4)]
            wanted, _ = expected([17] * 4, frames)
            saved = [self.dir / f"stacked_{i}.state" for i in range(2)]
            alone = self.answer(network, "--config", machine, "--sequence", *given, "--save-state", saved[0])
            once = self.answer(program, "--sequence", *given, "--save-state", saved[1])
            self.good("state", "diff", *saved)
            self.assertEqual(once, self.answer(network, "--config", machine, "--sequence", "--dim", "x.0=1..64", *given))
            self.assertEqual(once[0], ((4, 17, 4), [value for _, y in wanted for value in y]))
            self.assertEqual(once[0], alone[0])
            files = [[f"{name}={self.save(f'stacked_{name}{i}.npy', '|i1', (17, 4), frame[k])}" for i, frame in enumerate(frames)]
                     for k, name in enumerate("xw")]
            self.good("run", program, "--sequence", "--input", *files[0], *files[1], "--json", report)
            cycles = [one["cycles"] for one in json.loads(report.read_text())["invocations"]]
            self.assertEqual(once[1]["total"]["cycles_sum"], sum(cycles))
            print(f"{machine}, 4 frames of 17 rows: 0 differing of {4 * 68} elements, {sum(cycles)} cycles both ways")

    def test_one_invocation_leaves_a_state_of_its_size(self):
        network, program, saved = self.dir / "open_state.tosa", self.dir / "left_state.npu", self.dir / "left_state.state"
        files = [self.save(f"left_state{i}.npy", "|i1", (5, 4), [(7 * k + 31 * i) % 256 - 128 for k in range(20)]) for i in range(2)]
        values = [read_npy(file)[2] for file in files]
        for fixed in ([], ["--state-in-dram"], ["--double-buffer"]):
            self.good("compile", network, "-o", program, "--dim", "x.0=1..9", *fixed)
            for subject in ([program], [network, "--dim", "x.0=1..9", *fixed]):
                start = ["run", *subject, "--input", files[0], "--zero-init", "--save-state", saved]
                self.assertRegex(self.good(*start).out, r"state INT8\[5, 4\], 20 bytes")
                shown = json.loads(self.good("state", "list", saved, "--json").out)["variables"][0]
                self.assertEqual((shown["shape"], shown["bytes"]), ([5, 4], 20))
                self.assertNotIn(" of [9, 4]", self.good("state", "list", saved).out)
                # It goes on with the program, the network, and a sequence whose sizes may change; and from there.
                for after in ([program], [network]):
                    self.assertEqual(self.answer(*after, "--input", files[1], "--resume", saved)[0][1], [a ^ b for a, b in zip(*values)])
                self.good("run", program, "--sequence", "--input", files[1], files[1], "--resume", saved, "--save-state", saved)
                self.assertEqual(self.answer(*subject, "--input", files[1], "--resume", saved)[0][1], [a ^ b for a, b in zip(*values)])
                six = self.save("left_state6.npy", "|i1", (6, 4), [1] * 24)
                self.bad(1, "variable_mismatch", "INT8[6, 4]", "run", *subject, "--input", six, "--resume", saved)
                self.good("run", *subject, "--input", files[0], "--zero-init", "--shape", "state=5x4")
                self.bad(1, "size_mismatch", "", "run", *subject, "--input", files[0], "--zero-init", "--shape", "state=6x4")

    def test_a_state_that_is_cleared_in_its_file_takes_any_size(self):
        network, program = self.dir / "open_state.tosa", self.dir / "cleared_state.npu"
        saved, cleared = self.dir / "cleared_state.state", self.dir / "cleared_state.cleared"
        self.good("compile", network, "-o", program, "--dim", "x.0=1..7")
        many = self.save("cleared_state20.npy", "|i1", (20, 4), [k - 40 for k in range(80)])
        frames = [self.save(f"cleared_state{i}.npy", "|i1", (3, 4), [(7 * k + 31 * i) % 256 - 128 for k in range(12)]) for i in range(2)]
        alone, sequence = ["--input", frames[0]], ["--sequence", "--input", *frames]
        for leaves in (["run", network, "--sequence", "--dim", "x.0=1..64", "--input", many, many], ["run", network, "--input", many],
                       ["reference", network, "--input", many]):
            self.good(*leaves, "--zero-init", "--save-state", saved)
            self.assertIn(f"{saved} fits {network}, with 'state' as 20x4: 1 variable of the same types and shapes\n",
                          self.good("state", "check", saved, network).out)
            self.good("state", "clear", saved, "-o", cleared)
            self.assertIn(f"{cleared} fits {network}: 1 variable", self.good("state", "check", cleared, network).out)
            for given in ([program, *alone], [program, *sequence], [program, "--graph", network, *alone], [program, "--graph", network, *sequence],
                          [network, *alone], [network, *sequence], [network, "--dim", "x.0=1..7", *alone], [network, "--dim", "x.0=1..7", *sequence]):
                for command in ("run", "reference") if given[0] == network and "--dim" not in given else ("run",):
                    fresh, resumed = self.dir / "cleared_fresh", self.dir / "cleared_resumed"
                    self.good(command, *given, "--zero-init", "-o", fresh)
                    self.good(command, *given, "--zero-init", "--resume", cleared, "-o", resumed)
                    file = "y/1.npy" if "--sequence" in given else "y.npy"
                    self.assertEqual(read_npy(resumed / file), read_npy(fresh / file))
                    if given == [program, *sequence]:  # where only the bounds of the state are known
                        self.bad(64, "size_out_of_bounds", "'state' is INT8[20, 4] in the snapshot, but declared as INT8[up to 7, 4]", command, *given,
                                 "--resume", saved)
                        continue
                    result = self.bad(1, "variable_mismatch", "'state' is INT8[20, 4] in", command, *given, "--resume", saved)
                    self.assertIn("but INT8[3, 4] by the sizes of the data: give data of the size that it has, or clear it in the file (npu state clear)",
                                  result.err)
        # Within the bounds, and without the network.
        five = self.save("cleared_state5.npy", "|i1", (5, 4), [1] * 20)
        self.good("run", program, "--sequence", "--input", five, five, "--zero-init", "--save-state", saved)
        self.bad(1, "variable_mismatch", "variable 'state' is INT8[5, 4] until it is cleared, but INT8[3, 4] by the sizes of this job", "run", program,
                 *sequence, "--resume", saved)

    def test_compiling_for_bounds_that_cannot_be(self):
        network, left = self.dir / "open_stream.tosa", self.dir / "left.npu"
        result = self.bad(3, "feature_unsupported", "npu resolve makes a file with fixed sizes", "compile", network, "-o", left)
        self.assertIn("bounds compile it for all sizes within them: --dim x.0=1..64, say", result.err)
        self.bad(64, "bad_option", "--explain says what was decided for one choice of sizes", "compile", network, "--explain", "--dim", "x.0=1..64")
        self.bad(64, "bad_option", "size 'x.0' has bounds twice", "compile", network, "-o", left, "--dim", "x.0=1..64", "--dim", "x.0=1..65")
        self.bad(64, "bad_option", "open", "compile", self.dir / "running_sum.tosa", "-o", left, "--dim", "x.0=1..4")
        self.bad(64, "bad_option", "leaves size 'x.1' open", "compile", self.dir / "open_images.tosa", "-o", left, "--dim", "x.0=1..3", "--dim", "x.2=6")
        self.bad(4, "budget_exceeded", "100000 choices of sizes", "compile", network, "-o", left, "--dim", "x.0=1..100000")
        self.assertFalse(left.exists())

    def test_reports_of_one_compilation_are_those_of_the_sizes(self):
        shapes = [(1, 6, 6, 4), (2, 9, 5, 4), (1, 40, 33, 4), (3, 3, 3, 4)]
        files = [self.save(f"bounded{i}.npy", "|i1", shape, [(7 * k + i) % 251 - 125 for k in range(shape[0] * shape[1] * shape[2] * shape[3])])
                 for i, shape in enumerate(shapes)]
        given = ["--sequence", "--input", *files, "--check", "reference"]
        dims = ["--dim", "x.0=1..3", "--dim", "x.1=3..40", "--dim", "x.2=3..40"]
        for machine in ("edge", "nano"):
            documents = []
            for options in (dims, []):
                report = self.dir / "bounded.json"
                result = self.good("run", self.dir / "open_images.tosa", *given, "--config", machine, "--json", report, *options)
                self.assertIn("check     0 differing of ", result.out)
                documents.append(json.loads(report.read_text()))
            for once, each in zip(*(document["programs"] for document in documents)):
                self.assertEqual(once["sizes"], each["sizes"])
                one, other = once["report"], each["report"]
                self.assertEqual(sum(row["macs"] for row in one["layers"]), sum(row["macs"] for row in other["layers"]))
                self.assertEqual([row["output_shape"] for row in one["layers"]], [row["output_shape"] for row in other["layers"]])
                # What a size has no tiles for is no work.
                self.assertEqual(one["total"]["bound"]["mxu"], other["total"]["bound"]["mxu"])
                self.assertLess(abs(one["program"]["estimated_cycles"] / one["total"]["cycles_sum"] - 1), 0.1, once["sizes"])

    def test_a_state_is_as_large_as_the_first_job_says(self):
        network, saved = self.dir / "open_state.tosa", self.dir / "as_large.state"
        frames = [[(7 * k + 31 * i) % 256 - 128 for k in range(20)] for i in range(4)]
        files = [self.save(f"as_large{i}.npy", "|i1", (5, 4), frame) for i, frame in enumerate(frames)]
        wanted = frames[:1]
        for frame in frames[1:]:
            wanted.append([a ^ b for a, b in zip(wanted[-1], frame)])
        for machine in ("edge", "nano"):
            for more in ([], ["--double-buffer"], ["--state-in-dram"], ["--bypass-firmware"]):
                given = ["run", network, "--sequence", "--dim", "x.0=1..9", "--config", machine, "--check", "reference", *more]
                out = self.dir / f"as_large_{machine}"
                self.good(*given, "--zero-init", "--input", *files[:2], "-o", out, "--save-state", saved)
                listed = self.good("state", "list", saved).out
                self.assertIn("INT8[5, 4] of [9, 4]", listed)
                shown = json.loads(self.good("state", "list", saved, "--json").out)["variables"][0]
                self.assertEqual((shown["shape"], shown["largest_shape"], shown["bytes"]), ([5, 4], [9, 4], 20))
                self.good(*given, "--resume", saved, "--input", *files[2:], "-o", out / "behind")
                for i, frame in enumerate(wanted):
                    folder = out if i < 2 else out / "behind"
                    self.assertEqual(read_npy(folder / "y" / f"{i % 2}.npy")[1:], ((5, 4), frame))
                six = self.save("as_large_six.npy", "|i1", (6, 4), [1] * 24)
                result = self.bad(1, "variable_mismatch", "variable 'state' becomes INT8[6, 4], but was INT8[5, 4]", *given, "--zero-init", "--input",
                                  files[0], six)
                self.assertIn("invocation 1 (", result.err)
        print(f"{4 * 20 * 8} elements compared, 0 differ")

    def test_bounds_that_cannot_be(self):
        network = self.dir / "open_stream.tosa"
        self.frames("beyond", [3, 65])
        given = ["run", network, *self.inputs("beyond")]
        self.bad(64, "size_out_of_bounds", "invocation 1 (", *given, "--dim", "w.0=1..64")  # which is as large as x.0
        result = self.bad(64, "size_out_of_bounds", "invocation 1 (", *given, "--dim", "x.0=1..64")
        self.assertIn("x.0 is 65, but the programs are for sizes of which x.0 is 1 to 64; compile for wider bounds, if the network "
                      "takes such sizes", result.err)
        image = self.save("beyond_image.npy", "|i1", (1, 6, 6, 4), [1] * 144)
        self.bad(64, "bad_option", "leaves size 'x.1' open; give bounds for it", "run", self.dir / "open_images.tosa", "--sequence",
                 "--input", image, image, "--dim", "x.0=1..3", "--dim", "x.2=6")
        self.bad(64, "bad_option", "leaves no size 'y.0' of an input open; those that it does: w.0, x.0", *given, "--dim", "x.0=1..64", "--dim", "y.0=2")
        self.bad(64, "bad_option", "size 'x.0' has bounds twice", *given, "--dim", "x.0=1..64", "--dim", "x.0=1..65")
        for bounds in ("0..4", "5..4", "1..2147483648", "1..18446744073709551615", "9223372036854775807"):
            self.bad(64, "bad_option", f"{bounds} are no bounds for size 'x.0'; a size is 1 to 2147483647", *given, "--dim", f"x.0={bounds}")
        self.bad(1, "size_mismatch", "sizes 'x.0' and 'w.0' are equal in this network, but no size is in both 1..4 and 6..9", *given, "--dim", "x.0=1..4",
                 "--dim", "w.0=6..9")
        for bounds in ("x.0", "=1..4", "x.0=", "x.0=..4", "x.0=1..", "x.0=1...4", "x.0=-1..4", "x.0=a"):
            self.bad(64, "bad_option", "--dim", *given, "--dim", bounds)
        self.bad(4, "budget_exceeded", "allow 100000 choices of sizes, and one compilation makes sure of at most 16384", *given, "--dim", "x.0=1..100000")
        self.bad(64, "bad_option", "leave one out", *given, "--dim", "x.0=1..64", "--specialise", "1000")

    def test_functional_mode_and_other_places_of_the_state_change_no_bit(self):
        network = self.dir / "open_stream.tosa"
        self.frames("modes", ROWS)
        for options in (["--mode", "functional"], ["--state-in-dram"], ["--double-buffer"], ["--bypass-firmware"]):
            result = self.good("run", network, *self.inputs("modes"), "--config", "nano", "--check", "reference", *options)
            self.assertIn("check     0 differing of ", result.out)

    def test_constants_of_each_program_may_stay(self):
        shapes, report = [(1, 6, 6, 4), (2, 9, 5, 4), (1, 6, 6, 4), (1, 6, 6, 4)], self.dir / "resident.json"
        files = [self.save(f"resident{i}.npy", "|i1", shape, [(7 * k + i) % 251 - 125 for k in range(shape[0] * shape[1] * shape[2] * shape[3])])
                 for i, shape in enumerate(shapes)]
        for limit, loads in ([], [1, 1]), (["--specialise", "1"], [2, 1]):
            result = self.good("run", self.dir / "open_images.tosa", "--sequence", "--input", *files, "--check", "reference", "--resident-constants",
                               "--json", report, *limit)
            self.assertIn("check     0 differing of ", result.out)
            programs = [one["report"]["resident_constants"] for one in json.loads(report.read_text())["programs"]]
            self.assertTrue(all(one["bytes"] > 0 for one in programs), programs)
            self.assertEqual([one["loads"] for one in programs], loads)
        given = ["--sequence", "--input", files[0], files[1], "--resident-constants", "--jitter", "3:10"]
        self.assertIn("jitter    up to 10 cycles", self.good("run", self.dir / "open_images.tosa", *given).out)

    def test_files_come_in_the_order_of_the_command_line(self):
        network = self.dir / "open_shapes.tosa"
        a, b, c = (self.save(f"order{i}.npy", "|i1", (2, 4), [i] * 8) for i in range(3))
        for given in (["--input", a, b, "--input", c], ["--input", a, "--input", b, c], [a, "--input", b, c], [a, b, "-i", c]):
            out = self.dir / "order_out"
            self.good("reference", network, "--sequence", *given, "-o", out)
            self.assertEqual([y[0] for _, y in self.outputs("order_out", 3)], [0, 1, 2], given)

    def test_folders_have_the_same_numbers(self):
        network = self.dir / "open_stream.tosa"
        self.frames("lost", [3, 3, 3])
        (self.dir / "lost" / "x" / "frame_1.npy").rename(self.dir / "lost" / "x" / "frame_3.npy")
        self.bad(64, "bad_input", "has number 3 of the sequence ('frame_3.npy'), but", "run", network, *self.inputs("lost"))
        (self.dir / "lost" / "w" / "frame_1.npy").unlink()
        self.bad(64, "bad_input", "has number 3 of the sequence ('frame_3.npy'), but", "reference", network, *self.inputs("lost"))

    def test_without_sequence_the_way_out_is_named(self):
        network = self.dir / "open_shapes.tosa"
        folder = self.dir / "plain"
        folder.mkdir()
        file = self.save("plain/0.npy", "|i1", (2, 4), [1] * 8)
        for given in ([folder], [file, file]):
            self.bad(64, "bad_input", "npu run --sequence' takes", "reference", network, "--shape", "x=2x4", "--input", *given)

    def test_a_sequence_goes_on_where_it_stopped(self):
        network, saved = self.dir / "open_stream.tosa", self.dir / "stopped.state"
        wanted, _ = expected(ROWS, self.frames("stop", ROWS))
        given = self.inputs("stop")
        for first, second in (("run", "reference"), ("reference", "run")):
            self.good(first, network, *given, "--invocations", 3, "--save-state", saved)
            out = f"rest_{first}"
            self.good(second, network, *given, "--skip", 3, "--resume", saved, "-o", self.dir / out)
            self.assertEqual(self.outputs(out, range(3, 7)), wanted[3:])

    def test_a_size_that_does_not_fit_ends_the_sequence_and_keeps_what_was_before(self):
        network = self.dir / "open_stream.tosa"
        wanted, _ = expected([3, 5, 2], self.frames("broken", [3, 5, 2, 4, 3], [3, 5, 2, 6, 3]))
        for command in ("run", "reference"):
            out, saved, report = f"kept_{command}", self.dir / f"kept_{command}.state", self.dir / "kept.json"
            more = ["--json", report] if command == "run" else []
            result = self.bad(1, "size_mismatch", "invocation 3 (", command, network, *self.inputs("broken"), "-o", self.dir / out,
                              "--save-state", saved, *more)
            self.assertIn("(BITWISE_XOR): input1 'x' [4, 4] and input2 'w' [6, 4] do not broadcast", result.err)
            self.assertIn("frame_3.npy", result.err)
            self.assertEqual(self.outputs(out, 3), wanted)
            self.assertFalse(saved.exists())
            self.assertFalse(report.exists())
        self.frames("first", [3], [4])
        for command in ("run", "reference"):
            self.bad(1, "size_mismatch", "invocation 0 (", command, network, *self.inputs("first"))

    def test_files_one_after_the_other(self):
        network = self.dir / "open_shapes.tosa"
        files = [self.save(f"rows{count}.npy", "|i1", (count, 4), list(range(4 * count))) for count in (2, 6, 2)]
        self.good("run", network, "--sequence", "--input", *files, "--check", "reference", "-o", self.dir / "one_by_one")
        self.assertEqual([shape for shape, _ in self.outputs("one_by_one", 3)], [(1, 8), (3, 8), (1, 8)])
        odd = self.save("rows5.npy", "|i1", (5, 4), list(range(20)))
        self.bad(1, "size_mismatch", "invocation 1 (", "reference", network, "--sequence", "--input", files[0], "--input", odd)
        missing = self.dir / "rows7.npy"
        self.bad(66, "cannot_read", "invocation 1 (", "run", network, "--sequence", "--input", files[0], missing)

    def test_files_in_the_order_of_their_numbers(self):
        folder = self.dir / "numbers"
        folder.mkdir()
        for number in (9, 10, 11, 100):
            self.save(f"numbers/{number}.npy", "|i1", (2, 4), [number] * 8)
        (folder / "notes.txt").write_text("not a frame")
        self.good("reference", self.dir / "open_shapes.tosa", "--sequence", "--input", folder, "-o", self.dir / "ordered")
        self.assertEqual([y[0] for _, y in self.outputs("ordered", 4)], [9, 10, 11, 100])
        # What a sequence leaves, another one takes.
        self.good("reference", self.dir / "open_shapes.tosa", "--sequence", "--input", folder, "--invocations", 2, "-o", self.dir / "some")
        self.assertEqual(len(self.outputs("some", 2)), 2)
        self.save("numbers/frame_0009.npy", "|i1", (2, 4), [9] * 8)
        self.bad(64, "bad_input", "are both number 9 of the sequence", "reference", self.dir / "open_shapes.tosa", "--sequence", "--input", folder)
        (folder / "frame_0009.npy").unlink()
        self.save("numbers/last.npy", "|i1", (2, 4), [9] * 8)
        self.bad(64, "bad_input", "has no number at its end", "run", self.dir / "open_shapes.tosa", "--sequence", "--input", folder)
        empty = self.dir / "empty"
        empty.mkdir()
        self.bad(64, "bad_input", "has no .npy files", "run", self.dir / "open_shapes.tosa", "--sequence", "--input", empty)

    def test_networks_of_fixed_sizes_take_such_sequences(self):
        files = [self.save(f"fixed{i}.npy", "|i1", (1, 4), [i, 1, 1, 1]) for i in range(3)]
        result = self.good("run", self.dir / "running_sum.tosa", "--sequence", "--input", *files, "--check", "reference", "-o",
                           self.dir / "fixed_out")
        self.assertIn("programs  2 hits, 1 miss, 0 evictions; ", result.out)
        self.assertEqual([y for _, y in self.outputs("fixed_out", 3)], [[1, 3, 4, 5], [2, 4, 5, 6], [4, 5, 6, 7]])
        wide = self.save("fixed_wide.npy", "|i1", (2, 4), [1] * 8)
        self.bad(64, "bad_input", "invocation 1 (", "run", self.dir / "running_sum.tosa", "--sequence", "--input", files[0], wide)

    def test_a_variable_keeps_its_size(self):
        network = self.dir / "open_state.tosa"
        files = [self.save(f"state{i}.npy", "|i1", (count, 4), [1] * (4 * count)) for i, count in enumerate((2, 2, 3))]
        for command in ("run", "reference"):
            out = f"variable_{command}"
            self.bad(1, "size_mismatch", "invocation 2 (", command, network, "--sequence", "--zero-init", "--input", *files,
                     "--shape", "state=2x4", "-o", self.dir / out)
            self.assertEqual(len(self.outputs(out, 2)), 2)
            # The size of this one follows from what is written.
            result = self.bad(1, "variable_mismatch", "variable 'kept' becomes INT8[3, 4], but was INT8[2, 4]", command,
                              self.dir / "open_kept.tosa", "--sequence", "--input", *files, "-o", self.dir / f"{out}_kept")
            self.assertIn("invocation 2 (", result.err)
            self.assertEqual(len(self.outputs(f"{out}_kept", 2)), 2)

    def test_what_belongs_to_one_program_is_refused(self):
        network = self.dir / "open_stream.tosa"
        self.frames("refused", [3, 5])
        for option in (["--csv", self.dir / "no.csv"], ["--trace", self.dir / "no.trace"], ["--roofline"], ["--rtl", "vpu@0"],
                       ["--inject", "constants:0"], ["--random-inputs", "3"]):
            self.bad(64, "bad_option", f"{option[0]}", "run", network, *self.inputs("refused"), *option)
        frame = self.dir / "frame.npy"
        self.bad(64, "bad_option", "--specialise bounds", "run", self.dir / "running_sum.tosa", "--input", frame, "--specialise", "100")
        self.bad(64, "bad_option", "--specialise", "run", network, *self.inputs("refused"), "--specialise", "much")
        self.good("compile", self.dir / "running_sum.tosa", "-o", self.dir / "sum.npu")
        self.bad(64, "bad_option", "its sizes are fixed", "run", self.dir / "sum.npu", "--sequence", "--input", frame, frame)
        self.bad(64, "bad_input", "all need as many", "run", network, "--sequence", "--input", f"x={self.dir / 'refused' / 'x'}",
                 f"w={self.save('one_w.npy', '|i1', (3, 4), [0] * 12)}")
        self.bad(64, "bad_input", "input 'w' (", "run", network, "--sequence", "--input", f"x={self.dir / 'refused' / 'x'}")
        self.bad(64, "bad_option", "--invocations is 3, but the sequence has 2", "run", network, *self.inputs("refused"), "--invocations", 3)
        for range_of in ([], ["--skip", "1"], ["--invocations", "1"]):
            self.bad(64, "bad_option", "the same file", "reference", self.dir / "open_shapes.tosa", "--sequence", "--input",
                     self.same_folder(), "-o", self.dir / "same", *range_of)

    def same_folder(self):
        """Where the outputs y of the folder `same` would go."""
        (self.dir / "same" / "y").mkdir(parents=True, exist_ok=True)
        for i in range(2):
            self.save(f"same/y/{i}.npy", "|i1", (2, 4), [1] * 8)
        return self.dir / "same" / "y"

    def test_help_has_examples(self):
        for command in ("run", "reference"):
            self.assertIn("of any sizes", self.good(command, "--help").out)


if __name__ == "__main__":
    main()
