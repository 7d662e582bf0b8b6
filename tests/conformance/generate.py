#!/usr/bin/env python3
"""Makes official TOSA conformance tests with their goldens, and prints the folder that holds them.

Arm's generator makes the tests, Arm's reference model the goldens (in its precise mode, as the official runner does).
Both come from the environment that `sim/setup.sh python` makes. What has been made stays in build/conformance, under a
name that says what it is; the same arguments find it again.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GENERATOR = HERE / "arm_generator.py"
TOSA_VERSION = "1.0.2"
DEFAULT_SEED = 42  # that of the official suite
MODEL_TIMEOUT = 600  # seconds for one golden

PROFILES = {"int": ["tosa-pro-int"], "fp": ["tosa-pro-fp"], "all": ["tosa-pro-int", "tosa-pro-fp"]}
# The extensions of TOSA 1.0 with the profiles that they extend. The generator also knows those of TOSA 1.1.
EXTENSIONS = {
    "bf16": ("fp",),
    "controlflow": ("int", "fp"),
    "doubleround": ("int",),
    "dynamic": ("int", "fp"),
    "fft": ("fp",),
    "fp8e4m3": ("fp",),
    "fp8e5m2": ("fp",),
    "inexactround": ("int",),
    "int16": ("int",),
    "int4": ("int",),
    "variable": ("int", "fp"),
}


class GenerationError(Exception):
    """One sentence for the user."""


def say(text):
    print(f"conformance: {text}", file=sys.stderr, flush=True)


class Tools:
    """Arm's programs, and the environment in which they find each other."""

    def __init__(self):
        self.bin = Path(os.environ.get("NPU_PYTHON_TOOLS", ROOT / "build/venv/bin"))
        self.python = self.bin / "python3"
        programs = sorted(self.bin.parent.glob("lib/python3*/site-packages/bin"))
        if not self.python.is_file() or not programs:
            raise GenerationError(f"there are no tosa-tools in {self.bin}; run sim/setup.sh python")
        # The programs themselves: the scripts of the same names start Python first.
        self.model, self.schema = programs[0] / "tosa_reference_model", programs[0] / "tosa.fbs"
        infos = sorted(programs[0].parent.glob("tosa_tools-*.dist-info"))
        self.version = infos[0].name if infos else "unknown"
        self.environment = {**os.environ, "PATH": f"{self.bin}:{os.environ.get('PATH', '/usr/bin:/bin')}"}

    def generate(self, selection, folder):
        command = [self.python, GENERATOR, folder, "--jobs", selection.jobs, "--part", selection.part, "--tosa-version",
                   TOSA_VERSION, "--seed", selection.seed, "--output-type", "binary", *selection.generator_arguments()]
        log = folder / "generate.log"
        # The generator goes through sets; the order of what it lists, and with it the part, has to be the same each time.
        environment = {**self.environment, "PYTHONHASHSEED": "0"}
        with log.open("a") as file:
            status = subprocess.run(list(map(str, command)), env=environment, stdout=file, stderr=subprocess.STDOUT,
                                    check=False).returncode
        text = log.read_text(errors="replace")
        # It goes on after errors of single operators.
        if status != 0 or "ERROR" in text:
            last_line = text.strip().rpartition("\n")[2]
            raise GenerationError(f"the official generator failed, status {status}: {last_line}; see {log}")


class Selection:
    """Which tests."""

    def __init__(self, arguments):
        self.profile, self.seed, self.part = arguments.profile, arguments.seed, arguments.part
        self.jobs = arguments.jobs
        self.operators = sorted(set(arguments.operators))
        sides = ("int", "fp") if self.profile == "all" else (self.profile,)
        fitting = [name for name, of in EXTENSIONS.items() if set(of) & set(sides)]
        names = set(arguments.extension)
        if "all" in names:
            self.extensions = fitting
        else:
            self.extensions = sorted(names - {"none"})
            for name in self.extensions:
                if name not in fitting:
                    raise GenerationError(f"profile {self.profile} has no extension {name}; it has {', '.join(fitting)}")

    def generator_arguments(self):
        extensions = [f"tosa-ext-{name}" for name in self.extensions] or ["none"]
        operators = ["--operators", *self.operators] if self.operators else []
        return ["--profile", *PROFILES[self.profile], "--extension", *extensions, *operators]

    def key(self, version):
        """Names of all that matters for the result, with a hash of it."""
        parts = [version, TOSA_VERSION, str(self.seed), str(self.part), *map(str, self.generator_arguments())]
        digest = hashlib.sha256("\0".join(parts).encode() + GENERATOR.read_bytes()).hexdigest()[:8]
        part = f"-part{self.part}" if self.part > 1 else ""
        return f"{self.profile}-seed{self.seed}{part}-{digest}"


def tests_below(folder):
    return sorted(path.parent for path in folder.rglob("desc.json"))


def named(test):
    """As in the generator's list: the operator's folder and the test."""
    return f"{test.parent.name}/{test.name}"


def generate(tools, selection, cache):
    """The folder with `tests`, the generator's list `listed`, and `chosen`, what the part has of it."""
    folder = cache / selection.key(tools.version)
    if not folder.is_dir():
        partial = cache / f"{folder.name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        say(f"generating {' '.join(selection.generator_arguments())} with seed {selection.seed}")
        tools.generate(selection, partial)
        compare_with_lists(partial)
        partial.rename(folder)
    report(folder)
    return folder


def compare_with_lists(folder):
    """Nothing may be left out silently."""
    chosen = set((folder / "chosen").read_text().split())
    made = {named(test) for test in tests_below(folder / "tests")}
    if not made:
        raise GenerationError(f"the generator lists no test for these arguments; see {folder}/generate.log")
    if chosen != made:
        names = sorted(chosen ^ made)
        raise GenerationError(f"{len(chosen)} tests were to be made, and {len(made)} are there; see {folder}/generate.log. "
                              f"The difference: {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}")


def report(folder):
    """Counts of the generator's list and of what was made of it, per operator; the sizes of kernels count as one."""
    listed = collections.Counter((folder / "listed").read_text().split())
    made = [named(test) for test in tests_below(folder / "tests")]
    rows = collections.defaultdict(lambda: [0, 0])
    for column, names in enumerate((listed, made)):
        for name in names:
            rows[re.sub(r"_\d+x\d+(x\d+)?$", "", name.split("/")[0])][column] += 1
    say(f"{'operator':24}{'listed':>8}{'made':>8}")
    for operator, counts in sorted(rows.items()):
        say(f"{operator:24}{counts[0]:8}{counts[1]:8}")
    say(f"{f'all {len(rows)}':24}{len(listed):8}{len(made):8}")
    # Groups of an operator overlap: a test that several list is one folder.
    twice = sorted(name for name, count in listed.items() if count > 1)
    if twice:
        say(f"the generator lists {listed.total()}, since these come more than once: {', '.join(twice)}")
    say(f"they are in {folder}/tests")


def missing_golden(test):
    """The descriptor's output files, where the test needs goldens and has none."""
    desc = json.loads((test / "desc.json").read_text())
    if desc.get("expected_failure", False):
        return []
    files = list(desc["ofm_file"])
    if desc.get("test_requirements", {}).get("bounds_file_required", False):
        files += [f"bounds_{name}" for name in files]
    return files if any(not (test / name).is_file() for name in files) else []


def make_golden(tools, test):
    """Returns why there is none, or an empty text."""
    files = missing_golden(test)
    if not files:
        return ""
    scratch = test / "golden.partial"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    try:
        result = subprocess.run([tools.model, "--tosa_level", "EIGHTK", "--operator_fbs", tools.schema, "--test_desc",
                                 "desc.json", "--precise_mode=1", "--output_dir", scratch.name], cwd=test,
                                env=tools.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                timeout=MODEL_TIMEOUT, check=False)
        if result.returncode != 0:
            return f"{test.name}: the official model gives status {result.returncode}"
        for name in files:
            if not (scratch / name).is_file():
                return f"{test.name}: the official model writes no {name}"
            (scratch / name).replace(test / name)
        return ""
    except subprocess.TimeoutExpired:
        return f"{test.name}: the official model takes more than {MODEL_TIMEOUT} s"
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def make_goldens(tools, folder, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        problems = [text for text in pool.map(lambda test: make_golden(tools, test), tests_below(folder)) if text]
    for text in problems[:20]:
        say(f"no golden: {text}")
    if problems:
        say(f"{len(problems)} tests without a golden: npu conformance counts them as broken")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", choices=PROFILES, default="all", help="int, fp, or all (default)")
    parser.add_argument("--extension", nargs="+", choices=["all", "none", *EXTENSIONS], default=["all"],
                        help="all (default: every extension of TOSA 1.0 that fits the profile), none, or names")
    parser.add_argument("--operators", nargs="+", default=[], metavar="OP", help="only these, as the generator names them")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help=f"of the generator, {DEFAULT_SEED} by default")
    parser.add_argument("--part", type=int, default=1, metavar="K",
                        help="about one test in K, at least one for each operator, combination of types and requirements, "
                             "and kind of error; 1 (default): all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--cache", type=Path, default=ROOT / "build/conformance", help="where tests are kept")
    parsed = parser.parse_args(arguments)
    if parsed.part < 1 or parsed.jobs < 1:
        parser.error("--part and --jobs take positive numbers")
    return parsed


def main(arguments):
    parsed = parse(arguments)
    try:
        tools = Tools()
        folder = generate(tools, Selection(parsed), parsed.cache.resolve())
        tests = folder / "tests"
        make_goldens(tools, tests, parsed.jobs)
    except GenerationError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 1
    print(tests)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
