"""tf.contrib.framework.nest: functions of nested structures, which lists, tuples and dicts make.

A module, as programs use it: `nest = tf.contrib.framework.nest`.

Source: TF 1.15 API documentation, tf.contrib.framework.nest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tfdist.base import nest
from tfdist.base.nest import is_namedtuple, is_nested
from tfdist.ops.framework.composites import parts_of

__all__ = [
    "assert_same_structure", "assert_shallow_structure", "flatten", "flatten_dict_items",
    "flatten_up_to", "flatten_with_joined_string_paths", "flatten_with_tuple_paths",
    "get_traverse_shallow_structure", "is_nested", "is_sequence", "map_structure",
    "map_structure_up_to", "map_structure_with_paths", "map_structure_with_tuple_paths",
    "pack_sequence_as", "yield_flat_paths",
]  # fmt: skip

is_sequence = is_nested


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the leaves; with `expand_composites` the tensors that a SparseTensor is made of.

    Example:
      >>> contrib.framework.nest.flatten({"b": [2, 3], "a": 1})
      [1, 2, 3]
    """
    leaves = nest.flatten(structure)
    if not expand_composites:
        return leaves
    return [part for leaf in leaves for part in parts_of(leaf)]


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Return leaves in the form of `structure`.

    Args:
      structure: the form.
      flat_sequence: list of leaves.
      expand_composites: must be False.

    Raises:
      TypeError: `flat_sequence` is no list or tuple.
      ValueError: it has more or fewer elements than `structure` leaves.

    Example:
      >>> contrib.framework.nest.pack_sequence_as([0, (0,)], ["x", "y"])
      ['x', ('y',)]
    """
    if not is_nested(flat_sequence):
        raise TypeError("flat_sequence must be a sequence")
    given, wanted = len(flat_sequence), len(nest.flatten(structure))
    if given != wanted:
        raise ValueError(
            f"Could not pack sequence. Structure had {wanted} elements, but flat_sequence had "
            f"{given} elements.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return nest.pack_as(structure, list(flat_sequence))


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Fail unless two values have one structure.

    Args:
      nest1: a structure.
      nest2: another one.
      check_types: whether a list and a tuple differ.
      expand_composites: whether a SparseTensor is a structure; taken and not needed.

    Raises:
      TypeError: somewhere they are of different kinds.
      ValueError: somewhere they differ in length, keys or depth.

    Example:
      >>> contrib.framework.nest.assert_same_structure([1, (2,)], [3, (4,)])
    """
    nest.check_same(nest1, nest2, check_types=check_types)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Return the first structure with `func` of the leaves that stand in each place.

    Args:
      func: takes a leaf of each structure.
      *structure: structures of one form.
      **kwargs: `check_types`, see `assert_same_structure`, and `expand_composites`.

    Raises:
      TypeError: `func` cannot be called, or structures are of different kinds.
      ValueError: there is no structure, they differ, or a keyword is unknown.

    Example:
      >>> contrib.framework.nest.map_structure(max, [1, (5,)], [2, (3,)])
      [2, (5,)]
    """
    _check_call(func, structure)
    check_types, _ = kwargs.pop("check_types", True), kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(kwargs)}`"
        )
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    leaves = zip(*map(nest.flatten, structure), strict=True)
    return nest.pack_as(structure[0], [func(*each) for each in leaves])


def _check_call(func: Any, structures: Any) -> None:
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structures:
        raise ValueError("Must provide at least one structure")


# where leaves stand


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[tuple[Any, ...]]:
    """Yield where each leaf stands: the keys and positions that lead to it.

    Example:
      >>> list(contrib.framework.nest.yield_flat_paths({"a": [3, 4]}))
      [('a', 0), ('a', 1)]
    """
    if not is_nested(nest):
        yield ()
        return
    for key, part in _entries(nest):
        for rest in yield_flat_paths(part):
            yield (key, *rest)


def _entries(structure: Any) -> list[tuple[Any, Any]]:
    """Return keys or positions, or names of fields, with what stands there, in order."""
    if isinstance(structure, Mapping):
        return [(key, structure[key]) for key in sorted(structure)]
    keys = getattr(structure, "_fields", range(len(structure)))
    return list(zip(keys, structure, strict=True))


def flatten_with_tuple_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """Return pairs of where a leaf stands, and the leaf.

    Example:
      >>> contrib.framework.nest.flatten_with_tuple_paths([3, (4,)])
      [((0,), 3), ((1, 0), 4)]
    """
    return list(zip(yield_flat_paths(structure), nest.flatten(structure), strict=True))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """Return pairs of where a leaf stands, as a string, and the leaf.

    Example:
      >>> contrib.framework.nest.flatten_with_joined_string_paths({"a": [3, 4]})
      [('a/0', 3), ('a/1', 4)]
    """
    return [
        (separator.join(map(str, path)), leaf) for path, leaf in flatten_with_tuple_paths(structure)
    ]


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Do as `map_structure`, for a function whose first argument is where the leaves stand.

    Example:
      >>> contrib.framework.nest.map_structure_with_tuple_paths(lambda p, x: (*p, x), ["a", "b"])
      [(0, 'a'), (1, 'b')]
    """
    _check_call(func, structure)
    paths = nest.pack_as(structure[0], [_Path(p) for p in yield_flat_paths(structure[0])])
    checks = {"check_types": kwargs.pop("check_types", True)}
    return map_structure(
        lambda path, *leaves: func(path.keys, *leaves, **kwargs), paths, *structure, **checks
    )


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Do as `map_structure`, for a function whose first argument is where the leaves stand.

    Example:
      >>> contrib.framework.nest.map_structure_with_paths(lambda p, x: p, {"a": [3, 4]})
      {'a': ['a/0', 'a/1']}
    """

    def joined(path: tuple[Any, ...], *leaves: Any, **options: Any) -> Any:
        return func("/".join(map(str, path)), *leaves, **options)

    return map_structure_with_tuple_paths(joined, *structure, **kwargs)


class _Path:
    """Where a leaf stands, as a leaf."""

    def __init__(self, keys: tuple[Any, ...]) -> None:
        self.keys = keys


# structures whose leaves are structures


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Fail unless `input_tree` has the form of `shallow_tree` down to the latter's leaves.

    Raises:
      TypeError: somewhere they are of different kinds.
      ValueError: somewhere they differ in length or keys.

    Example:
      >>> contrib.framework.nest.assert_shallow_structure([1, 2], [[3], 4])
    """
    if not is_nested(shallow_tree):
        return
    if not is_nested(input_tree):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(input_tree)}."
        )
    if check_types and not _of_one_kind(shallow_tree, input_tree):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    _check_members(shallow_tree, input_tree)
    parts = _members(shallow_tree, input_tree)
    for (_, shallow), (_, inner) in zip(_entries(shallow_tree), parts, strict=True):
        assert_shallow_structure(shallow, inner, check_types)


def _of_one_kind(first: Any, second: Any) -> bool:
    both_dicts = isinstance(first, Mapping) and isinstance(second, Mapping)
    return both_dicts or type(first) is type(second)


def _check_members(shallow: Any, whole: Any) -> None:
    if isinstance(shallow, Mapping):
        missing = sorted(set(shallow) - set(whole))
        if missing:
            raise ValueError(
                "The shallow_tree's keys are not a subset of the input_tree's keys. The "
                "shallow_tree has the following keys that are not in the input_tree: "
                f"{missing}."
            )
    elif len(shallow) != len(whole):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(whole)}, while shallow structure has length {len(shallow)}."
        )


def _members(shallow: Any, whole: Any) -> list[tuple[Any, Any]]:
    """Return the entries of a structure that a shallow one has, too."""
    if isinstance(shallow, Mapping):
        return [(key, whole[key]) for key in sorted(shallow)]
    return _entries(whole)


def flatten_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[Any]:
    """Return what stands in `input_tree` where `shallow_tree` has leaves.

    Raises:
      TypeError, ValueError: see `assert_shallow_structure`.

    Example:
      >>> contrib.framework.nest.flatten_up_to([0, [0]], [[3, 4], [[5]]])
      [[3, 4], [5]]
    """
    assert_shallow_structure(shallow_tree, input_tree, check_types)
    return list(_up_to(shallow_tree, input_tree))


def _up_to(shallow: Any, whole: Any) -> Iterator[Any]:
    if not is_nested(shallow):
        yield whole
        return
    pairs = zip(_entries(shallow), _members(shallow, whole), strict=True)
    for (_, inner), (_, part) in pairs:
        yield from _up_to(inner, part)


def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """Return `shallow_tree` with `func` of what stands in `inputs` in the places of its leaves.

    Raises:
      TypeError, ValueError: see `assert_shallow_structure`; or there are no inputs.

    Example:
      >>> contrib.framework.nest.map_structure_up_to([0, 0], len, [[3, 4], [5]])
      [2, 1]
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    checks = kwargs.pop("check_types", True)
    columns = [flatten_up_to(shallow_tree, each, checks) for each in inputs]
    leaves = [func(*each, **kwargs) for each in zip(*columns, strict=True)]
    return nest.pack_as(shallow_tree, leaves)


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """Return a structure of bools, as deep as `traverse_fn` says that one may go.

    Args:
      traverse_fn: from a substructure to a bool, or to a list or dict of bools for its parts.
      structure: the whole.
      expand_composites: must be False.

    Raises:
      TypeError: the function returns something else.

    Example:
      >>> shallow = contrib.framework.nest.get_traverse_shallow_structure
      >>> shallow(lambda each: isinstance(each, list), [1, [2], (3, 4)])
      [False, [False], False]
    """
    wanted = traverse_fn(structure)
    if not is_nested(structure) or isinstance(wanted, bool):
        if not isinstance(wanted, bool):
            raise TypeError(f"traverse_fn returned {wanted!r} for a leaf: it must return a bool")
        return _deeper(traverse_fn, structure) if wanted and is_nested(structure) else wanted
    assert_same_structure(_plain_parts(structure), _plain_parts(wanted))
    parts = [
        get_traverse_shallow_structure(traverse_fn, part) if may else False
        for (_, part), (_, may) in zip(_entries(structure), _entries(wanted), strict=True)
    ]
    return _like(structure, parts)


def _deeper(traverse_fn: Callable[[Any], Any], structure: Any) -> Any:
    parts = [get_traverse_shallow_structure(traverse_fn, part) for _, part in _entries(structure)]
    return _like(structure, parts)


def _plain_parts(structure: Any) -> Any:
    """Return the outermost level of a structure, with None for what is in it."""
    if isinstance(structure, Mapping):
        return dict.fromkeys(structure)
    return [None] * len(structure)


def _like(structure: Any, parts: list[Any]) -> Any:
    """Return the outermost level of a structure, with other parts in order."""
    if isinstance(structure, Mapping):
        return dict(zip(sorted(structure), parts, strict=True))
    if hasattr(structure, "_fields"):
        return type(structure)(*parts)
    return type(structure)(parts)


def flatten_dict_items(dictionary: Any) -> dict[Any, Any]:
    """Return a dict whose keys and values were structures of one form, with a leaf for each.

    Raises:
      TypeError: it is no dict.
      ValueError: a key and its value differ in form, or two keys have one leaf.

    Example:
      >>> contrib.framework.nest.flatten_dict_items({("x", "y"): (1, 2), "z": 3})
      {'x': 1, 'y': 2, 'z': 3}
    """
    if not isinstance(dictionary, Mapping):
        raise TypeError("input must be a dictionary")
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = nest.flatten(key), nest.flatten(value)
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had "
                f"{len(values)} elements. Key: {keys}, value: {values}."
            )
        for each, leaf in zip(keys, values, strict=True):
            if each in flat:
                raise ValueError(f"Could not flatten dictionary: key {each} is not unique.")
            flat[each] = leaf
    return flat


def _is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Return whether a structure is a named tuple; if `strict`, no class derived from one."""
    return is_namedtuple(instance) and (not strict or type(instance).__base__ is tuple)
