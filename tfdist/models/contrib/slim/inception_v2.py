"""tf.contrib.slim.nets.inception, version 2: with normalized batches.

Source: Ioffe and Szegedy, "Batch Normalization: Accelerating Deep Network Training by Reducing
Internal Covariate Shift", 2015.
"""

from __future__ import annotations

from typing import Any

from tfdist.models.contrib.layers.convolutions import avg_pool2d, separable_conv2d
from tfdist.models.contrib.layers.layers import dropout
from tfdist.models.contrib.slim.inception_tables import (
    PREDICT,
    Depth,
    classified,
    deepened,
    inception_arg_scope,
    training,
    walked,
    window_within,
    windows,
)
from tfdist.models.contrib.slim.plain_nets import trunc_normal
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["inception_v2", "inception_v2_arg_scope", "inception_v2_base"]

_FIRST = "Conv2d_1a_7x7"


def _mixed(name: str, one: int, three: str, double: str, pool: str, pooled: int) -> str:
    """Return a block's line: channels of its four branches, "64 96" where two stand in a row."""
    first, second = three.split()
    narrow, wide = double.split()
    return (
        f"{name}: Conv2d_0a_1x1 {one} | Conv2d_0a_1x1 {first} ~0.09, Conv2d_0b_3x3 {second} | "
        f"Conv2d_0a_1x1 {narrow} ~0.09, Conv2d_0b_3x3 {wide}, Conv2d_0c_3x3 {wide} | "
        f"{pool}Pool_0a_3x3, Conv2d_0b_1x1 {pooled} ~0.1"
    )


def _smaller(name: str, three: str, double: str) -> str:
    """Return the line of a block that halves height and width."""
    first, second = three.split()
    narrow, wide = double.split()
    return (
        f"{name}: Conv2d_0a_1x1 {first} ~0.09, Conv2d_1a_3x3 {second} /2 | "
        f"Conv2d_0a_1x1 {narrow} ~0.09, Conv2d_0b_3x3 {wide}, Conv2d_1a_3x3 {wide} /2 | "
        "MaxPool_1a_3x3 /2"
    )


_TABLE = "\n".join([
    "MaxPool_2a_3x3 /2", "Conv2d_2b_1x1 64 ~0.1", "Conv2d_2c_3x3 192", "MaxPool_3a_3x3 /2",
    _mixed("Mixed_3b", 64, "64 64", "64 96", "Avg", 32),
    _mixed("Mixed_3c", 64, "64 96", "64 96", "Avg", 64),
    _smaller("Mixed_4a", "128 160", "64 96"),
    _mixed("Mixed_4b", 224, "64 96", "96 128", "Avg", 128),
    _mixed("Mixed_4c", 192, "96 128", "96 128", "Avg", 128),
    _mixed("Mixed_4d", 160, "128 160", "128 160", "Avg", 96),
    _mixed("Mixed_4e", 96, "128 192", "160 192", "Avg", 96),
    _smaller("Mixed_5a", "128 192", "192 256"),
    _mixed("Mixed_5b", 352, "192 320", "160 224", "Avg", 128),
    _mixed("Mixed_5c", 352, "192 320", "192 224", "Max", 128),
])  # fmt: skip


def _first(inputs: Any, depth: Depth) -> Any:
    """Return the first convolution, which does each channel by itself before it mixes them."""
    return separable_conv2d(
        inputs, depth(64), [7, 7], depth_multiplier=min(int(depth(64) / 3), 8), stride=2,
        padding="SAME", weights_initializer=trunc_normal(1.0), scope=_FIRST,
    )  # fmt: skip


def inception_v2_base(
    inputs: Any,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """Return the output of the layer `final_endpoint`, and those of all up to it by their names.

    Args:
      inputs: images [batch, height, width, channels].
      final_endpoint: "Conv2d_1a_7x7", ..., "Mixed_5c".
      min_depth: fewest channels.
      depth_multiplier: factor of the channels.
      scope: name of the variables' scope.

    Raises:
      ValueError: there is no such layer, or `depth_multiplier` is not positive.

    Example:
      >>> from tfdist.api.contrib.slim.nets import inception
      >>> inception.inception_v2_base(zeros([1, 32, 32, 3]), "Mixed_3b")[0].shape.as_list()
      [1, 4, 4, 256]
    """
    depth = deepened(depth_multiplier, min_depth)
    end_points: dict[str, Any] = {}
    with variable_scope(scope, "InceptionV2", [inputs]), windows(1, "SAME"):
        end_points[_FIRST] = _first(inputs, depth)
        net = walked(end_points[_FIRST], _TABLE, final_endpoint, end_points, depth)
    if net is None:
        raise ValueError(f"Unknown final endpoint {final_endpoint}")
    return net, end_points


def inception_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: Any = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = PREDICT,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV2",
) -> tuple[Any, dict[str, Any]]:
    """Return logits, and the outputs of the layers by their names.

    Args:
      inputs: images [batch, 224, 224, channels].
      num_classes: how many classes there are.
      is_training: whether dropout chooses, and batches are normalized by themselves.
      dropout_keep_prob: chance of an element to stay.
      min_depth: fewest channels.
      depth_multiplier: factor of the channels.
      prediction_fn: function of the logits to the end point "Predictions".
      spatial_squeeze: whether logits are [batch, num_classes], not [batch, 1, 1, num_classes].
      reuse: whether variables are those of a network of this scope.
      scope: name of the variables' scope.

    Raises:
      ValueError: `depth_multiplier` is not positive.

    Example:
      >>> from tfdist.api.contrib.slim.nets import inception
      >>> logits, end_points = inception.inception_v2(zeros([1, 224, 224, 3]), 10)
      >>> logits.shape.as_list(), end_points["Mixed_5c"].shape.as_list()
      ([1, 10], [1, 7, 7, 1024])
    """
    deepened(depth_multiplier, min_depth)
    with (
        variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as entered,
        training(is_training),
    ):
        net, end_points = inception_v2_base(
            inputs, min_depth=min_depth, depth_multiplier=depth_multiplier, scope=entered
        )
        with variable_scope("Logits"):
            size = window_within(net, 7)
            label = "AvgPool_1a_{}x{}".format(*size)
            net = avg_pool2d(net, size, padding="VALID", scope=label)
            net = dropout(net, dropout_keep_prob, scope="Dropout_1b")
            logits = classified(net, num_classes, spatial_squeeze, "Conv2d_1c_1x1")
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v2.default_image_size = 224  # type: ignore[attr-defined]


def inception_v2_arg_scope(
    weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars"
) -> Any:
    """Return the arguments of the network's layers, for an `arg_scope`.

    Args:
      weight_decay: factor of the weights' regularization.
      batch_norm_var_collection: collection of the averages.

    Example:
      >>> from tfdist.api.contrib.slim.nets import inception
      >>> with contrib.slim.arg_scope(inception.inception_v2_arg_scope()):
      ...     contrib.slim.conv2d(zeros([1, 4, 4, 3]), 2, 3).shape.as_list()
      [1, 4, 4, 2]
    """
    return inception_arg_scope(weight_decay, batch_norm_var_collection)
