"""tf.contrib.summary: summaries that the graph writes into event files itself.

In a graph, each function adds a node to the collection of `all_summary_ops`, which the program
runs beside its steps; `initialize` opens the files.

Source: TF 1.15 API documentation, tf.contrib.summary.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.stacks import get_default_session
from tfdist.ops.array.constants import constant
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import identity, no_op
from tfdist.ops.summary.summaries import summary_scope
from tfdist.ops.summary.writer_ops import (
    AUDIO,
    CLOSE,
    CREATE,
    FLUSH,
    GRAPH,
    HISTOGRAM,
    IMAGE,
    IMPORT,
    SCALAR,
    TENSOR,
    WRITER,
)

__all__ = [
    "SummaryWriter", "all_summary_ops", "always_record_summaries", "audio", "create_file_writer",
    "create_summary_file_writer", "eval_dir", "flush", "generic", "graph", "histogram", "image",
    "import_event", "initialize", "never_record_summaries", "record_summaries_every_n_global_steps",
    "scalar", "should_record_summaries", "summary_writer_initializer_op",
]  # fmt: skip

_SUMMARIES = "_SUMMARY_V2"
_INITIALIZERS = "_SUMMARY_WRITER_V2"
_BAD_COLOR = [255, 0, 0, 255]

# The default writer, and what tells whether to record: the innermost `with` last.
_WRITERS: list[Any] = []
_RECORDING: list[Callable[[], Any]] = [lambda: constant(False)]


class SummaryWriter:
    """An event file that nodes write; made by `create_file_writer`.

    Args:
      handle: of the writer, a resource tensor; None for one that writes nothing.
      opening: the operation that opens the file.
    """

    def __init__(self, handle: Any = None, opening: Any = None) -> None:
        self._resource, self._opening = handle, opening

    def __enter__(self) -> SummaryWriter:
        self._opened = self.as_default()
        return self._opened.__enter__()

    def __exit__(self, *failure: Any) -> None:
        self._opened.__exit__(*failure)

    @contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Let what the block adds write into this file."""
        _WRITERS.append(self)
        try:
            yield self
        finally:
            _WRITERS.pop()

    def set_as_default(self) -> None:
        """Let all that follows write into this file."""
        _WRITERS.append(self)

    def init(self) -> Any:
        """Return the operation that opens the file."""
        return self._opening if self._opening is not None else no_op()

    def flush(self) -> Any:
        """Return the operation that writes what waits."""
        return no_op() if self._resource is None else FLUSH(self._resource)

    def close(self) -> Any:
        """Return the operation that closes the file."""
        return no_op() if self._resource is None else CLOSE(self._resource)


def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """Return an event file that nodes write, in a folder.

    Args:
      logdir: the folder; None for a writer that writes nothing.
      max_queue: how many events wait for company at most; 10 by default.
      flush_millis: accepted for TensorFlow's sake.
      filename_suffix: of the file; ".v2" by default.
      name: by which other graphs and sessions on the task find it; by default made of the folder.

    Example:
      >>> contrib.summary.create_file_writer(None).init().type
      'NoOp'
    """
    if logdir is None:
        return SummaryWriter()
    shared = name or f"logdir:{logdir if isinstance(logdir, str) else 'of a tensor'}"
    with scopes.device("cpu:0"):
        handle = WRITER(shared_name=shared)
        opening = CREATE(
            handle, logdir, 10 if max_queue is None else max_queue,
            2 * 60 * 1000 if flush_millis is None else flush_millis,
            ".v2" if filename_suffix is None else filename_suffix,
        )  # fmt: skip
    scopes.add_to_collection(_INITIALIZERS, opening)
    return SummaryWriter(handle, opening)


create_summary_file_writer = create_file_writer


# whether to record


def should_record_summaries() -> Any:
    """Return whether summaries are written: a bool tensor.

    Example:
      >>> Session().run(contrib.summary.should_record_summaries())
      np.False_
    """
    return _RECORDING[-1]()


@contextmanager
def _recording(tell: Callable[[], Any]) -> Iterator[None]:
    _RECORDING.append(tell)
    try:
        yield
    finally:
        _RECORDING.pop()


def always_record_summaries() -> Any:
    """Return a context in which summaries are written.

    Example:
      >>> with contrib.summary.always_record_summaries():
      ...     Session().run(contrib.summary.should_record_summaries())
      np.True_
    """
    return _recording(lambda: constant(True))


def never_record_summaries() -> Any:
    """Return a context in which no summaries are written."""
    return _recording(lambda: constant(False))


def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Any:
    """Return a context in which summaries are written every `n` steps.

    Args:
      n: every how many.
      global_step: the variable; by default the global step of the graph.
    """

    def due() -> Any:
        step = identity(_step(global_step))
        return raw.Equal(raw.FloorMod(step, convert_to_tensor(n, "int64")), raw.ZerosLike(step))

    return _recording(due)


def _step(step: Any) -> Any:
    if step is None:
        found = scopes.get_collection("global_step")
        if not found:
            raise ValueError(
                "a summary needs a step: give `step`, or make one first by "
                "tf.train.get_or_create_global_step()"
            )
        step = found[0]
    return raw.Cast(convert_to_tensor(step), DstT="int64")


# summaries


def _written(name: str, family: str | None, tensor: Any, write: Callable[..., Any]) -> Any:
    """Return whether the summary was written, a tensor: the node waits for what decides.

    Args:
      name: of the summary.
      family: or None.
      tensor: that it tells of.
      write: takes (writer, tag, tensor, name of the node), returns the node.
    """
    writer = _WRITERS[-1] if _WRITERS else None
    if writer is None or writer._resource is None:
        return no_op()

    def record() -> Tensor:
        with summary_scope(name, family, [tensor]) as (tag, scope):
            done = write(writer._resource, tag, identity(convert_to_tensor(tensor)), scope)
            with scopes.control_dependencies([done]):
                return constant(True)

    with scopes.device("cpu:0"):
        decision = should_record_summaries()
        known = constant_value(decision)
        if known is None:
            made = cond(decision, record, lambda: constant(False), name="")
        else:
            made = record() if known else constant(False)
    scopes.add_to_collection(_SUMMARIES, made)
    return made


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Write a number, beside the steps that run `all_summary_ops`.

    Args:
      name: of the node, and with the scopes around it the tag.
      tensor: real [].
      family: group of tags that it stands in.
      step: by default the global step.

    Returns:
      Whether it was written, a bool tensor; an operation if there is no writer.
    """
    return _written(
        name, family, tensor,
        lambda writer, tag, value, label: SCALAR(writer, _step(step), tag, value, name=label),
    )  # fmt: skip


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Write how numbers are spread; see `scalar`."""
    return _written(
        name, family, tensor,
        lambda writer, tag, value, label: HISTOGRAM(writer, _step(step), tag, value, name=label),
    )  # fmt: skip


def image(
    name: str, tensor: Any, bad_color: Any = None, max_images: int = 3, family: str | None = None,
    step: Any = None,
) -> Any:  # fmt: skip
    """Write images; see `scalar`.

    Args:
      name: see `scalar`.
      tensor: [batch, height, width, channels].
      bad_color: of pixels that are no numbers; red by default.
      max_images: how many.
      family: see `scalar`.
      step: see `scalar`.
    """
    colour = convert_to_tensor(_BAD_COLOR if bad_color is None else bad_color, "uint8")
    return _written(
        name, family, tensor,
        lambda writer, tag, value, label: IMAGE(
            writer, _step(step), tag, value, colour, max_images=max_images, name=label
        ),
    )  # fmt: skip


def audio(
    name: str, tensor: Any, sample_rate: Any, max_outputs: int, family: str | None = None,
    step: Any = None,
) -> Any:  # fmt: skip
    """Write sounds; see `scalar`.

    Args:
      name: see `scalar`.
      tensor: float [batch, frames, channels].
      sample_rate: Hertz.
      max_outputs: how many.
      family: see `scalar`.
      step: see `scalar`.
    """
    rate = convert_to_tensor(sample_rate, "float32", name="sample_rate")
    return _written(
        name, family, tensor,
        lambda writer, tag, value, label: AUDIO(
            writer, _step(step), tag, value, rate, max_outputs=max_outputs, name=label
        ),
    )  # fmt: skip


def generic(
    name: str, tensor: Any, metadata: Any = None, family: str | None = None, step: Any = None
) -> Any:
    """Write a tensor as it is; see `scalar`.

    Args:
      name: see `scalar`.
      tensor: any.
      metadata: a SummaryMetadata message, or a serialized one.
      family: see `scalar`.
      step: see `scalar`.
    """
    told = metadata.SerializeToString() if hasattr(metadata, "DESCRIPTOR") else metadata or b""
    return _written(
        name, family, tensor,
        lambda writer, tag, value, label: TENSOR(writer, _step(step), value, tag, told, name=label),
    )  # fmt: skip


def graph(param: Any, step: Any = None, name: str | None = None) -> Any:
    """Write a serialized GraphDef, a string tensor.

    Raises:
      TypeError: it is no tensor; `initialize(graph=...)` writes a graph of this program.
    """
    if not isinstance(param, Tensor):
        raise TypeError(f"graph() needs a tensor (see initialize(graph=...)), got {type(param)}")
    writer = _WRITERS[-1] if _WRITERS else None
    if writer is None or writer._resource is None:
        return no_op()
    with scopes.device("cpu:0"):
        return GRAPH(writer._resource, _step(step), param, name=name)


def import_event(tensor: Any, name: str | None = None) -> Any:
    """Write a serialized Event."""
    return IMPORT(_WRITERS[-1]._resource, tensor, name=name)


def flush(writer: Any = None, name: str | None = None) -> Any:
    """Return the operation that writes what waits.

    Args:
      writer: by default the one around.
      name: of the node.
    """
    found = writer or (_WRITERS[-1] if _WRITERS else None)
    return no_op() if found is None else found.flush()


def all_summary_ops() -> list[Any]:
    """Return what writes the summaries of the graph.

    Example:
      >>> contrib.summary.all_summary_ops()
      []
    """
    return list(scopes.get_collection(_SUMMARIES))


def summary_writer_initializer_op() -> list[Operation]:
    """Return the operations that open the files of the graph.

    Example:
      >>> contrib.summary.summary_writer_initializer_op()
      []
    """
    return list(scopes.get_collection(_INITIALIZERS))


def initialize(graph: Any = None, session: Any = None) -> None:
    """Open the files of the graph.

    Args:
      graph: a Graph or GraphDef that is written to the default writer.
      session: by default the default session.

    Raises:
      RuntimeError: there is no default writer.
      ValueError: there is no session.
    """
    writer = _WRITERS[-1] if _WRITERS else None
    if writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = session or get_default_session()
    if session is None:
        raise ValueError("Argument `session must be passed if no default session exists")
    if writer._resource is None:
        return
    session.run(summary_writer_initializer_op())
    if graph is not None:
        message = graph.as_graph_def(add_shapes=True) if hasattr(graph, "as_graph_def") else graph
        with session.graph.as_default(), scopes.device("cpu:0"):
            written = GRAPH(writer._resource, constant(0, "int64"), message.SerializeToString())
        session.run(written)


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """Return the folder of an evaluation's event files.

    Example:
      >>> contrib.summary.eval_dir("model", "test")
      'model/eval_test'
    """
    return os.path.join(model_dir, "eval" if not name else f"eval_{name}")
