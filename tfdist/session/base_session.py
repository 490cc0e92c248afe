"""What all sessions can do: their runs, and the other ways to ask a master."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from types import UnionType
from typing import Any, NamedTuple

from tfdist.base.aliases import Structure, TensorLike, TensorValue
from tfdist.errors import AbortedError, CancelledError, NotFoundError, OpError
from tfdist.graph import scopes
from tfdist.graph.composites import COMPOSITES
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation
from tfdist.plan.step_plan import Signature
from tfdist.protos import pb
from tfdist.runtime.devices.local_devices import Devices
from tfdist.runtime.step.interrupts import deferred_interrupts
from tfdist.session import partial_runs, recording
from tfdist.session.connection import NO_DEVICES, Connection, Prepared
from tfdist.session.feeds import Feed, find_fed, spread
from tfdist.session.fetches import Fetches, structure_key
from tfdist.session.observed_step import observed_step
from tfdist.session.postmortem import explain
from tfdist.session.process_config import session_config
from tfdist.session.recording import PlacedNode, PlacedNodes


class _Call(NamedTuple):
    """A kind of run that was seen before: nothing has to be looked up again."""

    prepared: Prepared | None  # None if nothing is fetched
    feeds: list[Feed]
    fetches: Fetches


def _check_type(name: str, value: object, wanted: type | UnionType, words: str) -> None:
    if not isinstance(value, wanted):
        raise TypeError(f"{name} must be {words}, not {value!r}")


class BaseSession:
    """What `Session` and `InteractiveSession` share.

    Args:
      target: "" for a session of its own in this process, or "grpc://HOST:PORT" of a server.
      graph: to run; by default the default graph.
      config: a ConfigProto.

    Raises:
      NotFoundError: `target` has another form.
      TypeError: an argument is of another type.
    """

    _node_devices: Mapping[str, str] = NO_DEVICES  # see `placement_optimizer`

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: pb.ConfigProto | None = None
    ) -> None:
        config = session_config() if config is None else config
        target = target.decode() if isinstance(target, bytes) else target or ""
        _check_type("target", target, str, "a string")
        _check_type("graph", graph, Graph | None, "a tf.Graph")
        if config is not None and getattr(config, "DESCRIPTOR", None) is None:
            raise TypeError(f"config must be a tf.ConfigProto, not {config!r}")
        if target and not target.startswith("grpc://"):
            raise NotFoundError(
                f"a session's target is '' or 'grpc://HOST:PORT' of a server, not {target!r}"
            )
        self._target = target
        self._graph = graph or scopes.get_default_graph()
        self._config = None if config is None else pb.reparse(config)
        self._connection: Connection | None = None
        self._calls: dict[Any, _Call] = {}
        self._lock = threading.RLock()
        self._closed = False
        self._steps = 0  # that were begun, as far as threads that count at once allow
        timeout = 0 if config is None else config.operation_timeout_in_ms
        self._timeout = timeout if timeout > 0 else None

    @property
    def graph(self) -> Graph:
        """Return the graph that this session runs."""
        return self._graph

    @property
    def graph_def(self) -> pb.GraphDef:
        """Return the GraphDef of the graph."""
        return self._graph.as_graph_def()

    @property
    def sess_str(self) -> str:
        """Return the target."""
        return self._target

    @property
    def target(self) -> str:
        """Return the target."""
        return self._target

    def run(
        self,
        fetches: Structure,
        feed_dict: Mapping[TensorLike, TensorLike] | None = None,
        options: pb.RunOptions | None = None,
        run_metadata: pb.RunMetadata | None = None,
    ) -> Structure:
        """Run what `fetches` needs, once, and return its values.

        Args:
          fetches: a Tensor, SparseTensor, Operation, Variable, IndexedSlices or name, or lists,
            tuples, dicts and namedtuples of them.
          feed_dict: values by tensors (or their names, SparseTensors or IndexedSlices) that they
            replace in this run.
          options: a RunOptions: `trace_level` FULL_TRACE notes every node, `timeout_in_ms`
            bounds the run.
          run_metadata: a RunMetadata to fill: `step_stats` if the run was traced,
            `partition_graphs` if the options ask for them.

        Returns:
          The structure of `fetches`: for tensors arrays that belong to the caller (NumPy scalars
          and bytes for rank 0), for IndexedSlices an IndexedSlicesValue, for a SparseTensor a
          SparseTensorValue, for operations None.

        Raises:
          RuntimeError: the session is closed, or the graph empty.
          TypeError, ValueError: a fetch or feed is not one of this graph, or does not fit.
          OpError: the run failed; its class tells how, its text where.
          KeyboardInterrupt: Ctrl-C.
        """
        call = self._known(fetches, feed_dict)
        if call is None:
            feed_dict = spread(feed_dict or {})
            call = self._known(fetches, feed_dict) or self._prepare(fetches, feed_dict)
        self._check_open()
        prepared = call.prepared
        if prepared is None:
            return call.fetches.rebuild([])
        feeds: list[TensorValue] = []
        if feed_dict:
            keeps = prepared.keeps_feeds
            feeds = [f.array(v, keeps) for f, v in zip(call.feeds, feed_dict.values(), strict=True)]
        if options is None and run_metadata is None and not recording.active:
            values = self._step(prepared, feeds)
        else:
            self._steps += 1
            values = observed_step(self, prepared, feeds, options, run_metadata)
        return call.fetches.rebuild(values)

    def _known(
        self, fetches: Structure, feed_dict: Mapping[TensorLike, TensorLike] | None
    ) -> _Call | None:
        """Return the call for a kind of run that was seen before."""
        try:
            return self._calls[structure_key(fetches), tuple(feed_dict) if feed_dict else ()]
        except (KeyError, TypeError):
            return None

    def _run_while(self, goes_on: Callable[[], bool], op: Operation) -> None:
        """Run an operation again and again, as `run` would but with less ado.

        Args:
          goes_on: asked before each run; False ends it.
          op: what to run.

        Raises:
          OpError: a run failed.
          RuntimeError: the session is closed, or the graph empty.
        """

        def again() -> bool:
            goes = not recording.active and goes_on()
            self._steps += goes
            return goes

        while goes_on():
            call = self._known(op, None)
            if call is None or call.prepared is None or not self._may_repeat():
                self.run(op)
            else:
                self._check_open()
                self._step(call.prepared, [], again)

    def _may_repeat(self) -> bool:
        """Return whether runs may follow each other at the master, seen by nobody one by one."""
        return self._connection is not None and self._connection.is_here and not recording.active

    def _step(
        self, prepared: Prepared, feeds: list[TensorValue], *again: Callable[[], bool]
    ) -> list[TensorValue]:
        self._steps += 1
        seconds = self._timeout / 1000 if self._timeout else None
        try:
            return prepared.run(feeds, seconds, False, *again).values
        except OpError as error:
            if self._closed and isinstance(error, AbortedError):  # nobody should try again
                raise CancelledError("the session was closed while the step began") from None
            explain(error, self._graph)
            raise

    # what a run needs

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session. Open a new one")

    def _prepare(self, fetches: Structure, feed_dict: Mapping[TensorLike, TensorLike]) -> _Call:
        """Return the call for a kind of run that was not seen before."""
        self._check_open()
        if not self._graph.version:
            raise RuntimeError(
                "The Session graph is empty.  Add operations to the graph before calling run(), to "
                "the one that the session was opened with"
            )
        parsed = Fetches(self._graph, fetches, self)
        fed = [find_fed(self._graph, key) for key in feed_dict]
        endpoints = tuple((tensor.op.name, tensor.value_index) for tensor in fed)
        signature = Signature(endpoints, parsed.endpoints, parsed.targets)
        if not parsed.endpoints and not parsed.targets:
            return _Call(None, [], parsed)
        # half a preparation would leave master and session of two minds
        with self._lock, deferred_interrupts():
            connection = self._extended()
            try:
                prepared = connection.prepare(signature)
            except OpError as error:
                explain(error, self._graph)
                raise
            call = _Call(prepared, [Feed(tensor) for tensor in fed], parsed)
            self._calls[structure_key(fetches), tuple(feed_dict)] = call
        return call

    @property
    def _opened(self) -> Connection:
        """Return the connection of a step that runs."""
        assert self._connection is not None
        return self._connection

    def _extended(self) -> Connection:
        """Return the connection, with all nodes of the graph sent; opens it if need be."""
        if self._connection is None:
            self._connection = connection = Connection(
                self._target, self._graph, self._config, self._node_devices
            )
            self._finalizer = connection.closes_with(self)
        try:
            self._connection.extend()
        except KeyboardInterrupt:  # whether a master elsewhere got the nodes is not known
            self._finalizer()
            self._connection = None
            self._calls.clear()
            raise
        return self._connection

    def placement(self, fetches: Structure = None) -> list[PlacedNode]:
        """Return where the nodes of the graph are placed, and why; nothing runs.

        Args:
          fetches: as for `run`; only the nodes that they need are returned then.
        """
        with self._lock, deferred_interrupts():
            connection = self._extended()
        if fetches is None:
            return PlacedNodes(connection.placed(None))
        parsed = Fetches(self._graph, fetches)
        return PlacedNodes(connection.placed(Signature((), parsed.endpoints, parsed.targets)))

    # other ways to run

    def make_callable(
        self,
        fetches: Structure,
        feed_list: Iterable[TensorLike] | None = None,
        accept_options: bool = False,
    ) -> Callable[..., Structure]:
        """Return a function that runs `fetches` with values for `feed_list` as its arguments.

        Args:
          fetches: as for `run`.
          feed_list: tensors to feed, in the order of the arguments.
          accept_options: whether the function takes `options` and `run_metadata`.
        """
        keys = list(feed_list or ())
        is_plain = not any(type(key) in COMPOSITES for key in keys)
        seen: _Call | None = None
        opened: Connection | None = None  # where that was seen

        def call(
            *values: TensorLike,
            options: pb.RunOptions | None = None,
            run_metadata: pb.RunMetadata | None = None,
        ) -> Structure:
            nonlocal seen, opened
            if len(values) != len(keys):
                raise TypeError(f"expected {len(keys)} values to feed, got {len(values)}")
            is_simple = options is None and run_metadata is None and not recording.active
            prepared = None if seen is None else seen.prepared
            if (
                seen is not None
                and prepared is not None
                and is_simple
                and opened is self._connection
            ):
                self._check_open()
                keeps = prepared.keeps_feeds
                feeds = [feed.array(v, keeps) for feed, v in zip(seen.feeds, values, strict=True)]
                return seen.fetches.rebuild(self._step(prepared, feeds))
            feed_dict = dict(zip(keys, values, strict=True))
            result = self.run(fetches, feed_dict, options, run_metadata)
            seen = self._known(fetches, feed_dict) if is_plain else None
            opened = self._connection
            return result

        return call

    def partial_run_setup(
        self, fetches: Structure, feeds: Iterable[TensorLike] | None = None
    ) -> str:
        """Prepare a run that is fed and fetched in several calls of `partial_run`.

        Args:
          fetches: all that will be fetched; operations among them only run.
          feeds: all that will be fed: tensors, their names, SparseTensors or IndexedSlices.

        Returns:
          The handle of the run. It is over when all was fed and fetched, after an error, or with
          the session.

        Raises:
          RuntimeError: the session is closed, or the graph empty.
          TypeError, ValueError: a fetch or feed is not one of this graph.
          InvalidArgumentError: a tensor is both fed and fetched, or nothing is fetched.

        Example:
          >>> x, y = placeholder(float32, []), placeholder(float32, [])
          >>> first = x + 1.0
          >>> second = first * y
          >>> with Session() as session:
          ...     run = session.partial_run_setup([first, second], [x, y])
          ...     found = session.partial_run(run, first, {x: 2.0})
          ...     session.partial_run(run, second, {y: found * 10.0})
          np.float32(90.0)
        """
        self._check_open()
        feeds = () if feeds is None else feeds
        keys = feeds if isinstance(feeds, list | tuple) else [feeds]
        return partial_runs.set_up(self, Fetches(self._graph, fetches), keys)

    def partial_run(
        self,
        handle: str | None,
        fetches: Structure,
        feed_dict: Mapping[TensorLike, TensorLike] | None = None,
    ) -> Structure:
        """Go on with a run: feed some tensors, and fetch some that these and earlier ones make.

        Args:
          handle: what `partial_run_setup` returned; None for an ordinary run.
          fetches: as for `run`, without operations, each once in all calls.
          feed_dict: as for `run`, each once in all calls.

        Returns:
          The structure of `fetches`, as from `run`.

        Raises:
          RuntimeError: the session is closed, or `fetches` has operations.
          InvalidArgumentError: a feed or fetch was not set up, or came already; a fetch needs a
            feed that did not come; or there is no such run, or none any more.
          OpError: the run failed, and is over.
          KeyboardInterrupt: Ctrl-C; the run is over.
        """
        if handle is None:
            return self.run(fetches, feed_dict)
        self._check_open()
        _check_type("handle", handle, str, "what partial_run_setup returned")
        return partial_runs.go_on(self, handle, Fetches(self._graph, fetches), feed_dict or {})

    def list_devices(self) -> Devices:
        """Return the devices of the cluster: name, device_type, memory_limit, incarnation.

        Raises:
          RuntimeError: the session is closed.
        """
        self._check_open()
        with self._lock, deferred_interrupts():
            return Devices(self._extended().devices())

    def close(self) -> None:
        """End the session: its blocked runs fail with CancelledError, new ones with RuntimeError.

        State in a server stays there.
        """
        self._closed = True
        if self._connection is not None:
            self._finalizer()

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<tf.{type(self).__name__} {state} target={self._target!r}>"
