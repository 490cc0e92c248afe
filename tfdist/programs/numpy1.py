"""NumPy 1's names and ways, which NumPy 2 dropped, for programs of that time (`--numpy1`).

What has no name to stand under, as `float(array)` and `array.tostring()`, is in `rewritten`.
"""

from __future__ import annotations

import functools
import math
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

OURS = ("numpy", "tfdist", "ml_dtypes")  # whose calls expect NumPy 2's errors

# A name of NumPy 1: what to write instead today.
RENAMED = {
    "int": "int", "float": "float", "complex": "complex", "object": "object", "str": "str",
    "unicode": "str", "bool": "bool", "long": "int",
    "float_": "np.float64", "complex_": "np.complex128", "string_": "np.bytes_",
    "unicode_": "np.str_", "cfloat": "np.complex128", "singlecomplex": "np.complex64",
    "longfloat": "np.longdouble", "longcomplex": "np.clongdouble", "clongfloat": "np.clongdouble",
    "bool8": "np.bool_", "int0": "np.intp", "uint0": "np.uintp", "object0": "np.object_",
    "str0": "np.str_", "bytes0": "np.bytes_", "void0": "np.void",
    "Inf": "np.inf", "Infinity": "np.inf", "infty": "np.inf", "PINF": "np.inf", "NaN": "np.nan",
    "NINF": "-np.inf", "PZERO": "0.0", "NZERO": "-0.0",
    "product": "np.prod", "cumproduct": "np.cumprod", "sometrue": "np.any", "alltrue": "np.all",
    "in1d": "np.isin", "trapz": "np.trapezoid", "row_stack": "np.vstack", "round_": "np.round",
    "rank": "np.ndim", "alen": "len", "mat": "np.asmatrix", "disp": "print",
    "typeDict": "np.sctypeDict", "issubsctype": "np.issubdtype", "issubclass_": "issubclass",
    "asscalar": "a.item()", "asfarray": "np.asarray(a, np.float64)", "cast": "a.astype(dtype)",
    "msort": "np.sort(a, axis=0)", "find_common_type": "np.result_type", "loads": "pickle.loads",
    "math": "import math",
}  # fmt: skip

# A method of arrays of NumPy 1: what to write instead, and what does it.
METHODS: dict[str, tuple[str, Callable[..., Any]]] = {
    "tostring": ("a.tobytes()", np.ndarray.tobytes),
    "ptp": ("np.ptp(a)", np.ptp),
    "newbyteorder": (
        "a.view(a.dtype.newbyteorder())",
        lambda array, order="S": array.view(array.dtype.newbyteorder(order)),
    ),
    "itemset": ("a[i] = value", lambda array, *index: array.__setitem__(index[:-1], index[-1])),
}


class _Casts:
    """What `np.cast[dtype](values)` reads."""

    def __getitem__(self, dtype: Any) -> Callable[[Any], Any]:
        return lambda values: np.asarray(values).astype(dtype)


def bring_back() -> None:
    """Give the module `numpy` what NumPy 1 had, in this process from now on.

    Names that were dropped are there again; lists of different lengths become arrays of objects;
    scalars print as numbers. What numbers are promoted to stays as it is in NumPy 2.

    Example, not one that is run: it would change what all others print.

        bring_back()
        np.array([[1], [2, 3]]).shape  # (2,)
    """
    if "float" in np.__dict__:  # it was done before
        return
    for name, value in _values().items():
        if name not in np.__dict__:
            setattr(np, name, value)
    for name, function in _FUNCTIONS.items():
        setattr(np, name, function(getattr(np, name)))
    setattr(np.lib, "pad", np.pad)  # noqa: B010
    np.set_printoptions(legacy="1.25")


def _values() -> dict[str, Any]:
    plain = {name: _value(text) for name, text in RENAMED.items() if _is_name(text)}
    return plain | {
        "NINF": -np.inf, "PZERO": 0.0, "NZERO": -0.0, "math": math, "loads": pickle.loads,
        "in1d": lambda a, *rest, **options: np.isin(np.ravel(a), *rest, **options),
        "asscalar": lambda array: array.item(),
        "asfarray": lambda values, dtype=np.float64: np.asarray(values, dtype),
        "cast": _Casts(),
        "msort": lambda values: np.sort(values, axis=0),
        "find_common_type": lambda arrays, scalars: np.result_type(*arrays, *scalars),
    }  # fmt: skip


def _is_name(text: str) -> bool:
    return text.removeprefix("np.").isidentifier()


def _value(text: str) -> Any:
    name = text.removeprefix("np.")
    return getattr(np, name) if name != text else __builtins__[name]  # type: ignore[index]


def _falling_back(
    otherwise: Callable[..., Any], *errors: type[Exception]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what wraps a function: a program's call that fails is made as `otherwise` says."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(*arguments: Any, **options: Any) -> Any:
            try:
                return function(*arguments, **options)
            except errors as error:
                caller = sys._getframe(1).f_globals.get("__name__", "")
                if caller.partition(".")[0] in OURS:
                    raise
                return otherwise(error, function, *arguments, **options)

        return called

    return wrap


def _array(
    error: Exception, array: Any, values: Any, dtype: Any = None, *rest: Any, **options: Any
) -> Any:
    """Make an array as NumPy 1 did: ragged, of what wraps around, or copied after all."""
    if "avoid copy" in str(error):
        return array(values, dtype, *rest, **options | {"copy": None})
    if isinstance(error, OverflowError) and dtype is not None:
        return np.asarray(values).astype(dtype)
    if isinstance(error, OverflowError) or not isinstance(values, list | tuple):
        raise error
    if dtype is None:
        return array(values, object, *rest, **options)
    return array([scalar(each) for each in values], dtype, *rest, **options)


def scalar(value: Any) -> Any:
    """Return the only element of an array, and whatever else as it is."""
    is_array = isinstance(value, np.ndarray) and value.ndim > 0 and value.size == 1
    return value.item() if is_array else value


def _stack(error: Exception, stack: Any, arrays: Any, *rest: Any, **options: Any) -> Any:
    if isinstance(arrays, list | tuple | np.ndarray):
        raise error
    return stack(list(arrays), *rest, **options)


def _sum(error: Exception, _: Any, values: Any, *rest: Any, **options: Any) -> Any:
    if hasattr(values, "__len__"):
        raise error
    return sum(values)


def _from_string(
    error: Exception, function: Any, text: Any, dtype: Any = float, count: int = -1, sep: str = ""
) -> Any:
    if sep:
        raise error
    data = text.encode("latin-1") if isinstance(text, str) else text
    return np.frombuffer(data, dtype, count).copy()


def _renamed_option(old: str, new: str) -> Callable[..., Any]:
    def otherwise(error: Exception, function: Any, *rest: Any, **options: Any) -> Any:
        if old not in options:
            raise error
        return function(*rest, **{new if each == old else each: options[each] for each in options})

    return otherwise


_FUNCTIONS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "array": _falling_back(_array, ValueError, OverflowError, TypeError),
    "asarray": _falling_back(_array, ValueError, OverflowError, TypeError),
    "fromstring": _falling_back(_from_string, ValueError),
    "histogram": _falling_back(_renamed_option("normed", "density"), TypeError),
    "reshape": _falling_back(_renamed_option("newshape", "shape"), TypeError),
    "sum": _falling_back(_sum, TypeError),
} | {
    name: _falling_back(_stack, TypeError)
    for name in ("stack", "vstack", "hstack", "dstack", "column_stack")
}
