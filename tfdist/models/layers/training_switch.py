"""What is done only while training: known when the graph is built, or a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph.constant_values import evaluated
from tfdist.ops.control_flow.cond import cond


def known_flag(flag: Any) -> bool | None:
    """Return whether a flag is true: a bool, an integer or a tensor; None if not known yet."""
    if not hasattr(flag, "_as_tensor"):
        return bool(flag)
    value = evaluated(flag._as_tensor(False))
    return None if value is None else bool(value)


def chosen(flag: Any, when_true: Callable[[], Any], when_false: Callable[[], Any]) -> Any:
    """Return what one function returns; both are in the graph if the flag is not known yet."""
    known = known_flag(flag)
    if known is None:
        return cond(flag, when_true, when_false)
    return when_true() if known else when_false()
