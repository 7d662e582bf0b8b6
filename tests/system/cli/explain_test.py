#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `npu compile --explain` says, and the arrows and counters of a trace: usage explain_test.py NPU MAKE_NETWORKS."""

import json

import harness
from harness import NpuTest

NETWORKS = ("convolution", "many_weights", "many_passes", "residual", "much_compute")  # straight, and large ones


class Explain(NpuTest):
    def explained(self, network, *more):
        path = self.dir / "explain.json"
        text = self.good("compile", self.dir / f"{network}.tosa", "--explain", "--json", path, *more).out
        return json.loads(path.read_text(encoding="utf-8")), text

    def reported(self, network, *more):
        report, trace = self.dir / "report.json", self.dir / "trace.json"
        self.good("run", self.dir / f"{network}.tosa", "--random-inputs", "1", "--json", report, "--trace", trace, *more)
        return json.loads(report.read_text(encoding="utf-8")), json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]

    def test_it_agrees_with_the_run(self):
        for config in ("edge", "nano"):
            for network in NETWORKS:
                with self.subTest(network, config=config):
                    said, text = self.explained(network, "--config", config)
                    report, _ = self.reported(network, "--config", config)
                    total = report["total"]
                    moved = {key: sum(step["bytes"][key] for step in said["steps"]) for key in said["steps"][0]["bytes"]}
                    self.assertEqual(moved["constants"] + moved["dram_read"], total["dram_read_bytes"] - total["command_fetch_bytes"])
                    self.assertEqual(moved["dram_written"], total["dram_written_bytes"])
                    self.assertEqual(said["memory"]["peak_bytes"], report["program"]["scratchpad_peak_bytes"])
                    self.assertEqual(said["commands"], report["program"]["commands"])
                    self.assertEqual(said["estimated_cycles"], report["program"]["estimated_cycles"])
                    self.assertEqual(sum(step["cycles"] for step in said["steps"]), said["estimated_cycles"])
                    for step in said["steps"]:
                        self.assertEqual(sum(step["cycles_by_cause"].values()), step["cycles"])
                        self.assertEqual(sum(step["limits"].values()), step["cycles"])
                        self.assertIn(f"step {step['step']}, {step['engine']}: ", text)
                    self.assertEqual(sorted(said["steps"][0]["cycles_by_cause"]), sorted(report["layers"][0]["cycles_by_cause"]))

    def test_the_program_is_the_same(self):
        network, plain, told = self.dir / "convolution.tosa", self.dir / "plain.npu", self.dir / "told.npu"
        self.good("compile", network, "-o", plain)
        text = self.good("compile", network, "-o", told, "--explain").out
        self.assertEqual(plain.read_bytes(), told.read_bytes())
        self.assertTrue(text.startswith(f"{told}: "), text)
        self.assertNotIn("schedule, by the estimate", text)
        before = sorted(self.dir.iterdir())
        self.good("compile", network, "--explain")
        self.assertEqual(sorted(self.dir.iterdir()), before)

    def test_parts(self):
        network = self.dir / "convolution.tosa"
        schedule = self.good("compile", network, "--explain", "--show", "schedule").out
        memory = self.good("compile", network, "--explain", "--show", "memory").out
        both = self.good("compile", network, "--explain", "--show", "memory,schedule").out
        for part, shown in (("schedule, by the estimate", (schedule, both)), ("scratchpad, places", (memory, both))):
            for text in (schedule, memory, both):
                self.assertEqual(part in text, text in shown)
        for text in (schedule, memory, both):
            self.assertRegex(text.strip().split("\n")[-1], r"^scratchpad: peak [\d,]+ of [\d,]+ bytes, peak of live bytes [\d,]+, "
                                                           r"lost to fragmentation \d+\.\d % of the scratchpad \(goal: under 10 %\)$")

    def test_json_takes_the_place_of_the_text(self):
        document = json.loads(self.good("compile", self.dir / "convolution.tosa", "--explain", "--json").out)
        self.assertEqual((document["schema"], document["schema_version"], document["machine"]), ("npu-explain", 1, "edge"))
        self.assertTrue(document["schedule"])
        self.assertIn("--show PARTS", self.good("compile", "--help").out)

    def test_names_make_no_rows(self):
        network = self.dir / "hostile_names.tosa"
        said = json.loads(self.good("compile", network, "--explain", "--json").out)
        text = self.good("compile", network, "--explain", "--show", "schedule,memory").out
        for title, rows in (("schedule, by the estimate", said["schedule"]), ("scratchpad, places", said["memory"]["places"])):
            (part,) = (part for part in text.split("\n\n") if part.startswith(title))
            self.assertEqual(len(part.split("\n")), 3 + len(rows), part)  # title, head and line
            self.assertIn(r"y\x1b[31m\x0a", part)
        self.assertIn("y\x1b[31m\n", [place["name"] for place in said["memory"]["places"]])

    def test_bad_input(self):
        network = self.dir / "convolution.tosa"
        self.bad(64, "bad_option", "not 'time'", "compile", network, "--explain", "--show", "time")
        self.bad(64, "bad_option", "not ''", "compile", network, "--explain", "--show", "memory,")
        self.bad(64, "bad_option", "--show says more of --explain", "compile", network, "-o", self.dir / "a.npu", "--show", "memory")
        self.bad(64, "bad_option", "--json says more of --explain", "compile", network, "-o", self.dir / "a.npu", "--json")
        self.bad(64, "bad_option", "-o FILE.npu is missing", "compile", network)
        self.bad(64, "bad_option", "the network's FILE is missing", "compile", "--explain")
        self.bad(66, "cannot_write", "", "compile", network, "--explain", "--json", self.dir / "none/a.json")
        self.bad(3, "type_unsupported", "", "compile", self.dir / "floating_point.tosa", "--config", "nano", "--explain")

    def test_arrows_of_a_trace_bind_to_slices_and_counters_stay_in_bounds(self):
        for config, size in (("edge", 1 << 20), ("nano", 1 << 16)):
            for network in NETWORKS:
                with self.subTest(network, config=config):
                    report, trace = self.reported(network, "--config", config)
                    self.assertEqual(report["machine"]["capabilities"]["spm_bytes"], size)
                    clock = report["machine"]["capabilities"]["clock_mhz"]
                    slices = {}  # cycles
                    for record in trace:
                        if record["ph"] == "X":
                            begin = round(record["ts"] * clock)
                            slices.setdefault(record["tid"], []).append((begin, begin + round(record["dur"] * clock), record["args"]))
                    arrows = {}
                    for record in trace:
                        if record["ph"] in "sf":
                            bound = [args for begin, end, args in slices[record["tid"]] if begin <= round(record["ts"] * clock) < end]
                            self.assertEqual(len(bound), 1, record)
                            arrows.setdefault(record["id"], {})[record["ph"]] = bound[0]
                    self.assertTrue(arrows)
                    for ends in arrows.values():
                        self.assertEqual(sorted(ends), ["f", "s"])
                        self.assertLessEqual(ends["s"]["completed"], ends["f"]["started"])
                    counters = {}
                    for record in trace:
                        if record["ph"] == "C":
                            (value,) = record["args"].values()
                            counters.setdefault(record["name"], []).append((record["ts"], value))
                    self.assertEqual(sorted(counters), ["DRAM in flight", "DRAM rate", "scratchpad in use"])
                    for name, points in counters.items():
                        self.assertEqual(points, sorted(points, key=lambda point: point[0]))
                        self.assertGreaterEqual(min(value for _, value in points), 0)
                        self.assertGreater(max(value for _, value in points), 0)
                        self.assertEqual(points[-1][1], 0, name)
                    most = max(value for _, value in counters["scratchpad in use"])
                    self.assertLessEqual(most, report["program"]["scratchpad_peak_bytes"])


if __name__ == "__main__":
    harness.main()
