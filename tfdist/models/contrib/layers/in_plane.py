"""Layers of tf.contrib.layers with one kernel for all channels, and those of the first releases.

Source: TF 1.15 API documentation, tf.contrib.layers.conv2d_in_plane, legacy_fully_connected.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.models.contrib.framework.arg_scope import add_arg_scope
from tfdist.models.contrib.framework.variables import model_variable
from tfdist.models.contrib.layers.variable_getters import add_variable, finished
from tfdist.models.layers.defaults import XAVIER, ZEROS
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.tile_roll import tile
from tfdist.ops.math.matmul import matmul
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "conv2d_in_plane", "convolution2d_in_plane", "legacy_fully_connected", "legacy_linear",
    "legacy_relu",
]  # fmt: skip


@add_arg_scope
def convolution2d_in_plane(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    activation_fn: Any = nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """Return each channel convolved with the same weights.

    Args:
      inputs: [batch, height, width, channels].
      kernel_size: sizes of the window, one for both axes or one for each.
      stride: steps of the window, in the same form.
      padding: "SAME" or "VALID".
      activation_fn: function of the result; relu by default, None for none.
      normalizer_fn: function that stands in for the biases, such as `batch_norm`.
      normalizer_params: a dict with its arguments.
      weights_initializer: of the weights [height, width, 1, 1].
      weights_regularizer: function from the weights to a loss.
      biases_initializer: of the biases; None for no biases.
      biases_regularizer: function from the biases to a loss.
      reuse: whether variables are those of a layer of this scope.
      variables_collections: collections for all variables, or a dict from "weights" and "biases".
      outputs_collections: collections that the result is added to.
      trainable: whether the variables are trained.
      scope: name of the layer's scope.

    Example:
      >>> contrib.layers.conv2d_in_plane(zeros([2, 9, 8, 3]), 2).shape.as_list()
      [2, 9, 8, 3]
    """
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as entered:
        inputs = convert_to_tensor(inputs)
        height, width = _two(kernel_size)
        steps = _two(stride)
        dtype, channels = inputs.dtype.base_dtype, inputs.plain_shape[3]

        def made(name: str, sizes: Any, initializer: Any, regularizer: Any) -> Any:
            variable = model_variable(name, sizes, dtype, initializer, regularizer, trainable)
            add_variable(variable, variables_collections, name)
            return variable

        weights = made("weights", [height, width, 1, 1], weights_initializer, weights_regularizer)
        kernel = tile(weights, [1, 1, channels, 1])
        outputs = nn.depthwise_conv2d(inputs, kernel, [1, *steps, 1], padding)
        if normalizer_fn is None and biases_initializer is not None:
            biases = made("biases", [channels], biases_initializer, biases_regularizer)
            outputs = nn.bias_add(outputs, biases)
        return finished(
            outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections,
            entered,
        )  # fmt: skip


conv2d_in_plane = convolution2d_in_plane


def _two(given: Any) -> Sequence[int]:
    """Return the two numbers that are given as two, or as one."""
    return [given, given] if isinstance(given, int) else list(given)


@add_arg_scope
def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Any = None,
    weight_init: Any = XAVIER,
    bias_init: Any = ZEROS,
    name: str | None = None,
    weight_collections: Any = (GraphKeys.WEIGHTS,),
    bias_collections: Any = (GraphKeys.BIASES,),
    output_collections: Any = (GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Any = None,
    bias_regularizer: Any = None,
) -> Any:
    """Return activation_fn(x @ weights + bias), as the first releases did.

    Args:
      x: [..., inputs].
      num_output_units: number of outputs.
      activation_fn: function of the result; None for none.
      weight_init: of the weights [inputs, outputs].
      bias_init: of the bias; None for no bias.
      name: of the scope.
      weight_collections: collections for the weights.
      bias_collections: collections for the bias.
      output_collections: collections that the result is added to.
      trainable: whether the variables are trained.
      weight_regularizer: function from the weights to a loss.
      bias_regularizer: function from the bias to a loss.

    Raises:
      ValueError: rank or number of inputs is unknown, or the rank is below 2.

    Example:
      >>> contrib.layers.legacy_fully_connected(zeros([2, 4]), 3).shape.as_list()
      [2, 3]
    """
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        known = _checked_dims(x)

        def made(label: str, sizes: Any, initializer: Any, regularizer: Any, keys: Any) -> Any:
            return get_variable(
                label, sizes, x.dtype.base_dtype, initializer, regularizer, trainable,
                {*_keys(keys), GraphKeys.GLOBAL_VARIABLES},
            )  # fmt: skip

        sizes = [known[-1], num_output_units]
        weights = made("weights", sizes, weight_init, weight_regularizer, weight_collections)
        outputs = matmul(x if len(known) == 2 else reshape(x, [-1, known[-1]]), weights)
        if bias_init is not None:
            bias = made("bias", sizes[1:], bias_init, bias_regularizer, bias_collections)
            outputs = nn.bias_add(outputs, bias)
        if len(known) > 2:
            unknown = None in known[:-1]
            rows = [*_sizes(x)[:-1]] if unknown else known[:-1]
            outputs = reshape(outputs, [*rows, num_output_units])
            outputs.set_shape([*known[:-1], num_output_units])
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        scopes.add_to_collections(_keys(output_collections), outputs)
        return outputs


def _sizes(x: Any) -> list[Any]:
    sizes: Any = shape(x)
    return [sizes[axis] for axis in range(len(x.plain_shape))]


def _keys(collections: Any) -> Any:
    return [collections] if isinstance(collections, str) else list(collections or ())


def _checked_dims(x: Any) -> Any:
    known = x.plain_shape
    if known is None:
        raise ValueError("dims of x must be known but is None")
    if len(known) < 2:
        raise ValueError(f"rank of x must be at least 2 not: {len(known)}")
    if known[-1] is None:
        raise ValueError(f"last dimension of x must be known but is None: {x.shape}")
    return known


legacy_linear = legacy_fully_connected
legacy_relu = functools.partial(legacy_fully_connected, activation_fn=nn.relu)
