"""tf.compat: strings of either kind, and `v1`, which is `tf` itself (set by the package)."""

from typing import Any

__all__ = [
    "as_bytes", "as_str", "as_str_any", "as_text", "disable_eager_execution",
    "disable_v2_behavior", "enable_eager_execution",
]  # fmt: skip


def as_bytes(text: Any, encoding: str = "utf-8") -> bytes:
    """Return `text` as bytes; TypeError if it is no string."""
    if not isinstance(text, str | bytes):
        raise TypeError(f"expected bytes or str, got {text!r}")
    return text.encode(encoding) if isinstance(text, str) else text


def as_text(text: Any, encoding: str = "utf-8") -> str:
    """Return `text` as str; TypeError if it is no string."""
    return as_bytes(text, encoding).decode(encoding)


as_str = as_text


def as_str_any(value: Any) -> str:
    """Return `value` as str, whatever it is."""
    return as_text(value) if isinstance(value, bytes) else str(value)


def disable_v2_behavior() -> None:
    """Do nothing: there is no version 2 behaviour here."""


def disable_eager_execution() -> None:
    """Do nothing: graphs are always built first and run later."""


def enable_eager_execution(*_: Any, **__: Any) -> None:
    """Raise NotImplementedError: graphs are always built first and run later."""
    raise NotImplementedError("tfdist runs graphs; there is no eager execution")
