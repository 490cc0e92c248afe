"""Learning rates that fall along waves of the cosine.

Source: TF 1.15 API documentation, tf.train.cosine_decay and those named below.
"""

from __future__ import annotations

import math
from typing import Any

from tfdist.graph.convert import constant
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.random.random_ops import random_normal
from tfdist.training.learning_rate.decay import first_rate

__all__ = [
    "cosine_decay", "cosine_decay_restarts", "linear_cosine_decay", "noisy_linear_cosine_decay",
]  # fmt: skip


def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: Any = 0.0,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a rate that falls along half a wave of the cosine.

    Args:
      learning_rate: float, the rate of step 0.
      global_step: int tensor or Variable: steps done.
      decay_steps: int, positive: after so many the end is reached.
      alpha: float: the rate at the end, as a part of that at the beginning.
      name: of the nodes.

    Raises:
      ValueError: there is no `global_step`.

    Example:
      >>> Session().run(cosine_decay(1.0, 10, 10, alpha=0.25))
      np.float32(0.25)

    Source: Loshchilov and Hutter 2016, arXiv 1608.03983.
    """
    with name_scope(name, "CosineDecay", [learning_rate, global_step]):
        rate = first_rate(learning_rate, global_step)
        steps = cast(decay_steps, rate.dtype)
        step = raw.Minimum(cast(global_step, rate.dtype), steps)
        part = (1 - alpha) * _half_wave(step / steps) + alpha
        return raw.Mul(rate, part)  # type: ignore[no-any-return]


def _half_wave(part: Any) -> Any:
    return 0.5 * (1.0 + raw.Cos(_pi() * part))


def _pi() -> Any:
    return constant(math.pi)


def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Tensor:
    """Return a rate that falls along half a wave of the cosine, again and again.

    Args:
      learning_rate: float, the rate of step 0.
      global_step: int tensor or Variable: steps done.
      first_decay_steps: int, positive: length of the first fall.
      t_mul: float: by what factor each fall is longer than the one before.
      m_mul: float: by what factor it begins lower.
      alpha: float: the rate at the end of the first fall, as a part of that at its beginning.
      name: of the nodes.

    Raises:
      ValueError: there is no `global_step`.

    Example:
      >>> Session().run([cosine_decay_restarts(1.0, step, 10) for step in (0, 10)])
      [np.float32(1.0), np.float32(1.0)]

    Source: Loshchilov and Hutter 2016, arXiv 1608.03983.
    """
    with name_scope(name, "SGDRDecay", [learning_rate, global_step]) as scope:
        rate = first_rate(learning_rate, global_step)
        first, low = cast(first_decay_steps, rate.dtype), cast(alpha, rate.dtype)
        longer, lower = cast(t_mul, rate.dtype), cast(m_mul, rate.dtype)
        falls = cast(global_step, rate.dtype) / first
        number, part = cond(
            raw.Equal(longer, 1.0), lambda: _equal_falls(falls), lambda: _falls(falls, longer)
        )
        height = 0.5 * lower**number
        wave = height * (1.0 + raw.Cos(_pi() * part))
        return raw.Mul(rate, (1 - low) * wave + low, name=scope)  # type: ignore[no-any-return]


def _equal_falls(falls: Any) -> tuple[Any, Any]:
    """Return how many falls are over, and how much of this one."""
    number = raw.Floor(falls)
    return number, falls - number


def _falls(falls: Any, longer: Any) -> tuple[Any, Any]:
    """Return how many falls are over, and how much of this one, if each is longer by a factor."""
    number = raw.Floor(raw.Log(1.0 - falls * (1.0 - longer)) / raw.Log(longer))
    over = (1.0 - longer**number) / (1.0 - longer)
    return number, (falls - over) / longer**number


def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:
    """Return a rate that falls straight, times waves of the cosine.

    Args:
      learning_rate: float, the rate of step 0.
      global_step: int tensor or Variable: steps done.
      decay_steps: int, positive: after so many the end is reached.
      num_periods: float: number of waves.
      alpha: float: added to the straight part.
      beta: float: added to the product.
      name: of the nodes.

    Raises:
      ValueError: there is no `global_step`.

    Example:
      >>> Session().run(linear_cosine_decay(1.0, 10, 10, beta=0.25))
      np.float32(0.25)

    Source: Bello et al. 2017, arXiv 1709.07417.
    """
    with name_scope(name, "LinearCosineDecay", [learning_rate, global_step]) as scope:
        rate = first_rate(learning_rate, global_step)
        numbers = (decay_steps, num_periods, alpha, beta, global_step)
        steps, periods, low, lowest, step = (cast(each, rate.dtype) for each in numbers)
        step = raw.Minimum(step, steps)
        straight = (steps - step) / steps
        wave = _waves(step / steps, periods)
        return raw.Mul(rate, (low + straight) * wave + lowest, name=scope)  # type: ignore[no-any-return]


def _waves(part: Any, periods: Any) -> Any:
    return _half_wave(2.0 * periods * part)


def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: Any = 1.0,
    variance_decay: Any = 0.55,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:
    """Return a rate that falls straight with some noise, times waves of the cosine.

    Args:
      learning_rate: float, the rate of step 0.
      global_step: int tensor or Variable: steps done.
      decay_steps: int, positive: after so many the end is reached.
      initial_variance: float: of the noise of step 0.
      variance_decay: float: it is divided by (1 + step) to this power.
      num_periods: float: number of waves.
      alpha: float: added to the straight part.
      beta: float: added to the product.
      name: of the nodes.

    Raises:
      ValueError: there is no `global_step`.

    Example:
      >>> Session().run(noisy_linear_cosine_decay(1.0, 10, 10, 0.0, beta=0.25))
      np.float32(0.25)

    Source: Bello et al. 2017, arXiv 1709.07417.
    """
    with name_scope(name, "NoisyLinearCosineDecay", [learning_rate, global_step]) as scope:
        rate = first_rate(learning_rate, global_step)
        numbers = (decay_steps, initial_variance, variance_decay, num_periods, alpha, beta,
                   global_step)  # fmt: skip
        steps, variance, fading, periods, low, lowest, step = (
            cast(each, rate.dtype) for each in numbers
        )
        step = raw.Minimum(step, steps)
        straight = (steps - step) / steps
        deviation = raw.Sqrt(variance / raw.Pow(1.0 + step, fading))
        noisy = straight + random_normal(straight.shape, stddev=deviation)
        wave = _waves(step / steps, periods)
        return raw.Mul(rate, (low + noisy) * wave + lowest, name=scope)  # type: ignore[no-any-return]
