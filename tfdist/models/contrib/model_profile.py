"""How many parameters and float operations a graph has, by scopes: `tf.profiler.profile`.

Source: TF 1.15 API documentation, tf.profiler and tf.contrib.tfprof; numbers by experiment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.ops.variables.collections import GraphKeys

__all__ = ["GraphNodeProto", "ProfileOptionBuilder", "print_model_analysis", "profile"]

_VARIABLES = "_trainable_variables"


@dataclass
class GraphNodeProto:
    """An operation, or a scope, with what it has itself and what all below it have."""

    name: str
    parameters: int = 0
    float_ops: int = 0
    total_parameters: int = 0
    total_float_ops: int = 0
    shape: str = ""
    children: list[GraphNodeProto] = field(default_factory=list)


class ProfileOptionBuilder:
    """Options of `profile`, made step by step.

    Args:
      options: where it begins; all operations' float operations by default.

    Example:
      >>> options = profiler.ProfileOptionBuilder.float_operation()
      >>> builder = profiler.ProfileOptionBuilder(options).with_empty_output()
      >>> builder.build()["output"]
      'none'
    """

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self._options = dict(self.float_operation() if options is None else options)

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """Return the options that count the parameters of the trainable variables."""
        return _options([_VARIABLES], "name", "params", min_float_ops=0)

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """Return the options that count float operations."""
        return _options([".*"], "float_ops", "float_ops", min_float_ops=1)

    def build(self) -> dict[str, Any]:
        """Return the options."""
        return dict(self._options)

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Return itself, which prints nothing then."""
        return self._with(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Return itself, which prints then."""
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Return itself, which writes into a file then."""
        return self._with(output=f"file:outfile={outfile}")

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Return itself, which shows this many levels at most then."""
        return self._with(max_depth=max_depth)

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Return itself, which shows what has so many parameters then."""
        return self._with(min_params=min_params)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Return itself, which shows what has so many float operations then."""
        return self._with(min_float_ops=min_float_ops)

    def with_node_names(
        self,
        start_name_regexes: Any = None,
        show_name_regexes: Any = None,
        hide_name_regexes: Any = None,
        trim_name_regexes: Any = None,
    ) -> ProfileOptionBuilder:
        """Return itself, which shows the names that match `show_...` and not `hide_...` then."""
        del start_name_regexes, trim_name_regexes
        if show_name_regexes is not None:
            self._with(show_name_regexes=list(show_name_regexes))
        return self._with(hide_name_regexes=list(hide_name_regexes or ()))

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Return itself, which sorts by "name", "params" or "float_ops" then."""
        return self._with(order_by=attribute)

    def select(self, attributes: Any) -> ProfileOptionBuilder:
        """Return itself, which shows "params", "float_ops" or both then."""
        return self._with(select=list(attributes))

    def _with(self, **changes: Any) -> ProfileOptionBuilder:
        self._options.update(changes)
        return self


def _options(kinds: list[str], order: str, shown: str, min_float_ops: int) -> dict[str, Any]:
    return {
        "max_depth": 10000, "min_bytes": 0, "min_micros": 0, "min_params": 0,
        "min_float_ops": min_float_ops, "order_by": order, "account_type_regexes": kinds,
        "start_name_regexes": [".*"], "trim_name_regexes": [], "show_name_regexes": [".*"],
        "hide_name_regexes": [], "account_displayed_op_only": True, "select": [shown],
        "output": "stdout", "dump_to_file": "",
    }  # fmt: skip


def profile(
    graph: Graph | None = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: Mapping[str, Any] | None = None,
) -> GraphNodeProto:
    """Return what a graph has, scope by scope, and print it unless the options say otherwise.

    Args:
      graph: the default graph by default.
      run_meta: taken and not needed: times are told by `%timeline` and `Timeline`.
      op_log: taken and not needed.
      cmd: "scope" or "graph"; "op" and "code" give the same sums.
      options: of a `ProfileOptionBuilder`; float operations by default.

    Returns:
      the root, `_TFProfRoot`: `total_parameters`, `total_float_ops` and `children`. Operations of
      shapes that are not known do not count.

    Raises:
      ValueError: there is no such command.

    Example:
      >>> y = layers.dense(zeros([2, 3]), 4)
      >>> builder = profiler.ProfileOptionBuilder
      >>> options = builder(builder.trainable_variables_parameter()).with_empty_output().build()
      >>> profiler.profile(y.graph, options=options).total_parameters
      16
    """
    if cmd not in ("scope", "graph", "op", "code"):
        raise ValueError(f"unknown command {cmd!r}: scope, graph, op or code is wanted")
    chosen = {**ProfileOptionBuilder.float_operation(), **(options or {})}
    found = _tree(graph or scopes.get_default_graph(), chosen)
    output = chosen["output"]
    if output.startswith("file:outfile="):
        with open(output.partition("=")[2], "w", encoding="utf-8") as file:
            file.write(_report(found, chosen))
    elif output != "none":
        print(_report(found, chosen))
    return found


def print_model_analysis(
    graph: Graph,
    run_meta: Any = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Mapping[str, Any] | None = None,
) -> GraphNodeProto:
    """Return and print what a graph has: `profile` by its first name, in contrib.tfprof.

    Example:
      >>> analyzer = contrib.tfprof.model_analyzer
      >>> y = layers.dense(zeros([2, 3]), 4)
      >>> options = {**analyzer.FLOAT_OPS_OPTIONS, "output": "none"}
      >>> analyzer.print_model_analysis(y.graph, tfprof_options=options).total_float_ops >= 48
      True
    """
    return profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)


def _tree(graph: Graph, options: Mapping[str, Any]) -> GraphNodeProto:
    """Return the root, with the nodes that the options ask for."""
    trainable = {v.op.name: v for v in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    nodes: dict[str, GraphNodeProto] = {}
    for op in graph.get_operations():
        kinds = [op.type] + [_VARIABLES] * (op.name in trainable)
        asked = options["account_type_regexes"]
        if any(re.fullmatch(each, kind) for each in asked for kind in kinds):
            node = nodes[op.name] = GraphNodeProto(op.name, float_ops=float_ops(op))
            if op.name in trainable:
                _count(node, trainable[op.name].shape)
    for name in list(nodes):
        parts = name.split("/")
        for end in range(1, len(parts)):
            scope = "/".join(parts[:end])
            nodes.setdefault(scope, GraphNodeProto(scope))
    root = GraphNodeProto("_TFProfRoot")
    shown = {name: node for name, node in nodes.items() if _is_shown(node, options)}
    for name in sorted(shown):
        _parent(name, shown, root).children.append(shown[name])
    _sum(root, options["order_by"])
    return root


def _count(node: GraphNodeProto, shape: Any) -> None:
    """Write down the parameters of a variable."""
    sizes = shape.as_list() if shape.is_fully_defined() else []
    node.parameters, node.shape = prod(sizes), "x".join(map(str, sizes)) or "1"


def _is_shown(node: GraphNodeProto, options: Mapping[str, Any]) -> bool:
    return (
        node.float_ops >= options["min_float_ops"]
        and node.parameters >= options["min_params"]
        and node.name.count("/") < options["max_depth"]
        and any(re.fullmatch(each, node.name) for each in options["show_name_regexes"])
        and not any(re.fullmatch(each, node.name) for each in options["hide_name_regexes"])
    )


def _parent(name: str, shown: Mapping[str, GraphNodeProto], root: GraphNodeProto) -> GraphNodeProto:
    """Return the nearest scope of a name that is shown."""
    while "/" in name:
        name = name.rpartition("/")[0]
        if name in shown:
            return shown[name]
    return root


def _sum(node: GraphNodeProto, order: str) -> None:
    """Add up what is below a node, and sort its children."""
    for child in node.children:
        _sum(child, order)
    node.total_parameters = node.parameters + sum(c.total_parameters for c in node.children)
    node.total_float_ops = node.float_ops + sum(c.total_float_ops for c in node.children)
    if order == "params":
        node.children.sort(key=lambda child: -child.total_parameters)
    elif order == "float_ops":
        node.children.sort(key=lambda child: -child.total_float_ops)


def _report(root: GraphNodeProto, options: Mapping[str, Any]) -> str:
    """Return the tree as text."""
    heads = {"params": "# parameters", "float_ops": "# float_ops"}
    lines = ["", "==================Model Analysis Report======================", "", "Profile:"]
    lines.append(" | ".join(["node name", *(heads.get(each, each) for each in options["select"])]))
    lines += _lines(root, options["select"], 0)
    return "\n".join([*lines, "", "======================End of Report=========================="])


def _lines(node: GraphNodeProto, select: list[str], depth: int) -> list[str]:
    told = []
    if "params" in select:
        own = _short(node.parameters) if node.shape else "--"
        told += [node.shape] if node.shape else []
        told.append(f"{own}/{_short(node.total_parameters)} params")
    if "float_ops" in select:
        own = _short(node.float_ops) if depth else "--"
        told.append(f"{own}/{_short(node.total_float_ops)} flops")
    line = f"{'  ' * depth}{node.name} ({', '.join(told)})"
    return [line, *(each for child in node.children for each in _lines(child, select, depth + 1))]


def _short(number: float) -> str:
    for unit, letter in ((1e9, "b"), (1e6, "m"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:.2f}{letter}"
    return str(int(number))


# Op -> float operations for each element of its output.
_EACH = dict.fromkeys(
    """Add AssignAdd AssignSub BiasAdd Equal Greater GreaterEqual Less LessEqual Log Maximum Minimum
    Mul Neg NotEqual Pow RealDiv Reciprocal Square Sub""".split(), 1
) | {"Rsqrt": 2, "SquaredDifference": 2, "RsqrtGrad": 4, "Softmax": 5}  # fmt: skip
_REDUCTIONS = ("ArgMax", "ArgMin", "BiasAddGrad", "Sum")


def float_ops(op: Any) -> int:
    """Return how many float operations an operation does; 0 for those that are not counted.

    Example:
      >>> x = ones([2, 3])
      >>> float_ops(matmul(x, x, transpose_b=True).op)
      24
    """
    kind = _PARTICULAR.get(op.type)
    if op.type not in _EACH and op.type not in _REDUCTIONS and kind is None:
        return 0
    shapes = [tensor.plain_shape for tensor in (op.outputs[0], *op.inputs)]
    if any(shape is None or None in shape for shape in shapes):
        return 0
    out, *inputs = shapes
    if op.type in _EACH:
        return _EACH[op.type] * prod(out)
    if op.type in _REDUCTIONS:
        return prod(inputs[0]) - prod(out)
    assert kind is not None
    return int(kind(op, out, inputs))


def _window(op: Any) -> int:
    return prod(op.get_attr("ksize"))


def _matmul(op: Any, out: Any, inputs: Any) -> int:
    return 2 * prod(out) * inputs[0][0 if op.get_attr("transpose_a") else 1]


def _convolution(op: Any, out: Any, inputs: Any) -> int:
    return 2 * prod(out) * prod(inputs[1][:-1])


def _by_channel(op: Any, out: Any, inputs: Any) -> int:
    return 2 * prod(out) * prod(inputs[1][:2])


def _backward(images: Any, kernel: Any, op: Any) -> int:
    return 2 * prod(images) * prod(kernel[:2]) * kernel[3] // prod(op.get_attr("strides"))


_PARTICULAR: dict[str, Callable[[Any, Any, Any], int]] = {
    "AddN": lambda op, out, inputs: prod(out) * (len(inputs) - 1),
    "AvgPool": lambda op, out, inputs: prod(out) * _window(op),
    "AvgPoolGrad": lambda op, out, inputs: 2 * prod(inputs[1]) * _window(op),
    "Conv2D": _convolution,
    "Conv2DBackpropFilter": lambda op, out, inputs: _backward(inputs[0], out, op),
    "Conv2DBackpropInput": lambda op, out, inputs: _backward(out, inputs[1], op),
    "Conv3D": _convolution,
    "DepthwiseConv2dNative": _by_channel,
    "Dilation2D": _by_channel,
    "L2Loss": lambda op, out, inputs: 3 * prod(inputs[0]) - 1,
    "MatMul": _matmul,
    "MaxPool": lambda op, out, inputs: prod(out) * _window(op),
    "MaxPoolGrad": lambda op, out, inputs: prod(inputs[1]) * (_window(op) + 1),
    "Mean": lambda op, out, inputs: prod(inputs[0]),
}
