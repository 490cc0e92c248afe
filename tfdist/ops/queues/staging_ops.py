"""The ops on staging areas: elements in order, and elements by key."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InternalError, InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.ops.queues.queue_ops import type_names

__all__: list[str] = []  # staging has the public classes

_BOUNDS = "capacity: int = 0 >=0; memory_limit: int = 0 >=0; "
_FOUND_BY = "; container: string = ''; shared_name: string = ''] !"
_TYPED = f"[{_BOUNDS}dtypes: list(type) >=1{_FOUND_BY}"
_UNTYPED = f"[{_BOUNDS}dtypes: list(type){_FOUND_BY}"
_PUT = f"[{_BOUNDS}dtypes: list(type); fake_dtypes: list(type) >=1{_FOUND_BY}"


def _op(signature: str, **options: Any) -> OpDef:
    return OpDef(signature, **options).not_differentiable()


STAGE = _op(f"Stage(values: dtypes) -> () {_TYPED}", keeps_inputs=True)
UNSTAGE = _op(f"Unstage() -> values: dtypes {_TYPED}")
PEEK = _op(f"StagePeek(index: int32) -> values: dtypes {_TYPED}")
SIZE = _op(f"StageSize() -> size: int32 {_UNTYPED}")
CLEAR = _op(f"StageClear() -> () {_UNTYPED}")

_MAPS = ("Map", "OrderedMap")  # the second ones give the least key first
MAP_STAGE = [
    _op(
        f"{kind}Stage(key: int64, indices: int32, values: fake_dtypes) -> () {_PUT}",
        keeps_inputs=True,
    )
    for kind in _MAPS
]
MAP_UNSTAGE = [
    _op(f"{kind}Unstage(key: int64, indices: int32) -> values: dtypes {_TYPED}") for kind in _MAPS
]
MAP_UNSTAGE_ANY = [
    _op(f"{kind}UnstageNoKey(indices: int32) -> key: int64, values: dtypes {_TYPED}")
    for kind in _MAPS
]
MAP_PEEK = [
    _op(f"{kind}Peek(key: int64, indices: int32) -> values: dtypes {_TYPED}") for kind in _MAPS
]
MAP_SIZE = [_op(f"{kind}Size() -> size: int32 {_UNTYPED}") for kind in _MAPS]
MAP_INCOMPLETE_SIZE = [_op(f"{kind}IncompleteSize() -> size: int32 {_UNTYPED}") for kind in _MAPS]
MAP_CLEAR = [_op(f"{kind}Clear() -> () {_UNTYPED}") for kind in _MAPS]


class _Where:
    """The attributes by which the nodes of one staging area find it."""

    def __init__(
        self,
        capacity: int,
        memory_limit: int,
        dtypes: list[DType],
        container: bytes,
        shared_name: bytes,
    ) -> None:
        self.bounds = capacity, memory_limit
        self.dtypes, self.container = dtypes, container
        self.shared_name = shared_name.decode()

    def find(self, ctx: Any, kind: str, *more: Any) -> Any:
        """Return the staging area, which is made if it is new."""
        name = self.shared_name or ctx.node_name
        return ctx.resource(
            kind,
            self.container,
            name,
            lambda Stage: Stage(name, self.dtypes, *self.bounds, *more, self.container.decode()),
        )


def _reaches(function: Callable[..., Any], is_ordered: bool | None = None) -> Callable[..., Any]:
    """Return a kernel that calls `function` with the staging area, its types and the inputs.

    Args:
      function: takes (area, types, inputs).
      is_ordered: for a map, whether it gives the least key first; None for what is no map.
    """
    kind, more = ("stage", ()) if is_ordered is None else ("map stage", (is_ordered,))

    def kernel(
        ctx: Any,
        *inputs: Any,
        capacity: int,
        memory_limit: int,
        dtypes: list[DType],
        container: bytes,
        shared_name: bytes,
    ) -> Any:
        where = _Where(capacity, memory_limit, dtypes, container, shared_name)
        return function(where.find(ctx, kind, *more), dtypes, *inputs)

    def waiting_kernel(
        ctx: Any,
        *inputs: Any,
        capacity: int,
        memory_limit: int,
        dtypes: list[DType],
        container: bytes,
        shared_name: bytes,
    ) -> Generator[Any, Any, Any]:
        where = _Where(capacity, memory_limit, dtypes, container, shared_name)
        return (yield from function(where.find(ctx, kind, *more), dtypes, *inputs))

    return waiting_kernel if inspect.isgeneratorfunction(function) else kernel


def _scalar() -> Shape:
    return ()


def _size(area: Any, types: Any) -> Any:
    return np.int32(area.size())


def _incomplete_size(area: Any, types: Any) -> Any:
    return np.int32(area.incomplete_size())


def _clear(area: Any, types: Any) -> None:
    area.clear()


def _put(area: Any, types: Any, values: Sequence[Any]) -> Iterator[Any]:
    yield area.put(list(values))


def _get(area: Any, types: list[DType]) -> Generator[Any, Any, Any]:
    _check_types(area, types)
    return (yield area.get())


def _peek(area: Any, types: list[DType], index: Any) -> Generator[Any, Any, Any]:
    _check_types(area, types)
    if index < 0:
        raise InvalidArgumentError(f"there is no element {index} in {area.name!r}")
    return (yield area.peek(int(index)))


def _check_types(area: Any, types: list[DType]) -> None:
    if area.dtypes != types:
        raise InternalError(
            f"Outputs of type {type_names(area.dtypes)} in staging area {area.name!r} do not match "
            f"declared output types {type_names(types)}"
        )


def _map_put(area: Any, types: Any, key: Any, indices: Any, values: Sequence[Any]) -> Iterator[Any]:
    if len(indices) != len(values):
        raise InvalidArgumentError(f"{len(indices)} indices for {len(values)} values")
    yield area.put(int(key), dict(zip(indices.tolist(), values, strict=True)))


def _map_get(area: Any, types: Any, key: Any, indices: Any) -> Generator[Any, Any, Any]:
    _, values = yield area.get(int(key), indices.tolist())
    return values


def _map_get_any(area: Any, types: Any, indices: Any) -> Generator[Any, Any, Any]:
    key, values = yield area.get(None, indices.tolist())
    return np.int64(key), *values


def _map_peek(area: Any, types: Any, key: Any, indices: Any) -> Generator[Any, Any, Any]:
    _, values = yield area.peek(int(key), indices.tolist())
    return values


_IN_ORDER: list[tuple[OpDef, Callable[..., Any]]] = [
    (STAGE, _put), (UNSTAGE, _get), (PEEK, _peek), (SIZE, _size), (CLEAR, _clear)
]  # fmt: skip
_BY_KEY: list[tuple[list[OpDef], Callable[..., Any]]] = [
    (MAP_STAGE, _map_put), (MAP_UNSTAGE, _map_get), (MAP_UNSTAGE_ANY, _map_get_any),
    (MAP_PEEK, _map_peek), (MAP_SIZE, _size), (MAP_INCOMPLETE_SIZE, _incomplete_size),
    (MAP_CLEAR, _clear),
]  # fmt: skip

for _op_def, _function in _IN_ORDER:
    _op_def.kernel(_reaches(_function))
for _ops, _function in _BY_KEY:
    for _is_ordered, _op_def in enumerate(_ops):
        _op_def.kernel(_reaches(_function, bool(_is_ordered)))
for _op_def in (SIZE, *MAP_SIZE, *MAP_INCOMPLETE_SIZE):
    _op_def.shape(_scalar)
