"""Nested structures: lists, tuples, named tuples and dicts with anything else as leaves.

A dict's leaves stand in the order of its sorted keys, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def is_nested(value: Any) -> bool:
    """Return whether `value` is a structure, not a leaf."""
    return isinstance(value, list | tuple | Mapping)


def flatten(structure: Any) -> list[Any]:
    """Return the leaves of `structure` in order; a leaf alone is a structure too.

    Example:
      >>> flatten({"b": [2, 3], "a": 1})
      [1, 2, 3]
    """
    if not is_nested(structure):
        return [structure]
    return [leaf for part in _parts(structure) for leaf in flatten(part)]


def pack_as(structure: Any, leaves: list[Any]) -> Any:
    """Return `leaves` in the form of `structure`.

    Raises:
      ValueError: there are more or fewer of them than leaves of `structure`.

    Example:
      >>> pack_as({"b": [2, 3], "a": 1}, ["x", "y", "z"])
      {'b': ['y', 'z'], 'a': 'x'}
    """
    wanted = len(flatten(structure))
    if wanted != len(leaves):
        raise ValueError(f"the structure has {wanted} leaves, but {len(leaves)} are given")
    return _packed(structure, iter(leaves))


def map_leaves(function: Any, structure: Any) -> Any:
    """Return `structure` with `function` of each leaf in its place."""
    return pack_as(structure, [function(leaf) for leaf in flatten(structure)])


def check_same(first: Any, second: Any) -> None:
    """Check that two values have one structure.

    Raises:
      TypeError: somewhere they are of different kinds (a list and a tuple, say).
      ValueError: somewhere they differ in length, keys or depth.
    """
    problem = _difference(first, second)
    if problem is not None:
        error, what = problem
        raise error(
            "The two structures don't have the same nested structure: "
            f"{show(first)} and {show(second)}; {what}"
        )


def show(structure: Any) -> str:
    """Return the form of `structure`, a dot for each leaf."""
    if not is_nested(structure):
        return "."
    if isinstance(structure, Mapping):
        return "{" + ", ".join(f"{k!r}: {show(structure[k])}" for k in _keys(structure)) + "}"
    inner = ", ".join(map(show, structure))
    return f"[{inner}]" if isinstance(structure, list) else f"({inner})"


def _keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError(f"the keys of a nested dict must sort, got {list(mapping)!r}") from None


def _parts(structure: Any) -> list[Any]:
    if isinstance(structure, Mapping):
        return [structure[key] for key in _keys(structure)]
    return list(structure)


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    if isinstance(structure, Mapping):
        made = {key: _packed(structure[key], leaves) for key in _keys(structure)}
        ordered = {key: made[key] for key in structure}
        return ordered if type(structure) is dict else type(structure)(ordered)  # type: ignore[call-arg]
    parts = [_packed(part, leaves) for part in structure]
    if hasattr(structure, "_fields"):
        return type(structure)(*parts)
    return parts if type(structure) is list else type(structure)(parts)


def _difference(first: Any, second: Any) -> tuple[type[Exception], str] | None:
    if not is_nested(first) and not is_nested(second):
        return None
    if is_nested(first) != is_nested(second):
        return ValueError, f"{first!r} and {second!r} are not both nested"
    if type(first) is not type(second):
        return TypeError, f"one is a {type(first).__name__}, the other a {type(second).__name__}"
    if isinstance(first, Mapping) and _keys(first) != _keys(second):
        return ValueError, f"one has the keys {_keys(first)}, the other {_keys(second)}"
    if len(first) != len(second):
        return ValueError, f"one has {len(first)} elements, the other {len(second)}"
    pairs = zip(_parts(first), _parts(second), strict=True)
    return next((found for a, b in pairs if (found := _difference(a, b)) is not None), None)
