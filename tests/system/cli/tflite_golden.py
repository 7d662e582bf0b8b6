#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow Lite's own runtime gives: tflite_golden.py FOLDER-OF-TFLITE_C LIBRARY MODEL FRAMES.npy OUTPUTS.npy

Run with the Python environment's interpreter. Frames are counted by the first axis; the network keeps its state from one
to the next.
"""

import sys

import numpy as np


def main():
    folder, library, model, frames, outputs = sys.argv[1:]
    sys.path.insert(0, folder)
    from tflite_c import Network
    network = Network(library, model)
    results = np.stack([network.invoke(frame) for frame in np.load(frames)])
    np.save(outputs, results.reshape(len(results), -1))
    network.close()


if __name__ == "__main__":
    main()
