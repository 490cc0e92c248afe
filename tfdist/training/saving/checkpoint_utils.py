"""Checkpoints looked into without a graph: names, shapes, values; and waiting for new ones.

Source: TF 1.15 API documentation, tf.train.NewCheckpointReader, tf.train.list_variables and those
around them.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from tfdist.base.dtypes import DType
from tfdist.errors import NotFoundError
from tfdist.formats.checkpoint.bundle import open_checkpoint
from tfdist.training.saving.checkpoint_management import latest_checkpoint

__all__ = [
    "NewCheckpointReader", "checkpoints_iterator", "list_variables", "load_checkpoint",
    "load_variable",
]  # fmt: skip

_LOG = logging.getLogger("tensorflow")
_PAUSE = 1.0  # seconds between two looks for a new checkpoint


class CheckpointReader:
    """A checkpoint of either format; a tensor is read when it is asked for.

    Args:
      filepattern: what `Saver.save` returned.

    Raises:
      NotFoundError: there is no such checkpoint.
      DataLossError: it is damaged.

    Example:
      >>> import tempfile
      >>> v = Variable([1.0, 2.0], name="v")
      >>> with Session() as session:
      ...     session.run(v.initializer)
      ...     path = train.Saver().save(session, f"{tempfile.mkdtemp()}/model")
      >>> reader = train.NewCheckpointReader(path)
      >>> reader.get_variable_to_shape_map()
      {'v': [2]}
      >>> reader.get_tensor("v")
      array([1., 2.], dtype=float32)
    """

    def __init__(self, filepattern: str | bytes) -> None:
        self._reader = open_checkpoint(os.fsdecode(filepattern))

    def has_tensor(self, tensor_str: str) -> bool:
        """Return whether there is a tensor of this name."""
        return self._reader.find(os.fsencode(tensor_str)) is not None

    def get_tensor(self, tensor_str: str) -> Any:
        """Return the value of a tensor.

        Raises:
          NotFoundError: there is none of this name.
          DataLossError: it is damaged.
        """
        key = os.fsencode(tensor_str)
        if self._reader.find(key) is None:
            raise NotFoundError(self._reader.absent(tensor_str))
        value = self._reader.read(key)
        return value if value.ndim else value[()]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Return the shapes of all tensors, by name."""
        return {name: list(stored.shape) for name, stored in self._stored()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """Return the types of all tensors, by name."""
        return {name: stored.dtype for name, stored in self._stored()}

    def _stored(self) -> Iterator[tuple[str, Any]]:
        for name in self._reader.names():
            yield os.fsdecode(name), self._reader.find(name)

    def debug_string(self) -> bytes:
        """Return a line for each tensor: name, type, shape."""
        return self._reader.debug_string()


def NewCheckpointReader(filepattern: str | bytes) -> CheckpointReader:
    """Return a reader of a checkpoint; see `CheckpointReader`."""
    return CheckpointReader(filepattern)


def load_checkpoint(ckpt_dir_or_file: str) -> CheckpointReader:
    """Return a reader of a checkpoint, or of the newest one of a folder.

    Args:
      ckpt_dir_or_file: what `Saver.save` returned, or a folder.

    Raises:
      ValueError: there is no checkpoint in the folder.
      NotFoundError: there is no such checkpoint.
    """
    return CheckpointReader(checkpoint_of(ckpt_dir_or_file))


def checkpoint_of(ckpt_dir_or_file: str) -> str:
    """Return a checkpoint's name: that of the newest one, if it is a folder; else as it is."""
    path = os.fsdecode(ckpt_dir_or_file)
    if not os.path.isdir(path):
        return path
    newest = latest_checkpoint(path)
    if newest is None:
        raise ValueError(
            f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
        )
    return newest


def load_variable(ckpt_dir_or_file: str, name: str) -> Any:
    """Return the value of a variable in a checkpoint, or in the newest one of a folder.

    Args:
      ckpt_dir_or_file: what `Saver.save` returned, or a folder.
      name: of the variable; ":0" may stand at its end.
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """Return names and shapes of the variables in a checkpoint, sorted.

    Args:
      ckpt_dir_or_file: what `Saver.save` returned, or a folder.
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


# new ones


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = _PAUSE,
    timeout: float | None = None,
) -> str | None:
    """Return the newest checkpoint of a folder as soon as it is another one.

    Args:
      checkpoint_dir: folder.
      last_checkpoint: the one that is known.
      seconds_to_sleep: between two looks.
      timeout: seconds after which None is returned; by default never.
    """
    _LOG.info("Waiting for new checkpoint at %s", checkpoint_dir)
    deadline = None if timeout is None else time.monotonic() + timeout
    while (newest := latest_checkpoint(checkpoint_dir)) in (None, last_checkpoint):
        if deadline is not None and time.monotonic() + seconds_to_sleep > deadline:
            return None
        time.sleep(seconds_to_sleep)
    return newest


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Yield the newest checkpoint of a folder, and each time that there is a newer one that.

    Args:
      checkpoint_dir: folder.
      min_interval_secs: seconds between two.
      timeout: seconds to wait for a new one; by default without end.
      timeout_fn: called when they are over: whether that is the end; by default it is.
    """
    path = None
    while True:
        newest = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if newest is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        start = time.monotonic()
        path = newest
        yield path
        time.sleep(max(0.0, start + min_interval_secs - time.monotonic()))
