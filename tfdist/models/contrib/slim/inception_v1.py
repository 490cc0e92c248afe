"""tf.contrib.slim.nets.inception, version 1: GoogLeNet.

Source: Szegedy and others, "Going Deeper with Convolutions", 2014.
"""

from __future__ import annotations

from typing import Any

from tfdist.models.contrib.framework.arg_scope import arg_scope
from tfdist.models.contrib.layers.convolutions import avg_pool2d, conv2d, max_pool2d
from tfdist.models.contrib.layers.layers import dropout, fully_connected
from tfdist.models.contrib.slim.inception_tables import (
    PREDICT,
    classified,
    inception_arg_scope,
    training,
    walked,
)
from tfdist.models.contrib.slim.plain_nets import trunc_normal
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["inception_v1", "inception_v1_arg_scope", "inception_v1_base"]

_POOLED = "MaxPool_0a_3x3, Conv2d_0b_1x1"


def _mixed(name: str, one: int, three: str, five: str, pooled: int, last: str = "0b_3x3") -> str:
    """Return a block's line: channels of its four branches, "96 128" where two stand in a row."""
    first, second = three.split()
    narrow, wide = five.split()
    return (
        f"{name}: Conv2d_0a_1x1 {one} | Conv2d_0a_1x1 {first}, Conv2d_0b_3x3 {second} | "
        f"Conv2d_0a_1x1 {narrow}, Conv2d_{last} {wide} | {_POOLED} {pooled}"
    )


_TABLE = "\n".join([
    "Conv2d_1a_7x7 64 /2", "MaxPool_2a_3x3 /2", "Conv2d_2b_1x1 64", "Conv2d_2c_3x3 192",
    "MaxPool_3a_3x3 /2",
    _mixed("Mixed_3b", 64, "96 128", "16 32", 32),
    _mixed("Mixed_3c", 128, "128 192", "32 96", 64),
    "MaxPool_4a_3x3 /2",
    _mixed("Mixed_4b", 192, "96 208", "16 48", 64),
    _mixed("Mixed_4c", 160, "112 224", "24 64", 64),
    _mixed("Mixed_4d", 128, "128 256", "24 64", 64),
    _mixed("Mixed_4e", 112, "144 288", "32 64", 64),
    _mixed("Mixed_4f", 256, "160 320", "32 128", 128),
    "MaxPool_5a_2x2 /2",
    _mixed("Mixed_5b", 256, "160 320", "32 128", 128, "0a_3x3"),
    _mixed("Mixed_5c", 384, "192 384", "48 128", 128),
])  # fmt: skip


def inception_v1_base(
    inputs: Any, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1"
) -> tuple[Any, dict[str, Any]]:
    """Return the output of the layer `final_endpoint`, and those of all up to it by their names.

    Args:
      inputs: images [batch, height, width, channels].
      final_endpoint: "Conv2d_1a_7x7", ..., "Mixed_5c".
      scope: name of the variables' scope.

    Raises:
      ValueError: there is no such layer.

    Example:
      >>> from tfdist.api.contrib.slim.nets import inception
      >>> inception.inception_v1_base(zeros([1, 32, 32, 3]), "Mixed_3b")[0].shape.as_list()
      [1, 4, 4, 256]
    """
    end_points: dict[str, Any] = {}
    with (
        variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope([conv2d, fully_connected], weights_initializer=trunc_normal(0.01)),
        arg_scope([conv2d, max_pool2d], stride=1, padding="SAME"),
    ):
        net = walked(inputs, _TABLE, final_endpoint, end_points)
    if net is None:
        raise ValueError(f"Unknown final endpoint {final_endpoint}")
    return net, end_points


def inception_v1(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: Any = 0.8,
    prediction_fn: Any = PREDICT,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV1",
) -> tuple[Any, dict[str, Any]]:
    """Return logits, and the outputs of the layers by their names.

    Args:
      inputs: images [batch, 224, 224, channels].
      num_classes: how many classes there are.
      is_training: whether dropout chooses, and batches are normalized by themselves.
      dropout_keep_prob: chance of an element to stay.
      prediction_fn: function of the logits to the end point "Predictions".
      spatial_squeeze: whether logits are [batch, num_classes], not [batch, 1, 1, num_classes].
      reuse: whether variables are those of a network of this scope.
      scope: name of the variables' scope.

    Example:
      >>> from tfdist.api.contrib.slim.nets import inception
      >>> logits, end_points = inception.inception_v1(zeros([1, 224, 224, 3]), 10)
      >>> logits.shape.as_list(), end_points["Mixed_5c"].shape.as_list()
      ([1, 10], [1, 7, 7, 1024])
    """
    with (
        variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as entered,
        training(is_training),
    ):
        net, end_points = inception_v1_base(inputs, scope=entered)
        with variable_scope("Logits"):
            net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            net = dropout(net, dropout_keep_prob, scope="Dropout_0b")
            logits = classified(net, num_classes, spatial_squeeze, "Conv2d_0c_1x1")
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v1.default_image_size = 224  # type: ignore[attr-defined]


def inception_v1_arg_scope(
    weight_decay: float = 0.00004,
    use_batch_norm: bool = True,
    batch_norm_var_collection: str = "moving_vars",
) -> Any:
    """Return the arguments of the network's layers, for an `arg_scope`.

    Args:
      weight_decay: factor of the weights' regularization.
      use_batch_norm: whether batches are normalized.
      batch_norm_var_collection: collection of the averages.

    Example:
      >>> from tfdist.api.contrib.slim.nets import inception
      >>> with contrib.slim.arg_scope(inception.inception_v1_arg_scope()):
      ...     _ = contrib.slim.conv2d(zeros([1, 4, 4, 3]), 2, 3)
      >>> [each.name for each in get_collection("moving_vars")]
      ['Conv/BatchNorm/moving_mean:0', 'Conv/BatchNorm/moving_variance:0']
    """
    return inception_arg_scope(weight_decay, batch_norm_var_collection, use_batch_norm)
