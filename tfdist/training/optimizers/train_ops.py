"""create_train_op: a tensor that gives the loss and makes a step, and what is done to gradients.

Source: TF 1.15 API documentation, tf.contrib.training.create_train_op and those beside it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import constant
from tfdist.ops.checks.print_assert import check_numerics
from tfdist.ops.control_flow.identity_group import no_op, with_dependencies
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.math.clip import clip_by_norm, global_norm
from tfdist.ops.summary import summaries
from tfdist.ops.variables.collections import GraphKeys, trainable_variables
from tfdist.training.global_step import get_or_create_global_step
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer

__all__ = [
    "add_gradients_summaries", "clip_gradient_norms", "clip_gradient_norms_fn", "create_train_op",
    "multiply_gradients",
]  # fmt: skip

USE_GLOBAL_STEP = 0  # the global step of the graph, made if it is not there
Pairs = list[GradientAndVariable]

_LOG = logging.getLogger("tensorflow")


def create_train_op(
    total_loss: Any,
    optimizer: Optimizer,
    global_step: Any = USE_GLOBAL_STEP,
    update_ops: Iterable[Operation] | None = None,
    variables_to_train: Iterable[Any] | None = None,
    transform_grads_fn: Callable[[Pairs], Pairs] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Tensor:
    """Return the loss, which makes a step of the optimizer whenever it is computed.

    Args:
      total_loss: float scalar.
      optimizer: Optimizer.
      global_step: variable that counts the steps, or None; the graph's by default.
      update_ops: operations that run before; those in UPDATE_OPS by default.
      variables_to_train: that are changed; all trainable ones by default.
      transform_grads_fn: function from (gradient, variable) pairs to such.
      summarize_gradients: whether summaries of the gradients are made.
      gate_gradients: see `tf.train.Optimizer.minimize`.
      aggregation_method: see `tf.train.Optimizer.minimize`.
      colocate_gradients_with_ops: see `tf.train.Optimizer.minimize`.
      check_numerics: whether a loss that is no number is an error.

    Raises:
      AssertionError: there is nothing to train, or a variable is not trainable.

    Example:
      >>> w = Variable(4.0)
      >>> step = contrib.training.create_train_op(w * w, train.GradientDescentOptimizer(0.25))
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     _ = session.run(step)
      ...     session.run([w, train.get_global_step()])
      [np.float32(2.0), np.int64(1)]
    """
    step = get_or_create_global_step() if _is_default(global_step) else global_step
    total_loss = _updated(total_loss, update_ops)
    pairs = optimizer.compute_gradients(
        total_loss, _trained(variables_to_train), gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )  # fmt: skip
    if transform_grads_fn is not None:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with scopes.name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    return _loss_of_step(total_loss, optimizer.apply_gradients(pairs, step), check_numerics)


def _is_default(global_step: Any) -> bool:
    return isinstance(global_step, int) and global_step == USE_GLOBAL_STEP


def _updated(loss: Any, update_ops: Iterable[Operation] | None) -> Any:
    """Return the loss, before which updates run."""
    collected = dict.fromkeys(scopes.get_collection(GraphKeys.UPDATE_OPS))
    chosen = collected if update_ops is None else dict.fromkeys(update_ops)
    if not collected.keys() <= chosen.keys():
        _LOG.warning(
            "update_ops in create_train_op does not contain all the update_ops in "
            "GraphKeys.UPDATE_OPS"
        )
    if not chosen:
        return loss
    with scopes.control_dependencies(list(chosen)):
        barrier = no_op(name="update_barrier")
    return with_dependencies([barrier], loss)


def _trained(variables: Iterable[Any] | None) -> list[Any]:
    trainable = trainable_variables()
    chosen = trainable if variables is None else list(variables)
    if not chosen:
        raise AssertionError("there are no variables to train; pass variables_to_train")
    for variable in chosen:
        if all(variable is not each for each in trainable):
            raise AssertionError(f"{variable.name} is not among the trainable variables")
    return chosen


def _loss_of_step(loss: Any, step: Operation, checks: bool) -> Tensor:
    with scopes.name_scope("train_op"):
        if checks:
            loss = check_numerics(loss, "LossTensor is inf or nan")
        train_op: Tensor = with_dependencies([step], loss)
    collection = train_op.graph.get_collection_ref(GraphKeys.TRAIN_OP)
    if all(train_op is not each for each in collection):
        collection.append(train_op)
    return train_op


def multiply_gradients(
    grads_and_vars: Iterable[GradientAndVariable], gradient_multipliers: Mapping[Any, Any]
) -> Pairs:
    """Return pairs whose gradients are multiplied.

    Args:
      grads_and_vars: pairs, as `compute_gradients` returns them.
      gradient_multipliers: factors, by variable or its name.

    Raises:
      ValueError: that is no dict, or empty, or a gradient to be multiplied is None.

    Example:
      >>> w = Variable(1.0, name="w")
      >>> [(gradient, _)] = contrib.training.multiply_gradients([(constant(3.0), w)], {"w": 2.0})
      >>> Session().run(gradient)
      np.float32(6.0)
    """
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    pairs = []
    for gradient, variable in grads_and_vars:
        key = variable if variable in gradient_multipliers else variable.op.name
        if key in gradient_multipliers:
            if gradient is None:
                raise ValueError("Requested multiple of `None` gradient.")
            gradient = _multiplied(gradient, gradient_multipliers[key])
        pairs.append((gradient, variable))
    return pairs


def _multiplied(gradient: Any, factor: Any) -> Any:
    dtype = gradient.dtype.base_dtype
    factor = cast(factor, dtype) if isinstance(factor, Tensor) else constant(factor, dtype)
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor


def clip_gradient_norms(
    gradients_to_variables: Iterable[GradientAndVariable], max_norm: float
) -> Pairs:
    """Return pairs in which no gradient has a greater norm than `max_norm`.

    Args:
      gradients_to_variables: pairs, as `compute_gradients` returns them.
      max_norm: the greatest norm of each.

    Example:
      >>> w = Variable([0.0, 0.0])
      >>> [(gradient, _)] = contrib.training.clip_gradient_norms([(constant([3.0, 4.0]), w)], 1.0)
      >>> Session().run(gradient)
      array([0.6, 0.8], dtype=float32)
    """
    pairs = []
    for gradient, variable in gradients_to_variables:
        if isinstance(gradient, IndexedSlices):
            values = clip_by_norm(gradient.values, max_norm)
            gradient = IndexedSlices(values, gradient.indices, gradient.dense_shape)
        elif gradient is not None:
            gradient = clip_by_norm(gradient, max_norm)
        pairs.append((gradient, variable))
    return pairs


def clip_gradient_norms_fn(max_norm: float) -> Callable[[Iterable[GradientAndVariable]], Pairs]:
    """Return a function that clips gradients, for `create_train_op`; see `clip_gradient_norms`.

    Example:
      >>> clip = contrib.training.clip_gradient_norms_fn(1.0)
      >>> [(gradient, _)] = clip([(constant([3.0, 4.0]), Variable([0.0, 0.0]))])
    """
    return lambda pairs: clip_gradient_norms(pairs, max_norm)


def add_gradients_summaries(grads_and_vars: Iterable[GradientAndVariable]) -> list[Tensor]:
    """Return summaries of gradients and their norms, by names of variables.

    Args:
      grads_and_vars: pairs, as `compute_gradients` returns them; those without a gradient are
        passed over.

    Example:
      >>> made = contrib.training.add_gradients_summaries(
      ...     [(constant([3.0]), Variable([0.0], name="w"))]
      ... )
      >>> [each.op.name for each in made]
      ['w_gradient', 'w_gradient_norm']
    """
    return gradient_summaries(grads_and_vars, "_")


def gradient_summaries(grads_and_vars: Iterable[GradientAndVariable], between: str) -> list[Tensor]:
    """Return summaries of gradients, with `between` after the variable's name."""
    made = []
    for gradient, variable in grads_and_vars:
        if gradient is None:
            _LOG.info("Var %s has no gradient", variable.op.name)
            continue
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        name = variable.op.name + between
        made.append(summaries.histogram(f"{name}gradient", values))
        made.append(summaries.scalar(f"{name}gradient_norm", global_norm([values])))
    return made
