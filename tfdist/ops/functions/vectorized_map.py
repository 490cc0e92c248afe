"""vectorized_map: a function over the rows of tensors, here one row after the other.

Source: TF 1.15 API documentation, tf.vectorized_map.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.function_graph import FunctionGraph
from tfdist.ops.functions.map_fn import map_fn

__all__ = ["vectorized_map"]


def _first_row(tensor: Any) -> Any:
    return tensor[0]


def vectorized_map(fn: Callable[[Any], Any], elems: Any) -> Any:
    """Return what `fn` makes of each row of `elems`, stacked along the first axis.

    TensorFlow makes one node of all rows where it can. Here a loop goes over the rows: the results
    are the same, and it is as slow as `map_fn`.

    Args:
      fn: takes a row of each tensor, in the structure of `elems`; returns tensors in any structure.
      elems: a tensor [rows, ...], or a structure of them.

    Example:
      >>> Session().run(vectorized_map(lambda row: row * row, constant([1.0, 2.0, 3.0])))
      array([1., 4., 9.], dtype=float32)
    """
    elems = nest.map_leaves(convert_to_tensor, elems)
    graph = FunctionGraph("vectorized_map", scopes.get_default_graph())
    with graph.as_default():  # a trial, of which only the types of the results are kept
        made = fn(nest.map_leaves(lambda each: _first_row(graph.inside("", each)), elems))
        types = nest.map_leaves(lambda each: convert_to_tensor(each).dtype.base_dtype, made)

    def converted(row: Any) -> Any:
        return nest.map_leaves(convert_to_tensor, fn(row))

    return map_fn(converted, elems, dtype=types)
