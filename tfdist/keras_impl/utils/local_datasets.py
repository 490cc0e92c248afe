"""tf.keras.datasets: data sets from files that are there; nothing is downloaded.

The files are those that keras keeps in ~/.keras/datasets. Where one is missing, the error tells
which it is, and where it belongs.

Source: TF 1.15 API documentation, tf.keras.datasets.
"""

from __future__ import annotations

import json
import os
import pickle
from typing import Any

import numpy as np

from tfdist.formats.idx import read_idx
from tfdist.keras_impl.utils.utils import get_file

_HOME = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_CIFAR = "https://www.cs.toronto.edu/~kriz/"
_IDX = (
    ("train-labels-idx1-ubyte", "train-images-idx3-ubyte"),
    ("t10k-labels-idx1-ubyte", "t10k-images-idx3-ubyte"),
)
Pairs = tuple[tuple[Any, Any], tuple[Any, Any]]


def _path(name: str, origin: str | None = None) -> str:
    """Return where a file is: a path that exists, or its place below ~/.keras/datasets.

    Raises:
      FileNotFoundError: it is not there.
    """
    return name if os.path.exists(name) else get_file(name, origin or _HOME + name)


def _split(xs: Any, labels: Any, test_split: float) -> Pairs:
    count = int(len(xs) * (1 - test_split))
    return (xs[:count], labels[:count]), (xs[count:], labels[count:])


def mnist(path: str = "mnist.npz") -> Pairs:
    """Return handwritten digits: uint8 [60000, 28, 28] with labels, and 10000 to test.

    Args:
      path: of the file, or its name in ~/.keras/datasets; without it, MNIST's own four files in
        ~/.keras/datasets/mnist are read.

    Raises:
      FileNotFoundError: it is not there.

    Example:
      >>> keras.datasets.mnist.load_data("/nowhere/mnist.npz")
      Traceback (most recent call last):
      FileNotFoundError: ...
    """
    try:
        found = _path(path)
    except FileNotFoundError:
        folder = os.path.join(os.path.expanduser("~"), ".keras", "datasets", "mnist")
        if not os.path.isdir(folder):
            raise
        return _from_idx(folder)
    with np.load(found) as file:
        return (file["x_train"], file["y_train"]), (file["x_test"], file["y_test"])


def fashion_mnist() -> Pairs:
    """Return clothes: uint8 [60000, 28, 28] with labels, and 10000 to test.

    Raises:
      FileNotFoundError: a file is not in ~/.keras/datasets/fashion-mnist.

    Example:
      >>> callable(keras.datasets.fashion_mnist.load_data)
      True
    """
    folder = os.path.join(os.path.expanduser("~"), ".keras", "datasets", "fashion-mnist")
    return _from_idx(folder)


def _from_idx(folder: str) -> Pairs:
    train, test = (tuple(read_idx(_idx(folder, name)) for name in names) for names in _IDX)
    return (train[1], train[0]), (test[1], test[0])


def _idx(folder: str, name: str) -> str:
    for path in (f"{folder}/{name}.gz", f"{folder}/{name}"):
        if os.path.exists(path):
            return path
    raise FileNotFoundError(
        f"there is no {folder}/{name}.gz, and tfdist downloads nothing: fetch {_HOME}{name}.gz "
        "yourself, and put it there"
    )


def cifar10() -> Pairs:
    """Return photographs of ten kinds: uint8 [50000, 32, 32, 3] with labels, and 10000 to test.

    Raises:
      FileNotFoundError: cifar-10-batches-py is not in ~/.keras/datasets.

    Example:
      >>> callable(keras.datasets.cifar10.load_data)
      True
    """
    folder = get_file("cifar-10-batches-py", _CIFAR + "cifar-10-python.tar.gz", untar=True)
    parts = [_cifar(f"{folder}/data_batch_{number}", "labels") for number in range(1, 6)]
    images, labels = (np.concatenate(each) for each in zip(*parts, strict=True))
    return (images, labels), _cifar(f"{folder}/test_batch", "labels")


def cifar100(label_mode: str = "fine") -> Pairs:
    """Return photographs of a hundred kinds: uint8 [50000, 32, 32, 3], and 10000 to test.

    Args:
      label_mode: "fine", or "coarse" for twenty groups of kinds.

    Raises:
      FileNotFoundError: cifar-100-python is not in ~/.keras/datasets.
      ValueError: there is no such mode.

    Example:
      >>> keras.datasets.cifar100.load_data("rough")
      Traceback (most recent call last):
      ValueError: ...
    """
    if label_mode not in ("fine", "coarse"):
        raise ValueError('`label_mode` must be one of `"fine"`, `"coarse"`.')
    folder = get_file("cifar-100-python", _CIFAR + "cifar-100-python.tar.gz", untar=True)
    key = f"{label_mode}_labels"
    return _cifar(f"{folder}/train", key), _cifar(f"{folder}/test", key)


class _Arrays(pickle.Unpickler):
    """Reads pickles of arrays alone: another class in them is an error."""

    def find_class(self, module: str, name: str) -> Any:
        if (module.split(".")[0], name) in {
            ("numpy", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype"),
            ("_codecs", "encode"),
        }:  # fmt: skip
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"the file has a {module}.{name}, which is no array")


def _cifar(path: str, key: str) -> tuple[Any, Any]:
    with open(path, "rb") as file:
        told = _Arrays(file, encoding="bytes").load()
    images = told[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return images, np.reshape(np.array(told[key.encode()], np.uint8), (-1, 1))


def boston_housing(
    path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113
) -> Pairs:
    """Return 13 numbers on each of 506 parts of Boston, and the prices of houses there.

    Args:
      path: of the file, or its name in ~/.keras/datasets.
      test_split: part of them that is to test.
      seed: of their order.

    Raises:
      FileNotFoundError: it is not there.

    Example:
      >>> keras.datasets.boston_housing.load_data("/nowhere/boston_housing.npz")
      Traceback (most recent call last):
      FileNotFoundError: ...
    """
    if not 0 <= test_split < 1:
        raise ValueError(f"`test_split` must be from 0 to below 1, got {test_split}")
    with np.load(_path(path), allow_pickle=False) as file:
        x, y = file["x"], file["y"]
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    return _split(x[order], y[order], test_split)


def imdb(
    path: str = "imdb.npz", num_words: int | None = None, skip_top: int = 0,
    maxlen: int | None = None, seed: int = 113, start_char: int | None = 1,
    oov_char: int | None = 2, index_from: int = 3, **kwargs: Any,
) -> Pairs:  # fmt: skip
    """Return reviews of films as lists of numbers of words, with 1 for good ones, and as many more.

    Args:
      path: of the file, or its name in ~/.keras/datasets.
      num_words: only more frequent words count.
      skip_top: so many of the most frequent words do not.
      maxlen: only shorter reviews count.
      seed: of their order.
      start_char: number that begins each review.
      oov_char: number of words that do not count; None leaves them out.
      index_from: what is added to the numbers of words.
      **kwargs: `nb_words`, the former name of `num_words`.

    Raises:
      FileNotFoundError: it is not there.

    Example:
      >>> keras.datasets.imdb.load_data("/nowhere/imdb.npz")
      Traceback (most recent call last):
      FileNotFoundError: ...
    """
    num_words = kwargs.pop("nb_words", num_words)
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
    with np.load(_path(path), allow_pickle=True) as file:
        parts = [(file[f"x_{part}"], file[f"y_{part}"]) for part in ("train", "test")]
    generator = np.random.RandomState(seed)
    shuffled = []
    for xs, labels in parts:
        order = np.arange(len(xs))
        generator.shuffle(order)
        shuffled.append((xs[order], labels[order]))
    count = len(parts[0][0])
    xs, labels = (np.concatenate(each) for each in zip(*shuffled, strict=True))
    rows = _marked(xs, start_char, index_from)
    rows, labels, count = _short(rows, labels, maxlen, count)
    found = _frequent(rows, num_words, skip_top, oov_char)
    return (found[:count], labels[:count]), (found[count:], labels[count:])


def reuters(
    path: str = "reuters.npz", num_words: int | None = None, skip_top: int = 0,
    maxlen: int | None = None, test_split: float = 0.2, seed: int = 113,
    start_char: int | None = 1, oov_char: int | None = 2, index_from: int = 3, **kwargs: Any,
) -> Pairs:  # fmt: skip
    """Return news as lists of numbers of words, with the numbers of 46 topics.

    Args:
      path: of the file, or its name in ~/.keras/datasets.
      num_words: only more frequent words count.
      skip_top: so many of the most frequent words do not.
      maxlen: only shorter news count.
      test_split: part of them that is to test.
      seed: of their order.
      start_char: number that begins each.
      oov_char: number of words that do not count; None leaves them out.
      index_from: what is added to the numbers of words.
      **kwargs: `nb_words`, the former name of `num_words`.

    Raises:
      FileNotFoundError: it is not there.

    Example:
      >>> keras.datasets.reuters.load_data("/nowhere/reuters.npz")
      Traceback (most recent call last):
      FileNotFoundError: ...
    """
    num_words = kwargs.pop("nb_words", num_words)
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
    with np.load(_path(path), allow_pickle=True) as file:
        xs, labels = file["x"], file["y"]
    order = np.arange(len(xs))
    np.random.RandomState(seed).shuffle(order)
    rows = _marked(xs[order], start_char, index_from)
    rows, labels, _ = _short(rows, labels[order], maxlen, 0)
    return _split(_frequent(rows, num_words, skip_top, oov_char), labels, test_split)


def _marked(xs: Any, start: int | None, index_from: int) -> list[list[int]]:
    first = [] if start is None else [start]
    offset = index_from or 0
    return [[*first, *(word + offset for word in row)] for row in xs]


def _short(rows: list[Any], labels: Any, maxlen: int | None, count: int) -> tuple[Any, Any, int]:
    """Return rows shorter than `maxlen`, and how many of the first `count` are left."""
    if not maxlen:
        return rows, labels, count
    kept = [index for index, row in enumerate(rows) if len(row) < maxlen]
    if not kept:
        raise ValueError(
            f"After filtering for sequences shorter than maxlen={maxlen}, none is left"
        )
    return [rows[i] for i in kept], labels[kept], sum(index < count for index in kept)


def _frequent(rows: list[Any], num_words: int | None, skip_top: int, unknown: int | None) -> Any:
    limit = num_words or max(max(row) for row in rows) + 1

    def counts(word: int) -> bool:
        return skip_top <= word < limit

    if unknown is None:
        changed = [[word for word in row if counts(word)] for row in rows]
    else:
        changed = [[word if counts(word) else unknown for word in row] for row in rows]
    found = np.empty(len(changed), object)
    found[:] = changed
    return found


def word_index(name: str) -> Any:
    """Return a function that reads the numbers of words from a file of JSON."""

    def get_word_index(path: str = name) -> dict[str, int]:
        with open(_path(path), encoding="utf-8") as file:
            return json.load(file)  # type: ignore[no-any-return]

    return get_word_index
