"""The nodes of branches and loops: Switch and Merge, and the five that make a loop's frame.

`Switch` gives its input to one of its outputs and leaves the other dead; what takes a dead tensor
does not run and is dead itself, up to a `Merge`, which hands on the one input that is alive. A
loop's body runs in a frame: `Enter` starts it, `NextIteration` carries values to its next one,
`LoopCond` tells whether there is one, `Exit` gives a value back to the outside.

Executors know these ops by name and move their values between iterations; the kernels here are what
they do within one. Source: Abadi et al., "TensorFlow: A System for Large-Scale Machine Learning",
section 3.4, and Yu et al., "Dynamic Control Flow in Large-Scale Machine Learning".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.graph.op_def import DEAD, OpDef, truth

_FRAME = "T: type; frame_name: string; is_constant: bool = False; parallel_iterations: int = 10"


def _same(data: Any) -> Any:
    return data


def _passes_on(signature: str) -> OpDef:
    op_def = OpDef(signature)
    op_def.shape(_same)
    op_def.kernel(_same)
    return op_def


SWITCH = OpDef("Switch(data: T, pred: bool) -> output_false: T, output_true: T [T: type]")
REF_SWITCH = OpDef(
    "RefSwitch(data: Ref(T), pred: bool) -> output_false: Ref(T), output_true: Ref(T) [T: type]"
)


@REF_SWITCH.shape
@SWITCH.shape
def switch_shape(data: Shape, pred: Shape) -> list[Shape]:
    shapes.require_rank(pred, "pred", 0)
    return [data, data]


@REF_SWITCH.kernel
@SWITCH.kernel
def switch_kernel(data: Any, pred: Any) -> tuple[Any, Any]:
    """Return (output_false, output_true), one of them dead."""
    return (DEAD, data) if truth(pred) else (data, DEAD)


MERGE = OpDef("Merge(inputs: N*T) -> output: T, value_index: int32 [T: type; N: int >=1]")
REF_MERGE = OpDef(
    "RefMerge(inputs: N*Ref(T)) -> output: Ref(T), value_index: int32 [T: type; N: int >=1]"
)


@REF_MERGE.shape
@MERGE.shape
def merge_shape(inputs: list[Shape]) -> list[Shape]:
    return [common_shape(inputs), ()]


def common_shape(known: list[Shape]) -> Shape:
    """Return what is certain of a tensor that has one of these shapes."""
    first, *others = known
    if first is None or any(shape is None or len(shape) != len(first) for shape in others):
        return None
    return tuple(dims[0] if len(set(dims)) == 1 else None for dims in zip(*known, strict=True))


@REF_MERGE.kernel
@MERGE.kernel
def merge_kernel(inputs: list[Any]) -> tuple[Any, Any]:
    """Return the first input that is not dead, and its position."""
    alive = [(value, np.int32(i)) for i, value in enumerate(inputs) if value is not DEAD]
    return alive[0] if alive else (DEAD, DEAD)


ENTER = OpDef(f"Enter(data: T) -> output: T [{_FRAME}]")
REF_ENTER = OpDef(f"RefEnter(data: Ref(T)) -> output: Ref(T) [{_FRAME}]")


@REF_ENTER.shape
@ENTER.shape
def enter_shape(data: Shape, *, is_constant: bool) -> Shape:
    """Return what is certain of the shape: that of a loop variable may change."""
    return data if is_constant else None


ENTER.kernel(_same)
REF_ENTER.kernel(_same)
EXIT = _passes_on("Exit(data: T) -> output: T [T: type]")
REF_EXIT = _passes_on("RefExit(data: Ref(T)) -> output: Ref(T) [T: type]")
NEXT_ITERATION = _passes_on("NextIteration(data: T) -> output: T [T: type]")
REF_NEXT_ITERATION = _passes_on("RefNextIteration(data: Ref(T)) -> output: Ref(T) [T: type]")

LOOP_COND = OpDef("LoopCond(input: bool) -> output: bool").not_differentiable()


@LOOP_COND.shape
def loop_cond_shape(input: Shape) -> Shape:
    shapes.require_rank(input, "the condition of a loop", 0)
    return ()


LOOP_COND.kernel(_same)

CONTROL_TRIGGER = OpDef("ControlTrigger() -> ()").not_differentiable()


@CONTROL_TRIGGER.kernel
def control_trigger_kernel() -> None:
    return None


# What the compiler makes of a loop; no graph holds it.
LOOP = OpDef("_Loop() -> output: Tout [Tout: list(type)]").not_differentiable()
# What it makes of a chain of elementwise ops; no graph holds it either.
FUSED = OpDef(
    "_Fused(operands: Tin) -> output: T [Tin: list(type); T: type {float,double}]",
    gives_fresh=True,
).not_differentiable()
