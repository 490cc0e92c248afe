"""Names of tensorflow.python that tests of ops use: gradients by small steps, shapes, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, MutableSet, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfdist.graph import stacks
from tfdist.graph.convert import convert_to_tensor
from tfdist.programs.testing import TestCase, get_temp_dir, main
from tfdist.programs.testing_gradients import _pairs

__all__ = [
    "ObjectIdentityDictionary", "ObjectIdentitySet", "ShapeEquals", "TensorShapeProtoToList",
    "compute_gradient", "fft_kernel_label_map", 
    "max_error",
]  # fmt: skip

# googletest
GetTempDir, g_main = get_temp_dir, main


def StatefulSessionAvailable() -> bool:
    """Return False: a session does not outlive its process."""
    return False


# gradient_checker_v2


def compute_gradient(f: Callable[..., Any], x: Sequence[Any], delta: float = 1e-3) -> Any:
    """Return how a function's result depends on its arguments: by gradients, and by steps.

    Args:
      f: takes tensors, returns one.
      x: the arguments; the function is looked at there.
      delta: how far a step goes.

    Returns:
      (Jacobians by the gradient, Jacobians by steps), each a list with one [numbers of y, numbers
      of x] for each argument.

    Raises:
      ValueError: `x` is no list.
    """
    if not isinstance(x, list | tuple):
        raise ValueError(
            f"`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), "
            f"not a {type(x)}"
        )
    session = stacks.get_default_session()
    if session is None:
        with TestCase().session():
            return compute_gradient(f, x, delta)
    tensors = [convert_to_tensor(each) for each in x]
    values = session.run(tensors)
    result = f(*tensors)
    dims = np.shape(session.run(result))
    sizes = [np.shape(value) for value in values]
    found = _pairs(session, tensors, sizes, result, dims, values, delta, None)
    return tuple(zip(*((one.T, other.T) for one, other in found), strict=True)) or ((), ())


def max_error(grad1: Any, grad2: Any) -> float:
    """Return by how much two lists of Jacobians differ at most."""
    error = 0.0
    for one, other in zip(grad1, grad2, strict=True):
        if np.size(one) or np.size(other):
            error = max(error, float(np.fabs(one - other).max()))
    return error


# spectral_ops_test_util


@contextmanager
def fft_kernel_label_map() -> Iterator[None]:
    """Take the kernels that there are."""
    yield


# tensor_util


def ShapeEquals(tensor_proto: Any, shape: Any) -> bool:
    """Return whether a TensorProto has a shape."""
    return [dim.size for dim in tensor_proto.tensor_shape.dim] == list(
        TensorShapeProtoToList(shape) if hasattr(shape, "dim") else shape
    )


def TensorShapeProtoToList(shape: Any) -> list[int]:
    """Return the sizes of a TensorShapeProto."""
    return [dim.size for dim in shape.dim]


def maybe_set_static_shape(tensor: Any, shape: Any) -> None:
    """Add what a constant tells of a tensor's shape."""
    from tfdist.programs.inner_framework import constant_value_as_shape

    if hasattr(shape, "_as_tensor"):
        tensor.set_shape(constant_value_as_shape(convert_to_tensor(shape)))


def reduced_shape(input_shape: Any, axes: Any) -> Any:
    """Return the shape, as a vector, that a reduction with keep_dims has."""
    from tfdist.graph.op_def import raw

    dims = raw.Cast(convert_to_tensor(input_shape), DstT="int32")
    places = raw.Cast(convert_to_tensor(axes), DstT="int32")
    rank = raw.Size(dims)
    axes = raw.FloorMod(raw.AddV2(places, rank), rank)
    ones = raw.Fill(raw.Shape(axes), 1)
    return raw.DynamicStitch([raw.Range(0, rank, 1), axes], [dims, ones])


def convert_to_int_tensor(tensor: Any, name: str | None, dtype: Any = "int32") -> Any:
    """Return a value as a tensor of integers."""
    from tfdist.graph.op_def import raw

    found = convert_to_tensor(tensor, name=name, preferred_dtype=dtype)
    if not found.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={found.dtype}")
    return raw.Cast(found, DstT=dtype)


def get_positive_axis(axis: int, ndims: int | None) -> int:
    """Return an axis counted from the front.

    Raises:
      TypeError: it is no integer.
      ValueError: it is out of range.
    """
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if ndims is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
    return axis % ndims if ndims else axis


# object_identity


class ObjectIdentityDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys are the same only if they are one object."""

    def __init__(self, *given: Any) -> None:
        self._pairs: dict[int, tuple[Any, Any]] = {}
        self.update(*given)

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._pairs[id(key)][1]
        except KeyError:
            raise KeyError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        self._pairs[id(key)] = key, value

    def __delitem__(self, key: Any) -> None:
        del self._pairs[id(key)]

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._pairs.values()])

    def __len__(self) -> int:
        return len(self._pairs)


class ObjectIdentitySet(MutableSet[Any]):
    """A set whose elements are the same only if they are one object."""

    def __init__(self, *given: Any) -> None:
        self._held: dict[int, Any] = {id(each): each for part in given for each in part}

    def __contains__(self, value: object) -> bool:
        return id(value) in self._held

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._held.values()))

    def __len__(self) -> int:
        return len(self._held)

    def add(self, value: Any) -> None:
        """Take an object in."""
        self._held[id(value)] = value

    def discard(self, value: Any) -> None:
        """Take an object out, if it is in."""
        self._held.pop(id(value), None)


ObjectIdentityWeakKeyDictionary, ObjectIdentityWeakSet = ObjectIdentityDictionary, ObjectIdentitySet
