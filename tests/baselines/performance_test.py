#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What performance.py makes of a row of cycles.csv."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import machine_options
import performance
import resident
import sized

ROW = {"network": "net", "machine": "edge", "cycles": "1000", "bound_mxu": "400", "bound_dram": "100", "bound_room": "0", "macs": "409600", "dram_read": "2000",
       "dram_written": "560", "must_move": "1280", "estimate": "1012", "iterations": "0", "causes": "mxu_compute=600 dram_read=350 fill_drain=41 tokens=9"}


class Page(unittest.TestCase):
    def test_of_the_bounds_resource_only_the_excess_counts(self):
        self.assertEqual(performance.bound_of(ROW), (400, "MXU"))
        self.assertEqual(performance.beyond(ROW), "`dram_read` 35 %, `mxu_compute` 20 %, `fill_drain` 4 %")

    def test_the_bounds_cycles_are_taken_from_several_causes(self):
        row = {**ROW, "bound_mxu": "99", "bound_dram": "400", "causes": "dram_read=300 weight_load_dram=200 vpu_compute=500"}
        self.assertEqual(performance.bound_of(row), (400, "DRAM"))
        self.assertEqual(performance.beyond(row), "`vpu_compute` 50 %, `dram_read` 10 %")

    def test_a_job_at_its_bound_loses_nothing(self):
        self.assertEqual(performance.beyond({**ROW, "cycles": "400", "causes": "mxu_compute=400"}), "nothing of 1 %")

    def test_a_row(self):
        self.assertEqual(performance.line(ROW), f"| net | 1,000 | 400 | MXU | 2.50 | - | - | {performance.beyond(ROW)} | +1.2 % | 2,560 | 1,280 | 2.00 |")
        self.assertIn("| MXU | 2.50 | 800 | 1.25 |", performance.line({**ROW, "bound_room": "800"}))
        self.assertIn("| MXU | 2.50 | - | - |", performance.line({**ROW, "bound_room": "399"}))
        self.assertIn("DRAM 12.8 bytes a cycle", performance.page([ROW]))

    def test_an_estimate_is_near_up_to_three_percent(self):
        self.assertTrue(performance.is_near(970, 1000))
        self.assertTrue(performance.is_near(1030, 1000))
        self.assertFalse(performance.is_near(969, 1000))
        self.assertFalse(performance.is_near(1031, 1000))
        self.assertEqual(performance.estimate_of({**ROW, "iterations": "64"}), "-")

    def test_constants_that_stay(self):
        row = {"network": "net", "machine": "edge", "cycles": 700, "bytes": 5000, "load_cycles": 450, "dram_read": 99}
        self.assertIn("| net | edge | 700 | 1,000 | 5,000 | 450 | 99 |", performance.page([ROW], {("net", "edge"): row}))
        self.assertNotIn("Constants that stay", performance.page([ROW]))

    def test_figures_that_moved(self):
        row = {"network": "net", "machine": "edge", "cycles": 700, "bytes": 5000, "load_cycles": 450, "dram_read": 99}
        key = ("net", "edge")
        self.assertEqual(resident.moved({key: row}, {key: row}, {"net"}), [])
        self.assertEqual(len(resident.moved({key: row}, {key: {**row, "cycles": 701}}, {"net"})), 1)
        self.assertEqual(len(resident.moved({key: row}, {}, {"net"})), len(resident.FIGURES))
        self.assertEqual(resident.moved({key: row}, {}, {"other"}), [])

    def test_options_that_are_left_out(self):
        name = machine_options.NETWORKS[0]
        rows = {(name, option): 1100 for option in machine_options.WITHOUT}
        text = machine_options.section(rows, {(name, "edge"): 1000})
        self.assertIn(f"| {name} | 1,000 |" + " +10.0 % |" * len(rows), text)
        self.assertNotIn(name, machine_options.section(dict(list(rows.items())[1:]), {(name, "edge"): 1000}))
        self.assertEqual(len(machine_options.work({name})), len(rows))
        self.assertEqual(machine_options.moved(rows, rows, {name}), [])
        self.assertEqual(len(machine_options.moved(rows, {**rows, (name, "vpu_tree"): 7}, {name})), 1)
        self.assertEqual(machine_options.moved(rows, {}, {"other"}), [])
        self.assertEqual(machine_options.text_of("mxu_split"), "base: edge\nmxu_split: 1\n")
        self.assertEqual(machine_options.text_of("refreshes_postponed"), "base: edge\ndram: {refreshes_postponed: 0}\n")
        self.assertEqual(machine_options.text_of("refresh_by_bank"), "base: edge\ndram: {refresh_by_bank: 0, t_rfc_ns: 280}\n")

    def test_sizes_that_change(self):
        row = {"network": "images", "machine": "edge", "sizes": "1x5x5", "cycles": 605, "alone": 500}
        key = tuple(row[key] for key in sized.KEYS)
        self.assertIn("| images | 1x5x5 | 605 | 500 | 1.21 | - | - | - |", performance.page([ROW], of_sizes={key: row}))
        self.assertNotIn("Sizes that change", performance.page([ROW]))
        self.assertEqual(sized.moved({key: row}, {key: row}, {"images"}), [])
        self.assertEqual(len(sized.moved({key: row}, {key: {**row, "cycles": 606}}, {"images"})), 1)
        self.assertEqual(len(sized.moved({key: row}, {key: {**row, "alone": 499}}, {"images"})), 1)
        self.assertEqual(len(sized.moved({key: row}, {}, {"images"})), len(sized.FIGURES))
        self.assertEqual(sized.moved({key: row}, {}, {"other"}), [])

    def test_a_program_for_bounds_that_is_too_slow_is_refused(self):
        row = {"network": "transformer", "machine": "edge", "alone": 1000}
        for sizes, most in (("128", 1050), ("127", 1250)):
            sized.check({**row, "sizes": sizes, "cycles": most})
            with self.assertRaisesRegex(SystemExit, f"transformer on edge at {sizes} takes 1,[0-9]+ cycles by a program for bounds"):
                sized.check({**row, "sizes": sizes, "cycles": most + 1})

    def test_a_rate_that_is_not_the_bounds_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "measure again"):
            performance.page([{**ROW, "bound_dram": "99"}])

    def test_a_cause_that_the_report_does_not_have_is_refused(self):
        with mock.patch.dict(performance.WORK, MXU=["no_such_cause"]), self.assertRaisesRegex(SystemExit, "has no cause no_such_cause"):
            performance.page([ROW])

    def check(self, row, text=None):
        """Exit status and messages of --check for a table of this row and a page."""
        with tempfile.TemporaryDirectory() as folder:
            table, page = Path(folder, "cycles.csv"), Path(folder, "page.md")
            table.write_text(",".join(row) + "\n" + ",".join(row.values()) + "\n")
            page.write_text(performance.page([row]) if text is None else text)
            errors = io.StringIO()
            with mock.patch.object(resident, "recorded", dict), mock.patch.object(machine_options, "recorded", dict), \
                    mock.patch.object(sized, "recorded", dict), \
                    mock.patch.multiple(performance, FILE=table, PAGE=page, ROOT=Path(folder)), mock.patch("sys.argv", ["performance.py", "--check"]), \
                    contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
                return performance.main(), errors.getvalue()

    def test_check(self):
        self.assertEqual(self.check(ROW), (0, ""))
        status, message = self.check(ROW, "another page")
        self.assertEqual(status, 1)
        self.assertIn("page.md is not what tests/baselines/performance.py writes", message)
        status, message = self.check({**ROW, "cycles": "399"})
        self.assertEqual(status, 1)
        self.assertIn("fewer than its bound of 400", message)
        status, message = self.check({**ROW, "bound_room": "1001"})
        self.assertEqual(status, 1)
        self.assertIn("fewer than its bound of 1001", message)


if __name__ == "__main__":
    unittest.main()
