"""Parts of GraphDefs: what leads to some nodes, without training, with variables as constants.

Source: TF 1.15 API documentation, tf.graph_util.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation
from tfdist.graph.stacks import DefaultSession
from tfdist.protos import pb
from tfdist.session.frozen import constants_for

__all__ = [
    "convert_variables_to_constants", "extract_sub_graph", "must_run_on_cpu",
    "remove_training_nodes", "tensor_shape_from_node_def_name",
]  # fmt: skip

_LOG = logging.getLogger("tensorflow")
_VARIABLES = ("Variable", "VariableV2")
_HANDLE = "VarHandleOp"
_INT32, _STRING = 3, 7  # DataType
# Ops of which something has to be in the host's memory, and the attribute that tells.
_HOST = {
    "Const": ("dtype", (_INT32, _STRING)),
    "Cast": ("SrcT", (_INT32,)),
    "DynamicStitch": ("T", (_INT32,)),
}


def extract_sub_graph(graph_def: pb.GraphDef, dest_nodes: Sequence[str]) -> pb.GraphDef:
    """Return a GraphDef of the nodes that some nodes need, and those.

    Args:
      graph_def: a GraphDef.
      dest_nodes: list of names of nodes.

    Raises:
      TypeError: `graph_def` is no GraphDef, or `dest_nodes` a single name.
      AssertionError: a node is not there.
    """
    graph_def = _checked(graph_def)
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    protos = {node.name: node for node in graph_def.node}
    waiting, needed = list(dest_nodes), set()
    while waiting:
        name = waiting.pop()
        if name not in protos:
            raise AssertionError(f"{name} is not in graph")
        if name not in needed:
            needed.add(name)
            waiting += map(_node, protos[name].input)
    nodes = [node for node in graph_def.node if node.name in needed]
    return pb.GraphDef(node=nodes, library=graph_def.library, versions=graph_def.versions)


def _checked(graph_def: pb.GraphDef) -> pb.GraphDef:
    if getattr(getattr(graph_def, "DESCRIPTOR", None), "full_name", "") != "tensorflow.GraphDef":
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    return pb.reparse(graph_def)


def _node(text: str) -> str:
    """Return the name of the node that an input names."""
    return text.removeprefix("^").partition(":")[0]


def remove_training_nodes(
    input_graph: pb.GraphDef, protected_nodes: Iterable[str] | None = None
) -> pb.GraphDef:
    """Return a GraphDef without what matters for training only.

    CheckNumerics, and each Identity without dependencies of its own on which none depends: what
    takes their outputs takes their inputs instead.

    Args:
      input_graph: a GraphDef.
      protected_nodes: names of nodes that stay.
    """
    protected = {*(protected_nodes or ())}
    nodes = _without(_checked(input_graph).node, protected, "CheckNumerics", lambda node: True)
    controls = {text[1:] for node in nodes for text in node.input if text.startswith("^")}

    def is_idle(node: pb.NodeDef) -> bool:
        return node.name not in controls and not any(text[0] == "^" for text in node.input)

    return pb.GraphDef(node=_without(nodes, protected, "Identity", is_idle))


def _without(
    nodes: Iterable[pb.NodeDef], protected: set[str], op: str, is_idle: Callable[[pb.NodeDef], bool]
) -> list[pb.NodeDef]:
    """Return the nodes without those of an op, whose inputs stand in their place."""
    nodes = list(nodes)
    gone = {
        node.name: node.input[0]
        for node in nodes
        if node.op == op and node.name not in protected and node.input and is_idle(node)
    }

    def source(text: str) -> str:
        while text.partition(":")[0] in gone:
            text = gone[text.partition(":")[0]]
        return f"^{source(text[1:]).partition(':')[0]}" if text.startswith("^") else text

    kept = []
    for node in nodes:
        if node.name not in gone:
            copy = pb.NodeDef()
            copy.CopyFrom(node)
            copy.input[:] = map(source, node.input)
            kept.append(copy)
    return kept


def convert_variables_to_constants(
    sess: DefaultSession,
    input_graph_def: pb.GraphDef,
    output_node_names: Sequence[str],
    variable_names_whitelist: Iterable[str] | None = None,
    variable_names_blacklist: Iterable[str] | None = None,
) -> pb.GraphDef:
    """Return a GraphDef of what some nodes need, with the variables' present values as constants.

    Args:
      sess: Session that has the values.
      input_graph_def: a GraphDef.
      output_node_names: list of names of nodes.
      variable_names_whitelist: names of the variables to convert; all by default.
      variable_names_blacklist: names of variables that stay.

    Raises:
      AssertionError: a node is not there.
      FailedPreconditionError: a variable has no value.
      ValueError: a node takes the handle of such a variable for more than its value.

    Example:
      >>> v = Variable([1.0, 2.0], name="v")
      >>> total = reduce_sum(v, name="total")
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     frozen = graph_util.convert_variables_to_constants(
      ...         session, session.graph_def, ["total"]
      ...     )
      >>> with Graph().as_default():
      ...     [total] = import_graph_def(frozen, return_elements=["total:0"])
      ...     float(Session().run(total))
      3.0
    """
    graph_def = _checked(input_graph_def)
    part = extract_sub_graph(graph_def, output_node_names)
    stay = {*(variable_names_blacklist or ())}
    variables = {
        node.name: node
        for node in part.node
        if node.op in (*_VARIABLES, _HANDLE)
        and node.name not in stay
        and (variable_names_whitelist is None or node.name in variable_names_whitelist)
    }
    reads = [_read(node, graph_def) for node in variables.values()]
    values = dict(zip(variables, sess.run(reads), strict=True))
    _LOG.info("Froze %d variables.", len(values))
    found = pb.GraphDef(library=part.library)
    for node in constants_for(part.node, values):
        found.node.append(node)
    return found


def _read(variable: pb.NodeDef, graph_def: pb.GraphDef) -> str:
    """Return the name of the tensor that is a variable's value."""
    if variable.op != _HANDLE:
        return f"{variable.name}:0"
    usual = f"{variable.name}/Read/ReadVariableOp"
    names = [node.name for node in graph_def.node
             if node.op == "ReadVariableOp" and _node(node.input[0]) == variable.name]  # fmt: skip
    return f"{usual if usual in names or not names else names[0]}:0"


def must_run_on_cpu(node: pb.NodeDef, pin_variables_on_cpu: bool = False) -> bool:
    """Return whether a node has to be on a CPU: it handles strings, or sizes and positions.

    Args:
      node: an Operation, or a NodeDef.
      pin_variables_on_cpu: whether variables have to be there too.
    """
    if isinstance(node, Operation):
        node = node.node_def
    if getattr(getattr(node, "DESCRIPTOR", None), "full_name", "") != "tensorflow.NodeDef":
        raise AssertionError(f"node must be an Operation or a NodeDef, not {node!r}")
    if node.op in _VARIABLES:
        return pin_variables_on_cpu
    attr, types = _HOST.get(node.op, ("", ()))
    return bool(attr) and node.attr[attr].type in types


def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> TensorShape:
    """Return the shape of a tensor; `input_name` is "NODE:INDEX", or "NODE" for the first."""
    name = input_name if ":" in input_name else f"{input_name}:0"
    return graph.get_tensor_by_name(name).get_shape()
