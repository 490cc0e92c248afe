"""Sizes of windows, strides and paddings, as layers are given them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

CHANNELS = {"channels_last": False, "channels_first": True}
_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def sizes(value: Any, rank: int, name: str) -> tuple[int, ...]:
    """Return an integer for each of `rank` axes, from one for all or one for each.

    Raises:
      ValueError: it is no integer, or not as many.

    Example:
      >>> sizes(3, 2, "kernel_size")
      (3, 3)
    """
    if isinstance(value, int):
        return (value,) * rank
    wrong = f"The `{name}` argument must be a tuple of {rank} integers. Received: {value}"
    try:
        parts = tuple(int(each) for each in value)
    except (TypeError, ValueError):
        raise ValueError(wrong) from None
    if len(parts) != rank:
        raise ValueError(wrong)
    return parts


def padding_of(value: Any) -> str:
    """Return "VALID" or "SAME"; ValueError for any other."""
    padding = value.lower() if isinstance(value, str) else value
    if padding not in ("valid", "same"):
        raise ValueError(
            f'The `padding` argument must be one of "valid", "same". Received: {value}'
        )
    return padding.upper()  # type: ignore[no-any-return]


def is_first(data_format: str) -> bool:
    """Return whether channels are the first axis after the batch; ValueError if it is unknown."""
    found = CHANNELS.get(data_format.lower())
    if found is None:
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {data_format}"
        )
    return found


def layout(rank: int, first: bool) -> str:
    """Return the data format of ops over `rank` axes."""
    return _FORMATS[rank][first]


def with_channels(sizes: tuple[int, ...], first: bool) -> list[int]:
    """Return sizes of windows or strides with 1 for batch and channels."""
    return [1, 1, *sizes] if first else [1, *sizes, 1]


def as_function(layer: Any, name: str, summary: str, example: str) -> Callable[..., Any]:
    """Return the public function that makes a layer and calls it.

    Args:
      layer: a class of layers whose last argument is the name.
      name: of the function.
      summary: first line of its docstring.
      example: lines of a doctest, and what they print.
    """

    def function(inputs: Any, *arguments: Any, reuse: Any = None, **options: Any) -> Any:
        scope = options.get("name")
        reused = {"_reuse": reuse} if reuse is not None else {}
        return layer(*arguments, _scope=scope, **reused, **options)(inputs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = layer.__module__
    function.__signature__ = _signature(layer)  # type: ignore[attr-defined]
    function.__doc__ = f"""{summary}

    `reuse` finds the variables of a layer of that name; the other arguments are those of
    `{layer.__name__}`.

    Example:
      >>> {example.partition(chr(10))[0]}
      {example.partition(chr(10))[2]}
    """
    return function


def _signature(layer: Any) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = list(inspect.signature(layer.__init__).parameters.values())[1:]
    own = [each for each in own if each.kind is kind]
    reuse = inspect.Parameter("reuse", kind, default=None)
    return inspect.Signature([inspect.Parameter("inputs", kind), *own, reuse])
