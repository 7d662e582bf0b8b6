#!/usr/bin/env python3
"""Makes official TOSA conformance tests with their goldens, and prints the folder that holds them.

Arm's generator makes the tests, Arm's reference model the goldens (in its precise mode, as the official runner does).
Both come from the environment that `sim/setup.sh python` makes. What has been made stays in build/conformance, under a
name that says what it is; the same arguments find it again.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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
        self.generator = self.bin / "tosa_verif_conformance_generator"
        programs = sorted(self.bin.parent.glob("lib/python3*/site-packages/bin"))
        if not self.generator.is_file() or not programs:
            raise GenerationError(f"there are no tosa-tools in {self.bin}; run sim/setup.sh python")
        # The programs themselves: the scripts of the same names start Python first.
        self.model, self.schema = programs[0] / "tosa_reference_model", programs[0] / "tosa.fbs"
        infos = sorted(programs[0].parent.glob("tosa_tools-*.dist-info"))
        self.version = infos[0].name if infos else "unknown"
        self.environment = {**os.environ, "PATH": f"{self.bin}:{os.environ.get('PATH', '/usr/bin:/bin')}"}

    def generate(self, selection, arguments, log):
        command = [self.generator, "--tosa-version", TOSA_VERSION, "--seed", selection.seed, "--jobs", selection.jobs,
                   "--output-type", "binary", *selection.generator_arguments(), *arguments]
        with log.open("w") as file:
            status = subprocess.run(list(map(str, command)), env=self.environment, cwd=log.parent, stdout=file,
                                    stderr=subprocess.STDOUT, check=False).returncode
        # It goes on after errors of single operators.
        if status != 0 or "ERROR" in log.read_text(errors="replace"):
            raise GenerationError(f"the official generator failed, status {status}; see {log}")


class Selection:
    """Which tests."""

    def __init__(self, arguments):
        self.profile, self.seed, self.jobs = arguments.profile, arguments.seed, arguments.jobs
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
        parts = [version, TOSA_VERSION, str(self.seed), *map(str, self.generator_arguments())]
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]
        return f"{self.profile}-seed{self.seed}-{digest}"


def tests_below(folder):
    return sorted(path.parent for path in folder.rglob("desc.json"))


def generate(tools, selection, cache):
    """The folder with all tests of the selection, which has `listed`, the generator's list."""
    folder = cache / selection.key(tools.version)
    if not folder.is_dir():
        partial = cache / f"{folder.name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        say(f"generating {' '.join(selection.generator_arguments())} with seed {selection.seed}")
        tools.generate(selection, ["--list-tests-to-file", partial / "listed"], partial / "list.log")
        tools.generate(selection, ["--build-directory", partial / "build", "--output-directory", partial / "tests"],
                       partial / "generate.log")
        shutil.rmtree(partial / "build", ignore_errors=True)
        partial.rename(folder)
    listed = [line for line in (folder / "listed").read_text().splitlines() if line.strip()]
    generated = tests_below(folder / "tests")
    # Groups of an operator overlap: a test that several list is one folder.
    say(f"{len(generated)} tests generated; the generator lists {len(listed)}, {len(set(listed))} of them different; "
        f"in {folder}")
    if not generated:
        raise GenerationError(f"the generator made no test; see {folder}/generate.log")
    return folder


def stratum(test):
    """Tests that are alike: operator, types, extensions, and the kind of error that a negative test is about."""
    desc = json.loads((test / "desc.json").read_text())
    details = desc.get("test_details", {})
    return json.dumps([test.parent.name, details.get("operator"), details.get("accumulator_types"),
                       details.get("output_types"), desc.get("test_requirements"), details.get("ERRORIF")])


def take_sample(folder, per_stratum):
    """A tree with at most so many tests of each stratum, spread over it in the order of names; files are shared."""
    sample = folder / f"sample-{per_stratum}"
    if sample.is_dir():
        return sample
    strata = {}
    for test in tests_below(folder / "tests"):
        strata.setdefault(stratum(test), []).append(test)
    partial = folder / f"sample-{per_stratum}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    for tests in strata.values():
        count = min(per_stratum, len(tests))
        for test in {tests[i * len(tests) // count] for i in range(count)}:
            shutil.copytree(test, partial / test.relative_to(folder / "tests"), copy_function=os.link)
    partial.rename(sample)
    return sample


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
    parser.add_argument("--sample", type=int, default=0, metavar="K",
                        help="at most K tests of each operator, combination of types and kind of error; 0 (default): all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--cache", type=Path, default=ROOT / "build/conformance", help="where tests are kept")
    parsed = parser.parse_args(arguments)
    if parsed.sample < 0 or parsed.jobs < 1:
        parser.error("--sample and --jobs take positive numbers")
    return parsed


def main(arguments):
    parsed = parse(arguments)
    try:
        tools = Tools()
        folder = generate(tools, Selection(parsed), parsed.cache.resolve())
        tests = take_sample(folder, parsed.sample) if parsed.sample else folder / "tests"
        if parsed.sample:
            say(f"{len(tests_below(tests))} tests in the sample")
        make_goldens(tools, tests, parsed.jobs)
    except GenerationError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 1
    print(tests)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
