"""Convolution by oneDNN: what blas.py does, several times faster, for float32.

Each function returns None where oneDNN is not installed, or has no way to compute that. Filters are
[taps..., channels, outputs], or [taps..., channels, outputs of each] if channels are apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import onednn
from tfdist.base.onednn import Layout, Primitive
from tfdist.ops.convolution import phases
from tfdist.ops.convolution.onednn_windows import (
    borders,
    channels_last,
    dilations,
    planned,
    steps,
    suits,
)
from tfdist.ops.convolution.windows import Windows, bordered

_FEWEST_CHANNELS = 3  # towards an input of fewer, oneDNN is slower than BLAS
# Over few channels, wider windows that reach over a border are computed by products of matrices,
# three times as slow as with the border written out.
_FEW_CHANNELS, _WIDEST_OVER_BORDERS = 4, 7
# The gradient of filters of few taps between many channels takes three fifths as a product of
# matrices, where vectors have 256 bits; with those of 512 oneDNN takes two fifths.
_FEW_TAPS, _MANY_CHANNELS = 5, 64
_FEWEST_PRODUCTS = 500_000  # for fewer, asking oneDNN takes longer than computing
_DIRECT, _TRAINING = 1, 64  # oneDNN's numbers: an algorithm, and a kind of forward primitive


class _Ends(NamedTuple):
    """What a convolution joins.

    Attributes:
      channels: of the input.
      outputs: channels of the output.
      are_apart: whether each channel has outputs of its own.
    """

    channels: int
    outputs: int
    are_apart: bool = False

    @property
    def of_filters(self) -> tuple[int, int]:
        """Return the last two dimensions of the filters."""
        return self.channels, self.outputs // self.channels if self.are_apart else self.outputs


class _Plan(NamedTuple):
    """What computes one convolution, or one of its gradients, and how its arrays lie.

    Attributes:
      compute: the convolution.
      turn: copies the filters to the layout that `compute` takes, or back from it.
      input, output, filters: how the arrays lie in memory.
      packed: how the filters lie for `compute`.
    """

    compute: Primitive
    turn: Primitive
    input: Layout
    output: Layout
    filters: Layout
    packed: Layout


def convolve(input: Any, filters: Any, windows: Windows, ends: _Ends | None = None) -> Any:
    """Return [batch, windows..., outputs], or None; for the arguments see convolution_blas."""
    ends = ends or _Ends(*filters.shape[-2:])
    is_wide = ends.channels <= _FEW_CHANNELS and max(windows.kernel) > _WIDEST_OVER_BORDERS
    if is_wide and suits((input, filters)):
        input = bordered(input, windows)
        windows = windows._replace(sizes=input.shape[1:-1], before=(0,) * (input.ndim - 2))
    plan = _plan_for(_forward, (input, filters), len(input), windows, ends)
    if plan is None:
        return None
    output = np.empty((len(input), *windows.out, ends.outputs), np.float32)
    plan.compute.run(
        (onednn.SOURCE, plan.input, np.ascontiguousarray(input)),
        (onednn.WEIGHTS, plan.packed, _packed(plan, filters)),
        (onednn.OUTPUT, plan.output, output),
    )
    return output


def convolve_to_input(
    filters: Any, d_output: Any, windows: Windows, ends: _Ends | None = None
) -> Any:
    """Return the gradient of the input, or None."""
    ends = ends or _Ends(*filters.shape[-2:])
    if _is_for_phases(windows, ends) and suits((filters, d_output)):
        made = convolve(
            d_output, phases.filters_back(filters, windows), phases.windows_back(windows)
        )
        return None if made is None else phases.image_of(made, windows, ends.channels)
    if ends.channels < _FEWEST_CHANNELS:
        return None
    plan = _plan_for(_to_input, (filters, d_output), len(d_output), windows, ends)
    if plan is None:
        return None
    d_input = np.empty((len(d_output), *windows.sizes, ends.channels), np.float32)
    plan.compute.run(
        (onednn.D_OUTPUT, plan.output, np.ascontiguousarray(d_output)),
        (onednn.WEIGHTS, plan.packed, _packed(plan, filters)),
        (onednn.D_SOURCE, plan.input, d_input),
    )
    return d_input


def _is_for_phases(windows: Windows, ends: _Ends) -> bool:
    """Return whether phases as channels are faster: oneDNN fills no vector else."""
    return (
        ends.channels <= _FEW_CHANNELS
        and not ends.are_apart
        and min(windows.strides) > 1
        and max(windows.dilations) == 1
    )


def convolve_to_filters(
    input: Any, d_output: Any, windows: Windows, ends: _Ends | None = None
) -> Any:
    """Return the gradient of the filters, or None."""
    ends = ends or _Ends(input.shape[-1], d_output.shape[-1])
    is_for_products = prod(windows.kernel) <= _FEW_TAPS and min(ends.of_filters) >= _MANY_CHANNELS
    if is_for_products and suits((input, d_output)) and not onednn.has_wide_vectors():
        return None
    plan = _plan_for(_to_filters, (input, d_output), len(input), windows, ends)
    if plan is None:
        return None
    packed = np.empty(plan.packed.size, np.uint8)
    plan.compute.run(
        (onednn.SOURCE, plan.input, np.ascontiguousarray(input)),
        (onednn.D_OUTPUT, plan.output, np.ascontiguousarray(d_output)),
        (onednn.D_WEIGHTS, plan.packed, packed),
    )
    d_filters = np.empty((*windows.kernel, *ends.of_filters), np.float32)
    plan.turn.run((onednn.SOURCE, plan.packed, packed), (onednn.OUTPUT, plan.filters, d_filters))
    return d_filters


def convolve_each(input: Any, filters: Any, windows: Windows) -> Any:
    """Return [batch, windows..., channels * outputs of each], or None."""
    return convolve(input, filters, windows, _each(*filters.shape[-2:]))


def convolve_each_to_input(filters: Any, d_output: Any, windows: Windows) -> Any:
    """Return the gradient of the input, or None."""
    return convolve_to_input(filters, d_output, windows, _each(*filters.shape[-2:]))


def convolve_each_to_filters(input: Any, d_output: Any, windows: Windows, multiplier: int) -> Any:
    """Return the gradient of the filters, or None; `multiplier` is the outputs of each channel."""
    return convolve_to_filters(input, d_output, windows, _each(input.shape[-1], multiplier))


def _each(channels: int, multiplier: int) -> _Ends:
    return _Ends(channels, channels * multiplier, are_apart=True)


def _packed(plan: _Plan, filters: Any) -> Any:
    """Return filters as the convolution takes them."""
    packed = np.empty(plan.packed.size, np.uint8)
    plan.turn.run(
        (onednn.SOURCE, plan.filters, np.ascontiguousarray(filters)),
        (onednn.OUTPUT, plan.packed, packed),
    )
    return packed


def _plan_for(
    make: Callable[..., _Plan | None],
    arrays: Sequence[Any],
    batch: int,
    windows: Windows,
    ends: _Ends,
) -> _Plan | None:
    """Return a plan, None if these arrays are none for oneDNN."""
    if batch * prod((*windows.out, *windows.kernel, *ends.of_filters)) < _FEWEST_PRODUCTS:
        return None
    return make(batch, windows, ends) if suits(arrays) else None


# plans


class _Sizes:
    """The sizes of a convolution, in oneDNN's words: channels before the spatial axes."""

    def __init__(self, batch: int, windows: Windows, ends: _Ends) -> None:
        self.input = channels_last(batch, windows.sizes, ends.channels)
        self.output = channels_last(batch, windows.out, ends.outputs)
        first, last = ends.of_filters
        *inner, channel, output = steps((*windows.kernel, first, last))
        shape, places = (last, first, *windows.kernel), (output, channel, *inner)
        if ends.are_apart:  # groups come first
            shape, places = (first, last, 1, *windows.kernel), (channel, output, 1, *inner)
        self.filters = onednn.strided(shape, places)
        self.any_filters = onednn.any_layout(shape)
        self.steps = onednn.numbers(windows.strides), dilations(windows), *borders(windows)

    def forward(self) -> Primitive:
        """Return the convolution itself, which its gradients take as a hint."""
        layouts = self.input, self.any_filters, None, self.output
        return onednn.primitive("convolution_forward", _TRAINING, _DIRECT, *layouts, *self.steps)

    def plan(self, compute: Primitive, question: int, towards_filters: bool = False) -> _Plan:
        packed = compute.layout(question)
        ends = (packed, self.filters) if towards_filters else (self.filters, packed)
        turn = onednn.reorder(*ends)
        return _Plan(compute, turn, self.input, self.output, self.filters, packed)


@planned
def _forward(*sizes: Any) -> _Plan:
    found = _Sizes(*sizes)
    return found.plan(found.forward(), onednn.WEIGHTS_LAYOUT)


@planned
def _to_input(*sizes: Any) -> _Plan:
    found = _Sizes(*sizes)
    layouts = found.input, found.any_filters, found.output
    compute = onednn.primitive(
        "convolution_backward_data", _DIRECT, *layouts, *found.steps, hint=found.forward()
    )
    return found.plan(compute, onednn.WEIGHTS_LAYOUT)


@planned
def _to_filters(*sizes: Any) -> _Plan:
    found = _Sizes(*sizes)
    layouts = found.input, found.any_filters, None, found.output
    compute = onednn.primitive(
        "convolution_backward_weights", _DIRECT, *layouts, *found.steps, hint=found.forward()
    )
    return found.plan(compute, onednn.D_WEIGHTS_LAYOUT, towards_filters=True)
