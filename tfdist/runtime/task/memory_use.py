"""What the steps in flight hold in memory, found out when somebody asks.

Nobody counts while a step runs: that would cost more than a short step takes. Here its values are
looked through, and the variables of the functions that its threads are in: compiled code keeps
most values there. What variables and queues hold is not the step's.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterable, Iterator
from types import FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tfdist.base.aliases import Array, TensorValue
from tfdist.graph.records import Node
from tfdist.plan.compiling.program import Program
from tfdist.runtime.resources.inplace_values import InplaceValue
from tfdist.runtime.resources.locked_resource import LockedResource
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.step import Step
from tfdist.runtime.step.thread_frames import thread_frames

# What leads out of a step, or has no arrays in it.
_OUTSIDE = (
    Step, InplaceValue, LockedResource, Program, Node, type, FunctionType, ModuleType, FrameType,
    np.dtype, str, int, float,
)  # fmt: skip
_MOST = 200_000  # objects that are looked at in one step


def held_by(steps: Iterable[Step], kept: Iterable[TensorValue] = ()) -> dict[Step, int]:
    """Return the bytes that each step holds, as far as can be seen; a lower bound.

    Args:
      steps: to look at.
      kept: arrays that stay when the steps end: the variables' values.
    """
    roots: dict[Step, list[Any]] = {step: list(step.runs) for step in steps}
    for step, values in _on_threads():
        if step in roots:
            roots[step].extend(values)
    not_theirs = {id(each) for each in kept}
    return {step: _bytes_of(found, not_theirs) for step, found in roots.items()}


def _on_threads() -> Iterator[tuple[Step, list[object]]]:
    """Yield the steps that other threads are in, each with what its functions hold."""
    own = threading.get_ident()
    for thread, frame in thread_frames().items():
        held: list[Any] = []
        inner: FrameType | None = frame if thread != own else None
        while inner is not None:
            found = list(inner.f_locals.values())
            held += found
            steps = (getattr(each, "step", None) for each in found if _is_a(each, Run))
            step = next(filter(None, steps), None)
            if step is not None:
                yield step, held
                break
            inner = inner.f_back


def _bytes_of(roots: list[object], not_theirs: set[int]) -> int:
    total, seen, stack = 0, set(not_theirs), roots
    for _ in range(_MOST):
        if not stack:
            break
        each: Any = stack.pop()
        if id(each) in seen or _is_a(each, *_OUTSIDE):
            continue
        seen.add(id(each))
        if _is_a(each, np.ndarray):
            total += _take_array(each, stack)
        elif _is_a(each, bytes, bytearray):
            total += len(each)
        elif _is_a(each, Run):
            stack += _of_run(each)
        else:
            stack += gc.get_referents(each)
    return total


def _is_a(each: object, *kinds: type) -> bool:
    """Return whether an object is of a class, without asking it: it may be a proxy."""
    return issubclass(type(each), kinds)


def _of_run(run: Run) -> list[object]:
    """Return what leads to a run's values, and to those of its loops' iterations.

    Its thread may be about to make it, or to drop it.
    """
    found = [getattr(run, "values", None)]
    for frame in list(getattr(run, "inner", {}).values()):
        names = ("constants", "held", "iterations")
        found += [getattr(frame, name, None) for name in names]
    return found


def _take_array(array: Array, stack: list[object]) -> int:
    """Return an array's own bytes, and let strings in it and what it is a view of be looked at."""
    if isinstance(array.base, np.ndarray):
        stack.append(array.base)  # which is counted once
        return 0
    if array.dtype == object:
        stack += array.ravel().tolist()
    return int(array.nbytes)
