"""Nodes as the bytes of their NodeDefs, written by hand.

The graph of a hundred workers has thousands of nodes, which go to the master, and on to the tasks,
before the first step: to fill a proto for each takes longer than to plan them. What nodes say in
their attributes are few things, said again and again, so that each is made into bytes once.

Layout: NodeDef is name=1, op=2, input=3, device=4, attr=5, whose entries are key=1, value=2.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from tfdist.base.aliases import AttrValue
from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.records import Node
from tfdist.graph.tensor_proto import attr_to_proto, said_attrs
from tfdist.wire.codec.fields import delimited

_NAME, _OP, _INPUT, _DEVICE, _ATTR = 0x0A, 0x12, 0x1A, 0x22, 0x2A  # tags in NodeDef
_KEY, _VALUE = 0x0A, 0x12  # in an entry of its attributes
_SMALL = 64  # bytes of a constant, or a text, that is kept
_MOST_KEPT = 4096  # attributes
_NUMBERS = "biufc"  # kinds of elements whose bytes say all

_kept: dict[tuple[str, Hashable], bytes] = {}


def node_bytes(node: Node) -> bytes:
    """Return the NodeDef of a node record, as `graph.graph_def.record_to_proto` has it."""
    parts = [_text(_NAME, node.name), _text(_OP, node.op)]
    parts += [_text(_INPUT, f"{name}:{port}" if port else name) for name, port in node.inputs]
    parts += [_text(_INPUT, f"^{name}") for name in node.control]
    parts.append(_text(_DEVICE, node.device))
    parts += [_attribute(key, value) for key, value in said_attrs(node.op, node.attrs).items()]
    return b"".join(parts)


def _text(tag: int, text: str) -> bytes:
    """Return a field with a text; nothing if there is none, as protobuf does."""
    content = text.encode()
    if len(content) < 128:
        return bytes((tag, len(content))) + content if content else b""
    return delimited(tag, content)


def _attribute(key: str, value: AttrValue) -> bytes:
    mark = _mark_of(value)
    if mark is None:
        return _entry(key, value)
    found = _kept.get((key, mark))
    if found is None:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        found = _kept[key, mark] = _entry(key, value)
    return found


def _mark_of(value: AttrValue) -> Hashable:
    """Return what only equal values of an attribute have in common; None if that takes long."""
    kind = type(value)
    if kind in (bool, int, DType):
        return kind, value
    if kind is TensorShape:
        return kind, value.as_tuple()
    if kind is bytes and len(value) <= _SMALL:
        return kind, value
    if kind is np.ndarray and value.nbytes <= _SMALL and value.dtype.kind in _NUMBERS:
        return value.dtype, value.shape, value.tobytes()
    return None


def _entry(key: str, value: AttrValue) -> bytes:
    content = attr_to_proto(value).SerializeToString()
    return delimited(_ATTR, delimited(_KEY, key.encode()) + delimited(_VALUE, content))
