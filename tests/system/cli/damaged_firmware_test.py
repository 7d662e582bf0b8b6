#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever firmware does, `npu run` ends: usage damaged_firmware_test.py NPU MAKE_NETWORKS IMAGE.

Images with deliberate mistakes end with the message for each; images with random bytes end with a documented exit status
and one sentence, within bounded time of the processor and memory. NPU_SEED and NPU_IMAGES choose other and more random images."""

import collections
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import harness
from firmware_image import sealed
from harness import NpuTest

IMAGE = Path()
# RV32 instructions.
JUMP_TO_ZERO, RETURN, JUMP_TO_ITSELF, WAIT, BACK_TO_WAIT = 0x00000067, 0x00008067, 0x0000006F, 0x10500073, 0xFFDFF06F
NO_INTERRUPTS, LOAD_STATE, CLEAR_T0 = 0x30401073, 0x0002A283, 0x00000293
# Seconds of the processor, since a busy machine takes longer; and on the wall, for what sleeps for ever.
SECONDS, SLEEPS, BYTES = 30, 200, 4 << 30
# Where the CPU is when the driver gives up firmware that works: the driver looks by the host's clock, so that depends on
# how busy the machine is. Firmware that stays in one function is there.
SOMEWHERE = r"the control CPU was at \w+(\+0x\w+)? \(pc 0x\w+\)"


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


class Damaged(NpuTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.image = cls.dir / "damaged.bin"
        symbols = IMAGE.with_suffix(".sym")
        shutil.copy(symbols, cls.image.with_suffix(".sym"))
        cls.symbols = dict(reversed(line.split()) for line in symbols.read_text().splitlines())

    def run_image(self, data, name="the image"):
        """Result and seconds of a run with this image."""
        self.image.write_bytes(data)
        start = time.monotonic()
        result = subprocess.run([harness.NPU, "run", self.dir / "convolution.tosa", "--input", self.dir / "x.npy", "--quiet",
                                 "--firmware", self.image], capture_output=True, text=True,
                                errors="replace", timeout=SLEEPS, check=False, preexec_fn=limit)
        self.assertNotEqual(result.returncode, -signal.SIGXCPU, f"{name} hangs")
        return result, time.monotonic() - start

    def expect_fault(self, message, *patches, checked=True):
        """Each patch: the function whose first instructions become these."""
        data = bytearray(IMAGE.read_bytes())
        for function, *words in patches:
            struct.pack_into(f"<{len(words)}I", data, 32 + int(self.symbols[function], 16), *words)
        if not checked:
            at = data.index(struct.pack("<I", LOAD_STATE), 32)
            self.assertLess(at, 32 + 32)
            struct.pack_into("<I", data, at, CLEAR_T0)
        result, seconds = self.run_image(sealed(data))
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertRegex(result.stderr, r"^npu: error: .* \[fault_firmware\]$")
        self.assertRegex(result.stderr, message)
        print(f"{seconds:.1f} s: {result.stderr.strip()[:150]}")

    def test_a_call_through_a_null_pointer_has_a_backtrace(self):
        self.expect_fault(r"at npu_restarted \(pc 0x\w+\), called from npu_main\+0x\w+ from npu_reset",
                          ("npu_scheduler_core_event", JUMP_TO_ZERO))

    def test_firmware_that_does_not_notice_its_restart(self):
        self.expect_fault(rf"started again without being asked to; {SOMEWHERE}",
                          ("npu_scheduler_core_event", JUMP_TO_ZERO), checked=False)

    def test_firmware_that_restarts_for_ever(self):
        self.expect_fault(rf"did not get ready .*; {SOMEWHERE}", ("npu_contexts_init", JUMP_TO_ZERO),
                          ("npu_main", JUMP_TO_ZERO), checked=False)

    def test_firmware_that_loops(self):
        self.expect_fault(r"\(watchdog\): its firmware ran in a loop at npu_scheduler_core_event",
                          ("npu_scheduler_core_event", JUMP_TO_ITSELF))

    def test_firmware_that_never_completes_and_keeps_its_watchdog_quiet(self):
        self.expect_fault(r"(did not end the job within 10000000 cycles|"
                          rf"worked for 5000000 cycles, but no command completed and no job ended); {SOMEWHERE}",
                          ("npu_context_complete", RETURN))

    def test_firmware_that_sleeps_with_an_interrupt_pending(self):
        self.expect_fault(r"; the control CPU was at npu_scheduler_core_event", ("npu_scheduler_core_event", WAIT, BACK_TO_WAIT))

    def test_firmware_that_sleeps_for_ever(self):
        self.expect_fault(r"nothing in the device moves any more; the control CPU was at npu_scheduler_core_event",
                          ("npu_scheduler_core_event", NO_INTERRUPTS, WAIT, BACK_TO_WAIT))

    def test_firmware_that_does_not_answer_the_doorbell(self):
        self.expect_fault(r"did not answer a request.*; the control CPU was at npu_main", ("npu_context_doorbell", RETURN))

    def test_random_images(self):
        seed, count = int(os.environ.get("NPU_SEED", "20261122")), int(os.environ.get("NPU_IMAGES", "60"))
        original = IMAGE.read_bytes()
        statuses, slowest = collections.Counter(), 0
        for number in range(count):
            draw = random.Random(f"{seed}/{number}")
            data = bytearray(original)
            for _ in range(draw.choice((1, 2, 4, 16))):
                data[draw.randrange(32, len(data))] ^= 1 << draw.randrange(8)
            where = f"seed {seed}, image {number}"
            result, seconds = self.run_image(sealed(data), where)
            self.assertIn(result.returncode, harness.DOCUMENTED, f"{where}: {result.stderr}")
            if result.returncode != 0:
                self.assertRegex(result.stderr, r"\Anpu: error: [^\n]+ \[\w+\]\n\Z", where)
            statuses[result.returncode] += 1
            slowest = max(slowest, seconds)
        print(f"seed {seed}: {count} images, exit statuses {dict(statuses)}, the slowest took {slowest:.1f} s")
        self.assertGreater(statuses[5], count // 10)


if __name__ == "__main__":
    IMAGE = Path(sys.argv.pop(3))
    harness.main()
