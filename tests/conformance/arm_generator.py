#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes official conformance tests with Arm's generator, in few processes: an operator is a task.

    build/venv/bin/python3 tests/conformance/arm_generator.py FOLDER --jobs N --part K ARGUMENTS

ARGUMENTS are those of tosa_verif_conformance_generator. FOLDER gets `tests`, `listed` (the generator's list, a line
with folder and name for each test), `chosen` (those of the part), `finished` (the operators) and `generate.log`. With
--batches in place of all before ARGUMENTS it makes nothing, but prints as JSON how many batches each operator has.
tests/conformance/generate.py is the front.

Arm's code decides what is listed, and makes and writes every test. Four of its functions are replaced here:
- A batch of tests runs in a fork of this process, where everything is imported, and not in a new Python.
- Of the selected tests only the part is made. What is in a test depends on seed and name, not on its neighbours.
- Negative tests that the configuration names by sizes of the default seed are replaced for another one.
- A schema is checked once per process, and not again for each description that is held against it.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import importlib.metadata
import json
import multiprocessing
import os
import pickle
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

import conformance.tosa_verif_conformance_generator as suite
import generator.tosa_verif_build_tests as batch
import jsonschema
import schemavalidation.schemavalidation as schemas
from generator.tosa_test_select import TosaTestSelectList, TosaTestSelectOpList

PINNED = "2026.8.0"  # the replaced functions are those of this version
# Raise it with each change here that makes other tests, lists or parts: made tests are kept under a name with this number.
MADE_VERSION = 1
BATCH_PROGRAM = "tosa_verif_build_tests"
FORK = multiprocessing.get_context("fork")

original_select = TosaTestSelectList.select
original_init_select = TosaTestSelectOpList._init_select
original_run = suite._run_sh_command_mp


def stratum(test):
    """Positive tests are alike in operator, types and requirements, negative ones in operator and error."""
    if test.error:
        return test.op, test.error
    arguments = test.argsDict
    requirements = (tuple(sorted(arguments.get(key, ()))) for key in ("profiles_supported", "extensions_required"))
    return test.op, str(test.dtype), str(arguments.get("acc_type")), *requirements


def init_select(tests):
    """Arm's configuration names some of the negative tests, with sizes that only the default seed draws. For another seed,
    where Arm's code gives up, as many tests of the same kind of error take their place."""
    original_init_select(tests)
    if not tests.allowMissingErrorIfs:
        for error, names in tests.errorIfs.items():
            if tests.testsPerPermute.get(error) == []:
                tests.testsPerPermute[error] = [test for test in tests.tests if test.getKey() == error][: len(names)]


class Part:
    """About one in `step` of an operator's tests: of each stratum at least one, spread over it in the list's order."""

    def __init__(self, step):
        self.step = step
        self.listed = []
        self.chosen = {}
        self.sizes = collections.Counter()

    def choose(self, tests):
        """A test that an earlier batch lists too keeps its answer, and the later batch writes it again."""
        named = [(f"{test.opName}/{test}", test) for test in tests]
        for name, test in named:
            self.listed.append(name)
            if name not in self.chosen:
                key = stratum(test)
                self.chosen[name] = self.takes(self.sizes[key])
                self.sizes[key] += 1
        return [test for name, test in named if self.chosen[name]]

    def takes(self, index):
        """Of n tests max(1, n / step), rounded."""
        return index == 0 or (index >= self.step and (index - self.step // 2) % self.step == 0)

    def run(self, cwd, command):
        """In place of a new process for the command: its words, its status, what it printed."""
        if command[0] != BATCH_PROGRAM:
            return original_run(cwd, command)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as state:
            child = os.fork()
            if child == 0:
                os._exit(self.batch(cwd, command[1:], out, err, state))
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            for file in (out, err, state):
                file.seek(0)
            if status == 0:
                self.listed, self.chosen, self.sizes = pickle.load(state)
            return command, status, out.read().decode(errors="replace"), err.read().decode(errors="replace")

    def batch(self, cwd, arguments, out, err, state):
        """In the fork: what Arm's modules keep in variables of theirs ends with it."""
        try:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os.chdir(cwd)
            TosaTestSelectOpList._init_select = init_select
            TosaTestSelectList.select = lambda tests, *args, **kwargs: self.choose(original_select(tests, *args, **kwargs))
            status = batch.main(arguments)
            pickle.dump((self.listed, self.chosen, self.sizes), state)
            state.flush()
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        return status


checked_validators = {}


def validate(instance, schema, registry):
    """In place of jsonschema.validate, which checks the schema each time."""
    name = schema["$id"]
    if name not in checked_validators:
        kind = jsonschema.validators.validator_for(schema)
        kind.check_schema(schema)
        checked_validators[name] = kind(schema, registry=registry)
    error = jsonschema.exceptions.best_match(checked_validators[name].iter_errors(instance))
    if error is not None:
        raise error


def make_operator(folder, operator, step, arguments):
    """The operator's part. Runs in a worker, whose output is the log."""
    build = folder / "build" / operator
    part = Part(step)
    suite._run_sh_command_mp = part.run
    sys.argv = [suite.__file__, *arguments, "--operators", operator, "--jobs", "1", "--build-directory", str(build),
                "--output-directory", str(folder / "tests")]
    status = suite.main()
    shutil.rmtree(build, ignore_errors=True)
    if status != 0:
        raise RuntimeError(f"Arm's generator gives status {status} for {operator}")
    with (folder / "finished").open("a") as file:
        file.write(f"{operator}\n")
    return part


def batches_of(arguments):
    """How many batches there are for the profiles and extensions, by operator; the largest numbers first."""
    options = suite.parse_args(arguments)
    version = suite.tcv.get_matching_schema_version(options.tosa_version_str)
    _, config = suite._get_config(options.cts_config, options.cts_config_dir, version)
    asked = options.profile + options.extension
    batches = collections.Counter()
    for name, entry in config.items():
        if suite.in_version(version.version, entry):
            for kind, group in entry["generation"].items():
                needs = group.get("supports_any", []), group.get("supports_all", [])
                if any(suite.op_selected(name, *needs, one, [], asked, kind, group, version.version) for one in asked):
                    batches[name] += len(group["generator_args"])
    chosen = options.operators or batches
    return dict(sorted(((name, batches[name]) for name in chosen), key=lambda pair: (-pair[1], pair[0])))


def log_to(file):
    log = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)


def main():
    if sys.argv[1:2] == ["--batches"]:
        with contextlib.redirect_stdout(sys.stderr):
            batches = batches_of(sys.argv[2:])
        print(json.dumps(batches))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--part", type=int, required=True)
    options, arguments = parser.parse_known_args()
    version = importlib.metadata.version("tosa-tools")
    if version != PINNED:
        sys.exit(f"{Path(__file__).name} replaces functions of tosa-tools {PINNED}, and {version} is installed; "
                 "compare them and the tests, then change PINNED")
    folder = options.folder.resolve()
    operators = batches_of(arguments)  # those with most of them first, so that none runs alone at the end
    schemas.validate = validate
    with concurrent.futures.ProcessPoolExecutor(options.jobs, FORK, log_to, (folder / "generate.log",)) as pool:
        tasks = {name: pool.submit(make_operator, folder, name, options.part, arguments) for name in operators}
        parts = [tasks[name].result() for name in sorted(tasks)]
    write_lines(folder / "listed", [name for part in parts for name in part.listed])
    write_lines(folder / "chosen", [name for part in parts for name, chosen in part.chosen.items() if chosen])


def write_lines(file, lines):
    file.write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
