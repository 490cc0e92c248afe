"""GradientTape in a graph: gradients along what was built in a block.

In a graph nothing runs while it is built; the tape only notes which nodes were added, and walks
back over those.

Source: TF 1.15 API documentation, tf.GradientTape.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape, size
from tfdist.ops.autodiff.custom_gradient import variables_read
from tfdist.ops.autodiff.gradients import gradients
from tfdist.ops.functions.map_fn import map_fn
from tfdist.ops.variables.variable import Variable

__all__ = ["GradientTape"]

_READS = {"Identity", "ReadVariableOp"}


class GradientTape:
    """Notes what a block adds to the graph, and gives gradients along it.

    Trainable variables are watched by themselves, tensors when `watch` says so.

    Args:
      persistent: whether `gradient` may be called more than once.
      watch_accessed_variables: whether trainable variables are watched.

    Example:
      >>> x = constant(3.0)
      >>> with GradientTape() as tape:
      ...     tape.watch(x)
      ...     y = x * x
      >>> Session().run(tape.gradient(y, x))
      np.float32(6.0)
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent, self._watches_variables = persistent, watch_accessed_variables
        self._watched: list[Any] = []
        self._spans: list[tuple[int, int | None]] = []  # versions of the graph
        self._is_used = False

    def __enter__(self) -> GradientTape:
        self._start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._is_recording:
            self._stop()

    @property
    def _is_recording(self) -> bool:
        return bool(self._spans) and self._spans[-1][1] is None

    def _start(self) -> None:
        if self._is_recording:
            raise ValueError("Tape is already recording.")
        self._spans.append((scopes.get_default_graph().version, None))

    def _stop(self) -> None:
        self._spans[-1] = (self._spans[-1][0], scopes.get_default_graph().version)

    def watch(self, tensor: Any) -> None:
        """Let gradients flow to a tensor, or to all of a structure."""
        self._watched += [_key(each) for each in nest.flatten(tensor)]

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Note nothing of what the block adds."""
        if not self._is_recording:
            raise ValueError("Tape is not recording.")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self) -> None:
        """Forget what was noted and what is watched."""
        self._spans = []
        self._watched = []
        self._start()

    def watched_variables(self) -> tuple[Any, ...]:
        """Return the variables that `watch` was told of, and trainable ones that were read.

        Those are resource variables, in the order in which they were made.
        """
        told = [each for each in self._watched if isinstance(each, Variable)]
        noted = self._noted(scopes.get_default_graph()) if self._watches_variables else ()
        return tuple(sorted({*told, *variables_read(noted)}, key=lambda each: each.op._id))

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = "none",
    ) -> Any:
        """Return the gradients of `target` along each source, in the structure of the sources.

        Args:
          target: a tensor, or a structure of them.
          sources: watched tensors and variables, in any structure.
          output_gradients: those of the targets; 1 by default.
          unconnected_gradients: what a source gets that nothing depends on: "none" or "zero".

        Raises:
          RuntimeError: the tape is not persistent, and this is the second call.
        """
        self._check_use("gradient")
        targets = [convert_to_tensor(each) for each in nest.flatten(target)]
        starts = None if output_gradients is None else nest.flatten(output_gradients)
        found = [self._derived(targets, each, starts) for each in nest.flatten(sources)]
        if _told(unconnected_gradients) == "zero":
            pairs = zip(found, nest.flatten(sources), strict=True)
            found = [zeros_like(x) if d is None else d for d, x in pairs]
        return nest.pack_as(sources, found)

    def _check_use(self, name: str) -> None:
        if self._is_used and not self._persistent:
            raise RuntimeError(
                f"GradientTape.{name} can only be called once on non-persistent tapes."
            )
        self._is_used = True

    def _derived(self, targets: list[Tensor], source: Any, starts: Any = None) -> Any:
        key = _key(source)
        if not any(key is each for each in self._watched) and not self._watches(key):
            return None
        return gradients(targets, [source], starts, stop_gradients=self._ends(targets, key))[0]

    def _watches(self, source: Any) -> bool:
        is_variable = isinstance(source, Variable) and getattr(source, "_trainable", False)
        return self._watches_variables and is_variable

    def _ends(self, targets: list[Tensor], source: Any) -> list[Tensor]:
        """Return the tensors at which what was noted begins, which no gradient passes."""
        noted = self._noted(targets[0].graph)
        ends: dict[Tensor, None] = {}
        seen: set[Operation] = set()
        waiting = list(targets)
        while waiting:
            tensor = waiting.pop()
            op = tensor.op
            if isinstance(source, Variable) and op.type in _READS and _reads(op, source):
                continue
            if op not in noted:
                ends[tensor] = None
            elif op not in seen:
                seen.add(op)
                waiting += op.inputs
        return list(ends)

    def _noted(self, graph: Any) -> set[Operation]:
        noted: set[Operation] = set()
        for start, end in self._spans:
            since = graph.operations_since(start)
            later = set() if end is None else set(graph.operations_since(end))
            noted.update(op for op in since if op not in later)
        return noted

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = "none",
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the gradients of each element of `target`, [target's shape, source's shape].

        Args:
          target: a tensor.
          sources: see `gradient`.
          unconnected_gradients: see `gradient`.
          parallel_iterations: accepted for TensorFlow's sake.
          experimental_use_pfor: accepted for TensorFlow's sake; a loop goes through the elements.

        Raises:
          RuntimeError: see `gradient`.
        """
        self._check_use("jacobian")
        target = convert_to_tensor(target)
        found = [self._rows(target, each) for each in nest.flatten(sources)]
        if _told(unconnected_gradients) == "zero":
            sizes = [concat([shape(target), shape(x)], 0) for x in nest.flatten(sources)]
            found = [raw.Fill(n, convert_to_tensor(0, target.dtype)) if d is None else d
                     for d, n in zip(found, sizes, strict=True)]  # fmt: skip
        return nest.pack_as(sources, found)

    def _rows(self, target: Tensor, source: Any) -> Any:
        if self._derived([target], source) is None:
            return None
        count = size(target)
        zeros = raw.ZerosLike(reshape(target, [-1]))

        def row(i: Any) -> Any:
            one = raw.Cast(raw.Equal(raw.Range(0, count, 1), i), DstT=zeros.dtype)
            return convert_to_tensor(self._derived([target], source, [reshape(one, shape(target))]))

        value = convert_to_tensor(source)
        rows = map_fn(row, raw.Range(0, count, 1), dtype=value.dtype.base_dtype)
        result: Any = reshape(rows, concat([shape(target), shape(value)], 0))
        result.set_shape(target.shape.concatenate(value.shape))
        return result

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = "none",
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the gradients of each row's elements along that row of the source.

        Args:
          target: [batch, ...], of which a row depends on that row of the source only.
          source: [batch, ...].
          unconnected_gradients: see `gradient`.
          parallel_iterations: see `jacobian`.
          experimental_use_pfor: see `jacobian`.

        Raises:
          RuntimeError: see `gradient`.
          ValueError: the numbers of rows differ.
        """
        self._check_use("batch_jacobian")
        target, source_value = convert_to_tensor(target), convert_to_tensor(source)
        if not target.shape[:1].is_compatible_with(source_value.shape[:1]):
            raise ValueError(
                f"Need first dimension of target shape ({target.shape}) and source shape "
                f"({source_value.shape}) to match."
            )
        inner: Any = reshape(target, concat([shape(target)[:1], [-1]], 0))  # type: ignore[index]
        if self._derived([target], source) is None:
            return None
        width: Any = shape(inner)[1]  # type: ignore[index]

        def column(i: Any) -> Any:
            one = raw.Cast(raw.Equal(raw.Range(0, width, 1), i), DstT=target.dtype)
            start = reshape(raw.Mul(raw.OnesLike(inner), one), shape(target))
            return convert_to_tensor(self._derived([target], source, [start]))

        columns = map_fn(column, raw.Range(0, width, 1), dtype=source_value.dtype.base_dtype)
        order = concat([[1, 0], raw.Range(2, raw.Rank(columns), 1)], 0)
        sizes = concat([shape(target), shape(source_value)[1:]], 0)  # type: ignore[index]
        result: Any = reshape(raw.Transpose(columns, order), sizes)
        result.set_shape(target.shape.concatenate(source_value.shape[1:]))
        return result


def _key(source: Any) -> Any:
    """Return what a source is known by: a variable itself, else a tensor."""
    if isinstance(source, Variable):
        return source
    if not hasattr(source, "_as_tensor"):
        raise ValueError(f"Passed in object of type {type(source)}, not tf.Tensor")
    return source._as_tensor(False)


def _reads(op: Operation, variable: Any) -> bool:
    handle = getattr(variable, "handle", None)
    return any(each is variable._variable or each is handle for each in op.inputs)


def _told(unconnected: Any) -> str:
    return str(unconnected.value if isinstance(unconnected, enum.Enum) else unconnected)
