"""From what a program gives to `fit`, `evaluate` and `predict` to a source of batches."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import Any

from tfdist.datasets.experimental.stages import cardinality
from tfdist.keras_impl.backend.sessions import get_session, is_symbolic
from tfdist.keras_impl.engine.training.data import check_lengths
from tfdist.keras_impl.engine.training.sources import (
    ArraySource,
    Batch,
    DatasetElements,
    StreamSource,
    is_dataset,
    is_generator,
    is_sequence,
    sequence_elements,
)

_INFINITE, _UNKNOWN = -1, -2


@dataclass
class Given:
    """What a program has given.

    Attributes:
      model: what it is for.
      x: inputs, or what gives batches.
      y: what is wanted.
      sample_weight: what samples count.
      class_weight: what classes count.
      batch_size: None for 32.
      steps: number of batches, None for all there are.
      shuffle: whether samples are.
      restarts: whether a stream begins anew each time.
      steps_name: what the argument for `steps` is called.
      predicts: whether only inputs are needed.
    """

    model: Any
    x: Any = None
    y: Any = None
    sample_weight: Any = None
    class_weight: Any = None
    batch_size: int | None = None
    steps: int | None = None
    shuffle: Any = False
    restarts: bool = False
    steps_name: str = "steps_per_epoch"
    predicts: bool = False

    @property
    def streams(self) -> bool:
        """Whether a generator or Sequence gives batches."""
        return is_generator(self.x) or is_sequence(self.x)

    def is_weighted(self, source: Any) -> bool:
        """Return whether the batches of a source have weights."""
        if isinstance(source, ArraySource):
            return bool(source.weights)
        return source.is_weighted  # type: ignore[no-any-return]

    def batch(self, element: Any) -> Batch:
        """Return the batch that an element of a stream is."""
        if self.predicts:
            x = element[0] if isinstance(element, tuple) else element
            return self.model._inputs_of(x), [], []
        if not isinstance(element, tuple | list) or len(element) not in (2, 3):
            if not self.model._steps._own_targets:
                return self.model._batch_of(element, None)  # type: ignore[no-any-return]
            raise ValueError(
                "Output of generator should be a tuple `(x, y, sample_weight)` or `(x, y)`. "
                f"Found: {str(element)[:100]}"
            )
        x, y, weight = (*element, None)[:3]
        return self.model._batch_of(x, y, weight, self.class_weight)  # type: ignore[no-any-return]


def source_of(given: Given, split: float = 0.0) -> tuple[Any, Any]:
    """Return a source of batches, and another one of what `split` holds back, or None."""
    if is_dataset(given.x):
        return _from_dataset(given), None
    if is_sequence(given.x) or is_generator(given.x):
        return _from_stream(given), None
    if given.x is None:
        raise ValueError(
            "there is nothing to work with: `x` takes arrays, a dataset, a generator or a Sequence"
        )
    if any(map(is_symbolic, (given.x, given.y, given.sample_weight))):
        return _from_tensors(given, split), None
    return _from_arrays(given, split)


def _from_arrays(given: Given, split: float) -> tuple[Any, Any]:
    if given.predicts:
        inputs, targets, weights = given.model._inputs_of(given.x), [], []
        check_lengths(inputs, [], [])
    else:
        inputs, targets, weights = given.model._batch_of(
            given.x, given.y, given.sample_weight, given.class_weight
        )
    size, count = given.batch_size or 32, len(inputs[0])
    if given.batch_size is None and given.steps:
        size = -(-count // given.steps)
    held = None
    if split:
        if not 0.0 < split < 1.0:
            raise ValueError(f"`validation_split` must be between 0 and 1, got {split}")
        first = int(count * (1.0 - split))
        if not 0 < first < count:
            raise ValueError(
                f"with {count} samples and `validation_split` {split}, one of both parts has none"
            )
        parts = [[each[first:] for each in part] for part in (inputs, targets, weights)]
        held = ArraySource(parts[0], parts[1], parts[2], size, shuffle=True)
        inputs, targets, weights = (
            [each[:first] for each in part] for part in (inputs, targets, weights)
        )
    return ArraySource(inputs, targets, weights, size, given.shuffle), held


class TensorSource(StreamSource):
    """Batches of tensors, computed anew for each step."""

    def __init__(self, given: Given) -> None:
        element = (given.x,) if given.predicts else (given.x, given.y, given.sample_weight)
        super().__init__(lambda: repeat(element), given.batch, given.steps)
        weights = (given.sample_weight, given.class_weight)
        self.is_weighted = any(each is not None for each in weights)


def _from_tensors(given: Given, split: float) -> TensorSource:
    if split:
        raise ValueError(
            "If your data is in the form of symbolic tensors, you cannot use `validation_split`."
        )
    if given.steps is None:
        raise ValueError(
            "When using data tensors as input to a model, you should specify the "
            f"`{given.steps_name}` argument."
        )
    return TensorSource(given)


def _no_batch_size(given: Given, kind: str) -> None:
    if given.batch_size is not None:
        raise ValueError(
            "The `batch_size` argument must not be specified for the given input type. Received "
            f"input: {given.x}, batch_size: {given.batch_size}"
        )
    if given.y is not None:
        raise ValueError(
            f"You passed a {kind} ({given.x}) as input `x` to your model. In that case, you should "
            "not specify a target (`y`) argument, since it gives both."
        )


class CheckedStream(StreamSource):
    """A stream whose first batch tells whether there are weights."""

    def __init__(self, given: Given, start: Any, steps: int | None, restarts: bool) -> None:
        super().__init__(start, given.batch, steps, restarts)
        self._given, self._ahead = given, list[Any]()
        self._begin = start
        self._weighted: bool | None = None

    @property
    def is_weighted(self) -> bool:
        """Whether batches have weights: asks for the first one, and keeps it."""
        if self._weighted is None:
            if self._given.class_weight is not None:
                self._weighted = True
            else:
                self._weighted = self._peek()
        return self._weighted

    def _peek(self) -> bool:
        iterator = self._begin()
        try:
            first = next(iterator)
        except StopIteration:
            raise ValueError("Empty training data: there was no batch.") from None

        def rest() -> Any:
            yield first
            yield from iterator

        if not self._restarts:
            self._iterator = rest()
        elif is_generator(self._given.x):
            begin = [rest()]
            self._start = lambda: begin.pop() if begin else iterator
        return isinstance(first, tuple | list) and len(first) == 3 and not self._given.predicts


def _from_stream(given: Given) -> CheckedStream:
    _no_batch_size(given, "generator or Sequence")
    if is_sequence(given.x):
        steps = given.steps or len(given.x)
        start = sequence_elements(given.x, bool(given.shuffle) and not given.restarts)
        return CheckedStream(given, start, steps, given.restarts)
    if given.steps is None:
        raise ValueError(
            f"Please specify the number of steps via the `{given.steps_name}` argument."
        )
    return CheckedStream(given, lambda: given.x, given.steps, False)


def _from_dataset(given: Given) -> CheckedStream:
    _no_batch_size(given, "dataset or dataset iterator")
    steps = given.steps
    if steps is None:
        count = _cardinality(given.x)
        if count == _INFINITE:
            raise ValueError(
                "When passing an infinitely repeating dataset, you must specify the "
                f"`{given.steps_name}` argument."
            )
        steps = None if count == _UNKNOWN else count
    elements = DatasetElements(given.x)
    restarts = given.restarts or given.steps is None
    return CheckedStream(given, elements, steps, restarts)


def _cardinality(dataset: Any) -> int:
    if hasattr(dataset, "get_next"):
        return _UNKNOWN
    session = get_session()
    with session.graph.as_default():
        return int(session.run(cardinality(dataset)))
