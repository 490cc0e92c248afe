"""The values of names that blocks bind: which of them can go through a branch or loop of nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base import nest
from tfdist.graph.convert import convert_to_tensor, to_array
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.tensor_array.tensor_array import TensorArray

Values = Sequence[Any]
Get = Callable[[], Values]
Put = Callable[[Values], None]

_COMPOSITES = (SparseTensor, TensorArray)


class Undefined:
    """What a name has that has no value; reading it says why.

    Attributes:
      name: of the variable.
      reason: why it has none.
    """

    def __init__(self, name: str, reason: str = "has no value yet") -> None:
        self.name, self.reason = name, reason

    def __repr__(self) -> str:
        return f"<undefined {self.name!r}: it {self.reason}>"


def given(value: Any) -> Any:
    """Return the value of a name.

    Raises:
      UnboundLocalError: it was never bound.
      ValueError: it is bound in a part only of what tensors decide about.
    """
    if isinstance(value, Undefined):
        if value.reason == Undefined("").reason:
            raise UnboundLocalError(f"local variable {value.name!r} is used before it has a value")
        name = "the value to return" if value.name == "returned__" else repr(value.name)
        raise ValueError(f"{name} {value.reason}")
    return value


def is_symbolic(value: Any) -> bool:
    """Return whether a value is known when the graph runs only: a tensor or variable."""
    return isinstance(value, Tensor) or (
        hasattr(value, "_as_graph_element") and not isinstance(value, Operation)
    )


def may_pass(value: Any) -> bool:
    """Return whether a value can be, or be made, tensors that come out of a branch or loop."""
    leaves = nest.flatten(value)
    return bool(leaves) and all(map(_is_leaf, leaves))


def _is_leaf(value: Any) -> bool:
    if value is None or isinstance(value, Undefined | Operation):
        return False
    if is_symbolic(value) or isinstance(value, _COMPOSITES):
        return True
    try:
        to_array(value)
    except (TypeError, ValueError):
        return False
    return True


def as_tensors(value: Any) -> Any:
    """Return a value with tensors for all that is none yet."""
    return nest.map_leaves(
        lambda leaf: leaf if isinstance(leaf, _COMPOSITES) else convert_to_tensor(leaf), value
    )


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values are the same without being computed."""
    if one is other:
        return True
    plain = (bool, int, float, str, bytes, type(None))
    return isinstance(one, plain) and type(one) is type(other) and one == other
