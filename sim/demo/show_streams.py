# SPDX-License-Identifier: Apache-2.0
"""Draws what several wake-word networks heard that streamed at once on one device (npu stream --json): a panel for each, with its
probability over the rounds in which the device ran, and the power-downs between them.

Exit status: 0 when exactly the networks of --spoken detected their phrase, 1 otherwise."""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from show import package_files, window_means, write_whole
from tflite_c import Network

COLOURS = ("#1f5fbf", "#c06a00", "#7a3fa0", "#1d8a5a")
WIDTH, PANEL, GAP, LEFT, TOP = 960, 96, 26, 130, 52


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, required=True, help="what npu stream --json wrote")
    parser.add_argument("--outputs", type=Path, required=True, help="the folder of npu stream --outputs")
    parser.add_argument("--svg", type=Path, required=True, help="picture to write")
    parser.add_argument("--spoken", nargs="*", default=[], help="the networks whose phrases are in the frames")
    return parser.parse_args()


def heard(name, outputs):
    """Phrase, probability per frame, cutoff, and the first frame that detects the phrase or None."""
    tflite, settings, library = package_files(Path(name))
    network = Network(library, tflite)
    scale, zero = network.output_scale, network.output_zero_point
    network.close()
    # The networks' last operator is an unsigned RESCALE: the bytes are uint8 whatever type the file declares.
    data = np.load(outputs / name / "TosaOutput_0.npy").view(np.uint8).reshape(-1)
    probability = (data.astype(float) - zero) * scale
    cutoff = settings["micro"]["probability_cutoff"]
    detected = window_means(probability, settings["micro"]["sliding_window_size"]) > cutoff
    return settings["wake_word"], probability, cutoff, int(np.argmax(detected)) if detected.any() else None


def panel(index, phrase, probability, cutoff, first, at, rounds):
    """SVG of one network; `at` are the rounds of its frames."""
    top = TOP + index * (PANEL + GAP)
    colour = COLOURS[index % len(COLOURS)]

    def x(i):
        return LEFT + WIDTH * (at[i] + 0.5) / rounds

    def y(v):
        return top + PANEL * (1 - v)

    parts = [f'<text x="{LEFT - 12}" y="{top + PANEL / 2:.1f}" text-anchor="end" font-size="13" fill="{colour}">{phrase}</text>']
    for v in (0, 1):
        parts.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y(v):.1f}" y2="{y(v):.1f}" stroke="#bbb"/>')
        parts.append(f'<text x="{LEFT + WIDTH + 6}" y="{y(v) + 4:.1f}">{v}</text>')
    parts.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y(cutoff):.1f}" y2="{y(cutoff):.1f}" stroke="#c33" '
                 'stroke-dasharray="5 4"/>')
    points = " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(probability))
    parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
    if first is not None:
        parts.append(f'<circle cx="{x(first):.1f}" cy="{y(probability[first]):.1f}" r="5" fill="none" stroke="#2a2" stroke-width="2"/>')
        parts.append(f'<text x="{x(first):.1f}" y="{y(1) - 8:.1f}" text-anchor="middle" fill="#2a2">frame {first}, '
                     f'in round {at[first]}</text>')
    return parts


def svg(run, networks):
    rounds = len(run["rounds"])
    bottom = TOP + len(networks) * (PANEL + GAP) - GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 40}" height="{bottom + 88}" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="15">{len(networks)} networks at once on one NPU: probability per frame, '
        f'{run["power_downs"]} power-downs in between (seed {run["seed"]})</text>',
    ]
    for index, network in enumerate(networks):
        parts += panel(index, *network, rounds)
    for i, one in enumerate(run["rounds"]):
        if one["power_down"]:
            x = LEFT + WIDTH * (i + 1) / rounds
            parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{bottom + 10}" y2="{bottom + 22}" stroke="#555"/>')
    parts.append(f'<text x="{LEFT - 12}" y="{bottom + 20}" text-anchor="end">power-downs</text>')
    for i in range(0, rounds + 1, 50):
        parts.append(f'<text x="{LEFT + WIDTH * i / rounds:.1f}" y="{bottom + 40}" text-anchor="middle">{i}</text>')
    parts.append(f'<text x="{LEFT + WIDTH / 2}" y="{bottom + 58}" text-anchor="middle">rounds: in each, a random choice of the '
                 'networks got its next frame</text>')
    parts.append(f'<circle cx="{LEFT + 6}" cy="{bottom + 74}" r="5" fill="none" stroke="#2a2" stroke-width="2"/>'
                 f'<text x="{LEFT + 18}" y="{bottom + 78}">phrase detected: the mean over its window passed the cutoff</text>'
                 f'<line x1="{LEFT + 370}" x2="{LEFT + 400}" y1="{bottom + 74}" y2="{bottom + 74}" stroke="#c33" '
                 f'stroke-dasharray="5 4"/><text x="{LEFT + 406}" y="{bottom + 78}">cutoff</text>'
                 f'<text x="{LEFT + 470}" y="{bottom + 78}">in a power-down engines and scratchpad are off, the persistent SRAM '
                 'keeps its contents</text>')
    return "\n".join(parts + ["</svg>\n"])


def main():
    args = arguments()
    run = json.loads(args.json.read_text())
    networks, wrong = [], []
    for index, network in enumerate(run["networks"]):
        name = network["name"]
        at = [i for i, one in enumerate(run["rounds"]) if index in one["networks"]]
        phrase, probability, cutoff, first = heard(name, args.outputs)
        networks.append((phrase, probability, cutoff, first, at))
        print(f'"{phrase}" ' + (f"detected at frame {first}" if first is not None else "not detected")
              + f", highest probability {probability.max():.3f} of {len(probability)} frames")
        if (first is not None) != (name in args.spoken):
            wrong.append(phrase)
    write_whole(args.svg, svg(run, networks))
    for phrase in wrong:
        print(f'"{phrase}" should not be so', file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
