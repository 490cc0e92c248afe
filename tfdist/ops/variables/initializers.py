"""Initializers: functions from shape and dtype to the initial value of a variable.

Source: TF 1.15 API documentation, tf.initializers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.tensor_shape import as_shape
from tfdist.graph.convert import constant, holds_tensor
from tfdist.ops.array.fill import ones, zeros
from tfdist.ops.random.random_ops import random_normal, random_uniform, truncated_normal

__all__ = [
    "constant_initializer", "glorot_normal_initializer", "glorot_uniform_initializer",
    "ones_initializer", "random_normal_initializer", "random_uniform_initializer",
    "truncated_normal_initializer", "uniform_unit_scaling_initializer",
    "variance_scaling_initializer", "zeros_initializer",
]  # fmt: skip


class Initializer:
    """What all initializers are: called with a shape, they return a tensor of it.

    Args:
      dtype: of the value, where the call names none.
    """

    _settings: tuple[str, ...] = ()  # names of attributes, as `__init__` calls them

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def get_config(self) -> dict[str, Any]:
        """Return the settings by which `from_config` makes an initializer like this one."""
        config = {name: getattr(self, name) for name in self._settings}
        return {**config, "dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """Return an initializer with these settings."""
        return cls(**config)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """Return a tensor of `shape` and `dtype`; `partition_info` tells of what it is a part."""
        plain = shape if holds_tensor(shape) else list(as_shape(shape) or ())
        whole = plain if partition_info is None else list(partition_info.full_shape)
        return self._part(plain, dtypes.as_dtype(dtype or self.dtype), whole)

    def _part(self, shape: list[Any], dtype: Any, whole: list[Any]) -> Any:
        """Return the value of a part; those that scale look at the shape of the whole."""
        return self._value(shape, dtype)

    def _value(self, shape: list[Any], dtype: Any) -> Any:
        raise NotImplementedError


class Zeros(Initializer):
    """Gives zeros.

    Example:
      >>> Session().run(zeros_initializer()([2]))
      array([0., 0.], dtype=float32)
    """

    def _value(self, shape: list[Any], dtype: Any) -> Any:
        return zeros(shape, dtype)


class Ones(Initializer):
    """Gives ones."""

    def _value(self, shape: list[Any], dtype: Any) -> Any:
        return ones(shape, dtype)


class Constant(Initializer):
    """Gives `value`, repeated where the shape holds more.

    Args:
      value: a number, or a list or array of as many as the shape holds.
      dtype: of the value, where the call names none.
      verify_shape: whether `value` must have the shape itself; a TypeError tells if it has not.
    """

    _settings = ("value",)

    def __init__(
        self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False
    ) -> None:
        super().__init__(dtype)
        self.value, self._verify_shape = value, verify_shape

    def _value(self, shape: list[Any], dtype: Any) -> Any:
        if self._verify_shape and np.shape(self.value) != tuple(shape):
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {np.shape(self.value)}.")
        return constant(self.value, dtype, shape)


def check_random(dtype: Any) -> None:
    """Raise ValueError unless there are random values of that type."""
    if not (dtype.is_floating or dtype.is_integer):
        raise ValueError(f"Invalid dtype {dtype!r}: there are random numbers only")


class _Random(Initializer):
    """Gives random values.

    Args:
      seed: of the op.
      dtype: of the values, where the call names none.
    """

    _draw: Any

    def __init__(self, seed: int | None, dtype: Any) -> None:
        super().__init__(dtype)
        self.seed = seed

    def _value(self, shape: list[Any], dtype: Any) -> Any:
        check_random(dtype)
        low, high = (getattr(self, name) for name in self._settings[:2])
        return type(self)._draw(shape, low, high, dtype, self.seed)


class RandomUniform(_Random):
    """Gives numbers between `minval` and `maxval`, all equally likely."""

    _draw = staticmethod(random_uniform)
    _settings = ("minval", "maxval", "seed")

    def __init__(
        self, minval: Any = 0, maxval: Any = None, seed: Any = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(seed, dtype)
        self.minval, self.maxval = minval, maxval


class _Spread(_Random):
    """Gives random values around a mean.

    Args:
      mean: of the values.
      stddev: their standard deviation.
      seed: of the op.
      dtype: of the values, where the call names none.
    """

    _settings = ("mean", "stddev", "seed")

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 1.0, seed: Any = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(seed, dtype)
        self.mean, self.stddev = mean, stddev


class RandomNormal(_Spread):
    """Gives normally distributed numbers."""

    _draw = staticmethod(random_normal)


class TruncatedNormal(_Spread):
    """Gives normally distributed numbers, none further than two deviations from the mean."""

    _draw = staticmethod(truncated_normal)


def _fans(shape: list[Any]) -> tuple[float, float]:
    """Return the number of inputs and outputs of a layer with weights of `shape`."""
    if len(shape) < 2:
        size = float(shape[0]) if shape else 1.0
        return size, size
    field = math.prod(shape[:-2])
    return float(shape[-2] * field), float(shape[-1] * field)


_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("normal", "truncated_normal", "untruncated_normal", "uniform")


class VarianceScaling(Initializer):
    """Gives random numbers whose variance is `scale` over the size of the layer.

    Args:
      scale: above 0.
      mode: "fan_in", "fan_out" or "fan_avg": which size.
      distribution: "truncated_normal" (also "normal"), "untruncated_normal" or "uniform".
      seed: of the op.
      dtype: of the values, where the call names none.

    Source: He et al. 2015, arXiv 1502.01852; Glorot and Bengio 2010.
    """

    _settings: tuple[str, ...] = ("scale", "mode", "distribution", "seed")

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: Any = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(dtype)
        if scale <= 0.0:
            raise ValueError(f"`scale` must be positive float, but is {scale}.")
        if mode not in _MODES:
            raise ValueError(f"Invalid `mode` argument: {mode}; there are {', '.join(_MODES)}")
        if distribution not in _DISTRIBUTIONS:
            raise ValueError(
                f"Invalid `distribution` argument: {distribution}; there are "
                f"{', '.join(_DISTRIBUTIONS)}"
            )
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed

    def _part(self, shape: list[Any], dtype: Any, whole: list[Any]) -> Any:
        check_random(dtype)
        fan_in, fan_out = _fans(whole)
        size = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, size)
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return random_uniform(shape, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return random_normal(shape, 0.0, math.sqrt(variance), dtype, self.seed)
        # cutting at two deviations narrows the distribution by this factor
        stddev = math.sqrt(variance) / 0.87962566103423978
        return truncated_normal(shape, 0.0, stddev, dtype, self.seed)


class GlorotUniform(VarianceScaling):
    """Gives uniform numbers scaled to a layer's inputs and outputs; get_variable's default."""

    _settings = ("seed",)

    def __init__(self, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


class GlorotNormal(VarianceScaling):
    """Gives normal numbers scaled to a layer's inputs and outputs."""

    _settings = ("seed",)

    def __init__(self, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)


class UniformUnitScaling(Initializer):
    """Gives uniform numbers that keep the scale of a layer's inputs.

    Args:
      factor: of the range.
      seed: of the op.
      dtype: of the values, where the call names none.
    """

    _settings = ("factor", "seed")

    def __init__(self, factor: float = 1.0, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(dtype)
        self.factor, self.seed = factor, seed

    def _part(self, shape: list[Any], dtype: Any, whole: list[Any]) -> Any:
        check_random(dtype)
        limit = math.sqrt(3 / max(1.0, float(math.prod(whole[:-1])))) * self.factor
        return random_uniform(shape, -limit, limit, dtype, self.seed)


# their public names; programs print those of the classes
zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
uniform_unit_scaling_initializer = UniformUnitScaling
