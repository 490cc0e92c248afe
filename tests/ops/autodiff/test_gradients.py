"""`gradients`: which ops take part, how gradients are summed, named, placed and stopped.

That each rule is the slope of its kernel is tested in `tests/ops/test_every_op.py`. Names of nodes
are those that real TensorFlow 1.15.5 gives.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.ops.evaluate import evaluate
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.constants import constant, placeholder
from tfdist.ops.array.reshape import reshape
from tfdist.ops.autodiff import gradients as gradients_module
from tfdist.ops.autodiff.gradients import IndexedSlices, RegisterGradient, gradients, no_gradient
from tfdist.ops.nn.activations import crelu, leaky_relu, relu, relu6


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    with Graph().as_default() as own:
        yield own


@pytest.fixture
def overrides(monkeypatch):
    """Let a test register gradients that no other test sees."""
    monkeypatch.setattr(gradients_module, "_OVERRIDES", {})


def nodes(graph: Graph, version: int) -> list[str]:
    return [f"{op.name} {op.type}" for op in graph.operations_since(version)]


def test_nodes_are_named_after_the_op_whose_gradient_they_are(graph):
    x, y = constant([2.0, 3.0], name="x"), constant([5.0, 7.0], name="y")
    z = x * y
    before = graph.version
    d_x, d_y = gradients(z, [x, y])
    assert nodes(graph, before) == [
        "gradients/Shape Const", "gradients/grad_ys_0 Const", "gradients/Fill Fill",
        "gradients/mul_grad/Mul Mul", "gradients/mul_grad/Mul_1 Mul",
    ]  # fmt: skip
    np.testing.assert_array_equal(evaluate([d_x, d_y]), [[5, 7], [2, 3]])
    assert gradients(z, x)[0].name == "gradients_1/mul_grad/Mul:0"


def test_several_ways_are_summed_beside_the_first(graph):
    x = constant(3.0, name="x")
    (total,) = gradients(x * x + x, x)
    assert total.name == "gradients/AddN:0"
    assert total.op.get_attr("_class") == [b"loc:@gradients/Fill"]
    assert evaluate(total) == 7.0


def test_several_ys_add_up():
    x = constant(3.0)
    assert evaluate(gradients([x * x, 2.0 * x], x)) == [8.0]


def test_only_ops_between_are_visited():
    """What lies beside the way may lack a gradient."""
    x = constant([1.0, 2.0])
    beside = raw.Cast(raw.Round(constant([0.4, 0.6])), DstT="float32")
    np.testing.assert_array_equal(evaluate(gradients(x * beside, x)[0]), [0, 1])


def test_gradients_for_inputs_that_nobody_asks_for_are_not_made(graph):
    x = constant(3.0)
    z = x**2.0
    before = graph.version
    gradients(z, x)
    assert not [line for line in nodes(graph, before) if "Log" in line]


def test_unconnected_gives_none_or_zeros():
    x, y = constant([1.0, 2.0]), constant(1.0)
    assert gradients(y * y, [x]) == [None]
    zeros = gradients(y * y, x, unconnected_gradients="zero")
    np.testing.assert_array_equal(evaluate(zeros[0]), [0, 0])
    with pytest.raises(ValueError, match="foo"):
        gradients(y, x, unconnected_gradients="foo")


def test_integers_carry_no_gradient():
    x, i = constant(2.5), constant(3)
    through = raw.Cast(raw.Cast(x, DstT="int32"), DstT="float32")
    assert gradients(through * 2.0, x) == [None]
    assert gradients(i * 2, i) == [None]


def test_y_itself():
    x = constant([1.0, 2.0])
    np.testing.assert_array_equal(evaluate(gradients(x, x)[0]), [1, 1])


def test_nested_xs_come_flat():
    x, y = constant(2.0), constant(3.0)
    assert evaluate(gradients(x * y, [x, [y]])) == [3.0, 2.0]


def test_grad_ys_start_the_walk():
    x = constant([2.0, 3.0], name="x")
    start = constant([10.0, 100.0])
    (found,) = gradients(x * x, x, grad_ys=start)
    np.testing.assert_array_equal(evaluate(found), [40, 600])
    assert "gradients/grad_ys_0" in {op.name for op in x.graph.get_operations()}


@pytest.mark.parametrize(
    ("grad_ys", "error"),
    [
        (lambda: [1.0, 2.0], ValueError),
        (lambda: constant([1.0, 1.0, 1.0]), ValueError),
        (lambda: constant([1.0, 1.0], "float64"), TypeError),
    ],
    ids=["too many", "of another shape", "of another type"],
)
def test_unfit_grad_ys_are_refused(grad_ys, error):
    x = constant([2.0, 3.0])
    with pytest.raises(error):
        gradients(x * x, x, grad_ys=grad_ys())


def test_grad_ys_of_another_shape_are_judged_by_the_rules():
    x = constant([[1.0, 2.0], [3.0, 4.0]])
    (found,) = gradients(reshape(x, [4]), x, grad_ys=constant([[1.0, 2.0, 3.0, 4.0]]))
    np.testing.assert_array_equal(evaluate(found), [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="must be equal rank"):
        gradients(x * 2.0, x, grad_ys=constant([[[1.0, 1.0], [1.0, 1.0]]]))


def test_complex_ys_need_a_start():
    x = constant([1 + 2j], np.complex64)
    with pytest.raises(TypeError, match="grad_ys"):
        gradients(x * x, x)
    (found,) = gradients(x * x, x, grad_ys=constant([1 + 0j], np.complex64))
    np.testing.assert_array_equal(evaluate(found), [2 - 4j])


def test_stop_gradients_are_constants():
    x = constant(3.0)
    y = x * x
    assert evaluate(gradients(y * x, [x, y], stop_gradients=[y])) == [9.0, 3.0]


def test_a_way_that_ends_beside_keeps_nothing_waiting():
    """Its first op takes part, as it depends on x, but nothing arrives there."""
    x = constant(3.0)
    squared = x * x
    y = raw.StopGradient(raw.Sin(squared)) + squared
    assert evaluate(gradients(y, x)) == [6.0]


def test_a_missing_gradient_names_the_op_and_a_way_out(graph):
    unknown = OpDef("TestNoGradient(x: float) -> y: float")
    try:
        x = constant(1.0)
        y = unknown(x, name="here")
        with pytest.raises(LookupError, match=r"'here' \(type TestNoGradient\).*stop_gradient"):
            gradients(y, x)
    finally:
        gradients_module.REGISTRY.pop("TestNoGradient")


def test_registered_gradients_are_used(overrides):
    x = constant(2.5)
    y = raw.Round(x)
    assert gradients(y, x) == [None]
    RegisterGradient("Round")(lambda op, d_y: d_y * 3.0)
    assert evaluate(gradients(y, x)) == [3.0]
    with pytest.raises(KeyError, match="Round"):
        RegisterGradient("Round")(lambda op, d_y: d_y)


def test_no_gradient_stops_an_op(overrides):
    no_gradient("Floor")
    x = constant(2.5)
    assert gradients(raw.Floor(x) + x, x)[0].name == "gradients/Fill:0"
    with pytest.raises(KeyError, match="'Square' has a gradient already"):
        no_gradient("Square")


def test_gated_gradients_leave_together(graph):
    x, y = constant(2.0, name="x"), constant(3.0, name="y")
    d_x, d_y = gradients(x * y, [x, y], gate_gradients=True)
    assert d_x.name == "gradients/mul_grad/tuple/control_dependency:0"
    assert d_y.name == "gradients/mul_grad/tuple/control_dependency_1:0"
    (gate,) = d_x.op.control_inputs
    assert (gate.name, gate.type) == ("gradients/mul_grad/tuple/group_deps", "NoOp")
    assert [op.name for op in gate.control_inputs] == [
        "gradients/mul_grad/Mul", "gradients/mul_grad/Mul_1",
    ]  # fmt: skip
    assert d_x.op.get_attr("_class") == [b"loc:@gradients/mul_grad/Mul"]
    assert evaluate([d_x, d_y]) == [3.0, 2.0]


def test_colocated_gradients_stand_beside_their_op():
    x = constant(2.0, name="x")
    z = x * x
    found = gradients(z, x, colocate_gradients_with_ops=True)[0]
    assert [op.get_attr("_class") for op in (found.op, *[t.op for t in found.op.inputs])] == [
        [b"loc:@mul"], [b"loc:@mul"], [b"loc:@mul"],
    ]  # fmt: skip


def test_second_gradients():
    x = constant(2.0)
    (first,) = gradients(x**3.0, x)
    assert evaluate(gradients(first, x)) == [12.0]


def test_broadcast_inputs_of_unknown_shape_get_gradients_of_their_shape():
    x, y = placeholder("float32"), placeholder("float32")
    feeds = {x: np.ones((2, 3), np.float32), y: np.ones((3,), np.float32)}
    d_x, d_y = evaluate(gradients(x * y, [x, y]), feeds)
    assert (d_x.shape, d_y.shape) == ((2, 3), (3,))
    np.testing.assert_array_equal(d_y, [2, 2, 2])


def test_a_gradient_learns_the_shape_of_its_tensor():
    x = placeholder("float32", [None, 3])
    assert gradients(raw.Tile(x, [2, 1]), x)[0].shape.as_list() == [None, 3]


def test_gathered_rows_get_slices():
    table = constant(np.ones((4, 2), np.float32))
    rows = raw.GatherV2(table, [1, 3, 1], 0)
    found = gradients(rows, table)[0]
    assert isinstance(found, IndexedSlices)
    np.testing.assert_array_equal(evaluate(found.indices), [1, 3, 1])
    dense = evaluate(found._as_tensor(False))
    np.testing.assert_array_equal(dense, [[0, 0], [2, 2], [0, 0], [1, 1]])


def test_slices_of_two_gathers_are_joined_and_with_a_tensor_become_dense():
    table = constant(np.ones((4, 2), np.float32))
    both = raw.GatherV2(table, [1], 0) + raw.GatherV2(table, [0], 0)
    joined = gradients(both, table)[0]
    assert sorted(evaluate(joined.indices).tolist()) == [0, 1]
    mixed = gradients([both, table * 2.0], table)[0]
    assert isinstance(mixed, Tensor)
    np.testing.assert_array_equal(evaluate(mixed), [[3, 3], [3, 3], [2, 2], [2, 2]])


def test_of_a_variable_gradients_arrive_at_the_variable_itself(graph):
    from tfdist.ops.variables.variable import Variable

    v = Variable([1.0, 2.0, 3.0], name="v")
    x = constant([4.0, 5.0, 6.0])
    found = gradients(v * x, [v])[0]
    assert found.name == "gradients/mul_grad/Mul:0"
    np.testing.assert_array_equal(evaluate(found), [4, 5, 6])


def test_deep_graphs_need_no_deep_stack():
    x = constant(1.0)
    y = x
    for _ in range(3000):
        y = raw.Neg(y)
    assert evaluate(gradients(y, x)) == [1.0]


@pytest.mark.parametrize("activation", [relu, relu6, leaky_relu, crelu])
def test_the_slope_of_steps_has_a_gradient_of_zeros(activation):
    """As on TensorFlow: the penalty of a slope has a gradient for what it does not depend on."""
    x = constant([[-1.0, 2.0, 7.0]])
    [slope] = gradients(activation(x), x)
    [curvature] = gradients(slope, x)
    assert evaluate(curvature).tolist() == [[0.0, 0.0, 0.0]]
