"""Attributes of nodes that came from elsewhere: each must be there, and of its op's kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.aliases import AttrValue
from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.attr_values import normal_attr
from tfdist.graph.functions import NameAttrList
from tfdist.graph.op_def import lookup
from tfdist.graph.records import Node

# What the value of an attribute of each type is. A user may write a type's name, or a number for a
# tensor, which building takes; a message may not.
_KINDS: dict[str, Any] = {
    "type": DType, "tensor": np.ndarray | np.generic, "string": bytes, "int": int, "float": float,
    "bool": bool, "shape": TensorShape, "func": NameAttrList,
}  # fmt: skip
_SHOWN = 200  # letters of a value


def check_attrs(node: Node) -> None:
    """Check the attributes that a node's op has.

    Raises:
      InvalidArgumentError: one is missing.
      TypeError: one is of another kind, or not among the allowed ones.
      ValueError: one is too small.
    """
    for name, attr in lookup(node.op).signature.attrs.items():
        if name not in node.attrs:
            raise InvalidArgumentError(f"it lacks its attribute {name!r}")
        given = node.attrs[name]
        if not _fits(attr.type, given):
            raise TypeError(f"attribute {name!r} is {_shown(given)}, no {attr.type}")
        normal_attr(node.op, attr, given)


def _fits(kind: str, given: AttrValue) -> bool:
    if kind.startswith("list("):
        inner = kind.removeprefix("list(").rstrip(")")
        return isinstance(given, list) and all([_fits(inner, each) for each in given])
    return isinstance(given, _KINDS[kind]) and (kind == "bool" or not isinstance(given, bool))


def _shown(value: AttrValue) -> str:
    if isinstance(value, NameAttrList):
        return f"the function {value.name!r}"
    if isinstance(value, np.ndarray | np.generic):
        return f"a tensor of {value.dtype}"
    text = str([_shown(each) for each in value]) if isinstance(value, list) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
