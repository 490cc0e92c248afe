"""A step with options, or one that somebody records: it is traced, timed, and told of."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Protocol

from tfdist.base.aliases import TensorValue
from tfdist.errors import OpError
from tfdist.graph.graph import Graph
from tfdist.plan.step_plan import Signature
from tfdist.protos import pb
from tfdist.session import recording
from tfdist.session.connection import Connection, Prepared, RunSettings
from tfdist.session.postmortem import explain
from tfdist.session.recording import PlacedNode, RecordedRun
from tfdist.tracing.calls import RUN_STEP, note, taken


class OpenSession(Protocol):
    """What an observed step asks of its session (`base_session.BaseSession`)."""

    _timeout: float | None

    @property
    def graph(self) -> Graph:
        """Return the graph that the session runs."""

    @property
    def target(self) -> str:
        """Return where the session's master is."""

    @property
    def _opened(self) -> Connection:
        """Return the connection of a step that runs."""


def observed_step(
    session: OpenSession,
    prepared: Prepared,
    feeds: list[TensorValue],
    options: pb.RunOptions | None,
    run_metadata: pb.RunMetadata | None,
) -> list[TensorValue]:
    """Return what a step fetches; fill `run_metadata`, and tell `record_runs` of the run."""
    asked = _settings(session, options)
    metadata, started, failure = pb.RunMetadata(), time.monotonic(), None
    called = time.time_ns()
    connection = session._opened
    try:
        values, metadata = prepared.observe(feeds, asked)
    except BaseException as error:
        failure = error
        if isinstance(error, OpError):
            explain(error, session.graph)
        raise
    finally:
        note(connection.handle, RUN_STEP, "", called)
        if recording.active:
            _record(session, prepared, metadata, time.monotonic() - started, failure)
    if run_metadata is not None:
        _copy(metadata, run_metadata)
    return values


def _copy(metadata: pb.RunMetadata, into: pb.RunMetadata) -> None:
    """Copy a message into the user's, which may be of TensorFlow's own class."""
    if isinstance(into, pb.RunMetadata):
        into.CopyFrom(metadata)
    else:
        into.ParseFromString(metadata.SerializeToString())


def _settings(session: OpenSession, options: pb.RunOptions | None) -> RunSettings:
    timeout = (options.timeout_in_ms if options is not None else 0) or session._timeout
    level = options.trace_level if options is not None else 0
    traced = level == pb.RunOptions.FULL_TRACE or bool(recording.active)
    return RunSettings(timeout, traced, options)


def _record(
    session: OpenSession,
    prepared: Prepared,
    metadata: pb.RunMetadata,
    seconds: float,
    failure: BaseException | None,
) -> None:
    signature = prepared.signature
    fetched = ", ".join([*signature.fetch_names, *signature.targets])
    nodes = _placed(session._opened, signature)
    calls = taken(session._opened.handle)
    lines = _lines(session.graph, (node.name for node in nodes))
    run = RecordedRun(fetched, metadata, session.target, seconds, failure, nodes, calls, lines)
    for runs in recording.active:
        runs.append(run)


def _lines(graph: Graph, names: Iterable[str]) -> dict[str, str]:
    """Return the user's lines that made nodes, by name; what a placer added has none."""
    known = {op.name: op for op in graph.get_operations()}
    return {name: known[name].created_at for name in names if name in known}


def _placed(connection: Connection, signature: Signature) -> tuple[PlacedNode, ...]:
    """Return the nodes of a run; none if that cannot be told: the run itself counts."""
    try:
        return tuple(connection.placed(signature))
    except OpError:
        return ()
