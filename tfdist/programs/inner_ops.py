"""Names of tensorflow.python.ops, training and layers that are public nowhere else."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.datasets.dataset import Dataset
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import REGISTRY, OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.models.contrib.framework.smart_cond import smart_cond, smart_constant_value
from tfdist.models.rnn.dynamic_rnn import transpose_batch_time
from tfdist.models.rnn.rnn_cell import LayerRNNCell, check_cell, zeros_of
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import ones_like, zeros_like
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import rank, shape, size
from tfdist.ops.convolution.dilated import convolution
from tfdist.ops.random.truncated_normal import parameterized_truncated_normal
from tfdist.ops.variables import convolution_initializers, initializers
from tfdist.ops.variables import matrix_initializers as initializers_matrices
from tfdist.ops.variables.initializers import Initializer
from tfdist.ops.variables.resource_variables import ResourceVariable
from tfdist.ops.variables.variable import Variable
from tfdist.ops.variables.variable_scope import VariableScope, variable_scope
from tfdist.training.events.file_writer import FileWriterCache
from tfdist.training.sessions import evaluation

__all__ = [
    "GATE_GRAPH",
    "GATE_NONE",
    "GATE_OP",
    "USE_DEFAULT",
    "Constant",
    "ConvolutionDeltaOrthogonal",
    "DatasetV1",
    "DatasetV1Adapter",
    "DatasetV2",
    "Identity",
    "Initializer",
    "LayerRNNCell",
    "Ones",
    "Orthogonal",
    "RandomNormal",
    "RandomUniform",
    "SummaryWriterCache",
    "TruncatedNormal",
    "VarianceScaling",
    "Zeros",
    "alias_inplace_add",
    "alias_inplace_sub",
    "alias_inplace_update",
    "assert_like_rnncell",
    "constant_value",
    "conv_output_length",
    "convert_data_format",
    "inplace_add",
    "inplace_sub",
    "inplace_update",
    "normalize_tuple",
    "parameterized_truncated_normal",
    "rank_internal",
    "shape_internal",
    "size_internal",
    "smart_cond",
]  # fmt: skip

# init_ops
Zeros, Ones = initializers.zeros_initializer, initializers.ones_initializer
Constant = initializers.constant_initializer
RandomNormal = initializers.random_normal_initializer
RandomUniform = initializers.random_uniform_initializer
TruncatedNormal = initializers.truncated_normal_initializer
VarianceScaling = initializers.variance_scaling_initializer
Orthogonal = initializers_matrices.orthogonal_initializer
Identity = initializers_matrices.identity_initializer
ConvolutionDeltaOrthogonal = convolution_initializers.ConvolutionDeltaOrthogonal

GlorotNormal = initializers.glorot_normal_initializer
GlorotUniform = initializers.glorot_uniform_initializer
UniformUnitScaling = initializers.uniform_unit_scaling_initializer

# variables, resource_variable_ops
VariableV1 = RefVariable = AbstractVariable = variable = Variable
BaseResourceVariable = ResourceVariable

# array_ops


def zeros_like_impl(tensor: Any, dtype: Any, name: str | None, optimize: bool = True) -> Tensor:
    """Return zeros of a tensor's shape."""
    return zeros_like(tensor, dtype, name, optimize)


def ones_like_impl(tensor: Any, dtype: Any, name: str | None, optimize: bool = True) -> Tensor:
    """Return ones of a tensor's shape."""
    return ones_like(tensor, dtype, name, optimize)


# dataset_ops
DatasetV1 = DatasetV1Adapter = DatasetV2 = Dataset

# rnn_cell_impl
assert_like_rnncell = check_cell
_zero_state_tensors = zeros_of

# rnn
_transpose_batch_time = transpose_batch_time

# evaluation
_StopAfterNEvalsHook = evaluation.StopAfterNEvalsHook
_get_or_create_eval_step = evaluation.get_or_create_eval_step
_evaluate_once = evaluation.evaluate_once

# monitored_session, optimizer
USE_DEFAULT = object()
GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

# summary_io
SummaryWriterCache = FileWriterCache

# layers.utils
constant_value = smart_constant_value


def _like_rnncell(cell: Any) -> bool:
    """Return whether an object has what a recurrent cell has."""
    has = [hasattr(cell, each) for each in ("output_size", "state_size", "zero_state")]
    return all(has) and callable(cell)


# inplace_ops


def alias_inplace_update(x: Any, i: Any, v: Any) -> Tensor:
    """Return `x` with rows `i` set to `v`; all of it if `i` is None, one row if it is a number."""
    return _in_place(raw.InplaceUpdate, x, i, v)


def alias_inplace_add(x: Any, i: Any, v: Any) -> Tensor:
    """Return `x` with `v` added to rows `i`; see `alias_inplace_update`."""
    return _in_place(raw.InplaceAdd, x, i, v)


def alias_inplace_sub(x: Any, i: Any, v: Any) -> Tensor:
    """Return `x` with `v` subtracted from rows `i`; see `alias_inplace_update`."""
    return _in_place(raw.InplaceSub, x, i, v)


inplace_update, inplace_add, inplace_sub = (
    alias_inplace_update, alias_inplace_add, alias_inplace_sub,
)  # fmt: skip


def _in_place(op: Any, x: Any, i: Any, v: Any) -> Any:
    x = convert_to_tensor(x)
    v = convert_to_tensor(v, x.dtype.base_dtype)
    if i is None:
        whole = op(reshape(x, [1, -1]), [0], reshape(v, [1, -1]))
        return reshape(whole, shape(x))
    i = convert_to_tensor(i, dtypes.int32)
    if i.shape.ndims == 0:
        return op(x, reshape(i, [1]), raw.ExpandDims(v, 0))
    return op(x, i, v)


# array_ops


def shape_internal(
    input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32
) -> Tensor:
    """Return the shape of a tensor."""
    return shape(input, name, out_type)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Tensor:
    """Return the number of a tensor's axes."""
    return rank(input, name)


def size_internal(
    input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32
) -> Tensor:
    """Return the number of a tensor's elements."""
    return size(input, name, out_type)


def _concat(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """Return two sizes or shapes, one after the other: a vector, or a list if `static`.

    Raises:
      ValueError: one is not known, and a vector was asked for.
    """
    if static:
        return [*_sizes(prefix), *_sizes(suffix)]
    parts = [each if isinstance(each, Tensor) else _sizes(each) for each in (prefix, suffix)]
    if any(None in part for part in parts if not isinstance(part, Tensor)):
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return concat([raw.Reshape(part, [-1]) for part in parts], 0)


def _sizes(given: Any) -> list[int | None]:
    known = smart_constant_value(given) if isinstance(given, Tensor) else given
    is_shape = isinstance(known, TensorShape) or np.ndim(known) == 1
    return TensorShape(known if is_shape else [known]).as_list()


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """Return `n` integers, which are given as one or as several.

    Raises:
      ValueError: they are not integers, or not so many.
    """
    if isinstance(value, int):
        return (value,) * n
    try:
        numbers = tuple(int(each) for each in value)
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) != n:
        raise ValueError(
            f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
        )
    return numbers


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """Return the length of what a convolution along one axis gives; None if it is not known."""
    if input_length is None:
        return None
    taps = filter_size + (filter_size - 1) * (dilation - 1)
    lengths = {
        "same": input_length,
        "valid": input_length - taps + 1,
        "full": input_length + taps - 1,
    }
    return (lengths[padding] + stride - 1) // stride


def convert_data_format(data_format: str, ndim: int) -> str:
    """Return what nodes call "channels_last" or "channels_first".

    Raises:
      ValueError: there is no such format, or no convolution of that rank.
    """
    formats = {
        "channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"},
        "channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"},
    }
    if ndim not in formats.get(data_format, ()):
        raise ValueError(f"Invalid data_format: {data_format} with {ndim} axes")
    return formats[data_format][ndim]


class _pure_variable_scope(variable_scope):
    """A variable scope that opens no name scope; the arguments are those of `variable_scope`.

    Args:
      old_name_scope: what the scope tells as its `original_name_scope`; its name by default.
    """

    def __init__(
        self,
        name_or_scope: Any,
        reuse: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        old_name_scope: str | None = None,
        dtype: Any = None,
        use_resource: Any = None,
        constraint: Any = None,
    ) -> None:
        super().__init__(
            name_or_scope, None, None, initializer, regularizer, caching_device, partitioner,
            custom_getter, reuse, dtype, use_resource, constraint, auxiliary_name_scope=False,
        )  # fmt: skip
        self._told = old_name_scope

    def __enter__(self) -> VariableScope:
        scope = super().__enter__()
        if not isinstance(self._name_or_scope, VariableScope):
            scope.original_name_scope = self._told or scope.name
        return scope


class Convolution:
    """A convolution whose shapes and steps are known before its inputs are (`nn_ops`).

    Args:
      input_shape: of what it will take.
      filter_shape: of the kernel.
      padding: "SAME" or "VALID".
      strides: of the window, one for each spatial axis; 1 by default.
      dilation_rate: between the window's elements, one for each spatial axis; 1 by default.
      name: of the node.
      data_format: "NHWC", "NCHW" or their relatives; channels come last by default.
    """

    def __init__(
        self, input_shape: Any, filter_shape: Any, padding: str, strides: Any = None,
        dilation_rate: Any = None, name: str | None = None, data_format: str | None = None,
    ) -> None:  # fmt: skip
        self.input_shape, self.filter_shape = input_shape, filter_shape
        self.padding, self.strides, self.dilation_rate = padding, strides, dilation_rate
        self.name, self.data_format = name, data_format

    def __call__(self, inp: Any, filter: Any) -> Tensor:
        """Return the convolution of an input and a kernel."""
        return convolution(
            inp, filter, self.padding, self.strides, self.dilation_rate, self.name,
            self.data_format,
        )  # fmt: skip


class RawNames:
    """Ops by their names in the modules `gen_...`, "max_pool_grad" for MaxPoolGrad.

    Their functions take inputs and attributes by position too: the inputs, then the attributes
    without a default, then those with one, but for those that the inputs imply.
    """

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the function that makes nodes of an op."""
        wanted = name.strip("_").replace("_", "").lower()
        for op in REGISTRY:
            if op.lower() == wanted and not name.startswith("__"):
                return _by_position(getattr(raw, op))
        raise AttributeError(name)


def _by_position(op_def: OpDef) -> Callable[..., Any]:
    """Return an op's function in the form that TensorFlow generates."""
    signature = op_def.signature
    inputs = [arg.name for arg in signature.inputs]
    implied = {each for arg in signature.inputs for each in (arg.type, arg.number, arg.type_list)}
    attrs = [attr for attr in signature.attrs.values() if attr.name not in implied]
    attrs.sort(key=lambda attr: attr.has_default)  # stable: those without a default come first
    names = [*inputs, *(attr.name for attr in attrs), "name"]

    def function(*given: Any, **named: Any) -> Any:
        if len(given) > len(names):
            raise TypeError(f"{op_def.name} takes ({', '.join(names)}), got {len(given)} arguments")
        found = dict(zip(names, given, strict=False))
        twice = sorted(found.keys() & named.keys())
        if twice:
            raise TypeError(f"{op_def.name} got two values of {twice[0]!r}")
        return _named(op_def, op_def(**found, **named))

    function.__name__ = function.__qualname__ = op_def.name
    function.__doc__ = f"Add a node of {op_def.name}, which takes ({', '.join(names)})."
    return function


def _named(op_def: OpDef, result: Any) -> Any:
    """Return several outputs as a named tuple, whose lists are lists."""
    outputs = op_def.signature.outputs
    if len(outputs) < 2:
        return result
    left = iter(result)
    attrs = result[0].op._attrs
    parts = [list(islice(left, arg.count(attrs))) for arg in outputs]
    kind = namedtuple(op_def.name, [arg.name for arg in outputs], rename=True)  # type: ignore[misc]
    return kind(*(
        part if arg.is_list else part[0] for arg, part in zip(outputs, parts, strict=True)
    ))  # fmt: skip
