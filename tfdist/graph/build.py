"""`build`: a call of an op becomes a node of the default graph.

The way of a node: find the graph; settle the types of its inputs, turning Python values into
constants named after the input (`add/y`); fill and check the attributes (`attr_values`); run the
shape rule (`shape_inference`); take name, device, dependencies and colocation from the scopes
around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tfdist.base import dtypes
from tfdist.base.aliases import AttrValue, TensorLike, TensorValue
from tfdist.base.dtypes import DType
from tfdist.base.names import VALID_NODE, snake_case
from tfdist.graph import scopes
from tfdist.graph.attr_values import allowed_values, complete
from tfdist.graph.convert import convert_to_tensor, to_array
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.shape_inference import infer_shapes
from tfdist.graph.signatures import Arg, Attr, Signature, walk_args


def build(
    op_def: OpDef, values: Sequence[TensorLike], attrs: dict[str, AttrValue], name: str | None
) -> TensorLike:
    """Add a node of `op_def` to the default graph (or to the graph of its inputs).

    Args:
      op_def: what the node computes.
      values: one value per input of the signature: a tensor, anything that converts to one, or
        a list of such for list inputs.
      attrs: attributes that the inputs do not imply, the others take their defaults; also values
        of inputs, by name.
      name: of the node, made unique; by default the op's name.

    Returns:
      The output tensor; a named tuple of tensors for several outputs, a flat list where one of
      them is a list; the Operation if there are no outputs.

    Raises:
      TypeError: an input or attribute has the wrong type, or is missing.
      ValueError: the inputs' shapes do not fit, or the inputs are of several graphs.
    """
    signature = op_def.signature
    if len(values) != len(signature.inputs):  # as `tf.raw_ops` takes them
        missing = signature.inputs[len(values) :]
        values = [*values, *(attrs.pop(arg.name) for arg in missing if arg.name in attrs)]
    if len(values) != len(signature.inputs):
        wanted = ", ".join(arg.name for arg in signature.inputs)
        raise TypeError(f"{op_def.name} takes inputs ({wanted}), got {len(values)} of them")
    graph = _graph_of(values)
    name = _node_name(graph, name or op_def.name)
    found = dict(attrs)
    inputs = _inputs(graph, name, signature, values, found)
    complete(op_def, found)
    if any(arg.is_ref for arg in signature.inputs):
        variables = _variables(signature, found, inputs)
        with graph._set(_colocation=graph._colocation + variables, _device_scopes=(None,)):
            return _result(add_node(graph, op_def, name, inputs, found), signature)
    return _result(add_node(graph, op_def, name, inputs, found), signature)


def _variables(
    signature: Signature, attrs: Mapping[str, AttrValue], inputs: tuple[Tensor, ...]
) -> tuple[Operation, ...]:
    """Return the operations of the inputs that stand for variables themselves."""
    pairs = zip(walk_args(signature.inputs, attrs), inputs, strict=True)
    return tuple(tensor.op for (arg, _), tensor in pairs if arg.is_ref)


def add_node(
    graph: Graph, op_def: OpDef, name: str, inputs: tuple[Tensor, ...], attrs: dict[str, AttrValue]
) -> Operation:
    """Append a node with complete attributes and a final name; the scopes around it apply."""
    if graph.outer is not None:
        inputs = graph.captured(name, op_def, inputs)
    control = graph.control_inputs_for(inputs)
    if graph._context is not None:
        inputs, control = graph._context.adopt(name, inputs, control)
    if op_def.name in graph._gradient_types:
        attrs["_gradient_op_type"] = graph._gradient_types[op_def.name].encode()
    if op_def.name in graph._kernel_labels:
        attrs["_kernel"] = graph._kernel_labels[op_def.name].encode()
    op = Operation(graph, name, op_def, inputs, attrs, control, "")
    op._context = graph._context
    output_shapes = infer_shapes(op)
    output_types = [dtype for _, dtype in walk_args(op_def.signature.outputs, attrs)]
    op.outputs = tuple(
        Tensor(op, index, dtype, shape)
        for index, (dtype, shape) in enumerate(zip(output_types, output_shapes, strict=True))
    )
    graph.apply_device_scopes(op)
    if graph._colocation:
        _colocate(op, graph._colocation)
    if graph._container and "container" in attrs and not attrs["container"]:
        attrs["container"] = graph._container.encode()
    graph.add(op)
    for tensor in inputs:
        tensor._consumers.append(op)
    return op


def _graph_of(values: Sequence[TensorLike]) -> Graph:
    default = scopes.get_default_graph()
    if default.outer is not None:  # what is of a graph outside is captured
        return default
    for value in values:
        for each in value if isinstance(value, list | tuple) else (value,):
            graph = getattr(each, "graph", None)
            if isinstance(graph, Graph) and graph is not default:
                return _only_graph(values, graph)
    return default


def _only_graph(values: Sequence[TensorLike], graph: Graph) -> Graph:
    """Return `graph`, the graph of some input, if all inputs that have one agree."""
    for value in values:
        for each in value if isinstance(value, list | tuple) else (value,):
            other = getattr(each, "graph", graph)
            if isinstance(other, Graph) and other is not graph:
                raise ValueError(f"{each!r} must be from the same graph as the other inputs")
    return graph


def _node_name(graph: Graph, name: str) -> str:
    # with "/" at its end it is a scope that was opened for this very node
    final = name[:-1] if name.endswith("/") else graph.unique_name(name)
    if not VALID_NODE.match(final):
        raise ValueError(
            f"{final!r} is not a valid scope name, or node name: it begins with a letter, digit or "
            "dot, and goes on with these and _ - / \\ >"
        )
    return final


def _inputs(
    graph: Graph,
    name: str,
    signature: Signature,
    values: Sequence[TensorLike],
    attrs: dict[str, AttrValue],
) -> tuple[Tensor, ...]:
    """Return the input tensors, flat; adds the attributes that they imply to `attrs`."""
    settled = list(values)
    for position, arg in enumerate(signature.inputs):
        _imply(arg, values[position], attrs, signature)
    for position, arg in enumerate(signature.inputs):
        settled[position] = _convert(graph, name, arg, values[position], attrs, signature)
    flat: list[Tensor] = []
    for arg, value in zip(signature.inputs, settled, strict=True):
        flat += value if arg.is_list else (value,)
    _check_types(signature, attrs, flat)
    return tuple(flat)


def _imply(arg: Arg, value: TensorLike, attrs: dict[str, AttrValue], signature: Signature) -> None:
    """Take the type that tensors at `arg` have, before Python values are converted to it."""
    if arg.is_list and not isinstance(value, list | tuple):
        raise TypeError(
            f"Expected list for {arg.name!r} argument to {snake_case(signature.name)!r} Op, "
            f"not {value!r}."
        )
    if arg.number:
        _check_length(arg, len(value), attrs.setdefault(arg.number, len(value)), signature)
    if isinstance(arg.type, str) and not arg.type_list and arg.type not in attrs:
        for each in value if arg.number else (value,):
            if hasattr(each, "_as_tensor"):
                attrs[arg.type] = each.dtype.base_dtype
                return


def _check_length(arg: Arg, length: int, wanted: int, signature: Signature) -> None:
    minimum = signature.attrs[arg.number].minimum or 0
    said = f"List argument {arg.name!r} to {signature.name!r} Op with length {length}"
    if length < minimum:
        raise ValueError(f"{said} shorter than minimum length {minimum}.")
    if length != wanted:
        raise ValueError(f"{said} must match length {wanted} of the other lists.")


def _convert(
    graph: Graph,
    name: str,
    arg: Arg,
    value: TensorLike,
    attrs: dict[str, AttrValue],
    signature: Signature,
) -> TensorLike:
    if arg.type_list:
        wanted = attrs.get(arg.type_list) or [None] * len(value)
        if len(wanted) != len(value):
            raise TypeError(
                f"input {arg.name!r} of {signature.name} takes {len(wanted)} tensors, as "
                f"{arg.type_list!r} has types, got {len(value)}"
            )
        tensors = [
            _one(graph, name, signature.name, f"{arg.name}_{i}", each, dtype, False)
            for i, (each, dtype) in enumerate(zip(value, wanted, strict=True))
        ]
        attrs[arg.type_list] = [tensor.dtype.base_dtype for tensor in tensors]
        return tensors
    if not arg.number:
        wanted, hint = _wanted(arg, attrs, signature)
        if hint is not None and isinstance(value, np.ndarray | np.generic):
            value = _taken(value, signature.attrs[str(arg.type)], hint)
        tensor = _one(graph, name, signature.name, arg.name, value, wanted, arg.is_ref, hint)
        if isinstance(arg.type, str):
            attrs.setdefault(arg.type, tensor.dtype.base_dtype)
        return tensor
    tensors = []
    for position, each in enumerate(value):
        wanted, hint = _wanted(arg, attrs, signature)
        part = f"{arg.name}_{position}"
        try:
            tensors.append(_one(graph, name, signature.name, part, each, wanted, arg.is_ref, hint))
        except TypeError:
            _raise_list_types(arg, value, wanted, signature)
            raise
        if isinstance(arg.type, str):
            attrs.setdefault(arg.type, tensors[-1].dtype.base_dtype)
    return tensors


def _wanted(
    arg: Arg, attrs: Mapping[str, AttrValue], signature: Signature
) -> tuple[DType | None, DType | None]:
    """Return the type that an input must have, and that of Python values if there is none."""
    if not isinstance(arg.type, str):
        return arg.type, None
    if arg.type in attrs:
        return dtypes.as_dtype(attrs[arg.type]), None
    return None, signature.attrs[arg.type].default


def _taken(value: TensorValue, attr: Attr, default: DType) -> TensorValue:
    """Return an array in a type that an input takes: the default one, as NumPy casts."""
    if not attr.allowed or value.dtype.kind not in "biuf":
        return value
    own = dtypes.as_dtype(value.dtype)
    return value if own in allowed_values(attr.allowed) else value.astype(default.as_numpy_dtype)


def _one(
    graph: Graph,
    node: str,
    op: str,
    arg: str,
    value: TensorLike,
    dtype: DType | None,
    as_ref: bool,
    hint: DType | None = None,
) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "_as_tensor"):
        return _as_input(graph, node, value, as_ref)
    if as_ref:
        raise TypeError(
            f"{op!r} Op requires that input {arg!r} be a mutable tensor (e.g.: a tf.Variable), not "
            f"{value!r}"
        )
    if isinstance(value, np.ndarray | np.generic):
        hint = None  # it has a type of its own
    try:
        with graph._set(_name_stack=node):
            if scopes.get_default_graph() is graph:
                return convert_to_tensor(value, dtype, arg, hint)
            with graph.as_default():
                return convert_to_tensor(value, dtype, arg, hint)
    except TypeError as error:
        if dtype is None:
            raise
        raise TypeError(
            f"Expected {dtype.name} passed to parameter {arg!r} of op {op!r}, got {value!r} of "
            f"type {type(value).__name__!r} instead. Error: {error}"
        ) from None
    except ValueError as error:
        raise ValueError(
            f"Tried to convert {arg!r} to a tensor and failed. Error: {error}"
        ) from None


def _as_input(graph: Graph, node: str, value: TensorLike, as_ref: bool) -> Tensor:
    """Return the tensor of a variable; one that has to be read first is, in the node's scope."""
    if not hasattr(value, "_as_operation"):
        return value._as_tensor(as_ref)  # type: ignore[no-any-return]
    with graph._set(_name_stack=node), graph.as_default():
        return value._as_tensor(as_ref)  # type: ignore[no-any-return]


def _check_types(
    signature: Signature, attrs: Mapping[str, AttrValue], tensors: list[Tensor]
) -> None:
    expected = list(walk_args(signature.inputs, attrs))
    for (arg, dtype), tensor in zip(expected, tensors, strict=True):
        if tensor.dtype is not dtype and not dtype.is_compatible_with(tensor.dtype):
            own = [each for (other, _), each in zip(expected, tensors, strict=True) if other is arg]
            _raise_type(signature, arg, dtype, tensor, own)


def _raise_list_types(
    arg: Arg, values: TensorLike, wanted: DType | None, signature: Signature
) -> None:
    """Raise TypeError about the types of a list's values, if each has one."""
    try:
        types = [_type_of(each) for each in values]
    except (TypeError, ValueError):
        return
    names = ", ".join(dtype.base_dtype.name for dtype in types)
    said = f"Tensors in list passed to {arg.name!r} of {signature.name!r} Op have types [{names}]"
    if isinstance(arg.type, DType):
        raise TypeError(f"{said} that do not match expected type {arg.type.name}.")
    if len(set(types)) == 1 and wanted is not None:
        raise TypeError(
            f"{said} that do not match type {wanted.name} inferred from earlier arguments."
        )
    raise TypeError(f"{said} that don't all match.")


def _type_of(value: TensorLike) -> DType:
    return value.dtype if hasattr(value, "dtype") else dtypes.as_dtype(to_array(value).dtype)


def _raise_type(
    signature: Signature, arg: Arg, dtype: DType, tensor: Tensor, tensors: list[Tensor]
) -> None:
    if arg.is_ref and not tensor.dtype.is_ref:
        raise TypeError(
            f"{signature.name!r} Op requires that input {arg.name!r} be a mutable tensor (e.g.: a "
            f"tf.Variable), not {tensor!r}"
        )
    if arg.number:
        _raise_list_types(arg, tensors, dtype, signature)
    got, wanted = tensor.dtype.base_dtype.name, dtype.base_dtype.name
    others = [a.name for a in signature.inputs if a.type == arg.type and a is not arg]
    if isinstance(arg.type, DType):
        reason = f"that does not match expected type of {wanted}"
    else:
        reason = f"that does not match type {wanted} of argument {(others or [arg.type])[0]!r}"
    raise TypeError(
        f"Input {arg.name!r} of {signature.name!r} Op has type {got} {reason}. tf.cast converts "
        f"{tensor!r}"
    )


def _colocate(op: Operation, groups: tuple[Operation, ...]) -> None:
    wanted = dict.fromkeys(group for other in groups for group in other.colocation_groups())
    for other in groups:
        if other.device:
            op._set_device(other.device)
    op._set_attr("_class", sorted(wanted))


def _result(op: Operation, signature: Signature) -> TensorLike:
    if not signature.outputs:
        return op
    if op.op_def.has_one_output:
        return op.outputs[0]
    return op.op_def.outputs(*op.outputs)
