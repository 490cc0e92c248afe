"""Functions as TensorFlow's messages: FunctionDef and FunctionDefLibrary, and back.

Source: TF 1.15 API, tensorflow/core/framework/function.proto and op_def.proto.
"""

from __future__ import annotations

from collections.abc import Mapping

from tfdist.base import dtypes
from tfdist.base.aliases import AttrValue
from tfdist.errors import InvalidArgumentError
from tfdist.graph.functions import WHOLE, Endpoint, Function, Library
from tfdist.graph.op_def import REGISTRY
from tfdist.graph.records import Node
from tfdist.graph.signatures import Arg, Attr, Signature
from tfdist.graph.tensor_proto import attr_from_proto, attr_to_proto, check_names, said_attrs
from tfdist.protos import pb


def library_from_proto(proto: pb.FunctionDefLibrary) -> Library:
    """Return the functions of a FunctionDefLibrary.

    Raises:
      InvalidArgumentError: a function is not well formed, or has the name of an op.
    """
    functions = [function_from_proto(each) for each in proto.function]
    for function in functions:
        if function.name in REGISTRY:
            raise InvalidArgumentError(
                f"a function cannot have the name {function.name!r}: an op has it"
            )
    return Library(
        {function.name: function for function in functions},
        {each.function_name: each.gradient_func for each in proto.gradient},
    )


def library_to_proto(library: Library) -> pb.FunctionDefLibrary:
    """Return a FunctionDefLibrary."""
    proto = pb.FunctionDefLibrary()
    proto.function.extend(map(function_to_proto, library.functions.values()))
    for name, gradient in library.gradients.items():
        proto.gradient.add(function_name=name, gradient_func=gradient)
    return proto


def function_from_proto(proto: pb.FunctionDef) -> Function:
    """Return the function of a FunctionDef.

    Its nodes may be of ops that are not known here: what is never called need not be.

    Raises:
      InvalidArgumentError: it is not well formed.
    """
    try:
        return Function(
            _signature(proto.signature),
            tuple(map(_node, proto.node_def)),
            {key: _endpoint(text) for key, text in proto.ret.items()},
            dict(proto.control_ret),
            _attrs(proto.attr),
            {index: _attrs(each.attr) for index, each in proto.arg_attr.items()},
        )
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"function {proto.signature.name!r}: {error}") from None


def _signature(proto: pb.OpDef) -> Signature:
    inputs, outputs = tuple(map(_arg, proto.input_arg)), tuple(map(_arg, proto.output_arg))
    attrs = {attr.name: _attr(attr) for attr in proto.attr}
    for arg in (*inputs, *outputs):
        for name in (arg.type, arg.number):
            if name and isinstance(name, str) and name not in attrs:
                raise ValueError(f"argument {arg.name!r} is told by {name!r}, no attribute of it")
    return Signature(proto.name, inputs, outputs, attrs, proto.is_stateful)


def _arg(proto: pb.Message) -> Arg:
    if proto.type_list_attr:
        return Arg(proto.name, proto.type_list_attr, type_list=proto.type_list_attr)
    kind = proto.type_attr or dtypes.as_dtype(proto.type).base_dtype
    return Arg(proto.name, kind, proto.number_attr, proto.is_ref)


def _attr(proto: pb.Message) -> Attr:
    has_default = proto.HasField("default_value")
    default = attr_from_proto(proto.default_value) if has_default else None
    return Attr(proto.name, proto.type, default, has_default)


def _attrs(protos: Mapping[str, pb.AttrValue]) -> dict[str, AttrValue]:
    return {key: attr_from_proto(value) for key, value in protos.items()}


def _node(proto: pb.NodeDef) -> Node:
    inputs = [_endpoint(text) for text in proto.input if not text.startswith("^")]
    control = [text[1:] for text in proto.input if text.startswith("^")]
    attrs = _attrs(proto.attr)
    check_names(attrs)
    if proto.op in REGISTRY:
        for attr in REGISTRY[proto.op].signature.attrs.values():
            if attr.has_default:
                attrs.setdefault(attr.name, attr.default)
    return Node(proto.name, proto.op, tuple(inputs), tuple(control), proto.device, attrs)


def _endpoint(text: str) -> Endpoint:
    """Return what an input says: "x", "x:0", "mul:z" or "mul:z:0"."""
    name, colon, index = text.rpartition(":")
    if colon and index.isdigit():
        return name, int(index)
    return text, WHOLE


def function_to_proto(function: Function) -> pb.FunctionDef:
    """Return the FunctionDef of a function."""
    proto = pb.FunctionDef()
    _fill_signature(proto.signature, function)
    for node in function.nodes:
        made = proto.node_def.add(name=node.name, op=node.op, device=node.device)
        made.input.extend(_text(*endpoint) for endpoint in node.inputs)
        made.input.extend(f"^{name}" for name in node.control)
        _fill(made.attr, said_attrs(node.op, node.attrs))
    for key, endpoint in function.results.items():
        proto.ret[key] = _text(*endpoint)
    proto.control_ret.update(function.control_results)
    _fill(proto.attr, function.attrs)
    for index, attrs in function.argument_attrs.items():
        _fill(proto.arg_attr[index].attr, attrs)
    return proto


def _fill_signature(proto: pb.OpDef, function: Function) -> None:
    signature = function.signature
    proto.name, proto.is_stateful = signature.name, signature.stateful
    for arg in signature.inputs:
        fill_arg(proto.input_arg.add(name=arg.name), arg)
    for arg in signature.outputs:
        fill_arg(proto.output_arg.add(name=arg.name), arg)
    for attr in signature.attrs.values():
        made = proto.attr.add(name=attr.name, type=attr.type)
        if attr.has_default:
            made.default_value.CopyFrom(attr_to_proto(attr.default))
    proto.control_output.extend(function.control_results)


def fill_arg(proto: pb.Message, arg: Arg) -> None:
    """Write an input or output of a signature into an ArgDef."""
    proto.is_ref = arg.is_ref
    proto.number_attr, proto.type_list_attr = arg.number, arg.type_list
    if not isinstance(arg.type, str):
        proto.type = arg.type.as_datatype_enum
    elif not arg.type_list:
        proto.type_attr = arg.type


def _fill(protos: Mapping[str, pb.AttrValue], attrs: Mapping[str, AttrValue]) -> None:
    for key, value in attrs.items():
        protos[key].CopyFrom(attr_to_proto(value))


def _text(name: str, index: int) -> str:
    return name if index == WHOLE else f"{name}:{index}"
