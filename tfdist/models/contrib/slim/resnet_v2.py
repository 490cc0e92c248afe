"""tf.contrib.slim.nets.resnet_v2: residual networks whose units begin with norm and rectifier.

Source: He and others, "Identity Mappings in Deep Residual Networks", 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.models.contrib.framework.arg_scope import add_arg_scope, arg_scope
from tfdist.models.contrib.layers.convolutions import conv2d
from tfdist.models.contrib.layers.normalization import batch_norm
from tfdist.models.contrib.layers.utils import collect_named_outputs, last_dimension
from tfdist.models.contrib.slim.resnet_utils import (
    Block,
    conv2d_same,
    of_depth,
    resnet_arg_scope,
    resnet_net,
    stack_blocks_dense,
    subsample,
    units,
)
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "bottleneck",
    "resnet_arg_scope",
    "resnet_v2",
    "resnet_v2_50",
    "resnet_v2_101",
    "resnet_v2_152",
    "resnet_v2_200",
    "resnet_v2_block",
]  # fmt: skip

_PLAIN: dict[str, Any] = {"normalizer_fn": None, "activation_fn": None}


@add_arg_scope
def bottleneck(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """Return a unit's output: its inputs, plus what three convolutions make of them.

    Args:
      inputs: [batch, height, width, channels].
      depth: output channels.
      depth_bottleneck: channels in between.
      stride: steps of the windows: how many times smaller images become.
      rate: distances between a window's elements.
      outputs_collections: collections that the output is added to.
      scope: name of the unit's scope.

    Example:
      >>> from tfdist.api.contrib.slim.nets import resnet_v2
      >>> resnet_v2.bottleneck(zeros([1, 8, 8, 3]), 6, 2, 2).shape.as_list()
      [1, 4, 4, 6]
    """
    with variable_scope(scope, "bottleneck_v2", [inputs]) as entered:
        depth_in = last_dimension(inputs.get_shape(), min_rank=4)
        preact = batch_norm(inputs, activation_fn=nn.relu, scope="preact")
        if depth_in == depth:
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(preact, depth, [1, 1], stride=stride, scope="shortcut", **_PLAIN)
        residual = conv2d(preact, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = conv2d(residual, depth, [1, 1], stride=1, scope="conv3", **_PLAIN)
        output = shortcut + residual
        return collect_named_outputs(outputs_collections, entered.name, output)


def _root(net: Any) -> Any:
    with arg_scope([conv2d], **_PLAIN):
        return conv2d_same(net, 64, 7, stride=2, scope="conv1")


def resnet_v2(
    inputs: Any,
    blocks: Sequence[Any],
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    include_root_block: bool = True,
    reuse: Any = None,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """Return logits, and the outputs of the layers by their names.

    Args:
      inputs: images [batch, height, width, channels].
      blocks: of `resnet_v2_block`.
      num_classes: how many classes there are; None for no logits, but what they are made of.
      is_training: whether batches are normalized by themselves, not by averages.
      global_pool: whether the mean over height and width is taken.
      output_stride: how many times smaller images become; see `resnet_utils.stack_blocks_dense`.
      include_root_block: whether a convolution and a pool stand before the blocks.
      reuse: whether variables are those of a network of this scope.
      scope: name of the variables' scope.

    Raises:
      ValueError: there is no such `output_stride`.

    Example:
      >>> from tfdist.api.contrib.slim.nets import resnet_v2
      >>> blocks = [resnet_v2.resnet_v2_block("a", 2, 3, 2)]
      >>> resnet_v2.resnet_v2(zeros([1, 32, 32, 3]), blocks, 5)[0].shape.as_list()
      [1, 1, 1, 5]
    """
    with variable_scope(scope, "resnet_v2", [inputs], reuse=reuse) as entered:
        return resnet_net(
            inputs, _root if include_root_block else None,
            lambda net, stride: _stacked(net, blocks, stride), bottleneck, num_classes, is_training,
            global_pool, output_stride, entered,
        )  # fmt: skip


resnet_v2.default_image_size = 224  # type: ignore[attr-defined]


def _stacked(net: Any, blocks: Sequence[Any], output_stride: Any) -> Any:
    net = stack_blocks_dense(net, blocks, output_stride)
    return batch_norm(net, activation_fn=nn.relu, scope="postnorm")


def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """Return a block of bottlenecks.

    Args:
      scope: its name.
      base_depth: channels in between; the output has four times as many.
      num_units: how many bottlenecks.
      stride: steps of the last one's windows.

    Example:
      >>> from tfdist.api.contrib.slim.nets import resnet_v2
      >>> resnet_v2.resnet_v2_block("a", 2, 3, 2).args[-1]
      {'depth': 8, 'depth_bottleneck': 2, 'stride': 2}
    """
    return Block(scope, bottleneck, units(base_depth, num_units, stride))


resnet_v2_50, resnet_v2_101, resnet_v2_152, resnet_v2_200 = (
    of_depth(2, layers, resnet_v2, resnet_v2_block) for layers in (50, 101, 152, 200)
)
