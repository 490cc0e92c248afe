"""Converts functions, and in them what they call: `converted` is AutoGraph's front door."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.ops.array.range import range as range_of
from tfdist.ops.autograph import operators
from tfdist.ops.autograph.conversion import converted_function, is_convertible
from tfdist.ops.autograph.source import Unconvertible
from tfdist.ops.autograph.state import Undefined, given, is_symbolic
from tfdist.ops.checks.print_v2 import print_v2

_KNOWN = "_autograph_knows"  # attribute of a function: itself, and what it was converted to


def converted(function: Any) -> Any:
    """Return what does the same as `function`, but decides by tensors in the step.

    Args:
      function: any callable; what is not written in Python by the user is returned as it is.

    Example:
      >>> def magnitude(x):
      ...     return x if x > 0 else -x
      >>> Session().run(converted(magnitude)(constant(-3)))
      np.int32(3)
    """
    if isinstance(function, MethodType):
        return MethodType(converted(function.__func__), function.__self__)
    if isinstance(function, functools.partial):
        return functools.partial(converted(function.func), *function.args, **function.keywords)
    if not is_convertible(function):
        return function
    # A function that wraps another has a copy of its attributes.
    known, made = vars(function).get(_KNOWN, (None, None))
    if known is not function:
        made = _converted_if_possible(function)
        setattr(function, _KNOWN, (function, made))
    return made


def _converted_if_possible(function: FunctionType) -> Any:
    try:
        return converted_function(function, RUNTIME)
    except (Unconvertible, SyntaxError, RecursionError):
        return function


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Return `function(*args, **kwargs)`, whose decisions may be nodes too."""
    overload = _OVERLOADS.get(function) if _is_builtin(function) else None
    if overload is not None and any(map(is_symbolic, args)):
        return overload(*args, **kwargs)
    return converted(function)(*args, **kwargs)


def _is_builtin(function: Any) -> bool:
    return isinstance(function, type) or type(function) is type(len)


def _print(*args: Any, **kwargs: Any) -> None:
    print_v2(*args, **kwargs)


def _len(value: Any) -> Any:
    rank = value.shape.ndims
    if rank == 0:
        raise ValueError("len requires a non-scalar tensor, got a scalar")
    size = value.shape[0].value if rank else None
    if size is not None:
        return size
    return raw.StridedSlice(raw.Shape(value), [0], [1], [1], shrink_axis_mask=1)


def _range(start: Any, *rest: Any) -> Any:
    """Return the numbers of `range`, which are none where TensorFlow's would be an error."""
    limit, delta = (*rest, 1)[:2] if rest else (start, 1)
    start = start if rest else 0
    if not is_symbolic(delta):
        limit = (raw.Maximum if delta > 0 else raw.Minimum)(start, limit)
    return range_of(start, limit, delta)


def _cast(dtype: Any) -> Callable[[Any], Any]:
    def cast(value: Any) -> Any:
        if value.dtype.base_dtype is dtypes.string:
            return raw.StringToNumber(value, out_type=dtype)
        return raw.Cast(value, DstT=dtype)

    return cast


_OVERLOADS: dict[Any, Callable[..., Any]] = {
    print: _print,
    len: _len,
    range: _range,
    int: _cast(dtypes.int32),
    float: _cast(dtypes.float32),
    abs: lambda value: raw.Abs(value),
}


# What converted code knows as `ag__`.
RUNTIME = SimpleNamespace(
    Undefined=Undefined,
    given=given,
    call=call,
    **{each.__name__: each for each in (
        operators.and_, operators.or_, operators.not_, operators.eq, operators.not_eq,
        operators.choice, operators.assert_, operators.if_stmt, operators.while_stmt,
        operators.for_stmt,
    )},
)  # fmt: skip
