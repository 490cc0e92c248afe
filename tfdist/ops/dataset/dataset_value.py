"""Datasets as values: what the variants of tf.data hold, and how their elements come.

A `Dataset` describes a pipeline and never changes. `items(iteration)` gives a Python generator,
which is the pure iterator: it has no lock, and its items are

- a tuple: an element, one value for each component;
- a `Failure`: an element that cannot be had; others may follow;
- a wait (`graph.op_def.Wait`): whoever drives the generator waits, puts the outcome into
  `iteration.outcome`, and goes on; if it gives the wait up, it leaves `GIVEN_UP` there, and is
  given the same wait again when it comes back, so that no element is lost;
- `TICK`: a moment to look whether to go on. Whatever may take elements without end takes them from
  a source, and sources tick.

So every pipeline hands on what is no tuple, and only `runtime.resources.iterators` knows steps and
locks.

A dataset whose elements can be told by their positions in some `Rows` says which positions come
(`blocks`): shuffling and repeating move numbers then, and batches are cut out of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.base.shuffling import Words
from tfdist.errors import InternalError, InvalidArgumentError, OpError
from tfdist.graph.items import GIVEN_UP, TICK, Failure
from tfdist.graph.op_def import OpDef
from tfdist.ops.dataset.random_access import Rows

Element = tuple[Any, ...]
Item = Any  # an Element, a Failure, a wait or TICK
Block = Any  # a range or an array of positions

TYPES = "output_types: list(type) >=1; output_shapes: list(shape) >=1"
OTHERS = "Targuments: list(type) >=0"

_CHUNK = 256  # elements after which a source ticks


class Call(Protocol):
    """A function of the graph, bound to one iteration.

    Attributes:
      is_slow: whether a call may take any time: whoever calls ticks before.
      now: returns the results, or a Failure; None if a call may have to wait.
    """

    is_slow: bool
    now: Callable[[Element], Element | Failure] | None

    def later(self, arguments: Element) -> Generator[Item, None, Element | Failure]:
        """Yield what the call waits for; returns the results, or a Failure."""


class Callee(Protocol):
    """A function of the graph that kernels can call (`KernelContext.function`)."""

    def bound(self, iteration: Iteration) -> Call:
        """Return the function for the calls of one iteration."""


class Iteration:
    """What the generators of one iterator share.

    Attributes:
      ctx: the kernel context of whoever asks for an element now.
      outcome: of the wait that was yielded last.
      home: what the runtime keeps for calls of functions: their random numbers, say.
      broken: what a generator raised, which ended it; None as long as all is well.
      threads: makes those that prefetch (`runtime.resources.prefetch_threads.Threads`); None if
        there shall be none.
      place: of a stage, told from the end of the pipeline: of each source on the way to it, a
        number, or a word if that source is begun later than the stage that it belongs to.
      epochs: what tells the orders of the epochs of the stages that shuffle, by place.
      gone: how many epochs such a stage has behind it when it begins.
    """

    # What has no slot is shared: `at` hands the very dictionary on.
    __slots__ = ("__dict__", "__weakref__", "epochs", "gone", "place")

    def __init__(self, ctx: Any, threads: Any = None) -> None:
        self.place: tuple[Any, ...] = ()
        self.epochs: dict[Any, Any] = {}
        self.gone = 0
        self.ctx, self.threads = ctx, threads
        self.outcome: Any = None
        self.home: Any = None
        self.broken: BaseException | None = None
        self._states: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def inner(self) -> Iteration:
        """Return what the generators share that another thread may drive; states are the same."""
        made = Iteration(self.ctx, self.threads)
        made._states = self._states
        made.place, made.epochs, made.gone = self.place, self.epochs, self.gone
        return made

    def at(self, place: Any) -> Iteration:
        """Return the same for a source of a stage: only its place is another."""
        made = object.__new__(Iteration)
        made.__dict__ = self.__dict__
        made.place, made.epochs, made.gone = (*self.place, place), self.epochs, self.gone
        return made

    def alone(self, gone: int) -> Iteration:
        """Return the same for a source that shares the orders of its epochs with no other."""
        made = self.at("alone")
        made.epochs, made.gone = {}, gone
        return made

    def times(self) -> int:
        """Return how often the stage here was begun before; it is begun now."""
        key = (*self.place, "times")
        before: int = self.epochs.get(key, self.gone)
        self.epochs[key] = before + 1
        return before

    def words(self, make: Callable[[], Words]) -> Words:
        """Return what tells the orders of the epochs of the stage here, two words for each."""
        found: Words | None = self.epochs.get(self.place)
        if found is None:
            self.epochs[self.place] = found = make()
            found.take(2 * self.gone)
        return found

    def skip_epoch(self) -> None:
        """Let one more epoch be gone for the stages that are begun with the one here."""
        depth = len(self.place)
        for place, words in list(self.epochs.items()):  # others may begin meanwhile
            if place[:depth] == self.place and all(type(each) is int for each in place[depth:]):
                words.take(2)

    def state(self, dataset: Any, make: Callable[[], Any]) -> Any:
        """Return what `dataset` keeps from one epoch of this iterator to the next."""
        found = self._states.get(dataset)
        return self._states.setdefault(dataset, make()) if found is None else found


class Dataset:
    """A pipeline; see the top of this file.

    Attributes:
      shape: of the variant tensor, a scalar.
      rows: where its elements stand, if positions tell them; `blocks` then gives these.
      is_base: whether these are all positions, in order.
    """

    shape = ()
    rows: Rows | None = None
    is_base = False

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """Return a generator of items."""
        assert self.rows is not None
        at = self.rows.at
        for block in self.blocks(iteration):
            if is_block(block):
                for start in range(0, len(block), _CHUNK):
                    yield from map(at, block[start : start + _CHUNK])
                    yield TICK
            else:
                yield block

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """Return a generator of positions in `rows`: ranges and arrays that are not empty."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """Return the number of elements: -1 if there is no end, -2 if it is not known."""
        return UNKNOWN

    def zeros_like(self) -> Dataset:
        """Raise InvalidArgumentError: there are no zeros of it."""
        raise InvalidArgumentError("a dataset has no zeros")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} dataset>"


INFINITE, UNKNOWN = -1, -2


def is_block(item: Any) -> bool:
    """Return whether an item of `blocks` is one."""
    return item.__class__ is range or item.__class__ is np.ndarray


def called(call: Call, arguments: Element) -> Generator[Item, None, Element | Failure]:
    """Call a function: yield what it waits for; returns its results, or a Failure."""
    if call.is_slow:
        yield TICK
    if call.now is not None:
        return call.now(arguments)
    return (yield from call.later(arguments))


def taken(iteration: Iteration, items: Iterator[Item]) -> Generator[Any, Any, Element | None]:
    """Drive a pipeline to its next element, None at its end; yields what it waits for.

    Raises:
      OpError: the element cannot be had, or the step is to stop.
    """
    if iteration.broken is not None:
        raise InternalError(
            f"the pipeline of this iterator was broken by {iteration.broken!r}: initialise it again"
        )
    while True:
        try:
            item = next(items, None)
        except BaseException as error:
            iteration.broken = error
            raise
        if item.__class__ is tuple or item is None:
            return item
        if item.__class__ is Failure:
            raise item.error
        if item is TICK:
            iteration.ctx.check()
            continue
        iteration.outcome = GIVEN_UP
        try:
            iteration.outcome = yield item
        except OpError as error:
            iteration.outcome = error


class Function(NamedTuple):
    """A function of the graph, and what it takes from outside.

    Attributes:
      callee: the function.
      captured: its last arguments.
    """

    callee: Callee
    captured: Element

    def bound(self, iteration: Iteration) -> Bound:
        """Return the function for the calls of one iteration."""
        return Bound(self.callee.bound(iteration), self.captured)


class Bound:
    """A function bound to one iteration, with what it takes from outside (a `Call`)."""

    __slots__ = ("_call", "_captured", "is_slow", "now")

    def __init__(self, call: Call, captured: Element) -> None:
        self._call, self._captured = call, captured
        self.is_slow = call.is_slow
        now = call.now
        self.now = now
        if now is not None and captured:
            self.now = lambda arguments: now(arguments + captured)  # type: ignore[misc]

    def later(self, arguments: Element) -> Generator[Item, None, Element | Failure]:
        """See `Call.later`."""
        return self._call.later(arguments + self._captured)


def function(ctx: Any, f: Any, captured: Sequence[Any]) -> Function:
    """Return the function that an attribute of the node that runs names."""
    return Function(ctx.function(f), tuple(captured))


def dataset_op(
    name: str, inputs: str, attrs: str = TYPES, stateful: bool = False, output: str = "handle"
) -> OpDef:
    """Return the definition of an op that makes a dataset.

    Args:
      name: of the op.
      inputs: as a signature has them.
      attrs: as a signature has them.
      stateful: whether it is noted as such, so that nothing folds it.
      output: name of its only output.
    """
    within = f" [{attrs}]" if attrs else ""
    end = " !" if stateful else ""
    op_def = OpDef(
        f"{name}({inputs}) -> {output}: variant{within}{end}", keeps_inputs=True
    ).not_differentiable()
    op_def.shape(scalar_shape)
    return op_def


def scalar_shape(*_: Shape) -> Shape:
    """Return the shape of a dataset's variant."""
    return ()


def check(holds: bool, message: str) -> None:
    """Raise InvalidArgumentError unless something `holds`."""
    if not holds:
        raise InvalidArgumentError(message)


def text(value: Any) -> bytes:
    """Return a scalar string, which may be an array of rank 0."""
    found: bytes = value if value.__class__ is bytes else value.item()
    return found


def failure_of(error: BaseException) -> Failure:
    """Return what a kernel's own error is among items."""
    if isinstance(error, OpError):
        return Failure(error)
    return Failure(InvalidArgumentError(f"{type(error).__name__}: {error}"))


# elements as arrays


def stacked(parts: Sequence[Any]) -> Any:
    """Return values of one type and shape, one at least, as one array.

    Raises:
      InvalidArgumentError: their shapes differ.
    """
    first = parts[0]
    if isinstance(first, np.generic):  # most often all of them are
        try:
            return np.array(parts, first.dtype)
        except ValueError:
            return stacked_scalars(parts)
    if first.__class__ is not np.ndarray or not first.ndim:
        return stacked_scalars(parts)
    shape = first.shape
    for part in parts:
        if np.shape(part) != shape:
            raise _unequal(np.shape(part), shape)
    return np.concatenate(parts).reshape((len(parts), *shape))


def stacked_scalars(parts: Sequence[Any]) -> Any:
    """Return scalars, one at least, as a vector."""
    shape = next((np.shape(part) for part in parts if np.ndim(part)), None)
    if shape is not None:
        raise _unequal(shape, ())
    values = [part[()] if part.__class__ is np.ndarray else part for part in parts]
    if isinstance(values[0], np.generic):
        return np.array(values, values[0].dtype)
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _unequal(shape: Iterable[int], batch: Iterable[int]) -> InvalidArgumentError:
    return InvalidArgumentError(
        "Cannot add tensor to the batch: number of elements does not match. Shapes are: "
        f"[tensor]: {show(shape)}, [batch]: {show(batch)}"
    )


def show(shape: Iterable[int]) -> str:
    """Return a shape as TensorFlow's runtime writes it."""
    return f"[{','.join(map(str, shape))}]"


def empty(dtype: DType, dims: Iterable[int]) -> Any:
    """Return an array of that type and shape without a value of its own."""
    return np.full(tuple(dims), b"" if dtype.name == "string" else 0, dtype.as_numpy_dtype)
