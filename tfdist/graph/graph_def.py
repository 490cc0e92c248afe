"""Graphs as TensorFlow's GraphDef, and back: the same names, attributes and conventions.

Source: TF 1.15 API documentation, tf.Graph.as_graph_def, tf.import_graph_def.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from tfdist.base import names
from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph import build, scopes, tensor_proto
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.function_def import library_from_proto, library_to_proto
from tfdist.graph.functions import NO_FUNCTIONS, Library
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import REGISTRY, OpDef, Signature, walk_args
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.records import MERGES, NEXT_ITERATIONS, Node, comes_round, record
from tfdist.protos import pb

# What real TensorFlow 1.15 writes; readers of this producer number expect its conventions.
PRODUCER = 134
# The newest one whose graphs were tried here (TensorFlow 2.21).
NEWEST_PRODUCER = 2474


def record_to_proto(node: Node) -> Any:
    """Return the NodeDef of a node record."""
    proto = pb.NodeDef(name=node.name, op=node.op, device=node.device)
    proto.input.extend(name if not port else f"{name}:{port}" for name, port in node.inputs)
    proto.input.extend(f"^{name}" for name in node.control)
    for key, value in tensor_proto.said_attrs(node.op, node.attrs).items():
        proto.attr[key].CopyFrom(tensor_proto.attr_to_proto(value))
    return proto


def records_to_proto(nodes: Iterable[Node]) -> Any:
    """Return the GraphDef of node records."""
    graph_def = pb.GraphDef(node=map(record_to_proto, nodes))
    graph_def.versions.producer = PRODUCER
    return graph_def


def graph_to_proto(graph: Graph, add_shapes: bool = False, from_version: int | None = None) -> Any:
    """Return the GraphDef of the operations made after `from_version`.

    Args:
      graph: the graph.
      add_shapes: whether nodes get the attribute `_output_shapes`.
      from_version: how many of the first operations to leave out.
    """
    graph_def = pb.GraphDef()
    graph_def.versions.producer = PRODUCER
    for op in graph.operations_since(from_version or 0):
        node = graph_def.node.add()
        node.CopyFrom(record_to_proto(record(op)))
        if add_shapes:
            known = [output.shape for output in op.outputs]
            node.attr["_output_shapes"].CopyFrom(tensor_proto.attr_to_proto(known))
    if graph.library.functions:
        graph_def.library.CopyFrom(library_to_proto(graph.library))
    return graph_def


# Messages stay out of the classes themselves: only this file knows them.
Operation.node_def = property(lambda op: record_to_proto(record(op)))  # type: ignore[assignment]
Graph.as_graph_def = graph_to_proto  # type: ignore[method-assign,assignment]


def record_from_proto(proto: Any, library: Library = NO_FUNCTIONS) -> Node:
    """Return the record of a NodeDef, its attributes completed with the op's defaults.

    Args:
      proto: a NodeDef.
      library: functions that its op may be.

    Raises:
      NotFoundError: no such op.
    """
    inputs = [names.split_tensor_name(text) for text in proto.input if not text.startswith("^")]
    control = [text[1:] for text in proto.input if text.startswith("^")]
    attrs = attrs_from_proto(library.signature(proto.op), proto.attr)
    return Node(proto.name, proto.op, tuple(inputs), tuple(control), proto.device, attrs)


def records_from_proto(graph_def: Any, whole: bool = True) -> tuple[Node, ...]:
    """Return the records of a GraphDef's nodes, inputs first.

    Args:
      graph_def: of any order.
      whole: whether all inputs must be in it; else they may be in a graph that it extends.

    Raises:
      NotFoundError: an op is not known here.
      InvalidArgumentError: an input is missing, or a node depends on itself.
    """
    if graph_def.versions.min_consumer > NEWEST_PRODUCER:
        raise InvalidArgumentError(
            f"the graph wants a consumer of version {graph_def.versions.min_consumer} or later; "
            f"this one has version {NEWEST_PRODUCER}"
        )
    library = library_from_proto(graph_def.library)
    nodes = {proto.name: _foreign_record(proto, library) for proto in graph_def.node}
    if len(nodes) != len(graph_def.node):
        raise InvalidArgumentError(f"two nodes have one name: {_first_twice(graph_def.node)!r}")
    needed = {name: {each for each, _ in n.inputs} | {*n.control} for name, n in nodes.items()}
    if whole:
        for name, inputs in needed.items():
            for missing in inputs - nodes.keys():
                raise InvalidArgumentError(f"node {name!r} takes {missing!r}, which is missing")
    for name, node in nodes.items():
        if node.op in MERGES:
            later = {each for each, _ in node.inputs if comes_round(node, nodes.get(each))}
            needed[name] -= later - {*node.control}
    try:
        order = TopologicalSorter(needed).static_order()
        return tuple([nodes[name] for name in order if name in nodes])
    except CycleError as error:
        raise InvalidArgumentError(f"nodes depend on themselves: {error.args[1]}") from None


def _foreign_record(proto: Any, library: Library) -> Node:
    """Return the record of a NodeDef that may be anything."""
    is_control = [text.startswith("^") for text in proto.input]
    if is_control != sorted(is_control):
        raise InvalidArgumentError(
            f"node {proto.name!r} has a control input before a data input: {list(proto.input)}"
        )
    try:
        return record_from_proto(proto, library)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"node {proto.name!r} ({proto.op}): {error}") from None


def _first_twice(protos: Iterable[Any]) -> str:
    [(name, _)] = Counter(str(proto.name) for proto in protos).most_common(1)
    return name


def attrs_from_proto(signature: Signature, protos: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain attributes, completed with defaults; unknown ones are kept as they are.

    Those of a runtime, which begin with "_", say nothing without a value, and are left out then.
    """
    attrs = {key: tensor_proto.attr_from_proto(value) for key, value in protos.items()}
    attrs = {key: each for key, each in attrs.items() if each is not None or key[:1] != "_"}
    for attr in signature.attrs.values():
        if attr.has_default:
            attrs.setdefault(attr.name, attr.default)
        elif attr.name not in attrs:
            raise NotFoundError(f"a node of {signature.name} lacks its attribute {attr.name!r}")
    return attrs


def import_graph_def(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
) -> list[Any] | None:
    """Add the nodes of a GraphDef to the default graph.

    Args:
      graph_def: a GraphDef, of this package or of real TensorFlow.
      input_map: tensors of the default graph by names of tensors in `graph_def` that they
        replace.
      return_elements: names of operations and tensors in `graph_def` to return.
      name: prefix of the new nodes; "import" by default, "" for none.

    Returns:
      The operations and tensors that `return_elements` names, None if it is None.

    Raises:
      ValueError: an input, or a name in `return_elements`, is not there, or a node's inputs do
        not fit its op.
      NotFoundError: an op is not known here.
    """
    graph_def = _as_graph_def(graph_def)
    graph = scopes.get_default_graph()
    _add_functions(graph, graph_def.library)
    with graph.name_scope("import" if name is None else _text(name)) as prefix:
        importer = _Importer(graph, prefix, graph_def, input_map or {})
        for proto in _sorted(graph_def.node, importer.mapped):
            importer.add(proto)
        importer.close_loops()
    return None if return_elements is None else list(map(importer.element, return_elements))


def _text(name: str | bytes) -> str:
    """Return a name as str."""
    return name.decode() if isinstance(name, bytes) else name


def _as_graph_def(given: Any) -> Any:
    if getattr(getattr(given, "DESCRIPTOR", None), "full_name", "") != "tensorflow.GraphDef":
        raise TypeError(f"graph_def must be a GraphDef, not {type(given).__name__}")
    return pb.reparse(given)


def _mapped(graph_def: Any, input_map: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the tensors that replace others, by the names of those; ValueError for idle ones."""
    if not isinstance(input_map, Mapping):
        raise TypeError(f"input_map must be a dict from names to tensors, not {input_map!r}")
    mapped = {_canonical(key): convert_to_tensor(value) for key, value in input_map.items()}
    taken = {_canonical(text) for proto in graph_def.node for text in proto.input}
    idle = sorted(mapped.keys() - taken)
    if idle:
        raise ValueError(f"input_map names {idle}, which no node in the graph_def takes")
    return mapped


def _canonical(name: str) -> str:
    return name if ":" in name or name.startswith("^") else f"{name}:0"


def _sorted(protos: Iterable[Any], mapped: Mapping[str, Any]) -> list[Any]:
    """Return the nodes so that inputs come first, but for what comes round loops.

    Raises:
      ValueError: an input is missing, or a node depends on itself.
    """
    waiting: dict[str, Any] = {}
    for proto in protos:
        if waiting.setdefault(proto.name, proto) is not proto:
            raise ValueError(f"the graph_def has two nodes {proto.name!r}")
    ready: list[Any] = []
    state: dict[str, int] = {}  # 1 while its inputs are visited, 2 once it is in `ready`
    stack = [(name, False) for name in reversed(waiting)]
    while stack:
        name, inputs_done = stack.pop()
        if inputs_done:
            state[name] = 2
            ready.append(waiting[name])
        elif state.get(name, 0) == 0:
            state[name] = 1
            stack.append((name, True))
            stack += [(each, False) for each in _needs(waiting, name, mapped)]
        elif state[name] == 1:
            raise ValueError(f"node {name!r} depends on itself")
    return ready


def _needs(protos: Mapping[str, Any], name: str, mapped: Mapping[str, Any]) -> list[str]:
    needed = []
    for text in protos[name].input:
        if _canonical(text) in mapped:
            continue
        node = text.removeprefix("^").partition(":")[0]
        if node not in protos:
            raise ValueError(f"input {text!r} of node {name!r} is not in the graph_def")
        comes_later = protos[name].op in MERGES and protos[node].op in NEXT_ITERATIONS
        if not comes_later or text.startswith("^"):
            needed.append(node)
    return needed


class _Importer:
    """Makes operations of the nodes of a GraphDef, one after the other."""

    def __init__(
        self, graph: Graph, prefix: str, graph_def: Any, input_map: Mapping[str, Any]
    ) -> None:
        self.graph, self.prefix = graph, prefix
        self.names = {proto.name for proto in graph_def.node}
        self.mapped = _mapped(graph_def, input_map)
        self.made: dict[str, Operation] = {}
        self.rounds: list[tuple[Operation, int, str, int]] = []  # inputs that come round loops

    def close_loops(self) -> None:
        """Let each Merge of a loop take what comes round."""
        for merge, position, name, port in self.rounds:
            merge._update_input(position, self._output(name, port))

    def add(self, proto: Any) -> None:
        """Add the node that `proto` describes."""
        if not names.VALID_NODE.match(proto.name):
            raise ValueError(f"{proto.name!r} is not a valid node name")
        node = _record(proto, self.graph.library)
        inputs = tuple(self._input(node, name, port) for name, port in node.inputs)
        op_def = self.graph.op_def(node.op)
        attrs = _checked_attrs(node, op_def)
        _check_inputs(node, op_def, attrs, inputs)
        if "_class" in attrs:
            attrs["_class"] = self._groups(node, attrs["_class"])
        control = [self.made[name] for name in node.control]
        with self.graph.control_dependencies(control), self.graph.device(node.device or ""):
            name = self.graph.unique_name(node.name)
            op = build.add_node(self.graph, op_def, name, inputs, attrs)
        self.made[proto.name] = op
        for position, (name, port) in enumerate(node.inputs):
            if self._comes_later(name, port):
                self.rounds.append((op, position, name, port))

    def element(self, name: Any) -> Operation | Tensor:
        """Return the operation or tensor that `name` names in the GraphDef."""
        if not isinstance(name, str):
            raise TypeError(f"return_elements holds names, not {name!r}")
        node, port = names.split_tensor_name(name)
        if node not in self.made:
            raise ValueError(f"requested return element {name!r} is not in the graph_def")
        return self._output(node, port) if ":" in name else self.made[node]

    def _input(self, node: Node, name: str, port: int) -> Tensor:
        if self._comes_later(name, port):  # until then, what enters the loop stands there
            first = [each for each in node.inputs if not self._comes_later(*each)]
            if not first:
                raise ValueError(f"nothing enters the loop at node {node.name!r} ({node.op})")
            return self._input(node, *first[0])
        replaced = self.mapped.get(f"{name}:{port}")
        return self._output(name, port) if replaced is None else replaced

    def _comes_later(self, name: str, port: int) -> bool:
        return name not in self.made and f"{name}:{port}" not in self.mapped

    def _output(self, name: str, port: int) -> Tensor:
        outputs = self.made[name].outputs
        if port >= len(outputs):
            raise ValueError(f"{name!r} has {len(outputs)} outputs, but {name}:{port} is asked for")
        return outputs[port]

    def _groups(self, node: Node, groups: Any) -> list[bytes]:
        """Return colocation groups under the names that their nodes are imported by."""
        if not isinstance(groups, list) or any(not isinstance(each, bytes) for each in groups):
            raise TypeError(
                f"node {node.name!r}: attribute '_class' is {groups!r}, no list of strings"
            )
        return [self._group(node, group) for group in groups]

    def _group(self, node: Node, group: bytes) -> bytes:
        if not group.startswith(b"loc:@"):  # no group's name: TensorFlow leaves it as it is
            return group
        other = group.decode().removeprefix("loc:@")
        if other not in self.names:
            raise ValueError(
                f"Node {node.name!r} expects to be colocated with unknown node {other!r}"
            )
        return f"loc:@{self.prefix}{other}".encode()


def _add_functions(graph: Graph, proto: Any) -> None:
    """Let nodes of `graph` call the functions of a FunctionDefLibrary.

    Raises:
      ValueError: one is not well formed, or another function has its name.
    """
    try:
        library = library_from_proto(proto)
    except InvalidArgumentError as error:
        raise ValueError(error.message) from None
    for function in library.functions.values():
        graph.add_function(function, library.gradients.get(function.name))


def _record(proto: Any, library: Library) -> Node:
    try:
        return record_from_proto(proto, library)
    except NotFoundError as error:
        if proto.op not in REGISTRY and proto.op not in library.functions:
            raise
        raise ValueError(error.message) from None


def _checked_attrs(node: Node, op_def: OpDef) -> dict[str, Any]:
    """Return the attributes of an imported node; ValueError if one is not allowed."""
    known = op_def.signature.attrs
    try:
        return {
            key: build.normal_attr(node.op, known[key], value) if key in known else value
            for key, value in node.attrs.items()
        }
    except TypeError as error:
        raise ValueError(f"node {node.name!r}: {error}") from None


def _check_inputs(
    node: Node, op_def: OpDef, attrs: Mapping[str, Any], inputs: Sequence[Tensor]
) -> None:
    wanted = [dtype for _, dtype in walk_args(op_def.signature.inputs, attrs)]
    if len(wanted) != len(inputs):
        raise ValueError(
            f"node {node.name!r} ({node.op}) takes {len(wanted)} inputs, has {len(inputs)}"
        )
    for dtype, tensor in zip(wanted, inputs, strict=True):
        if not dtype.is_compatible_with(tensor.dtype):
            raise ValueError(
                f"node {node.name!r} ({node.op}) takes {dtype.name}, but gets {tensor!r}"
            )
