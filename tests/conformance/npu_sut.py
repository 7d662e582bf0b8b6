# SPDX-License-Identifier: Apache-2.0
"""Lets Arm's runner drive `npu reference`, or `npu run` on a simulated NPU, as its system under test.

    PYTHONPATH=tests/conformance tosa_verif_run_tests --sut-module npu_sut --sut-module-args npu_sut:PROGRAM [npu_sut:MACHINE] ...

PROGRAM is an absolute path, MACHINE what `npu run --config` takes. docs/reference/conformance.md has the whole command.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from runner.tosa_test_presets import TOSA_REFCOMPLIANCE_RUNNER
from runner.tosa_test_runner import TosaTestInvalid, TosaTestRunner, getRunnerResultFilePath

TIMEOUT = 600  # seconds for one test
RESULTS = {
    0: TosaTestRunner.TosaGraphResult.TOSA_VALID,
    1: TosaTestRunner.TosaGraphResult.TOSA_UNPREDICTABLE,
    2: TosaTestRunner.TosaGraphResult.TOSA_ERROR,
}


def output_file(name):
    """The file that `npu --outputs` writes for an output with a name of less than 200 bytes."""
    escaped = re.sub(rb"[^A-Za-z0-9._-]|^\.", lambda match: b"%%%02X" % match[0][0], name.encode())
    return (escaped or b"%").decode() + ".npy"


class TosaSUTRunner(TosaTestRunner):
    def __init__(self, args, runner_args, test_folder):
        super().__init__(args, runner_args, test_folder)
        if len(runner_args) not in (1, 2) or not Path(runner_args[0]).is_absolute():
            raise TosaTestInvalid(str(test_folder),
                                  ValueError("--sut-module-args takes npu_sut:PROGRAM, an absolute path, and maybe npu_sut:MACHINE"))
        self.command = [runner_args[0], "reference"]
        if len(runner_args) == 2:
            self.command = [runner_args[0], "run", "--mode", "functional", "--config", runner_args[1]]

    def runTestGraph(self):
        """Runs the network in the test's folder; the runner expects the results there."""
        with tempfile.TemporaryDirectory(prefix="npu-sut-") as scratch:
            # The suite is made for level 8K: what is above it is illegal there, such as a rank of 7.
            command = [*self.command, self.testDesc["tosa_file"], "--level", "8k", "--outputs", scratch, "--quiet"]
            for name, file in zip(self.testDesc["ifm_name"], self.testDesc["ifm_file"]):
                command += ["--input", f"{name}={file}"]
            result = subprocess.run(command, cwd=self.testDir, capture_output=True, text=True, timeout=TIMEOUT,
                                    check=False)
            if result.returncode == 0:
                for name, file in zip(self.testDesc["ofm_name"], self.testDesc["ofm_file"]):
                    self.take_over(Path(scratch) / output_file(name), self.testDirPath / file)
        return RESULTS.get(result.returncode, TosaTestRunner.TosaGraphResult.OTHER_ERROR), result.stderr.strip()

    def take_over(self, file, wanted):
        """`npu` keeps the bits of unsigned results in signed elements, the official model does not."""
        golden = getRunnerResultFilePath(wanted, TOSA_REFCOMPLIANCE_RUNNER)
        if golden.is_file():
            wanted_type = np.load(golden, mmap_mode="r").dtype
            result = np.load(file)
            if wanted_type.kind == "u" and result.dtype.kind == "i" and wanted_type.itemsize == result.dtype.itemsize:
                np.save(wanted, result.view(wanted_type))
                return
        shutil.move(file, wanted)
