"""The ops that find a queue, or make it: a name that is shared must mean a queue of one form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape, show
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.ops.framework.op_aliases import Spellings, of_handles
from tfdist.ops.queues.queue_ops import type_names

_TYPES = "component_types: list(type) >=1; shapes: list(shape) = []; capacity: int = -1; "
_FOUND_BY = "container: string = ''; shared_name: string = ''"
_DRAWS = "min_after_dequeue: int = 0; seed: int = 0; seed2: int = 0; "
_BY_PRIORITY = "component_types: list(type) = []; shapes: list(shape); capacity: int = -1; "


def _both(name: str, attrs: str) -> Spellings:
    """Return both spellings of the op that makes a queue."""
    forms = (f"{name}() -> handle: Ref(string)", f"{name}V2() -> handle: resource")
    ops = [OpDef(f"{form} [{attrs}] !", finds_resource=True) for form in forms]
    return Spellings(*ops).not_differentiable()


FIFO = _both("FIFOQueue", _TYPES + _FOUND_BY)
PADDING = _both("PaddingFIFOQueue", _TYPES + _FOUND_BY)
PRIORITY = _both("PriorityQueue", _BY_PRIORITY + _FOUND_BY)
SHUFFLE = _both("RandomShuffleQueue", _TYPES + _DRAWS + _FOUND_BY)

for _made in (FIFO, PADDING, PRIORITY, SHUFFLE):
    of_handles(_made)


def _makes(kind: str, first_types: Sequence[DType] = ()) -> Callable[..., Any]:
    """Return the kernel that finds or makes a queue.

    Args:
      kind: of the queue.
      first_types: of components that the node does not name.
    """

    def kernel(
        ctx: Any,
        *,
        component_types: list[DType],
        shapes: list[TensorShape],
        capacity: int,
        container: bytes,
        shared_name: bytes,
    ) -> Any:
        wanted = (kind, component_types, shapes, capacity, first_types, 0, (0, 0))
        return _find(ctx, container, shared_name, wanted)

    return kernel


FIFO.kernel(_makes("FIFOQueue"))
PADDING.kernel(_makes("PaddingFIFOQueue"))
PRIORITY.kernel(_makes("PriorityQueue", [dtypes.int64]))


@SHUFFLE.kernel
def random_shuffle_queue_kernel(
    ctx: Any,
    *,
    component_types: list[DType],
    shapes: list[TensorShape],
    capacity: int,
    min_after_dequeue: int,
    seed: int,
    seed2: int,
    container: bytes,
    shared_name: bytes,
) -> Any:
    if min_after_dequeue < 0:
        raise InvalidArgumentError(f"min_after_dequeue {min_after_dequeue} must be >= 0")
    if 0 <= capacity <= min_after_dequeue:
        raise InvalidArgumentError(
            f"min_after_dequeue {min_after_dequeue} must be < capacity {capacity}"
        )
    kind, seeds = "RandomShuffleQueue", (seed, seed2)
    wanted = (kind, component_types, shapes, capacity, (), min_after_dequeue, seeds)
    return _find(ctx, container, shared_name, wanted)


def _find(ctx: Any, container: bytes, shared_name: bytes, wanted: tuple[Any, ...]) -> Any:
    """Return the queue of that name; the session's own queue of the node if there is none."""
    queue = ctx.known()
    if queue is not None and queue.accepted is wanted[1]:  # it is one object for all runs of a node
        return queue
    shown = shared_name.decode() or ctx.node_name

    def make(Queue: Any) -> Any:
        kind, types, shapes, capacity, first_types, least, seeds = wanted
        every, plain = _components(types, shapes, first_types)
        return Queue(shown, capacity, every, plain, kind, container.decode(), least, seeds)

    name = shown if shared_name else ctx.own_name()
    queue = ctx.resource("queue", container, name, make)
    if queue.accepted is not wanted[1]:
        _compare(queue, *wanted)
        queue.accepted = wanted[1]
    return queue


def _components(
    types: Sequence[DType], shapes: Sequence[TensorShape], first_types: Sequence[DType]
) -> tuple[list[DType], list[Shape]]:
    plain = [shape.as_tuple() for shape in shapes]
    return [*first_types, *types], [*[()] * len(first_types), *plain] if plain else []


def _compare(
    queue: Any,
    kind: str,
    types: Sequence[DType],
    shapes: Sequence[TensorShape],
    capacity: int,
    first_types: Sequence[DType],
    least: int,
    seeds: tuple[int, int],
) -> None:
    """Raise InvalidArgumentError unless a queue that was found is as wanted."""
    every, plain = _components(types, shapes, first_types)
    name, state = f"Shared queue {queue.name!r}", queue.state
    if queue.kind != kind:
        raise InvalidArgumentError(f"Expected {queue.kind}, found {kind}: {name}")
    if queue.dtypes != every:
        raise InvalidArgumentError(
            f"{name} has component types {type_names(queue.dtypes)} but requested component types "
            f"were {type_names(every)}"
        )
    if queue.shapes != plain:
        raise InvalidArgumentError(
            f"{name} has component shapes {_shape_list(queue.shapes)} but requested component "
            f"shapes were {_shape_list(plain)}"
        )
    if state.capacity != capacity:
        raise InvalidArgumentError(
            f"{name} has capacity {state.capacity} but requested capacity was {capacity}"
        )
    if state.min_after_dequeue != least:
        raise InvalidArgumentError(
            f"{name} has min_after_dequeue {state.min_after_dequeue} but requested "
            f"min_after_dequeue was {least}."
        )
    if queue.seeds != seeds and seeds != (0, 0):
        raise InvalidArgumentError(
            f"{name} has random seeds {queue.seeds} but requested seeds are {seeds}."
        )


def _shape_list(plain: Sequence[Shape]) -> str:
    return f"[{', '.join(map(show, plain))}]"
