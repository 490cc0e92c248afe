"""Which layers are being called, one in the other, and whether they train."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_THREAD = threading.local()


def _stack() -> list[tuple[Any, Any]]:
    if not hasattr(_THREAD, "stack"):
        _THREAD.stack = []
    return _THREAD.stack  # type: ignore[no-any-return]


def innermost() -> Any:
    """Return the layer that is being called, the inner one of several; None if none is."""
    stack = _stack()
    return stack[-1][0] if stack else None


@contextmanager
def calling(layer: Any, options: dict[str, Any], asks: bool, takes: bool) -> Iterator[None]:
    """Note that a layer is called; if it asks whether it trains, put that into the options.

    It is what it was told, or what the layer around it was told, or None: the layers that do
    something else while training then go by the learning phase. A layer that does not even take
    it may be told, too: the layers in it are then told.
    """
    stack = _stack()
    training = options.get("training")
    if training is None:
        training = stack[-1][1] if stack else None
    if asks:
        options["training"] = training
    elif not takes:
        options.pop("training", None)
    elif training is not None:
        options["training"] = training
    stack.append((layer, training))
    try:
        yield
    finally:
        stack.pop()
