#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries to make `npu` crash, hang, take too much memory, say something false or leave something behind.

    tests/adversary/run.py --npu NPU --networks MAKER --maker MAKER --firmware IMAGE [--wrong NPU --wrong-networks MAKER] [--seed 1] [--tries N | --seconds S]
    tests/adversary/run.py ... --only firmware --try 17      repeats one try

Each try is made from the attack's name, the seed and a number alone. Exit status 0 when all held, 1 after a complaint, which names
the try and how to repeat it; --markdown FILE replaces what stands behind its line <!-- table -->.
"""

import argparse
import concurrent.futures
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import attacks

MARK = "<!-- table -->\n"
REPEAT = "tests/adversary/run.py ... --seed {} --only '{}' --try {}"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--npu", type=Path, required=True)
    parser.add_argument("--networks", type=Path, required=True, help="the program adversary_networks")
    parser.add_argument("--maker", type=Path, required=True, help="the program cli_make_networks")
    parser.add_argument("--firmware", type=Path, required=True, help="npu_firmware.bin")
    parser.add_argument("--wrong", type=Path, help="npu_wrong_block, which makes replay bundles; without it they are not tried")
    parser.add_argument("--wrong-networks", type=Path, help="the program cosim_make_networks, with --wrong")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tries", type=int, help="of each attack")
    parser.add_argument("--seconds", type=float, default=60, help="of all attacks together, without --tries")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", choices=[attack.name for attack in attacks.ATTACKS])
    parser.add_argument("--try", type=int, dest="number")
    parser.add_argument("--markdown", type=Path, help="docs/reference/robustness.md, for example")
    return parser.parse_args()


def attempt(attack, number, complaints):
    try:
        found = attack.attempt(number)
    except Exception as error:  # of the attack itself: it must not pass for success
        found = [f"the attack failed: {error!r}"]
    if found:
        complaints.append((attack.name, number, found))


def tries_of(attack, arguments, seconds, pool):
    """How many tries were made, and the complaints."""
    complaints, made, lock, end = [], 0, threading.Lock(), time.monotonic() + seconds

    def worker():
        nonlocal made
        while True:
            with lock:
                if made == arguments.tries or (arguments.tries is None and time.monotonic() >= end):
                    return
                number, made = made, made + 1
            attempt(attack, number, complaints)

    for future in [pool.submit(worker) for _ in range(arguments.jobs)]:
        future.result()
    return made, complaints


def table(rows, seed):
    text = "| attack | what is tried | what must hold | tried | held | exit statuses |\n|---|---|---|---|---|---|\n"
    for attack, made, complaints in rows:
        text += f"| {attack.name} | {attack.what} | {attack.holds} | {made:,} | {made - len(complaints):,} | {endings(attack)} |\n"
    return text + f"\nSeed {seed}.\n"


def endings(attack):
    return ", ".join(f"{status}: {count:,}" for status, count in sorted(attack.endings.items()))


def main():
    arguments = parse()
    chosen = [attack for attack in attacks.ATTACKS if arguments.only in (None, attack.name)]
    if not arguments.wrong:
        chosen = [attack for attack in chosen if attack is not attacks.Bundles]
    rows = []
    with tempfile.TemporaryDirectory(prefix="npu-adversary-") as scratch:
        scratch = Path(scratch)
        tools = attacks.Tools(arguments, scratch / "samples")
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for kind in chosen:
                attack = kind(tools, scratch / kind.name.replace(" ", "_"), arguments.seed)
                start = time.monotonic()
                if arguments.number is not None:
                    complaints, made = [], 1
                    attempt(attack, arguments.number, complaints)
                else:
                    made, complaints = tries_of(attack, arguments, arguments.seconds / len(chosen), pool)
                for name, number, found in sorted(complaints):
                    print(f"{name}, try {number}: {'; '.join(found)}\n    again: {REPEAT.format(arguments.seed, name, number)}")
                left = sorted(path.name for path in attack.folder.iterdir())
                if left:
                    complaints.append((attack.name, -1, left))
                    print(f"{attack.name}: left behind: {left[:10]}")
                print(f"adversary: {attack.name}: {made - len(complaints)} of {made} held, seed {arguments.seed}, "
                      f"{time.monotonic() - start:.0f} s; exit statuses {endings(attack)}", flush=True)
                rows.append((attack, made, complaints))
    if arguments.markdown:
        text = arguments.markdown.read_text()
        arguments.markdown.write_text(text[:text.index(MARK) + len(MARK)] + "\n" + table(rows, arguments.seed))
    return 1 if any(complaints or not made for _, made, complaints in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
