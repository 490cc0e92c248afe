"""`Session` and `InteractiveSession`, which differ in when they are the default session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Unpack

from tfdist.base.aliases import Structure, TensorLike
from tfdist.graph import stacks
from tfdist.graph.graph import Graph
from tfdist.protos import pb
from tfdist.session.base_session import BaseSession
from tfdist.session.connection import find_master

if TYPE_CHECKING:
    from tfdist.session.placement_optimizer import OptimizedPlacement, Options


class Session(BaseSession):
    """Runs parts of a graph; as a context manager also the default session, closed at its end.

    Example:
      >>> with Session() as session:
      ...     session.run(constant(2) + 3)
      np.int32(5)
    """

    _contexts: ExitStack | None = None  # while it is entered

    def __enter__(self) -> Session:
        if self._contexts is not None:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you "
                "want to enter a session multiple times."
            )
        contexts = ExitStack()
        contexts.enter_context(self._graph.as_default())
        contexts.enter_context(self.as_default())
        self._contexts = contexts
        return self

    def __exit__(self, *_: object) -> None:
        contexts, self._contexts = self._contexts, None
        try:
            if contexts is not None:
                contexts.close()
        finally:
            self.close()

    def as_default(self) -> AbstractContextManager[Session]:
        """Make this the default session of the thread while the context lasts, without closing.

        Contexts end in the opposite order of their beginnings, else AssertionError is raised.
        """
        return stacks.default_session(self)

    def optimize_placement(
        self,
        fetches: Structure,
        feed_dict: Mapping[TensorLike, TensorLike] | None = None,
        **options: Unpack[Options],
    ) -> OptimizedPlacement:
        """Return where the nodes of a step should run: measured, simulated, ready to be tried.

        The step is run some forty times, half of them traced, to learn what nodes and links cost,
        and as often under the placement that was found; so a training goes on meanwhile. Pins,
        colocation and kernels hold.

        Args:
          fetches: as for `run`.
          feed_dict: as for `run`.
          **options: `runs`, timed ones and as many traced ones, 20, or 0 for none: then what units
            took so far counts, which tasks know without a trace; `seconds` of the processor for
            the search, 1; `move_state`, whether variables, queues and tables may move, where they
            begin uninitialised, False; `memory_limits`, by full device name, bytes of them;
            `seed`, 0.

        Returns:
          An `OptimizedPlacement`: `sentence()`, `moves()`, `gain`, `verify()`, `session()`,
          `device_function()`. Under 15 % of predicted gain it changes nothing.

        Raises:
          InvalidArgumentError: the session spans one device only.
          ResourceExhaustedError: the limits leave no place for something.
          Whatever running the step raises.
        """
        from tfdist.session.placement_optimizer import optimize_placement  # seldom wanted

        return optimize_placement(self, fetches, feed_dict, **options)

    @staticmethod
    def reset(
        target: str, containers: Iterable[str] | None = None, config: pb.ConfigProto | None = None
    ) -> None:
        """Clear state on the servers of a cluster; its open sessions are aborted.

        Args:
          target: "grpc://HOST:PORT" of a server.
          containers: names of the containers to clear; all of them by default.
          config: accepted for TensorFlow's sake.

        Raises:
          UnavailableError: there is no such server.
        """
        find_master(target).reset(tuple(containers or ()))


class InteractiveSession(BaseSession):
    """A session that is the default session from its creation until it is closed."""

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: pb.ConfigProto | None = None
    ) -> None:
        super().__init__(target, graph, config)
        self._contexts = ExitStack()
        if graph is not None:
            self._contexts.enter_context(graph.as_default())
        self._contexts.enter_context(stacks.default_session(self, enforce_nesting=False))

    def close(self) -> None:
        """End the session, and be the default session no more."""
        super().close()
        self._contexts.close()
