"""Iterators: resources of a task that give the elements of a dataset one by one.

The resource (`runtime.resources.iterators.Iterator`) keeps the pure generator of the pipeline, and
lets one step after the other drive it; what driving means is said in `dataset`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tfdist.graph.op_def import OpDef
from tfdist.ops.dataset import iterator_handles
from tfdist.ops.dataset.dataset_value import TYPES, Dataset, Iteration, called, scalar_shape, taken
from tfdist.ops.functions.calls import Optional

_NAMES = f"shared_name: string; container: string; {TYPES}"

ITERATOR_V2 = OpDef(f"IteratorV2() -> handle: resource [{_NAMES}] !")
ITERATOR = OpDef(f"Iterator() -> handle: resource [{_NAMES}] !")
ONE_SHOT = OpDef(
    f"OneShotIterator() -> handle: resource [dataset_factory: func; {TYPES}; "
    "container: string = ''; shared_name: string = ''] !"
)
ANONYMOUS = OpDef(f"AnonymousIterator() -> handle: resource [{TYPES}] !")
ANONYMOUS_V2 = OpDef(f"AnonymousIteratorV2() -> handle: resource, deleter: variant [{TYPES}] !")
ANONYMOUS_V3 = OpDef(f"AnonymousIteratorV3() -> handle: resource [{TYPES}] !")
DELETE = OpDef("DeleteIterator(handle: resource, deleter: variant) -> () !")
MAKE = OpDef("MakeIterator(dataset: variant, iterator: resource) -> () !")
GET_NEXT = OpDef(
    f"IteratorGetNext(iterator: resource) -> components: output_types [{TYPES}] !",
    may_run_on=True,
)
GET_NEXT_SYNC = OpDef(
    f"IteratorGetNextSync(iterator: resource) -> components: output_types [{TYPES}] !",
    may_run_on=True,
)
GET_NEXT_AS_OPTIONAL = OpDef(
    f"IteratorGetNextAsOptional(iterator: resource) -> optional: variant [{TYPES}] !",
    may_run_on=True,
)
TO_STRING = OpDef("IteratorToStringHandle(resource_handle: resource) -> string_handle: string !")
_WANTED = "output_types: list(type) = []; output_shapes: list(shape) = []"
FROM_STRING_V2 = OpDef(
    f"IteratorFromStringHandleV2(string_handle: string) -> resource_handle: resource [{_WANTED}] !"
)
FROM_STRING = OpDef(
    f"IteratorFromStringHandle(string_handle: string) -> resource_handle: resource [{_WANTED}] !"
)
GET_DEVICE = OpDef("IteratorGetDevice(resource: resource) -> device: string !")

for _op in (ITERATOR, ITERATOR_V2, ONE_SHOT, ANONYMOUS, ANONYMOUS_V3, GET_NEXT_AS_OPTIONAL,
            TO_STRING, FROM_STRING, FROM_STRING_V2, GET_DEVICE):  # fmt: skip
    _op.not_differentiable().shape(scalar_shape)
for _op in (ANONYMOUS_V2, DELETE, MAKE, GET_NEXT, GET_NEXT_SYNC):
    _op.not_differentiable()


@ANONYMOUS_V2.shape
def anonymous_shape() -> list[Shape]:
    return [(), ()]


@GET_NEXT.shape
@GET_NEXT_SYNC.shape
def get_next_shape(iterator: Shape, *, output_shapes: list[TensorShape]) -> list[Shape]:
    return [shape.as_tuple() for shape in output_shapes]


def _iterator(
    ctx: Any, container: bytes, shared_name: bytes, types: list[Any], shapes: list[TensorShape]
) -> Any:
    """Return the iterator of a node: the session's own, unless it has a shared name."""

    def make(kind: Any) -> Any:
        return kind(name, types, shapes, container.decode())

    name = shared_name.decode() or ctx.own_name()
    found = ctx.resource("iterator", container, name, make)
    iterator_handles.check_types(found, types, shapes)
    return found


@ITERATOR.kernel
@ITERATOR_V2.kernel
def iterator_kernel(
    ctx: Any,
    *,
    container: bytes,
    shared_name: bytes,
    output_types: list[Any],
    output_shapes: list[TensorShape],
) -> Any:
    return _iterator(ctx, container, shared_name, output_types, output_shapes)


@ONE_SHOT.kernel
def one_shot_kernel(
    ctx: Any,
    *,
    dataset_factory: Any,
    container: bytes,
    shared_name: bytes,
    output_types: list[Any],
    output_shapes: list[TensorShape],
) -> Any:
    """Return an iterator that makes its dataset when it is asked for an element first."""
    iterator = _iterator(ctx, container, shared_name, output_types, output_shapes)
    if iterator.factory is None:
        iterator.factory = ctx.function(dataset_factory)
    return iterator


@ANONYMOUS.kernel
@ANONYMOUS_V3.kernel
def anonymous_kernel(ctx: Any, *, output_types: list[Any], output_shapes: list[TensorShape]) -> Any:
    return _iterator(ctx, b"", b"", output_types, output_shapes)


@ANONYMOUS_V2.kernel
def anonymous_v2_kernel(
    ctx: Any, *, output_types: list[Any], output_shapes: list[TensorShape]
) -> list[Any]:
    return [_iterator(ctx, b"", b"", output_types, output_shapes), None]


@DELETE.kernel
def delete_kernel(handle: Any, deleter: Any) -> None:
    handle.pipeline = None


@MAKE.kernel
def make_kernel(ctx: Any, dataset: Dataset, iterator: Any) -> None:
    iteration = Iteration(ctx, iterator.threads)
    iterator.pipeline = (iteration, dataset.items(iteration))


def _next(ctx: Any, iterator: Any) -> Generator[Any, Any, Any]:
    """Return the next element, None at the end; steps take turns."""
    wait = iterator.enter()
    if wait is not None:
        yield wait
    try:
        iteration, items = iterator.pipeline or (yield from _begun(ctx, iterator))
        iteration.ctx = ctx
        return (yield from taken(iteration, items))
    finally:
        iterator.leave()


def _begun(ctx: Any, iterator: Any) -> Generator[Any, Any, Any]:
    """Begin the dataset of a one-shot iterator; returns its pipeline."""
    if iterator.factory is None:
        raise FailedPreconditionError(
            "GetNext() failed because the iterator has not been initialized. Ensure that you have "
            "run the initializer operation for this iterator before getting the next element."
        )
    iteration = Iteration(ctx, iterator.threads)
    made: Any = yield from taken(iteration, _once(called(iterator.factory.bound(iteration), ())))
    iterator.pipeline = pipeline = (iteration, made[0].items(iteration))
    return pipeline


def _once(call: Generator[Any, None, Any]) -> Generator[Any, None, None]:
    """Return a call as a pipeline of one element."""
    yield (yield from call)


@GET_NEXT.kernel
@GET_NEXT_SYNC.kernel
def get_next_kernel(ctx: Any, iterator: Any) -> Generator[Any, Any, Any]:
    element = yield from _next(ctx, iterator)
    if element is None:
        raise OutOfRangeError("End of sequence")
    return element


@GET_NEXT_AS_OPTIONAL.kernel
def get_next_as_optional_kernel(ctx: Any, iterator: Any) -> Generator[Any, Any, Any]:
    element = yield from _next(ctx, iterator)
    return Optional(None if element is None else list(element))


@TO_STRING.kernel
def to_string_kernel(ctx: Any, resource_handle: Any) -> bytes:
    return iterator_handles.written(resource_handle, ctx.device)


@FROM_STRING.kernel
@FROM_STRING_V2.kernel
def from_string_kernel(
    ctx: Any, string_handle: Any, *, output_types: list[Any], output_shapes: list[TensorShape]
) -> Any:
    container, name = iterator_handles.read(string_handle, ctx.device)
    iterator = ctx.resource("iterator", container, name, _absent(name))
    iterator_handles.check_types(iterator, output_types, output_shapes)
    return iterator


def _absent(name: str) -> Any:
    def make(kind: Any) -> Any:
        raise InvalidArgumentError(
            f"the iterator {name!r} of a string handle is not on this task: its session was "
            "closed, or the task has restarted"
        )

    return make


@GET_DEVICE.kernel
def get_device_kernel(ctx: Any, resource: Any) -> bytes:
    return ctx.device.encode()  # type: ignore[no-any-return]
