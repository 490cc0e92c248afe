"""tf.keras.utils: arrays of classes, norms, batches by number, and files that are there.

Source: TF 1.15 API documentation, tf.keras.utils.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = [
    "Sequence", "get_file", "model_to_dot", "multi_gpu_model", "normalize", "plot_model",
    "to_categorical",
]  # fmt: skip


def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> Any:
    """Return an array with 1 for the class, 0 for others.

    Args:
      y: numbers of classes [...].
      num_classes: how many there are; one more than the largest by default.
      dtype: of the array.

    Example:
      >>> keras.utils.to_categorical([0, 2])
      array([[1., 0., 0.],
             [0., 0., 1.]], dtype=float32)
    """
    classes = np.array(y, dtype="int")
    shape = classes.shape
    if len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    flat = classes.ravel()
    count = num_classes or int(flat.max()) + 1
    found = np.zeros((len(flat), count), dtype)
    found[np.arange(len(flat)), flat] = 1
    return found.reshape((*shape, count))


def normalize(x: Any, axis: int = -1, order: Any = 2) -> Any:
    """Return an array divided by its norms.

    Args:
      x: array.
      axis: along which norms are taken.
      order: of the norm.

    Example:
      >>> keras.utils.normalize(np.array([3.0, 4.0]))
      array([[0.6, 0.8]])
    """
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    return x / np.expand_dims(norms, axis)


class Sequence:
    """Batches by number: a subclass has `__getitem__` and `__len__`, and perhaps `on_epoch_end`.

    Example:
      >>> class Pairs(keras.utils.Sequence):
      ...     def __len__(self):
      ...         return 2
      ...
      ...     def __getitem__(self, index):
      ...         return np.ones([4, 3]) * index, np.ones([4, 1])
      >>> [x.sum() for x, y in Pairs()]
      [np.float64(0.0), np.float64(12.0)]
    """

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must have a method __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} must have a method __len__")

    def on_epoch_end(self) -> None:
        """Called when all batches were asked for."""

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self[index]


def get_file(
    fname: str, origin: str, untar: bool = False, md5_hash: str | None = None,
    file_hash: str | None = None, cache_subdir: str = "datasets", hash_algorithm: str = "auto",
    extract: bool = False, archive_format: Any = "auto", cache_dir: str | None = None,
) -> str:  # fmt: skip
    """Return the path of a file that is there already: nothing is downloaded.

    Args:
      fname: name of the file, or its whole path.
      origin: where it comes from.
      untar: whether it is an archive, to be unpacked beside it.
      md5_hash: what it must have.
      file_hash: what it must have, of `hash_algorithm`.
      cache_subdir: folder below `cache_dir`.
      hash_algorithm: "auto", "md5" or "sha256".
      extract: whether it is an archive, to be unpacked beside it.
      archive_format: accepted for TensorFlow's sake.
      cache_dir: ~/.keras by default.

    Raises:
      FileNotFoundError: it is not there: the error tells where it belongs.
      ValueError: its hash is another.

    Example:
      >>> keras.utils.get_file("missing.npz", "https://example.com/missing.npz")
      Traceback (most recent call last):
      FileNotFoundError: ...
    """
    home = cache_dir or os.path.join(os.path.expanduser("~"), ".keras")
    folder = os.path.join(home, cache_subdir)
    path = os.path.join(folder, fname + ".tar.gz" if untar else fname)
    unpacked = os.path.join(folder, fname)
    if untar and os.path.exists(unpacked) and not os.path.exists(path):
        return unpacked
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"there is no {path}, and tfdist downloads nothing: fetch {origin} yourself, and put "
            "it there"
        )
    _check_hash(path, md5_hash, "md5")
    _check_hash(path, file_hash, hash_algorithm)
    if (untar or extract) and not (untar and os.path.exists(unpacked)):
        shutil.unpack_archive(path, folder, filter="data")
    return unpacked


def _check_hash(path: str, wanted: str | None, algorithm: str) -> None:
    if wanted is None:
        return
    name = algorithm if algorithm in ("md5", "sha256") else "sha256" if len(wanted) == 64 else "md5"
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, name).hexdigest()
    if found != wanted:
        raise ValueError(f"{path} has the {name} hash {found}, not {wanted}: it is another file")


def plot_model(model: Any, *args: Any, **options: Any) -> None:
    """Tell what shows a model here.

    Args:
      model: of keras.
      *args: are of no use.
      **options: are of no use.

    Raises:
      NotImplementedError: always.

    Example:
      >>> keras.utils.plot_model(None)
      Traceback (most recent call last):
      NotImplementedError: ...
    """
    raise NotImplementedError(
        "tfdist draws no models with Graphviz: model.summary() lists the layers, and %graph draws "
        "the model's graph in a notebook"
    )


def model_to_dot(model: Any, *args: Any, **options: Any) -> None:
    """Tell what shows a model here.

    Args:
      model: of keras.
      *args: are of no use.
      **options: are of no use.

    Raises:
      NotImplementedError: always.

    Example:
      >>> keras.utils.model_to_dot(None)
      Traceback (most recent call last):
      NotImplementedError: ...
    """
    plot_model(model)


def multi_gpu_model(model: Any, *args: Any, **options: Any) -> None:
    """Tell what trains on several devices here.

    Args:
      model: of keras.
      *args: are of no use.
      **options: are of no use.

    Raises:
      NotImplementedError: always.

    Example:
      >>> keras.utils.multi_gpu_model(None)
      Traceback (most recent call last):
      NotImplementedError: ...
    """
    raise NotImplementedError(
        "tfdist's models train in one session: a session on a cluster (K.set_session) and "
        "tf.device place their layers"
    )
