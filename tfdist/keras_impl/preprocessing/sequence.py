"""tf.keras.preprocessing.sequence: lists of numbers as arrays, and pairs of words.

Source: TF 1.15 API documentation, tf.keras.preprocessing.sequence; Mikolov et al. 2013,
arXiv 1310.4546, for skip-grams.
"""

from __future__ import annotations

import random
from collections.abc import Sequence as Listed
from typing import Any

import numpy as np

from tfdist.keras_impl.utils.utils import Sequence

__all__ = ["TimeseriesGenerator", "make_sampling_table", "pad_sequences", "skipgrams"]


def pad_sequences(
    sequences: Any, maxlen: int | None = None, dtype: Any = "int32", padding: str = "pre",
    truncating: str = "pre", value: Any = 0.0,
) -> Any:  # fmt: skip
    """Return lists of different lengths as one array.

    Args:
      sequences: lists of numbers, or of arrays of one shape.
      maxlen: length of all; that of the longest by default.
      dtype: of the array.
      padding: "pre" or "post": where shorter ones are filled up.
      truncating: "pre" or "post": where longer ones are cut.
      value: what they are filled up with.

    Raises:
      ValueError: a sequence is none, or there is no such `padding` or `truncating`.

    Example:
      >>> keras.preprocessing.sequence.pad_sequences([[1, 2, 3], [4]])
      array([[1, 2, 3],
             [0, 0, 4]], dtype=int32)
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for each in sequences:
        if not hasattr(each, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {each}")
    for name, given in (("Truncating", truncating), ("Padding", padding)):
        if given not in ("pre", "post"):
            raise ValueError(f'{name} type "{given}" not understood; there are "pre" and "post"')
    lengths = [len(each) for each in sequences]
    size = max(lengths, default=0) if maxlen is None else maxlen
    inner = next((np.asarray(each).shape[1:] for each in sequences if len(each)), ())
    found = np.full((len(sequences), size, *inner), value, dtype=dtype)
    for row, each in zip(found, sequences, strict=True):
        part = np.asarray(_cut(each, size, truncating), dtype=dtype)
        if part.shape[1:] != inner and len(part):
            raise ValueError(
                f"Shape of sample {part.shape[1:]} of sequence is different from expected shape "
                f"{inner}"
            )
        if len(part):
            row[slice(len(part)) if padding == "post" else slice(-len(part), None)] = part
    return found


def _cut(sequence: Any, size: int, where: str) -> Any:
    if len(sequence) <= size:
        return sequence
    return sequence[:size] if where == "post" else sequence[len(sequence) - size :]


def make_sampling_table(size: int, sampling_factor: float = 1e-05) -> Any:
    """Return how probably the i-th most frequent word is kept: by Zipf's law.

    Args:
      size: number of words.
      sampling_factor: smaller keeps fewer.

    Example:
      >>> keras.preprocessing.sequence.make_sampling_table(3).round(4)
      array([0.0032, 0.0032, 0.0055])
    """
    rank = np.arange(size)
    rank[0] = 1
    inverse = rank * (np.log(rank) + 0.577) + 0.5 - 1.0 / (12.0 * rank)
    part = sampling_factor * inverse
    return np.minimum(1.0, part / np.sqrt(part))


def skipgrams(
    sequence: Listed[int], vocabulary_size: int, window_size: int = 4,
    negative_samples: float = 1.0, shuffle: bool = True, categorical: bool = False,
    sampling_table: Any = None, seed: int | None = None,
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    """Return pairs of words, and whether they stand near each other.

    Args:
      sequence: numbers of words; 0 is none.
      vocabulary_size: the largest number plus 1.
      window_size: how far near is.
      negative_samples: how many random pairs there are for each near one.
      shuffle: whether pairs are shuffled.
      categorical: whether labels are [0, 1] and [1, 0], not 1 and 0.
      sampling_table: how probably each word is kept.
      seed: of chance.

    Example:
      >>> keras.preprocessing.sequence.skipgrams([1, 2], 3, negative_samples=0, shuffle=False)
      ([[1, 2], [2, 1]], [1, 1])
    """
    couples = _near(sequence, window_size, sampling_table)
    yes, no = ([0, 1], [1, 0]) if categorical else (1, 0)
    labels: list[Any] = [yes] * len(couples)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [first for first, _ in couples]
        random.shuffle(words)
        couples += [
            [words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)
        ]
        labels += [no] * count
    if shuffle:
        seed = random.randint(0, 10_000_000) if seed is None else seed
        for each in (couples, labels):
            random.seed(seed)
            random.shuffle(each)
    return couples, labels


def _near(sequence: Listed[int], window_size: int, table: Any) -> list[list[int]]:
    found = []
    for i, word in enumerate(sequence):
        if not word or (table is not None and table[word] < random.random()):
            continue
        for j in range(max(0, i - window_size), min(len(sequence), i + window_size + 1)):
            if j != i and sequence[j]:
                found.append([word, sequence[j]])
    return found


class TimeseriesGenerator(Sequence):
    """Batches of windows of a series, and what comes after each.

    Args:
      data: array [time, ...].
      targets: array [time, ...].
      length: of a window.
      sampling_rate: time steps between two in a window.
      stride: time steps between two windows.
      start_index: where it begins.
      end_index: where it ends.
      shuffle: whether windows are drawn by chance.
      reverse: whether time runs backwards in a window.
      batch_size: number of windows in a batch.

    Raises:
      ValueError: data and targets have different lengths, or there is no window.

    Example:
      >>> series = np.arange(5)
      >>> windows = keras.preprocessing.sequence.TimeseriesGenerator(series, series, 2)
      >>> windows[0][0].tolist(), windows[0][1].tolist()
      ([[0, 1], [1, 2], [2, 3]], [2, 3, 4])
    """

    def __init__(
        self, data: Any, targets: Any, length: int, sampling_rate: int = 1, stride: int = 1,
        start_index: int = 0, end_index: int | None = None, shuffle: bool = False,
        reverse: bool = False, batch_size: int = 128,
    ) -> None:  # fmt: skip
        if len(data) != len(targets):
            raise ValueError(
                "Data and targets have to be of same length. Data length is "
                f"{len(data)} while target length is {len(targets)}"
            )
        self.data, self.targets, self.length = data, targets, length
        self.sampling_rate, self.stride = sampling_rate, stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse, self.batch_size = shuffle, reverse, batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is "
                "disallowed, as no part of the sequence would be left to be used as current step."
            )

    def __len__(self) -> int:
        span = self.batch_size * self.stride
        return (self.end_index - self.start_index + span) // span

    def __getitem__(self, index: int) -> Any:
        if self.shuffle:
            rows = np.random.randint(  # noqa: NPY002 the program's np.random.seed counts
                self.start_index, self.end_index + 1, size=self.batch_size
            )
        else:
            first = self.start_index + self.batch_size * self.stride * index
            last = min(first + self.batch_size * self.stride, self.end_index + 1)
            rows = np.arange(first, last, self.stride)
        windows = np.array(
            [self.data[row - self.length : row : self.sampling_rate] for row in rows]
        )
        targets = np.array([self.targets[row] for row in rows])
        return (windows[:, ::-1, ...] if self.reverse else windows), targets
