"""Names of tensorflow.python.keras and of tensorflow.python.layers.utils, for libraries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation, Tensor
from tfdist.models.contrib.framework.smart_cond import smart_cond, smart_constant_value
from tfdist.ops.framework.composites import FIELDS
from tfdist.ops.variables.variable import Variable
from tfdist.programs.inner_ops import conv_output_length, convert_data_format, normalize_tuple

__all__ = [
    "constant_value", "conv_input_length", "conv_output_length", "convert_data_format",
    "deconv_output_length", "get_graph", "get_reachable_from_inputs", "is_symbolic_tensor",
    "is_tensor_or_tensor_list", "is_tensor_or_variable", "normalize_data_format",
    "normalize_padding", "normalize_tuple", "register_symbolic_tensor_type", "smart_cond",
    "static_shape",
]  # fmt: skip

constant_value = smart_constant_value
_SYMBOLIC: list[type] = [Tensor, Variable, *FIELDS]


# backend


def get_graph() -> Graph:
    """Return the graph that layers add to: the default one."""
    return scopes.get_default_graph()


# tf_utils


def get_reachable_from_inputs(inputs: Iterable[Any], targets: Any = None) -> set[Any]:
    """Return tensors and operations that some tensors are computed into, these included.

    Args:
      inputs: tensors, operations or variables.
      targets: tensors or operations; the search ends when all were found.
    """
    reached: set[Any] = set()
    wanted = set(nest.flatten([] if targets is None else targets))
    waiting = list(inputs)
    while waiting and not (wanted and wanted <= reached):
        for each in _following(waiting.pop()):
            if each not in reached:
                reached.add(each)
                waiting.append(each)
    return reached | set(inputs)


def _following(element: Any) -> list[Any]:
    if isinstance(element, Operation):
        return list(element.outputs)
    tensor = element if isinstance(element, Tensor) else element._as_tensor()
    return list(tensor.consumers())


def is_symbolic_tensor(tensor: Any) -> bool:
    """Return whether this is a tensor, a variable, or of a class that was registered."""
    return isinstance(tensor, tuple(_SYMBOLIC))


def register_symbolic_tensor_type(cls: type) -> None:
    """Let objects of a class be taken for tensors."""
    if cls not in _SYMBOLIC:
        _SYMBOLIC.append(cls)


def is_tensor_or_variable(x: Any) -> bool:
    """Return whether this is a tensor, a composite of them, or a variable."""
    return isinstance(x, (Tensor, Variable, *FIELDS))


def is_tensor_or_tensor_list(v: Any) -> bool:
    """Return whether this is a tensor, or a list that begins with one."""
    first = v[0] if isinstance(v, list | tuple) and v else v
    return is_tensor_or_variable(first)


# layers.utils


def normalize_data_format(value: str) -> str:
    """Return "channels_first" or "channels_last", in small letters.

    Raises:
      ValueError: it is neither.
    """
    return _one_of(value, "data_format", ("channels_first", "channels_last"))


def normalize_padding(value: str) -> str:
    """Return "valid" or "same", in small letters.

    Raises:
      ValueError: it is neither.
    """
    return _one_of(value, "padding", ("valid", "same"))


def _one_of(value: str, name: str, choices: tuple[str, ...]) -> str:
    if value.lower() not in choices:
        listed = ", ".join(f'"{each}"' for each in choices)
        raise ValueError(f"The `{name}` argument must be one of {listed}. Received: {value}")
    return value.lower()


def conv_input_length(
    output_length: int | None, filter_size: int, padding: str, stride: int
) -> int | None:
    """Return the length of what a convolution along one axis takes; None if it is not known."""
    if output_length is None:
        return None
    around = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * around + filter_size


def deconv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int
) -> int | None:
    """Return the length of what a transposed convolution gives; None if it is not known."""
    if input_length is None:
        return None
    more = {"same": 0, "valid": max(filter_size - stride, 0), "full": 2 - stride - filter_size}
    return input_length * stride + more[padding]


def static_shape(x: Any) -> list[int | None] | None:
    """Return the shape of a tensor as far as it is known, None if not even its rank is."""
    shape = x.get_shape()
    return None if shape.ndims is None else shape.as_list()  # type: ignore[no-any-return]
