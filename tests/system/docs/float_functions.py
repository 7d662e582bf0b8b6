#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/float-functions.md: what functions of floating point take on the VPU, and how far their results are off.

    tests/system/docs/float_functions.py            # after a program of driver/compiler/lower/float_*.cpp changed
    tests/system/docs/float_functions.py --check    # fails when the document is not what it would write

The numbers are those of float_function_errors, a program of tests/unit/compiler.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = ROOT / "docs/reference/float-functions.md"
PROGRAM = ROOT / "build/release/tests/unit/compiler/float_function_errors"
ANEW = "tests/system/docs/float_functions.py"

# How each result comes about; the files beside the programs have the polynomials and their errors.
METHODS = {
    "COS": "the fraction of a turn, and an even polynomial",
    "ERF": "x times a polynomial of x² - h, up to where the result is 1",
    "EXP": "2^t by its whole and fractional part, and a polynomial",
    "LOG": "exponent and mantissa, and a polynomial",
    "POW": "2^(y * log2 x)",
    "RECIPROCAL": "a guess from the pattern, and steps of Newton and Halley",
    "RSQRT": "a guess by a polynomial, and Newton's steps",
    "SIGMOID": "E / (1 + E) for E = e^x",
    "SIN": "the fraction of a turn, and an odd polynomial",
    "TANH": "a quotient of an odd and an even polynomial, up to where the result is 1",
}


class Problem(Exception):
    """One sentence for the user."""


def errors_of(program):
    try:
        done = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=False, timeout=250)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Problem(f"cannot run {program}: build float_function_errors, or name it with --program") from error
    if done.returncode != 0:
        raise Problem(f"{program} ends with status {done.returncode}")
    return json.loads(done.stdout)


def number(value):
    """Three digits, as few as two of small numbers."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def percent(share):
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def render(errors):
    lines = [
        "# Functions of floating point",
        "",
        f"<!-- Written by {ANEW}; change that, or the programs in driver/compiler/lower/float_*.cpp. -->",
        "",
        "The VPU adds, multiplies and shifts exponents; the compiler makes the functions of TOSA of that, as micro-programs that compute in FP32.",
        "The results of fp16 and bf16 are rounded once more, at the end, and their programs are shorter. A program fits into one command, and",
        "into 8 registers, together with loads, a store and a rounding.",
        "",
        "- *micro-operations*: without loads and store. Each is one pass over the elements.",
        "- *registers*: of the whole program.",
        "- *compared*: the results that are compared with double precision of the same operands. Of fp16 and bf16 these are all operands, of fp32",
        "  every 2053rd pattern, and those around each power of two; a nightly test takes every 61st. POW has a grid of operands, and random ones",
        "  whose results are numbers.",
        "- *worst error*: in units of the last place of the exact result. SIN and COS: in units of the last place of 1, for angles up to a turn.",
        "  EXP, SIGMOID and POW lose bits as their exponents grow, which the bounds allow.",
        "- *of the bound*: the worst error as a share of what TOSA 1.0 allows there. It allows SIN and COS much, the more the larger the angle is.",
        "  In fp32 their programs take one number for a turn, so that they are wrong by some 10^-7 of the angle.",
        "",
        "Infinities, NaNs and zeros give what the specification wants, signs included, and subnormal numbers are not flushed. TANH, ERF and SIGMOID",
        "are never beyond 1.",
        "",
        "| operator | type | micro-operations | registers | compared | worst error, ulp | of the bound |",
        "|---|---|---|---|---|---|---|",
    ]
    last = None
    for row in errors:
        name = "" if row["operator"] == last else row["operator"]
        last = row["operator"]
        lines.append(f"| {name} | {row['type']} | {row['uops']} | {row['registers']} | {row['compared']:,} | {number(row['ulp'])} | "
                     f"{percent(row['share'])} |")
    lines += ["", "## How", "", "| operator | is |", "|---|---|"]
    lines += [f"| {name} | {METHODS[name]} |" for name in dict.fromkeys(row["operator"] for row in errors)]
    return "\n".join(lines) + "\n"


def first_difference(old, new):
    for was, now in zip([*old.splitlines(), None], [*new.splitlines(), None]):
        if was != now:
            return f"it has\n  {was}\nwhere it should have\n  {now}"
    return "its last line differs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=PROGRAM, help="float_function_errors, that of build/release by default")
    parser.add_argument("--check", action="store_true", help="write nothing, fail when the document is not up to date")
    arguments = parser.parse_args()
    try:
        text = render(errors_of(arguments.program.resolve()))
        if not arguments.check:
            DOCUMENT.write_text(text, encoding="utf-8")
            print(f"written: {DOCUMENT.relative_to(ROOT)}")
        elif DOCUMENT.read_text(encoding="utf-8") != text:
            raise Problem(f"{DOCUMENT.relative_to(ROOT)} is not up to date: {first_difference(DOCUMENT.read_text(encoding='utf-8'), text)}\n"
                          f"make it anew with {ANEW} --program {arguments.program}")
    except (Problem, OSError) as problem:
        print(f"float_functions.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
