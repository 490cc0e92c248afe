"""Layers of tf.contrib.layers that make features of features, and sequences of images.

Source: TF 1.15 API documentation, tf.contrib.layers; Goodfellow et al. 2013, arXiv 1302.4389
(maxout); Finn et al. 2015, arXiv 1509.06113 (spatial softmax).
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.contrib.framework.arg_scope import add_arg_scope
from tfdist.models.contrib.framework.variables import model_variable
from tfdist.models.contrib.layers.utils import collect_named_outputs
from tfdist.ops.array.concat import concat
from tfdist.ops.array.gather_nd import gather_nd
from tfdist.ops.array.range import meshgrid
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.math.reductions import reduce_max, reduce_sum
from tfdist.ops.nn import functions as nn
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.variables.initializers import constant_initializer, ones_initializer
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "dense_to_sparse", "images_to_sequence", "maxout", "sequence_to_images", "spatial_softmax",
]  # fmt: skip


def _check_format(data_format: str) -> None:
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """Return the greatest of each group of features.

    Args:
      inputs: a tensor.
      num_units: number of groups: features that are left.
      axis: that of features.
      scope: name of the nodes' scope.

    Raises:
      ValueError: the number of features cannot be divided by `num_units`.

    Example:
      >>> Session().run(contrib.layers.maxout(constant([[1.0, 5.0, 2.0, 3.0]]), 2))
      array([[5., 3.]], dtype=float32)
    """
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        known = list(inputs.plain_shape)
        features = known[axis]
        if features % num_units:
            raise ValueError(
                f"number of features({features}) is not a multiple of num_units({num_units})"
            )
        known[axis] = num_units
        own: Any = shape(inputs) if None in known else known
        sizes = [own[i] if size is None else size for i, size in enumerate(known)]
        # the members of a group stand behind all other axes, as in TensorFlow
        outputs = reduce_max(reshape(inputs, [*sizes, features // num_units]), -1)
        outputs.set_shape(known)
        return outputs


@add_arg_scope
def spatial_softmax(
    features: Any,
    temperature: Any = None,
    name: str | None = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Any:
    """Return where each channel is greatest: the mean position, weighed by a softmax over places.

    Args:
      features: [batch, height, width, channels]; see data_format.
      temperature: of the softmax, with which it begins if it is trained; 1 by default.
      name: of the variable's and the nodes' scope.
      variables_collections: collections for the temperature.
      trainable: whether the temperature is trained.
      data_format: "NHWC" or "NCHW": where channels are.

    Returns:
      [batch, channels * 2]: for each channel two positions from -1 to 1, along height and width.

    Raises:
      ValueError: there is no such data format, or the number of channels is unknown.

    Example:
      >>> contrib.layers.spatial_softmax(zeros([2, 5, 4, 3])).shape.as_list()
      [2, 6]
    """
    with variable_scope(name, "spatial_softmax"):
        _check_format(data_format)
        features = convert_to_tensor(features)
        places = [1, 2] if data_format == "NHWC" else [2, 3]
        channels = features.plain_shape[3 if data_format == "NHWC" else 1]
        if channels is None:
            raise ValueError("`num_channels` dimension should be defined to use spatial_softmax.")
        sizes: Any = shape(features)
        height, width = sizes[places[0]], sizes[places[1]]
        with name_scope("spatial_softmax_op") as own:
            positions = _positions(height, width)
        degree = _temperature(temperature, variables_collections, trainable)
        with name_scope(own):
            if data_format == "NHWC":
                features = transpose(features, [0, 3, 1, 2])
            flat = reshape(features, [-1, height * width])
            share = nn.softmax(raw.RealDiv(flat, degree, name="truediv"))
            found = [reduce_sum(each * share, [1], keepdims=True) for each in positions]
            outputs = reshape(concat(found, 1), [-1, channels * 2])
            outputs.set_shape([None, channels * 2])
            return outputs


def _positions(height: Any, width: Any) -> list[Any]:
    """Return where each place is, from -1 to 1, along height and along width."""
    ranges = [raw.LinSpace(-1.0, 1.0, size) for size in (height, width)]
    grids = meshgrid(*ranges, indexing="ij")
    return [reshape(each, [height * width]) for each in grids]


def _temperature(given: Any, collections: Any, trainable: bool) -> Any:
    initializer = ones_initializer() if given is None else constant_initializer(given)
    return model_variable(
        "temperature", [], dtypes.float32, initializer, collections=collections,
        trainable=trainable,
    )  # fmt: skip


@add_arg_scope
def dense_to_sparse(
    tensor: Any, eos_token: Any = 0, outputs_collections: Any = None, scope: Any = None
) -> SparseTensor:
    """Return the integers of a tensor that are not `eos_token`, as a SparseTensor.

    Args:
      tensor: integers, labels with padding.
      eos_token: what ends a sentence.
      outputs_collections: collections that the result is added to.
      scope: name of the nodes' scope.

    Example:
      >>> sparse = contrib.layers.dense_to_sparse(constant([[1, 2], [3, 0]]))
      >>> Session().run(sparse.values)
      array([1, 2, 3], dtype=int32)
    """
    with variable_scope(scope, "dense_to_sparse", [tensor]) as entered:
        tensor = convert_to_tensor(tensor)
        indices = raw.Where(raw.NotEqual(tensor, convert_to_tensor(eos_token, tensor.dtype)))
        values = gather_nd(tensor, indices)
        sparse = SparseTensor(indices, values, shape(tensor, out_type=dtypes.int64))
        return collect_named_outputs(outputs_collections, entered.name, sparse)


@add_arg_scope
def images_to_sequence(
    inputs: Any, data_format: str = "NHWC", outputs_collections: Any = None, scope: Any = None
) -> Any:
    """Return images as sequences of columns.

    Args:
      inputs: [images, height, width, channels]; see data_format.
      data_format: "NHWC" or "NCHW": where channels are.
      outputs_collections: collections that the result is added to.
      scope: name of the nodes' scope.

    Returns:
      [width, images * height, channels].

    Raises:
      ValueError: there is no such data format.

    Example:
      >>> contrib.layers.images_to_sequence(zeros([2, 5, 4, 3])).shape.as_list()
      [4, 10, 3]
    """
    with variable_scope(scope, "ImagesToSequence", [inputs]) as entered:
        _check_format(data_format)
        inputs = convert_to_tensor(inputs)
        if data_format == "NCHW":
            inputs = transpose(inputs, [0, 2, 3, 1])
        width, depth = inputs.plain_shape[2:]
        sizes: Any = shape(inputs)
        rows = sizes[0] * sizes[1]
        columns = transpose(inputs, [2, 0, 1, 3])
        outputs = reshape(columns, [sizes[2] if width is None else width, rows, depth])
        count = inputs.plain_shape[0], inputs.plain_shape[1]
        outputs.set_shape([width, None if None in count else count[0] * count[1], depth])
        return collect_named_outputs(outputs_collections, entered.name, outputs)


@add_arg_scope
def sequence_to_images(
    inputs: Any,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """Return sequences of columns as images; see `images_to_sequence`.

    Args:
      inputs: [width, images * height, channels].
      height: of the images.
      output_data_format: "channels_last" or "channels_first".
      outputs_collections: collections that the result is added to.
      scope: name of the nodes' scope.

    Returns:
      [images, height, width, channels], or [images, channels, height, width].

    Example:
      >>> contrib.layers.sequence_to_images(zeros([4, 10, 3]), 5).shape.as_list()
      [2, 5, 4, 3]
    """
    with variable_scope(scope, "SequenceToImages", [inputs]) as entered:
        inputs = convert_to_tensor(inputs)
        width, rows, depth = inputs.plain_shape
        count = -1 if rows is None else rows // height
        sizes: Any = shape(inputs) if width is None else [width]
        columns = reshape(inputs, [sizes[0], count, height, depth])
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        outputs = transpose(columns, order)
        return collect_named_outputs(outputs_collections, entered.name, outputs)
