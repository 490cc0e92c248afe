"""Nested structures: lists, tuples, named tuples and dicts with anything else as leaves.

A dict's leaves stand in the order of its sorted keys, as in TensorFlow. Other sequences, as a
deque, and what `keys()` and `values()` give are structures too; sets, iterators and strings are
leaves. Who means other structures says so by `is_nested`: of tf.data, say, lists are leaves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, MappingView, Sequence
from typing import Any

_TEXTS = (str, bytes, bytearray, memoryview)


def is_nested(value: Any) -> bool:
    """Return whether `value` is a structure, not a leaf."""
    if isinstance(value, list | tuple):
        return True
    return isinstance(value, Mapping | MappingView | Sequence) and not isinstance(value, _TEXTS)


_IsNested = Callable[[Any], bool]


def flatten(structure: Any, is_nested: _IsNested = is_nested) -> list[Any]:
    """Return the leaves of `structure` in order; a leaf alone is a structure too.

    Example:
      >>> flatten({"b": [2, 3], "a": 1})
      [1, 2, 3]
    """
    if not is_nested(structure):
        return [structure]
    return [leaf for part in _parts(structure) for leaf in flatten(part, is_nested)]


def pack_as(structure: Any, leaves: list[Any], is_nested: _IsNested = is_nested) -> Any:
    """Return `leaves` in the form of `structure`.

    Raises:
      ValueError: there are more or fewer of them than leaves of `structure`.

    Example:
      >>> pack_as({"b": [2, 3], "a": 1}, ["x", "y", "z"])
      {'b': ['y', 'z'], 'a': 'x'}
    """
    wanted = len(flatten(structure, is_nested))
    if wanted != len(leaves):
        raise ValueError(f"the structure has {wanted} leaves, but {len(leaves)} are given")
    return _packed(structure, iter(leaves), is_nested)


def map_leaves(function: Any, structure: Any, is_nested: _IsNested = is_nested) -> Any:
    """Return `structure` with `function` of each leaf in its place.

    Example:
      >>> map_leaves(str, {"a": 1, "b": (2, 3)})
      {'a': '1', 'b': ('2', '3')}
    """
    leaves = [function(leaf) for leaf in flatten(structure, is_nested)]
    return pack_as(structure, leaves, is_nested)


def check_same(
    first: Any, second: Any, is_nested: _IsNested = is_nested, check_types: bool = True
) -> None:
    """Check that two values have one structure.

    Two dicts are of one kind whatever their classes, and so are two lists, and two named tuples of
    one name with the same fields; without `check_types` any two sequences are.

    Raises:
      TypeError: somewhere they are of different kinds (a list and a tuple, say).
      ValueError: somewhere they differ in length, keys or depth.

    Example:
      >>> check_same([1, 2], [3])
      Traceback (most recent call last):
      ValueError: The two structures don't have the same nested structure: [., .] and [.]; ...
    """
    are_alike = _one_kind if check_types else _both_mappings_or_none
    problem = _difference(first, second, is_nested, are_alike)
    if problem is not None:
        error, what = problem
        raise error(
            "The two structures don't have the same nested structure: "
            f"{show(first, is_nested)} and {show(second, is_nested)}; {what}"
        )


def show(structure: Any, is_nested: _IsNested = is_nested) -> str:
    """Return the form of `structure`, a dot for each leaf.

    Example:
      >>> show([1, {"a": (2,)}])
      "[., {'a': (.,)}]"
    """
    if not is_nested(structure):
        return "."
    if isinstance(structure, Mapping):
        shown = [f"{key!r}: {show(structure[key], is_nested)}" for key in _keys(structure)]
        return "{" + ", ".join(shown) + "}"
    inner = [show(part, is_nested) for part in structure]
    if isinstance(structure, list):
        return f"[{', '.join(inner)}]"
    if is_namedtuple(structure):
        pairs = zip(structure._fields, inner, strict=True)
        return f"{type(structure).__name__}({', '.join(f'{k}={v}' for k, v in pairs)})"
    return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"


def is_namedtuple(structure: Any) -> bool:
    """Return whether this is a value of a named tuple's class, or of one derived from it."""
    return isinstance(structure, tuple) and hasattr(structure, "_fields")


def _keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError(f"the keys of a nested dict must sort, got {list(mapping)!r}") from None


def _parts(structure: Any) -> list[Any]:
    if isinstance(structure, Mapping):
        return [structure[key] for key in _keys(structure)]
    return list(structure)


def _packed(structure: Any, leaves: Iterator[Any], is_nested: _IsNested) -> Any:
    if not is_nested(structure):
        return next(leaves)
    if isinstance(structure, Mapping):
        made = {key: _packed(structure[key], leaves, is_nested) for key in _keys(structure)}
        return _like(structure, {key: made[key] for key in structure})
    parts = [_packed(part, leaves, is_nested) for part in structure]
    if is_namedtuple(structure):
        return type(structure)(*parts)
    is_plain = type(structure) is list or isinstance(structure, range | MappingView)
    return parts if is_plain else type(structure)(parts)


def _like(model: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    """Return `items` as a mapping of the class of `model`."""
    if isinstance(model, defaultdict):
        return type(model)(model.default_factory, items)
    return items if type(model) is dict else type(model)(items)  # type: ignore[call-arg]


def _difference(
    first: Any, second: Any, is_nested: _IsNested, are_alike: Callable[[Any, Any], bool]
) -> tuple[type[Exception], str] | None:
    """Return what is wrong first, from the outside and from the left; None if nothing is."""
    if is_nested(first) != is_nested(second):
        nested, leaf = (first, second) if is_nested(first) else (second, first)
        return ValueError, f"{show(nested, is_nested)} is a sequence, while {leaf!r} is not"
    if not is_nested(first):
        return None
    if not are_alike(first, second):
        kinds = f"{type(first).__name__} and {type(second).__name__}"
        return TypeError, f"they don't have the same sequence type: {kinds}"
    if isinstance(first, Mapping) and _keys(first) != _keys(second):
        keys = f"{_keys(first)} and {_keys(second)}"
        return ValueError, f"they don't have the same set of keys: {keys}"
    pairs = zip(_parts(first), _parts(second), strict=False)
    differences = (_difference(a, b, is_nested, are_alike) for a, b in pairs)
    inner = next((found for found in differences if found is not None), None)
    if inner is None and len(first) != len(second):
        shown = f"{show(first, is_nested)} and {show(second, is_nested)}"
        return ValueError, f"they don't have the same number of elements: {shown}"
    return inner


def _one_kind(first: Any, second: Any) -> bool:
    if type(first) is type(second):
        return True
    if is_namedtuple(first) and is_namedtuple(second):
        names = type(first).__name__, type(second).__name__
        return names[0] == names[1] and bool(first._fields == second._fields)
    return any(isinstance(first, kind) and isinstance(second, kind) for kind in (list, Mapping))


def _both_mappings_or_none(first: Any, second: Any) -> bool:
    return isinstance(first, Mapping) == isinstance(second, Mapping)
