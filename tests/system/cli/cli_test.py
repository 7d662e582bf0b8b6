#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the subcommands of `npu` do when all is well: usage cli_test.py NPU MAKE_NETWORKS."""

import json

import harness
from harness import NpuTest, listing, read_npy, run


class General(NpuTest):
    def test_version_and_help(self):
        self.assertRegex(self.good("--version").out, r"^npu \d+\.\d+\.\d+ \(contract \d+\.\d+\)$")
        text = self.good("--help").out
        for command in ("info", "compile", "run", "reference", "import", "machine", "doctor"):
            self.assertIn(f"  {command} ", text)
            help_text = self.good(command, "--help").out
            self.assertIn("usage: npu " + command, help_text)
            self.assertIn("examples:\n  npu " + command, help_text)

    def test_doctor_is_json_on_request(self):
        result = run("doctor", "--json")
        self.assertIn(result.returncode, (0, 66))
        checks = json.loads(result.out)["checks"]
        self.assertTrue(any(check["what"] == "machines" and check["ok"] for check in checks))
        for check in checks:
            self.assertEqual(check["ok"], check["remedy"] == "", check)

    def test_operators_and_doctor_say_which_extensions_are_whole(self):
        text = self.good("operators").out
        table = json.loads(self.good("operators", "--json").out)["features"]
        doctor = run("doctor", "--json")
        self.assertIn(doctor.returncode, (0, 66))
        self.assertEqual(json.loads(doctor.out)["features"], table)
        self.assertIn(text[text.index("\nprofile or extension"):], run("doctor").out)
        for feature in table:
            title = f"{feature['feature']} with {feature['with']}" if feature["with"] else feature["feature"]
            self.assertRegex(text, rf"(?m)^{title} +{feature['status']} +whole, {feature['rows']} rows? ")
            self.assertEqual([runner["name"] for runner in feature["runners"]], ["reference", "nano", "edge", "server"])
            for runner in feature["runners"]:
                self.assertEqual(runner["runs"] + len(runner["missing"]), feature["rows"])
        mine = self.dir / "own.yaml"
        mine.write_text("base: edge\n", encoding="utf-8")
        self.assertRegex(self.good("operators", "--config", mine).out, r"(?m)^profile or extension .* server +own$")

    def test_run_and_reference_refuse_networks_above_a_level(self):
        for command in ("run", "reference"):
            data = [] if command == "run" else ["--input", self.dir / "running_sum.npy"]
            self.bad(64, "bad_option", "--level takes 'none' or '8k', not '9k'", command, self.dir / "running_sum.tosa", *data, "--level", "9k")

    def test_doctor_names_what_is_missing(self):
        result = run("doctor", env={"PATH": "/nowhere", "NPU_PYTHON_TOOLS": "/nowhere"})
        if result.returncode != 0:  # the project's own environment may be there
            self.assertEqual(result.returncode, 66)
            self.assertIn("sim/setup.sh python", result.out)
            self.assertIn("[tool_missing]", result.err)


class Machine(NpuTest):
    def test_lists_the_machines(self):
        self.assertRegex(self.good("machine").out, r"(?m)^edge +1024 +64 +1000 \(500\) MHz +1024 KiB +64 KiB +1024 MiB LPDDR4")

    def test_a_printed_machine_is_a_file_for_config(self):
        mine = self.dir / "mine.yaml"
        mine.write_text(self.good("machine", "nano").out, encoding="utf-8")
        self.assertIn("mine runs all", self.good("info", self.dir / "running_sum.tosa", "--config", mine).out)

    def test_a_file_with_a_base_is_printed_whole(self):
        wide = self.dir / "wide.yaml"
        wide.write_text("base: edge\nvpu_lanes: 128\n", encoding="utf-8")
        text = self.good("machine", wide).out
        self.assertIn("\nvpu_lanes: 128\n", text)
        self.assertIn("\nmxu_cols: 32\n", text)
        self.assertNotIn("base", text)
        wide.write_text("base: wide.yaml\n", encoding="utf-8")
        for arguments, status, words in ((["huge"], 64, "there is no machine 'huge': choose one of nano, edge, server"),
                                         ([self.dir / "no.yaml"], 66, "no.yaml: cannot be read"),
                                         ([wide], 64, "is its own base, directly or through others"),
                                         (["nano", "edge"], 64, "see npu machine --help")):
            result = run("machine", *arguments)
            self.assertEqual((result.returncode, result.out), (status, ""))
            self.assertIn(words, result.err)


class Info(NpuTest):
    def test_text(self):
        text = self.good("info", self.dir / "running_sum.tosa").out
        for part in ("'x'  INT8[1, 4]", "'sum/state'  INT8[1, 4], 4 bytes", "VARIABLE_READ", "EXT-VARIABLE",
                     "edge runs all"):
            self.assertIn(part, text)

    def test_json(self):
        info = json.loads(self.good("info", self.dir / "convolution.tosa", "--json").out)
        self.assertEqual(info["schema"], "npu-info")
        self.assertEqual(info["macs"], 8 * 8 * 8 * 3 * 3 * 4)
        self.assertEqual(info["inputs"], [{"name": "x", "type": "INT8", "shape": [1, 8, 8, 4], "unsigned": False}])
        self.assertTrue(info["supported"])

    def test_says_what_is_not_supported_and_the_way_out(self):
        text = self.good("info", self.dir / "floating_point.tosa", "--config", "nano").out
        self.assertIn("nano cannot run 1 of 1 operators", text)
        self.assertIn("ADD (FP32) at 0", text)
        self.assertIn("way out:", text)


class Run(NpuTest):
    def test_equals_the_reference_on_both_machines_and_modes(self):
        for config in ("edge", "nano"):
            for mode in ("timed", "functional"):
                text = self.good("run", self.dir / "convolution.tosa", "--input", self.dir / "x.npy", "--config", config,
                                 "--mode", mode, "--check", "reference").out
                self.assertIn("0 differing of 512 elements", text)
                self.assertEqual(mode == "timed", "not calibrated against RTL" in text)

    def test_reference_and_device_write_the_same_files(self):
        for command in ("run", "reference"):
            self.good(command, self.dir / "convolution.tosa", "--input", self.dir / "x.npy", "-o", self.dir / command)
        self.assertEqual((self.dir / "run/y.npy").read_bytes(), (self.dir / "reference/y.npy").read_bytes())
        self.assertEqual(read_npy(self.dir / "run/y.npy")[:2], ("|i1", (1, 8, 8, 8)))

    def test_names_split_at_the_last_equals_sign_and_files_are_escaped(self):
        out = self.dir / "odd"
        self.good("run", self.dir / "odd_names.tosa", "--input", f"left=a={self.dir / 'left.npy'}",
                  f"right:0={self.dir / 'right.npy'}", "--outputs", out, "--check", "reference")
        self.assertEqual([name for name, _ in listing(out)], ["%2E..npy", "sum%2Fof%20both.npy"])
        self.assertEqual(read_npy(out / "sum%2Fof%20both.npy")[2], [11, 18, 33, 2**31 - 1, 55, 66])
        self.assertEqual(read_npy(out / "%2E..npy")[2], [-9, -22, -27, 2**31 - 3, -45, -54])

    def test_names_out_of_a_file_do_not_steer_the_terminal(self):
        arguments = (self.dir / "hostile_names.tosa", "--input", self.dir / "frame.npy")
        for command in ("run", "reference"):
            result = self.good(command, *arguments, "--zero-init", "-o", self.dir / "hostile")
            failed = self.bad(1, "variable_unwritten", "lost\\x1b]0;title\\x07\\x0astate", command, *arguments)
            for text in (result.out, result.err, failed.out, failed.err):
                self.assertNotRegex(text, "[\x1b\x07]")
        self.assertIn("output    y\\x1b[31m\\x0a INT8[1, 4] -> ", result.out)
        self.assertNotRegex(self.good("info", arguments[0]).out, "[\x1b\x07]")

    def test_sequences_keep_state_and_stack_outputs(self):
        out = self.dir / "sequence"
        text = self.good("run", self.dir / "running_sum.tosa", "--input", self.dir / "frames.npy", "--sequence",
                         "--outputs", out, "--check", "reference").out
        self.assertIn("0 differing of 20 elements compared with the reference (1 output, 5 invocations)", text)
        self.assertIn("1 variable, 4 bytes", text)
        descr, shape, values = read_npy(out / "y.npy")
        self.assertEqual((descr, shape), ("|i1", (5, 1, 4)))
        frames = read_npy(self.dir / "frames.npy")[2]
        for i in range(4):  # initial value i + 1, then every frame added
            self.assertEqual(values[16 + i], i + 1 + sum(frames[i::4]))

    def test_a_run_starts_with_variables_cleared(self):
        for i in range(2):
            self.good("run", self.dir / "running_sum.tosa", "--input", self.dir / "frame.npy", "-o", self.dir / f"s{i}")
            self.assertEqual(read_npy(self.dir / f"s{i}/y.npy")[2], [2, 0, 6, 0])

    def test_zero_init_starts_variables_as_zeros(self):
        for command in ("run", "reference"):
            self.good(command, self.dir / "unwritten.tosa", "--input", self.dir / "frames.npy", "--sequence",
                      "--zero-init", "-o", self.dir / ("zero_" + command))
        frames = read_npy(self.dir / "frames.npy")[2]
        expected = [x + (frames[i - 4] if i >= 4 else 0) for i, x in enumerate(frames)]
        self.assertEqual(read_npy(self.dir / "zero_run/y.npy")[2], expected)
        self.assertEqual(read_npy(self.dir / "zero_reference/y.npy")[2], expected)

    def test_unsigned_ports_take_uint8_and_give_the_same_bits(self):
        unsigned = self.save("unsigned.npy", "|u1", (1, 4), [0, 127, 128, 255])
        signed = self.save("signed.npy", "|i1", (1, 4), [0, 127, -128, -1])
        for name, file in (("u", unsigned), ("s", signed)):
            self.good("run", self.dir / "unsigned.tosa", "--input", file, "-o", self.dir / name, "--check", "reference")
            self.assertEqual(read_npy(self.dir / name / "y.npy"), ("|i1", (1, 4), [0, 127, -128, -1]))

    def test_a_network_without_inputs_runs_once(self):
        self.good("run", self.dir / "constant_only.tosa", "-o", self.dir / "constant", "--check", "reference")
        self.assertEqual(read_npy(self.dir / "constant/y.npy")[2], [2, 4, 6, 8])

    def test_reports_are_whole_and_agree(self):
        out = self.dir / "reports"
        out.mkdir()
        self.good("run", self.dir / "running_sum.tosa", "--input", self.dir / "frames.npy", "--sequence", "--check",
                  "reference", "--json", out / "r.json", "--csv", out / "r.csv", "--trace", out / "t.json")
        self.assertEqual([name for name, _ in listing(out)], ["r.csv", "r.json", "t.json"])
        report = json.loads((out / "r.json").read_text())
        self.assertEqual(report["check"], {"against": "reference", "compared": 20, "differing": 0, "floats": 0, "rounded": 0, "nans": 0,
                                           "worst_units": 0.0, "first": None})
        self.assertEqual(report["state"]["bytes"], 4)
        self.assertEqual(report["state"]["variables"][0]["identity"], "sum/state")
        self.assertTrue(report["state"]["variables"][0]["is_written"])
        self.assertEqual(report["run"]["invocations"], 5)
        self.assertAlmostEqual(sum(layer["cycles"] for layer in report["layers"]), report["total"]["cycles"])
        self.assertEqual(len((out / "r.csv").read_text().splitlines()), 1 + len(report["layers"]))
        slices = [r for r in json.loads((out / "t.json").read_text())["traceEvents"] if r.get("cat") == "variable"]
        for use in ("declare", "read", "write"):
            self.assertEqual([r["name"] for r in slices].count(use), 5, use)
        self.assertEqual({r["args"]["variable"] for r in slices}, {"sum/state"})
        timeline = report["state_timeline"]
        self.assertEqual(sum(r["count"] for r in timeline["ranges"]), 5)
        self.assertEqual({(u["variable"], u["use"]) for r in timeline["ranges"] for u in r["uses"]},
                         {("sum/state", "read"), ("sum/state", "write")})
        moved = report["state"]["traffic"]["on_chip_sram"]
        self.assertEqual(moved, {"read_bytes": report["total"]["persistent_read_bytes"],
                                 "written_bytes": report["total"]["persistent_written_bytes"]})

    def test_cycles_repeat_from_process_to_process(self):
        reports = []
        for i in range(2):
            path = self.dir / f"repeat{i}.json"
            self.good("run", self.dir / "convolution.tosa", "--input", self.dir / "x.npy", "--json", path)
            reports.append(path.read_text())
        self.assertEqual(reports[0], reports[1])

    def test_random_latency_changes_cycles_and_no_bit(self):
        cycles = set()
        for seed in (0, 1, 2):
            path = self.dir / f"jitter{seed}.json"
            text = self.good("run", self.dir / "convolution.tosa", "--input", self.dir / "x.npy", "--check", "reference",
                             "--jitter", f"{seed}:50", "--json", path).out
            self.assertIn("0 differing", text)
            report = json.loads(path.read_text())
            self.assertEqual(report["run"]["jitter"], {"seed": seed, "max_cycles": 50})
            cycles.add(report["total"]["cycles"])
        self.assertGreater(len(cycles), 1)

    def test_a_damaged_weight_fails_the_check(self):
        # Some bytes of the constants matter to these inputs; bit 6 of the first few hundred surely does.
        found = False
        for offset in range(0, 288, 36):
            path = self.dir / "damaged.json"
            result = run("run", self.dir / "convolution.tosa", "--input", self.dir / "x.npy", "--check", "reference",
                         "--inject", f"constants:{offset}:6", "--json", path)
            self.assertIn(result.returncode, (0, 7), result.err)
            self.assertIn(f"bit 6 of constants byte {offset} flipped", result.out)
            if result.returncode == 7:
                found = True
                self.assertRegex(result.err, r"differ from the reference, the first is output 'y' at \[0, \d, \d, \d\] of "
                                             r"invocation 0: device -?\d+, reference -?\d+ \[elements_differ\]")
                self.assertGreater(json.loads(path.read_text())["check"]["differing"], 0)
        self.assertTrue(found)

    def test_a_machine_may_come_from_a_file(self):
        edge = json.loads(self.run_json("edge"))["machine"]
        lines = [f"{name}: {value}" for name, value in edge["capabilities"].items()]
        lines += ["dram:"] + [f"  {name}: {value}" for name, value in edge["dram"].items()]
        path = self.dir / "mine.yaml"
        path.write_text("\n".join(lines) + "\n")
        mine = json.loads(self.run_json(path))["machine"]
        self.assertEqual(mine["sha256"], edge["sha256"])
        self.assertEqual(mine["name"], "mine")

    def run_json(self, config):
        path = self.dir / "machine.json"
        self.good("run", self.dir / "convolution.tosa", "--input", self.dir / "x.npy", "--config", config, "--json", path)
        return path.read_text()


if __name__ == "__main__":
    harness.main()
