"""`import_graph_def`: nodes of a GraphDef become nodes of the default graph.

Source: TF 1.15 API documentation, tf.import_graph_def.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfdist.base import names
from tfdist.base.aliases import AttrValue, TensorLike
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph import scopes
from tfdist.graph.attr_values import normal_attr
from tfdist.graph.build import add_node
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.function_def import library_from_proto
from tfdist.graph.functions import Library
from tfdist.graph.graph import Graph
from tfdist.graph.graph_def import NEWEST_PRODUCER, PRODUCER, record_from_proto, versions
from tfdist.graph.op_def import REGISTRY, OpDef
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.records import MERGES, NEXT_ITERATIONS, Node
from tfdist.graph.signatures import walk_args
from tfdist.protos import pb

_SHAPES = "_output_shapes"


def import_graph_def(
    graph_def: pb.GraphDef,
    input_map: Mapping[str, TensorLike] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: object = None,
    producer_op_list: pb.OpList | None = None,
) -> list[Tensor | Operation] | None:
    """Add the nodes of a GraphDef to the default graph.

    Args:
      graph_def: a GraphDef, of this package or of real TensorFlow.
      input_map: tensors of the default graph by names of tensors in `graph_def` that they
        replace.
      return_elements: names of operations and tensors in `graph_def` to return.
      name: prefix of the new nodes; "import" by default, "" for none.
      op_dict: taken, and not used, as in TensorFlow.
      producer_op_list: OpList of the ops as the writer of `graph_def` had them: attributes that
        are not known here are left out if they have the value that is their default there.

    Returns:
      The operations and tensors that `return_elements` names, None if it is None.

    Raises:
      ValueError: an input, or a name in `return_elements`, is not there, a node's inputs or
        attributes do not fit its op, or the graph is not for this version.
      NotFoundError: an op is not known here.
    """
    graph_def = _as_graph_def(graph_def)
    _check_versions(graph_def.versions)
    if producer_op_list is not None:
        graph_def = _without_defaults(graph_def, pb.reparse(producer_op_list))
    graph = scopes.get_default_graph()
    _add_functions(graph, graph_def.library)
    with graph.name_scope("import" if name is None else _text(name)) as prefix:
        importer = _Importer(graph, prefix, graph_def, input_map or {})
        for proto in _sorted(graph_def.node, importer.mapped):
            importer.add(proto)
        importer.close_loops()
    graph._versions = _merged(versions(graph), graph_def.versions)
    return None if return_elements is None else list(map(importer.element, return_elements))


def _check_versions(wanted: pb.VersionDef) -> None:
    """Raise ValueError if a graph is for later versions, or for others."""
    if wanted.producer < 0:
        raise ValueError(
            f"GraphDef producer version {wanted.producer} below min producer 0 supported by "
            "tfdist.  Please regenerate your graph."
        )
    if wanted.min_consumer > NEWEST_PRODUCER:
        raise ValueError(
            f"GraphDef min consumer version {wanted.min_consumer} above current version "
            f"{NEWEST_PRODUCER} for tfdist.  Please upgrade."
        )
    for version in {PRODUCER, NEWEST_PRODUCER} & {*wanted.bad_consumers}:
        raise ValueError(
            f"GraphDef disallows consumer version {version}.  Please upgrade: this version is "
            "likely buggy."
        )


def _merged(ours: pb.VersionDef, theirs: pb.VersionDef) -> pb.VersionDef:
    """Return the versions of a graph that got nodes of another one: the stricter ones."""
    return pb.VersionDef(
        producer=min(ours.producer, theirs.producer),
        min_consumer=max(ours.min_consumer, theirs.min_consumer),
        bad_consumers=sorted({*ours.bad_consumers, *theirs.bad_consumers}),
    )


def _without_defaults(graph_def: pb.GraphDef, op_list: pb.OpList) -> pb.GraphDef:
    """Return a GraphDef without the attributes that only its writer knows, if they say nothing."""
    defaults = {
        op.name: {a.name: a.default_value for a in op.attr if a.HasField("default_value")}
        for op in op_list.op
    }
    stripped = pb.GraphDef()
    stripped.CopyFrom(graph_def)
    for proto in stripped.node:
        known = REGISTRY[proto.op].signature.attrs if proto.op in REGISTRY else proto.attr
        there = defaults.get(proto.op, {})
        for key in [key for key in proto.attr if key not in known and key in there]:
            if proto.attr[key] == there[key]:
                del proto.attr[key]
    return stripped


def _text(name: str | bytes) -> str:
    """Return a name as str."""
    return name.decode() if isinstance(name, bytes) else name


def _as_graph_def(given: pb.GraphDef) -> pb.GraphDef:
    if getattr(getattr(given, "DESCRIPTOR", None), "full_name", "") != "tensorflow.GraphDef":
        raise TypeError(f"graph_def must be a GraphDef, not {type(given).__name__}")
    return pb.reparse(given)


def _mapped(graph_def: pb.GraphDef, input_map: Mapping[str, TensorLike]) -> dict[str, Tensor]:
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


def _sorted(protos: Iterable[pb.NodeDef], mapped: Mapping[str, TensorLike]) -> list[pb.NodeDef]:
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


def _needs(
    protos: Mapping[str, pb.NodeDef], name: str, mapped: Mapping[str, TensorLike]
) -> list[str]:
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
        self, graph: Graph, prefix: str, graph_def: pb.GraphDef, input_map: Mapping[str, TensorLike]
    ) -> None:
        self.graph, self.prefix = graph, prefix
        # graphs of later versions have attributes that need not be known
        self.is_strict = graph_def.versions.producer <= PRODUCER
        self.names = {proto.name for proto in graph_def.node}
        self.mapped = _mapped(graph_def, input_map)
        self.made: dict[str, Operation] = {}
        self.rounds: list[tuple[Operation, int, str, int]] = []  # inputs that come round loops

    def close_loops(self) -> None:
        """Let each Merge of a loop take what comes round."""
        for merge, position, name, port in self.rounds:
            merge._update_input(position, self._output(name, port))

    def add(self, proto: pb.NodeDef) -> None:
        """Add the node that `proto` describes."""
        if not names.VALID_NODE.match(proto.name):
            raise ValueError(f"{proto.name!r} is not a valid node name")
        node = _record(proto, self.graph.library)
        inputs = tuple(self._input(node, name, port) for name, port in node.inputs)
        op_def = self.graph.op_def(node.op)
        if self.is_strict:
            _check_known(node, op_def)
        attrs = _checked_attrs(node, op_def)
        _check_inputs(node, op_def, attrs, inputs)
        if "_class" in attrs:
            attrs["_class"] = self._groups(node, attrs["_class"])
        control = [self.made[name] for name in node.control]
        with self.graph.control_dependencies(control), self.graph.device(node.device or ""):
            name = self.graph.unique_name(node.name)
            known = attrs.pop(_SHAPES, None)
            op = add_node(self.graph, op_def, name, inputs, attrs)
        _refine(op, known)
        self.made[proto.name] = op
        for position, (name, port) in enumerate(node.inputs):
            if self._comes_later(name, port):
                self.rounds.append((op, position, name, port))

    def element(self, name: object) -> Operation | Tensor:
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

    def _groups(self, node: Node, groups: TensorLike) -> list[bytes]:
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


def _refine(op: Operation, known: pb.Message) -> None:
    """Add what the writer of a node knew of its shapes; ValueError if that is something else."""
    if not isinstance(known, list) or len(known) != len(op.outputs):
        return
    for output, shape in zip(op.outputs, known, strict=True):
        if not isinstance(shape, TensorShape) or not output.shape.is_compatible_with(shape):
            raise ValueError(
                f"Node {op.name!r} has an {_SHAPES} attribute inconsistent with the GraphDef for "
                f"output #{output.value_index}: {shape} and {output.shape}"
            )
        output.set_shape(shape)


def _add_functions(graph: Graph, proto: pb.FunctionDefLibrary) -> None:
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


def _record(proto: pb.NodeDef, library: Library) -> Node:
    try:
        return record_from_proto(proto, library)
    except NotFoundError as error:
        if proto.op not in REGISTRY and proto.op not in library.functions:
            raise NotFoundError(f"node {proto.name!r}: {error.message}") from None
        raise ValueError(f"node {proto.name!r}: {error.message}") from None


def _check_known(node: Node, op_def: OpDef) -> None:
    """Raise ValueError if a node has an attribute that its op has not."""
    known = op_def.signature.attrs
    for key in node.attrs:
        if key not in known and not key.startswith("_"):
            raise ValueError(
                f"NodeDef mentions attr {key!r} not in Op<name={node.op}>, whose attributes are "
                f"{[*known]}: node {node.name!r} may be of a later version"
            )


def _checked_attrs(node: Node, op_def: OpDef) -> dict[str, AttrValue]:
    """Return the attributes of an imported node; ValueError if one is not allowed."""
    known = op_def.signature.attrs
    try:
        return {
            key: normal_attr(node.op, known[key], value) if key in known else value
            for key, value in node.attrs.items()
        }
    except TypeError as error:
        raise ValueError(f"node {node.name!r}: {error}") from None


def _check_inputs(
    node: Node, op_def: OpDef, attrs: Mapping[str, AttrValue], inputs: Sequence[Tensor]
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
