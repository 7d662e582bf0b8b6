#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of mutants.py make what they should, and leave alone what means nothing: usage rules_test.py."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from mutants import KINDS, code_only, draw, mutants_of  # noqa: E402
from mutate import ROOT, all_mutants, sources  # noqa: E402

SOURCE = """// a < b, here
int f(int a, int b) {
  if (a < b && b > 3) {
    fail(fmt::format("a + {}", b - 1));
  }
  const char* text = "a < b";
  out[i] = std::nearbyint(a) + b;
  call.store(a);
  return a;
}
"""


def changes(source, file="some.cpp"):
    return {(m.kind, m.line, m.becomes) for m in mutants_of(file, source)}


class Rules(unittest.TestCase):
    def test_make_each_kind(self):
        condition = "if (a < b && b > 3) {"
        for kind, line, becomes in [
                ("comparison", condition, "if (a <= b && b > 3) {"),
                ("comparison", condition, "if (a < b && b >= 3) {"),
                ("bound", condition, "if (a < b && b > 4) {"),
                ("bound", condition, "if (a < b && b > 2) {"),
                ("condition", condition, "if (a < b || b > 3) {"),
                ("removed", condition, "if (false) {"),
                ("removed", condition, "if (true) {"),
                ("index", "out[i] = std::nearbyint(a) + b;", "out[i + 1] = std::nearbyint(a) + b;"),
                ("rounding", "out[i] = std::nearbyint(a) + b;", "out[i] = std::trunc(a) + b;"),
                ("sign", "out[i] = std::nearbyint(a) + b;", "out[i] = std::nearbyint(a) - b;"),
                ("removed", "call.store(a);", "if (false) call.store(a);")]:
            self.assertIn((kind, line, becomes), changes(SOURCE))

    def test_make_rows_of_the_table(self):
        row = "{{kI8, kNo, kI16}, kProInt}, {{kF16}, kProFp},"
        made = {becomes for _, _, becomes in changes(row + "\nconstexpr bool in_order\n", "driver/graph/operators.cpp")}
        for becomes in ["{{kF16}, kProFp},", "{{kI16, kNo, kI16}, kProInt}, {{kF16}, kProFp},",
                        "{{kI8, kNo, kI16}, kProFp}, {{kF16}, kProFp},"]:
            self.assertIn(becomes, made)

    def test_leave_comments_strings_and_messages(self):
        for _, line, becomes in changes(SOURCE):
            self.assertNotIn("here", line)
            self.assertTrue(becomes.count('"a < b"') == line.count('"a < b"') and becomes.count("b - 1") == line.count("b - 1"))

    def test_keep_columns(self):
        code = code_only(SOURCE)
        self.assertEqual([len(line) for line in code.split("\n")], [len(line) for line in SOURCE.split("\n")])

    def test_change_one_line(self):
        for mutant in mutants_of("some.cpp", SOURCE):
            before, after = SOURCE.split("\n"), mutant.apply(SOURCE).split("\n")
            self.assertEqual([i + 1 for i in range(len(before)) if before[i] != after[i]], [mutant.number])


class Choice(unittest.TestCase):
    def setUp(self):
        self.mutants = all_mutants(sources([]))

    def test_has_all_kinds_and_every_name_once(self):
        self.assertEqual({mutant.kind for mutant in draw(self.mutants, 1, 100)}, set(KINDS))
        self.assertEqual(len({mutant.key for mutant in self.mutants}), len(self.mutants))

    def test_follows_from_the_seed(self):
        first = draw(self.mutants, 1, 50)
        self.assertEqual(first, draw(list(reversed(self.mutants)), 1, 50))
        self.assertEqual(first, draw(self.mutants, 1, 90)[:50])
        self.assertNotEqual(first, draw(self.mutants, 2, 50))

    def test_stays_where_another_line_changes(self):
        name = sources([])[0]
        text = "int more = 1;\n" + (ROOT / name).read_text()
        others = [m for m in self.mutants if m.file != name]
        before = {m.key for m in draw(self.mutants, 1, 90)}
        after = {m.key for m in draw([*others, *mutants_of(name, text)], 1, 90)}
        self.assertLessEqual(len(after - before), 2)


if __name__ == "__main__":
    unittest.main()
