"""Feeds: from what a user gives to an array that the graph takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tfdist.base import dtypes, nest, shapes
from tfdist.base.aliases import TensorLike, TensorValue
from tfdist.graph.composites import COMPOSITES, Composite
from tfdist.graph.convert import to_array
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Tensor
from tfdist.session.conversions import CONVERSIONS, conversion_of


def spread(feed_dict: Mapping[TensorLike, TensorLike] | None) -> dict[TensorLike, TensorLike]:
    """Return what is fed tensor by tensor: IndexedSlices are two or three, a SparseTensor is three.

    A tuple of symbols, as the state of a recurrent cell is, takes a structure with as many values.
    What is given later replaces what was given before; of composites as many parts are fed as
    there are values.

    Raises:
      TypeError: the value for such a symbol has no parts, or `feed_dict` is none.
      ValueError: a tuple of symbols has another number of values, or a symbol is given twice.
    """
    if not isinstance(feed_dict, Mapping):
        raise TypeError(f"feed_dict: input must be a dictionary, not {feed_dict!r}")
    if any(isinstance(key, tuple) for key in feed_dict):
        feed_dict = _without_tuples(feed_dict)
    found: dict[Any, Any] = {}
    for key, value in feed_dict.items():
        composite = COMPOSITES.get(type(key))
        if composite is not None:
            found.update(_parts(composite, key, value))
            continue
        conversion = conversion_of(key) if CONVERSIONS else None
        if conversion is None or conversion.feed is None:
            found[key] = value
        else:
            found.update(conversion.feed(key, value))
    return found


def _without_tuples(
    feed_dict: Mapping[TensorLike, TensorLike],
) -> dict[TensorLike, TensorLike]:
    """Return the same feeds with each symbol in a tuple as a key of its own."""
    found: dict[Any, Any] = {}
    for key, value in feed_dict.items():
        is_tuple = isinstance(key, tuple)
        keys, values = map(nest.flatten, (key, value)) if is_tuple else ([key], [value])
        if len(keys) != len(values):
            raise ValueError(
                f"cannot feed {len(values)} values, {values}, for the {len(keys)} of {key}; "
                "a structure with one value for each is wanted"
            )
        for part, fed in zip(keys, values, strict=True):
            if part in found:
                raise ValueError(f"{part} is fed twice: alone and in a tuple, or in two")
            found[part] = fed
    return found


def _parts(
    composite: Composite, key: TensorLike, value: TensorLike
) -> Iterable[tuple[Tensor, TensorLike]]:
    parts = [part for part in composite.parts(key) if part is not None]
    try:
        return zip(parts, value, strict=False)
    except TypeError:
        kind = composite.value.__name__
        article = "an" if kind[0] in "AEIOU" else "a"
        raise TypeError(
            f"cannot feed {value!r} for {key!r}: {article} {kind} or a tuple is wanted"
        ) from None


def find_fed(graph: Graph, key: TensorLike) -> Tensor:
    """Return the tensor that a key of a feed_dict is or names.

    Raises:
      TypeError: it is neither, or is not in this graph (TensorFlow's class).
      ValueError: the graph does not allow it to be fed.
    """
    try:
        tensor = graph.as_graph_element(key, allow_operation=False)
        assert isinstance(tensor, Tensor)
    except (TypeError, ValueError, KeyError) as error:
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]}") from None
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor.name} may not be fed.")
    return tensor


class Feed:
    """Converts the values that are fed for one tensor."""

    __slots__ = ("_dims", "_dtype", "_is_string", "_shape", "_tensor")

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        base = tensor.dtype.base_dtype
        self._is_string = base is dtypes.string
        self._dtype = np.dtype(base.as_numpy_dtype)
        self._shape = tensor.plain_shape
        self._dims = None if self._shape is None or None in self._shape else self._shape

    def array(self, value: TensorValue, private: bool) -> TensorValue:
        """Return `value` as an array of the tensor's type and shape.

        Args:
          value: what the user gave.
          private: whether the array must not be the user's own.

        Raises:
          TypeError: it is a tensor, or no number, or out of the type's range.
          ValueError: it is a word for a number that is none, or not of the shape.
        """
        if type(value) is np.ndarray and value.dtype == self._dtype and not self._is_string:
            array = value
        else:
            array = self._converted(value)
        if array.shape != self._dims:
            self._check(array)
        if private and (array is value or array.base is not None):
            array = array.copy()
        return array[()] if array.ndim == 0 and not self._is_string else array

    def _converted(self, value: TensorValue) -> TensorValue:
        if hasattr(value, "_as_tensor"):
            raise TypeError(
                f"The value of a feed cannot be a tf.Tensor object: that of {self._tensor.name!r} "
                f"is {value!r}, a symbol; feed a number, string, list or array (session.run gives "
                "the value of a tensor)"
            )
        if self._is_string:
            return to_array(value, dtypes.string)
        try:
            return np.asarray(value, self._dtype)
        except (TypeError, ValueError, OverflowError) as error:
            kind = ValueError if isinstance(error, ValueError) else TypeError
            raise kind(
                f"cannot feed {value!r} for tensor {self._tensor.name!r} of {self._dtype}: {error}"
            ) from None

    def _check(self, array: TensorValue) -> None:
        if not shapes.compatible(array.shape, self._tensor.plain_shape):
            raise ValueError(
                f"Cannot feed value of shape {array.shape} for Tensor {self._tensor.name!r}, which "
                f"has shape '{shapes.show(self._tensor.plain_shape)}': feed an array of that "
                "shape, or make the tensor with None for what varies"
                + f" (made at {self._tensor.op.created_at})"
                * bool(self._tensor.op.created_at)
            )
