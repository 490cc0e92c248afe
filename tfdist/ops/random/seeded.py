"""Public functions that draw the same numbers whenever they get the same seed, and categorical."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import dtypes
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.shared_values import refine
from tfdist.ops.random.random_ops import dims_of, get_seed, scaled
from tfdist.ops.random.stateless_ops import (
    STATELESS_MULTINOMIAL,
    STATELESS_NORMAL,
    STATELESS_TRUNCATED,
    STATELESS_UNIFORM,
    STATELESS_UNIFORM_INT,
)

__all__: list[str] = []  # their home is tf.random


def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return numbers from [minval, maxval), the same ones for the same seed.

    Args:
      shape: integers [rank].
      seed: integers [2].
      minval: least number.
      maxval: upper end, not reached; by default 1, needed for integers.
      dtype: a float type, int32 or int64.
      name: of the node.

    Raises:
      ValueError: `maxval` is missing and `dtype` is an integer type.

    Example:
      >>> numbers = random.stateless_uniform([4], [1, 2])
      >>> (Session().run(numbers) == Session().run(numbers)).all()
      np.True_
    """
    dtype = dtypes.as_dtype(dtype)
    if maxval is None and dtype.is_integer:
        raise ValueError(f"stateless_uniform needs `maxval` for {dtype.name}")
    with scopes.name_scope(name, "stateless_random_uniform", [shape, seed]) as scope:
        dims = dims_of(shape)
        low = convert.convert_to_tensor(minval, dtype, "min")
        high = convert.convert_to_tensor(1 if maxval is None else maxval, dtype, "max")
        if dtype.is_integer:
            return refine(STATELESS_UNIFORM_INT(dims, seed, low, high, name=scope), dims)
        drawn = refine(STATELESS_UNIFORM(dims, seed, dtype=dtype), dims)
        span = raw.Sub(high, low, name="sub")
        return raw.Add(raw.Mul(drawn, span, name="mul"), low, name=scope)  # type: ignore[no-any-return]


def _normal(public: str, default: str, op_def: OpDef, meaning: str) -> Callable[..., Tensor]:
    """Return the public function of a normal distribution.

    Args:
      public: its name.
      default: name of the node.
      op_def: what draws.
      meaning: what is drawn.
    """

    def function(
        shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:  # fmt: skip
        return scaled(
            lambda dims, dtype: op_def(dims, seed, dtype=dtype),
            shape, mean, stddev, dtype, name or default,
        )  # fmt: skip

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return {meaning}, the same ones for the same seed.

    Args:
      shape: integers [rank].
      seed: integers [2].
      mean: of the distribution.
      stddev: its standard deviation.
      dtype: a float type.
      name: of the node.

    Example:
      >>> numbers = random.{public}([4], [1, 2])
      >>> (Session().run(numbers) == Session().run(numbers)).all()
      np.True_
    """
    return function


stateless_normal = _normal(
    "stateless_normal", "stateless_random_normal", STATELESS_NORMAL,
    "numbers drawn from a normal distribution",
)  # fmt: skip
stateless_truncated_normal = _normal(
    "stateless_truncated_normal", "stateless_truncated_normal", STATELESS_TRUNCATED,
    "numbers of a normal distribution within two standard deviations",
)  # fmt: skip


def stateless_multinomial(
    logits: Any, num_samples: Any, seed: Any, output_dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return classes drawn from softmax(`logits`), the same ones for the same seed.

    Args:
      logits: [batch, classes], log-probabilities (nats) up to a constant per row.
      num_samples: how many to draw for each row.
      seed: integers [2].
      output_dtype: int32 or int64.
      name: prefix for the nodes.

    Example:
      >>> Session().run(random.stateless_multinomial([[0.0, 100.0]], 3, [1, 2]))
      array([[1, 1, 1]])
    """
    with scopes.name_scope(name, "stateless_multinomial", [logits, seed]):
        return _classes(logits, num_samples, seed, output_dtype)


def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Return the same as `stateless_multinomial`; its later name.

    Args:
      logits: see `stateless_multinomial`.
      num_samples: see `stateless_multinomial`.
      seed: see `stateless_multinomial`.
      dtype: its output_dtype.
      name: see `stateless_multinomial`.

    Example:
      >>> Session().run(random.stateless_categorical([[0.0, 100.0]], 3, [1, 2]))
      array([[1, 1, 1]])
    """
    with scopes.name_scope(name, "stateless_categorical", [logits, seed]):
        return _classes(logits, num_samples, seed, dtype)


def _classes(logits: Any, num_samples: Any, seed: Any, dtype: Any) -> Tensor:
    logits = convert.convert_to_tensor(logits, name="logits")
    return STATELESS_MULTINOMIAL(logits, num_samples, seed, output_dtype=dtype)  # type: ignore[no-any-return]


def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return classes drawn from the distributions softmax(`logits`).

    Args:
      logits: [batch, classes], log-probabilities (nats) up to a constant per row.
      num_samples: how many to draw for each row.
      dtype: int32 or int64, by default int64.
      seed: of this op; see `set_random_seed`.
      name: prefix for the nodes.

    Example:
      >>> Session().run(random.categorical([[0.0, 100.0]], 3))
      array([[1, 1, 1]])
    """
    with scopes.name_scope(name, "categorical", [logits]):
        logits = convert.convert_to_tensor(logits, name="logits")
        one, two = get_seed(seed)
        return raw.Multinomial(  # type: ignore[no-any-return]
            logits, num_samples, seed=one, seed2=two, output_dtype=dtype or dtypes.int64
        )
