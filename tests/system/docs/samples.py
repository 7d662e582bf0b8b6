#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the sample outputs in README and docs are what the programs print, or writes them anew.

    tests/system/docs/samples.py              fails, and shows the first line that differs
    tests/system/docs/samples.py --write      writes the samples into the documents

A sample is a code block behind a line `<!-- sample: NAME -->`. The samples are made from the wake word okay_nabu, which the
Python environment has (sim/setup.sh python). Exit status 0 when all are current, 1 when one is not, 77 when the environment is
missing (1 with NPU_REQUIRE_NETWORKS set).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
NETWORK = "okay_nabu.tosa"
FRAMES = ROOT / "sim/demo/data/okay_nabu_frames.npy"
BLOCK = re.compile(r"(^<!-- sample: ([a-z-]+) -->\n```\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)
TIMEOUT = 120
HEAD_ROWS, TAIL_ROWS = 7, 5  # of the table of layers
GDB_COMMANDS = ["break npu_dispatch", "continue", "print task->job.command_words"]


class Problem(Exception):
    """Why a sample cannot be made or is not current, as a sentence."""


class Samples:
    """The text of each sample; the commands run in a folder that has the network and the frames."""

    def __init__(self, npu, python, folder):
        self.npu, self.python, self.folder = npu, python, folder
        self.report = None

    def call(self, *command, stream="stdout"):
        done = subprocess.run(list(map(str, command)), cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        if done.returncode != 0:
            raise Problem(f"{' '.join(map(str, command))} ends with status {done.returncode}: {done.stderr.strip()}")
        return getattr(done, stream)

    def run_command(self, *options, stream="stdout"):
        return self.call(self.npu, "run", NETWORK, "--input", "frames.npy", "--sequence", "--quiet", *options, stream=stream)

    def report_lines(self):
        if self.report is None:
            self.report = self.run_command("--check", "reference", "--outputs", ".").splitlines()
        return self.report

    def info(self):
        return self.call(self.npu, "info", NETWORK)

    def run(self):
        """The report without the rows in the middle."""
        lines = self.report_lines()
        first = next((i + 1 for i, line in enumerate(lines) if re.fullmatch(r"-+( +-+)+", line)), None)
        if first is None:
            raise Problem("npu run prints no table of layers")
        end = next((i for i in range(first, len(lines)) if not lines[i].strip()), len(lines))
        left_out = end - first - HEAD_ROWS - TAIL_ROWS
        if left_out > 0:
            lines = [*lines[:first + HEAD_ROWS], f"   ... {left_out} more layers ...", *lines[end - TAIL_ROWS:]]
        return "\n".join(lines) + "\n"

    def chart(self):
        """What the network heard, without the sentence about TensorFlow Lite, whose kernels depend on the processor."""
        self.report_lines()
        text = self.call(self.python, ROOT / "sim/demo/show.py", "--model", "okay_nabu", "--frames", FRAMES, "--device",
                         "TosaOutput_0.npy", "--svg", "probability.svg")
        return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("TensorFlow Lite"))

    def state(self):
        """The report's first lines about state."""
        lines = self.report_lines()
        first = next((i for i, line in enumerate(lines) if line.startswith("state ")), None)
        if first is None:
            raise Problem("npu run prints no line about state")
        end = next((i for i in range(first + 1, len(lines)) if not lines[i].startswith(" ")), len(lines))
        block = lines[first:end]
        return "\n".join([f"$ npu run {NETWORK} --input frames.npy --sequence", "...", *block[:4], *["   ..."] * (len(block) > 4)]) + "\n"

    def firmware_log(self):
        """The first lines of the log, and those of the first job."""
        lines = self.run_command("--firmware-log", "--invocations", "1", stream="stderr").splitlines()
        job = next((i for i, line in enumerate(lines) if line.endswith("accepted")), None)
        if job is None or job < 4:
            raise Problem("the firmware's log tells of no job")
        return "\n".join([*lines[:3], "   ... the six variables are set up ...", *lines[job:job + 2]]) + "\n"

    def gdb(self):
        """A debugger that stops where the first job is dispatched; None where there is no debugger."""
        gdb = shutil.which("gdb-multiarch")
        if gdb is None:
            return None
        npu = subprocess.Popen([self.npu, "run", NETWORK, "--input", "frames.npy", "--sequence", "--quiet", "--gdb", "1"], cwd=self.folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            line = npu.stderr.readline()
            match = re.search(r"gdb-multiarch (\S+).* -ex '(target remote :\d+)'", line)
            if not match:
                raise Problem(f"npu run --gdb prints '{line.strip()}', which names no debugger")
            commands = [match[2], *GDB_COMMANDS]
            text = self.call(gdb, "-batch", "-nx", match[1], "-ex", f"directory {ROOT}", *(part for c in commands for part in ("-ex", c)))
        finally:
            npu.kill()
            npu.communicate()
        shown = " ".join(f"-ex '{command}'" for command in ["target remote :1234", *GDB_COMMANDS])
        kept = [line for line in text.splitlines() if line.startswith(("Breakpoint 1,", "$1"))]
        return "\n".join([f"$ gdb-multiarch npu_firmware.elf {shown}", *kept]) + "\n"


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def first_difference(old, new):
    for was, now in zip([*old.splitlines(), None], [*new.splitlines(), None]):
        if was != now:
            return f"it has\n  {was}\nwhere the program prints\n  {now}"
    return "its last line differs"


def check(samples, write):
    """Numbers of samples that were compared, and of those that could not be made."""
    texts, compared, skipped = {}, 0, 0
    for document in documents():
        old = document.read_text(encoding="utf-8")
        new = old
        for match in BLOCK.finditer(old):
            name = match[2]
            if name not in texts:
                make = getattr(samples, name.replace("-", "_"), None)
                if name.startswith("call") or make is None:
                    raise Problem(f"{document.relative_to(ROOT)} wants a sample '{name}', which samples.py cannot make")
                text = make()
                texts[name] = text and re.sub(r" +$", "", text, flags=re.MULTILINE)
            if texts[name] is None:
                skipped += 1
                continue
            compared += 1
            if match[3] != texts[name] and not write:
                raise Problem(f"{document.relative_to(ROOT)}: the sample '{name}' is not current: {first_difference(match[3], texts[name])}\n"
                              "tests/system/docs/samples.py --write writes it anew")
            new = new.replace(match[0], match[1] + texts[name] + match[4])
        if new != old:
            document.write_text(new, encoding="utf-8")
            print(f"written: {document.relative_to(ROOT)}")
    if compared == 0:
        raise Problem("found no samples in README and docs")
    return compared, skipped


def prepare(npu, folder):
    """Imports the network into the folder; False when the Python environment is missing."""
    models = next((ROOT / "build/venv/lib").glob("python3*/site-packages/pymicro_wakeword/models"), None)
    if models is None:
        return False
    shutil.copy(FRAMES, folder / "frames.npy")
    done = subprocess.run([npu, "import", models / "okay_nabu.tflite", "-o", folder / NETWORK], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Problem(f"npu import ends with status {done.returncode}: {done.stderr.strip()}")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--npu", type=Path, default=ROOT / "build/release/npu", help="the program, build/release/npu by default")
    parser.add_argument("--write", action="store_true", help="write the samples into the documents")
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as name:
            if not prepare(arguments.npu.resolve(), Path(name)):
                print("samples.py: no Python environment in build/venv: run sim/setup.sh python")
                return 1 if os.environ.get("NPU_REQUIRE_NETWORKS") else 77
            samples = Samples(arguments.npu.resolve(), ROOT / "build/venv/bin/python", Path(name))
            compared, skipped = check(samples, arguments.write)
    except (Problem, OSError, subprocess.TimeoutExpired) as problem:
        print(f"samples.py: {problem}", file=sys.stderr)
        return 1
    left = f"; {skipped} not compared, as gdb-multiarch is missing (sim/setup.sh tests)" if skipped else ""
    print(f"samples.py: {compared} samples are {'written' if arguments.write else 'current'}{left}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
