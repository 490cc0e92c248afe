"""A stand-in for CuPy: arrays that answer NumPy's dispatch, and nothing behind its back.

As CuPy's, they refuse to become NumPy arrays unless `asnumpy` is called, and to be mixed with
those. NumPy computes them, so results can be compared bit by bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_REDUCED = (np.add, np.multiply)


class CardArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array in the memory of a card that is not there."""

    def __init__(self, array: Any) -> None:
        self._host = array

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method not in ("__call__", "outer") and (method != "reduce" or ufunc not in _REDUCED):
            raise TypeError(f"{ufunc}.{method} is not there")
        return _up(getattr(ufunc, method)(*_down(inputs), **_down(kwargs)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _up(function(*_down(args), **_down(kwargs)))

    def __getitem__(self, index: Any) -> Any:
        return _up(self._host[_down(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._host[_down(index)] = _down(value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # __float__ and their like are below
            raise AttributeError(name)
        found = getattr(self._host, name)
        if callable(found):
            return lambda *args, **kwargs: _up(found(*_down(args), **_down(kwargs)))
        return _up(found)

    def __bool__(self) -> bool:
        return bool(self._host)

    def __int__(self) -> int:
        return int(self._host)

    def __index__(self) -> int:
        return int(self._host.__index__())

    def __float__(self) -> float:
        return float(self._host)

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Any:
        return map(_up, self._host)


class Card:
    """What `runtime.devices.cupy` needs of CuPy."""

    ndarray = CardArray

    def asarray(self, array: Any) -> Any:
        return array if isinstance(array, CardArray) else CardArray(np.array(array))

    def asnumpy(self, array: Any) -> Any:
        return np.array(array._host)


def _up(value: Any) -> Any:
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(map(_up, value))
    is_array = isinstance(value, np.ndarray | np.generic) and value.dtype != object
    return CardArray(np.asarray(value)) if is_array else value


def _down(value: Any) -> Any:
    if isinstance(value, CardArray):
        return value._host
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if type(value) in (list, tuple):
        return type(value)(map(_down, value))
    return {key: _down(each) for key, each in value.items()} if type(value) is dict else value
