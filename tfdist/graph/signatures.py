"""Signatures of ops: TensorFlow's own text on one line, and its parts.

    BiasAdd(value: T, bias: T) -> output: T [T: type {numeric}; data_format: string = 'NHWC']

Inputs and outputs are `Arg`s, attributes `Attr`s with a type, a default and what is allowed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.base.aliases import AttrValue
from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape

_INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
_FLOATS = "float16 bfloat16 float32 float64"

# Sets of types that signatures name in braces.
TYPE_SETS = {
    "floating": _FLOATS,
    "real": f"{_FLOATS} {_INTEGERS}",
    "inexact": f"{_FLOATS} complex64 complex128",
    "numeric": f"{_FLOATS} {_INTEGERS} complex64 complex128",
    "integer": _INTEGERS,
    "index": "int32 int64",
    "complex": "complex64 complex128",
    "quantized": "qint8 quint8 qint32 qint16 quint16",
}


class Arg(NamedTuple):
    """One input or output: `name: T`, `name: N*T`, `name: Ref(T)`, `name: Tlist`, `name: float`."""

    name: str
    type: DType | str  # a fixed type, or the attribute that holds it
    number: str = ""  # the attribute that holds the length of a homogeneous list
    is_ref: bool = False
    type_list: str = ""  # the attribute that holds the types of a heterogeneous list

    @property
    def is_list(self) -> bool:
        """Return whether this takes a list of tensors."""
        return bool(self.number or self.type_list)

    def dtypes(self, attrs: Mapping[str, AttrValue]) -> list[DType]:
        """Return the types of the tensors that stand here in a node with `attrs`."""
        if self.type_list:
            return list(attrs[self.type_list])
        dtype: DType = attrs[self.type] if isinstance(self.type, str) else self.type
        return [dtype.as_ref if self.is_ref else dtype] * self.count(attrs)

    def count(self, attrs: Mapping[str, AttrValue]) -> int:
        """Return how many tensors stand here in a node with `attrs`."""
        if self.type_list:
            return len(attrs[self.type_list])
        return attrs[self.number] if self.number else 1


class Attr(NamedTuple):
    """One attribute: `name: type = default {allowed} >=minimum`."""

    name: str
    type: str
    default: AttrValue = None
    has_default: bool = False
    allowed: tuple[AttrValue, ...] = ()
    minimum: int | None = None


class Signature(NamedTuple):
    """A parsed signature."""

    name: str
    inputs: tuple[Arg, ...]
    outputs: tuple[Arg, ...]
    attrs: dict[str, Attr]
    stateful: bool


def walk_args(args: tuple[Arg, ...], attrs: Mapping[str, AttrValue]) -> Iterator[tuple[Arg, DType]]:
    """Yield for each tensor that stands at `args` in a node with `attrs` its arg and type."""
    for arg in args:
        for dtype in arg.dtypes(attrs):
            yield arg, dtype


_SIGNATURE = re.compile(r"(\w+)\((.*?)\) -> (?:\(\)|(.*?))(?: \[(.*)\])?( !)?$", re.S)
_ATTR = re.compile(r"(\w+): ([\w()]+)(?: = ([^{>]+?))?(?: \{(.*?)\})?(?: >=(\d+))?$", re.S)


def parse_signature(text: str) -> Signature:
    """Return the parts of a signature; ValueError if it has not the form shown above."""
    match = _SIGNATURE.match(" ".join(text.split()))
    if not match:
        raise ValueError(f"not a signature: {text!r}")
    name, inputs, outputs, attrs, stateful = match.groups()
    table = {attr.name: attr for attr in map(_attr, filter(None, (attrs or "").split("; ")))}
    return Signature(name, _args(inputs, table), _args(outputs, table), table, bool(stateful))


def _args(text: str | None, attrs: Mapping[str, Attr]) -> tuple[Arg, ...]:
    pairs = (part.split(": ") for part in text.split(", ")) if text else ()
    return tuple(_arg(name, kind, attrs) for name, kind in pairs)


def _arg(name: str, kind: str, attrs: Mapping[str, Attr]) -> Arg:
    number, _, kind = kind.rpartition("*")
    is_ref = kind.startswith("Ref(")
    kind = kind[4:-1] if is_ref else kind
    if kind in attrs and attrs[kind].type == "list(type)":
        return Arg(name, kind, type_list=kind)
    return Arg(name, kind if kind in attrs else dtypes.as_dtype(kind), number, is_ref)


def _attr(text: str) -> Attr:
    match = _ATTR.match(text)
    if not match:
        raise ValueError(f"not an attribute: {text!r}")
    name, kind, default, allowed, minimum = match.groups()
    value = _value(kind, default.strip()) if default else None
    choices = _choices(kind, allowed) if allowed else ()
    return Attr(name, kind, value, bool(default), choices, int(minimum) if minimum else None)


def _value(kind: str, text: str) -> AttrValue:
    """Return a default as attributes have it; types stand there without quotes."""
    if kind == "type":
        return dtypes.as_dtype(text)
    if kind == "list(type)":
        return [dtypes.as_dtype(name) for name in text.strip("[]").split(",") if name]
    value = ast.literal_eval(text)
    if kind.startswith("list("):
        return [_plain(kind[5:-1], each) for each in value]
    return _plain(kind, value)


def _plain(kind: str, value: AttrValue) -> AttrValue:
    if kind == "tensor":  # a list is of a colour's numbers
        return np.array(value, np.uint8 if isinstance(value, list) else np.int32)
    if kind == "string":
        return value.encode()
    return TensorShape(value) if kind == "shape" else value


def _choices(kind: str, text: str) -> tuple[AttrValue, ...]:
    if kind in ("type", "list(type)"):
        names = " ".join(TYPE_SETS.get(part, part) for part in text.split(","))
        return tuple(map(dtypes.as_dtype, names.split()))
    return tuple(part.strip("' ").encode() for part in text.split(","))
