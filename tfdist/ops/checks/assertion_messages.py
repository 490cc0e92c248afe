"""What assertions say when they fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph.operation import Tensor
from tfdist.graph.static_value import static_value

__all__: list[str] = []


def parts_to_show(message: str | None, data: Any, otherwise: Callable[[], list[Any]]) -> list[Any]:
    """Return the message, if there is one, and `data` or what `otherwise` gives."""
    return ([message] if message else []) + list(otherwise() if data is None else data)


def message_or_data(
    message: str | None, data: Any, otherwise: Callable[[], list[Any]]
) -> list[Any]:
    """Return `data`, or else the message, empty if there is none, and what `otherwise` gives."""
    return [message or "", *otherwise()] if data is None else list(data)


def labelled(**tensors: Tensor) -> list[Any]:
    """Return tensors, each behind the argument that it is and its own name."""
    pairs = [(f"{label} ({each.name}) = ", each) for label, each in tensors.items()]
    return [part for pair in pairs for part in pair]


def text_of(part: Any) -> str:
    """Return a part of what is shown as text: of a tensor its value if that is known."""
    value = static_value(part) if isinstance(part, Tensor) else part
    return part.name if value is None else str(value)


def prefix(message: str | None, mark: str) -> str:
    """Return `message` and a mark as first words of an error; nothing if there is none."""
    return f"{message}{mark}  " if message else ""
