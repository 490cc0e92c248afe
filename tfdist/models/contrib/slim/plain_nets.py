"""Networks of tf.contrib.slim that are one row of layers: AlexNet, OverFeat, VGG.

A network is a table of `Row`s; what stands below walks it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfdist.models.contrib.framework.arg_scope import arg_scope
from tfdist.models.contrib.layers.convolutions import conv2d, max_pool2d
from tfdist.models.contrib.layers.layers import dropout, fully_connected, repeat
from tfdist.models.contrib.layers.utils import convert_collection_to_dict
from tfdist.models.layers.defaults import ZEROS
from tfdist.models.layers.regularizers import l2_regularizer
from tfdist.ops.array.reshape import squeeze
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.initializers import truncated_normal_initializer
from tfdist.ops.variables.variable_scope import variable_scope


def trunc_normal(stddev: float) -> Any:
    """Return an initializer of normal numbers within two deviations, with mean 0."""
    return truncated_normal_initializer(0.0, stddev)


class Row(NamedTuple):
    """One layer, or several of a kind.

    Attributes:
      scope: their name.
      depth: output channels of a convolution; None for the greatest of each window.
      size: of the window, [height, width].
      stride: steps of the window; None for the layer's own.
      padding: "VALID" or "SAME"; None for what an arg_scope says.
      times: how many stand in a row, with numbers in their names; 0 for one without.
      keep: whether a dropout follows, "dropout6" after "fc6".
    """

    scope: str
    depth: int | None
    size: Sequence[int]
    stride: int | None = None
    padding: str | None = None
    times: int = 0
    keep: bool = False


class Head(NamedTuple):
    """The convolutions at the end, which stand for fully connected layers.

    Attributes:
      rows: all but that of the classes.
      initializers: what their weights and biases are initialized with, where not by default.
      biases: initializer of the last one's biases.
    """

    rows: Sequence[Row]
    initializers: dict[str, Any]
    biases: Any


def _walked(net: Any, rows: Sequence[Row], is_training: Any, keep_prob: Any) -> Any:
    for row in rows:
        given = {"stride": row.stride, "padding": row.padding, "scope": row.scope}
        given = {key: value for key, value in given.items() if value is not None}
        if row.depth is None:
            net = max_pool2d(net, row.size, **given)
        elif row.times:
            net = repeat(net, row.times, conv2d, row.depth, row.size, **given)
        else:
            net = conv2d(net, row.depth, row.size, **given)
        if row.keep:
            label = row.scope.replace("fc", "dropout")
            net = dropout(net, keep_prob, is_training=is_training, scope=label)
    return net


def plain_net(
    name: str, size: int, rows: Sequence[Row], head: Head, collection_of: Callable[[Any], str]
) -> Callable[..., Any]:
    """Return the public function of a network.

    Args:
      name: its name, and that of its scope.
      size: height and width of the images that it was made for.
      rows: its layers up to the head.
      head: the rest.
      collection_of: name of the collection for end points, from the network's scope.
    """

    def network(
        inputs: Any,
        num_classes: int = 1000,
        is_training: Any = True,
        dropout_keep_prob: Any = 0.5,
        spatial_squeeze: bool = True,
        scope: str = name,
    ) -> tuple[Any, dict[str, Any]]:
        with variable_scope(scope, name, [inputs]) as entered:
            collection = collection_of(entered)
            with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=[collection]):
                net = _walked(inputs, rows, is_training, dropout_keep_prob)
                with arg_scope([conv2d], **head.initializers):
                    net = _walked(net, head.rows, is_training, dropout_keep_prob)
                    net = conv2d(
                        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                        scope="fc8", **head.biases,
                    )  # fmt: skip
                end_points = convert_collection_to_dict(collection)
                if spatial_squeeze:
                    net = squeeze(net, [1, 2], name="fc8/squeezed")
                    end_points[f"{entered.name}/fc8"] = net
                return net, end_points

    network.__name__ = network.__qualname__ = name
    network.__doc__ = f"""Return logits, and the outputs of the layers by their names.

    Args:
      inputs: images [batch, {size}, {size}, channels]; others where `spatial_squeeze` is false.
      num_classes: how many classes there are.
      is_training: whether dropout chooses.
      dropout_keep_prob: chance of an element to stay.
      spatial_squeeze: whether logits are [batch, num_classes], not [batch, 1, 1, num_classes].
      scope: name of the variables' scope.

    Example:
      >>> from tfdist.api.contrib.slim.nets import {_MODULES[name]}
      >>> logits, end_points = {_MODULES[name]}.{name}(zeros([1, {size}, {size}, 3]), 10)
      >>> logits.shape.as_list(), end_points["{name}/fc7"].shape.as_list()
      ([1, 10], [1, 1, 1, 4096])
    """
    return network


_MODULES = {
    "alexnet_v2": "alexnet", "overfeat": "overfeat", "vgg_a": "vgg", "vgg_16": "vgg",
    "vgg_19": "vgg",
}  # fmt: skip


def plain_arg_scope(weight_decay: float, biases: Any = ZEROS, pools: bool = True) -> Any:
    """Return the arguments of a network's layers.

    Args:
      weight_decay: factor of the weights' regularization.
      biases: initializer of biases.
      pools: whether pools have no padding.
    """
    with arg_scope(
        [conv2d, fully_connected], activation_fn=nn.relu, biases_initializer=biases,
        weights_regularizer=l2_regularizer(weight_decay),
    ), arg_scope([conv2d], padding="SAME") as found:  # fmt: skip
        if not pools:
            return found
        with arg_scope([max_pool2d], padding="VALID") as found:
            return found
