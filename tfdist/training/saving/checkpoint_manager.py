"""CheckpointManager: the files of a Checkpoint, of which the newest ones are kept.

Source: TF 1.15 API documentation, tf.train.CheckpointManager.
"""

from __future__ import annotations

import os
import time
from typing import Any

from tfdist.training.saving.checkpoint import Checkpoint
from tfdist.training.saving.checkpoint_management import (
    checkpoint_exists,
    get_checkpoint_state,
    remove_checkpoint,
    write_state,
)

__all__ = ["CheckpointManager"]


class CheckpointManager:
    """Writes the files of a Checkpoint into a folder, and removes older ones.

    It goes on with the files that another one has left in the folder.

    Args:
      checkpoint: a Checkpoint.
      directory: the folder.
      max_to_keep: how many files are kept; None for all.
      keep_checkpoint_every_n_hours: of those that would be removed, one in this time stays.
      checkpoint_name: of the files.

    Raises:
      ValueError: `max_to_keep` is not above 0.

    Example:
      >>> import tempfile
      >>> v = Variable(1.0, name="v")
      >>> manager = train.CheckpointManager(train.Checkpoint(v=v), tempfile.mkdtemp(), 2)
      >>> with Session() as session:
      ...     session.run(v.initializer)
      ...     paths = [manager.save() for _ in "abc"]
      >>> manager.checkpoints == paths[1:], manager.latest_checkpoint == paths[2]
      (True, True)
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        self._checkpoint, self._directory = checkpoint, directory
        self._max_to_keep, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        self._prefix = os.path.join(directory, checkpoint_name)
        self._times: dict[str, float] = {}  # seconds, by path, oldest first
        self._latest: str | None = None
        self._preserved = time.time()
        self._take_over()

    def _take_over(self) -> None:
        """Go on with the files that are in the folder."""
        state = get_checkpoint_state(self._directory)
        if state is None:
            return
        paths, times = state.all_model_checkpoint_paths, state.all_model_checkpoint_timestamps
        if len(times) != len(paths):
            times = [self._preserved] * len(paths)
        self._times = {p: t for p, t in zip(paths, times, strict=True) if checkpoint_exists(p)}
        self._latest = state.model_checkpoint_path
        self._preserved = state.last_preserved_timestamp or self._preserved

    @property
    def latest_checkpoint(self) -> str | None:
        """Return the path of the newest file; None if there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """Return the paths of the files that are kept, oldest first."""
        return list(self._times)

    def save(self, checkpoint_number: Any = None) -> str:
        """Write a file, and remove those that are too many; returns its path.

        Args:
          checkpoint_number: for the name, an integer or a variable; by default the files are
            counted.
        """
        number = self._checkpoint._counted(None)
        if checkpoint_number is not None:
            number = _number(checkpoint_number)
        path = self._checkpoint.write(f"{self._prefix}-{number}")
        now = time.time()
        self._times.pop(path, None)
        self._times[path] = now
        self._latest = path
        removed = self._removed(now)
        # told first: what the file names is there, whenever this process ends
        write_state(
            self._directory, path, self._times, None, True, list(self._times.values()),
            self._preserved,
        )  # fmt: skip
        for each in removed:
            remove_checkpoint(each)
        return path

    def _removed(self, now: float) -> list[str]:
        """Return the files that are too many, which are no longer among those that are kept."""
        removed = []
        while self._max_to_keep and len(self._times) > self._max_to_keep:
            path = next(iter(self._times))
            written = self._times.pop(path)
            if self._hours and written - self._preserved >= self._hours * 3600.0:
                self._preserved = written
            else:
                removed.append(path)
        return removed


def _number(given: Any) -> int:
    return int(given.eval() if hasattr(given, "eval") else given)
