"""Which checkpoints stay: the last ones, and of the others one in a while."""

from __future__ import annotations


class KeptCheckpoints:
    """The checkpoints that a saver knows of, each with the time when it was saved.

    Attributes:
      checkpoints: (name, seconds), oldest first.
      next_time: seconds; a checkpoint that is newer stays for good.

    Example:
      >>> kept = KeptCheckpoints()
      >>> for step in (0, 1, 2):
      ...     kept.add(f"model-{step}", most=2, now=float(step))
      >>> kept.superfluous(seconds=3600.0)
      ['model-0']
      >>> kept.add("model-3", most=2, now=3.0)
      >>> kept.superfluous(seconds=3600.0)
      []
    """

    def __init__(self) -> None:
        self.checkpoints: list[tuple[str, float]] = []
        self.next_time = 0.0
        self._surplus: list[tuple[str, float]] = []

    def add(self, path: str, most: int, now: float) -> None:
        """Add the newest checkpoint.

        Args:
          path: its name.
          most: how many are kept; with 0 all are, and none is listed.
          now: when it was saved.
        """
        if most:
            others = [each for each in self.checkpoints if each[0] != path]
            self.checkpoints = [*others, (path, now)]
            self._surplus += self.checkpoints[:-most]
            self.checkpoints = self.checkpoints[-most:]

    def superfluous(self, seconds: float) -> list[str]:
        """Return those that are to be removed now.

        Args:
          seconds: in which one of those that are not among the last ones stays.
        """
        found = []
        for path, saved in self._surplus:
            if saved > self.next_time:
                self.next_time += seconds
            else:
                found.append(path)
        self._surplus = []
        return found
