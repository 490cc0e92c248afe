"""Progbar: a bar of progress that is written over itself, with averages of values.

Source: TF 1.15 API documentation, tf.keras.utils.Progbar.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

__all__ = ["Progbar"]


class Progbar:
    """Shows how far a program is.

    Args:
      target: the number of steps; None if it is unknown.
      width: of the bar.
      verbose: 0 for silence, 1 for a bar, 2 for one line at the end.
      interval: seconds between two pictures.
      stateful_metrics: names of values that are shown as they are; others are averaged.
      unit_name: "step" or "sample".

    Example:
      >>> bar = keras.utils.Progbar(10, verbose=0)
      >>> bar.add(5, [("loss", 0.5)])
    """

    def __init__(
        self, target: int | None, width: int = 30, verbose: int = 1, interval: float = 0.05,
        stateful_metrics: Sequence[str] | None = None, unit_name: str = "step",
    ) -> None:  # fmt: skip
        self.target, self.width, self.verbose, self.interval = target, width, verbose, interval
        self.unit_name, self.stateful_metrics = unit_name, set(stateful_metrics or ())
        self._values: dict[str, Any] = {}  # name -> value, or [sum, count]
        self._seen_so_far = self._total_width = 0
        self._start, self._last_update = time.time(), 0.0

    def update(self, current: int, values: Iterable[tuple[str, Any]] | None = None) -> None:
        """Show where the program is now.

        Args:
          current: number of steps done.
          values: pairs of name and value.
        """
        for key, value in values or ():
            self._take(key, value, current)
        self._seen_so_far = current
        now = time.time()
        is_last = self.target is not None and current >= self.target
        at_once = is_last or self.target is None
        if self.verbose == 1 and (at_once or now - self._last_update >= self.interval):
            self._draw(current, now)
            self._last_update = now
        elif self.verbose == 2 and is_last:
            count = self._count(current)
            sys.stdout.write(f"{count} - {now - self._start:.0f}s{self._shown_values()}\n")
            sys.stdout.flush()

    def add(self, n: int, values: Iterable[tuple[str, Any]] | None = None) -> None:
        """Show that `n` more steps are done.

        Args:
          n: number of steps.
          values: pairs of name and value.
        """
        self.update(self._seen_so_far + n, values)

    def _take(self, key: str, value: Any, current: int) -> None:
        if key in self.stateful_metrics:
            self._values[key] = value
            return
        steps = current - self._seen_so_far
        kept = self._values.setdefault(key, [0.0, 0])
        kept[0] += value * steps
        kept[1] += steps

    def _draw(self, current: int, now: float) -> None:
        text = "\b" * self._total_width + "\r" if self._total_width else "\r"
        head = self._bar(current)
        body = self._timing(current, now - self._start) + self._shown_values()
        width = len(head) + len(body)
        body += " " * max(0, self._total_width - width)
        self._total_width = width
        end = "\n" if self.target is not None and current >= self.target else ""
        sys.stdout.write(text + head + body + end)
        sys.stdout.flush()

    def _count(self, current: int) -> str:
        return f"{current:>{len(str(self.target))}}/{self.target}"

    def _bar(self, current: int) -> str:
        if self.target is None:
            return f"{current:7d}/Unknown"
        done = int(self.width * min(current / self.target, 1.0))
        bar = "=" * (done - 1) + (">" if current < self.target else "=") if done > 0 else ""
        return f"{self._count(current)} [{bar}{'.' * (self.width - done)}]"

    def _timing(self, current: int, elapsed: float) -> str:
        each = elapsed / current if current else 0.0
        if self.target is not None and current < self.target:
            return f" - ETA: {_clock(each * (self.target - current))}"
        if each >= 1 or each == 0:
            shown = f"{each:.0f}s"
        elif each >= 1e-3:
            shown = f"{each * 1e3:.0f}ms"
        else:
            shown = f"{each * 1e6:.0f}us"
        return f" - {elapsed:.0f}s {shown}/{self.unit_name}"

    def _shown_values(self) -> str:
        return "".join(f" - {key}: {_shown(value)}" for key, value in self._values.items())


def _shown(value: Any) -> str:
    if isinstance(value, list):
        value = float(np.mean(value[0] / max(1, value[1])))
    elif not isinstance(value, int | float | np.number):
        return str(value)
    return f"{value:.4f}" if abs(value) > 1e-3 else f"{value:.4e}"


def _clock(seconds: float) -> str:
    whole = int(seconds)
    if whole > 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
    return f"{whole // 60}:{whole % 60:02d}" if whole > 60 else f"{whole}s"
