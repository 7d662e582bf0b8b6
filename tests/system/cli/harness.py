# SPDX-License-Identifier: Apache-2.0
"""Runs the `npu` program on small networks; .npy files without NumPy."""

import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

NPU = ""
MAKER = ""
MAKER_OPTIONS = []  # behind the folder
# Nothing that these tests run takes a second; what hangs must not take the test's time limit.
TIMEOUT = 60
# Tools that have to be stopped sleep twice as long.
STOP_TIMEOUT = 15
# Exit statuses of docs/reference/npu.md; neither 70 (internal) nor a signal.
DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 7, 64, 66}

# NumPy's name of a type -> struct code.
CODES = {"|i1": "b", "|u1": "B", "<i2": "h", "<i4": "i", "<i8": "q", "<f4": "f", "|b1": "B", ">i4": ">i"}


def npy_bytes(descr, shape, values, fortran=False):
    """A version 1 .npy file."""
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)!r}, }}"
    header = text + " " * (-(len(text) + 11) % 64) + "\n"
    code = CODES[descr]
    order = "" if code.startswith(">") else "<"
    data = struct.pack(f"{order}{'' if order else '>'}{len(values)}{code[-1]}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def read_npy(path):
    """Type name, shape and values."""
    data = Path(path).read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + length])  # of our own making
    code = CODES[header["descr"]]
    values = struct.unpack(f"<{len(data[10 + length:]) // struct.calcsize('<' + code)}{code}", data[10 + length:])
    return header["descr"], header["shape"], list(values)


def run(*arguments, cwd=None, env=None, stdout=subprocess.PIPE, **process):
    """Runs npu; a crash or a hang is an exception. `process` goes to subprocess.run."""
    result = subprocess.run([NPU, *map(str, arguments)], stdout=stdout, stderr=subprocess.PIPE, cwd=cwd,
                            env={**os.environ, **(env or {})}, timeout=TIMEOUT, check=False, **process)
    result.err = result.stderr.decode(errors="replace")
    result.out = result.stdout.decode(errors="replace") if result.stdout is not None else ""
    if result.returncode < 0 or result.returncode in (70, 134, 139):
        raise AssertionError(f"npu {' '.join(map(str, arguments))} crashed: {result.returncode}\n{result.err}")
    return result


def stopped(number, started, *arguments, env=None):
    """Runs npu, sends the signal once the file `started` is there, and returns the exit status and what npu said. What it
    started has to end too: a child holds a pipe that npu reads to its end."""
    process = subprocess.Popen([NPU, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env={**os.environ, **(env or {})},
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # ignored in the background
    end = time.monotonic() + TIMEOUT
    while not started.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(number)
    output, _ = process.communicate(timeout=STOP_TIMEOUT)
    return process.returncode, output


def listing(folder):
    """Every path below a folder with its size."""
    return sorted((str(p.relative_to(folder)), p.stat().st_size if p.is_file() else -1) for p in Path(folder).rglob("*"))


class NpuTest(unittest.TestCase):
    """Has the networks and some data in self.dir; leaves nothing."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="npu-cli-")
        cls.dir = Path(cls.scratch.name)
        subprocess.run([MAKER, cls.dir, *MAKER_OPTIONS], check=True)
        cls.save("x.npy", "|i1", (1, 8, 8, 4), [(i * 37 + 11) % 251 - 125 for i in range(256)])
        cls.save("frames.npy", "|i1", (5, 1, 4), [i % 7 - 3 for i in range(20)])
        cls.save("frame.npy", "|i1", (1, 4), [1, -2, 3, -4])
        cls.save("left.npy", "<i4", (2, 3), [1, -2, 3, 2**31 - 2, 5, 6])
        cls.save("right.npy", "<i4", (2, 3), [10, 20, 30, 1, 50, 60])

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def save(cls, name, descr, shape, values):
        path = cls.dir / name
        path.write_bytes(npy_bytes(descr, shape, values))
        return path

    def good(self, *arguments, **options):
        result = run(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.err)
        return result

    def bad(self, status, code, fragment, *arguments, **options):
        """Fails with this status and one sentence that holds the fragment and ends with the code."""
        result = run(*arguments, **options)
        shown = f"npu {' '.join(map(str, arguments))}\n{result.err}"
        self.assertEqual(result.returncode, status, shown)
        lines = result.err.strip().split("\n")
        self.assertEqual(len(lines), 1, shown)
        self.assertTrue(lines[0].startswith("npu: error: "), shown)
        self.assertTrue(lines[0].endswith(f" [{code}]"), shown)
        self.assertIn(fragment, lines[0])
        return result


def main():
    global NPU, MAKER
    NPU, MAKER = sys.argv[1:3]
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
