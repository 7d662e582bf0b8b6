#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the tests of the graph rules and of the reference: small mistakes are put into the sources, one at a time, and the
tests have to fail.

    tests/mutation/mutate.py [--seed N] [--count N] [--file GLOB...] [--only TEXT] [--list] [--jobs N] [--conformance DIR]
                             [--work DIR] [--json FILE]

Works on a copy of the sources in build/mutation; the working tree stays as it is. A mutant that does not compile does not
count. A mutant is killed when a unit test fails, crashes or takes too long, or, with --conformance, when `npu conformance` on
that folder of tests does. Survivors that change nothing that can be seen are explained in equivalent.json.

Exit status: 0; 7 when less than 95 % are killed or a survivor has no explanation; 64 for a wrong command line, also when it
leaves no mutant; 70 when the unchanged sources do not build or fail their tests.
"""

import argparse
import fnmatch
import json
import os
import queue
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
from mutants import KINDS, draw, mutants_of  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
EXPLANATIONS = Path(__file__).resolve().parent / "equivalent.json"
SOURCES = ["sim/reference/*.cpp", "sim/reference/*.h", "driver/graph/operators.cpp", "driver/graph/rules_*.cpp",
           "driver/graph/level.cpp", "driver/graph/float_format.h"]
# The room of a test first; the graph's sources are below the reference too.
PROGRAMS = {"graph_test": "tests/unit/graph/graph_test", "reference_test": "tests/unit/reference/reference_test"}
PROGRAMS_OF = {"driver/graph": ["graph_test", "reference_test"], "sim/reference": ["reference_test"]}
LEAST_KILLED = 0.95
BUILD_LIMIT = 1800  # seconds
UNIT_LIMIT = 120
CONFORMANCE_LIMIT = 1800
MEMORY_LIMIT = 8 << 30  # bytes; a mutant may ask for any amount


class UsageError(Exception):
    """One sentence for the user."""


class BaselineError(Exception):
    """The unchanged sources do not build or do not pass."""


def sources(patterns):
    """Repo-rooted names of the sources to change."""
    names = sorted({str(path.relative_to(ROOT)) for pattern in SOURCES for path in ROOT.glob(pattern)})
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            raise UsageError(f"--file: no source matches '{pattern}'; the sources are {', '.join(SOURCES)}")
    return [name for name in names if not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def all_mutants(names):
    return [mutant for name in names for mutant in mutants_of(name, (ROOT / name).read_text())]


def read_explanations():
    """Reason by mutant."""
    entries = json.loads(EXPLANATIONS.read_text())
    return {(entry["file"], entry["line"], entry["becomes"], entry.get("nth", 1)): entry["reason"] for entry in entries}


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Workshop:
    """A copy of the sources with a build folder of its own."""

    def __init__(self, folder, conformance):
        self.source, self.build, self.scratch = folder, folder / "build/mutant", folder / "build/scratch"
        self.conformance = conformance
        self.process = None
        # A cache of its own: workshops share what is equal, and the user's cache sees no mutant.
        self.environment = {**os.environ, "CCACHE_DIR": str(folder.parent / "ccache"), "CCACHE_MAXSIZE": "4G",
                            "GTEST_FAIL_FAST": "1", "GTEST_BRIEF": "1"}

    def run(self, command, limit, limit_process=None):
        """Exit status (None after the time limit) and output."""
        self.process = process = subprocess.Popen(
            list(map(str, command)), cwd=self.scratch, env=self.environment, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            preexec_fn=limit_process)
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            self.stop()
            process.communicate()
            return None, ""

    def stop(self):
        """Ends what runs, with its children."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def open(self, names, processes):
        """Copies the sources of today and builds them; they have to pass."""
        for old in self.source.glob("*"):
            if old.is_dir() and old.name != "build":
                shutil.rmtree(old)
        # Times are copied too, so that only what changed since the last run is compiled.
        shutil.copytree(ROOT, self.source, ignore=self.not_copied, dirs_exist_ok=True)
        self.scratch.mkdir(parents=True, exist_ok=True)
        for name in names:  # what the last run left may be the object of a mutant
            (self.source / name).touch()
        status, output = self.run(
            ["cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, "-DCMAKE_BUILD_TYPE=Release",
             "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "-DCMAKE_CXX_FLAGS=-w", "-DNPU_ZOO_DIR=",
             f"-DNPU_BUILD_SYSTEM={'ON' if self.conformance else 'OFF'}"], BUILD_LIMIT)
        if status != 0:
            raise BaselineError(f"cmake fails without a mutant:\n{output[-3000:]}")
        targets = [*PROGRAMS, *(["npu"] if self.conformance else [])]
        status, output = self.compile(*targets, processes=processes)
        if status != 0:
            raise BaselineError(f"the build fails without a mutant:\n{output[-3000:]}")
        verdict, killer = self.verdict(PROGRAMS)
        if verdict != "survived":
            raise BaselineError(f"the tests fail without a mutant: {killer}")

    def not_copied(self, directory, names):
        return {name for name in names
                if name in (".git", "build", "__pycache__") or Path(directory, name) == self.source.parent}

    def compile(self, *targets, processes=1):
        return self.run(["cmake", "--build", self.build, "--parallel", processes, "--target", *targets], BUILD_LIMIT)

    def verdict(self, programs):
        """'invalid', 'killed' or 'survived', and what killed."""
        for name in programs:
            status, _ = self.compile(name)
            if status != 0:
                return "invalid", ""
            if killer := self.unit_killer(name):
                return "killed", killer
        killer = self.conformance_killer() if self.conformance else ""
        return ("killed", killer) if killer else ("survived", "")

    def unit_killer(self, program):
        """The first test that fails, in words; empty when none does."""
        status, output = self.run([self.build / PROGRAMS[program]], UNIT_LIMIT, limit_memory)
        if status == 0:
            return ""
        failed = [line for line in output.splitlines() if "FAILED  ]" in line]
        text = failed[0].split("]", 1)[1].split(",")[0].split("(")[0].strip() if failed else program
        return text + (" (too slow)" if status is None else f" (signal {-status})" if status < 0 else "")

    def conformance_killer(self):
        """The first conformance test that does not pass, in words; empty when all do."""
        status, output = self.compile("npu")
        if status != 0:
            raise BaselineError(f"npu does not build although its tests do:\n{output[-3000:]}")
        report = self.scratch / "conformance.json"
        report.unlink(missing_ok=True)
        status, output = self.run([self.build / "npu", "conformance", self.conformance, "--json", report, "--quiet",
                                   "--jobs", 1], CONFORMANCE_LIMIT, limit_memory)
        if status == 0:
            return ""
        bad = [entry["name"] for entry in json.loads(report.read_text())["results"] if entry["outcome"] != "passed"] \
            if report.is_file() else []
        return f"conformance: {Path(bad[0]).name}, {len(bad)} in all" if bad else f"conformance: status {status}"

    def judge(self, mutant):
        """The verdict with the mutant in place."""
        file = self.source / mutant.file
        original = file.read_text()
        try:
            file.write_text(mutant.apply(original))
            return self.verdict(PROGRAMS_OF["/".join(mutant.file.split("/")[:2])])
        finally:
            file.write_text(original)


def judge_all(mutants, jobs, folder, conformance, names, progress):
    """The verdicts, in the order of the mutants."""
    waiting, verdicts, problems = queue.Queue(), [None] * len(mutants), []
    for item in enumerate(mutants):
        waiting.put(item)

    def work(workshop):
        try:
            while not problems:
                number, mutant = waiting.get_nowait()
                start = time.monotonic()
                verdicts[number] = workshop.judge(mutant)
                progress(mutant, *verdicts[number], time.monotonic() - start)
        except queue.Empty:
            pass
        except Exception as error:  # pylint: disable=broad-except
            problems.append(error)

    workshops = [Workshop(folder / f"job-{i}", conformance) for i in range(jobs)]
    threads = [threading.Thread(target=work, args=(workshop,), daemon=True) for workshop in workshops]
    try:
        # One after the other, so that the second one finds in the cache what the first one compiled.
        for number, (workshop, thread) in enumerate(zip(workshops, threads), 1):
            print(f"building the unchanged sources in {workshop.build} ({number} of {jobs}); they have to pass",
                  flush=True)
            workshop.open(names, jobs)
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for workshop in workshops:
            workshop.stop()
    if problems:
        raise problems[0]
    return verdicts


def describe(mutant):
    return f"{mutant.file}:{mutant.number} {mutant.kind}\n    {mutant.line}\n    {mutant.becomes}"


def summarize(mutants, verdicts, reasons):
    """The report's document."""
    results = []
    for mutant, (verdict, killer) in zip(mutants, verdicts):
        entry = {"file": mutant.file, "number": mutant.number, "kind": mutant.kind, "line": mutant.line,
                 "becomes": mutant.becomes, "nth": mutant.nth, "result": verdict}
        if killer:
            entry["killer"] = killer
        if mutant.key in reasons:
            entry["reason"] = reasons[mutant.key]
        results.append(entry)
    counted = [entry for entry in results if entry["result"] != "invalid"]
    killed = [entry for entry in counted if entry["result"] == "killed"]
    survivors = [entry for entry in counted if entry["result"] == "survived"]
    return {"schema": "npu-mutation", "schema_version": 1, "mutants": len(counted), "invalid": len(results) - len(counted),
            "killed": len(killed), "explained": sum("reason" in entry for entry in survivors),
            "unexplained": sum("reason" not in entry for entry in survivors), "results": results}


def print_summary(document):
    print(f"\n{'kind':12}{'mutants':>9}{'killed':>9}{'explained':>11}{'unexplained':>13}")
    counted = [entry for entry in document["results"] if entry["result"] != "invalid"]
    for kind in (*KINDS, "all"):
        mine = [entry for entry in counted if kind in ("all", entry["kind"])]
        survivors = [entry for entry in mine if entry["result"] == "survived"]
        explained = sum("reason" in entry for entry in survivors)
        print(f"{kind:12}{len(mine):9}{len(mine) - len(survivors):9}{explained:11}{len(survivors) - explained:13}")
    share = document["killed"] / max(document["mutants"], 1)
    print(f"{100 * share:.1f} % killed; {document['invalid']} more did not compile")
    for entry in counted:
        if entry["result"] == "killed" and "reason" in entry:
            print(f"explained although killed ({entry['killer']}): {entry['file']}:{entry['number']} {entry['becomes']}")
        elif entry["result"] == "survived" and "reason" not in entry:
            print(f"unexplained: {entry['file']}:{entry['number']} {entry['kind']}\n    {entry['line']}\n    {entry['becomes']}")
    return share


class Parser(argparse.ArgumentParser):
    """Reports errors as this script does, with its exit status."""

    def error(self, message):
        raise UsageError(f"{message}; see --help")


def parse(arguments):
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="chooses the mutants, 1 by default")
    parser.add_argument("--count", type=int, default=100, help="how many, 100 by default")
    parser.add_argument("--file", nargs="+", default=[], metavar="GLOB", help="only of these sources")
    parser.add_argument("--only", default="", metavar="TEXT", help="only mutants whose old or new line holds the text")
    parser.add_argument("--list", action="store_true", help="show the chosen mutants and end")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    parser.add_argument("--conformance", type=Path, metavar="DIR", help="conformance tests for what unit tests let live")
    parser.add_argument("--work", type=Path, default=ROOT / "build/mutation", metavar="DIR", help="folder of the copies")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the verdicts as JSON")
    parsed = parser.parse_args(arguments)
    if parsed.count < 1 or parsed.jobs < 1:
        raise UsageError("--count and --jobs take positive numbers")
    if parsed.conformance and not parsed.conformance.is_dir():
        raise UsageError(f"--conformance: there is no folder {parsed.conformance}")
    if parsed.json and (parsed.json.is_dir() or not os.access(parsed.json.resolve().parent, os.W_OK | os.X_OK)):
        raise UsageError(f"--json: {parsed.json} cannot be written: it is a folder, or there is no writable folder for it")
    return parsed


def main(arguments):
    parsed = parse(arguments)
    names = sources(parsed.file)
    candidates = all_mutants(names)
    explained = read_explanations()
    if not parsed.file and (stale := sorted(explained.keys() - {mutant.key for mutant in candidates})):
        print("equivalent.json explains mutants that no longer exist:", *stale, sep="\n  ", file=sys.stderr)
    matching = [mutant for mutant in candidates if parsed.only in mutant.line or parsed.only in mutant.becomes]
    if not matching:
        raise UsageError(f"no mutant of {len(names)} sources has '{parsed.only}' in its old or new line (--only)")
    mutants = draw(matching, parsed.seed, parsed.count)
    print(f"seed {parsed.seed}: {len(mutants)} of {len(candidates)} mutants of {len(names)} sources", flush=True)
    if parsed.list:
        print(*map(describe, mutants), sep="\n")
        return 0

    done = []

    def progress(mutant, verdict, killer, seconds):
        done.append(mutant)
        print(f"{len(done)}/{len(mutants)} {verdict} in {seconds:.0f} s: {mutant.file}:{mutant.number} {mutant.kind} "
              f"{killer or mutant.becomes}", flush=True)

    conformance = parsed.conformance.resolve() if parsed.conformance else None
    verdicts = judge_all(mutants, parsed.jobs, parsed.work.resolve(), conformance, names, progress)
    document = {"seed": parsed.seed, **summarize(mutants, verdicts, explained)}
    if parsed.json:
        partial = parsed.json.with_name(parsed.json.name + ".partial")
        partial.write_text(json.dumps(document, indent=2) + "\n")
        partial.replace(parsed.json)
    share = print_summary(document)
    return 7 if share < LEAST_KILLED or document["unexplained"] > 0 else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UsageError as problem:
        print(f"mutate.py: {problem}", file=sys.stderr)
        sys.exit(64)
    except BaselineError as problem:
        print(f"mutate.py: {problem}", file=sys.stderr)
        sys.exit(70)
