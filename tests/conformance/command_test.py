#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`npu conformance` on small trees made here: usage command_test.py NPU MAKE_NETWORKS."""

import json
import os
import re
import shutil
import signal
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system/cli"))
import harness
from harness import NpuTest, listing, npy_bytes, run

SUM_INPUT, SUM_RESULT = [1, -2, 3, -4], [2, 0, 6, 0]  # running_sum adds to [1, 2, 3, 4]


class Tree(NpuTest):
    """Each test makes its own tree of conformance tests below self.root."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="npu-conformance-")
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name) / "tests"
        self.root.mkdir()

    def add(self, name, network="running_sum", golden=SUM_RESULT, operator="ADD", **changes):
        """A test that passes, but for what is changed; None removes a key of the descriptor."""
        folder = self.root / name
        folder.mkdir(parents=True)
        shutil.copy(self.dir / f"{network}.tosa", folder / "test.tosa")
        (folder / "x.npy").write_bytes(npy_bytes("|i1", (1, 4), SUM_INPUT))
        if golden is not None:
            (folder / "y.npy").write_bytes(npy_bytes("|i1", (1, 4), golden))
        desc = {"tosa_file": "test.tosa", "ifm_name": ["x"], "ifm_file": ["x.npy"], "ofm_name": ["y"], "ofm_file": ["y.npy"],
                "expected_failure": False, "version": "1.2",
                "meta": {"compliance": {"version": "1.2", "tensors": {"y": {"mode": "EXACT", "data_type": "INT8"}}}},
                "test_requirements": {"profiles_supported": ["tosa-pro-int"], "extensions_required": ["tosa-ext-variable"],
                                      "bounds_file_required": False},
                "test_details": {"operator": operator}, **changes}
        self.write(folder, json.dumps({key: value for key, value in desc.items() if value is not None}))
        return folder

    def write(self, folder, text):
        folder.mkdir(exist_ok=True)
        (folder / "desc.json").write_bytes(text.encode() if isinstance(text, str) else text)

    def results(self, *arguments, status=7, **options):
        """Outcome and reason of each test by name, and the whole document."""
        file = self.root.parent / "results.json"
        result = run("conformance", self.root, "--json", file, *arguments, **options)
        self.assertEqual(result.returncode, status, result.out + result.err)
        self.assertEqual(result.err, "")
        document = json.loads(file.read_text())
        return {entry["name"]: (entry["outcome"], entry["reason"]) for entry in document["results"]}, document

    def outcome(self, name, wanted, fragment):
        outcome, reason = self.results("--filter", f"^{name}$")[0][name]
        self.assertEqual(outcome, wanted, reason)
        self.assertIn(fragment, reason)


class Judgement(Tree):
    def test_equal_results_pass(self):
        self.add("good")
        results, document = self.results(status=0)
        self.assertEqual(results, {"good": ("passed", "")})
        self.assertEqual((document["schema"], document["schema_version"], document["on"]), ("npu-conformance", 1, "reference"))

    def test_the_device_runs_them_as_well(self):
        for i in range(12):
            self.add(f"t{i:02}")
        self.add("bad", golden=[2, 0, 6, 1])
        for machine, *mode in (("edge",), ("nano", "--mode", "timed")):
            results, document = self.results("--on", "device", "--config", machine, *mode, "--jobs", "4")
            self.assertEqual((document["on"], document["machine"]), ("device", machine))
            self.assertIn("1 of 4 elements differ, the first at index 3", results.pop("bad")[1])
            self.assertEqual(set(results.values()), {("passed", "")})

    def test_a_test_without_room_beside_others_runs_alone(self):
        for i in range(64):
            self.add(f"t{i:02}")  # of one variable each
        machine = self.root.parent / "one.yaml"
        machine.write_text("base: nano\npsram_bytes: 1024\npsram_port_bytes: 512\n")  # one variable fills it
        results, _ = self.results("--on", "device", "--config", machine, "--jobs", "8", status=0)
        self.assertEqual(set(results.values()), {("passed", "")})

    def test_one_element_that_differs_fails(self):
        self.add("bad", golden=[2, 0, 6, 1])
        self.outcome("bad", "failed", "1 of 4 elements differ, the first at index 3")

    def test_every_test_has_variables_of_its_own(self):
        for i in range(20):
            self.add(f"t{i:02}")
        self.results("--jobs", "4", status=0)

    def test_golden_of_another_shape_fails(self):
        folder = self.add("shape")
        (folder / "y.npy").write_bytes(npy_bytes("|i1", (4,), SUM_RESULT))
        self.outcome("shape", "failed", "the golden of 'y'")

    def test_illegal_graph_has_to_be_refused(self):
        self.add("illegal", network="wrong_shape", expected_failure=True)
        self.results(status=0)

    def test_illegal_graph_where_a_result_is_wanted_fails(self):
        self.add("illegal", network="wrong_shape")
        self.outcome("illegal", "failed", "[bad_shape]")

    def test_legal_graph_that_should_be_illegal_fails(self):
        self.add("legal", expected_failure=True)
        self.outcome("legal", "failed", "it ran")

    def test_unpredictable_is_not_illegal(self):
        self.add("unpredictable", network="unwritten", expected_failure=True)
        self.outcome("unpredictable", "failed", "not as an illegal graph")

    def test_what_is_not_supported_never_passes(self):
        for name, expected in (("positive", False), ("negative", True)):
            self.add(name, network="other_version", expected_failure=expected)
            self.outcome(name, "unsupported", "[version_unsupported]")

    def test_what_the_dram_does_not_hold_is_not_supported_and_no_illegal_graph(self):
        machine = self.root.parent / "small.yaml"
        machine.write_text("base: nano\ndram_mib: 2\n")
        for name, expected, outcome in (("positive", False, "unsupported"), ("negative", True, "failed")):
            self.add(name, network="large_output", expected_failure=expected)
            results, _ = self.results("--on", "device", "--config", machine, "--filter", f"^{name}$")
            self.assertEqual(results[name][0], outcome)
            self.assertIn("[dram_full]", results[name][1])

    def test_other_names_of_tensors_fail(self):
        self.add("input", ifm_name=["z"])
        self.outcome("input", "failed", "does not list input 'x'")
        compliance = {"compliance": {"tensors": {"z": {"mode": "EXACT"}}}}
        self.add("output", ofm_name=["z"], meta=compliance)
        self.outcome("output", "failed", "no output 'z'")

    def test_without_compliance_section_integers_have_to_be_equal(self):
        self.add("good", meta=None)
        self.add("bad", meta=None, golden=[0, 0, 0, 0])
        self.assertEqual({name: result[0] for name, result in self.results()[0].items()}, {"good": "passed", "bad": "failed"})


class FloatingPoint(Tree):
    """What happens around the official checker, with a script in its place."""

    def setUp(self):
        super().setUp()
        self.tools = self.root.parent / "tools"
        self.tools.mkdir()

    def checker(self, text):
        file = self.tools / "tosa_verify"
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def add_inexact(self, name, **changes):
        """An integer result that need not be exact goes to the checker like one of floating point."""
        tensors = {"y": {"mode": "RESCALE_INEXACT", "data_type": "INT8"}}
        return self.add(name, golden=[9, 9, 9, 9], meta={"compliance": {"tensors": tensors}}, **changes)

    def judged(self, name, status=7):
        return self.results("--filter", f"^{name}$", status=status, env={"NPU_PYTHON_TOOLS": str(self.tools)})[0][name]

    def test_checker_decides(self):
        self.add_inexact("t")
        self.checker("exit 0")
        self.assertEqual(self.judged("t", status=0), ("passed", ""))
        self.checker("echo too far off; exit 2")
        outcome, reason = self.judged("t")
        self.assertEqual(outcome, "failed")
        self.assertIn("'too far off'", reason)
        for trouble in ("exit 1", "kill -9 $$", "exit 77"):
            self.checker(trouble)
            self.assertEqual(self.judged("t")[0], "broken", trouble)

    def test_checker_gets_descriptor_result_golden_and_bounds(self):
        folder = self.add_inexact("t", test_requirements={"profiles_supported": ["tosa-pro-fp"], "bounds_file_required": True})
        self.checker("exit 0")
        self.assertIn("there is no golden 'bounds_y.npy'", self.judged("t")[1])
        (folder / "bounds_y.npy").write_bytes(b"")
        self.checker('test -s desc.json && echo "$@" | grep -q -e "--test_desc=desc.json --imp_result_file=/[^ ]*.npy '
                     '--ref_result_file=y.npy --ofm_name=y --bnd_result_file=bounds_y.npy" || exit 1')
        self.assertEqual(self.judged("t", status=0), ("passed", ""))

    def test_leaves_nothing_behind(self):
        self.add_inexact("t")
        self.checker("exit 0")
        scratch = self.root.parent / "scratch"
        scratch.mkdir()
        before = listing(self.root)
        self.results(status=0, env={"NPU_PYTHON_TOOLS": str(self.tools), "TMPDIR": str(scratch)})
        self.assertEqual((listing(self.root), listing(scratch)), (before, []))

    def test_a_signal_ends_it_with_its_children_and_without_leavings(self):
        for i in range(100):
            self.add_inexact(f"t{i:02}")
        started, report = (self.root.parent / name for name in ("started", "r.json"))
        # The checker starts a child in turn, as the scripts of the tools do.
        self.checker(f"touch {started}; sh -c 'sleep 30; true'; exit 0")
        scratch = self.root.parent / "scratch"
        scratch.mkdir()
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            result = harness.stopped(number, started, "conformance", self.root, "--jobs", "2", "--json", report, "--quiet",
                                     env={"NPU_PYTHON_TOOLS": str(self.tools), "TMPDIR": str(scratch)})
            self.assertEqual(result, (status, ""))
            self.assertEqual((listing(scratch), report.exists()), ([], False))
            started.unlink()


class Hostile(Tree):
    """Nothing in a test crashes the command, and what cannot be judged does not pass."""

    def test_descriptors(self):
        table = [
            ("is not JSON", ""),
            ("is not JSON", "{"),
            ("is not JSON", b"\xff\xfe\x00"),
            ("is not an object", "[]"),
            ("nested deeper", "[" * 100000),
            ("'tosa_file' is missing", "{}"),
            ("'tosa_file' is not a text", '{"tosa_file": 5}'),
            ("'ifm_name' is missing", '{"tosa_file": "test.tosa"}'),
        ]
        for i, (fragment, text) in enumerate(table):
            self.write(self.root / f"t{i}", text)
            self.outcome(f"t{i}", "broken", fragment)
        self.assertEqual(len(self.results()[0]), len(table))

    def test_members(self):
        table = [
            ("'ifm_name' is not a list", {"ifm_name": "x"}),
            ("not a text", {"ifm_name": [5]}),
            ("'ifm_name' has 1 entries and 'ifm_file' 0", {"ifm_file": []}),
            ("lists 'x' twice", {"ifm_name": ["x", "x"], "ifm_file": ["x.npy", "x.npy"]}),
            ("more than", {"ofm_name": ["y"] * 5000}),
            ("without outputs", {"ofm_name": [], "ofm_file": []}),
            ("'expected_failure' is not", {"expected_failure": "no"}),
            ("'profiles_supported' is missing", {"test_requirements": {}}),
            ("'operator' is not a text", {"test_details": {"operator": {}}}),
            ("'meta' is not an object", {"meta": []}),
            ("'tensors' is missing", {"meta": {"compliance": {}}}),
            ("does not describe output 'y'", {"meta": {"compliance": {"tensors": {}}}}),
            ("'mode' is missing", {"meta": {"compliance": {"tensors": {"y": {}}}}}),
        ]
        for i, (fragment, changes) in enumerate(table):
            self.add(f"t{i}", **changes)
            self.outcome(f"t{i}", "broken", fragment)

    def test_paths_out_of_the_folder(self):
        self.add("other")
        for i, name in enumerate(("../other/test.tosa", "/etc/passwd", "..", ".", "", "a/b", "a,b", "a\0b")):
            self.add(f"t{i}", tosa_file=name)
            self.outcome(f"t{i}", "broken", "is not the name of a file in the test's folder")
        folder = self.add("link")
        (folder / "y.npy").unlink()
        (folder / "y.npy").symlink_to(self.root / "other/y.npy")
        self.outcome("link", "broken", "is a link")

    def test_huge_descriptor(self):
        self.write(self.root / "t", '{"tosa_file": "' + "x" * (5 << 20) + '"}')
        self.outcome("t", "broken", "desc.json")

    def test_missing_and_damaged_files(self):
        self.add("golden", golden=None)
        self.outcome("golden", "broken", "there is no golden 'y.npy'")
        for name, fragment in (("y.npy", "[bad_npy]"), ("x.npy", "[bad_npy]"), ("test.tosa", "[file_damaged]")):
            folder = self.add(f"damaged_{name}")
            (folder / name).write_bytes(b"\x93NUMPY")
            self.outcome(f"damaged_{name}", "broken", fragment)
            (folder / name).unlink()
            self.assertEqual(self.results("--filter", f"^damaged_{name}$")[0][f"damaged_{name}"][0], "broken")
        # Nor does a file that is no network count as an illegal graph.
        folder = self.add("garbage", expected_failure=True)
        (folder / "test.tosa").write_bytes(b"garbage")
        self.outcome("garbage", "broken", "[file_damaged]")

    def test_names_reach_neither_terminal_nor_xml_unescaped(self):
        self.add("t\x1b[31m<&>\"", golden=[0, 0, 0, 0], operator="A\x1b\"<")
        junit = self.root.parent / "results.xml"
        result = run("conformance", self.root, "--junit", junit)
        self.assertEqual(result.returncode, 7)
        self.assertNotIn("\x1b", result.out)
        suite = xml.etree.ElementTree.parse(junit).getroot()[0]
        self.assertEqual(suite.get("name"), 'A?"<')


class CommandLine(Tree):
    def test_errors(self):
        self.add("t")
        empty = self.root.parent / "empty"
        empty.mkdir()
        table = [
            (64, "bad_option", "DIR is missing", []),
            (64, "bad_option", "no desc.json", [empty]),
            (64, "bad_option", "none of 1 tests matches", [self.root, "--filter", "z"]),
            (64, "bad_option", "none of 1 tests matches", [self.root, "--operator", "SUB"]),
            (64, "bad_option", "not a regular expression", [self.root, "--filter", "("]),
            (64, "bad_option", "--on is reference or device, not 'rtl'", [self.root, "--on", "rtl"]),
            (64, "bad_option", "--mode is timed or functional, not 'fast'", [self.root, "--on", "device", "--mode", "fast"]),
            (64, "bad_option", "--config is for --on device", [self.root, "--config", "nano"]),
            (64, "bad_preset", "there is no machine 'big'", [self.root, "--on", "device", "--config", "big"]),
            (64, "bad_option", "--jobs takes 1 to", [self.root, "--jobs", "0"]),
            (64, "bad_option", "--jobs needs a whole number", [self.root, "--jobs", "-1"]),
            (66, "cannot_read", "is not a folder", [self.root / "nowhere"]),
            (66, "cannot_read", "is not a folder", [self.root / "t/desc.json"]),
            (64, "bad_option", "are the same file", [self.root, "--json", empty / "r", "--junit", os.path.relpath(empty / "r")]),
            (66, "cannot_write", "no writable folder", [self.root, "--json", "/nowhere/r.json"]),
            (66, "cannot_write", "no writable folder", [self.root, "--junit", "/nowhere/r.xml"]),
        ]
        for status, code, fragment, arguments in table:
            with self.subTest(fragment):
                self.bad(status, code, fragment, "conformance", *arguments)

    def test_unfinished_generations_are_left_out(self):
        self.add("whole/t")
        self.add("new.partial/t", golden=[0, 0, 0, 0])
        self.assertEqual(list(self.results(status=0)[0]), ["whole/t"])

    def test_filters(self):
        self.add("a/one")
        self.add("a/two", operator="SUB")
        self.add("b/one")
        self.assertEqual(list(self.results("--filter", "^a/", status=0)[0]), ["a/one", "a/two"])
        self.assertEqual(list(self.results("--operator", "sub", status=0)[0]), ["a/two"])
        # A test whose operator is unknown might be the one that is asked for.
        self.write(self.root / "c", "{}")
        self.assertEqual(list(self.results("--operator", "SUB")[0]), ["a/two", "c"])

    def check_times(self, junit):
        """Each case has a name of its own and a time, those that were judged a positive one; the others add up."""
        root = xml.etree.ElementTree.parse(junit).getroot()
        cases = [case for suite in root for case in suite]
        self.assertEqual(sorted(case.get("name") for case in cases), sorted([f"t{i:02}" for i in range(30)] + ["u", "v"]))
        self.assertTrue(all(float(case.get("time")) > 0 for case in cases if case.get("name") != "v"))
        for suite in [*root, root]:
            self.assertAlmostEqual(float(suite.get("time")), sum(float(case.get("time")) for case in suite), places=4)

    def test_reports_count_everything_in_the_same_order_each_time(self):
        for i in range(30):
            self.add(f"t{i:02}", golden=[0, 0, 0, 0] if i % 3 == 0 else SUM_RESULT, operator="SUB" if i % 2 else "ADD")
        self.add("u", network="other_version")
        self.write(self.root / "v", "{}")
        texts = set()
        for jobs in ("1", "3", "8"):
            files = [self.root.parent / name for name in ("r.json", "r.xml")]
            result = run("conformance", self.root, "--jobs", jobs, "--json", files[0], "--junit", files[1])
            self.assertEqual(result.returncode, 7)
            # Times are of the host; everything else is the same.
            texts.add((result.out, files[0].read_text(), re.sub(r' time="\d+\.\d+"', "", files[1].read_text())))
            self.check_times(files[1])
        self.assertEqual(len(texts), 1)
        out, json_text, xml_text = texts.pop()
        document = json.loads(json_text)
        self.assertEqual([document[key] for key in ("tests", "passed", "failed", "unsupported", "broken")], [32, 20, 10, 1, 1])
        self.assertEqual([(entry["name"], entry["tests"]) for entry in document["operators"]],
                         [("(unnamed)", 1), ("ADD", 16), ("SUB", 15)])
        self.assertEqual([(entry["name"], entry["passed"]) for entry in document["requirements"]],
                         [("tosa-ext-variable", 20), ("tosa-pro-int", 20)])
        suites = xml.etree.ElementTree.fromstring(xml_text)
        self.assertEqual([suites.get(key) for key in ("tests", "failures", "errors")], ["32", "11", "1"])
        self.assertEqual((len(suites.findall("*/*/failure")), len(suites.findall("*/*/error"))), (11, 1))
        self.assertRegex(out, r"\nall +32 +20 +10 +1 +1\n$")


if __name__ == "__main__":
    os.environ.pop("NPU_PYTHON_TOOLS", None)
    harness.main()
