"""Learning rates that change with the step: tensors to give to an optimizer.

Source: TF 1.15 API documentation, tf.train.exponential_decay and those named below.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import constant, convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.control_flow.case import case
from tfdist.ops.control_flow.cond import cond

__all__ = [
    "exponential_decay", "inverse_time_decay", "natural_exp_decay", "piecewise_constant",
    "piecewise_constant_decay", "polynomial_decay",
]  # fmt: skip


def first_rate(learning_rate: Any, global_step: Any) -> Any:
    """Return the rate to begin with, whose type all else takes."""
    if global_step is None:
        raise ValueError(
            "None values not supported: global_step is needed, as "
            "tf.train.get_or_create_global_step()"
        )
    return convert_to_tensor(learning_rate, name="initial_learning_rate")


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return `learning_rate` times `decay_rate` to the power of steps / `decay_steps`.

    Args:
      learning_rate: float, the rate of step 0.
      global_step: int tensor or Variable: steps done.
      decay_steps: int, positive.
      decay_rate: float.
      staircase: whether the power is rounded down.
      name: of the nodes.

    Raises:
      ValueError: there is no `global_step`.

    Example:
      >>> Session().run(exponential_decay(1.0, 3, 2, 0.25, staircase=True))
      np.float32(0.25)
    """
    with name_scope(name, "ExponentialDecay", [learning_rate, global_step]) as scope:
        rate = first_rate(learning_rate, global_step)
        steps, factor = cast(decay_steps, rate.dtype), cast(decay_rate, rate.dtype)
        power = cast(global_step, rate.dtype) / steps
        power = raw.Floor(power) if staircase else power
        return raw.Mul(rate, raw.Pow(factor, power), name=scope)  # type: ignore[no-any-return]


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return `learning_rate` times e to the power of -`decay_rate` * steps / `decay_steps`.

    Args:
      learning_rate: float, the rate of step 0.
      global_step: int tensor or Variable: steps done.
      decay_steps: int, positive.
      decay_rate: float.
      staircase: whether steps / `decay_steps` is rounded down.
      name: of the nodes.

    Raises:
      ValueError: there is no `global_step`.

    Example:
      >>> Session().run(natural_exp_decay(1.0, 0, 2, 0.25))
      np.float32(1.0)
    """
    if not hasattr(decay_rate, "_as_tensor"):
        decay_rate = constant(decay_rate, name="Neg/x")
    factor = raw.Exp(raw.Neg(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, factor, staircase, name)


def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return `learning_rate` divided by 1 + `decay_rate` * steps / `decay_steps`.

    Args:
      learning_rate: float, the rate of step 0.
      global_step: int tensor or Variable: steps done.
      decay_steps: int, positive.
      decay_rate: float.
      staircase: whether steps / `decay_steps` is rounded down.
      name: of the nodes.

    Raises:
      ValueError: there is no `global_step`.

    Example:
      >>> Session().run(inverse_time_decay(1.0, 4, 2, 0.5))
      np.float32(0.5)
    """
    with name_scope(name, "InverseTimeDecay", [learning_rate, global_step]) as scope:
        rate = first_rate(learning_rate, global_step)
        steps, factor = cast(decay_steps, rate.dtype), cast(decay_rate, rate.dtype)
        times = cast(global_step, rate.dtype) / steps
        times = raw.Floor(times) if staircase else times
        one = cast(constant(1), rate.dtype)
        divisor = raw.Add(one, raw.Mul(factor, times))
        return raw.RealDiv(rate, divisor, name=scope)  # type: ignore[no-any-return]


def piecewise_constant(x: Any, boundaries: Any, values: Any, name: str | None = None) -> Tensor:
    """Return the value of the piece that `x` lies in.

    Args:
      x: a number: tensor or Variable, usually the global step.
      boundaries: list of numbers of the same type, growing; each belongs to the piece below it.
      values: list of numbers, one more than there are boundaries.
      name: of the nodes.

    Raises:
      ValueError: the numbers of boundaries and values, or their types, do not fit.

    Example:
      >>> Session().run([piecewise_constant(x, [2, 5], [1.0, 0.5, 0.25]) for x in (2, 5, 6)])
      [np.float32(1.0), np.float32(0.5), np.float32(0.25)]
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    bounds = [convert_to_tensor(bound) for bound in boundaries]
    pieces = [convert_to_tensor(value) for value in values]
    place: Any = convert_to_tensor(x)
    bounds = [_as_type_of(place, bound) for bound in bounds]
    for value in pieces[1:]:
        if value.dtype.base_dtype is not pieces[0].dtype.base_dtype:
            raise ValueError(
                "Values must have elements all with the same dtype "
                f"({pieces[0].dtype.base_dtype!r} vs {value.dtype.base_dtype!r})."
            )
    with name_scope(name, "PiecewiseConstant", [place]):
        choices: list[tuple[Tensor, Any]] = [
            (place <= bounds[0], lambda: pieces[0]),
            (place > bounds[-1], lambda: pieces[-1]),
        ]
        for low, high, value in zip(bounds[:-1], bounds[1:], pieces[1:-1], strict=True):
            choices.append(((place > low) & (place <= high), lambda value=value: value))
        return case(choices, lambda: pieces[0], exclusive=True)  # type: ignore[no-any-return]


def _as_type_of(place: Tensor, bound: Tensor) -> Tensor:
    wanted, found = place.dtype.base_dtype, bound.dtype.base_dtype
    if found is wanted:
        return bound
    if (found, wanted) == (dtypes.int32, dtypes.int64):
        return cast(bound, wanted)  # type: ignore[no-any-return]
    raise ValueError(f"Boundaries ({found!r}) must have the same dtype as x ({wanted!r}).")


piecewise_constant_decay = piecewise_constant


def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return a rate that falls from one to another in some steps: straight, or as a power.

    Args:
      learning_rate: float, the rate of step 0.
      global_step: int tensor or Variable: steps done.
      decay_steps: int, positive: after so many the end is reached.
      end_learning_rate: float.
      power: float: of the part of the way that is left.
      cycle: whether `decay_steps` is doubled, tripled and so on each time the end is reached,
        instead of staying there.
      name: of the nodes.

    Raises:
      ValueError: there is no `global_step`.

    Example:
      >>> Session().run(polynomial_decay(1.0, 5, 10, end_learning_rate=0.5))
      np.float32(0.75)
    """
    with name_scope(name, "PolynomialDecay", [learning_rate, global_step]) as scope:
        rate = first_rate(learning_rate, global_step)
        end, exponent = cast(end_learning_rate, rate.dtype), cast(power, rate.dtype)
        step, steps = cast(global_step, rate.dtype), cast(decay_steps, rate.dtype)
        if cycle:
            times = cond(raw.Equal(step, 0), lambda: 1.0, lambda: raw.Ceil(step / decay_steps))
            steps = raw.Mul(steps, times)
        else:
            step = raw.Minimum(step, decay_steps)
        part = step / steps
        fallen = raw.Mul(rate - end, raw.Pow(1 - part, exponent))
        return raw.Add(fallen, end, name=scope)  # type: ignore[no-any-return]
