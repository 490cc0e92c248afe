"""Zero-copy graphs: large constants cross as tensors do, without protobuf's copies.

A constant stands deep in a message: in the request a GraphDef, in that a NodeDef, in its map of
attributes an entry, in that an AttrValue with the tensor. A GraphDef goes out as several of them,
which every reader merges: those of small nodes come from protobuf, and each large constant has one
of its own, whose content is the array's memory. On the way in large tensors are cut out of their
nodes, whoever wrote them, and protobuf reads the rest.

Layouts: GraphDef is node=1; NodeDef is name=1, attr=5, whose entries are key=1, value=2; AttrValue
has tensor=8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.base.varints import varint
from tfdist.errors import InvalidArgumentError
from tfdist.graph.function_def import library_to_proto
from tfdist.graph.functions import NO_FUNCTIONS, Library
from tfdist.graph.graph_def import Values, records_to_proto
from tfdist.graph.records import Node
from tfdist.protos import pb
from tfdist.wire.codec.codec import LARGEST_MESSAGE, M, MessagePieces, Writer, flat, parse_message
from tfdist.wire.codec.fields import delimited, fields, tag_of
from tfdist.wire.codec.nodes import node_bytes
from tfdist.wire.codec.tensors import decoded
from tfdist.wire.common.calls import Piece, size

LARGE = 1 << 16  # bytes of a constant; less is left to protobuf
_SHARED = 1 << 24  # bytes of a constant that may keep the whole message; a smaller one is copied

Inner = Callable[[int, int], list[Piece]]

_CONSTANT = "value"  # the attribute of a Const
_NODE, _NAME, _ATTR = 0x0A, 0x0A, 0x2A  # tags in GraphDef; in NodeDef
_KEY, _VALUE, _TENSOR = 0x0A, 0x12, 0x42  # tags in an entry of attributes; in AttrValue


# out


def graph_pieces(
    request: pb.Message, number: int, nodes: Sequence[Node], library: Library = NO_FUNCTIONS
) -> MessagePieces:
    """Return a request with a graph.

    Args:
      request: the message without the graph.
      number: of its field for a GraphDef.
      nodes: of the graph, in the order in which they are sent.
      library: the functions that they call.

    Raises:
      InvalidArgumentError: it is larger than a message can be; the largest constant is named.
    """
    constants = {node.name: _value_bytes(node) for node in nodes}
    _check_size(constants, sum(constants.values()))
    tag = varint(tag_of(number))
    writer = Writer(request.SerializeToString())
    head = records_to_proto(())
    if library.functions:
        head.library.CopyFrom(library_to_proto(library))
    writer.add_bytes(delimited(tag_of(number), head.SerializeToString()))
    for is_large, group in groupby(nodes, _is_large):
        if is_large:
            for node in group:
                opening = partial(_opening, tag, _without_constant(node))
                writer.add(node.name, node.attrs[_CONSTANT], opening)
        else:
            part = b"".join([delimited(_NODE, node_bytes(node)) for node in group])
            writer.add_bytes(delimited(tag_of(number), part))
    pieces = writer.finish()
    _check_size(constants, size(pieces))
    return pieces


def _value_bytes(node: Node) -> int:
    value = node.attrs.get(_CONSTANT)
    if not isinstance(value, np.ndarray):
        return 0
    return value.nbytes if value.dtype != object else sum(map(len, value.reshape(-1).tolist()))


def _check_size(constants: Mapping[str, int], total: int) -> None:
    if total <= LARGEST_MESSAGE:
        return
    largest = max(constants, key=lambda name: constants[name])
    raise InvalidArgumentError(
        f"the graph takes {total} bytes, but a message can have {LARGEST_MESSAGE}; its largest "
        f"constant is {largest!r} with {constants[largest]} bytes. Feed it through a placeholder "
        "into a variable instead, or make it or read it from a file on the task that uses it"
    ).at_node(largest, "")


def _is_large(node: Node) -> bool:
    value = node.attrs.get(_CONSTANT)
    return isinstance(value, np.ndarray) and value.dtype != object and value.nbytes >= LARGE


def _without_constant(node: Node) -> bytes:
    kept = {key: value for key, value in node.attrs.items() if key != _CONSTANT}
    return node_bytes(node._replace(attrs=kept))


def _opening(tag: bytes, node: bytes, length: int) -> bytes:
    """Return what stands before the tensor, of `length` bytes, of a constant.

    Args:
      tag: of the field for a GraphDef.
      node: the rest of the NodeDef.
      length: bytes.
    """
    key = delimited(_KEY, _CONSTANT.encode())
    head = b""
    for before, each in ((b"", _TENSOR), (key, _VALUE), (node, _ATTR), (b"", _NODE)):
        head = before + varint(each) + varint(len(head) + length) + head
    return tag + varint(len(head) + length) + head


# in


def split_graph(message_class: type[M], view: memoryview, number: int) -> tuple[M, Values]:
    """Return a message with a GraphDef, but without large constants, and those.

    Args:
      message_class: of the message.
      view: the message.
      number: of its field for a GraphDef.

    Raises:
      InvalidArgumentError: the message is malformed, or a constant cannot be read; it is named.
    """
    data = flat(view)
    if len(data) < LARGE:
        return parse_message(message_class, data), {}
    cutter = _Cutter(data)
    rest = cutter.rest(0, len(data), tag_of(number), cutter.graph)
    return parse_message(message_class, b"".join(rest)), cutter.found


class _Cutter:
    """Cuts large tensors out of the nodes in a message.

    Attributes:
      found: the tensors, by name of the node and of the attribute.
    """

    def __init__(self, data: memoryview) -> None:
        self.found: dict[str, dict[str, Any]] = {}
        self._data = data

    def rest(self, at: int, end: int, wanted: int, inner: Inner) -> list[Piece]:
        """Return what is left of a message.

        Args:
          at: where it begins.
          end: where it ends.
          wanted: tag of its fields that may hold large tensors.
          inner: gives what is left of such a field's content; nothing if it is cut out.
        """
        pieces: list[Piece] = []
        kept = last = at
        for tag, begin, stop in fields(self._data, at, end):
            if tag == wanted and stop - begin >= LARGE:
                left = inner(begin, stop)
                pieces.append(self._data[kept:last])
                pieces += [varint(tag), varint(size(left)), *left] if left else []
                kept = stop
            last = stop
        return [*pieces, self._data[kept:end]]

    def graph(self, at: int, end: int) -> list[Piece]:
        """Return what is left of a GraphDef."""
        return self.rest(at, end, _NODE, self._node)

    def _node(self, at: int, end: int) -> list[Piece]:
        spans = [(begin, stop) for tag, begin, stop in fields(self._data, at, end) if tag == _NAME]
        name = self._text(*spans[-1]) if spans else ""
        return self.rest(at, end, _ATTR, partial(self._attribute, name))

    def _attribute(self, node: str, at: int, end: int) -> list[Piece]:
        """Return nothing if a node's attribute is a tensor, which is then found; else all of it."""
        parts = {tag: (begin, stop) for tag, begin, stop in fields(self._data, at, end)}
        values = list(fields(self._data, *parts.get(_VALUE, (0, 0))))
        if [tag for tag, _, _ in values] == [_TENSOR] and _KEY in parts:
            tensor = self._tensor(node, *values[0][1:])
            if tensor is not None:
                self.found.setdefault(node, {})[self._text(*parts[_KEY])] = tensor
                return []
        return [self._data[at:end]]

    def _tensor(self, node: str, at: int, end: int) -> TensorValue:
        try:
            value = decoded(self._data, at, end)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"node {node!r}: {error.message}") from None
        if not isinstance(value, np.ndarray):
            return None
        return value if value.base is None or value.nbytes >= _SHARED else value.copy()

    def _text(self, at: int, end: int) -> str:
        return str(self._data[at:end], "utf-8", "replace")
