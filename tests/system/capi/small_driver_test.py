#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""small_driver_test.py DRIVER MAKE_NETWORKS: the guide's driver computes, reports and cancels as the guide says."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROBLEMS = []


def expect(condition: bool, what: str, text: str = "") -> None:
    if not condition:
        PROBLEMS.append(f"{what}\n{text}")


def run(driver: str, *arguments) -> subprocess.CompletedProcess:
    return subprocess.run([driver, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)


def running_sum() -> list:
    """What the network gives: it adds its input, here i, i + 1, i + 2, i + 3, to a state that starts at 1, 2, 3, 4."""
    state, outputs = [1, 2, 3, 4], []
    for invocation in range(4):  # three, then one after the cancelled job, which must have left no trace
        state = [s + invocation + k for k, s in enumerate(state)]
        outputs.append(state)
    return outputs


def check_run(result: subprocess.CompletedProcess) -> None:
    text = result.stdout + result.stderr
    expect(result.returncode == 0, f"exit status {result.returncode}", text)
    outputs = [[int(v) for v in line.split()] for line in re.findall(r"^  y INT8: ([-\d ]+)$", result.stdout, re.M)]
    expect(outputs == running_sum(), f"outputs are {outputs}, not {running_sum()}", text)
    times = re.findall(r"invocation \d: (\d+) cycles in the engines, (\d+) from doorbell", result.stdout)
    expect(len(times) == 4, f"{len(times)} invocations have times", text)
    expect(all(0 < int(cycles) < int(whole) for cycles, whole in times), f"times: {times}", text)
    expected = re.findall(r"^as expected: .* \[(\w+), (\w+)\]$", result.stderr, re.M)
    expect(expected == [("usage", "bad_input"), ("device_fault", "job_cancelled")], f"errors: {expected}", text)
    log = result.stdout.partition("firmware log:\n")[2]
    expect(len(log.splitlines()) > 0, "the firmware logged nothing", text)


def main() -> int:
    driver, make_networks = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([make_networks, name], check=True)
        first = run(driver, folder / "running_sum.tosa")
        check_run(first)
        again = run(driver, folder / "running_sum.tosa")
        expect((again.stdout, again.stderr) == (first.stdout, first.stderr), "two runs differ", again.stdout)
        check_run(run(driver, folder / "running_sum.tosa", "nano"))

        for arguments, status, word in [
            ([], 64, "usage:"),
            ([folder / "missing.tosa"], 66, "cannot_read"),
            ([folder / "floating_point.tosa", "nano"], 3, "unsupported"),
            ([folder / "wrong_shape.tosa"], 2, "illegal_graph"),
            ([folder / "many_variables.tosa"], 4, "variable_table_full"),
            ([folder / "large_state.tosa"], 0, "bad_input"),  # it lies in DRAM; what is expected is said there, too
            ([folder / "unwritten.tosa"], 1, "lost/state"),
            ([folder / "running_sum.tosa", "no_such_machine"], None, "cannot start"),
        ]:
            result = run(driver, *arguments)
            expect(result.returncode > 0 if status is None else result.returncode == status,
                   f"{arguments}: exit status {result.returncode}, not {status}", result.stderr)
            expect(word in result.stderr, f"{arguments}: does not say {word}", result.stderr)
    for problem in PROBLEMS:
        print(problem)
    print(f"small_driver: {len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
