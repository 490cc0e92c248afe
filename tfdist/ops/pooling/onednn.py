"""Maxima of windows and their gradients, by oneDNN, faster than by kernels.py: float32."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import onednn
from tfdist.base.onednn import Layout, Primitive
from tfdist.ops.convolution.onednn_windows import borders, channels_last, dilations, planned, suits
from tfdist.ops.convolution.windows import Windows

_FEWEST_ELEMENTS = 50_000  # for fewer, asking oneDNN takes longer than computing
_MAXIMUM, _TRAINING = 0x1FF, 64  # oneDNN's numbers: an algorithm, and a kind of forward primitive


class _Plan(NamedTuple):
    """What computes maxima and their places, and what hands out their gradients.

    Attributes:
      forward: the maxima, and in its workspace their places.
      backward: takes that workspace.
      input, output, places: how arrays lie in memory.
    """

    forward: Primitive
    backward: Primitive
    input: Layout
    output: Layout
    places: Layout


def maximum(input: Any, windows: Windows) -> Any:
    """Return the maximum of each window, or None; for the arguments see pooling_kernels."""
    plan = _plan_for((input,), windows)
    if plan is None:
        return None
    output, places = _forward(plan, input, windows)
    _remember(plan, input, output, places)
    return output


def to_maximum(input: Any, output: Any, d_output: Any, windows: Windows) -> Any:
    """Return the gradient of the input, or None; for the arguments see pooling_kernels."""
    plan = _plan_for((input, output, d_output), windows)
    if plan is None:
        return None
    places = _remembered(plan, input, output)
    if places is None:
        places = _forward(plan, input, windows)[1]
    d_input = np.empty(input.shape, np.float32)
    plan.backward.run(
        (onednn.D_OUTPUT, plan.output, np.ascontiguousarray(d_output)),
        (onednn.WORKSPACE, plan.places, places),
        (onednn.D_SOURCE, plan.input, d_input),
    )
    return d_input


def _forward(plan: _Plan, input: Any, windows: Windows) -> tuple[Any, Any]:
    """Return the maxima and their places."""
    output = np.empty((len(input), *windows.out, input.shape[-1]), np.float32)
    places = np.empty(plan.places.size, np.uint8)
    plan.forward.run(
        (onednn.SOURCE, plan.input, np.ascontiguousarray(input)),
        (onednn.OUTPUT, plan.output, output),
        (onednn.WORKSPACE, plan.places, places),
    )
    return output, places


class _Found(NamedTuple):
    """Where the maxima of an input stand, kept for their gradient as long as both live."""

    plan: _Plan
    input: weakref.ref[Any]
    output: weakref.ref[Any]
    places: Any


_found: dict[int, _Found] = {}  # by the id of the maxima


def _remember(plan: _Plan, input: Any, output: Any, places: Any) -> None:
    key = id(output)
    until = weakref.ref(output, lambda _: _found.pop(key, None))
    _found[key] = _Found(plan, weakref.ref(input), until, places)


def _remembered(plan: _Plan, input: Any, output: Any) -> Any:
    """Return the places of just these maxima of just this input, None if they are not known."""
    found = _found.get(id(output))
    if found and found.plan is plan and found.input() is input and found.output() is output:
        return found.places
    return None


def _plan_for(arrays: Sequence[Any], windows: Windows) -> _Plan | None:
    """Return a plan, None if these arrays, of which the first is the input, are none for oneDNN."""
    input = arrays[0]
    if input.size < _FEWEST_ELEMENTS or not suits(arrays):
        return None
    plan: _Plan | None = _plan(len(input), windows, input.shape[-1])
    return plan


@planned
def _plan(batch: int, windows: Windows, channels: int) -> _Plan:
    ends = (
        channels_last(batch, windows.sizes, channels),
        channels_last(batch, windows.out, channels),
    )
    places = (
        onednn.numbers(windows.strides),
        onednn.numbers(windows.kernel),
        dilations(windows),
        *borders(windows),
    )
    forward = onednn.primitive("pooling_forward", _TRAINING, _MAXIMUM, *ends, *places)
    backward = onednn.primitive("pooling_backward", _MAXIMUM, *ends, *places, hint=forward)
    return _Plan(forward, backward, *ends, forward.layout(onednn.WORKSPACE_LAYOUT))
