# SPDX-License-Identifier: Apache-2.0
"""Compares the outputs of a stream with those of the same stream in pieces: WHOLE.npy PIECE.npy... Exit status 1 when an
element differs."""

import sys

import numpy as np

whole, pieces = np.load(sys.argv[1]), np.concatenate([np.load(file) for file in sys.argv[2:]])
if whole.shape != pieces.shape or whole.dtype != pieces.dtype:
    sys.exit(f"same_stream.py: {sys.argv[1]} is {whole.dtype}{list(whole.shape)}, the pieces are {pieces.dtype}{list(pieces.shape)}")
differing = np.count_nonzero(whole != pieces)
print(f"{differing} differing of {whole.size} elements compared: {sys.argv[1]} and {' + '.join(sys.argv[2:])}")
sys.exit(1 if differing else 0)
