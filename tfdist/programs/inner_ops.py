"""Names of tensorflow.python.ops, training and layers that are public nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph.op_def import REGISTRY, raw
from tfdist.models.contrib_smart import smart_cond, smart_constant_value
from tfdist.ops import initializers, initializers_matrices
from tfdist.ops.initializers import Initializer

__all__ = [
    "GATE_GRAPH", "GATE_NONE", "GATE_OP", "USE_DEFAULT", "Constant", "Identity", "Initializer",
    "Ones", "Orthogonal", "RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling",
    "Zeros", "constant_value", "conv_output_length", "convert_data_format", "normalize_tuple",
    "smart_cond", "switch",
]  # fmt: skip

# init_ops
Zeros, Ones = initializers.zeros_initializer, initializers.ones_initializer
Constant = initializers.constant_initializer
RandomNormal = initializers.random_normal_initializer
RandomUniform = initializers.random_uniform_initializer
TruncatedNormal = initializers.truncated_normal_initializer
VarianceScaling = initializers.variance_scaling_initializer
Orthogonal = initializers_matrices.orthogonal_initializer
Identity = initializers_matrices.identity_initializer

# monitored_session, optimizer
USE_DEFAULT = object()
GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

# layers.utils
constant_value = smart_constant_value


def switch(data: Any, pred: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return `data` as two tensors: alive where `pred` is false, and where it is true."""
    return raw.Switch(data, pred, name=name)


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """Return `n` integers, which are given as one or as several.

    Raises:
      ValueError: they are not integers, or not so many.
    """
    if isinstance(value, int):
        return (value,) * n
    try:
        numbers = tuple(int(each) for each in value)
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) != n:
        raise ValueError(
            f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
        )
    return numbers


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """Return the length of what a convolution along one axis gives; None if it is not known."""
    if input_length is None:
        return None
    taps = filter_size + (filter_size - 1) * (dilation - 1)
    lengths = {
        "same": input_length,
        "valid": input_length - taps + 1,
        "full": input_length + taps - 1,
    }
    return (lengths[padding] + stride - 1) // stride


def convert_data_format(data_format: str, ndim: int) -> str:
    """Return what nodes call "channels_last" or "channels_first".

    Raises:
      ValueError: there is no such format, or no convolution of that rank.
    """
    formats = {
        "channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"},
        "channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"},
    }
    if ndim not in formats.get(data_format, ()):
        raise ValueError(f"Invalid data_format: {data_format} with {ndim} axes")
    return formats[data_format][ndim]


class RawNames:
    """Ops by their names in the modules `gen_...`, "max_pool_grad" for MaxPoolGrad."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the function that makes nodes of an op."""
        wanted = name.strip("_").replace("_", "").lower()
        for op in REGISTRY:
            if op.lower() == wanted and not name.startswith("__"):
                return getattr(raw, op)  # type: ignore[no-any-return]
        raise AttributeError(name)
