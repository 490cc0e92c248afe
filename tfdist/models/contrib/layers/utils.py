"""tensorflow.contrib.layers.python.layers.utils: outputs by name, and checks of sizes.

Layers that are given `outputs_collections` note on each output an alias, the name of their scope;
networks turn such a collection into a dict of their end points.

Source: behaviour of TF 1.15.5's module of that name.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterable
from typing import Any

from tfdist.base.dtypes import as_dtype
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.static_value import static_value as value_of
from tfdist.models.contrib.framework.smart_cond import smart_cond as either
from tfdist.models.contrib.framework.smart_cond import smart_constant_value

__all__ = [
    "NamedOutputs", "append_tensor_alias", "channel_dimension", "collect_named_outputs",
    "constant_value", "convert_collection_to_dict", "gather_tensors_aliases",
    "get_tensor_aliases", "get_variable_collections", "last_dimension", "n_positive_integers",
    "smart_cond", "static_cond", "two_element_tuple",
]  # fmt: skip

NamedOutputs = namedtuple("NamedOutputs", ["name", "outputs"])


# outputs by name


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Return `tensor`, which has one alias more."""
    plain = alias.removesuffix("/")
    tensor.aliases = [*getattr(tensor, "aliases", ()), plain]
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """Return the aliases of a tensor; the name of its operation where it has none."""
    return getattr(tensor, "aliases", None) or [tensor.op.name]


def gather_tensors_aliases(tensors: Iterable[Any]) -> list[str]:
    """Return the aliases of all tensors."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Return `outputs`, after adding them to collections with an alias; nothing without any."""
    if collections:
        append_tensor_alias(outputs, alias)
        scopes.add_to_collections(collections, outputs)
    return outputs


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, Any]:
    """Return the tensors of a collection by their aliases.

    Args:
      collection: its name.
      clear_collection: whether it is emptied.
    """
    kept = scopes.get_default_graph().get_collection_ref(collection)
    found = OrderedDict((alias, tensor) for tensor in kept for alias in get_tensor_aliases(tensor))
    if clear_collection:
        kept.clear()
    return found


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """Return the collections for a layer's variable `name`: its own, or those of all."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


# what is known before a graph runs


def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """Return a value, that of a constant, or None where it is not known.

    Raises:
      ValueError: it has not the `dtype` that is wanted.
    """
    if value_or_tensor_or_var is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not hasattr(value_or_tensor_or_var, "dtype"):
        return value_or_tensor_or_var
    found = value_or_tensor_or_var.dtype
    if dtype and found != as_dtype(dtype):
        raise ValueError(f"It has the wrong type {found} instead of {as_dtype(dtype)}")
    return value_of(value_or_tensor_or_var) if hasattr(value_or_tensor_or_var, "op") else None


def static_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """Return what `fn1` gives where a plain value is true, otherwise what `fn2` gives.

    Raises:
      TypeError: one of them is no function.
    """
    for label, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{label} must be callable.")
    return fn1() if pred else fn2()


def smart_cond(
    pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any], name: str | None = None
) -> Any:
    """Return what `fn1` or `fn2` gives; a `tf.cond` where the condition is not known."""
    if isinstance(pred, bool) or smart_constant_value(pred) is not None:
        known = pred if isinstance(pred, bool) else smart_constant_value(pred)
        return static_cond(known, fn1, fn2)
    return either(pred, fn1, fn2, name)


# sizes


def _size(shape: TensorShape, axis: int, min_rank: int) -> int:
    """Return a size of a shape, which must be known."""
    if shape.ndims is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.ndims < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.ndims}")
    size = shape.as_list()[axis]
    if size is None:
        raise ValueError(f"dimension {axis} of shape must be known but is None: {shape}")
    return int(size)


def channel_dimension(shape: TensorShape, data_format: str, min_rank: int = 1) -> int:
    """Return the number of channels: second with "channels_first", last otherwise.

    Raises:
      ValueError: it is not known, or there are fewer axes than `min_rank`.
    """
    return _size(shape, 1 if data_format == "channels_first" else -1, min_rank)


def last_dimension(shape: TensorShape, min_rank: int = 1) -> int:
    """Return the size of the last axis; errors as of `channel_dimension`."""
    return _size(shape, -1, min_rank)


def two_element_tuple(int_or_tuple: Any) -> tuple[Any, Any]:
    """Return a height and a width, which are given as one number or as two.

    Raises:
      ValueError: it is neither.
    """
    if isinstance(int_or_tuple, int):
        return int(int_or_tuple), int(int_or_tuple)
    if not isinstance(int_or_tuple, list | tuple | TensorShape) or len(int_or_tuple) != 2:
        raise ValueError(
            "Must be an int, a list with 2 elements or a TensorShape of length 2; "
            f"got {int_or_tuple!r}"
        )
    height, width = int_or_tuple
    return height, width


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """Return `n` positive integers, which are given as one or as several.

    Raises:
      ValueError: they are not positive, or not so many.
    """
    if not (isinstance(n, int) and n > 0):
        raise ValueError("n must be a positive integer")
    is_one = isinstance(value, int | float)
    given = [value] * n if is_one else value
    if len(given) != n:
        raise ValueError(f"Expected sequence of {n} positive integers, but received {value!r}")
    try:
        numbers = tuple(int(each) for each in given)
    except (TypeError, ValueError) as error:
        text = f"Expected sequence of {n} positive integers, but received {value!r}"
        raise ValueError(text) from error
    wrong = [number for number in numbers if number < 1]
    if wrong:
        raise ValueError(f"expected positive integer, but received {wrong[0]}")
    return numbers
