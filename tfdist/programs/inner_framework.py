"""Names of tensorflow.python.framework that are public nowhere else, for programs that use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import devices
from tfdist.base.shapes import Dimension, TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor, constant_value
from tfdist.graph.stacks import get_default_session, pop_session, push_session
from tfdist.graph.tensor_proto import make_ndarray
from tfdist.models.contrib_names import get_name_scope, prepend_name_scope, strip_name_scope
from tfdist.ops.gradients import RegisterGradient

__all__ = [
    "EagerTensor", "MakeNdarray", "as_dimension", "as_shape", "constant_value",
    "constant_value_as_shape", "convert_n_to_tensor", "default_session",
    "executing_eagerly_outside_functions", "get_default_session", "get_name_scope",
    "inside_function", "internal_convert_to_tensor", "matrix", "merge_device",
    "prepend_name_scope", "strip_name_scope", "tf_export", "uid", "unknown_shape", "vector",
]  # fmt: skip

MakeNdarray = make_ndarray
RegisterStatistics = RegisterGradient


class EagerTensor(Tensor):
    """A tensor with a value; there are none here."""


# tensors


def convert_n_to_tensor(values: Any, dtype: Any = None, name: str | None = None, **_: Any) -> Any:
    """Return a list of values as tensors; `name` is that of the first constants."""
    names = [None if name is None else f"{name}_{index}" for index in range(len(values))]
    return [convert_to_tensor(each, dtype, own) for each, own in zip(values, names, strict=True)]


def internal_convert_to_tensor(
    value: Any, dtype: Any = None, name: str | None = None, **_: Any
) -> Any:
    """Return a value as a tensor; see `tf.convert_to_tensor`."""
    return convert_to_tensor(value, dtype, name)


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """Return the shape that a vector of integers tells, as far as it is known."""
    value = constant_value(tensor)
    if value is not None:
        return TensorShape([None if size == -1 else int(size) for size in value.tolist()])
    known = tensor.plain_shape
    return TensorShape(None if known is None or known[0] is None else [None] * known[0])


# shapes


def as_shape(shape: Any) -> TensorShape:
    """Return a TensorShape."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def as_dimension(value: Any) -> Dimension:
    """Return a Dimension."""
    return value if isinstance(value, Dimension) else Dimension(value)


def unknown_shape(rank: int | None = None, **given: Any) -> TensorShape:
    """Return a shape of which the rank is known at most."""
    rank = given.get("ndims", rank)
    return TensorShape(None if rank is None else [None] * rank)


def vector(length: Any) -> TensorShape:
    """Return the shape of a vector."""
    return TensorShape([length])


def matrix(rows: Any, cols: Any) -> TensorShape:
    """Return the shape of a matrix."""
    return TensorShape([rows, cols])


# graphs, sessions, devices


class default_session:
    """Makes a session the default one: `with default_session(session):`."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def __enter__(self) -> Any:
        push_session(self._session)
        return self._session

    def __exit__(self, *error: object) -> None:
        pop_session(self._session)


_UIDS = iter(range(1, 1 << 62))


def uid() -> int:
    """Return a number that no other call gives."""
    return next(_UIDS)


def executing_eagerly_outside_functions() -> bool:
    """Return False: graphs are built here."""
    return False


def inside_function() -> bool:
    """Return whether the default graph is the body of a function."""
    graph = scopes.get_default_graph()
    return graph.outermost is not graph


def merge_device(spec: Any) -> Callable[[Any], str]:
    """Return a function for `tf.device` that completes what inner scopes ask for."""
    asked = spec if isinstance(spec, str) else str(spec)
    return lambda op: devices.merge(asked, op.device or "")


def tf_export(*_: Any, **__: Any) -> Callable[[Any], Any]:
    """Return a decorator that does nothing: TensorFlow's lists public names with it."""
    return lambda decorated: decorated
