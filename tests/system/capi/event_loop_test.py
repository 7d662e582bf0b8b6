#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""event_loop_test.py DRIVER MAKE_NETWORKS LIBNPU_SIM: a program hears of completions in every way that the guide shows, also of
jobs in which the faults that it asks the simulated device for have struck."""

import ctypes
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

PROBLEMS = []


def expect(condition: bool, what: str, text: str = "") -> None:
    if not condition:
        PROBLEMS.append(f"{what}\n{text}")


def run(driver: str, *arguments) -> subprocess.CompletedProcess:
    try:
        return subprocess.run([driver, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, -1, "", "did not come to an end")


def check_clean(driver: str, network: Path) -> None:
    looks = []
    for machine in ["edge", "nano", "edge"]:
        result = run(driver, network, machine)
        text = result.stdout + result.stderr
        expect(result.returncode == 0, f"{machine}: exit status {result.returncode}", text)
        expect("polling: ended, collected\n" in result.stdout, f"{machine}: the descriptor", text)
        expect("called: 3 jobs\n" in result.stdout, f"{machine}: the function", text)
        looks += [int(n) for n in re.findall(r"^looking: ended after (\d+) looks$", result.stdout, re.M)]
    expect(len(looks) == 3 and looks[0] == looks[2], f"looks: {looks}; the same run takes the same steps")
    expect(all(n < 100 for n in looks), f"looks: {looks}; each lets 10 us pass")


def check_faults(driver: str, network: Path) -> None:
    """Jobs are counted over the ways: waiting, looking, polling have one each, then come three of the function."""
    for fault, way, word, status in [
        ("hang vpu@0@job1", "waiting", "fault_timeout", 5),
        ("hang vpu@0@job2", "looking", "fault_timeout", 5),
        ("hang vpu@0@job3", "polling", "fault_timeout", 5),
        ("hang vpu@0@job5", "being called", "fault_timeout", 5),
        ("brown-out 2@job3", "polling", "fault_power", 6),  # and leaves a torn variable to the next job
    ]:
        result = run(driver, network, "nano", fault)
        expect(result.returncode == status, f"{fault}: exit status {result.returncode}", result.stderr)
        expect(re.search(rf"^{way}: .*\[{word}\]$", result.stderr, re.M) is not None, f"{fault}: {way}", result.stderr)
    result = run(driver, network, "nano", "drop-irq 1; drop-irq 1@job3")
    expect(result.returncode == 0, f"lost interrupts: exit status {result.returncode}", result.stderr)
    for fault, words in [
        ("hang mxa@40", ["'hang mxa@40'", "mxa", "for example: hang mxu@40"]),
        ("flip 0x40000000.3", ["beyond the persistent SRAM", "for example"]),
        ("", ["is none of hang, flip"]),
    ]:
        result = run(driver, network, "nano", fault)
        expect(result.returncode == 64, f"'{fault}': exit status {result.returncode}", result.stderr)
        expect(all(word in result.stderr for word in words), f"'{fault}': says too little", result.stderr)


def check_older_structure(library: str) -> None:
    """npu_sim_options of version 1.1 ends before `faults`: what lies behind it is not read, what it has is."""
    lib = ctypes.CDLL(library)
    lib.npu_error_message.restype = ctypes.c_char_p
    lib.npu_error_message.argtypes = [ctypes.c_void_p]

    def message(size: int) -> str:
        no_mode = 9
        options = struct.pack("=QQIIQ??HxxxxQQQQQ", size, 0, no_mode, 0, 0, False, False, 0, 0, 0, 0, 0, 0xbad)
        hal = struct.pack("=Q", 120) + bytes(112)
        error = ctypes.c_void_p()
        status = lib.npu_sim_open(options, ctypes.create_string_buffer(hal, 120), ctypes.byref(error))
        expect(status == 0x4001, f"size {size}: status {status:#x}")
        return lib.npu_error_message(error).decode()

    expect("mode is 9" in message(72), "a structure of version 1.1 is refused", message(72))
    expect("struct_size" in message(64), "half a structure is taken", message(64))


def main() -> int:
    driver, make_networks, library = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([make_networks, name], check=True)
        check_clean(driver, Path(name) / "running_sum.tosa")
        check_faults(driver, Path(name) / "running_sum.tosa")
    check_older_structure(library)
    for problem in PROBLEMS:
        print(problem)
    print(f"event_loop: {len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
