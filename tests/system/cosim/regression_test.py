#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`npu cosim`: regression_test.py NPU MAKER WRONG NETWORKS CASES DOCUMENT.

WRONG is an npu with a wrong MXU of preset nano, NETWORKS has the imported wake words, CASES is tests/cases, DOCUMENT is
docs/reference/cycle-accuracy.md."""

import json
import re
import shlex
import signal
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import harness
from harness import NpuTest, listing

WRONG, NETWORKS, CASES, DOCUMENT = "", None, None, None
SMALL = """presets: [nano, edge]
seeds: [7]
networks:
  - {name: two_layers, frames: 2}
  - {name: not_here, optional: true}
operators: {only: [CONV2D, ADD, VARIABLE]}
trials:
  - {block: mxu, count: 30, batch: 10}
  - {block: vpu, count: 20, batch: 10, memory: ideal}
  - {block: dma, count: 20, batch: 10}
  - {block: scratchpad, count: 3, batch: 2}
  - {block: persistent_sram, count: 9, batch: 9}
"""
CASES_OF_SMALL = 2 * (2 + 3 + 3 * 2 + 2 + 2 * 2 + 2 * 2 + 2)


class Regression(NpuTest):
    def list(self, text=SMALL, name="list.yaml"):
        path = self.dir / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def names(self, *arguments):
        return self.good("cosim", self.list(), "--list", *arguments).out.split("\n")[:-1]

    def document(self, *arguments, status=0, npu=None):
        """The JSON of a run that ends with this status."""
        path = self.dir / "cosim.json"
        path.unlink(missing_ok=True)
        result = subprocess.run([npu or harness.NPU, "cosim", *map(str, arguments), "--json", path], capture_output=True,
                                text=True, timeout=240, check=False, cwd=self.dir)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return json.loads(path.read_text()), result


class Lists(Regression):
    def test_wrong_lists_are_refused_with_file_line_and_key(self):
        head = "presets: [nano]\nseeds: [1]\n"
        for text, line, fragment in (
                (head + "operaters: {}\n", 3, "the key 'operaters' is unknown"),
                (head + "seeds: [2]\noperators: {}\n", 3, "the key 'seeds' stands there twice"),
                ("seeds: [1]\noperators: {}\n", 1, "the key 'presets' is missing"),
                ("presets: [nano, nano]\nseeds: [1]\noperators: {}\n", 1, "'nano' stands there twice"),
                ("presets: [nano]\nseeds: []\noperators: {}\n", 2, "'seeds' must be a list"),
                ("presets: [nano]\nseeds: [-1]\noperators: {}\n", 2, "'seeds' must be a whole number from 0 to 4294967295"),
                ("presets: [nano]\nseeds: [4294967296]\noperators: {}\n", 2, "not '4294967296'"),
                (head + "operators: {of_each: 0}\n", 3, "'of_each' must be a whole number from 1"),
                (head + "operators: {of_each: 2, of_each: 2}\n", 3, "the key 'of_each' stands there twice"),
                (head + "operators:\n  only: [ADD, CONV]\n", 4, "'CONV' is no operator of TOSA"),
                (head + "operators:\n  only: [DIM]\n", 4, "DIM computes a shape, which is a constant"),
                (head + "operators: 3\n", 3, "'operators' must be a mapping"),
                (head + "networks:\n  - a\n  - name: a\n", 5, "the network 'a' stands there twice"),
                (head + "networks:\n  - {name: a, frame: 3}\n", 4, "the key 'frame' is unknown"),
                (head + "networks:\n  - {name: a, optional: yes}\n", 4, "'optional' must be true or false"),
                (head + "networks:\n  - {name: a, frames: 0}\n", 4, "'frames' must be a whole number"),
                (head + "trials:\n  - {block: tpu, count: 1}\n", 4, "there is no block 'tpu'; there are mxu, vpu,"),
                (head + "trials:\n  - {block: mxu}\n", 4, "the key 'count' is missing"),
                (head + "trials:\n  - {block: mxu, count: 1e3}\n", 4, "not '1e3'"),
                (head + "trials:\n  - {block: mxu, count: 1, memory: slow}\n", 4, "not 'slow'"),
                (head + "trials:\n  - {block: mxu, count: 1}\n  - {block: mxu, count: 1}\n", 5, "'mxu' stands there twice"),
                (head + "trials:\n  - [mxu, 1]\n", 4, "'trials' must be a mapping"),
                (head, 1, "no networks, operators or trials"),
                (head + "? [a]\n: 1\n", 3, "a key must be a name"),
                (head + "operators: {\n", 4, "is not valid YAML"),
                (head + "networks: [" + "a" * 201 + "]\n", 3, "takes at most 200 characters, not 201"),
                (head + "networks: [" + "a" * 300000 + "]\n", 3, "takes at most 4000 characters, not 300000"),
                (head + 'networks: ["a\\x1b[31m"]\n', 3, "the name 'a\\x1b[31m' has characters other than printable ASCII"),
                (head + 'networks: [{name: "a\\nb"}]\n', 3, "the name 'a\\x0ab' has characters"),
                (head + "networks: [a|b]\n", 3, "without '|'"),
                (head + "networks: [folder/]\n", 3, "'folder/' is no name of a network"),
                (head + "networks: [.tosa]\n", 3, "'.tosa' is no name of a network"),
                (head + "networks: [a, b/a.tosa]\n", 3, "the network 'a' stands there twice"),
                ('presets: ["a\\x1b"]\nseeds: [1]\noperators: {}\n', 1, "has characters other than printable ASCII"),
                (head + "trials:\n  - {block: mxu, count: 4294967296, batch: 1}\n", 4, "more than 1000000 cases"),
                (head + "trials:\n  - {block: mxu, count: 1000001, batch: 1, memory: ideal}\n", 4, "up to 1000001 for each"),
                (head + "trials:\n  - {block: mxu, count: 500000, batch: 1}\n  - {block: vpu, count: 1}\n", 5, "1000002"),
                ("presets: [nano]\nseeds: [" + ",".join(map(str, range(20000))) + "]\noperators: {}\n", 3, "20000 presets")):
            with self.subTest(text):
                self.bad(64, "bad_input", f"list.yaml: line {line}: ", "cosim", self.list(text))
                self.bad(64, "bad_input", fragment, "cosim", self.list(text))
        for text in ("", "[1]", "a", ",", "--- {}\n--- {}\n"):
            self.bad(64, "bad_input", "must be one YAML mapping", "cosim", self.list(text))
        self.bad(64, "bad_preset", "huge", "cosim", self.list("presets: [huge]\nseeds: [1]\noperators: {}\n"))
        self.bad(64, "bad_input", "does not run the operator ERF", "cosim", self.list(head + "operators: {only: [ERF]}\n"))

    def test_files_that_are_not_there_end_it(self):
        self.bad(66, "cannot_read", "nowhere.yaml", "cosim", self.dir / "nowhere.yaml")
        text = "presets: [nano]\nseeds: [1]\nnetworks: [nowhere]\n"
        self.bad(66, "cannot_read", "the network 'nowhere' is in none of the folders", "cosim", self.list(text))
        self.bad(66, "cannot_read", "is no folder", "cosim", self.list(), "--networks", self.dir / "nowhere")
        self.bad(66, "cannot_write", "cannot write", "cosim", self.list(), "--junit", self.dir / "no" / "x.xml")

    def test_wrong_options_are_refused(self):
        for fragment, option in (("K/N", ["--shard", "3"]), ("makes no sense", ["--shard", "0/3"]),
                                 ("makes no sense", ["--shard", "4/3"]), ("whole number", ["--shard", "a/3"]),
                                 ("such as 90s", ["--budget", "30"]), ("whole number", ["--budget", "xm"]),
                                 ("--jobs takes 1 to", ["--jobs", "0"]), ("not in the list", ["--preset", "tiny"]),
                                 ("at most 4294967295", ["--seed", "4294967296"]), ("regular", ["--only", "("]),
                                 ("at most 1000 characters", ["--only", "(" * 100000]), ("back-references", ["--only", r"(a)\1"]),
                                 ("none of the", ["--only", "nothing has this name"]),
                                 ("none of the", ["--only", "(" * 490 + "a" + ")" * 490 + "*z"]),
                                 ("same file", ["--json", self.dir / "r", "--markdown", self.dir / "r"])):
            with self.subTest(option):
                self.bad(64, "bad_option", fragment, "cosim", self.list(), *option)
        self.bad(64, "bad_option", "LIST.yaml of cases is missing", "cosim")

    def test_shards_are_the_whole(self):
        whole = self.names()
        self.assertEqual((len(whole), len(set(whole))), (CASES_OF_SMALL, CASES_OF_SMALL))
        for shards in (1, 3, 8):
            parts = [self.names("--shard", f"{k}/{shards}") for k in range(1, shards + 1)]
            self.assertEqual(sorted(sum(parts, [])), sorted(whole))
            self.assertLessEqual(max(map(len, parts)) - min(map(len, parts)), 1)
        empty = f"{CASES_OF_SMALL + 1}/{CASES_OF_SMALL + 1}"
        self.assertEqual(self.names("--shard", empty), [])
        result = self.good("cosim", self.list(), "--shard", empty)
        self.assertEqual(result.out, "0 cases\n")
        self.assertIn(f"--shard {empty} has none of the cases", result.err)

    def test_cases_are_chosen(self):
        whole = self.names()
        self.assertEqual(self.names("--preset", "edge"), [name for name in whole if "/edge/" in name])
        self.assertEqual(self.names("--only", "^operator/ADD/"), [f"operator/ADD/{p}/7" for p in ("nano", "edge")])
        self.assertEqual(self.names("--seed", "8"), [re.sub("/7(/|$)", r"/8\1", name) for name in whole])
        self.assertIn("trials/mxu/nano/held_back/7/20-29", whole)
        self.assertIn("trials/scratchpad/nano/ideal/7/2-2", whole)
        self.assertFalse(any("vpu" in name and "held_back" in name for name in whole))

    def test_what_is_not_kept_is_not_looked_at(self):
        text = """presets: [nano, nowhere]
seeds: [1]
networks: [two_layers, not_here]
operators: {only: [ADD, FFT2D]}
trials:
  - {block: dma, count: 2}
"""
        path = self.list(text)
        for regex, name in (("^network/two_layers/nano", "network/two_layers/nano/1"), ("^operator/ADD/nano", "operator/ADD/nano/1"),
                            ("dma/nano/ideal", "trials/dma/nano/ideal/1/0-1")):
            self.assertEqual(self.good("cosim", path, "--list", "--only", regex).out, name + "\n")
        self.assertEqual(self.good("cosim", path, "--list", "--only", "two_layers|dma", "--preset", "nano").out.split(),
                         ["network/two_layers/nano/1", "trials/dma/nano/ideal/1/0-1", "trials/dma/nano/held_back/1/0-1"])
        # Of what is kept each is told.
        self.bad(66, "cannot_read", "the network 'not_here' is in none", "cosim", path, "--list", "--only", "^network/.*/nano")
        self.bad(64, "bad_input", "the device does not run the operator FFT2D", "cosim", path, "--list", "--only", "^op.*/nano")
        self.bad(64, "bad_preset", "there is no machine 'nowhere'", "cosim", path, "--list", "--only", "dma/")
        # A part of the list neither: not_here is the second of these cases.
        found = self.good("cosim", path, "--list", "--only", "^network/.*/nano", "--shard", "1/2").out
        self.assertEqual(found, "network/two_layers/nano/1\n")

    def test_a_trial_is_chosen_by_its_number(self):
        self.assertEqual(self.names("--trial", "17", "--only", "trials/mxu"),
                         [f"trials/mxu/{p}/{m}/7/17-17" for p in ("nano", "edge") for m in ("ideal", "held_back")])
        self.assertEqual(self.names("--trial", "2", "--only", "scratchpad/nano/ideal/7/2-2"), ["trials/scratchpad/nano/ideal/7/2-2"])
        self.bad(64, "bad_option", "that match has a trial 20", "cosim", self.list(), "--trial", "20", "--only", "vpu|dma|scratch")
        self.bad(64, "bad_option", "--trial needs a whole number", "cosim", self.list(), "--trial", "-1")

    def test_long_names_are_searched(self):
        text = f"presets: [nano]\nseeds: [1]\nnetworks:\n  - {{name: {'a' * 200}, optional: true}}\n"
        self.assertEqual(len(self.good("cosim", self.list(text), "--list", "--only", "(((((a|b)))))*z|x|1$").out.split()), 1)

    def test_only_the_ending_of_a_file_is_cut_off(self):
        text = "presets: [nano]\nseeds: [1]\nnetworks: [model_v1.0, model_v1.5.tosa, ./two_layers]\n"
        self.assertEqual(self.good("cosim", self.list(text), "--list").out.split(),
                         [f"network/{name}/nano/1" for name in ("model_v1.0", "model_v1.5", "two_layers")])


class Runs(Regression):
    def test_everything_passes_and_is_counted(self):
        junit, markdown = self.dir / "cosim.xml", self.dir / "cosim.md"
        document, result = self.document(self.list(), "--junit", junit, "--markdown", markdown)
        self.assertEqual((document["schema"], document["schema_version"]), ("npu-cosim", 2))
        self.assertEqual((document["cases"], document["passed"], document["missing"]),
                         (CASES_OF_SMALL, CASES_OF_SMALL - 2, 2))
        self.assertEqual([case["name"] for case in document["results"]], self.names())
        devices = [case["device"] for case in document["results"] if case["device"]]
        self.assertEqual(len(devices), 2 * (1 + 3))
        for device in devices:
            self.assertEqual((device["differing"], device["tiles_exact"], device["tiles_same_requests"]),
                             (0, device["tiles"], device["tiles"]))
            self.assertGreater(device["compared"], 0)
            self.assertEqual(device["model_cycles"], device["rtl_cycles"])
        # CONV2D, ADD and the network have tiles; what VARIABLE is mixed with has some, too.
        self.assertTrue(all(device["tiles"] > 0 and device["elements_in_lockstep"] > 0 for device in devices))
        self.assertEqual([(b["block"], b["preset"]) for b in document["blocks"]],
                         [(b, p) for b in ("mxu", "vpu", "dma", "scratchpad", "persistent_sram") for p in ("nano", "edge")])
        for block in document["blocks"]:
            self.assertEqual(block["seeds"], [7])
            for memory in ("ideal", "held_back"):
                self.check_trials(block, memory)
        self.assertRegex(result.stdout, rf"{CASES_OF_SMALL} cases: {CASES_OF_SMALL - 2} passed, 2 missing\n$")

        suites = xml.etree.ElementTree.parse(junit).getroot()
        self.assertEqual({name: int(suites.get(name)) for name in ("tests", "failures", "errors", "skipped")},
                         {"tests": CASES_OF_SMALL, "failures": 0, "errors": 0, "skipped": 2})
        self.assertEqual(sum(len(suite) for suite in suites), CASES_OF_SMALL)
        self.assertEqual([suite.get("name") for suite in suites],
                         ["dma", "mxu", "network", "operator", "persistent_sram", "scratchpad", "vpu"])
        self.assertEqual({case.get("name") for suite in suites for case in suite}, set(self.names()))

    def check_trials(self, block, memory):
        count = {"mxu": 30, "vpu": 20, "dma": 20, "scratchpad": 3, "persistent_sram": 9}[block["block"]]
        numbers = block[memory]
        if (block["block"], memory) == ("vpu", "held_back"):
            return self.assertIsNone(numbers)
        self.assertEqual((numbers["trials"], numbers["failed"], numbers["differing"]), (count, 0, 0))
        self.assertGreater(numbers["compared"], 0)
        cycles = numbers["cycles"]
        self.assertEqual((cycles["compared"], cycles["exact"], cycles["share_exact"]), (count, count, 1.0))
        self.assertEqual((cycles["mean_absolute"], cycles["worst"]), (0.0, 0))
        self.assertEqual(sum(kind["trials"] for kind in numbers["kinds"]), count)
        device = numbers["device"]
        if memory == "ideal":
            self.assertIsNone(device)
        elif block["block"] in ("mxu", "vpu", "dma"):
            self.assertEqual(device["compared"], count // 2)  # every second one is held back by the device's crossbar

    def test_results_do_not_depend_on_jobs_or_shards(self):
        arguments = [self.list(), "--only", "trials/(mxu|dma|scratchpad)/nano|operator/ADD/nano"]
        one, _ = self.document(*arguments, "--jobs", "1")
        three, _ = self.document(*arguments, "--jobs", "3")
        self.assertEqual(one, three)
        parts = [self.document(*arguments, "--shard", f"{k}/2")[0]["results"] for k in (1, 2)]
        by_name = {case["name"]: case for case in sum(parts, [])}
        self.assertEqual([by_name[case["name"]] for case in one["results"]], one["results"])

    def test_no_case_begins_after_the_budget(self):
        junit = self.dir / "budget.xml"
        document, result = self.document(self.list(), "--budget", "0s", "--junit", junit)
        self.assertEqual((document["not_run"] + document["missing"], document["passed"]), (CASES_OF_SMALL, 0))
        self.assertIn("not run (no time was left)", result.stdout)
        self.assertIn("npu: note: no case was run\n", result.stderr)
        self.assertEqual(int(xml.etree.ElementTree.parse(junit).getroot().get("skipped")), CASES_OF_SMALL)

    def test_what_cannot_be_compared_is_broken(self):
        text = """presets: [nano]
seeds: [1]
networks:
  - {name: wide, frames: 100000}
  - silent
  - clamped
"""
        document, _ = self.document(self.list(text), status=7)
        self.assertEqual([case["outcome"] for case in document["results"]], ["broken", "broken", "passed"])
        wide, silent, _ = (case["reason"] for case in document["results"])
        self.assertEqual(wide, "the data for 100000 frames of 'wide' are more than 134217728 bytes; give it fewer 'frames'")
        self.assertEqual(silent, "no element of an output was compared with the reference")

    def test_a_wrong_block_is_found_and_its_bundles_replay(self):
        bundles, junit = self.dir / "bundles", self.dir / "wrong.xml"
        document, result = self.document(self.list(), "--only", "two_layers/nano|CONV2D/nano|mxu/nano", "--keep-bundles", bundles,
                                         "--junit", junit, status=7, npu=WRONG)
        failed = [case for case in document["results"] if case["outcome"] == "failed"]
        self.assertEqual((document["failed"], document["broken"]), (len(failed), 0))
        suites = {case["suite"] for case in failed}
        self.assertEqual(suites, {"network", "operator", "mxu"})
        root = xml.etree.ElementTree.parse(junit).getroot()
        self.assertEqual(int(root.get("failures")), len(failed))
        kept = [case["bundle"] for case in failed if case["bundle"]]
        self.assertEqual(sorted(kept), sorted(map(str, bundles.iterdir())))
        self.assertEqual({case["suite"] for case in failed if case["bundle"]}, suites)
        for bundle in kept:
            self.assertIn(f"npu replay {bundle}\n", result.stdout)
            again = subprocess.run([WRONG, "replay", bundle, "--no-waveform"], capture_output=True, text=True, timeout=60,
                                   check=False)
            self.assertEqual(again.returncode, 7, again.stderr)
            self.assertIn("every byte as recorded", again.stdout)
            self.good("replay", bundle, "--no-waveform")
        self.check_that_one_trial_fails_alone(next(case for case in failed if case["suite"] == "mxu"))
        trial = next(case for case in failed if case["suite"] == "mxu")
        self.assertRegex(trial["reason"], r"^trial \d+ of seed \d+, conv .*: \d+ of \d+ elements differ")
        self.assertNotIn("run it again with", result.stdout)

    def check_that_one_trial_fails_alone(self, case):
        """With the options that its failure names, and the same words."""
        options = re.search(r"; it runs alone with (--only .* --seed \d+ --trial (\d+))", case["reason"])
        document, _ = self.document(self.list(), *shlex.split(options[1]), status=7, npu=WRONG)
        self.assertEqual([one["trials"]["trials"] for one in document["results"]], [1])
        self.assertEqual(document["results"][0]["reason"], re.sub("; and [0-9]+ more$", "", case["reason"]))
        self.assertIn(f"trial {options[2]} of", case["reason"])

    def test_without_a_folder_for_bundles_none_is_left(self):
        path, json_file = self.list(), "cosim.json"
        before = [entry for entry in listing(self.dir) if entry[0] != json_file]
        document, _ = self.document(path, "--only", "mxu/nano", status=7, npu=WRONG)
        self.assertTrue(all(case["bundle"] == "" for case in document["results"]))
        self.assertEqual([entry for entry in listing(self.dir) if entry[0] != json_file], before)

    def test_what_a_signal_stops_leaves_nothing(self):
        text = "presets: [edge]\nseeds: [1]\ntrials:\n  - {block: mxu, count: 10000000}\n"
        path, temporary = self.list(text, "long.yaml"), self.dir / "temporary"
        temporary.mkdir()
        for number in (signal.SIGINT, signal.SIGTERM):
            # The folder for bundles is there once it runs.
            status, output = harness.stopped(number, self.dir / "kept", "cosim", path, "--json", self.dir / "stopped.json",
                                             "--junit", self.dir / "stopped.xml", "--keep-bundles", self.dir / "kept",
                                             env={"TMPDIR": str(temporary)})
            self.assertEqual(status, 128 + number, output)
            self.assertEqual(list(temporary.iterdir()), [])
            for name in ("stopped.json", "stopped.xml", "kept"):
                self.assertFalse((self.dir / name).exists(), name)


class Document(Regression):
    """docs/reference/cycle-accuracy.md is what --markdown writes, but for its numbers."""

    @staticmethod
    def form(text):
        """Headings, paragraphs and the titles of tables; of the tables of blocks also what they are about."""
        lines, kept = text.split("\n"), []
        for i, line in enumerate(lines):
            if not line.startswith("|") or (i + 1 < len(lines) and lines[i + 1].startswith("|--")):
                kept.append(re.sub(r"npu cosim .*", "npu cosim ...", line))
            elif re.match(r"\| (mxu|vpu|dma|scratchpad|persistent_sram) \|", line):
                kept.append(" ".join(line.split("|")[1:3]))
        return kept

    @staticmethod
    def rows(section):
        """Of the table in it, without the titles."""
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.split("\n") if line.startswith("| ")][1:]

    def test_the_document_has_this_form(self):
        written = self.dir / "written.md"
        self.document(self.list(SMALL.replace(", memory: ideal", "").replace("  - {name: not_here, optional: true}\n", "")),
                      "--markdown", written)
        here = DOCUMENT.read_text()
        self.assertIn(f"    npu cosim {self.dir}/list.yaml --markdown {written}\n", written.read_text())
        self.assertEqual(self.form(here), self.form(written.read_text()))
        self.assertIn("npu cosim tests/cases/calibration.yaml --networks DIR --markdown docs/reference/cycle-accuracy.md", here)
        self.assertNotIn("not complete", here)
        self.assertNotIn("not exact", here)

    def test_the_document_names_the_command_that_made_it(self):
        written = self.dir / "part.md"
        self.document(self.list(), "--preset", "nano", "--seed", "8", "--only", "trials/'?dma", "--shard", "1/2", "--networks",
                      self.dir, "--markdown", written)
        self.assertIn(f"    npu cosim {self.dir}/list.yaml --preset 'nano' --seed 8 --only 'trials/'\\''?dma' --shard 1/2 "
                      f"--networks DIR --markdown {written}\n", written.read_text())

    def test_reports_claim_what_the_document_found(self):
        report = self.dir / "report.json"
        self.good("run", self.dir / "two_layers.tosa", "--input", self.dir / "x.npy", "--json", report)
        worth = {one["part"]: one["worth"] for one in json.loads(report.read_text())["calibration"]}
        exact = [part for part in worth if worth[part] == "formula, exact on RTL of nano and edge"]
        self.assertEqual(exact, ["mxu", "vpu", "scratchpad"])  # the device uses what is compared
        document = {section.split("\n")[0]: section for section in DOCUMENT.read_text().split("\n## ")}
        rows = self.rows(document["Blocks with ideal memory"])
        self.assertEqual([row[0] for row in rows if row[1] == "nano"], ["mxu", "vpu", "dma", "scratchpad", "persistent_sram"])
        self.assertTrue(all(row[-1] == "exact" for row in rows))
        # What the page on reports says in numbers.
        page = (DOCUMENT.parent / "report.md").read_text().split("## How")[0]
        measured = {cell for row in self.rows(document["What the device makes of contention"]) for cell in row}
        self.assertEqual(set(re.findall(r"[+-][\d.]+ %", page)) - measured, set())
        for preset, rows_of_table, begin, declaration, *_ in self.rows(document["Operations on the variable table"]):
            self.assertIn(f"on {preset} (R = {rows_of_table}) {begin.split()[0]} and {declaration}", page)

    def test_the_lists_of_the_project_are_good(self):
        for path in sorted(CASES.glob("*.yaml")):
            smoke = path.name == "cosim-smoke.yaml"
            if not smoke and not any(NETWORKS.glob("*.tosa")):
                continue  # they need the wake words
            names = self.good("cosim", path, "--list", *(() if smoke else ("--networks", NETWORKS))).out.split()
            self.assertEqual(len(names), len(set(names)))
            print(f"{path.name}: {len(names)} cases")
            self.assertTrue(any(name.startswith("network/") for name in names))

    def test_the_smoke_list_has_all_of_its_networks(self):
        text = (CASES / "cosim-smoke.yaml").read_text()
        self.assertNotIn("optional:", text)
        # Elsewhere the network that it names is missing, which ends the command.
        self.bad(66, "cannot_read", "the network 'small_stream' is in none of the folders", "cosim",
                 self.list(text, "nowhere/smoke.yaml"))
        # It is what its source says.
        made = (self.dir / "small_stream.tosa").read_bytes()
        self.assertEqual((CASES / "small_stream.tosa").read_bytes(), made, "copy what make_networks writes to tests/cases")


if __name__ == "__main__":
    WRONG, NETWORKS, CASES, DOCUMENT = (Path(argument).resolve() for argument in sys.argv[3:7])
    sys.argv = sys.argv[:3]
    harness.main()
