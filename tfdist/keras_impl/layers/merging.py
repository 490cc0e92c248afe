"""Layers of several inputs: their sum, product, and the like.

Source: TF 1.15 API documentation, tf.keras.layers.Add and its relatives.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.backend.tensor_products import batch_dot
from tfdist.keras_impl.engine.layer import Layer
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import ones_like
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.math import arithmetic
from tfdist.ops.math.reductions import reduce_all
from tfdist.ops.nn.normalization import l2_normalize

__all__ = [
    "Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract", "add",
    "average", "concatenate", "dot", "maximum", "minimum", "multiply", "subtract",
]  # fmt: skip


class Merge(Layer):
    """What these layers share: inputs are brought to one rank, and are broadcast."""

    supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Check the inputs' shapes; ValueError if there are fewer than two, or they do not fit."""
        _check_list(self, input_shape, "A merge layer")
        shapes = [each.as_list()[1:] for each in input_shape if each.ndims is not None]
        if len(shapes) == len(input_shape):
            reduce(_broadcast, shapes)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return what becomes of a list of inputs."""
        if not isinstance(inputs, list | tuple):
            raise ValueError("A merge layer should be called on a list of inputs.")
        return self._merged(_one_rank(list(inputs)))

    def _merged(self, inputs: list[Any]) -> Any:
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of shapes."""
        shapes = [list(TensorShape(each).as_list()) for each in input_shape]
        batches = {each[0] for each in shapes} - {None}
        batch = batches.pop() if len(batches) == 1 else None
        return TensorShape([batch, *reduce(_broadcast, [each[1:] for each in shapes])])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return what all inputs keep."""
        masks = [each for each in mask or () if each is not None]
        if not masks:
            return None
        return reduce_all(concat([expand_dims(each, 0) for each in masks], 0), 0)


def _check_list(layer: Any, shapes: Any, what: str) -> None:
    if not isinstance(shapes, list | tuple):
        raise ValueError(f"{what} should be called on a list of inputs.")
    if len(shapes) < 2:
        raise ValueError(
            f"{what} should be called on a list of at least 2 inputs. Got {len(shapes)} inputs."
        )


def _broadcast(first: list[Any], second: list[Any]) -> list[Any]:
    """Return the shape that both broadcast to; an axis of unknown size stays unknown."""
    long, short = (first, second) if len(first) >= len(second) else (second, first)
    start = len(long) - len(short)
    made = long[:start]
    for one, other in zip(long[start:], short, strict=True):
        if one is None or other is None:
            made.append(None)
        elif 1 in (one, other) or one == other:
            made.append(max(one, other))
        else:
            raise ValueError(
                "Operands could not be broadcast together with shapes "
                f"{tuple(first)} {tuple(second)}"
            )
    return made


def _one_rank(inputs: list[Any]) -> list[Any]:
    """Return the inputs with axes of 1 after the batch, so that all have the same rank."""
    rank = max(len(each.plain_shape) for each in inputs)
    made = []
    for each in inputs:
        for _ in range(rank - len(each.plain_shape)):
            each = expand_dims(each, 1)
        made.append(each)
    return made


class Add(Merge):
    """A layer that adds its inputs.

    Example:
      >>> keras.layers.Add()([ones([1, 2]), ones([1, 2])]).shape.as_list()
      [1, 2]
    """

    def _merged(self, inputs: list[Any]) -> Any:
        return reduce(lambda x, y: x + y, inputs)


class Subtract(Merge):
    """A layer that subtracts its second input from its first.

    Example:
      >>> keras.layers.Subtract()([ones([1, 2]), ones([1, 2])]).shape.as_list()
      [1, 2]
    """

    def build(self, input_shape: Any) -> None:
        """Check that there are two inputs."""
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")

    def _merged(self, inputs: list[Any]) -> Any:
        return inputs[0] - inputs[1]


class Multiply(Merge):
    """A layer that multiplies its inputs, element by element."""

    def _merged(self, inputs: list[Any]) -> Any:
        return reduce(lambda x, y: x * y, inputs)


class Average(Merge):
    """A layer that gives the mean of its inputs, element by element."""

    def _merged(self, inputs: list[Any]) -> Any:
        return reduce(lambda x, y: x + y, inputs) / len(inputs)


class Maximum(Merge):
    """A layer that gives the greatest of its inputs, element by element."""

    def _merged(self, inputs: list[Any]) -> Any:
        return reduce(arithmetic.maximum, inputs)


class Minimum(Merge):
    """A layer that gives the least of its inputs, element by element."""

    def _merged(self, inputs: list[Any]) -> Any:
        return reduce(arithmetic.minimum, inputs)


class Concatenate(Merge):
    """A layer that puts its inputs one after the other.

    Args:
      axis: along which.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.Concatenate()([zeros([2, 3]), zeros([2, 4])]).shape.as_list()
      [2, 7]
    """

    CONFIG = ("axis",)

    def __init__(self, axis: int = -1, **options: Any) -> None:
        super().__init__(**options)
        self.axis = axis

    def build(self, input_shape: Any) -> None:
        """Check the inputs' shapes; ValueError if they differ along another axis."""
        if not isinstance(input_shape, list | tuple) or len(input_shape) < 2:
            raise ValueError(
                "A `Concatenate` layer should be called on a list of at least 2 inputs"
            )
        shapes = [tuple(each.as_list()) for each in input_shape]
        rests = {_without(each, self.axis) for each in shapes}
        if len({tuple(s if s is not None else -1 for s in each) for each in rests}) > 1:
            raise ValueError(
                "A `Concatenate` layer requires inputs with matching shapes except for the concat "
                f"axis. Got inputs shapes: {shapes}"
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return a list of inputs one after the other."""
        return concat(list(inputs), self.axis)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of shapes."""
        shapes = [list(TensorShape(each).as_list()) for each in input_shape]
        sizes: list[Any] = [each[self.axis] for each in shapes]
        made = shapes[0]
        made[self.axis] = None if None in sizes else sum(sizes)
        return TensorShape(made)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return what all inputs keep; along the axis, what each does."""
        if not mask or all(each is None for each in mask):
            return None
        spread = [_spread(tensor, each) for tensor, each in zip(inputs, mask, strict=True)]
        return reduce_all(concat(spread, self.axis), -1)


def _without(shape: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    axis %= len(shape)
    return shape[:axis] + shape[axis + 1 :]


def _spread(tensor: Any, mask: Any) -> Any:
    if mask is None:
        return cast(ones_like(tensor), dtypes.bool_)
    if len(mask.plain_shape) < len(tensor.plain_shape):
        return expand_dims(mask, -1)
    return mask


class Dot(Merge):
    """A layer that gives the products of its two inputs, example by example.

    Args:
      axes: along which products are summed, one for both or one for each.
      normalize: whether inputs are scaled to norm 1 before: the result is the cosine.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.Dot(axes=1)([zeros([2, 3]), zeros([2, 3])]).shape.as_list()
      [2, 1]
    """

    CONFIG = ("axes", "normalize")

    def __init__(self, axes: Any, normalize: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.axes, self.normalize = axes, normalize

    def build(self, input_shape: Any) -> None:
        """Check the inputs' shapes; ValueError if the axes differ in size."""
        if not isinstance(input_shape, list | tuple) or len(input_shape) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        shapes = [tuple(each.as_list()) for each in input_shape]
        first, second = self._axes([len(each) for each in shapes])
        if shapes[0][first] != shapes[1][second]:
            raise ValueError(
                "Dimension incompatibility "
                f"{shapes[0][first]} != {shapes[1][second]}. Layer shapes: {shapes[0]}, {shapes[1]}"
            )
        self.built = True

    def _axes(self, ranks: list[int]) -> tuple[int, int]:
        given = (self.axes, self.axes) if isinstance(self.axes, int) else self.axes
        first, second = (axis % rank for axis, rank in zip(given, ranks, strict=True))
        return first, second

    def call(self, inputs: Any) -> Any:
        """Return the products of two inputs."""
        axes = self._axes([len(each.plain_shape) for each in inputs])
        if self.normalize:
            inputs = [l2_normalize(x, axis) for x, axis in zip(inputs, axes, strict=True)]
        return batch_dot(inputs[0], inputs[1], axes)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of shapes."""
        shapes = [list(TensorShape(each).as_list()) for each in input_shape]
        first, second = self._axes([len(each) for each in shapes])
        one = shapes[0][:first] + shapes[0][first + 1 :]
        other = shapes[1][:second] + shapes[1][second + 1 :]
        made = [*one, *other[1:]]
        return TensorShape(made if len(made) > 1 else [*made, 1])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return None: there are no steps any more."""
        return None


def _function(layer: Any, name: str, what: str, more: str = "") -> Any:
    def function(inputs: Any, *arguments: Any, **options: Any) -> Any:
        return layer(*arguments, **options)(inputs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return {what} of a list of tensors, by a new layer `{layer.__name__}`.

    Example:
      >>> keras.layers.{name}([zeros([2, 3]), zeros([2, 3])]{more}).shape.as_list()
      {[2, 6] if name == "concatenate" else [2, 1] if more else [2, 3]}
    """
    return function


add = _function(Add, "add", "the sum")
subtract = _function(Subtract, "subtract", "the difference")
multiply = _function(Multiply, "multiply", "the product")
average = _function(Average, "average", "the mean")
maximum = _function(Maximum, "maximum", "the greatest")
minimum = _function(Minimum, "minimum", "the least")
concatenate = _function(Concatenate, "concatenate", "what stands one after the other")
dot = _function(Dot, "dot", "the products", ", 1")
