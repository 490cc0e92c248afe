"""tf.keras.backend: variables, placeholders, and what changes shapes and values.

Source: TF 1.15 API documentation, tf.keras.backend.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.keras_impl.backend.graph_states import track_variable
from tfdist.keras_impl.backend.seeds import OF_VARIABLES, chosen_seed
from tfdist.keras_impl.backend.tensor_products import batch_dot, dot
from tfdist.keras_impl.settings import floatx
from tfdist.models.layers.training_switch import chosen
from tfdist.ops.array import concat, constants, tile_roll
from tfdist.ops.array import fill as array_fill
from tfdist.ops.array import reshape as array_reshape
from tfdist.ops.array.cast import cast as converted
from tfdist.ops.array.gather import gather as _gather
from tfdist.ops.array.one_hot import one_hot as _one_hot
from tfdist.ops.array.range import range as _range
from tfdist.ops.array.repeat import repeat as repeated
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.autodiff.gradients import gradients as _gradients
from tfdist.ops.control_flow import identity_group
from tfdist.ops.functions import map_fn as functions_map_fn
from tfdist.ops.math.comparison import where
from tfdist.ops.nn import functions as nn
from tfdist.ops.random import random_ops as draws
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.sparse.to_dense import sparse_tensor_to_dense
from tfdist.ops.variables.variable import Variable

__all__ = [
    "arange", "batch_dot", "batch_flatten", "cast", "concatenate", "constant", "dot", "dropout",
    "dtype", "expand_dims", "eye", "flatten", "foldl", "foldr", "gather", "gradients", "int_shape",
    "is_sparse", "map_fn", "moving_average_update", "name_scope", "ndim", "one_hot", "ones",
    "ones_like", "permute_dimensions", "placeholder", "random_binomial", "random_normal",
    "random_normal_variable", "random_uniform", "random_uniform_variable", "repeat",
    "repeat_elements", "reshape", "reverse", "shape", "squeeze", "stack", "stop_gradient",
    "switch", "tile", "to_dense", "transpose", "truncated_normal", "update", "update_add",
    "update_sub", "variable", "zeros", "zeros_like",
]  # fmt: skip


# what there is


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """Return a variable, which sessions of `get_session` initialize.

    Args:
      value: in the beginning.
      dtype: the type of floats by default.
      name: of its node.
      constraint: function from the updated value to the one to keep.

    Example:
      >>> keras.backend.get_value(keras.backend.variable([1, 2]))
      array([1., 2.], dtype=float32)
    """
    if not hasattr(value, "graph"):
        value = np.asarray(value, dtypes.as_dtype(dtype or floatx()).as_numpy_dtype)
    made = Variable(
        value, name=name, constraint=constraint, use_resource=True,
        dtype=dtypes.as_dtype(dtype or floatx()),
    )  # fmt: skip
    track_variable(made)
    return made


def placeholder(
    shape: Any = None,
    ndim: int | None = None,
    dtype: Any = None,
    sparse: bool = False,
    name: str | None = None,
    ragged: bool = False,
) -> Any:
    """Return a placeholder.

    Args:
      shape: with None for sizes that are not known.
      ndim: rank, instead of a shape.
      dtype: the type of floats by default.
      sparse: False; sparse ones are not there.
      name: of its node.
      ragged: False; ragged ones are not there.

    Example:
      >>> keras.backend.placeholder(ndim=2).shape.as_list()
      [None, None]
    """
    if sparse or ragged:
        raise NotImplementedError("tf.sparse_placeholder, tf.ragged.placeholder make such ones")
    if shape is None and ndim:
        shape = (None,) * ndim
    return constants.placeholder(dtype or floatx(), shape, name)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """Return a constant; of the type of floats by default."""
    return constants.constant(value, dtype or floatx(), shape, name or "Const")


def int_shape(x: Any) -> Any:
    """Return what is known of the shape: a tuple with None for other sizes, or None.

    Example:
      >>> keras.backend.int_shape(keras.Input([3]))
      (None, 3)
    """
    known = x.get_shape()
    return None if known.ndims is None else tuple(known.as_list())


def ndim(x: Any) -> Any:
    """Return the rank, None if it is not known."""
    return x.get_shape().ndims


def dtype(x: Any) -> str:
    """Return the name of the type."""
    return str(x.dtype.base_dtype.name)


def is_sparse(tensor: Any) -> bool:
    """Return whether this is a SparseTensor."""
    return isinstance(tensor, SparseTensor)


def to_dense(tensor: Any) -> Any:
    """Return a SparseTensor as a tensor; tensors as they are."""
    return sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


name_scope = scopes.name_scope


# values


def _filled(made: Any, dtype: Any, name: str | None) -> Any:
    """Return a variable of a value whose shape is known; otherwise the value itself."""
    known = made.plain_shape
    return made if known is None or None in known else variable(made, dtype, name)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a variable of zeros.

    Example:
      >>> keras.backend.get_value(keras.backend.zeros([2]))
      array([0., 0.], dtype=float32)
    """
    return _filled(array_fill.zeros(shape, dtype or floatx()), dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a variable of ones."""
    return _filled(array_fill.ones(shape, dtype or floatx()), dtype, name)


def eye(size: int, dtype: Any = None, name: str | None = None) -> Any:
    """Return a variable of an identity matrix."""
    return variable(array_fill.eye(size, dtype=dtype or floatx()), dtype, name)


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return zeros of the shape of x."""
    return array_fill.zeros_like(x, dtype, name)


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return ones of the shape of x."""
    return array_fill.ones_like(x, dtype, name)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: str = "int32") -> Any:
    """Return the numbers from `start` to below `stop`; from 0 to below `start` without it."""
    if stop is None and start < 0:
        start = 0
    found = _range(start, delta=step) if stop is None else _range(start, stop, step)
    return found if dtype == "int32" else converted(found, dtype)


def one_hot(indices: Any, num_classes: int) -> Any:
    """Return rows that are 1 at each index, and 0 elsewhere."""
    return _one_hot(indices, num_classes)


def random_uniform(
    shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: int | None = None
) -> Any:
    """Return random numbers between two."""
    return draws.random_uniform(shape, minval, maxval, dtype or floatx(), chosen_seed(seed))


def random_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: int | None = None
) -> Any:
    """Return normally distributed random numbers."""
    return draws.random_normal(shape, mean, stddev, dtype or floatx(), chosen_seed(seed))


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: int | None = None
) -> Any:
    """Return normally distributed random numbers, none further than two deviations."""
    return draws.truncated_normal(shape, mean, stddev, dtype or floatx(), chosen_seed(seed))


def random_binomial(shape: Any, p: float = 0.0, dtype: Any = None, seed: int | None = None) -> Any:
    """Return numbers that are 1 with probability p, and 0 otherwise."""
    kind = dtype or floatx()
    drawn: Any = draws.random_uniform(shape, dtype=kind, seed=chosen_seed(seed))
    return where(drawn <= p, array_fill.ones(shape, kind), array_fill.zeros(shape, kind))


def random_uniform_variable(
    shape: Any, low: Any, high: Any, dtype: Any = None, name: str | None = None,
    seed: int | None = None,
) -> Any:  # fmt: skip
    """Return a variable of random numbers between two."""
    chosen = chosen_seed(seed, OF_VARIABLES)
    return variable(random_uniform(shape, low, high, dtype, chosen), dtype, name)


def random_normal_variable(
    shape: Any, mean: Any, scale: Any, dtype: Any = None, name: str | None = None,
    seed: int | None = None,
) -> Any:  # fmt: skip
    """Return a variable of normally distributed random numbers."""
    chosen = chosen_seed(seed, OF_VARIABLES)
    return variable(random_normal(shape, mean, scale, dtype, chosen), dtype, name)


def dropout(x: Any, level: Any, noise_shape: Any = None, seed: int | None = None) -> Any:
    """Return x with a part of its elements, `level`, set to 0, and the others larger."""
    return nn.dropout(x, rate=level, noise_shape=noise_shape, seed=chosen_seed(seed))


# changes


def update(x: Any, new_x: Any) -> Any:
    """Return a variable after it was set."""
    return x.assign(new_x)


def update_add(x: Any, increment: Any) -> Any:
    """Return a variable after something was added."""
    return x.assign_add(increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """Return a variable after something was subtracted."""
    return x.assign_sub(decrement)


def moving_average_update(x: Any, value: Any, momentum: Any) -> Any:
    """Return a variable after it moved towards a value: momentum is the part that stays."""
    return x.assign_sub((x - converted(value, x.dtype)) * (1.0 - momentum))


def stop_gradient(variables: Any) -> Any:
    """Return tensors through which no gradient flows."""
    if isinstance(variables, list | tuple):
        return [identity_group.stop_gradient(each) for each in variables]
    return identity_group.stop_gradient(variables)


def gradients(loss: Any, variables: Any) -> Any:
    """Return the gradients of a loss with respect to variables."""
    return _gradients(loss, variables)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """Return one tensor or another, or functions' results: as a whole, or element by element."""
    if condition.get_shape().ndims == 0:
        if condition.dtype is not dtypes.bool_:
            condition = converted(condition, dtypes.bool_)
        return chosen(condition, _function(then_expression), _function(else_expression))
    one, other = _function(then_expression)(), _function(else_expression)()
    condition = converted(condition, dtypes.bool_)
    missing = one.get_shape().ndims - condition.get_shape().ndims
    for _ in range(missing):
        condition = array_reshape.expand_dims(condition, -1)
    return where(array_fill.zeros_like(one) + converted(condition, one.dtype) > 0, one, other)


def _function(value: Any) -> Any:
    return value if callable(value) else lambda: identity_group.identity(value)


def cast(x: Any, dtype: Any) -> Any:
    """Return x with elements of another type."""
    return converted(x, dtype)


# shapes


def flatten(x: Any) -> Any:
    """Return all elements in one axis."""
    return reshape(x, [-1])


def batch_flatten(x: Any) -> Any:
    """Return x [batch, ...] as [batch, elements]."""
    x = convert_to_tensor(x)
    sizes = x.plain_shape[1:]
    width = -1 if None in sizes else int(np.prod(sizes))
    known: Any = shape(x)
    return reshape(x, [-1, width] if width != -1 else [known[0], -1])


def expand_dims(x: Any, axis: int = -1) -> Any:
    """Return x with an axis more, of size 1."""
    return array_reshape.expand_dims(x, axis)


def squeeze(x: Any, axis: int) -> Any:
    """Return x without an axis of size 1."""
    return array_reshape.squeeze(x, [axis])


def concatenate(tensors: Any, axis: int = -1) -> Any:
    """Return tensors one after the other.

    Example:
      >>> keras.backend.concatenate([zeros([2, 3]), zeros([2, 4])]).shape.as_list()
      [2, 7]
    """
    return concat.concat(tensors, axis)


def stack(x: Any, axis: int = 0) -> Any:
    """Return tensors as one with an axis more."""
    return concat.stack(x, axis)


def permute_dimensions(x: Any, pattern: Any) -> Any:
    """Return x with its axes in another order."""
    return transpose(x, pattern)


def repeat(x: Any, n: int) -> Any:
    """Return x [batch, features] as [batch, n, features]."""
    return tile_roll.tile(array_reshape.expand_dims(x, 1), [1, n, 1])


def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """Return x with each element repeated along an axis."""
    return repeated(x, rep, axis)


def reverse(x: Any, axes: Any) -> Any:
    """Return x with some axes backwards."""
    return tile_roll.reverse(x, [axes] if isinstance(axes, int) else list(axes))


def tile(x: Any, n: Any) -> Any:
    """Return x several times along each axis."""
    return tile_roll.tile(x, [n] if isinstance(n, int) else n)


def gather(reference: Any, indices: Any) -> Any:
    """Return the rows at these indices."""
    return _gather(reference, indices)


def map_fn(fn: Any, elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """Return a function of each row."""
    return functions_map_fn.map_fn(fn, elems, name=name, dtype=dtype)


def foldl(fn: Any, elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """Return what a function of result and row comes to, from the first row to the last."""
    return functions_map_fn.foldl(fn, elems, initializer=initializer, name=name)


def foldr(fn: Any, elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """Return what a function of result and row comes to, from the last row to the first."""
    return functions_map_fn.foldr(fn, elems, initializer=initializer, name=name)
