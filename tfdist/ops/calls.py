"""Ops that call functions, and those that only branches and bodies use.

The first ones do not run as such: a master puts the bodies in the place of the calls
(`plan.inline`). `ToBool` is what an `If` sees in a value that is no bool. `FakeParam` and
`OptionalNone` stand in one branch for a value that only the other branch makes, and that nobody
looks at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef

_LISTS = "Tin: list(type) >=0; Tout: list(type) >=0"
_CONFIG = "config: string = ''; config_proto: string = ''; executor_type: string = ''"
_CALL = f"[{_LISTS}; f: func; {_CONFIG}]"
_IF = f"Tcond: type; {_LISTS}; then_branch: func; else_branch: func"
_CASE = f"[{_LISTS}; branches: list(func) >=1; output_shapes: list(shape) = []]"
_WHILE = "T: list(type) >=0; cond: func; body: func"
_ROUNDS = "output_shapes: list(shape) = []; parallel_iterations: int = 10"

CALL = OpDef(f"PartitionedCall(args: Tin) -> output: Tout {_CALL}")
STATEFUL_CALL = OpDef(f"StatefulPartitionedCall(args: Tin) -> output: Tout {_CALL} !")
REMOTE_CALL = OpDef(
    "RemoteCall(target: string, args: Tin) -> output: Tout "
    "[Tin: list(type) >=1; Tout: list(type) >=1; f: func] !"
).not_differentiable()
SYMBOLIC_GRADIENT = OpDef(
    "SymbolicGradient(input: Tin) -> output: Tout "
    "[Tin: list(type) >=1; Tout: list(type) >=1; f: func]"
)
IF = OpDef(
    f"If(cond: Tcond, input: Tin) -> output: Tout [{_IF}; output_shapes: list(shape) = []] !"
)
STATELESS_IF = OpDef(
    f"StatelessIf(cond: Tcond, input: Tin) -> output: Tout [{_IF}; output_shapes: list(shape) = []]"
)
EARLY_IF = OpDef(f"_If(cond: Tcond, input: Tin) -> output: Tout [{_IF}] !")
CASE = OpDef(f"Case(branch_index: int32, input: Tin) -> output: Tout {_CASE} !")
STATELESS_CASE = OpDef(f"StatelessCase(branch_index: int32, input: Tin) -> output: Tout {_CASE}")
WHILE = OpDef(f"While(input: T) -> output: T [{_WHILE}; {_ROUNDS}] !")
STATELESS_WHILE = OpDef(f"StatelessWhile(input: T) -> output: T [{_WHILE}; {_ROUNDS}]")
EARLY_WHILE = OpDef(f"_While(input: T) -> output: T [{_WHILE}] !")


@STATEFUL_CALL.shape
@CALL.shape
def call_shape(args: list[Shape], *, Tout: list[DType]) -> list[Shape]:
    return [None] * len(Tout)


@STATELESS_IF.shape
@IF.shape
def if_shape(
    cond: Shape, input: list[Shape], *, Tout: list[DType], output_shapes: list[Any]
) -> list[Shape]:
    return _told(output_shapes, Tout)


@STATELESS_CASE.shape
@CASE.shape
def case_shape(
    branch_index: Shape, input: list[Shape], *, Tout: list[DType], output_shapes: list[Any]
) -> list[Shape]:
    return _told(output_shapes, Tout)


@STATELESS_WHILE.shape
@WHILE.shape
def while_shape(input: list[Shape], *, T: list[DType], output_shapes: list[Any]) -> list[Shape]:
    """Return what is told, else that rounds leave shapes as they are, as TensorFlow takes it."""
    return _told(output_shapes, T) if output_shapes else input


def _told(output_shapes: list[Any], types: list[DType]) -> list[Shape]:
    if len(output_shapes) != len(types):
        return [None] * len(types)
    return [shape.as_tuple() for shape in output_shapes]


TO_BOOL = OpDef("ToBool(input: T) -> output: bool [T: type]").not_differentiable()


@TO_BOOL.shape
def to_bool_shape(input: Shape) -> Shape:
    return ()


@TO_BOOL.kernel
def to_bool_kernel(input: Any) -> Any:
    """Return whether a scalar is not zero (not empty, if a string), or a tensor has elements."""
    if type(input) is bytes:
        return np.bool_(input != b"")
    return np.bool_(np.size(input) > 0 if np.ndim(input) else bool(input))


FAKE_PARAM = OpDef("FakeParam() -> output: dtype [dtype: type; shape: shape]").not_differentiable()


@FAKE_PARAM.shape
def fake_param_shape(*, shape: Any) -> Shape:
    known: Shape = shape.as_tuple()
    return known


@FAKE_PARAM.kernel
def fake_param_kernel(*, dtype: DType, shape: Any) -> Any:
    """Return a tensor of that type and shape without a value of its own."""
    if not dtype.is_numpy_compatible:
        return None
    dims = [dim or 0 for dim in shape.as_tuple() or ()]
    blank: Any = b"" if dtype.name == "string" else 0
    return np.full(dims, blank, dtype.as_numpy_dtype)


class Optional(NamedTuple):
    """The value of an optional: tensors, or None."""

    components: list[Any] | None


_VALUES = "output_types: list(type) >=1; output_shapes: list(shape) >=1"

OPTIONAL_FROM_VALUE = OpDef(
    "OptionalFromValue(components: Toutput_types) -> optional: variant "
    "[Toutput_types: list(type) >=1]"
).not_differentiable()
OPTIONAL_NONE = OpDef("OptionalNone() -> optional: variant").not_differentiable()
OPTIONAL_HAS_VALUE = OpDef(
    "OptionalHasValue(optional: variant) -> has_value: bool"
).not_differentiable()
OPTIONAL_GET_VALUE = OpDef(
    f"OptionalGetValue(optional: variant) -> components: output_types [{_VALUES}]"
).not_differentiable()


@OPTIONAL_FROM_VALUE.shape
def optional_from_value_shape(components: list[Shape]) -> Shape:
    return ()


@OPTIONAL_NONE.shape
def optional_none_shape() -> Shape:
    return ()


@OPTIONAL_HAS_VALUE.shape
def optional_has_value_shape(optional: Shape) -> Shape:
    return ()


@OPTIONAL_GET_VALUE.shape
def optional_get_value_shape(
    optional: Shape, *, output_types: list[DType], output_shapes: list[Any]
) -> list[Shape]:
    return _told(output_shapes, output_types)


@OPTIONAL_FROM_VALUE.kernel
def optional_from_value_kernel(components: list[Any]) -> Optional:
    return Optional(components)


@OPTIONAL_NONE.kernel
def optional_none_kernel() -> Optional:
    return Optional(None)


@OPTIONAL_HAS_VALUE.kernel
def optional_has_value_kernel(optional: Optional) -> Any:
    return np.bool_(optional.components is not None)


@OPTIONAL_GET_VALUE.kernel
def optional_get_value_kernel(optional: Optional) -> list[Any]:
    """Return the tensors; InvalidArgumentError if there are none."""
    if optional.components is None:
        raise InvalidArgumentError("The given optional does not have a value.")
    return optional.components
