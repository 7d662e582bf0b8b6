#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes official TOSA conformance tests with their goldens, and prints the folder that holds them.

Arm's generator makes the tests, Arm's reference model the goldens (in its precise mode, as the official runner does).
Both come from the environment that `sim/setup.sh python` makes. What has been made stays in build/conformance, under a
name that says what it is; the same arguments find it again. All tests take some 37 GB; remove build/conformance to have
the space back. Exit status: 0, 64 for wrong options, 130 or 143 when stopped by a signal, 1 when there are no tests.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GENERATOR = HERE / "arm_generator.py"
TOSA_VERSION = "1.0.2"
DEFAULT_SEED = 42  # that of the official suite
MODEL_TIMEOUT = 600  # seconds for one golden
NEWS_EVERY = 10  # seconds between lines of progress
MAX_JOBS = 256  # as of `npu conformance`

# On the average of the whole suite.
TEST_BYTES = 2.65e6
TESTS_PER_BATCH = 22
LEAST_FREE = 50e6

PROFILES = {"int": ["tosa-pro-int"], "fp": ["tosa-pro-fp"], "all": ["tosa-pro-int", "tosa-pro-fp"]}
# The extensions of TOSA 1.0 with the profiles that they extend.
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
# Those of another version of which tests are made; the generator knows more. Of such a version only the operators are tested
# that the extensions add to it: the others are those of 1.0, or are not run here.
LATER_VERSIONS = {"1.1.0-draft": {"shape": ("int", "fp")}}


class GenerationError(Exception):
    """One sentence for the user."""

    status = 1


class SelectionError(GenerationError):
    """The user asks for tests that there cannot be."""

    status = 64


class Parser(argparse.ArgumentParser):
    """Takes no abbreviations, and answers a wrong command line with one sentence and status 64."""

    def __init__(self, **settings):
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings)

    def error(self, message):
        self.exit(64, f"{self.prog}: {message}; --help lists the options\n")


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

    def batches(self, selection, profile_arguments):
        """How many batches of tests the generator has for each operator with the profiles and extensions."""
        command = [self.python, GENERATOR, "--batches", "--tosa-version", selection.version, *profile_arguments]
        result = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise GenerationError(f"the official generator does not start: {result.stderr.strip().rpartition(chr(10))[2]}")
        return json.loads(result.stdout)

    def generate(self, selection, folder, batches):
        command = [self.python, GENERATOR, folder, "--jobs", selection.jobs, "--part", selection.part, "--tosa-version",
                   selection.version, "--seed", selection.seed, "--output-type", "binary", *selection.profile_arguments(),
                   "--operators", *sorted(batches)]
        log = folder / "generate.log"
        # The generator goes through sets; the order of what it lists, and with it the part, has to be the same each time.
        environment = {**self.environment, "PYTHONHASHSEED": "0"}
        with log.open("a") as file:
            process = subprocess.Popen(list(map(str, command)), env=environment, stdout=file, stderr=subprocess.STDOUT)
        status = None
        while status is None:
            try:
                status = process.wait(NEWS_EVERY)
            except subprocess.TimeoutExpired:
                say(f"generated: {count_lines(folder / 'finished')} of {len(batches)} operators")
        text = log.read_text(errors="replace")
        if os.strerror(errno.ENOSPC) in text:
            raise full_disk(folder)
        # It goes on after errors of single operators.
        if status != 0 or "ERROR" in text:
            last_line = text.strip().rpartition("\n")[2]
            raise GenerationError(f"the official generator failed, status {status}: {last_line}; see {log}")


def count_lines(file):
    return len(file.read_text().splitlines()) if file.is_file() else 0


def in_words(size):
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def full_disk(folder):
    return GenerationError(f"the disk of {folder} is full; make room and start again, or name another place with --cache")


def refuse_small_disk(folder, tests):
    """Before the work of hours."""
    need, free = tests * TEST_BYTES, shutil.disk_usage(folder).free
    if free < need + LEAST_FREE:
        raise GenerationError(f"about {tests:.0f} tests take about {in_words(need)}, and the disk of {folder} has "
                              f"{in_words(free)} left; make room, name another place with --cache, or take fewer with --part")


class Selection:
    """Which tests."""

    def __init__(self, arguments):
        self.profile, self.seed, self.part = arguments.profile, arguments.seed, arguments.part
        self.jobs, self.version = arguments.jobs, arguments.tosa_version
        self.operators = sorted({name.lower() for name in arguments.operators})
        sides = ("int", "fp") if self.profile == "all" else (self.profile,)
        extensions = LATER_VERSIONS.get(self.version, EXTENSIONS)
        fitting = [name for name, of in extensions.items() if set(of) & set(sides)]
        names = set(arguments.extension)
        if len(names) > 1 and names & {"all", "none"}:
            raise SelectionError("--extension takes all, none, or names")
        if "all" in names:
            self.extensions = fitting
        else:
            self.extensions = sorted(names - {"none"})
            for name in self.extensions:
                if name not in fitting:
                    raise SelectionError(f"profile {self.profile} of TOSA {self.version} has no extension {name} here; it has "
                                         f"{', '.join(fitting)}")
        if self.version in LATER_VERSIONS and not self.extensions:
            raise SelectionError(f"of TOSA {self.version} only tests of extensions are made; it has {', '.join(fitting)}")

    def profile_arguments(self, extensions=None):
        names = [f"tosa-ext-{name}" for name in (self.extensions if extensions is None else extensions)] or ["none"]
        return ["--profile", *PROFILES[self.profile], "--extension", *names]

    def generator_arguments(self):
        return [*self.profile_arguments(), *(["--operators", *self.operators] if self.operators else [])]

    def chosen_batches(self, tools):
        """By operator; every name that was given is there."""
        there = tools.batches(self, self.profile_arguments())
        if self.version in LATER_VERSIONS:
            others = tools.batches(self, self.profile_arguments([]))
            there = {name: count for name, count in there.items() if name not in others}
        unknown = [name for name in self.operators if name not in there]
        if unknown:
            raise SelectionError(f"the generator has no operator {', '.join(unknown)} with profile {self.profile} and these "
                                 f"extensions; it has {', '.join(sorted(there))}")
        return {name: there[name] for name in self.operators or there}

    def key(self, version):
        """Names of all that matters for the result, with a hash of it."""
        parts = [version, self.version, str(self.seed), str(self.part), *map(str, self.generator_arguments())]
        version = re.search(r"^MADE_VERSION = \d+", GENERATOR.read_text(), re.MULTILINE)[0]
        digest = hashlib.sha256("\0".join([*parts, version]).encode()).hexdigest()[:8]
        part = f"-part{self.part}" if self.part > 1 else ""
        of_version = f"{self.version}-" if self.version in LATER_VERSIONS else ""
        return f"{of_version}{self.profile}-seed{self.seed}{part}-{digest}"


def tests_below(folder):
    return sorted(path.parent for path in folder.rglob("desc.json"))


def named(test):
    """As in the generator's list: the operator's folder and the test."""
    return f"{test.parent.name}/{test.name}"


@contextlib.contextmanager
def locked(file):
    """One process at a time; the system takes the lock away when the process ends, however it ends."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another process makes the same tests; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def generate(tools, selection, cache):
    """The folder with `tests`, the generator's list `listed`, and `chosen`, what the part has of it."""
    folder = cache / selection.key(tools.version)
    if not folder.is_dir():
        batches = selection.chosen_batches(tools)
        partial = cache / f"{folder.name}.partial"
        if partial.exists():
            shutil.rmtree(partial)
        refuse_small_disk(cache, sum(batches.values()) * TESTS_PER_BATCH / selection.part)
        partial.mkdir(parents=True)
        say(f"generating {' '.join(selection.generator_arguments())} of TOSA {selection.version} with seed {selection.seed}")
        tools.generate(selection, partial, batches)
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
    scratch = test / "golden.partial"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    try:
        result = subprocess.run([tools.model, "--tosa_level", "EIGHTK", "--operator_fbs", tools.schema, "--test_desc",
                                 "desc.json", "--precise_mode=1", "--output_dir", scratch.name], cwd=test,
                                env=tools.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                timeout=MODEL_TIMEOUT, check=False)
        if shutil.disk_usage(test).free < LEAST_FREE:
            raise full_disk(test)
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
    tests = [test for test in tests_below(folder) if missing_golden(test)]
    refuse_small_disk(folder, len(tests))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = [pool.submit(make_golden, tools, test) for test in tests]
        try:
            while not all(task.done() for task in tasks):
                concurrent.futures.wait(tasks, NEWS_EVERY, concurrent.futures.FIRST_EXCEPTION)
                say(f"goldens: {sum(task.done() for task in tasks)} of {len(tests)} tests")
                for task in tasks:
                    if task.done():
                        task.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    problems = [task.result() for task in tasks if task.result()]
    for text in problems[:20]:
        say(f"no golden: {text}")
    if problems:
        say(f"{len(problems)} tests without a golden: npu conformance counts them as broken")


def parse(arguments):
    # run.sh hands its arguments on, and its name with them.
    parser = Parser(prog=os.environ.get("NPU_CONFORMANCE_PROGRAM"), description=__doc__)
    parser.add_argument("--profile", choices=PROFILES, default="all", help="int, fp, or all (default)")
    extensions = [*EXTENSIONS, *(name for names in LATER_VERSIONS.values() for name in names)]
    parser.add_argument("--tosa-version", choices=[TOSA_VERSION, *LATER_VERSIONS], default=TOSA_VERSION,
                        help=f"{TOSA_VERSION} (default), or 1.1.0-draft: the operators that its extensions add")
    parser.add_argument("--extension", nargs="+", choices=["all", "none", *extensions], default=["all"],
                        help="all (default: every extension of the version that fits the profile), none, or names")
    parser.add_argument("--operators", nargs="+", default=[], metavar="OP",
                        help="only these, in capitals or not")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help=f"of the generator, {DEFAULT_SEED} by default")
    parser.add_argument("--part", type=int, default=1, metavar="K",
                        help="about one test in K, at least one for each operator, combination of types and requirements, "
                             "and kind of error; 1 (default): all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--cache", type=Path, default=ROOT / "build/conformance", help="where tests are kept")
    parsed = parser.parse_args(arguments)
    if parsed.part < 1 or parsed.seed < 0 or not 1 <= parsed.jobs <= MAX_JOBS:
        parser.error(f"--part takes 1 or more, --seed 0 or more, --jobs 1 to {MAX_JOBS}")
    return parsed


def make(parsed):
    """Exit status; prints the folder with the tests."""
    try:
        selection, tools, cache = Selection(parsed), Tools(), parsed.cache.resolve()
        with locked(cache / f"{selection.key(tools.version)}.lock"):
            tests = generate(tools, selection, cache) / "tests"
            make_goldens(tools, tests, parsed.jobs)
    except GenerationError as error:
        say(error)
        return error.status
    except OSError as error:
        say(f"cannot use {error.filename or parsed.cache}: {error.strerror}; --cache names another place for the tests")
        return 1
    print(tests)
    return 0


def wait_for(child):
    """Its exit status. A signal to end ends the child's group, which is all that makes tests."""
    def stop(number, _):
        os.killpg(child, signal.SIGKILL)
        say(f"stopped by {signal.Signals(number).name}; the same command goes on with what is complete")
        os._exit(128 + number)

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        say(f"the process that makes the tests was ended by {signal.Signals(-status).name}")
    return status if status >= 0 else 1


def main(arguments):
    parsed = parse(arguments)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        return make(parsed)
    with contextlib.suppress(OSError):
        os.setpgid(child, child)  # the first of the two processes does it
    return wait_for(child)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
