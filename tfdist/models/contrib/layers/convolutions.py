"""Convolutions and pools of tf.contrib.layers.

Source: TF 1.15 API documentation, tf.contrib.layers.conv2d, tf.contrib.layers.max_pool2d.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.models.contrib.framework.arg_scope import add_arg_scope
from tfdist.models.contrib.framework.variables import model_variable
from tfdist.models.contrib.layers.utils import (
    collect_named_outputs,
    get_variable_collections,
    two_element_tuple,
)
from tfdist.models.contrib.layers.variable_getters import (
    RENAMED,
    add_variable,
    finished,
    variable_getter,
)
from tfdist.models.layers import convolutional, pooling, transposed_separable
from tfdist.models.layers.defaults import XAVIER, ZEROS
from tfdist.ops.convolution.dilated import depthwise_conv2d
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "avg_pool2d", "avg_pool3d", "conv1d", "conv2d", "conv2d_transpose", "conv3d",
    "conv3d_transpose", "convolution", "convolution1d", "convolution2d", "convolution2d_transpose",
    "convolution3d", "convolution3d_transpose", "max_pool2d", "max_pool3d", "separable_conv2d",
    "separable_convolution2d",
]  # fmt: skip

_FORWARD = {
    1: convolutional.Conv1D, 2: convolutional.Conv2D, 3: convolutional.Conv3D,
}  # fmt: skip
_BACKWARD = {2: transposed_separable.Conv2DTranspose, 3: transposed_separable.Conv3DTranspose}


def _order(data_format: str | None) -> str:
    """Return what tf.layers calls a data format."""
    formats = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")
    if data_format not in formats:
        raise ValueError(f"Invalid data_format: {data_format!r}; there are {formats[1:]}")
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


@add_arg_scope
def convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
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
    conv_dims: int | None = None,
) -> Any:
    """Return activation_fn(normalizer_fn(convolution of inputs and weights, with biases)).

    Args:
      inputs: [batch, ..., channels], with 1 to 3 axes between; see data_format.
      num_outputs: number of output channels.
      kernel_size: sizes of the window, one for all axes or one for each.
      stride: steps of the window, in the same form.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW" and their relatives: where channels are.
      rate: distances between the window's elements.
      activation_fn: function of the result; relu by default, None for none.
      normalizer_fn: function that stands in for the biases, such as `batch_norm`.
      normalizer_params: a dict with its arguments.
      weights_initializer: of the weights.
      weights_regularizer: function from the weights to a loss.
      biases_initializer: of the biases; None for no biases.
      biases_regularizer: function from the biases to a loss.
      reuse: whether variables are those of a layer of this scope.
      variables_collections: collections for all variables, or a dict from "weights" and "biases".
      outputs_collections: collections that the result is added to.
      trainable: whether the variables are trained.
      scope: name of the layer's scope.
      conv_dims: how many axes the window has, to be checked.

    Raises:
      ValueError: the inputs' rank does not fit, or there is no such data format.

    Example:
      >>> contrib.layers.conv2d(zeros([2, 9, 8, 4]), 5, [3, 3])
      <tf.Tensor 'Conv/Relu:0' shape=(2, 9, 8, 5) dtype=float32>
    """
    with variable_scope(
        scope, "Conv", [inputs], reuse=reuse, custom_getter=variable_getter()
    ) as entered:
        inputs = convert_to_tensor(inputs)
        rank = len(inputs.plain_shape) - 2
        if rank not in _FORWARD or conv_dims not in (None, rank):
            raise ValueError(
                f"Convolution expects input with rank {(conv_dims or rank) + 2}, got {rank + 2}"
            )
        layer = _FORWARD[rank](
            num_outputs, kernel_size, stride, padding, _order(data_format), rate, None,
            normalizer_fn is None and biases_initializer is not None, weights_initializer,
            biases_initializer, weights_regularizer, biases_regularizer, trainable=trainable,
            name=entered.name, dtype=inputs.dtype.base_dtype, _scope=entered, _reuse=reuse,
        )  # fmt: skip
        outputs = layer(inputs)
        add_variable(layer.kernel, variables_collections, "weights")
        add_variable(layer.bias, variables_collections, "biases")
        return finished(
            outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections,
            entered,
        )  # fmt: skip


def _of_rank(rank: int) -> Any:
    def function(inputs: Any, num_outputs: int, kernel_size: Any, *args: Any, **kwargs: Any) -> Any:
        return convolution(inputs, num_outputs, kernel_size, *args, conv_dims=rank, **kwargs)

    sizes = [2, 9, 8, 7][: rank + 1]
    function.__name__ = function.__qualname__ = f"convolution{rank}d"
    function.__doc__ = f"""Do as `convolution`, for windows of rank {rank}.

    Example:
      >>> contrib.layers.conv{rank}d(zeros({[*sizes, 4]}), 5, 3).shape.as_list()
      {[*sizes, 5]}
    """
    return add_arg_scope(function)


convolution1d, convolution2d, convolution3d = (_of_rank(rank) for rank in (1, 2, 3))
conv1d, conv2d, conv3d = convolution1d, convolution2d, convolution3d


def _transposed(rank: int) -> Any:
    """Return the public function of transposed convolutions over `rank` axes."""

    def function(
        inputs: Any,
        num_outputs: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: str = "SAME",
        data_format: str | None = None,
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
        with variable_scope(
            scope, f"Conv{rank}d_transpose", [inputs], reuse=reuse,
            custom_getter=variable_getter(),
        ) as entered:  # fmt: skip
            inputs = convert_to_tensor(inputs)
            layer = _BACKWARD[rank](
                num_outputs, kernel_size, stride, padding, _order(data_format), None,
                normalizer_fn is None and biases_initializer is not None, weights_initializer,
                biases_initializer, weights_regularizer, biases_regularizer, trainable=trainable,
                name=entered.name, dtype=inputs.dtype.base_dtype, _scope=entered, _reuse=reuse,
            )  # fmt: skip
            outputs = layer(inputs)
            add_variable(layer.kernel, variables_collections, "weights")
            add_variable(layer.bias, variables_collections, "biases")
            return finished(
                outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections,
                entered,
            )  # fmt: skip

    inner = [4, 3, 2][:rank]
    function.__name__ = function.__qualname__ = f"conv{rank}d_transpose"
    function.__doc__ = f"""Return a transposed convolution; arguments as of `convolution`.

    Example:
      >>> contrib.layers.conv{rank}d_transpose(zeros({[2, *inner, 6]}), 5, 3, 2).shape.as_list()
      {[2, *(2 * size for size in inner), 5]}
    """
    return add_arg_scope(function)


conv2d_transpose, conv3d_transpose = _transposed(2), _transposed(3)
convolution2d_transpose, convolution3d_transpose = conv2d_transpose, conv3d_transpose


@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Any = nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = XAVIER,
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """Return a convolution of each channel alone, then of all of them at each place.

    `depth_multiplier` is the number of kernels for each channel; without `num_outputs`, None, there
    is the first step only. The other arguments are those of `convolution`.

    Example:
      >>> contrib.layers.separable_conv2d(zeros([2, 9, 8, 4]), 5, 3).shape.as_list()
      [2, 9, 8, 5]
    """
    names = {**RENAMED, "depthwise_kernel": "depthwise_weights",
             "pointwise_kernel": "pointwise_weights"}  # fmt: skip
    with variable_scope(
        scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=variable_getter(names)
    ) as entered:
        inputs = convert_to_tensor(inputs)
        if num_outputs is None:
            outputs = _depthwise(
                inputs, kernel_size, depth_multiplier, stride, padding, data_format, rate,
                normalizer_fn is None and biases_initializer is not None, weights_initializer,
                weights_regularizer, biases_initializer, biases_regularizer, variables_collections,
                trainable,
            )  # fmt: skip
            return finished(
                outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections,
                entered,
            )  # fmt: skip
        layer = transposed_separable.SeparableConv2D(
            num_outputs, kernel_size, stride, padding, _order(data_format), rate, depth_multiplier,
            None, normalizer_fn is None and biases_initializer is not None, weights_initializer,
            pointwise_initializer or weights_initializer, biases_initializer, weights_regularizer,
            weights_regularizer, biases_regularizer, trainable=trainable, name=entered.name,
            dtype=inputs.dtype.base_dtype, _scope=entered, _reuse=reuse,
        )  # fmt: skip
        outputs = layer(inputs)
        add_variable(layer.depthwise_kernel, variables_collections, "weights")
        add_variable(layer.pointwise_kernel, variables_collections, "weights")
        add_variable(layer.bias, variables_collections, "biases")
        return finished(
            outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections,
            entered,
        )  # fmt: skip


def _depthwise(
    inputs: Any,
    kernel_size: Any,
    depth_multiplier: int,
    stride: Any,
    padding: str,
    data_format: str,
    rate: Any,
    is_biased: bool,
    weights_initializer: Any,
    weights_regularizer: Any,
    biases_initializer: Any,
    biases_regularizer: Any,
    variables_collections: Any,
    trainable: bool,
) -> Any:
    """Return a convolution of each channel alone, with biases perhaps."""
    channels_first = _order(data_format) == "channels_first"
    channels = inputs.plain_shape[1 if channels_first else 3]
    shape = [*two_element_tuple(kernel_size), channels, depth_multiplier]
    weights = model_variable(
        "depthwise_weights", shape, inputs.dtype.base_dtype, weights_initializer,
        weights_regularizer, trainable,
        collections=get_variable_collections(variables_collections, "weights"),
    )  # fmt: skip
    steps = two_element_tuple(stride)
    strides = [1, 1, *steps] if channels_first else [1, *steps, 1]
    outputs = depthwise_conv2d(
        inputs, weights, strides, padding, rate=two_element_tuple(rate), data_format=data_format
    )
    if not is_biased:
        return outputs
    biases = model_variable(
        "biases", [channels * depth_multiplier], inputs.dtype.base_dtype, biases_initializer,
        biases_regularizer, trainable,
        collections=get_variable_collections(variables_collections, "biases"),
    )  # fmt: skip
    return nn.bias_add(outputs, biases, data_format=data_format)


separable_conv2d = separable_convolution2d


def _pool(name: str, scope_name: str, layer: Any) -> Any:
    """Return the public function of a pooling layer."""

    def function(
        inputs: Any,
        kernel_size: Any,
        stride: Any = 2,
        padding: str = "VALID",
        data_format: str | None = None,
        outputs_collections: Any = None,
        scope: str | None = None,
    ) -> Any:
        with scopes.name_scope(scope, scope_name, [inputs]) as entered:
            inputs = convert_to_tensor(inputs)
            made = layer(kernel_size, stride, padding, _order(data_format), _scope=entered)
            return collect_named_outputs(outputs_collections, entered, made(inputs))

    given = [2, 8, 6, 4, 3] if name.endswith("3d") else [2, 8, 6, 3]
    found = [2, *(size // 2 for size in given[1:-1]), 3]
    what = "greatest element" if name.startswith("max") else "mean"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return the {what} of each window.

    Args:
      inputs: [batch, ..., channels]; see data_format.
      kernel_size: sizes of the window, one for all axes or one for each.
      stride: steps of the window, in the same form.
      padding: "VALID" or "SAME".
      data_format: "NHWC" or "NCHW" and their relatives: where channels are.
      outputs_collections: collections that the result is added to.
      scope: name of the nodes' scope.

    Example:
      >>> contrib.layers.{name}(zeros({given}), 2).shape.as_list()
      {found}
    """
    return add_arg_scope(function)


max_pool2d = _pool("max_pool2d", "MaxPool2D", pooling.MaxPooling2D)
max_pool3d = _pool("max_pool3d", "MaxPool3D", pooling.MaxPooling3D)
avg_pool2d = _pool("avg_pool2d", "AvgPool2D", pooling.AveragePooling2D)
avg_pool3d = _pool("avg_pool3d", "AvgPool3D", pooling.AveragePooling3D)
