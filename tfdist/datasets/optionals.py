"""Elements that may not be there."""

from __future__ import annotations

from typing import Any

from tfdist.datasets import structure
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor


class Optional:
    """An element that may not be there; see `get_next_as_optional`."""

    def __init__(self, tensor: Tensor, found: Any) -> None:
        self._variant_tensor, self._found = tensor, found

    @property
    def value_structure(self) -> Any:
        """Return what is known of the element."""
        return self._found

    def has_value(self, name: str | None = None) -> Any:
        """Return a bool tensor: whether the element is there."""
        return raw.OptionalHasValue(self._variant_tensor, name=name)

    def get_value(self, name: str | None = None) -> Any:
        """Return the element; InvalidArgumentError, when it runs, if it is not there."""
        told = structure.flat_attrs(self._found)
        tensors = raw.OptionalGetValue(self._variant_tensor, **told, name=name)
        return structure.packed(self._found, tensors)


def get_next_as_optional(iterator: Any) -> Optional:
    """Return the next element of an iterator, which is not there after the last one."""
    told = structure.flat_attrs(iterator._structure)
    tensor = raw.IteratorGetNextAsOptional(iterator._iterator_resource, **told)
    return Optional(tensor, iterator._structure)
