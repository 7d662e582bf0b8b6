#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge finds what it is for: programs that answer in each wrong way."""

import re
import tempfile
import unittest
from pathlib import Path

import attacks
import judge

GOOD = "echo 'npu: error: cannot read x [cannot_read]' >&2; exit 66"


class Judge(unittest.TestCase):
    def complaints(self, script, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "npu"
            program.write_text(f"#!/bin/bash\n{script}\n")
            program.chmod(0o755)
            return judge.run(program, arguments or ["run"], folder).complaints

    def test_good_answers(self):
        for script in ("exit 0", GOOD, "echo a table", "echo 'npu: note: a thing' >&2", "echo 'invocation 2 of 9 (11 %), 3 a second' >&2"):
            self.assertEqual(self.complaints(script), [], script)

    def test_wrong_answers(self):
        for script, fragment in (
                ("kill -SEGV $$", "died of signal 11"), ("kill -ABRT $$", "died of signal 6"), ("exit 70", "status 70"),
                ("exit 139", "status 139"), ("exit 2", "0 sentences"), (GOOD.replace("exit", "echo 'npu: error: b [b]' >&2; exit"), "2 sentences"),
                ("echo 'npu: error: no code' >&2; exit 2", "1 sentences"), ("echo 'npu: error: a [b]' >&2", "an error and status 0"),
                ("echo 'terminate called' >&2", "says 'terminate called' beside"), ("printf '\\033[31m'", "the output has control"),
                ("printf '\\xff' >&2", "the error is no UTF-8")):
            found = self.complaints(script)
            self.assertTrue(any(fragment in complaint for complaint in found), (script, found))

    def test_the_page_has_a_row_for_each_attack(self):
        page = (Path(__file__).resolve().parents[2] / "docs/reference/robustness.md").read_text()
        for attack in attacks.ATTACKS:
            self.assertRegex(page, rf"\| {attack.name} \| {re.escape(attack.what)} \| .* \| [1-9][\d,]* \|")

    def test_only_values_of_run_time_excuse_a_file_that_info_calls_legal(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "npu"

            def excused(extensions, code):
                program.write_text(f"#!/bin/bash\necho 'npu: error: x [{code}]' >&2; exit 2\n")
                program.chmod(0o755)
                return attacks.legal_but_for_values({"extensions": extensions}, judge.run(program, ["run"], folder))

            self.assertTrue(excused(["EXT-DYNAMIC"], "bad_argument"))
            self.assertFalse(excused(["EXT-INT16"], "bad_argument"))
            self.assertFalse(excused(["EXT-DYNAMIC"], "bad_shape"))

    def test_time(self):
        before, judge.SECONDS = judge.SECONDS, 1
        try:
            self.assertIn("took more than 1 s", self.complaints("exec sleep 30"))
        finally:
            judge.SECONDS = before

    def test_memory(self):
        before, judge.MOST_BYTES = judge.MOST_BYTES, 100 << 20
        try:
            found = self.complaints("exec python3 -c 'bytearray(200 << 20)'")
            self.assertTrue(any("MiB" in complaint for complaint in found), found)
        finally:
            judge.MOST_BYTES = before


if __name__ == "__main__":
    unittest.main()
