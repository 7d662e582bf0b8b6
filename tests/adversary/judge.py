# SPDX-License-Identifier: Apache-2.0
"""Runs `npu` within limits, and says what of its answer is not as the documents promise."""

import os
import re
import resource
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system/cli"))
from harness import DOCUMENTED

SECONDS = 60  # a busy machine takes several times the usual
MOST_BYTES = 3 << 30
ERROR = re.compile(r"npu: error: \S.* \[([a-z_]+)\]")
# What may stand beside the sentence of an error.
ASIDE = re.compile(r"npu: note: |firmware|backtrace|  #\d|\S.* \d+ of \d+ \(\d+ %\)")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass
class Answer:
    status: int
    code: str  # of the error; empty without one
    out: str
    err: str
    complaints: list

    def complain(self, text):
        self.complaints.append(text)


def _limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))


def _text(data, what, complaints):
    try:
        text = data.decode()
    except UnicodeDecodeError:
        complaints.append(f"{what} is no UTF-8")
        return data.decode(errors="replace")
    if CONTROLS.search(text):
        complaints.append(f"{what} has control characters")
    return text


def run(npu, arguments, folder, allowed=DOCUMENTED):
    """Answer of one run in `folder`, with a complaint for each rule that it breaks."""
    complaints = []
    with subprocess.Popen([npu, *map(str, arguments)], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, preexec_fn=_limit) as process:
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        chunks = []
        reader = threading.Thread(target=lambda: chunks.append(process.stderr.read()))
        reader.start()
        out = process.stdout.read()
        reader.join()
        _, state, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(state)
        late = not timer.is_alive()
        timer.cancel()
    status = process.returncode
    out, err = _text(out, "the output", complaints), _text(chunks[0], "the error", complaints)
    answer = Answer(status, "", out, err, complaints)
    if late:
        answer.complain(f"took more than {SECONDS} s")
    elif status < 0:
        answer.complain(f"died of signal {-status}")
    elif status not in allowed:
        answer.complain(f"ended with status {status}, not one of {sorted(allowed)}")
    if usage.ru_maxrss * 1024 > MOST_BYTES:
        answer.complain(f"took {usage.ru_maxrss >> 10} MiB")
    errors = [line for line in err.splitlines() if line.startswith("npu: error: ")]
    asides = [line for line in err.splitlines() if not line.startswith("npu: error: ")]
    if status > 0 and not late:
        if len(errors) == 1 and ERROR.fullmatch(errors[0]):
            answer.code = ERROR.fullmatch(errors[0])[1]
        elif not (status == 2 and not errors and arguments[0] == "info"):
            answer.complain(f"has {len(errors)} sentences of error")
    elif status == 0 and errors:
        answer.complain("has an error and status 0")
    # With a report as "-", the text goes there, too.
    with_text = any(str(option).startswith("--") and value == "-" for option, value in zip(arguments, arguments[1:]))
    for line in [] if with_text else asides:
        if not ASIDE.match(line):
            answer.complain(f"says {line[:80]!r} beside")
            break
    return answer
