#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what a report says of limits is true: usage limits_test.py NPU MAKE_NETWORKS.

A machine with twice of a resource must be faster by what the report of the first machine said, and not by more."""

import csv
import json

import harness
from harness import NpuTest, read_npy, run

# Of a machine: what to change in its sizes and its DRAM for twice of a resource.
TWICE = {
    "mxu": ("mxu_cols", "mxu_acc_bytes", "mxu_weight_port_bytes"),  # as many columns again, and all that feeds them
    "vpu": ("vpu_lanes",),
    "dram": ("dma_port_bytes", "data_rate_mts"),
    "scratchpad_port": ("mxu_weight_port_bytes",),
}
# Of the whole, that a doubling may save beyond half of the share: tiles are cut otherwise for another machine, and what
# else is in the way of the resource moves, too.
SLACK = 0.08


class Limits(NpuTest):
    def machine(self, name, changes):
        edge = getattr(type(self), "edge", None)
        if edge is None:
            path = self.dir / "edge.json"
            self.good("run", self.dir / "convolution.tosa", "--json", path)
            edge = type(self).edge = json.loads(path.read_text())["machine"]
        path = self.dir / f"{name}.yaml"
        lines = [f"{key}: {changes.get(key, value)}" for key, value in edge["capabilities"].items()]
        lines += ["dram:"] + [f"  {key}: {changes.get(key, value)}" for key, value in edge["dram"].items()]
        path.write_text("\n".join(lines) + "\n")
        return path

    def report(self, network, changes):
        path = self.dir / "report.json"
        machine = self.machine("machine", changes)
        self.good("run", self.dir / f"{network}.tosa", "--config", machine, "--json", path)
        return json.loads(path.read_text())

    def sizes(self, changes, keys):
        """The changes with twice of each key."""
        base = {**self.edge["capabilities"], **self.edge["dram"], **changes}
        return {**changes, **{key: 2 * base[key] for key in keys}}

    def check(self, network, resource, changes=None):
        changes = changes or {}
        report = self.report(network, changes)
        total = report["total"]
        shares = {name: cycles / total["cycles"] for name, cycles in total["limits"].items()}
        self.assertEqual(max(shares, key=shares.get), resource, shares)
        self.assertGreater(shares[resource], 0.5, shares)
        words = {"mxu": "MXU", "vpu": "VPU", "dram": "DRAM", "scratchpad_port": "scratchpad port"}[resource]
        longest = max(report["layers"], key=lambda layer: layer["cycles"])
        self.assertTrue(longest["limited_by"].startswith(words), longest["limited_by"])
        for other, keys in TWICE.items():
            if resource == "scratchpad_port" and other == "mxu":
                continue  # its columns bring a wider port
            faster = self.report(network, self.sizes(changes, keys))["total"]["cycles"]
            saved = 1 - faster / total["cycles"]
            with self.subTest(network, resource=other, share=shares[other], saved=saved):
                self.assertLess(saved, shares[other] / 2 + SLACK)
                if other == resource:
                    self.assertGreater(saved, shares[other] / 2 - SLACK)

    def test_compute(self):
        self.check("much_compute", "mxu")

    def test_weights_from_dram(self):
        self.check("many_weights", "dram")

    def test_passes(self):
        self.check("many_passes", "vpu")

    def test_weights_through_the_port(self):
        # Behind a DRAM that brings them at once.
        self.check("many_weights", "scratchpad_port",
                   {"dma_port_bytes": 32, "data_rate_mts": 10000, "mxu_weight_port_bytes": 8})

    def test_sums_are_conserved(self):
        for network in ("much_compute", "many_weights", "many_passes", "residual", "running_sum"):
            with self.subTest(network):
                report = self.report(network, {})
                total, layers = report["total"], report["layers"]
                for group in ("limits", "cycles_by_cause"):
                    self.assertEqual(sum(total[group].values()), total["cycles"])
                    for layer in layers:
                        self.assertEqual(sum(layer[group].values()), layer["cycles"])
                for group in ("limits", "cycles_by_cause", "busy", "lower_bounds"):
                    for name, value in total[group].items():
                        self.assertEqual(sum(layer[group][name] for layer in layers), value)
                for unit in ("mxu", "vpu"):
                    busy = next(queue["busy"] for queue in report["queues"] if queue["queue"] == unit)
                    self.assertEqual(total["busy"][unit], busy)
                    self.assertLessEqual(total["lower_bounds"][unit], busy)
                data = total["dram_read_bytes"] - total["command_fetch_bytes"] + total["dram_written_bytes"]
                self.assertAlmostEqual(total["busy"]["dram"], data / 12.8, delta=report["program"]["commands"])

    def test_the_bound_is_below_the_cycles_and_the_same_before_the_run(self):
        path = self.dir / "bound.json"
        for network in ("much_compute", "many_weights", "many_passes", "residual", "running_sum"):
            with self.subTest(network):
                text = self.good("run", self.dir / f"{network}.tosa", "--json", path).out
                total = json.loads(path.read_text())["total"]
                bound = total["bound"]
                info = json.loads(self.good("info", self.dir / f"{network}.tosa", "--json").out)
                self.assertEqual(info["estimate"]["bound"], bound)
                self.assertEqual(bound["cycles"], max(bound["mxu"], bound["dram"]))
                self.assertGreater(bound["cycles"], 0)
                self.assertGreaterEqual(total["cycles"], bound["cycles"])
                self.assertEqual(bound["mxu"], total["lower_bounds"]["mxu"])
                self.assertLessEqual(bound["dram"], total["lower_bounds"]["dram"])
                line = f"bound     {bound['cycles']:,.0f} cycles (MXU {bound['mxu']:,.0f}; DRAM {bound['dram']:,.0f} for {bound['dram_bytes']:,.0f} bytes"
                self.assertIn(line, text)

    def check_calibration(self, worth, *options):
        """The text says of how many tiles the formula alone is not the device's time, as the JSON does."""
        path = self.dir / "calibration.json"
        text = self.good("run", self.dir / "much_compute.tosa", "--json", path, *options).out
        run = json.loads(path.read_text())["run"]
        waited = f"{run['tiles_waited']:,}" if run["tiles_waited"] else "none"
        self.assertIn(f"MXU and VPU: {worth}; {waited} of {run['tiles']:,} tiles waited for memory on the chip", text)

    def test_the_formula_is_exact_only_where_there_is_rtl(self):
        self.check_calibration("formula, exact on RTL of nano and edge")
        other = self.machine("wide", self.sizes({}, ["vpu_lanes"]))
        self.check_calibration("formula, exact on RTL of nano and edge; this machine has no RTL", "--config", other)


class Layers(NpuTest):
    def report(self, network, *more):
        path = self.dir / "layers.json"
        self.good("run", self.dir / f"{network}.tosa", "--json", path, "--csv", self.dir / "layers.csv", *more)
        return json.loads(path.read_text())

    def test_names_come_from_the_file(self):
        names = [layer["name"] for layer in self.report("much_compute")["layers"]]
        self.assertEqual(names, ["much compute"])

    def test_a_residual_sum_is_an_add(self):
        [layer] = self.report("residual")["layers"]
        self.assertEqual(layer["operator"], "ADD")
        self.assertIn("RESCALE+", layer["operators"])
        self.assertRegex(layer["position"], r"^add_\d+$")

    def test_shapes_and_tiling_are_there_and_csv_has_them_too(self):
        [layer] = self.report("convolution")["layers"]
        self.assertEqual((layer["input_shape"], layer["output_shape"]), ([1, 8, 8, 4], [1, 8, 8, 8]))
        self.assertEqual((layer["kernel"], layer["stride"], layer["dilation"]), ([3, 3], [1, 1], [1, 1]))
        self.assertEqual(layer["tile"][2], 8)
        [row] = csv.DictReader((self.dir / "layers.csv").read_text().splitlines())
        self.assertEqual(row["machine"], "edge")
        self.assertEqual(row["network"], str(self.dir / "convolution.tosa"))
        self.assertEqual(row["input_shape"], "1x8x8x4")
        self.assertEqual(row["tile"], "x".join(map(str, layer["tile"])))
        for name, value in row.items():
            group, _, key = name.partition(".")
            if key:
                self.assertEqual(value if key == "roof" else float(value), layer[group][key], name)

    def test_a_layer_on_rtl_may_have_its_name_or_its_position(self):
        if "no RTL beside this program" in run("run", self.dir / "convolution.tosa", "--rtl", "mxu").err:
            self.skipTest("the module with the RTL was not built")
        [layer] = self.report("convolution")["layers"]
        for choice in (layer["name"], layer["position"], "0"):
            self.assertIn("MXU on RTL: ", self.good("run", self.dir / "convolution.tosa", "--rtl", f"mxu@{choice}").out)


class WithoutData(NpuTest):
    def test_random_inputs_repeat_and_say_so(self):
        outputs = {}
        for name, arguments in (("none", ()), ("one", ("--random-inputs", "1")), ("two", ("--random-inputs", "2"))):
            path = self.dir / f"{name}.json"
            text = self.good("run", self.dir / "convolution.tosa", *arguments, "--json", path, "--outputs",
                             self.dir / name, "--check", "reference").out
            seed = 2 if name == "two" else 1
            self.assertIn(f"with random inputs, seed {seed} ", text)
            self.assertIn("0 differing of 512", text)
            self.assertEqual(json.loads(path.read_text())["run"]["random_inputs"], seed)
            outputs[name] = read_npy(self.dir / name / "y.npy")[2]
        self.assertEqual(outputs["none"], outputs["one"])
        self.assertNotEqual(outputs["one"], outputs["two"])
        self.assertGreater(len(set(outputs["one"])), 3)

    def test_random_frames_of_a_sequence_differ_and_do_not_depend_on_how_many_run(self):
        arguments = ("run", self.dir / "running_sum.tosa", "--sequence", "--random-inputs", "5", "--outputs")
        self.good(*arguments, self.dir / "all", "--invocations", "6")
        self.good(*arguments, self.dir / "some", "--invocations", "4")
        whole, some = (read_npy(self.dir / name / "y.npy")[2] for name in ("all", "some"))
        self.assertEqual(whole[:16], some)
        steps = [[(whole[i + 4] - whole[i]) % 256 for i in range(j, j + 4)] for j in range(0, 20, 4)]
        self.assertEqual(len({tuple(step) for step in steps}), 5)

    def test_an_input_with_a_file_keeps_it(self):
        out = self.dir / "half"
        self.good("run", self.dir / "odd_names.tosa", "--input", f"left=a={self.dir / 'left.npy'}", "--random-inputs",
                  "3", "--outputs", out)
        sums, differences = (read_npy(out / name)[2] for name in ("sum%2Fof%20both.npy", "%2E..npy"))
        left = read_npy(self.dir / "left.npy")[2]
        for i in (0, 1, 2, 4, 5):
            self.assertEqual(sums[i] + differences[i], 2 * left[i])

    def test_info_estimates_the_cycles(self):
        for network in ("much_compute", "many_weights", "many_passes", "running_sum"):
            with self.subTest(network):
                info = json.loads(self.good("info", self.dir / f"{network}.tosa", "--json").out)["estimate"]
                path = self.dir / "measured.json"
                self.good("run", self.dir / f"{network}.tosa", "--json", path)
                report = json.loads(path.read_text())
                self.assertEqual(info["cycles"], report["program"]["estimated_cycles"])
                self.assertEqual(sum(layer["cycles"] for layer in info["layers"]), info["cycles"])
                self.assertAlmostEqual(info["cycles"] / report["total"]["cycles"], 1, delta=0.25)
                self.assertEqual([layer["estimated_cycles"] for layer in report["layers"]],
                                 [layer["cycles"] for layer in info["layers"]])

    def test_info_prints_layers_on_request(self):
        text = self.good("info", self.dir / "much_compute.tosa").out
        self.assertRegex(text, r"estimate    [\d,]+ cycles = [\d.]+ us, ")
        self.assertNotIn("much compute  CONV2D", text)
        text = self.good("info", self.dir / "much_compute.tosa", "--layers").out
        self.assertIn("much compute  CONV2D    [1, 32, 32, 64]", text)

    def test_info_says_why_there_is_no_estimate(self):
        info = json.loads(self.good("info", self.dir / "floating_point.tosa", "--config", "nano", "--json").out)
        self.assertIsNone(info["estimate"])
        self.assertIn("cannot run", info["estimate_missing"])
        text = self.good("info", self.dir / "many_variables.tosa").out
        self.assertNotIn("Traceback", text)


if __name__ == "__main__":
    harness.main()
