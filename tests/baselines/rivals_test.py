#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What rivals.py makes of the tools' figures, and of tools that are missing, refuse a network or fail."""

import copy
import stat
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import rival_tools
import rivals
import rivals_page

LAYERS = {name: {"input_shape": [1, 8, 8, 64], "output_shape": [1, 8, 8, 64], "kernel": [3, 3], "stride": [1, 1], "macs": 2359296, "cycles": 2500, "mxu": 2400}
          for name in rivals.LAYERS}
SUMMARY = ",".join(rival_tools.VELA_FIGURES.values())


class Page(unittest.TestCase):
    def setUp(self):
        self.figures = rivals.recorded()
        self.figures["scalesim"] = {dataflow: dict.fromkeys(LAYERS, cycles) for dataflow, cycles in (("ws", 5687), ("os", 2551))}

    def test_figures_and_ratios(self):
        text = rivals_page.page(self.figures, LAYERS, "net")
        self.assertIn("| 2,359,296 | 2,400 | 96.0 % | 2,500 | 5,687 | 40.5 % | 2.37 | 2,551 | 90.3 % | 1.06 |", text)
        self.assertNotRegex(text, r"[{}]")

    def test_cycles_that_the_text_does_not_explain_are_refused(self):
        self.figures["scalesim"]["ws"][rivals.LAYERS[0]] += 1
        with self.assertRaisesRegex(SystemExit, "5,688 cycles for conv2d_84 .ws., but the page explains 5,687"):
            rivals_page.page(self.figures, LAYERS, "net")

    def test_a_network_that_is_refused_has_its_reason_and_no_ratio(self):
        figures = copy.deepcopy(self.figures)
        figures["vela"]["okay_nabu"] = dict.fromkeys(rival_tools.VELA_MACS, {"refused": "no such operator"})
        text = rivals_page.page(figures, LAYERS, "net")
        self.assertIn("| okay_nabu | no such operator |", text)
        self.assertEqual(text.count("okay_nabu"), 1)


class Kept(unittest.TestCase):
    def test_networks_that_no_folder_has_stay_unless_the_tools_changed(self):
        before = {"tools": {"scalesim": "3.0.0"}, "vela": {"here": 1, "elsewhere": 2}}
        self.assertEqual(rivals.kept(before, {"scalesim": "3.0.0"}, {"here": "path"}), {"elsewhere": 2})
        self.assertEqual(rivals.kept(before, {"scalesim": "4.0.0"}, {"here": "path", "elsewhere": "path"}), {})
        self.assertEqual(rivals.kept({}, {"scalesim": "4.0.0"}, {}), {})
        with self.assertRaisesRegex(SystemExit, "for elsewhere: name the folders"):
            rivals.kept(before, {"scalesim": "4.0.0"}, {"here": "path"})


class Tools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        patch = mock.patch.multiple(rival_tools, TOOLS=self.folder, ROOT=self.folder.parent)
        patch.start()
        self.addCleanup(patch.stop)

    def tool(self, name, script):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def test_missing_tools_are_named_with_the_way_to_get_them(self):
        self.tool("python", "")
        with self.assertRaisesRegex(SystemExit, "has no vela: run sim/setup.sh rivals"):
            rival_tools.check_tools()

    def test_vela(self):
        # Its last argument is the folder of the results.
        self.tool("vela", f'for last; do :; done; printf "{SUMMARY}\\n1,2,3,4,5,6,7.0\\n" > "$last/net_summary_x.csv"')
        self.assertEqual(list(rival_tools.vela("net.tosa", "ethos-u65-512", 1024).values()), [1, 2, 3, 4, 5, 6, 7])

    def test_what_vela_refuses_goes_to_it_as_tflite_where_there_is_one(self):
        self.tool("vela", f"""case $1 in *.tosa) echo "RuntimeError: no such operator" >&2; exit 1;; esac
for last; do :; done; printf "{SUMMARY}\\n1,2,3,4,5,6,7\\n" > "$last/net_summary_x.csv" """)
        path = self.folder / "net.tosa"
        self.assertEqual(rivals.vela_of(path, "ethos-u65-512", 1024), {"refused": "no such operator", "file": "net.tosa"})
        path.with_suffix(".tflite").touch()
        self.assertEqual(rivals.vela_of(path, "ethos-u65-512", 1024)["file"], "net.tflite")

    def test_scalesim_that_fails_is_an_error(self):
        self.tool("python", "echo 'ValueError: no layout' >&2; exit 1")
        with self.assertRaisesRegex(SystemExit, "SCALE-Sim ends with status 1: .*no layout"):
            rival_tools.scalesim(LAYERS, "ws", rivals_page.machine())


if __name__ == "__main__":
    unittest.main()
