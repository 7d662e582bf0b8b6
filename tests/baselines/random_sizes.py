#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random sizes within bounds: how much slower a program for all of them is than one for each size alone.

    tests/baselines/random_sizes.py --npu build/release/npu [--count 150] [--seed 1] FOLDER...

FOLDER holds networks that leave sizes open below open/ (sized.py says which). Prints the distribution for each network and machine, and the
slowest. Exit status 1 where one takes more cycles than docs/reference/performance.md allows.
"""

import argparse
import concurrent.futures
import os
import random
import sys
from pathlib import Path

import sized

SLOWEST = 5  # that are printed


def draw(network, count, seed):
    """Sizes, each once; all that there are where these are fewer."""
    numbers, there = random.Random(seed), 1
    for least, most in network.bounds.values():
        there *= most - least + 1
    chosen = set()
    while len(chosen) < min(count, there):
        chosen.add(tuple(numbers.randint(least, most) for least, most in network.bounds.values()))
    return sorted(chosen)


def judge(rows):
    """What is printed of the rows of a network on a machine, and whether they are fast enough."""
    times = sorted((row["cycles"] / row["alone"], row["sizes"]) for row in rows)
    within = sum(one <= sized.MOST for one, _ in times)
    slowest = ", ".join(f"{one:.2f} at {sizes}" for one, sizes in reversed(times[-SLOWEST:]))
    text = (f"{rows[0]['network']} on {rows[0]['machine']}: {within} of {len(times)} sizes within {sized.MOST}, median {times[len(times) // 2][0]:.2f}; "
            f"slowest {slowest}")
    return text, within == len(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--npu", type=Path, required=True)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = sized.networks(options.folders)
    if not found:
        parser.exit(66, f"{parser.prog}: no folder has a network that leaves sizes open\n")
    print(f"seed {options.seed}")
    work = [(path, machine, draw(sized.NETWORKS[name], options.count, options.seed)) for name, path in found.items() for machine in sized.MACHINES]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: judge(sized.run(options.npu, *job)), work))
    for text, good in results:
        print(text if good else f"FAILED: {text}")
    return 0 if all(good for _, good in results) else 1


if __name__ == "__main__":
    sys.exit(main())
