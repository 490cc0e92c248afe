"""Real GPUs, through CuPy: their memory, and how kernels come to work there.

Kernels call NumPy functions, and CuPy answers by NumPy's dispatch. `on_card` stands around such a
kernel: what it takes is brought to the card, what it makes stays there. A kernel that dispatch
cannot reach (it asks for NumPy arrays, or writes into one it made) works `through_host`, and only
its results are on the card. Which is which, `dispatch` lists; where this CuPy cannot do what one of
the list asks for, that one works through the host, too (`where_it_works`).

Arrays of int32 stay in the host's memory until they meet others, as TensorFlow's int32 kernels "on
a GPU" do: they are shapes and axes mostly, and Python reads them.

What is needed of CuPy is an `ArrayModule`. The tests have a stand-in, which refuses what CuPy
refuses; where a card is, they run there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.runtime.resources.inplace_values import InplaceValue

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


def where_it_works(kernel: Kernel, module: ArrayModule, host: Collection[int] = ()) -> Kernel:
    """Return `kernel` on the card if it can work there, otherwise in the host's memory.

    Args:
      kernel: without side effects: it may begin anew.
      module: the card's.
      host: indices of inputs that it reads as Python numbers.
    """
    in_host = through_host(kernel, module)
    is_refused = False

    def run(*inputs: TensorValue) -> TensorValue:
        nonlocal is_refused
        if is_refused or not any(_wants_card(each, module) for each in inputs):
            return in_host(*inputs)
        try:
            return to_card(kernel(*placed(inputs, module, host)), module)
        except (TypeError, NotImplementedError, AttributeError):
            is_refused = True  # unless the inputs are wrong: then the host says so
            return in_host(*inputs)

    return run


def placed(
    inputs: Sequence[TensorValue], module: ArrayModule, host: Collection[int] = ()
) -> list[TensorValue]:
    """Return inputs where a kernel wants them: in the host's memory those of `host`."""
    return [
        to_host(each, module) if index in host else to_card(each, module, integers=True)
        for index, each in enumerate(inputs)
    ]


def _wants_card(value: TensorValue, module: ArrayModule) -> bool:
    """Return whether there is an array that is on the card, or belongs there."""
    if isinstance(value, list | tuple):
        return any(_wants_card(each, module) for each in value)
    return isinstance(value, module.ndarray) or _belongs_there(value, integers=False)


def _belongs_there(value: TensorValue, integers: bool) -> bool:
    if not isinstance(value, np.ndarray) or value.dtype == object:
        return False
    return integers or value.dtype != np.int32


def through_host(kernel: Kernel, module: ArrayModule) -> Kernel:
    """Return `kernel` with what it takes in the memory of the host, and its results on the card.

    Variables that it takes have their arrays in the host's memory meanwhile.
    """

    def run(*inputs: TensorValue) -> TensorValue:
        variables = [each for each in inputs if isinstance(each, InplaceValue)]
        try:
            _move(variables, partial(to_host, module=module))
            return to_card(kernel(*[to_host(each, module) for each in inputs]), module)
        finally:
            _move(variables, partial(to_card, module=module))

    return run


def _move(variables: Sequence[InplaceValue], there: Callable[[TensorValue], TensorValue]) -> None:
    for variable in variables:
        with variable.lock:
            variable.value = there(variable.value)


def on_host(kernel: Kernel, module: ArrayModule) -> Kernel:
    """Return `kernel` with what it takes, and so what it gives, in the memory of the host."""

    def run(*inputs: TensorValue) -> TensorValue:
        return kernel(*[to_host(each, module) for each in inputs])

    return run


def to_card(value: TensorValue, module: ArrayModule, integers: bool = False) -> TensorValue:
    """Return arrays of numbers in the card's memory, and what is no array as it is.

    Args:
      value: an array, or several.
      module: the card's.
      integers: whether int32 goes there, too.
    """
    if isinstance(value, list | tuple):
        return [to_card(each, module, integers) for each in value]
    return module.asarray(value) if _belongs_there(value, integers) else value


def to_host(value: TensorValue, module: ArrayModule) -> TensorValue:
    """Return arrays in the host's memory; what is no array as it is."""
    if isinstance(value, list | tuple):
        return [to_host(each, module) for each in value]
    return module.asnumpy(value) if isinstance(value, module.ndarray) else value
