"""The models below the heads: linear, deep, both, or none but a bias; and their optimizers.

Source: TF 1.15 API documentation, tf.estimator.DNNLinearCombinedClassifier and its relatives;
names of variables and summaries by experiment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfdist.estimators.columns.layers import input_layer, linear_model
from tfdist.estimators.estimator_spec import ModeKeys
from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.models.layers.core import dense, dropout
from tfdist.models.layers.normalization import batch_normalization
from tfdist.ops.array.concat import stack
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.array.shape import shape
from tfdist.ops.nn.functions import zero_fraction
from tfdist.ops.sparse.sparse_tensor import convert_to_tensor_or_sparse_tensor
from tfdist.ops.summary import summaries
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import glorot_uniform_initializer, zeros_initializer
from tfdist.ops.variables.partitioners import min_max_variable_partitioner
from tfdist.ops.variables.variable_scope import variable_scope
from tfdist.training.optimizers.optimize_loss import OPTIMIZER_CLS_NAMES
from tfdist.training.optimizers.optimizer import Optimizer

__all__: list[str] = []

_NAMES = ("Adagrad", "Adam", "Ftrl", "RMSProp", "SGD")
_SLICE = 64 << 20  # bytes of the smallest part of a table


def optimizer_of(given: Any, learning_rate: float) -> Optimizer:
    """Return an optimizer from its name, a function that makes it, or itself.

    Raises:
      ValueError: it is none of these.
    """
    if isinstance(given, str):
        if given not in _NAMES:
            raise ValueError(f"Unsupported optimizer name: {given}. Supported names are: {_NAMES}")
        found = OPTIMIZER_CLS_NAMES[given](learning_rate=learning_rate)
    else:
        found = given() if callable(given) else given
    if not isinstance(found, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {found}")
    return found


def linear_rate(columns: Sequence[Any], most: float = 0.2) -> float:
    """Return the usual learning rate of a linear model."""
    return min(most, 1.0 / math.sqrt(len(columns)))


def partitioner_for(config: Any) -> Any:
    """Return what spreads big tables over parameter servers."""
    return min_max_variable_partitioner(config.num_ps_replicas or 1, min_slice_size=_SLICE)


def linear_logits(
    features: Mapping[str, Any], columns: Sequence[Any], units: int, combiner: str,
    partitioner: Any, is_part: bool = False,
) -> Any:  # fmt: skip
    """Return the logits of a linear model, whose variables stand in the scope `linear`.

    As a part of a larger model, it summarises them.
    """
    values = list(features.values())
    with variable_scope("linear", values=values, partitioner=partitioner) as scope:
        weights: dict[Any, Any] = {}
        logits = linear_model(features, columns, units, combiner, cols_to_vars=weights)
        bias = weights.pop("bias")
        with scopes.name_scope(""):
            if units == 1:
                summaries.scalar("linear/bias", bias[0][0])
            else:
                summaries.histogram("linear/bias", bias[0])
            every = [part for parts in weights.values() for part in parts]
            summaries.scalar("linear/fraction_of_zero_weights", _zeros(every))
        if is_part:
            _summarize(logits, scope.name)
        return logits


def _zeros(variables: Sequence[Any]) -> Any:
    """Return which part of all weights is 0."""
    sizes = [each.shape.num_elements() for each in variables]
    found = [zero_fraction(each) * size for each, size in zip(variables, sizes, strict=True)]
    return sum(found[1:], found[0]) / float(sum(sizes))


def dnn_logits(
    features: Mapping[str, Any], columns: Sequence[Any], units: int, mode: str, *,
    hidden_units: Sequence[int], activation_fn: Callable[[Any], Any] | None,
    dropout_rate: float | None, batch_norm: bool, partitioner: Any, input_partitioner: Any,
) -> Any:  # fmt: skip
    """Return the logits of a network, whose variables stand in the scope `dnn`."""
    values = list(features.values())
    is_training = mode == ModeKeys.TRAIN
    with variable_scope("dnn", values=values, partitioner=partitioner, use_resource=True):
        with variable_scope(
            "input_from_feature_columns", values=values, partitioner=input_partitioner
        ):
            net = input_layer(features, columns)
        for index, width in enumerate(hidden_units):
            with variable_scope(f"hiddenlayer_{index}", values=(net,)) as scope:
                net = _dense(net, width, activation_fn, scope)
                if dropout_rate is not None and is_training:
                    net = dropout(net, rate=dropout_rate, training=True)
                if batch_norm:
                    net = batch_normalization(
                        net, momentum=0.999, training=is_training, name=f"batchnorm_{index}"
                    )
            _summarize(net, scope.name)
        with variable_scope("logits", values=(net,)) as scope:
            logits = _dense(net, units, None, scope)
        _summarize(logits, scope.name)
        return logits


def _dense(net: Any, units: int, activation: Any, scope: Any) -> Any:
    return dense(
        net, units, activation=activation,
        kernel_initializer=glorot_uniform_initializer(), name=scope,
    )  # fmt: skip


def _summarize(tensor: Any, name: str) -> None:
    """Summarise what a layer gives."""
    summaries.scalar(f"{name}/fraction_of_zero_values", zero_fraction(tensor))
    summaries.histogram(f"{name}/activation", tensor)


def baseline_logits(features: Mapping[str, Any], units: int) -> Any:
    """Return logits that are the same for all examples: a bias, in the scope `baseline`."""
    with variable_scope("baseline", values=list(features.values())):
        bias = get_variable("bias", [units], initializer=zeros_initializer())
        return raw.Tile(expand_dims(bias, 0), stack([_batch_size(features), 1]))


def _batch_size(features: Mapping[str, Any]) -> Any:
    first = convert_to_tensor_or_sparse_tensor(next(iter(features.values())))
    dims: Any = shape(first)
    return dims[0]
