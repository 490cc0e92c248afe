"""Python's operators on tensors: the nodes they make, and what they refuse.

The nodes are those that real TensorFlow 1.15.5 makes of the same expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfdist as tf
from tests.ops.evaluate import evaluate
from tfdist.errors import InvalidArgumentError
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.constants import constant
from tfdist.ops.math.operators import OPERATORS


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    with Graph().as_default() as own:
        yield own


def operands() -> dict[str, Any]:
    """Return the operands: floats, integers, bools, strings."""
    return {
        "x": constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], name="x"),
        "y": constant([1.0, 2.0, 4.0], name="y"),
        "i": constant([7, -3], name="i"),
        "b": constant([True, False], name="b"),
        "s": constant(["a", "b"], name="s"),
        "c": constant([3 + 4j], np.complex64, name="c"),
    }


# expression -> the nodes it adds, as "name type", and its value
NODES = {
    "x + y": ("add AddV2", [[2, 4, 7], [5, 7, 10]]),
    "x + 1": ("add/y Const, add AddV2", [[2, 3, 4], [5, 6, 7]]),
    "2.0 + y": ("add/x Const, add AddV2", [3, 4, 6]),
    "x - y": ("sub Sub", [[0, 0, -1], [3, 3, 2]]),
    "2.0 - y": ("sub/x Const, sub Sub", [1, 0, -2]),
    "x * y": ("mul Mul", [[1, 4, 12], [4, 10, 24]]),
    "y / y": ("truediv RealDiv", [1, 1, 1]),
    "1 / y": ("truediv/x Const, truediv RealDiv", [1, 0.5, 0.25]),
    "i / 2": ("truediv/y Const, truediv/Cast Cast, truediv/Cast_1 Cast, truediv RealDiv",
              [3.5, -1.5]),
    "i // 2": ("floordiv/y Const, floordiv FloorDiv", [3, -2]),
    "i % 2": ("mod/y Const, mod FloorMod", [1, 1]),
    "y ** 2": ("pow/y Const, pow Pow", [1, 4, 16]),
    "2 ** y": ("pow/x Const, pow Pow", [2, 4, 16]),
    "x @ y[:, None]": (None, [[17], [38]]),
    "-y": ("Neg Neg", [-1, -2, -4]),
    "abs(i)": ("Abs Abs", [7, 3]),
    "abs(c)": ("Abs ComplexAbs", [5]),
    "b & True": ("and/y Const, and LogicalAnd", [True, False]),
    "b | b": ("or LogicalOr", [True, False]),
    "b ^ b": ("xor/LogicalOr LogicalOr, xor/LogicalAnd LogicalAnd, "
              "xor/LogicalNot LogicalNot, xor LogicalAnd", [False, False]),
    "~b": ("LogicalNot LogicalNot", [False, True]),
    "y < 2": ("Less/y Const, Less Less", [True, False, False]),
    "y <= 2": ("LessEqual/y Const, LessEqual LessEqual", [True, True, False]),
    "2 < y": ("Greater/y Const, Greater Greater", [False, False, True]),
    "y >= 2": ("GreaterEqual/y Const, GreaterEqual GreaterEqual", [False, True, True]),
    "s + 'c'": ("add/y Const, add Add", [b"ac", b"bc"]),
    "np.array([1., 2., 3.]) - y": ("sub/x Const, sub Sub", [0, 0, -1]),
    "np.float32(2) * y": ("mul/x Const, mul Mul", [2, 4, 8]),
}  # fmt: skip


@pytest.mark.parametrize("expression", NODES)
def test_operator_makes_the_nodes_of_tensorflow(expression, graph):
    names = operands()
    before = graph.version
    result = eval(expression, {"np": np}, names)
    nodes, value = NODES[expression]
    if nodes is not None:
        found = [f"{op.name} {op.type}" for op in graph.operations_since(before)]
        assert ", ".join(found) == nodes
    np.testing.assert_array_equal(evaluate(result), np.array(value, result.dtype.as_numpy_dtype))


@pytest.mark.parametrize(
    "expression",
    ["i + 1.5", "i + y[:2]", "x + 'a'", "'a' + x", "b + b", "i & i", "y < 'a'", "s * s", "x @ i"],
)
def test_operator_refuses_other_types(expression):
    with pytest.raises((TypeError, ValueError)):
        eval(expression, {}, operands())


def test_equality_is_identity():
    x = constant(1.0)
    same = x
    assert x == same
    assert x != constant(1.0)
    assert len({x, same}) == 1


def test_every_operator_is_set_on_tensors():
    for name, function in OPERATORS.items():
        assert getattr(Tensor, name) is function


@pytest.mark.parametrize("expression", ["i // 0", "i % 0"])
def test_integer_division_by_zero_is_an_error(expression):
    result = eval(expression, {}, operands())
    with pytest.raises(InvalidArgumentError, match="division by zero"):
        evaluate(result)


def test_float_division_by_zero_is_infinite():
    y = constant([1.0, 0.0]) / constant([0.0, 0.0])
    np.testing.assert_array_equal(evaluate(y), [np.inf, np.nan])


def test_an_object_with_a_tensor_takes_part():
    """A Variable stands for its value wherever a tensor is expected."""

    class Variable:
        dtype = constant(2.0).dtype

        def _as_tensor(self, as_ref: bool) -> Tensor:
            return value

    value = raw.Identity(constant(2.0))
    assert evaluate(constant(3.0) * Variable()) == 6.0
    assert evaluate(OPERATORS["__rsub__"](Variable(), 1.0)) == -1.0


@pytest.mark.parametrize(
    ("use_resource", "names"),
    [
        (False, ["Rank", "range/start", "range/delta", "range", "Mean"]),
        (True, ["Rank/ReadVariableOp", "Rank", "range/start", "range/delta", "range",
                "Mean/ReadVariableOp", "Mean"]),
    ],
)  # fmt: skip
def test_a_variable_is_reduced_by_tensorflows_nodes(use_resource, names, graph):
    """The seeds of the random ops after it count them."""
    variable = tf.get_variable("v", [3], use_resource=use_resource)
    version = graph.version
    mean = tf.reduce_mean(variable)
    assert mean.shape == ()
    assert [op.name for op in graph.operations_since(version)] == names


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: [1.0, 2.0], ["Rank/Const", "Rank"]),
        (lambda: np.array([[1.0, 2.0]]), ["Rank/Const", "Rank"]),
        (lambda: [constant(1.0), 2.0], ["Const", "Rank/packed/1", "Rank/packed", "Rank"]),
    ],
    ids=["a list", "an array", "a list with a tensor"],
)
def test_what_is_no_tensor_is_reduced_by_tensorflows_nodes(make, names, graph):
    total = tf.reduce_prod(make())
    found = [op.name for op in graph.get_operations()]
    assert found[: len(names)] == names
    assert found[len(names) : len(names) + 3] == ["range/start", "range/delta", "range"]
    assert (total.shape, evaluate(total)) == ((), 2.0)
