# SPDX-License-Identifier: Apache-2.0
"""Shows what a streaming wake-word network heard: the device's probability over time in the terminal and as an SVG, and how it
compares with TensorFlow Lite's own runtime on the same frames.

Exit status: 0 when both detect the phrase at the same frame, 1 otherwise."""

import argparse
import json
import os
import sys
from pathlib import Path

import numpy as np
from tflite_c import Network

FRAME_SECONDS = 0.03  # three feature vectors, 10 ms each


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="name of a network of pymicro_wakeword, or a .tflite file")
    parser.add_argument("--frames", type=Path, required=True, help=".npy with one frame per row of the first axis")
    parser.add_argument("--device", type=Path, required=True, help=".npy with the device's output per frame")
    parser.add_argument("--svg", type=Path, required=True, help="picture to write")
    return parser.parse_args()


def package_files(model):
    """The .tflite file, its settings (cutoff, window) and the C library of pymicro_wakeword."""
    import pymicro_wakeword

    root = Path(pymicro_wakeword.__file__).parent
    tflite = model if model.suffix == ".tflite" else root / "models" / f"{model}.tflite"
    settings = json.loads(tflite.with_suffix(".json").read_text())
    return tflite, settings, root / "lib" / "libtensorflowlite_c.so"


def window_means(probability, window):
    """Mean of the last `window` probabilities; 0 until there are that many."""
    means = np.zeros(len(probability))
    for i in range(window - 1, len(probability)):
        means[i] = probability[i - window + 1 : i + 1].mean()
    return means


def terminal_chart(probability, detected, cutoff, height=8):
    rows = []
    for level in range(height, 0, -1):
        low, line = (level - 1) / height, ""
        for value in probability:
            part = (value - low) * height
            line += "█" if part >= 1 else " ▁▂▃▄▅▆▇"[int(part * 8)] if part > 0 else " "
        rows.append(f"{level / height:5.2f} │{line}")
    rows.append("      └" + "─" * len(probability))
    marker = "".join("^" if d else " " for d in detected)
    rows.append("       " + marker + f"  (^ = detected: mean over the window above {cutoff})")
    return "\n".join(rows)


def svg_chart(name, device, tflite, means, cutoff, first):
    width, height, left, top = 720, 260, 52, 34
    seconds = len(device) * FRAME_SECONDS

    def x(i):
        return left + width * (i + 0.5) / len(device)

    def y(v):
        return top + height * (1 - v)

    def line(values):
        return " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(values))

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + left + 20}" height="{height + top + 64}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{left}" y="20" font-size="15">{name}: probability per frame on the NPU</text>',
    ]
    for v in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<line x1="{left}" x2="{left + width}" y1="{y(v):.1f}" y2="{y(v):.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{v:.2f}</text>')
    for s in np.arange(0, seconds + 0.01, 0.5):
        at = left + width * s / seconds
        parts.append(f'<text x="{at:.1f}" y="{top + height + 18}" text-anchor="middle">{s:.1f} s</text>')
    parts.append(f'<line x1="{left}" x2="{left + width}" y1="{y(cutoff):.1f}" y2="{y(cutoff):.1f}" stroke="#c33" '
                 'stroke-dasharray="6 4"/>')
    parts.append(f'<polyline points="{line(tflite)}" fill="none" stroke="#f5a623" stroke-width="5" opacity="0.6"/>')
    parts.append(f'<polyline points="{line(device)}" fill="none" stroke="#1f5fbf" stroke-width="2"/>')
    parts.append(f'<polyline points="{line(means)}" fill="none" stroke="#2a2" stroke-width="1.5"/>')
    if first is not None:
        parts.append(f'<line x1="{x(first):.1f}" x2="{x(first):.1f}" y1="{top}" y2="{top + height}" stroke="#2a2"/>')
        parts.append(f'<text x="{x(first) + 6:.1f}" y="{y(0.4):.1f}" fill="#2a2">detected at frame {first}</text>')
    labels = ((0, "#1f5fbf", "", "NPU"), (110, "#f5a623", "", "TensorFlow Lite"), (290, "#2a2", "", "mean over the window"),
              (510, "#c33", ' stroke-dasharray="6 4"', f"cutoff {cutoff}"))
    for offset, colour, dashes, label in labels:
        at = left + offset
        parts.append(f'<line x1="{at}" x2="{at + 24}" y1="{top + height + 44}" y2="{top + height + 44}" stroke="{colour}" '
                     f'stroke-width="3"{dashes}/>')
        parts.append(f'<text x="{at + 30}" y="{top + height + 48}">{label}</text>')
    parts.append("</svg>\n")
    return "\n".join(parts)


def write_whole(path, text):
    """Writes under a temporary name first, so that a picture is never half there."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text)
    os.replace(temporary, path)


def main():
    args = arguments()
    tflite, settings, library = package_files(args.model)
    cutoff, window = settings["micro"]["probability_cutoff"], settings["micro"]["sliding_window_size"]
    frames = np.load(args.frames)
    # The network's last operator is an unsigned RESCALE: the bytes are uint8 whatever type the file declares.
    device = np.load(args.device).view(np.uint8).reshape(-1)
    if len(device) != len(frames):
        sys.exit(f"show.py: {args.device} has {len(device)} outputs for {len(frames)} frames")

    network = Network(library, tflite)
    other = np.array([network.invoke(frame)[0] for frame in frames])
    scale, zero = network.output_scale, network.output_zero_point
    network.close()

    probability = (device.astype(float) - zero) * scale
    tflite_probability = (other.astype(float) - zero) * scale
    means = window_means(probability, window)
    detected, tflite_detected = means > cutoff, window_means(tflite_probability, window) > cutoff
    first = int(np.argmax(detected)) if detected.any() else None

    print(terminal_chart(probability, detected, cutoff))
    write_whole(args.svg, svg_chart(settings["wake_word"], probability, tflite_probability, means, cutoff, first))
    if first is None:
        print(f'"{settings["wake_word"]}" was not detected')
    else:
        print(f'"{settings["wake_word"]}" detected at frame {first} ({first * FRAME_SECONDS:.2f} s), highest mean {means.max():.3f}')

    difference = np.abs(device.astype(int) - other.astype(int))
    tflite_first = int(np.argmax(tflite_detected)) if tflite_detected.any() else None
    same = f"detected at frame {tflite_first} too" if tflite_first == first else f"detected at frame {tflite_first}, not {first}"
    print(f"TensorFlow Lite's runtime on the same frames: {same}; {np.count_nonzero(difference)} of {len(difference)} frames differ, "
          f"by at most {difference.max()} of 255 (its optimised kernels round depthwise requantisation another way)")
    sys.exit(0 if first is not None and first == tflite_first else 1)


if __name__ == "__main__":
    main()
