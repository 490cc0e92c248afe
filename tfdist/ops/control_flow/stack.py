"""Stacks: where a loop leaves what its gradient takes up again, last first.

A stack's handle is the object itself. No task keeps it: it dies with the step's values. Old graphs
spell these ops without "V2"; their stacks have no size.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from tfdist.base import lazy
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef

__all__: list[str] = []


class Stack:
    """The elements of one stack.

    Attributes:
      name: for messages.
      dtype: of the elements.
      elements: the last one is the next to leave; a stack that was closed keeps none.
    """

    __slots__ = ("dtype", "elements", "name")

    def __init__(self, name: str, dtype: DType) -> None:
        self.name, self.dtype = name, dtype
        self.elements: list[Any] | deque[Any] = []


_ATTRS = "elem_type: type; stack_name: string = ''"
STACK = OpDef(f"Stack() -> handle: Ref(string) [{_ATTRS}] !").not_differentiable()
STACK_V2 = OpDef(f"StackV2(max_size: int32) -> handle: resource [{_ATTRS}] !").not_differentiable()


@STACK.shape
def stack_shape() -> Shape:
    return (2,)


@STACK_V2.shape
def stack_v2_shape(max_size: Shape) -> Shape:
    return (2,)


@STACK.kernel
def stack_kernel(ctx: Any, *, elem_type: DType, stack_name: bytes) -> Stack:
    return Stack(stack_name.decode() or ctx.node_name, elem_type)


@STACK_V2.kernel
def stack_v2_kernel(ctx: Any, max_size: Any, *, elem_type: DType, stack_name: bytes) -> Stack:
    # no more than a hint: TensorFlow takes what is pushed beyond it
    if np.ndim(max_size):
        raise InvalidArgumentError(f"a stack's size must be a scalar, got {max_size.tolist()}")
    return stack_kernel(ctx, elem_type=elem_type, stack_name=stack_name)


_PUSH = "elem: T) -> output: T [T: type; swap_memory: bool = False]"
PUSH = OpDef(f"StackPush(handle: Ref(string), {_PUSH}")
PUSH_V2 = OpDef(f"StackPushV2(handle: resource, {_PUSH} !")


@PUSH.shape
@PUSH_V2.shape
def push_shape(handle: Shape, elem: Shape) -> Shape:
    return elem


@PUSH.kernel
@PUSH_V2.kernel
def push_kernel(handle: Stack, elem: Any) -> Any:
    handle.elements.append(elem)
    return elem


POP = OpDef("StackPop(handle: Ref(string)) -> elem: elem_type [elem_type: type]")
POP_V2 = OpDef("StackPopV2(handle: resource) -> elem: elem_type [elem_type: type] !")
POP_V2.gradient(lazy.function("tfdist.ops.autodiff.loop_gradients", "pop_gradient"))


@POP.kernel
@POP_V2.kernel
def pop_kernel(handle: Stack, *, elem_type: DType) -> Any:
    if elem_type is not handle.dtype:
        raise InvalidArgumentError(
            f"stack {handle.name!r} holds elements of {handle.dtype.name}, but is asked for one of "
            f"{elem_type.name}"
        )
    try:
        return handle.elements.pop()
    except IndexError:
        state = "is empty" if isinstance(handle.elements, list) else "has already been closed"
        raise InvalidArgumentError(f"Stack[{handle.name}] {state} when calling Pop()") from None


CLOSE = OpDef("StackClose(handle: Ref(string)) -> ()").not_differentiable()
CLOSE_V2 = OpDef("StackCloseV2(handle: resource) -> () !").not_differentiable()


@CLOSE.kernel
@CLOSE_V2.kernel
def close_kernel(handle: Stack) -> None:
    handle.elements = deque(maxlen=0)
