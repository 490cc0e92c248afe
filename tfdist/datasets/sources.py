"""Datasets of tensors, of numbers, of what Python generators yield, of names of files."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.datasets import inputs, mapping, structure
from tfdist.datasets.functions import TracedFunction
from tfdist.datasets.structure import TensorSpec
from tfdist.graph.convert import convert_to_tensor, to_array
from tfdist.graph.op_def import raw
from tfdist.ops.functions.py_func import py_func
from tfdist.ops.sparse.sparse_tensor import SparseTensor


def from_tensors(tensors: Any) -> Any:
    """See `Dataset.from_tensors`."""
    element = structure.normal(tensors)
    found = structure.map_leaves(structure.spec_of, element)
    shapes = structure.flat_attrs(found)["output_shapes"]
    return structure.dataset(
        raw.TensorDataset(structure.tensors_of(element), output_shapes=shapes), found
    )


def from_tensor_slices(tensors: Any) -> Any:
    """See `Dataset.from_tensor_slices`."""
    element = structure.normal(tensors)
    specs: list[Any] = [structure.spec_of(leaf) for leaf in structure.flatten(element)]
    first: Any = None
    rows = structure.tensors_of(element, are_rows=True)
    for spec, tensor in zip(specs, rows, strict=True):
        if spec.shape.ndims == 0:
            raise ValueError(f"Value {tensor!r} has insufficient rank for batching.")
        if spec.shape.ndims is None:
            continue
        size = spec.shape.as_list()[0]
        if None not in (first, size) and first != size:
            raise ValueError(f"Dimensions {first} and {size} are not compatible")
        first = size if first is None else first
    slices = [type(spec)(spec.shape[1:], spec.dtype) for spec in specs]
    found = structure.pack_as(element, slices)
    told = structure.flat_attrs(found)["output_shapes"]
    tensor = raw.TensorSliceDataset(rows, output_shapes=told)
    return structure.dataset(tensor, found)


def from_sparse_tensor_slices(sparse_tensor: Any) -> Any:
    """See `Dataset.from_sparse_tensor_slices`."""
    if not isinstance(sparse_tensor, SparseTensor):
        raise TypeError("`sparse_tensor` must be a `tf.SparseTensor` object.")
    parts = sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape
    rank = parts[0].shape[1] - 1
    found = (
        TensorSpec([None, rank], dtypes.int64),
        TensorSpec([None], sparse_tensor.dtype),
        TensorSpec([rank], dtypes.int64),
    )
    return structure.dataset(raw.SparseTensorSliceDataset(*parts), found)


def from_range(args: tuple[Any, ...]) -> Any:
    """See `Dataset.range`."""
    if not 1 <= len(args) <= 3:
        raise ValueError(f"Invalid arguments to RangeDataset: {args}")
    start, stop = (0, args[0]) if len(args) == 1 else args[:2]
    step = args[2] if len(args) == 3 else 1
    bounds = inputs.int64(start, "start"), inputs.int64(stop, "stop"), inputs.int64(step, "step")
    spec = TensorSpec([], dtypes.int64)
    return structure.dataset(raw.RangeDataset(*bounds, **structure.flat_attrs(spec)), spec)


class _Running:
    """The Python iterators of a `from_generator` that run, by number."""

    def __init__(self, generator: Callable[..., Any], args: Any) -> None:
        self._generator = generator
        self._numbers = itertools.count()
        self._running: dict[int, Iterator[Any]] = {}
        self._lock = threading.Lock()

    def begin(self, *args: Any) -> Any:
        """Begin an iterator; returns its number."""
        with self._lock:
            number = next(self._numbers)
        self._running[number] = iter(self._generator(*args))
        return np.int64(number)

    def following(self, number: Any) -> Any:
        """Return what it yields next; StopIteration at its end."""
        return next(self._running[int(number)])

    def end(self, number: Any) -> Any:
        """Forget the generator of this number; return 0, as the op has an output."""
        self._running.pop(int(number), None)
        return np.int64(0)


def from_generator(generator: Any, output_types: Any, output_shapes: Any, args: Any) -> Any:
    """See `Dataset.from_generator`."""
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    given = tuple(convert_to_tensor(each) for each in (args or ()))
    wanted = structure.structure_from(output_types, output_shapes)
    running = _Running(generator, given)

    def get_iterator_id_fn(_: Any) -> Any:
        return _scalar(py_func(running.begin, list(given), dtypes.int64))

    def generator_next_fn(number: Any) -> Any:
        specs = structure.flatten(wanted)

        def following(number: Any) -> list[Any]:
            return _values(running.following(number), wanted, specs)

        found = py_func(following, [number], [spec.dtype for spec in specs])
        for tensor, spec in zip(found, specs, strict=True):
            tensor.set_shape(spec.shape)
        return structure.pack_as(wanted, found)

    def finalize_fn(number: Any) -> Any:
        return _scalar(py_func(running.end, [number], dtypes.int64))

    def flat_map_fn(dummy: Any) -> Any:
        functions = get_iterator_id_fn, generator_next_fn, finalize_fn
        return _generator_dataset(dummy, functions)

    return mapping.flat_map(from_tensors(0), flat_map_fn)


def _generator_dataset(dummy: Any, functions: tuple[Any, Any, Any]) -> Any:
    """Return the dataset of one run of a generator."""
    label, number = "Dataset.from_generator()", TensorSpec([], dtypes.int64)
    begin = TracedFunction(functions[0], label, structure.spec_of(dummy))
    following = TracedFunction(functions[1], label, number)
    finish = TracedFunction(functions[2], label, number)
    tensor = raw.GeneratorDataset(
        [dummy, *begin.captured],
        list(following.captured),
        list(finish.captured),
        init_func=begin.function,
        next_func=following.function,
        finalize_func=finish.function,
        **structure.flat_attrs(following.structure),
    )
    return structure.dataset(tensor, following.structure)


def _scalar(tensor: Any) -> Any:
    tensor.set_shape([])
    return tensor


def _values(element: Any, wanted: Any, specs: list[TensorSpec]) -> list[Any]:
    """Return what a generator yielded as arrays of the promised types and shapes."""
    try:
        leaves = structure.flatten_like(wanted, element)
    except (TypeError, ValueError):
        types = structure.types_of(wanted)
        raise TypeError(
            "`generator` yielded an element that did not match the expected structure. The "
            f"expected structure was {types}, but the yielded element was {element}."
        ) from None
    return [_value(leaf, spec) for leaf, spec in zip(leaves, specs, strict=True)]


def _value(leaf: Any, spec: TensorSpec) -> Any:
    try:
        array = to_array(leaf, spec.dtype)
    except (TypeError, ValueError):
        raise TypeError(
            "`generator` yielded an element that could not be converted to the expected type. The "
            f"expected type was {spec.dtype.name}, but the yielded element was {leaf}."
        ) from None
    if not spec.shape.is_compatible_with(TensorShape(array.shape)):
        raise ValueError(
            f"`generator` yielded an element of shape {array.shape} where an element of shape "
            f"{spec.shape} was expected."
        )
    return array
