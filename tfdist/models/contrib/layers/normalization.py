"""Normalizing layers of tf.contrib.layers.

Source: TF 1.15 API documentation, tf.contrib.layers.batch_norm, tf.contrib.layers.layer_norm.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.models.contrib.framework.arg_scope import add_arg_scope
from tfdist.models.contrib.framework.variables import model_variable
from tfdist.models.contrib.layers.batch_norm import (
    LegacyBatchNormalization,
    WeightedBatchNormalization,
)
from tfdist.models.contrib.layers.variable_getters import add_variable, finished, variable_getter
from tfdist.models.layers.normalization import BatchNormalization
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.initializers import ones_initializer, zeros_initializer
from tfdist.ops.variables.variable_scope import get_variable_scope, variable_scope

__all__ = ["batch_norm", "layer_norm", "unit_norm"]

_NO_RENORM = (
    "renorm is not supported with batch_weights, updates_collections or zero_debias_moving_mean"
)


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Any = None,
    param_initializers: Any = None,
    param_regularizers: Any = None,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: float = 0.99,
    adjustment: Any = None,
) -> Any:
    """Return the inputs with mean 0 and variance 1 in each channel; see `tf.layers`' one.

    Args:
      inputs: [batch, ..., channels]; see data_format.
      decay: the part of the moving mean and variance that stays in an update.
      center: whether an offset, beta, is added.
      scale: whether it is multiplied by gamma.
      epsilon: added to the variance, so that it is not 0.
      activation_fn: function of the result; None for none.
      param_initializers: a dict from "beta", "gamma", "moving_mean", "moving_variance".
      param_regularizers: a dict from "beta" and "gamma".
      updates_collections: collection for the updates, which a program runs beside its training;
        None to run them with the result.
      is_training: a bool or a tensor: whether mean and variance are those of the batch.
      reuse: whether variables are those of a layer of this scope.
      variables_collections: collections for all variables, or a dict from their names.
      outputs_collections: collections that the result is added to.
      trainable: whether beta and gamma are trained.
      batch_weights: float [batch]: how much each example counts in mean and variance; one each by
        default.
      fused: whether one op does it; by default where it can.
      data_format: "NHWC" or "NCHW": where channels are.
      scope: name of the layer's scope.
      renorm: whether batches are normalized so that the result is that of the moving averages.
      renorm_clipping: bounds of the correction: a dict of scalars "rmax", "rmin" and "dmax".
      renorm_decay: the part that stays in an update of the averages for the correction.
      adjustment: see `tf.layers.BatchNormalization`.

    Raises:
      ValueError: `renorm` is wanted, and what it does not go with; there are not as many weights as
        examples; the rank or the data format is unknown.

    Example:
      >>> contrib.layers.batch_norm(zeros([2, 4])).shape.as_list()
      [2, 4]
      >>> [each.name for each in global_variables()]
      ['BatchNorm/beta:0', 'BatchNorm/moving_mean:0', 'BatchNorm/moving_variance:0']
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    is_weighted = batch_weights is not None
    if renorm and (is_weighted or zero_debias_moving_mean or updates_collections is None):
        raise ValueError(_NO_RENORM)
    initializers, regularizers = param_initializers or {}, param_regularizers or {}
    outer_getter = get_variable_scope().custom_getter
    with variable_scope(
        scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=variable_getter({})
    ) as entered:
        inputs = convert_to_tensor(inputs)
        if inputs.get_shape().ndims is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        is_plain = not renorm and adjustment is None
        is_flat = (
            is_plain and not is_weighted and len(inputs.plain_shape) == 2 and fused in (None, True)
        )
        is_forced = is_plain and updates_collections is None
        is_legacy = is_flat or is_forced or zero_debias_moving_mean
        kind = LegacyBatchNormalization if is_legacy else BatchNormalization
        if is_weighted:
            kind, batch_weights = WeightedBatchNormalization, _by_example(batch_weights, inputs)
        layer: Any = kind(
            1 if data_format.startswith("NC") else -1, decay, epsilon, center, scale,
            initializers.get("beta", zeros_initializer()),
            initializers.get("gamma", ones_initializer()),
            initializers.get("moving_mean", zeros_initializer()),
            initializers.get("moving_variance", ones_initializer()), regularizers.get("beta"),
            regularizers.get("gamma"), None, None, renorm, renorm_clipping, renorm_decay, fused,
            trainable, adjustment=adjustment, name=entered.name, _scope=entered, _reuse=reuse,
        )  # fmt: skip
        layer.is_forced, layer.zero_debias = is_forced, zero_debias_moving_mean
        layer.outer_getter = outer_getter
        if is_weighted:
            layer.batch_weights = batch_weights
        apply = _of_points if is_flat else _updated
        outputs = apply(layer, inputs, is_training, updates_collections)
        averages = ("moving_stddev", "renorm_mean", "renorm_stddev") if renorm else ()
        for name in ("gamma", "beta", "moving_mean", "moving_variance", *averages):
            add_variable(getattr(layer, name), variables_collections, name)
        return finished(outputs, None, None, activation_fn, outputs_collections, entered)


def _by_example(weights: Any, inputs: Any) -> Any:
    """Return weights of examples in a shape that broadcasts to the inputs'."""
    weights = convert_to_tensor(weights)
    inputs.get_shape()[:1].assert_is_compatible_with(weights.get_shape())
    return reshape(weights, [-1] + [1] * (len(inputs.plain_shape) - 1))


def _updated(layer: Any, inputs: Any, is_training: Any, collections: Any) -> Any:
    """Return what the layer gives; its updates go to a collection, or run with it."""
    layer._updates_collection = None
    outputs = layer(inputs, training=is_training)
    if collections is not None:
        for update in layer.updates:
            scopes.add_to_collections(collections, update)
    elif layer.updates:
        with scopes.control_dependencies(layer.updates):
            outputs = identity(outputs)
    return outputs


def _of_points(layer: Any, inputs: Any, is_training: Any, collections: Any) -> Any:
    """Do the same for [batch, channels], as images of one point: so the fused op can be used."""
    image = reshape(inputs, [-1, 1, 1, inputs.plain_shape[-1]])
    outputs = _updated(layer, image, is_training, collections)
    outputs = reshape(outputs, shape(inputs))
    outputs.set_shape(inputs.plain_shape)
    return outputs


@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:
    """Return the inputs with mean 0 and variance 1 in each example.

    Args:
      inputs: [batch, ...].
      center: whether an offset, beta, is added.
      scale: whether it is multiplied by gamma.
      activation_fn: function of the result; None for none.
      reuse: whether variables are those of a layer of this scope.
      variables_collections: collections for all variables, or a dict from their names.
      outputs_collections: collections that the result is added to.
      trainable: whether beta and gamma are trained.
      begin_norm_axis: the first axis over which mean and variance are taken.
      begin_params_axis: the first axis for which beta and gamma have elements.
      scope: name of the layer's scope.

    Raises:
      ValueError: sizes of the axes of beta and gamma are unknown.

    Source: Ba, Kiros and Hinton 2016, arXiv 1607.06450.

    Example:
      >>> contrib.layers.layer_norm(zeros([2, 4])).shape.as_list()
      [2, 4]
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as entered:
        inputs = convert_to_tensor(inputs)
        known = inputs.plain_shape
        rank = len(known)
        sizes = known[begin_params_axis % rank :]
        if None in sizes:
            raise ValueError(f"Inputs {inputs.name}: shape {sizes} is not fully defined")
        wanted = {"beta": (center, zeros_initializer()), "gamma": (scale, ones_initializer())}
        made: dict[str, Any] = {}
        for name, (is_wanted, initializer) in wanted.items():
            if is_wanted:
                made[name] = model_variable(
                    name, sizes, inputs.dtype.base_dtype, initializer, trainable=trainable
                )
                add_variable(made[name], variables_collections, name)
        axes = list(range(begin_norm_axis % rank, rank))
        mean, variance = nn.moments(inputs, axes, keep_dims=True)
        epsilon = 1e-3 if inputs.dtype.base_dtype is dtypes.float16 else 1e-12
        outputs = nn.batch_normalization(
            inputs, mean, variance, made.get("beta"), made.get("gamma"), epsilon
        )
        outputs.set_shape(known)
        return finished(outputs, None, None, activation_fn, outputs_collections, entered)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """Return the inputs divided by their length along an axis.

    Args:
      inputs: float tensor.
      dim: the axis.
      epsilon: added to the sum of squares, so that it is not 0.
      scope: name of the nodes' scope.

    Example:
      >>> Session().run(contrib.layers.unit_norm(constant([[3.0, 4.0]]), 1))
      array([[0.6, 0.8]], dtype=float32)
    """
    with variable_scope(scope, "UnitNorm", [inputs]):
        squares = reduce_sum(raw.Square(inputs), dim, keepdims=True)
        return raw.RealDiv(inputs, raw.Sqrt(epsilon + squares), name="div")  # type: ignore[operator]
