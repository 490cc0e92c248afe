"""A bar of progress for loops, hooks and datasets: tqdm's, with what training adds to it.

Source: tqdm's documentation, for the options and the attributes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tqdm.std import tqdm

from tfdist.datasets.dataset import Dataset
from tfdist.datasets.experimental.stages import cardinality
from tfdist.errors import OutOfRangeError
from tfdist.graph.graph import Graph
from tfdist.graph.scopes import get_default_graph
from tfdist.graph.stacks import get_default_session
from tfdist.session.session import Session
from tfdist.training.global_step import get_global_step, global_step_read
from tfdist.training.sessions.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

EVERY = 0.2  # seconds between two looks
DELAY = 0.5  # seconds that may pass without a bar: what is over by then shows none
OPTIONS = {"unit": " steps", "mininterval": EVERY, "delay": DELAY, "dynamic_ncols": True}


class Progress(tqdm, SessionRunHook):
    """How far something is, how fast it goes, and when it will be done.

    Args:
      iterable: what a loop goes through: anything with elements, or a Dataset, whose elements are
        fetched in the default session, or in one of its own; None for a hook, and where `update`
        is called by hand.
      loss: tensor, or its name, that a hook shows; a loop calls `set_postfix(loss=value)`.
      **options: tqdm's: total, desc, unit, leave, disable, ...

    As a hook of a monitored session it counts global steps, or runs where the graph has no global
    step, and fetches the loss five times a second at most.
    """

    monitor_interval = 0  # seconds; with 0, tqdm starts no thread

    def __init__(self, iterable: Any = None, loss: Any = None, **options: Any) -> None:
        options = OPTIONS | options
        if isinstance(iterable, Dataset):
            options.setdefault("total", _count(iterable))
            iterable = _elements(iterable)
        self._loss = loss
        super().__init__(iterable, **options)

    def set_postfix(self, ordered_dict: Any = None, refresh: bool = False, **values: Any) -> None:
        """Show values behind the rest, such as loss=0.25.

        Args:
          ordered_dict: of values by name.
          refresh: whether at once, and not with the next step that is shown.
          **values: by name, too.
        """
        super().set_postfix(ordered_dict, refresh, **values)

    def begin(self) -> None:
        """Find the loss and the global step in the default graph."""
        graph, step = get_default_graph(), get_global_step()
        self._asked = {} if step is None else {"step": global_step_read(step)}
        if self._loss is not None:
            self._asked["loss"] = graph.as_graph_element(self._loss)
        self._due, self._has_begun = 0.0, False

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Begin where a checkpoint has brought it."""
        if not self._has_begun and "step" in self._asked:
            step = int(session.run(self._asked["step"]))
            self.initial = self.n = self.last_print_n = step
        self._has_begun = True

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Ask for loss and global step, if it is time."""
        self._asks = bool(self._asked) and time.monotonic() >= self._due
        return SessionRunArgs(self._asked) if self._asks else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Show what was told, or count the run."""
        told = run_values.results if self._asks else {}
        if "loss" in told:
            self.set_postfix(loss=told["loss"])
        if "step" in told:
            self.update(int(told["step"]) - self.n)
        elif "step" not in self._asked:
            self.update()
        if self._asks:
            self._due = time.monotonic() + EVERY

    def end(self, session: Any) -> None:
        """Show the end."""
        if "step" in self._asked:
            self.update(int(session.run(self._asked["step"])) - self.n)
        self.close()


@contextmanager
def _session(graph: Graph) -> Iterator[Any]:
    """Yield the default session, if it is of the graph, else one that is closed afterwards."""
    default: Any = get_default_session()
    if default is not None and default.graph is graph:
        yield default
        return
    with Session(graph=graph) as session:
        yield session


def _count(dataset: Dataset) -> int | None:
    """Return how many elements a dataset has; None if that has no end, or is not known."""
    with dataset._variant_tensor.graph.as_default():
        asked = cardinality(dataset)
        with _session(asked.graph) as session:
            found = int(session.run(asked))
    return found if found >= 0 else None


def _elements(dataset: Dataset) -> Iterator[Any]:
    with dataset._variant_tensor.graph.as_default() as graph:
        following = dataset.make_one_shot_iterator().get_next()
    with _session(graph) as session:
        while True:
            try:
                element = session.run(following)
            except OutOfRangeError:
                return
            yield element
