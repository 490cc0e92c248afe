"""The tutorials' `input_data`: MNIST from files in a folder, and what hands out batches of it.

Source: TF 1.15 API documentation, tensorflow.examples.tutorials.mnist. Nothing is downloaded.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.errors import NotFoundError
from tfdist.formats.idx import read_idx
from tfdist.graph.scopes import get_default_graph

__all__ = ["DataSet", "Datasets", "load_mnist", "read_data_sets"]

FILES = {
    "train images": "train-images-idx3-ubyte",
    "train labels": "train-labels-idx1-ubyte",
    "test images": "t10k-images-idx3-ubyte",
    "test labels": "t10k-labels-idx1-ubyte",
}
CLASSES = 10


class DataSet:
    """Images with their labels, handed out in batches.

    Args:
      images: uint8 [count, rows, columns, 1].
      labels: [count], or [count, classes] if they are one-hot.
      fake_data: whether batches hold ones, for a quick try; `images` may be empty then.
      one_hot: whether fake labels are one-hot.
      dtype: float32 (0 to 1) or uint8 (0 to 255), what images become.
      reshape: whether each image becomes one row.
      seed: of the order in which images come; that of the default graph if it is None.

    The order is drawn from NumPy's own generator, which is seeded here, as TensorFlow does: a
    program that seeds it later decides about the order.
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = dtypes.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        np.random.seed(get_default_graph().seed if seed is None else seed)  # noqa: NPY002
        if len(images) != len(labels):
            raise AssertionError(f"there are {len(images)} images, but {len(labels)} labels")
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"invalid image dtype {dtype!r}: uint8 or float32 is wanted")
        if fake_data:
            images, labels = np.zeros([10_000, 28, 28, 1], np.uint8), np.zeros(10_000, np.uint8)
        if reshape:
            images = images.reshape(len(images), math.prod(images.shape[1:]))
        if dtype is dtypes.float32:
            images = images.astype(np.float32) * np.float32(1 / 255)
        self._images, self._labels = images, labels
        self._fake, self._one_hot = fake_data, one_hot
        self._num_examples = len(images)
        self._epochs_completed = self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        """Return all images, in the order in which they come in this epoch."""
        return self._images

    @property
    def labels(self) -> Any:
        """Return all labels, in that order."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """Return how many images there are."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """Return how often all were handed out."""
        return self._epochs_completed

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[Any, Any]:
        """Return the next images and labels; after the last ones comes the next epoch.

        Args:
          batch_size: how many; of more than are left in this epoch and in the whole next one, there
            come so many only.
          fake_data: whether to return ones instead.
          shuffle: whether each epoch has an order of its own.
        """
        if fake_data or self._fake:
            return self._fake_batch(batch_size)
        start = self._index_in_epoch
        if not start and not self._epochs_completed and shuffle:
            self._shuffle()
        self._index_in_epoch = end = start + batch_size
        if end <= self._num_examples:
            return self._images[start:end], self._labels[start:end]
        return self._over_the_end(start, batch_size, shuffle)

    def _over_the_end(self, start: int, batch_size: int, shuffle: bool) -> tuple[Any, Any]:
        """Return the last ones of this epoch, and the first ones of the next."""
        images, labels = self._images[start:], self._labels[start:]
        self._epochs_completed += 1
        if shuffle:
            self._shuffle()
        self._index_in_epoch = end = batch_size - (self._num_examples - start)
        return (
            np.concatenate((images, self._images[:end])),
            np.concatenate((labels, self._labels[:end])),
        )

    def _shuffle(self) -> None:
        order = np.random.permutation(self._num_examples)  # noqa: NPY002
        self._images, self._labels = self._images[order], self._labels[order]

    def _fake_batch(self, count: int) -> tuple[list[Any], list[Any]]:
        label = [1] + [0] * (CLASSES - 1) if self._one_hot else 0
        return [[1] * 784 for _ in range(count)], [label for _ in range(count)]


class Datasets(NamedTuple):
    """What `read_data_sets` returns: a `DataSet` for each purpose."""

    train: DataSet
    validation: DataSet
    test: DataSet


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = "",
) -> Datasets:
    """Return MNIST from the four idx files of a folder, gzipped or not.

    Args:
      train_dir: the folder.
      fake_data: whether to return data for a quick try, without files.
      one_hot: whether labels are rows with a 1 at the class.
      dtype: float32 (0 to 1) or uint8 (0 to 255).
      reshape: whether each image is a row of 784 numbers; else [28, 28, 1].
      validation_size: how many images of the training files are set aside.
      seed: of the order in which images come.
      source_url: ignored: nothing is downloaded.

    Raises:
      NotFoundError: a file is not there.
      ValueError: there are fewer training images than `validation_size`.
    """
    options: dict[str, Any] = {"dtype": dtype, "reshape": reshape, "seed": seed}
    if fake_data:
        sets = [DataSet([], [], True, one_hot, **options) for _ in range(3)]
        return Datasets(*sets)
    found = {part: read_idx(path) for part, path in _paths(train_dir).items()}
    images, labels = found["train images"][..., None], _labels(found["train labels"], one_hot)
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"Validation size should be between 0 and {len(images)}. Received: {validation_size}."
        )
    test = found["test images"][..., None], _labels(found["test labels"], one_hot)
    parts = [
        (images[validation_size:], labels[validation_size:]),
        (images[:validation_size], labels[:validation_size]),
        test,
    ]
    return Datasets(*[DataSet(*part, **options) for part in parts])


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """Return MNIST from the files of a folder; see `read_data_sets`."""
    return read_data_sets(train_dir)


def _paths(folder: str) -> dict[str, Path]:
    """Return where each file is."""
    found = {part: _path(Path(folder), name) for part, name in FILES.items()}
    missing = [FILES[part] for part, path in found.items() if path is None]
    if missing:
        raise NotFoundError(
            f"no {', no '.join(missing)} (.gz or not) in {os.path.abspath(folder)}: put the four "
            "files of MNIST there, tfdist downloads nothing; fake_data=True goes without them, and "
            f"`tfdist digits {folder}` writes such files of the small digits that tfdist has"
        )
    return {part: path for part, path in found.items() if path is not None}


def _path(folder: Path, name: str) -> Path | None:
    paths = [folder / f"{name}{end}" for end in (".gz", "")]
    paths += [folder / name.replace("-idx", ".idx")]
    return next((path for path in paths if path.exists()), None)


def _labels(labels: Any, one_hot: bool) -> Any:
    return dense_to_one_hot(labels) if one_hot else labels


def dense_to_one_hot(labels_dense: Any, num_classes: int = CLASSES) -> Any:
    """Return a row with a 1 at the class for each label."""
    return np.eye(num_classes)[np.asarray(labels_dense).ravel()]
