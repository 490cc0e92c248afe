"""`map_fn`, `foldl`, `foldr`, `scan`: a loop over elements along the first axis.

Source: TF 1.15 API documentation, tf.map_fn, tf.foldl, tf.foldr, tf.scan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfdist.base import nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor
from tfdist.ops.array.constants import constant
from tfdist.ops.array.shape import shape as shape_of
from tfdist.ops.control_flow.while_loop import while_loop
from tfdist.ops.tensor_array.tensor_array import TensorArray

__all__ = ["foldl", "foldr", "map_fn", "scan"]


class _Elements:
    """What a loop takes apart: tensors in a structure, with their first axes of one length.

    Attributes:
      count: that length, a number or a scalar tensor.
      known: that length if it is known, else None.
    """

    def __init__(self, elems: Any) -> None:
        self._structure = elems
        flat = [convert_to_tensor(each, name="elem") for each in nest.flatten(elems)]
        self.dtypes = [each.dtype for each in flat]
        self.known = _first_dim(flat)
        dims: Any = shape_of(flat[0]) if self.known is None else [self.known]
        self.count: Any = dims[0]
        self._arrays = [_array(each.dtype, self.count).unstack(each) for each in flat]

    def __getitem__(self, index: Any) -> Any:
        """Return element `index` of each tensor, in their structure."""
        return nest.pack_as(self._structure, [array.read(index) for array in self._arrays])

    def loop(self, goes_on: Any, body: Any, first: Any, options: tuple[int, bool, bool]) -> Any:
        """Return the ends of a loop that takes each element once at most."""
        return while_loop(goes_on, body, first, None, *options, maximum_iterations=self.count)


class _Results:
    """What a loop puts together."""

    def __init__(self, dtypes: list[Any], count: Any, infer_shape: bool = True) -> None:
        self.arrays = [_array(dtype, count, infer_shape) for dtype in dtypes]

    @staticmethod
    def written(arrays: list[TensorArray], index: Any, values: Any) -> list[TensorArray]:
        """Return `arrays` with `values` at `index`."""
        pairs = zip(arrays, nest.flatten(values), strict=True)
        return [array.write(index, value) for array, value in pairs]

    @staticmethod
    def stacked(arrays: list[TensorArray], structure: Any, known: int | None) -> Any:
        """Return one tensor for each array, in `structure`."""
        tensors = [array.stack() for array in arrays]
        for tensor in tensors:
            if tensor.plain_shape is not None:
                tensor.set_shape(TensorShape([known, *tensor.plain_shape[1:]]))
        return nest.pack_as(structure, tensors)


def _array(dtype: Any, count: Any, infer_shape: bool = True) -> TensorArray:
    return TensorArray(dtype, count, dynamic_size=False, infer_shape=infer_shape)


def _first_dim(tensors: list[Tensor]) -> int | None:
    known = None
    for tensor in tensors:
        if tensor.plain_shape == ():
            raise ValueError(
                f"elements in elems must be 1+ dimensional Tensors, not scalars: got {tensor!r}"
            )
        dim = tensor.plain_shape[0] if tensor.plain_shape else None
        if None not in (dim, known) and dim != known:
            raise ValueError(
                f"Dimensions {known} and {dim} are not compatible: the first axes of elems have "
                f"one length, but one of them is {tensor!r}"
            )
        known = dim if known is None else known
    return known


@contextmanager
def _elements(function: str, fn: Any, elems: Any, name: str | None) -> Iterator[_Elements]:
    """Check the arguments of `function` and open its scope; yields its elements.

    Raises:
      TypeError: `fn` cannot be called.
      ValueError: there is nothing to take apart, an element is a scalar, or first axes differ.
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    flat = nest.flatten(elems)
    if not flat:
        raise ValueError("elems must be a Tensor or (possibly nested) sequence of Tensors.")
    with scopes.name_scope(name, function, flat):
        yield _Elements(elems)


def _like(found: Any, value: Any) -> Any:
    """Return `value`, which has the structure of `found`."""
    nest.check_same(found, value)
    return value


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """Return `fn` of each element of `elems` along the first axis, stacked.

    Args:
      fn: takes an element, in the structure of `elems`; returns tensors in that of `dtype`.
      elems: a tensor [count, ...], or a structure of tensors whose first axes have one length.
      dtype: types of the results in their structure, if they are not as `elems`.
      parallel_iterations: elements that may be worked on at the same time while one waits.
      back_prop: whether gradients flow through.
      swap_memory: taken and not needed.
      infer_shape: whether all results have one shape.
      name: of the scope.

    Returns:
      Tensors [count, ...] in the structure of `dtype`, or of `elems`.

    Raises:
      TypeError: `fn` cannot be called, or its results are of other kinds than `dtype` (a list for a
        tuple, say).
      ValueError: an element is a scalar, first axes differ, or results differ from `dtype` in
        number or depth.
      InvalidArgumentError: when it runs and a result has another type or shape.

    Example:
      >>> Session().run(map_fn(lambda row: row * 2, constant([1, 2, 3])))
      array([2, 4, 6], dtype=int32)
    """
    with _elements("map", fn, elems, name) as given:
        structure = elems if dtype is None else dtype
        wanted = given.dtypes if dtype is None else nest.flatten(dtype)
        index = constant(0)
        results = _Results(wanted, given.count, infer_shape)

        def body(i: Any, arrays: list[TensorArray]) -> Any:
            value = _like(structure, fn(given[i]))
            return i + 1, results.written(arrays, i, value)

        options = (parallel_iterations or 10, back_prop, swap_memory)
        start = (index, results.arrays)
        _, ends = given.loop(lambda i, _: i < given.count, body, start, options)
        return results.stacked(ends, structure, given.known)


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Return fn(... fn(fn(initializer, elems[0]), elems[1]) ..., elems[-1]).

    Args:
      fn: takes what was found so far and an element, returns what is found with it: the same
        structure, dtypes and shapes again.
      elems: a tensor [count, ...], or a structure of tensors whose first axes have one length.
      initializer: what to begin with; by default the element that would come first.
      parallel_iterations: elements that may be worked on at the same time while one waits.
      back_prop: whether gradients flow through.
      swap_memory: taken and not needed.
      name: of the scope.

    Returns:
      What is found with the last element, in the structure of `initializer`.

    Raises:
      TypeError: `fn` cannot be called, or its result has another type, or is of another kind.
      ValueError: an element is a scalar, first axes differ, or a result has another form or shape.
      InvalidArgumentError: when it runs and has neither an element nor an initializer.

    Example:
      >>> int(Session().run(foldl(lambda total, x: total * 10 + x, constant([1, 2, 3]))))
      123
    """
    with _elements("foldl", fn, elems, name) as given:
        first = given[0] if initializer is None else initializer
        index = constant(int(initializer is None))

        def body(i: Any, found: Any) -> Any:
            found = _like(found, fn(found, given[i]))
            return i + 1, found

        options = (parallel_iterations, back_prop, swap_memory)
        _, end = given.loop(lambda i, _: i < given.count, body, (index, first), options)
        return end


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Return fn(... fn(fn(initializer, elems[-1]), elems[-2]) ..., elems[0]); see `foldl`.

    Example:
      >>> int(Session().run(foldr(lambda total, x: total * 10 + x, constant([1, 2, 3]))))
      321
    """
    with _elements("foldr", fn, elems, name) as given:
        index, first = given.count, initializer
        if initializer is None:
            index = given.count - 1
            first = given[index]

        def body(i: Any, found: Any) -> Any:
            i = i - 1
            return i, _like(found, fn(found, given[i]))

        options = (parallel_iterations, back_prop, swap_memory)
        _, end = given.loop(lambda i, _: i > 0, body, (index, first), options)
        return end


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Return what `foldl` finds after each element, stacked; see `foldl` for more.

    Without an initializer, the first element is the first result.

    Args:
      fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name: as for `foldl`.
      infer_shape: whether all results have one shape.
      reverse: whether to begin with the last element; results stand where their elements do.

    Returns:
      Tensors [count, ...] in the structure of `initializer`.

    Example:
      >>> Session().run(scan(lambda total, x: total + x, constant([1, 2, 3])))
      array([1, 3, 6], dtype=int32)
      >>> Session().run(scan(lambda total, x: total + x, constant([1, 2, 3]), reverse=True))
      array([6, 5, 3], dtype=int32)
    """
    with _elements("scan", fn, elems, name) as given:
        edge = given.count - 1 if reverse else 0
        is_given = initializer is not None
        first = nest.map_leaves(convert_to_tensor, initializer) if is_given else given[edge]
        results = _Results([each.dtype for each in nest.flatten(first)], given.count, infer_shape)
        arrays = results.arrays if is_given else results.written(results.arrays, edge, first)
        begin = int(not is_given)
        index = given.count - 1 - begin if reverse else begin

        def body(i: Any, found: Any, arrays: list[TensorArray]) -> Any:
            found = _like(found, fn(found, given[i]))
            following = i - 1 if reverse else i + 1
            return following, found, results.written(arrays, i, found)

        goes_on = (lambda i, *_: i >= 0) if reverse else (lambda i, *_: i < given.count)
        options = (parallel_iterations, back_prop, swap_memory)
        _, _, ends = given.loop(goes_on, body, (index, first, arrays), options)
        return results.stacked(ends, first, given.known)
