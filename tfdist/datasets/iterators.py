"""`tf.data.Iterator`: gives the elements of a dataset, one in each step.

Source: TF 1.15 API documentation, tf.data.Iterator.
"""

from __future__ import annotations

import warnings
from typing import Any

from tfdist.base import dtypes
from tfdist.datasets import one_shot, structure
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor

_MANY = 32  # calls of get_next on one iterator, which are more than anybody means to make


class Iterator(structure.Structured):
    """Gives the elements of a dataset: `get_next` is run once for each.

    It is a resource of the task that its node is placed on; steps of several sessions can ask it.

    Args:
      handle: the tensor of the resource.
      initializer: the operation that begins the elements, or None.
      found: structure of the elements.

    Example: an iterator that two datasets can begin.
      >>> from tfdist.datasets.dataset import Dataset
      >>> iterator = Iterator.from_structure(int64, [])
      >>> element = iterator.get_next()
      >>> begin = iterator.make_initializer(Dataset.range(2))
      >>> with Session() as session:
      ...     session.run(begin)
      ...     print(session.run(element), session.run(element))
      0 1
    """

    def __init__(self, handle: Tensor, initializer: Operation | None, found: Any) -> None:
        self._iterator_resource, self._initializer, self._structure = handle, initializer, found
        self._string_handle: Tensor = raw.IteratorToStringHandle(handle)
        self._calls = 0

    @staticmethod
    def from_structure(
        output_types: Any,
        output_shapes: Any = None,
        shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:
        """Return an iterator that `make_initializer` begins with any dataset of that structure.

        Args:
          output_types: structure of types.
          output_shapes: structure of shapes; unknown ones if None.
          shared_name: by which other sessions of the same server find it.
          output_classes: structure of `Tensor` and `SparseTensor`; tensors if None.
        """
        found = structure.structure_from(output_types, output_shapes, output_classes)
        told = structure.flat_attrs(found)
        handle = raw.IteratorV2(container="", shared_name=shared_name or "", **told)
        return Iterator(handle, None, found)

    @staticmethod
    def from_string_handle(
        string_handle: Any,
        output_types: Any,
        output_shapes: Any = None,
        output_classes: Any = None,
    ) -> Iterator:
        """Return the iterator that a string tells of, which is often fed.

        Args:
          string_handle: what `string_handle` of another iterator gives when it is run.
          output_types: structure of types.
          output_shapes: structure of shapes; unknown ones if None.
          output_classes: structure of `Tensor` and `SparseTensor`; tensors if None.
        """
        found = structure.structure_from(output_types, output_shapes, output_classes)
        text = convert_to_tensor(string_handle, dtypes.string)
        told = structure.flat_attrs(found)
        return Iterator(raw.IteratorFromStringHandleV2(text, **told), None, found)

    @property
    def initializer(self) -> Operation:
        """Return the operation that begins the elements; ValueError if there is none."""
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """Return an operation that begins the elements of `dataset`.

        Raises:
          TypeError: its elements have other types or shapes.
          ValueError: they have another structure.
        """
        _check(self._structure, dataset._structure)
        with scopes.colocate_with(self._iterator_resource):
            made: Operation = raw.MakeIterator(
                dataset._variant_tensor, self._iterator_resource, name=name or "make_initializer"
            )
        return made

    def get_next(self, name: str | None = None) -> Any:
        """Return tensors of the next element: each step that runs them takes one.

        Raises:
          OutOfRangeError: when it runs and there are no more.
          FailedPreconditionError: when it runs and the initializer has not run.
        """
        self._calls += 1
        if self._calls > _MANY:
            warnings.warn(
                "get_next() was called many times on one iterator: call it once, and run what it "
                "returns many times; each call adds a node",
                stacklevel=2,
            )
        told = structure.flat_attrs(self._structure)
        tensors = raw.IteratorGetNext(self._iterator_resource, **told, name=name)
        return structure.packed(self._structure, tensors)

    def string_handle(self, name: str | None = None) -> Tensor:
        """Return a string tensor that tells of this iterator; see `from_string_handle`."""
        if name is None:
            return self._string_handle
        made: Tensor = raw.IteratorToStringHandle(self._iterator_resource, name=name)
        return made


def _check(wanted: Any, given: Any) -> None:
    """Raise TypeError or ValueError unless elements are as they should be."""
    structure.check_same(wanted, given)
    pairs = zip(structure.flatten(wanted), structure.flatten(given), strict=True)
    for old, new in pairs:
        if old.dtype is not new.dtype:
            raise TypeError(
                f"Expected output types {structure.types_of(wanted)!r} but got dataset with output "
                f"types {structure.types_of(given)!r}."
            )
        if not old.shape.is_compatible_with(new.shape):
            raise TypeError(
                "Expected output shapes compatible with "
                f"{structure.shapes_of(wanted)!r} but got dataset with output shapes "
                f"{structure.shapes_of(given)!r}."
            )


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Iterator:
    """Return an iterator of `dataset`; see `Dataset.make_initializable_iterator`."""
    final = one_shot.with_options_applied(dataset)
    told = structure.flat_attrs(dataset._structure)
    handle = raw.IteratorV2(container="", shared_name=shared_name or "", **told)
    with scopes.colocate_with(handle):
        initializer = raw.MakeIterator(final, handle)
    return Iterator(handle, initializer, dataset._structure)


def make_one_shot_iterator(dataset: Any) -> Iterator:
    """Return an iterator of `dataset`; see `Dataset.make_one_shot_iterator`."""
    told = structure.flat_attrs(dataset._structure)
    factory = one_shot.factory_of(dataset)
    handle = raw.OneShotIterator(dataset_factory=factory, **told)
    return Iterator(handle, None, dataset._structure)


def get_output_types(dataset_or_iterator: Any) -> Any:
    """Return the types of the elements of a dataset or iterator."""
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """Return the shapes of the elements of a dataset or iterator."""
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """Return the classes of the elements of a dataset or iterator."""
    return dataset_or_iterator.output_classes
