"""Functions and nodes as text, for tables of what inlining makes of them.

A function and its body, with inputs spelled as in a FunctionDef:

    f(x, y) -> (m:z:0, x)
      c = Const()
      m = Mul(x, c:output:0, ^y) on /job:ps

A node of a graph: `call = f(a, b:1, ^c) on /job:ps`. All tensors are float32 unless an argument
says otherwise (`p: bool`); the attributes of an op follow from its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

import tfdist as tf
from tfdist.graph.functions import WHOLE, Function, Library, NameAttrList
from tfdist.graph.op_def import lookup
from tfdist.graph.records import Node
from tfdist.graph.signatures import Arg, Signature

FLOAT = tf.float32
_NODE = re.compile(r"(\S+) = ([\w:,>]+)\((.*?)\)(?: on (\S+))?$")
_HEAD = re.compile(r"(\w+)\((.*?)\) -> \((.*?)\)(?: then (\S+))?$")

# Attributes that do not have defaults, by op.
ATTRS: dict[str, dict[str, Any]] = {
    "Const": {"value": np.float32(1.0), "dtype": FLOAT},
    "Print": {"U": []},
    "Enter": {"frame_name": b"loop"},
    "Merge": {"N": 2},
    "VariableV2": {"dtype": FLOAT, "shape": tf.TensorShape([])},
    "Placeholder": {"dtype": FLOAT},
    "Bool": {"dtype": tf.bool},
    "Int": {"dtype": tf.int32},
    "Target": {"value": np.array(b"/job:far", object), "dtype": tf.string},
}

# What stands for the ops that are made up here.
STAND_FOR = {"Bool": "Placeholder", "Int": "Placeholder", "Target": "Const"}


def library(text: str, **gradients: str) -> Library:
    """Return the functions that `text` spells, separated by empty lines."""
    functions = [function(each) for each in re.split(r"\n\s*\n", text.strip()) if each]
    return Library({each.name: each for each in functions}, gradients)


def function(text: str) -> Function:
    """Return a function."""
    head, *lines = [line.strip() for line in text.strip().splitlines()]
    match = _HEAD.match(head)
    assert match, head
    name, arguments, results, then = match.groups()
    nodes = [node(line) for line in lines]
    ends = [endpoint(each) for each in words(results)]
    kinds = {each.name: tf.bool for each in nodes if each.op == "Less"}
    kinds |= {each.name: each.type for each in map(argument, words(arguments))}
    outputs = tuple(
        [Arg(f"r{i}", kinds.get(name.partition(":")[0], FLOAT)) for i, (name, _) in enumerate(ends)]
    )
    inputs = tuple([argument(each) for each in words(arguments)])
    return Function(
        Signature(name, inputs, outputs, {}, False),
        tuple([each._replace(inputs=in_body(each)) for each in nodes]),
        {f"r{i}": end for i, end in enumerate(ends)},
        {then: then} if then else {},
    )


def words(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def argument(text: str) -> Arg:
    name, _, kind = text.partition(": ")
    return Arg(name, tf.as_dtype(kind) if kind else FLOAT)


def endpoint(text: str) -> tuple[str, int]:
    """Return an input as bodies spell it; `n:z:0` is output z of node n."""
    name, colon, index = text.rpartition(":")
    return (name, int(index)) if colon and index.isdigit() else (text, WHOLE)


def in_body(node: Node) -> tuple[tuple[str, int], ...]:
    """Return inputs that were read as those of a graph as those of a body."""
    return tuple([endpoint(text) for text, _ in node.inputs])


def node(text: str) -> Node:
    """Return a node; its inputs keep their text, which `nodes` or `function` reads."""
    match = _NODE.match(text.strip())
    assert match, text
    name, op, inputs, device = match.groups()
    op, _, called = op.partition(":")
    data = [each for each in words(inputs) if not each.startswith("^")]
    control = [each[1:] for each in words(inputs) if each.startswith("^")]
    attrs = attributes(op, called, len(data))
    op = STAND_FOR.get(op, op)
    return Node(name, op, tuple([(each, 0) for each in data]), tuple(control), device or "", attrs)


def attributes(op: str, called: str, count: int) -> dict[str, Any]:
    """Return attributes of a node; `called` names functions, after a ">" how many results."""
    names, _, results = called.partition(">")
    functions = [NameAttrList(each) for each in names.split(",") if each]
    outputs = [FLOAT] * int(results or 1)
    match op:
        case "PartitionedCall" | "StatefulPartitionedCall" | "SymbolicGradient":
            return {"f": functions[0], "Tin": [FLOAT] * count, "Tout": outputs} | defaults(op)
        case "RemoteCall":
            return {"f": functions[0], "Tin": [FLOAT] * (count - 1), "Tout": outputs}
        case "If" | "StatelessIf":
            branches = dict(zip(("then_branch", "else_branch"), functions, strict=True))
            own = {"Tcond": tf.bool, "Tin": [FLOAT] * (count - 1), "Tout": outputs}
            return branches | own | defaults(op) | {"_lower_using_switch_merge": True}
        case "Case":
            own = {"branches": functions, "Tin": [FLOAT] * (count - 1), "Tout": outputs}
            return own | defaults(op)
        case "While" | "StatelessWhile":
            own = {"cond": functions[0], "body": functions[1], "T": [FLOAT] * count}
            return own | defaults(op) | {"_lower_using_switch_merge": True}
    given = ATTRS.get(op, {})
    return {"T": FLOAT} | defaults(STAND_FOR.get(op, op)) | given


def defaults(op: str) -> dict[str, Any]:
    """Return the defaults of an op's attributes; none for a function."""
    try:
        attrs = lookup(op).signature.attrs.values()
    except tf.errors.NotFoundError:
        return {}
    return {attr.name: attr.default for attr in attrs if attr.has_default}


def nodes(text: str) -> list[Node]:
    """Return the nodes of a graph."""
    found = [node(line) for line in text.strip().splitlines() if line.strip()]
    return [each._replace(inputs=tuple([of_graph(t) for t, _ in each.inputs])) for each in found]


def of_graph(text: str) -> tuple[str, int]:
    name, _, port = text.partition(":")
    return name, int(port or 0)


def lines(found: Iterable[Node]) -> list[str]:
    """Return nodes as text."""
    return [line(each) for each in found]


def line(node: Node) -> str:
    inputs = [f"{name}:{port}" if port else name for name, port in node.inputs]
    inputs += [f"^{name}" for name in node.control]
    group = node.attrs.get("_class")
    beside = f" beside {group[0].decode()[5:]}" if group else ""
    where = f" on {node.device}" if node.device else ""
    return f"{node.name} = {node.op}({', '.join(inputs)}){where}{beside}"
