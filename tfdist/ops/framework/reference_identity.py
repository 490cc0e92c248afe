"""References handed on: the variable itself, not its value. RefIdentity and RefSelect."""

from __future__ import annotations

from typing import Any

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef

__all__: list[str] = []

REF_IDENTITY = OpDef("RefIdentity(input: Ref(T)) -> output: Ref(T) [T: type]")


@REF_IDENTITY.shape
def ref_identity_shape(input: Shape) -> Shape:
    return input


@REF_IDENTITY.kernel
def ref_identity_kernel(input: Any) -> Any:
    return input


@REF_IDENTITY.gradient
def ref_identity_gradient(op: Any, d_output: Any) -> Any:
    return d_output


REF_SELECT = OpDef(
    "RefSelect(index: int32, inputs: N*Ref(T)) -> output: Ref(T) [T: type; N: int >=1]"
)


@REF_SELECT.shape
def ref_select_shape(index: Shape, inputs: list[Shape]) -> Shape:
    shapes.require_rank(index, "index", 0)
    return inputs[0] if all(each == inputs[0] for each in inputs) else None


@REF_SELECT.kernel
def ref_select_kernel(index: Any, inputs: Any) -> Any:
    if not 0 <= index < len(inputs):
        raise InvalidArgumentError(
            f"Index must be in the range [0, {len(inputs)}) but got {int(index)}"
        )
    return inputs[int(index)]
