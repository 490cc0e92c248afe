"""The values of an op's attributes: defaults filled in, brought to their plain form, checked."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.aliases import AttrValue, TensorValue
from tfdist.base.names import snake_case
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.convert import to_array
from tfdist.graph.functions import as_name_attr_list
from tfdist.graph.op_def import OpDef
from tfdist.graph.signatures import Attr, Signature
from tfdist.graph.tensor_proto import make_ndarray


def complete(op_def: OpDef, attrs: dict[str, AttrValue]) -> None:
    """Fill defaults and normalise the values of all attributes, in place."""
    table = op_def.signature.attrs
    for name, attr in table.items():
        if name not in attrs or (attrs[name] is None and attr.has_default):
            if not attr.has_default:
                raise TypeError(
                    f"No argument for attr {name!r} ({attr.type}) of {op_def.name!r} Op"
                )
            attrs[name] = attr.default
        else:
            attrs[name] = normal_attr(op_def.name, attr, attrs[name], op_def.signature)
    if len(attrs) != len(table):
        unknown = [name for name in attrs if name not in table and not name.startswith("_")]
        if unknown:
            raise TypeError(f"{op_def.name} has no attribute {unknown[0]!r}; it has {list(table)}")


def _text(value: AttrValue) -> bytes:
    if not isinstance(value, str | bytes):
        raise TypeError("no text")
    return value.encode() if isinstance(value, str) else value


def _integer(value: AttrValue) -> int:
    if isinstance(value, str | bytes):
        raise TypeError("no number")
    return int(value)


def _array(value: TensorValue) -> TensorValue:
    """Return the array of a TensorProto, as TensorFlow has it here, or of anything else."""
    is_message = hasattr(value, "tensor_content")
    return make_ndarray(value) if is_message else to_array(value)


_NORMAL: dict[str, Any] = {
    "type": lambda value: dtypes.as_dtype(value).base_dtype,
    "shape": TensorShape,
    "string": _text,
    "int": _integer,
    "float": float,
    "bool": bool,
    "tensor": _array,
    "func": as_name_attr_list,
}


def normal_attr(
    op: str, attr: Attr, value: AttrValue, signature: Signature | None = None
) -> AttrValue:
    """Return an attribute's value in its plain form.

    Raises:
      TypeError: it is not of its type, or not of those that are allowed.
      ValueError: it is too small, too short, or no text that is allowed.
    """
    if attr.type.startswith("list("):
        if not isinstance(value, Iterable) or isinstance(value, str | bytes):
            raise TypeError(
                f"Expected list for {attr.name!r} argument to {snake_case(op)!r} Op, not {value!r}."
            )
        value = [_normal(attr.name, attr.type[5:-1], each) for each in value]
    elif attr.type != "tensor" or not isinstance(value, np.ndarray):
        value = _normal(attr.name, attr.type, value)
    _check_attr(op, attr, value, signature)
    return value


def _normal(name: str, kind: str, value: AttrValue) -> AttrValue:
    try:
        return _NORMAL[kind](value)
    except (TypeError, ValueError) as error:
        if kind == "shape":
            raise type(error)(f"Error converting {name} to a TensorShape: {error}.") from None
        named = {"type": "DataType"}.get(kind, kind)
        raise TypeError(f"Expected {named} for argument {name!r} not {value!r}. {error}") from None


def _check_attr(op: str, attr: Attr, value: AttrValue, signature: Signature | None) -> None:
    for each in value if isinstance(value, list) else (value,):
        if attr.allowed and each not in allowed_values(attr.allowed):
            _raise_not_allowed(op, attr, each, signature)
    if attr.minimum is not None:
        size = len(value) if isinstance(value, list) else value
        if size < attr.minimum:
            got = f"list of length {size}" if isinstance(value, list) else f"{size}"
            raise ValueError(
                f"Attr {attr.name!r} of {op!r} Op passed {got} less than minimum {attr.minimum}."
            )


def _raise_not_allowed(op: str, attr: Attr, value: AttrValue, signature: Signature | None) -> None:
    if isinstance(value, bytes):
        choices = ", ".join(f'"{choice.decode()}"' for choice in attr.allowed)
        passed = f"passed string {value.decode()!r} not in: {choices}."
        raise ValueError(f"Attr {attr.name!r} of {op!r} Op {passed}")
    args = signature.inputs if signature else ()
    implied = [arg.name for arg in args if attr.name in (arg.type, arg.type_list)]
    names = ", ".join(choice.name for choice in attr.allowed)
    raise TypeError(
        f"Value passed to parameter {(implied or [attr.name])[0]!r} has DataType {value.name} not "
        f"in list of allowed values: {names}"
    )


@lru_cache(maxsize=256)
def allowed_values(choices: tuple[AttrValue, ...]) -> frozenset[AttrValue]:
    """Return the values that an attribute may have, to be looked up."""
    return frozenset(choices)
