"""Names of tensorflow.python.framework that are public nowhere else, for programs that use them."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable
from typing import Any

from tfdist.base import devices, nest
from tfdist.base.device_spec import DeviceSpec
from tfdist.base.tensor_shape import Dimension, TensorShape
from tfdist.graph import scopes
from tfdist.graph.constant_values import constant_value as known_value
from tfdist.graph.constant_values import evaluated
from tfdist.graph.convert import constant, convert_to_tensor
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Tensor
from tfdist.graph.stacks import STACKS, default_session, get_default_session
from tfdist.graph.tensor_proto import make_ndarray
from tfdist.models.contrib.framework.names import (
    get_name_scope,
    prepend_name_scope,
    strip_name_scope,
)
from tfdist.ops.autodiff.gradients import RegisterGradient
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.framework.tensor_util import convert_to_tensor_or_indexed_slices
from tfdist.ops.framework.tensor_util import get_static_value as constant_value
from tfdist.ops.ragged.ragged_tensor import RaggedTensor
from tfdist.ops.random.random_ops import set_random_seed
from tfdist.ops.sparse.sparse_tensor import SparseTensor, SparseTensorValue
from tfdist.ops.variables.variable import Variable

__all__ = [
    "CompositeTensor",
    "EagerTensor",
    "MakeNdarray",
    "TF_TryEvaluateConstant_wrapper",
    "as_dimension",
    "as_shape",
    "canonical_name",
    "check_valid",
    "constant_value",
    "constant_value_as_shape",
    "convert_n_to_tensor",
    "default_session",
    "executing_eagerly_outside_functions",
    "get_default_session",
    "get_name_scope",
    "inside_function",
    "internal_convert_to_tensor",
    "is_device_spec",
    "matrix",
    "merge_device",
    "prepend_name_scope",
    "strip_name_scope",
    "tf_export",
    "uid",
    "unknown_shape",
    "vector",
]  # fmt: skip

MakeNdarray = make_ndarray
RegisterStatistics = RegisterGradient
DEFAULT_GRAPH_SEED = 87654321  # random_seed


def TF_TryEvaluateConstant_wrapper(graph: Graph, output: Tensor) -> Any:
    """Return the value of a tensor that is known without running anything, else None.

    Args:
      graph: a graph's `_c_graph`.
      output: what a tensor of it gives as `_as_tf_output()`.
    """
    return evaluated(output)


class EagerTensor(Tensor):
    """A tensor with a value; there are none here."""


class CompositeTensor(metaclass=ABCMeta):  # noqa: B024 - it lists classes
    """What several tensors make up; a library's own classes derive from it."""


for _kind in (IndexedSlices, RaggedTensor, SparseTensor):
    CompositeTensor.register(_kind)


class _TensorLike(metaclass=ABCMeta):  # noqa: B024 - it lists classes
    """What graphs take as a tensor."""


for _like in (Tensor, Variable, IndexedSlices, RaggedTensor, SparseTensor):
    _TensorLike.register(_like)


# tensors


def convert_n_to_tensor(values: Any, dtype: Any = None, name: str | None = None, **_: Any) -> Any:
    """Return a list of values as tensors; `name` is that of the first constants."""
    names = [None if name is None else f"{name}_{index}" for index in range(len(values))]
    return [convert_to_tensor(each, dtype, own) for each, own in zip(values, names, strict=True)]


internal_convert_n_to_tensor = convert_n_to_tensor


def internal_convert_to_tensor(
    value: Any, dtype: Any = None, name: str | None = None, **_: Any
) -> Any:
    """Return a value as a tensor; see `tf.convert_to_tensor`."""
    return convert_to_tensor(value, dtype, name)


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """Return the shape that a vector of integers tells, as far as it is known."""
    value = known_value(tensor)
    if value is not None:
        return TensorShape([None if size == -1 else int(size) for size in value.tolist()])
    known = tensor.plain_shape
    return TensorShape(None if known is None or known[0] is None else [None] * known[0])


constant_v1 = constant
convert_to_tensor_or_composite = convert_to_tensor_or_indexed_slices
internal_convert_to_tensor_or_indexed_slices = convert_to_tensor_or_indexed_slices


def convert_n_to_tensor_or_indexed_slices(
    values: Any, dtype: Any = None, name: str | None = None
) -> list[Any]:
    """Return a list of values as tensors or IndexedSlices; None stays."""
    return [
        None if each is None else convert_to_tensor_or_indexed_slices(each, dtype, name)
        for each in values
    ]


convert_n_to_tensor_or_composite = convert_n_to_tensor_or_indexed_slices


def convert_to_tensor_v2(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Tensor:
    """Return a value as a tensor; see `tf.convert_to_tensor`."""
    return convert_to_tensor(value, dtype, name, dtype_hint)


def is_constant(tensor_or_op: Any) -> bool:
    """Return whether this is a constant of the graph."""
    return getattr(tensor_or_op, "op", tensor_or_op).type == "Const"  # type: ignore[no-any-return]


def is_sparse(x: Any) -> bool:
    """Return whether this is a sparse tensor, or a value of one."""
    return isinstance(x, SparseTensor | SparseTensorValue)


def name_scope_v2(name: str) -> Any:
    """Return a scope for the names of nodes."""
    return scopes.name_scope(name)


def device_v2(device_name: Any) -> Any:
    """Return a scope in which nodes go to a device."""
    return scopes.device(device_name)


def dismantle_graph(graph: Any) -> None:
    """Do nothing: Python frees it."""


def set_seed(seed: Any) -> None:
    """Set the seed of the default graph."""
    set_random_seed(seed)


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


_UIDS = iter(range(1, 1 << 62))


def name_from_scope_name(name: str) -> str:
    """Return the name of a node for which a scope was opened: without "/" at its end."""
    return name.removesuffix("/")


def get_gradient_function(op: Any) -> Any:
    """Return the function that makes the gradient's nodes of an operation.

    It takes the operation and the gradients of its outputs; None stands for an op through which
    nothing flows.

    Raises:
      LookupError: there is none.
    """
    if not op.inputs:
        return None
    rule = op.op_def.gradient_rule
    if rule is None and op.op_def.differentiable:
        raise LookupError(f"No gradient defined for operation {op.name!r} (op type: {op.type})")
    return rule


_TENSOR_LIKE: set[type] = set()


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Let `is_dense_tensor_like` know a class; TypeError if it tells no name and dtype."""
    for name in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, name, None), property):
            raise TypeError(f"Type {tensor_type} does not define a `{name}` property")
    _TENSOR_LIKE.add(tensor_type)


def is_dense_tensor_like(value: Any) -> bool:
    """Return whether this is a tensor, or a variable."""
    names = ("_as_tensor", "dtype", "name")
    return isinstance(value, tuple(_TENSOR_LIKE)) or all(hasattr(value, each) for each in names)


def _get_graph_from_inputs(op_input_list: Any, graph: Any = None) -> Any:
    """Return the graph of the first tensor or operation of these; by default the default one.

    Raises:
      ValueError: one is of another graph than `graph`, if that is given.
    """
    for each in nest.flatten(op_input_list):
        found = getattr(each, "graph", None)
        if found is None:
            continue
        if graph is not None and found is not graph:
            raise ValueError(f"{each!r} is not from the passed-in graph.")
        return found
    return graph or scopes.get_default_graph()


def get_all_collection_keys() -> list[Any]:
    """Return the names of the default graph's collections."""
    return scopes.get_default_graph().get_all_collection_keys()


def has_default_graph() -> bool:
    """Return whether a graph was made the default one by `as_default`."""
    return bool(STACKS.graphs)


class NullContextmanager:
    """A context in which nothing is different."""

    def __init__(self, *_: Any, **__: Any) -> None:
        """Take anything."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, *error: object) -> None:
        """Do nothing."""


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


def canonical_name(device: Any) -> str:
    """Return the canonical text of a device's name or DeviceSpec, "" for None."""
    return "" if device is None else devices.canonical(str(device))


def check_valid(spec: str) -> None:
    """Raise ValueError unless `spec` is a device's name."""
    devices.parse(spec)


DeviceSpecV1 = DeviceSpec


def is_device_spec(obj: Any) -> bool:
    """Return whether this is a DeviceSpec."""
    return isinstance(obj, DeviceSpec)


def merge_device(spec: Any) -> Callable[[Any], str]:
    """Return a function for `tf.device` that completes what inner scopes ask for."""
    asked = spec if isinstance(spec, str) else str(spec)
    return lambda op: devices.merge(asked, op.device or "")


def tf_export(*_: Any, **__: Any) -> Callable[[Any], Any]:
    """Return a decorator that does nothing: TensorFlow's lists public names with it."""
    return lambda decorated: decorated
