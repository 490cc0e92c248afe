"""tf.contrib.slim.nets.inception, version 3: with factorized convolutions.

Source: Szegedy and others, "Rethinking the Inception Architecture for Computer Vision", 2015.
"""

from __future__ import annotations

from typing import Any

from tfdist.models.contrib.layers.convolutions import avg_pool2d, conv2d
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
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["inception_v3", "inception_v3_arg_scope", "inception_v3_base"]

_STEM = "\n".join([
    "Conv2d_1a_3x3 32 /2", "Conv2d_2a_3x3 32", "Conv2d_2b_3x3 64 /1s", "MaxPool_3a_3x3 /2",
    "Conv2d_3b_1x1 80", "Conv2d_4a_3x3 192", "MaxPool_5a_3x3 /2",
])  # fmt: skip


def _five(name: str, five: str, pooled: int) -> str:
    """Return a block's line; `five` is the branch that sees five by five places."""
    return (
        f"{name}: Conv2d_0a_1x1 64 | {five} | "
        "Conv2d_0a_1x1 64, Conv2d_0b_3x3 96, Conv2d_0c_3x3 96 | "
        f"AvgPool_0a_3x3, Conv2d_0b_1x1 {pooled}"
    )


def _seven(name: str, inner: int) -> str:
    """Return the line of a block that sees seven by seven places, a row or column at a time."""
    return (
        f"{name}: Conv2d_0a_1x1 192 | "
        f"Conv2d_0a_1x1 {inner}, Conv2d_0b_1x7 {inner}, Conv2d_0c_7x1 192 | "
        f"Conv2d_0a_1x1 {inner}, Conv2d_0b_7x1 {inner}, Conv2d_0c_1x7 {inner}, "
        f"Conv2d_0d_7x1 {inner}, Conv2d_0e_1x7 192 | AvgPool_0a_3x3, Conv2d_0b_1x1 192"
    )


def _wide(name: str, second: str) -> str:
    """Return the line of a last block; `second` is the name of its column's convolution."""
    return (
        f"{name}: Conv2d_0a_1x1 320 | "
        f"Conv2d_0a_1x1 384, Conv2d_0b_1x3 384 + Conv2d_{second} 384 | "
        "Conv2d_0a_1x1 448, Conv2d_0b_3x3 384, Conv2d_0c_1x3 384 + Conv2d_0d_3x1 384 | "
        "AvgPool_0a_3x3, Conv2d_0b_1x1 192"
    )


_BLOCKS = "\n".join([
    _five("Mixed_5b", "Conv2d_0a_1x1 48, Conv2d_0b_5x5 64", 32),
    _five("Mixed_5c", "Conv2d_0b_1x1 48, Conv_1_0c_5x5 64", 64),
    _five("Mixed_5d", "Conv2d_0a_1x1 48, Conv2d_0b_5x5 64", 64),
    "Mixed_6a: Conv2d_1a_1x1 384 /2v =3x3 | "
    "Conv2d_0a_1x1 64, Conv2d_0b_3x3 96, Conv2d_1a_1x1 96 /2v =3x3 | MaxPool_1a_3x3 /2v",
    _seven("Mixed_6b", 128), _seven("Mixed_6c", 160), _seven("Mixed_6d", 160),
    _seven("Mixed_6e", 192),
    "Mixed_7a: Conv2d_0a_1x1 192, Conv2d_1a_3x3 320 /2v | "
    "Conv2d_0a_1x1 192, Conv2d_0b_1x7 192, Conv2d_0c_7x1 192, Conv2d_1a_3x3 192 /2v | "
    "MaxPool_1a_3x3 /2v",
    _wide("Mixed_7b", "0b_3x1"), _wide("Mixed_7c", "0c_3x1"),
])  # fmt: skip


def inception_v3_base(
    inputs: Any,
    final_endpoint: str = "Mixed_7c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """Return the output of the layer `final_endpoint`, and those of all up to it by their names.

    Args:
      inputs: images [batch, height, width, channels].
      final_endpoint: "Conv2d_1a_3x3", ..., "Mixed_7c".
      min_depth: fewest channels.
      depth_multiplier: factor of the channels.
      scope: name of the variables' scope.

    Raises:
      ValueError: there is no such layer, or `depth_multiplier` is not positive.

    Example:
      >>> from tfdist.api.contrib.slim.nets import inception
      >>> inception.inception_v3_base(zeros([1, 75, 75, 3]), "Mixed_5b")[0].shape.as_list()
      [1, 7, 7, 256]
    """
    depth = deepened(depth_multiplier, min_depth)
    end_points: dict[str, Any] = {}
    with variable_scope(scope, "InceptionV3", [inputs]):
        with windows(1, "VALID"):
            net = walked(inputs, _STEM, final_endpoint, end_points, depth)
        if net is None:
            with windows(1, "SAME"):
                stem = next(reversed(end_points.values()))
                net = walked(stem, _BLOCKS, final_endpoint, end_points, depth)
    if net is None:
        raise ValueError(f"Unknown final endpoint {final_endpoint}")
    return net, end_points


def inception_v3(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: Any = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = PREDICT,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV3",
) -> tuple[Any, dict[str, Any]]:
    """Return logits, and the outputs of the layers by their names.

    Args:
      inputs: images [batch, 299, 299, channels].
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
      >>> logits, end_points = inception.inception_v3(zeros([1, 299, 299, 3]), 10)
      >>> logits.shape.as_list(), end_points["AuxLogits"].shape.as_list()
      ([1, 10], [1, 10])
    """
    depth = deepened(depth_multiplier, min_depth)
    with (
        variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as entered,
        training(is_training),
    ):
        net, end_points = inception_v3_base(
            inputs, min_depth=min_depth, depth_multiplier=depth_multiplier, scope=entered
        )
        with windows(1, "SAME"), variable_scope("AuxLogits"):
            end_points["AuxLogits"] = _auxiliary(
                end_points["Mixed_6e"], num_classes, spatial_squeeze, depth
            )
        with variable_scope("Logits"):
            size = window_within(net, 8)
            label = "AvgPool_1a_{}x{}".format(*size)
            net = avg_pool2d(net, size, padding="VALID", scope=label)
            net = dropout(net, dropout_keep_prob, scope="Dropout_1b")
            end_points["PreLogits"] = net
            logits = classified(net, num_classes, spatial_squeeze, "Conv2d_1c_1x1")
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v3.default_image_size = 299  # type: ignore[attr-defined]


def _auxiliary(net: Any, num_classes: int, spatial_squeeze: bool, depth: Depth) -> Any:
    """Return the logits of a classifier half-way, which helps in training."""
    net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
    net = conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
    size = window_within(net, 5)
    net = conv2d(
        net, depth(768), size, weights_initializer=trunc_normal(0.01), padding="VALID",
        scope="Conv2d_2a_{}x{}".format(*size),
    )  # fmt: skip
    return classified(
        net, num_classes, spatial_squeeze, "Conv2d_2b_1x1", weights_initializer=trunc_normal(0.001)
    )


def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> Any:
    """Return the arguments of the network's layers, for an `arg_scope`.

    Args:
      weight_decay: factor of the weights' regularization.
      batch_norm_var_collection: collection of the averages.
      batch_norm_decay: the part that stays in an update of the averages.
      batch_norm_epsilon: added to variances.
      updates_collections: collections of the averages' updates; None to do them at once.
      use_fused_batchnorm: whether one operation normalizes.

    Example:
      >>> from tfdist.api.contrib.slim.nets import inception
      >>> with contrib.slim.arg_scope(inception.inception_v3_arg_scope()):
      ...     contrib.slim.conv2d(zeros([1, 4, 4, 3]), 2, 3).shape.as_list()
      [1, 4, 4, 2]
    """
    return inception_arg_scope(
        weight_decay, batch_norm_var_collection, decay=batch_norm_decay,
        epsilon=batch_norm_epsilon, updates_collections=updates_collections,
        fused=use_fused_batchnorm,
    )  # fmt: skip
