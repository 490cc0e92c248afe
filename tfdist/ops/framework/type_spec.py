"""TypeSpec: what is known of a value before it is there, whatever kind of value it is.

Source: TF 1.15 API documentation, tf.TypeSpec.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape

__all__ = ["TypeSpec"]


class TypeSpec(ABC):
    """What is known of a value: of a tensor, or of what several tensors make up.

    A subclass tells by `_serialize` what it knows; that is what two of them are compared by.
    """

    @property
    @abstractmethod
    def value_type(self) -> type:
        """Return the class of the values."""

    @abstractmethod
    def _serialize(self) -> tuple[Any, ...]:
        """Return what is known: shapes, types, and other things, in one order."""

    @classmethod
    def from_value(cls, value: Any) -> TypeSpec:
        """Return what is known of a value."""
        raise NotImplementedError(f"{cls.__name__} tells nothing of {value!r}")

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether a value, or what another spec tells of, may be what this one tells of."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            if not isinstance(other, self.value_type):
                return False
            other = type(self).from_value(other)
        return type(other) is type(self) and all(
            map(_compatible, self._serialize(), other._serialize())  # both are of one length
        )

    def most_specific_compatible_type(self, other: Any) -> Any:
        """Return what is known of all values that this spec or the other one tells of.

        Raises:
          ValueError: they have nothing in common.
        """
        if type(other) is not type(self):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        pairs = zip(self._serialize(), other._serialize(), strict=True)
        return type(self)(*(self._common(*pair, other) for pair in pairs))

    def _common(self, one: Any, another: Any, other: Any) -> Any:
        if isinstance(one, TensorShape):
            return one if one.ndims is None else _common_shape(one, another)
        if one != another:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return one

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._serialize()))})"


def _compatible(one: Any, other: Any) -> bool:
    if isinstance(one, TensorShape):
        return one.is_compatible_with(other)
    if isinstance(one, DType):
        return one.base_dtype is other.base_dtype
    return bool(one == other)


def _common_shape(one: TensorShape, other: TensorShape) -> TensorShape:
    if other.ndims != one.ndims:
        return TensorShape(None)
    pairs = zip(one.as_list(), other.as_list(), strict=True)
    return TensorShape([a if a == b else None for a, b in pairs])


class BatchableTypeSpec(TypeSpec):
    """What is known of values that make up batches; a library's own classes derive from it."""

    @abstractmethod
    def _batch(self, batch_size: int | None) -> TypeSpec:
        """Return what is known of `batch_size` of the values together."""

    @abstractmethod
    def _unbatch(self) -> TypeSpec:
        """Return what is known of one value of those that this one tells of together."""
