"""optimize_loss: a whole training operation from a loss and the name of an optimizer.

Source: TF 1.15 API documentation, tf.contrib.layers.optimize_loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.ops.array.shape import shape
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.math.clip import clip_by_global_norm, global_norm
from tfdist.ops.random.random_ops import truncated_normal
from tfdist.ops.summary import summaries as summary
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import constant_initializer
from tfdist.ops.variables.variable_scope import variable_scope
from tfdist.training.optimizers.adam import AdamOptimizer
from tfdist.training.optimizers.adaptive import AdagradOptimizer, RMSPropOptimizer
from tfdist.training.optimizers.ftrl import FtrlOptimizer
from tfdist.training.optimizers.gradient_descent import GradientDescentOptimizer, MomentumOptimizer
from tfdist.training.optimizers.optimizer import Optimizer

__all__ = ["OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "optimize_loss"]

OPTIMIZER_CLS_NAMES: dict[str, Callable[..., Any]] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "Momentum": lambda learning_rate: MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = [
    "learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm",
]  # fmt: skip
_NORMS = {"gradient_norm", "global_gradient_norm"}
_USUAL = ("learning_rate", "loss", "global_gradient_norm")


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Callable[..., Any] | None = None,
    update_ops: Any = None,
    variables: Any = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """Return the loss, which changes variables to lower it whenever it is computed.

    Args:
      loss: a float scalar.
      global_step: variable that is raised by one after each step, or None.
      learning_rate: a number or a scalar tensor; None where the optimizer has it.
      optimizer: one of `OPTIMIZER_CLS_NAMES`, an Optimizer, its class, or a function that takes
        the learning rate and returns one.
      gradient_noise_scale: how much noise is added to gradients; None for none.
      gradient_multipliers: a dict from variables, or their names ("NAME:0"), to factors of
        gradients.
      clip_gradients: the greatest norm of all gradients, or a function of (gradient, variable)
        pairs.
      learning_rate_decay_fn: function of (learning_rate, global_step) to a learning rate.
      update_ops: operations that run before; those in UPDATE_OPS by default.
      variables: that are changed; all trainable ones by default.
      name: of the scope.
      summaries: which are written, of `OPTIMIZER_SUMMARIES`.
      colocate_gradients_with_ops: whether a gradient is computed where its op is.
      increment_global_step: whether global_step is raised.

    Raises:
      ValueError: optimizer, learning rate or a summary is none of these.

    Example:
      >>> w = Variable(5.0)
      >>> train = contrib.layers.optimize_loss((w - 3.0) ** 2, None, 0.5, "SGD")
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     _ = session.run(train)
      ...     session.run(w)
      np.float32(3.0)
    """
    wanted = _wanted(_USUAL if summaries is None else summaries)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        loss = convert_to_tensor(loss)
        if update_ops is None:
            update_ops = scopes.get_collection(GraphKeys.UPDATE_OPS)
        if update_ops:
            loss = with_dependencies(list(dict.fromkeys(update_ops)), loss)
        rate = _rate(learning_rate, learning_rate_decay_fn, global_step, wanted)
        made = _optimizer(optimizer, rate)
        pairs = made.compute_gradients(
            loss, variables, colocate_gradients_with_ops=colocate_gradients_with_ops
        )
        pairs = _changed(pairs, gradient_noise_scale, gradient_multipliers, wanted)
        clipped = _clipped(pairs, clip_gradients)
        if "loss" in wanted:
            summary.scalar("loss", loss)
        _summarize(clipped, wanted)
        if clip_gradients is not None and _NORMS & set(wanted):
            found = [gradient for gradient, _ in clipped]
            summary.scalar("global_norm/clipped_gradient_norm", global_norm(found))
        step = global_step if increment_global_step else None
        train = made.apply_gradients(clipped, global_step=step, name="train")
        return with_dependencies([train], loss)


def _wanted(summaries: Sequence[str]) -> Sequence[str]:
    for each in summaries:
        if each not in OPTIMIZER_SUMMARIES:
            known = ", ".join(OPTIMIZER_SUMMARIES)
            raise ValueError(f"Summaries should be one of [{known}], you provided {each}.")
    return summaries


def _rate(rate: Any, decay: Any, global_step: Any, wanted: Sequence[str]) -> Any:
    if rate is None:
        return None
    if isinstance(rate, int | float):
        if rate < 0.0:
            raise ValueError(f"Invalid learning_rate {rate}.")
        rate = get_variable(
            "learning_rate", [], trainable=False, initializer=constant_initializer(rate)
        )
    elif not hasattr(rate, "get_shape") or rate.get_shape().ndims != 0:
        raise ValueError(f"Learning rate should be 0d Tensor or float. Got {rate!r}")
    if decay is not None:
        if global_step is None:
            raise ValueError("global_step is required for learning_rate_decay_fn.")
        rate = decay(rate, global_step)
        if "learning_rate" in wanted:
            summary.scalar("learning_rate", rate)
    return rate


def _optimizer(given: Any, rate: Any) -> Optimizer:
    """Return an optimizer from its name, its class, a function, or itself."""
    if isinstance(given, Optimizer):
        return given
    if isinstance(given, str):
        if given not in OPTIMIZER_CLS_NAMES:
            known = ", ".join(OPTIMIZER_CLS_NAMES)
            raise ValueError(f"Optimizer name should be one of [{known}], you provided {given}.")
        given = OPTIMIZER_CLS_NAMES[given]
        if rate is None:
            raise ValueError("Learning rate is None, but should be specified with this optimizer.")
        return given(learning_rate=rate)  # type: ignore[no-any-return]
    if isinstance(given, type):
        return given(learning_rate=rate)  # type: ignore[no-any-return]
    made = given(rate) if rate is not None else given()
    if not isinstance(made, Optimizer):
        raise ValueError(f"Unrecognized optimizer: function should return Optimizer; got {made!r}")
    return made


def _changed(pairs: Any, noise: float | None, multipliers: Any, wanted: Sequence[str]) -> Any:
    """Return gradients with noise and factors; writes the norm of all of them."""
    pairs = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
    if noise is not None:
        pairs = [(_noisy(gradient, noise), variable) for gradient, variable in pairs]
    factors = multipliers or {}
    pairs = [(_times(gradient, _factor(factors, v)), v) for gradient, v in pairs]
    gradients = [gradient for gradient, _ in pairs]
    if _NORMS & set(wanted):
        summary.scalar("global_norm/gradient_norm", global_norm(gradients))
    return pairs


def _summarize(pairs: Any, wanted: Sequence[str]) -> None:
    """Write what is wanted of each gradient, as the variable takes it."""
    for gradient, variable in pairs:
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        label = variable.name.replace(":", "_")
        if "gradients" in wanted:
            summary.histogram(f"gradients/{label}", values)
        if "gradient_norm" in wanted:
            summary.scalar(f"gradient_norm/{label}", global_norm([values]))


def _factor(factors: Mapping[Any, Any], variable: Any) -> Any:
    return factors.get(variable, factors.get(variable.name))


def _times(gradient: Any, factor: Any) -> Any:
    if factor is None:
        return gradient
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor


def _noisy(gradient: Any, scale: float) -> Any:
    values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
    noise: Any = truncated_normal(shape(values))
    changed = values + noise * scale
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(changed, gradient.indices, gradient.dense_shape)
    return changed


def _clipped(pairs: Any, clip: Any) -> Any:
    if clip is None:
        return pairs
    if callable(clip):
        return clip(pairs)
    gradients, changed = zip(*pairs, strict=True)
    found, _ = clip_by_global_norm(list(gradients), clip)
    return list(zip(found, changed, strict=True))
