"""Real GPUs, through CuPy: their memory, and how kernels come to work there.

Kernels call NumPy functions, and CuPy answers by NumPy's dispatch. `on_card` stands around such a
kernel: what it takes is brought to the card, what it makes stays there. A kernel that dispatch
cannot reach (it asks for NumPy arrays, or writes into one it made) works `through_host`, and only
its results are on the card. Which is which, `dispatch` lists.

What is needed of CuPy is an `ArrayModule`. Nothing here has run on a card yet: the tests have a
stand-in, which refuses what CuPy refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from tfdist.base.aliases import TensorValue

Kernel = Callable[..., Any]


class ArrayModule(Protocol):
    """What is needed of CuPy.

    Attributes:
      ndarray: the class of arrays on a card.
    """

    ndarray: type

    def asarray(self, array: TensorValue) -> TensorValue:
        """Return `array` in the memory of the card."""

    def asnumpy(self, array: TensorValue) -> TensorValue:
        """Return `array` in the memory of the host."""


class CupyCard:
    """CuPy with one card as the present one.

    Args:
      cupy: the module.
      number: of the card.
    """

    def __init__(self, cupy: ModuleType, number: int) -> None:
        self.ndarray = cupy.ndarray
        self._cupy, self._device = cupy, cupy.cuda.Device(number)

    def asarray(self, array: TensorValue) -> TensorValue:
        """See `ArrayModule`."""
        with self._device:
            return self._cupy.asarray(array)

    def asnumpy(self, array: TensorValue) -> TensorValue:
        """See `ArrayModule`."""
        return self._cupy.asnumpy(array)

    def limit_memory(self, size: int) -> None:
        """Let arrays take `size` bytes of the card at most."""
        with self._device:
            self._cupy.get_default_memory_pool().set_limit(size=size)


def cards() -> Iterator[tuple[int, str]]:
    """Yield memory in bytes and description of each card that CuPy finds; none without CuPy."""
    cupy = _cupy()
    for number in range(0 if cupy is None else _count(cupy)):
        assert cupy is not None
        info = cupy.cuda.runtime.getDeviceProperties(number)
        name = info["name"].decode()
        yield int(info["totalGlobalMem"]), f"device: {number}, name: {name}, through CuPy"


def card(number: int) -> CupyCard:
    """Return one of `cards`."""
    cupy = _cupy()
    assert cupy is not None
    return CupyCard(cupy, number)


@cache
def _cupy() -> ModuleType | None:
    return import_module("cupy") if find_spec("cupy") else None


def _count(cupy: ModuleType) -> int:
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:  # CuPy is there, a driver or card is not
        return 0


def on_card(kernel: Kernel, module: ArrayModule) -> Kernel:
    """Return `kernel` with what it takes and gives in the memory of a card."""

    def run(*inputs: TensorValue) -> TensorValue:
        return to_card(kernel(*[to_card(each, module) for each in inputs]), module)

    return run


def through_host(kernel: Kernel, module: ArrayModule) -> Kernel:
    """Return `kernel` with what it takes in the memory of the host, and its results on the card."""

    def run(*inputs: TensorValue) -> TensorValue:
        return to_card(kernel(*[to_host(each, module) for each in inputs]), module)

    return run


def on_host(kernel: Kernel, module: ArrayModule) -> Kernel:
    """Return `kernel` with what it takes, and so what it gives, in the memory of the host."""

    def run(*inputs: TensorValue) -> TensorValue:
        return kernel(*[to_host(each, module) for each in inputs])

    return run


def to_card(value: TensorValue, module: ArrayModule) -> TensorValue:
    """Return arrays of numbers in the card's memory; scalars and what is no array as they are."""
    if isinstance(value, list | tuple):
        return [to_card(each, module) for each in value]
    is_array = isinstance(value, np.ndarray) and value.dtype != object
    return module.asarray(value) if is_array else value


def to_host(value: TensorValue, module: ArrayModule) -> TensorValue:
    """Return arrays in the host's memory; what is no array as it is."""
    if isinstance(value, list | tuple):
        return [to_host(each, module) for each in value]
    return module.asnumpy(value) if isinstance(value, module.ndarray) else value
