"""The digits that ship with the package, and the same in the format of MNIST.

Source: UCI Machine Learning Repository, "Optical Recognition of Handwritten Digits"; see
samples/README.md.
"""

from __future__ import annotations

import gzip
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tfdist.formats.idx import write_idx
from tfdist.programs.input_data import FILES

PIXELS, CLASSES = 64, 10
INK = 16  # the darkest pixel in the file
TEST_ROWS = 360

SIDE, LARGER, SIDE_OF_MNIST = 8, 3, 28
COUNTS = {"train": 60_000, "test": 10_000}  # of MNIST


class Digits(NamedTuple):
    """Images [rows, 64], each pixel from 0 to 1, and their labels [rows], 0 to 9."""

    images: np.ndarray
    labels: np.ndarray

    def at(self, positions: np.ndarray) -> Digits:
        """Return the rows at `positions`."""
        return Digits(self.images[positions], self.labels[positions])


def read_digits() -> Digits:
    """Return the data set that ships with the package, in its own order; see samples/README.md."""
    path = files("tfdist") / "samples" / "digits.csv.gz"
    with path.open("rb") as packed, gzip.open(packed, "rt") as text:
        table = np.loadtxt(text, dtype=np.float32, delimiter=",")
    return Digits(table[:, :PIXELS] / np.float32(INK), table[:, PIXELS].astype(np.int32))


def split_digits(digits: Digits, seed: int = 0) -> tuple[Digits, Digits]:
    """Return (training rows, test rows), shuffled the same way for the same seed."""
    order = np.random.default_rng(seed).permutation(len(digits.labels))
    return digits.at(order[TEST_ROWS:]), digits.at(order[:TEST_ROWS])


def write_digits(folder: Path, seed: int = 0) -> tuple[int, int]:
    """Write the digits as the four files of MNIST, as many as that has.

    They are made three times as large and set into 28 x 28 pixels at a place of chance, so that
    each of the few originals comes in several places. Those of the test files are of other
    originals than those of the training files.

    Args:
      folder: made if it is missing.
      seed: of the places.

    Returns:
      How many images the training files have, and the test files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    for part, digits in zip(COUNTS, split_digits(read_digits(), seed), strict=True):
        rows = digits.at(np.arange(COUNTS[part]) % len(digits.labels))
        write_idx(folder / f"{FILES[f'{part} images']}.gz", _in_frames(rows.images, random))
        write_idx(folder / f"{FILES[f'{part} labels']}.gz", rows.labels.astype(np.uint8))
    return COUNTS["train"], COUNTS["test"]


def _in_frames(images: Any, random: np.random.Generator) -> Any:
    """Return images [rows, 64] from 0 to 1 as uint8 [rows, 28, 28], each somewhere in its frame."""
    ink = np.round(images.reshape(-1, SIDE, SIDE) * 255).astype(np.uint8)
    large = ink.repeat(LARGER, axis=1).repeat(LARGER, axis=2)
    room = SIDE_OF_MNIST - SIDE * LARGER
    places = random.integers(0, room + 1, (len(large), 2))
    frames = np.zeros((len(large), SIDE_OF_MNIST, SIDE_OF_MNIST), np.uint8)
    for down in range(room + 1):
        for right in range(room + 1):
            chosen = np.flatnonzero((places == (down, right)).all(axis=1))
            frames[chosen, down : down + SIDE * LARGER, right : right + SIDE * LARGER] = large[
                chosen
            ]
    return frames
