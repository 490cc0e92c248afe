"""FileWriter: summaries, graphs and traces into event files, for TensorBoard.

Source: TF 1.15 API documentation, tf.summary.FileWriter, FileWriterCache.
"""

from __future__ import annotations

import threading
import time
from typing import Any, ClassVar, Self

from tfdist.formats.events import make_folder
from tfdist.graph import scopes
from tfdist.protos import pb
from tfdist.training.events.event_writer import EventWriter

__all__ = ["FileWriter", "FileWriterCache", "SummaryWriter"]


class FileWriter:
    """Writes events to a new file in a folder; a context manager that closes it.

    A thread of its own does the writing. It ends with `close`, when nobody has the writer any
    more, or with the process; what was added is written before. An error of the disk is raised by
    the call that comes next, and closes the writer.

    Args:
      logdir: the folder, which is made.
      graph: a Graph, to be added at once.
      max_queue: so many events may wait for being written; who adds one more waits.
      flush_secs: seconds after which they are written in any case.
      graph_def: a GraphDef, for old programs.
      filename_suffix: the end of the file's name.
      session: accepted for TensorFlow's sake; this process writes, with a session too.

    Raises:
      OpError: the folder cannot be made.

    Example:
      >>> import tempfile
      >>> _ = scalar_summary("loss", constant(0.5))
      >>> merged, folder = merge_all_summaries(), tempfile.mkdtemp()
      >>> with Session() as session, summary.FileWriter(folder, session.graph) as writer:
      ...     for step in [0, 1, 2]:
      ...         writer.add_summary(session.run(merged), step)
    """

    def __init__(
        self,
        logdir: str | bytes,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ) -> None:
        make_folder(logdir)
        self._logdir = logdir
        self._open = lambda: EventWriter(logdir, max_queue, flush_secs, filename_suffix or "")
        self._writer = self._open()
        self._described: set[str] = set()  # the tags whose metadata were written
        self._run_tags: set[Any] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)
            self.add_meta_graph(pb.MetaGraphDef(graph_def=_graph_def(graph, graph_def)))

    def get_logdir(self) -> str | bytes:
        """Return the folder, as it was given."""
        return self._logdir

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Add a Summary, or a serialized one, as `Session.run` gives it.

        What tells TensorBoard how to show a tag is written with the first summary of the tag only.

        Args:
          summary: Summary or bytes.
          global_step: of the summary; 0 by default.

        Raises:
          ValueError: the bytes are no Summary.
          OpError: the disk failed; see the class.
        """
        event = _event(global_step)
        data = summary if isinstance(summary, bytes) else _serialized(summary, "Summary")
        event.summary.CopyFrom(pb.parse(pb.Summary, data))
        for value in event.summary.value:
            if value.HasField("metadata"):
                if value.tag in self._described:
                    value.ClearField("metadata")
                self._described.add(value.tag)
        self._add(event)

    def add_event(self, event: Any) -> None:
        """Add an Event message.

        Raises:
          TypeError: it is none.
          OpError: the disk failed; see the class.
        """
        self._writer.add(_serialized(event, "Event"))

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Add a graph, which TensorBoard draws.

        Args:
          graph: a Graph, or a GraphDef as in old programs.
          global_step: of the event; 0 by default.
          graph_def: a GraphDef, instead of a graph.

        Raises:
          TypeError: there is no graph.
          ValueError: there are two.
          OpError: the disk failed; see the class.
        """
        data = _graph_def(graph, graph_def).SerializeToString()
        self._add(_event(global_step, graph_def=data))

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Add a MetaGraphDef.

        Raises:
          TypeError: it is none.
          OpError: the disk failed; see the class.
        """
        data = _serialized(meta_graph_def, "MetaGraphDef")
        self._add(_event(global_step, meta_graph_def=data))

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Add what a traced step tells, which TensorBoard shows in the graph.

        Args:
          run_metadata: RunMetadata of a step.
          tag: under which it is found; each may be used once.
          global_step: of the step; 0 by default.

        Raises:
          ValueError: the tag was used before.
          OpError: the disk failed; see the class.
        """
        if tag in self._run_tags:
            raise ValueError(f"the tag {tag!r} was already used for run metadata")
        data = _serialized(run_metadata, "RunMetadata")
        tagged = pb.TaggedRunMetadata(tag=tag, run_metadata=data)
        self._run_tags.add(tag)
        self._add(_event(global_step, tagged_run_metadata=tagged))

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Add a SessionLog: that a session began, ended or saved.

        Raises:
          TypeError: it is none.
          OpError: the disk failed; see the class.
        """
        data = _serialized(session_log, "SessionLog")
        self._add(_event(global_step, session_log=pb.SessionLog.FromString(data)))

    def _add(self, event: Any) -> None:
        self._writer.add(event.SerializeToString())

    def flush(self) -> None:
        """Return when all that was added is in the file.

        Raises:
          OpError: the disk failed; see the class.
        """
        self._writer.flush()

    def close(self) -> None:
        """Write what is left and close the file; what is added later goes nowhere.

        Raises:
          OpError: the disk failed; see the class.
        """
        self._writer.close()

    def reopen(self) -> None:
        """Go on, in a new file, after `close`; nothing if it was not closed."""
        if self._writer.is_closed:
            self._writer = self._open()
            self._described.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


SummaryWriter = FileWriter  # before TensorFlow 0.12


class FileWriterCache:
    """One FileWriter for each folder, for those parts of a program that write to the same one."""

    _writers: ClassVar[dict[Any, FileWriter]] = {}
    _lock: ClassVar[Any] = threading.RLock()

    @staticmethod
    def get(logdir: str | bytes) -> FileWriter:
        """Return the writer of a folder; a new one, with the default graph, the first time."""
        with FileWriterCache._lock:
            found = FileWriterCache._writers.get(logdir)
            if found is None:
                found = FileWriter(logdir, graph=scopes.get_default_graph())
                FileWriterCache._writers[logdir] = found
            return found

    @staticmethod
    def clear() -> None:
        """Close all writers, and forget them."""
        with FileWriterCache._lock:
            writers = list(FileWriterCache._writers.values())
            FileWriterCache._writers.clear()
        for writer in writers:
            writer.close()


def _event(step: Any, **what: Any) -> Any:
    return pb.Event(wall_time=time.time(), step=0 if step is None else int(step), **what)


def _serialized(message: Any, kind: str) -> bytes:
    descriptor = getattr(message, "DESCRIPTOR", None)
    if descriptor is None or descriptor.name != kind:
        raise TypeError(f"expected a message {kind}, got {type(message).__name__}: {message!r}")
    data: bytes = message.SerializeToString()
    return data


def _graph_def(graph: Any, graph_def: Any) -> Any:
    """Return the one that was given, as a GraphDef with the shapes of all tensors."""
    if graph is not None and graph_def is not None:
        raise ValueError("either a graph or a graph_def is to be added, but both were given")
    given = graph_def if graph is None else graph
    if hasattr(given, "as_graph_def"):
        return given.as_graph_def(add_shapes=True)
    return pb.GraphDef.FromString(_serialized(given, "GraphDef"))
