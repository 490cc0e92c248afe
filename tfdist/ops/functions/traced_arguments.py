"""The arguments of a traced function: which are tensors, and which tell traces apart."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes, nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.type_spec import TypeSpec
from tfdist.ops.functions.calls import node_name

__all__ = ["TensorSpec"]


class TensorSpec(TypeSpec):
    """What is known of a tensor: shape, dtype, and perhaps a name.

    Example:
      >>> TensorSpec([None, 2], float32)
      TensorSpec(shape=(?, 2), dtype=tf.float32, name=None)
    """

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self.shape = TensorShape(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.name = name

    value_type = Tensor

    @classmethod
    def from_spec(cls, spec: Any) -> TensorSpec:
        """Return what `spec` tells."""
        return cls(spec.shape, spec.dtype, spec.name)

    @classmethod
    def from_value(cls, value: Any) -> TensorSpec:
        """Return what is known of a tensor, without its name."""
        return cls(value.shape, value.dtype)

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """Return what is known of `tensor`."""
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    def is_compatible_with(self, tensor: Any) -> bool:
        """Return whether `tensor` may be what this says."""
        return self.dtype.base_dtype is tensor.dtype.base_dtype and self.shape.is_compatible_with(
            tensor.shape
        )

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class Given(NamedTuple):
    """The arguments of one call.

    Attributes:
      structure: positional and named arguments.
      leaves: of the structure.
      specs: what is known of those that are tensors, None for others.
    """

    structure: Any
    leaves: list[Any]
    specs: list[TensorSpec | None]

    @property
    def tensors(self) -> list[Tensor]:
        """Return the tensors among the leaves."""
        return [leaf for leaf, spec in zip(self.leaves, self.specs, strict=True) if spec]

    def key(self, relaxed: bool) -> Any:
        """Return what tells one kind of arguments from another."""
        pairs = zip(self.leaves, self.specs, strict=True)
        return nest.show(self.structure), *(_kind(leaf, spec, relaxed) for leaf, spec in pairs)

    def relaxed(self) -> Given:
        """Return the same with nothing known of shapes but their ranks."""
        return self._replace(specs=[spec and _without_dims(spec) for spec in self.specs])


def _without_dims(spec: TensorSpec) -> TensorSpec:
    rank = spec.shape.ndims
    return TensorSpec(None if rank is None else [None] * rank, spec.dtype, spec.name)


def _kind(leaf: Any, spec: TensorSpec | None, relaxed: bool) -> Any:
    if spec is not None:
        spec = _without_dims(spec) if relaxed else spec
        return spec.dtype.name, spec.shape.as_tuple()
    try:
        hash(leaf)
    except TypeError:
        return "object", id(leaf)
    return type(leaf).__name__, leaf


class Binder:
    """Tells the arguments of calls of a Python function.

    Attributes:
      input_signature: a TensorSpec, or a structure of them, for each argument; None for any.
    """

    def __init__(self, func: Callable[..., Any], input_signature: Any) -> None:
        self.input_signature = _checked_signature(input_signature)
        self._label = label_of(func)
        try:
            self._signature = inspect.signature(func)
        except (TypeError, ValueError) as error:
            raise TypeError(f"tf.function takes a Python function, not {func!r}: {error}") from None
        self._parameters = self._signature.parameters

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Given:
        """Return the arguments of a call.

        Raises:
          TypeError: the Python function does not take them, or the input signature does not.
          ValueError: a tensor is not as the input signature says.
        """
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self._label}{self._signature}: {error}") from None
        bound.apply_defaults()
        positional = list(bound.args)
        if self.input_signature is not None:
            positional = self._specified(positional, len(args) + len(kwargs))
        structure = (positional, dict(bound.kwargs))
        leaves = [_leaf(each) for each in nest.flatten(structure)]
        names = self._names(positional, bound.kwargs)
        specs = [_spec(leaf, name) for leaf, name in zip(leaves, names, strict=True)]
        for i, told in enumerate(nest.flatten(self.input_signature or ())):
            i += len(nest.flatten(positional[: self._first]))
            specs[i] = TensorSpec(told.shape, told.dtype, told.name or names[i])
        return Given(structure, leaves, specs)

    @property
    def _first(self) -> int:
        """Return where the arguments begin that an input signature tells of."""
        return int(next(iter(self._parameters), "") == "self")

    def _names(self, positional: list[Any], named: dict[str, Any]) -> list[str]:
        """Return the name of the parameter for each leaf of the arguments."""
        labels: list[str] = []
        for parameter in self._parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                rest = len(positional) - len(labels)
                labels += [f"{parameter.name}_{i}" for i in range(rest)]
            elif parameter.kind not in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
                labels.append(parameter.name)
        pairs = [*zip(labels, positional, strict=True), *sorted(named.items())]
        return [label for label, value in pairs for _ in nest.flatten(value)]

    def _specified(self, positional: list[Any], count: int) -> list[Any]:
        """Return the arguments with tensors where the input signature wants them."""
        specs = self.input_signature or ()
        first, end = self._first, self._first + len(specs)
        if count > end:
            raise TypeError(
                "When input_signature is provided, only pass arguments covered by it. Received "
                f"{count - first} argument(s)."
            )
        if len(positional) < end:
            raise TypeError(
                f"input_signature tells of {len(specs)} arguments, but {self._label} takes "
                f"{self._signature}"
            )
        pairs = zip(positional[first:end], specs, strict=True)
        return [*positional[:first], *(_as_all(*pair) for pair in pairs), *positional[end:]]


def label_of(func: Callable[..., Any]) -> str:
    """Return the name of a Python function as one that nodes can have."""
    return node_name(getattr(func, "__name__", "function"))


def _checked_signature(given: Any) -> tuple[Any, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple) or not all(
        isinstance(each, TensorSpec) for each in nest.flatten(given)
    ):
        raise TypeError(f"input_signature must be a sequence of TensorSpec, not {given!r}")
    return tuple(given)


def _leaf(value: Any) -> Any:
    """Return an argument as it is, an array as a tensor."""
    return convert_to_tensor(value) if isinstance(value, np.ndarray | np.generic) else value


def _spec(leaf: Any, name: str) -> TensorSpec | None:
    """Return what is known of an argument that is a tensor, None for other values."""
    if isinstance(leaf, Tensor | TensorSpec):
        own = leaf.name if isinstance(leaf, TensorSpec) else None
        return TensorSpec(leaf.shape, leaf.dtype.base_dtype, own or name)
    return None


def _as_all(value: Any, specs: Any) -> Any:
    """Return an argument with a tensor for each TensorSpec of `specs`."""
    if not nest.is_nested(specs):
        return as_specified(value, specs)
    nest.check_same(specs, value)
    pairs = zip(nest.flatten(value), nest.flatten(specs), strict=True)
    return nest.pack_as(value, [as_specified(*pair) for pair in pairs])


def as_specified(leaf: Any, spec: TensorSpec) -> Any:
    """Return an argument as the tensor that `spec` tells of; ValueError if it is another."""
    told = f"Python inputs incompatible with input_signature: got {leaf!r}, expected {spec!r}"
    if not isinstance(leaf, TensorSpec):
        try:
            leaf = convert_to_tensor(leaf, None if hasattr(leaf, "_as_tensor") else spec.dtype)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{told}: {error}") from None
    if not spec.is_compatible_with(leaf):
        raise ValueError(told)
    return leaf
