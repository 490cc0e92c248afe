"""tf.contrib.slim.nets.resnet_utils: what residual networks are put together of.

Source: He and others, "Deep Residual Learning for Image Recognition", 2015; Chen and others,
"DeepLab", 2016, for networks that keep more of the image's size (`output_stride`).
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from tfdist.models.contrib.framework.arg_scope import add_arg_scope, arg_scope
from tfdist.models.contrib.layers.convolutions import conv2d, max_pool2d
from tfdist.models.contrib.layers.layers import softmax
from tfdist.models.contrib.layers.normalization import batch_norm
from tfdist.models.contrib.layers.utils import collect_named_outputs, convert_collection_to_dict
from tfdist.models.layers.initializers import variance_scaling_initializer
from tfdist.models.layers.regularizers import l2_regularizer
from tfdist.ops.array.pad import pad
from tfdist.ops.math.reductions import reduce_mean
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "Block", "conv2d_same", "resnet_arg_scope", "resnet_net", "stack_blocks_dense", "subsample",
    "units",
]  # fmt: skip

Block = namedtuple("Block", ["scope", "unit_fn", "args"])
Block.__doc__ = """A block of units of one kind.

Attributes:
  scope: its name.
  unit_fn: function that makes a unit.
  args: for each unit the dict of its arguments.

Example:
  >>> from tfdist.api.contrib.slim.nets import resnet_utils, resnet_v1
  >>> resnet_utils.Block("a", resnet_v1.bottleneck, [{"depth": 8, "stride": 1}]).scope
  'a'
"""

COUNTS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}


def subsample(inputs: Any, factor: int, scope: str | None = None) -> Any:
    """Return each `factor`-th row and column of images; they themselves for 1.

    Example:
      >>> from tfdist.api.contrib.slim.nets import resnet_utils
      >>> resnet_utils.subsample(zeros([1, 9, 8, 3]), 2).shape.as_list()
      [1, 5, 4, 3]
    """
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1,
    scope: str | None = None,
) -> Any:  # fmt: skip
    """Return a convolution whose padding depends on the kernel alone.

    "SAME" pads by the image's size too, where `stride` is not 1: its windows then do not lie where
    those of a dense convolution do, of which every `stride`-th is taken.

    Args:
      inputs: [batch, height, width, channels].
      num_outputs: number of output channels.
      kernel_size: height and width of the window.
      stride: steps of the window.
      rate: distances between the window's elements.
      scope: name of the layer's scope.

    Example:
      >>> from tfdist.api.contrib.slim.nets import resnet_utils
      >>> resnet_utils.conv2d_same(zeros([1, 9, 8, 3]), 5, 3, 2).shape.as_list()
      [1, 5, 4, 5]
    """
    if stride == 1:
        return conv2d(
            inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope
        )
    total = (kernel_size - 1) * rate
    side = [total // 2, total - total // 2]
    padded = pad(inputs, [[0, 0], side, side, [0, 0]])
    return conv2d(
        padded, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope
    )


@add_arg_scope
def stack_blocks_dense(
    net: Any, blocks: Sequence[Any], output_stride: Any = None, outputs_collections: Any = None
) -> Any:
    """Return what blocks make of `net`.

    Args:
      net: [batch, height, width, channels].
      blocks: `Block`s.
      output_stride: how many times smaller images become; from there on, windows get wider
        distances in place of larger steps. None for the product of all strides.
      outputs_collections: collections that each block's output is added to.

    Raises:
      ValueError: `output_stride` is not a product of the first strides.
    """
    stride = rate = 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as entered:
            for number, unit in enumerate(block.args, 1):
                if output_stride is not None and stride > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                is_dense = output_stride is not None and stride == output_stride
                given = {**unit, "stride": 1} if is_dense else unit
                with variable_scope(f"unit_{number}", values=[net]):
                    net = block.unit_fn(net, rate=rate if is_dense else 1, **given)
                rate, stride = (
                    (rate * unit.get("stride", 1), stride)
                    if is_dense
                    else (rate, stride * unit.get("stride", 1))
                )
            net = collect_named_outputs(outputs_collections, entered.name, net)
    if output_stride is not None and stride != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> Any:
    """Return the arguments of a residual network's layers, for an `arg_scope`.

    Args:
      weight_decay: factor of the weights' regularization.
      batch_norm_decay: the part that stays in an update of the averages.
      batch_norm_epsilon: added to variances.
      batch_norm_scale: whether normalized numbers are multiplied by gamma.

    Example:
      >>> from tfdist.api.contrib.slim.nets import resnet_utils
      >>> with contrib.slim.arg_scope(resnet_utils.resnet_arg_scope()):
      ...     _ = contrib.slim.conv2d(zeros([1, 4, 4, 3]), 2, 3)
      >>> len(global_variables())
      5
    """
    given = {
        "decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "scale": batch_norm_scale,
        "updates_collections": GraphKeys.UPDATE_OPS,
    }  # fmt: skip
    with (
        arg_scope(
            [conv2d], weights_regularizer=l2_regularizer(weight_decay),
            weights_initializer=variance_scaling_initializer(), activation_fn=nn.relu,
            normalizer_fn=batch_norm, normalizer_params=given,
        ),
        arg_scope([batch_norm], **given),
        arg_scope([max_pool2d], padding="SAME") as found,
    ):  # fmt: skip
        return found


# what both versions share


def units(base_depth: int, num_units: int, stride: int) -> list[dict[str, int]]:
    """Return the arguments of a block's bottlenecks, of which the last one makes large steps."""
    sizes = {"depth": base_depth * 4, "depth_bottleneck": base_depth}
    return [{**sizes, "stride": 1}] * (num_units - 1) + [{**sizes, "stride": stride}]


def resnet_net(
    inputs: Any,
    root: Callable[[Any], Any] | None,
    stacked: Callable[[Any, Any], Any],
    bottleneck: Any,
    num_classes: int | None,
    is_training: Any,
    global_pool: bool,
    output_stride: int | None,
    entered: Any,
) -> tuple[Any, dict[str, Any]]:
    """Return logits and end points of a residual network, in its scope.

    Args:
      inputs: images.
      root: the layers before the blocks, None for none.
      stacked: function of (net, output_stride) to the blocks' output.
      bottleneck: the units' function, which notes its outputs.
      entered: the variable scope; other arguments as of the public functions.
    """
    collection = f"{entered.original_name_scope}_end_points"
    with (
        arg_scope([conv2d, bottleneck, stack_blocks_dense], outputs_collections=collection),
        arg_scope([batch_norm], is_training=is_training),
    ):
        net = inputs
        if root is not None:
            if output_stride is not None and output_stride % 4 != 0:
                raise ValueError("The output_stride needs to be a multiple of 4.")
            output_stride = None if output_stride is None else output_stride // 4
            net = max_pool2d(root(net), [3, 3], stride=2, scope="pool1")
        net = stacked(net, output_stride)
        if global_pool:
            net = reduce_mean(net, [1, 2], name="pool5", keepdims=True)
        if num_classes is not None:
            net = conv2d(
                net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits"
            )
        end_points = convert_collection_to_dict(collection)
        if num_classes is not None:
            end_points["predictions"] = softmax(net, scope="predictions")
        return net, end_points


def of_depth(version: int, layers: int, network: Any, block: Any) -> Any:
    """Return the public function of a network with a known number of layers.

    Args:
      version: 1 or 2.
      layers: a key of `COUNTS`.
      network: the function of blocks.
      block: the function that makes one.
    """
    name = f"resnet_v{version}_{layers}"

    def function(
        inputs: Any,
        num_classes: int | None = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        reuse: Any = None,
        scope: str = name,
    ) -> tuple[Any, dict[str, Any]]:
        blocks = [
            block(f"block{number}", 32 * 2**number, count, 1 if number == 4 else 2)
            for number, count in enumerate(COUNTS[layers], 1)
        ]
        return network(
            inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return logits and end points of the network of {layers} layers.

    Arguments are those of `resnet_v{version}`.

    Example:
      >>> from tfdist.api.contrib.slim.nets import resnet_v{version}
      >>> with contrib.slim.arg_scope(resnet_v{version}.resnet_arg_scope()):
      ...     logits, end_points = resnet_v{version}.{name}(zeros([1, 32, 32, 3]), 10)
      >>> logits.shape.as_list(), end_points["{name}/block4"].shape.as_list()
      ([1, 1, 1, 10], [1, 1, 1, 2048])
    """
    return function
