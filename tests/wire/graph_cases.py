"""Graphs that a master accepts, and that it does not; see `master_cases`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.wire.calls_at import Asker, node, tensor
from tfdist.base.dtypes import DType, float32, int32, string
from tfdist.errors import InvalidArgumentError, NotFoundError, OpError
from tfdist.protos import pb

Case = Callable[[Asker], None]


def constant(name: str, value: Any, dtype: DType = float32) -> Any:
    """Return a Const."""
    return node(name, "Const", dtype=dtype, value=tensor(value, dtype))


def placeholder(name: str, dtype: DType = float32, **attrs: Any) -> Any:
    """Return a Placeholder; without `shape` it takes every shape."""
    return node(name, "Placeholder", dtype=dtype, **attrs)


def identity(name: str, of: str, dtype: DType = float32, **attrs: Any) -> Any:
    """Return an Identity."""
    return node(name, "Identity", of, T=dtype, **attrs)


def variable(name: str) -> Any:
    """Return a scalar variable."""
    return node(name, "VariableV2", dtype=float32, shape=())


X, Y = placeholder("x"), identity("y", "x")
ONE = constant("one", 1.0)
EXTRA = constant("extra", 2.0)


def no_versions(asker: Asker) -> None:
    asker.run(asker.session(ONE), fetch=["one:0"])


def a_newer_producer(asker: Asker) -> None:
    asker.run(asker.session(ONE, producer=100_000), fetch=["one:0"])


def a_newer_consumer_is_wanted(asker: Asker) -> None:
    asker.session(ONE, producer=100_001, min_consumer=100_000)


def defaults_left_out(asker: Asker) -> None:
    asker.session(variable("v"), node("a", "Assign", "v", "one", T=float32), ONE)


def an_attribute_that_nobody_knows(asker: Asker) -> None:
    one = constant("one", 1.0)
    one.attr["debug_name"].s = b"1"
    one.attr["_class_of_mine"].b = True
    asker.run(asker.session(one), fetch=["one:0"])


def an_attribute_is_missing(asker: Asker) -> None:
    asker.session(ONE, node("y", "Identity", "one"))


def an_attribute_of_another_kind(asker: Asker) -> None:
    asker.session(ONE, node("y", "Identity", "one", T=b"float"))


def an_attribute_without_a_type(asker: Asker) -> None:
    y = identity("y", "one")
    y.attr["T"].type = 0
    asker.session(ONE, y)


def an_unknown_op(asker: Asker) -> None:
    asker.session(node("n", "NoSuchOpAnywhere"))


def a_forward_reference(asker: Asker) -> None:
    asker.run(asker.session(identity("y", "one"), ONE), fetch=["y:0"])


def port_0_spelled_out(asker: Asker) -> None:
    asker.run(asker.session(ONE, identity("y", "one:0")), fetch=["y:0"])


def a_port_that_is_not_there(asker: Asker) -> None:
    asker.session(ONE, identity("y", "one:1"))


def an_input_that_is_not_there(asker: Asker) -> None:
    asker.session(identity("y", "nothing"))


def a_control_input_that_is_not_there(asker: Asker) -> None:
    asker.session(node("n", "NoOp", "^nothing"))


def a_control_input_before_a_data_input(asker: Asker) -> None:
    asker.session(ONE, EXTRA, node("y", "Identity", "^extra", "one", T=float32))


def too_few_inputs(asker: Asker) -> None:
    asker.session(ONE, node("y", "Add", "one", T=float32))


def too_many_inputs(asker: Asker) -> None:
    asker.session(ONE, node("y", "Identity", "one", "one", T=float32))


def an_input_of_another_type(asker: Asker) -> None:
    asker.session(ONE, identity("y", "one", int32))


def a_type_that_the_op_does_not_take(asker: Asker) -> None:
    asker.session(constant("s", b"s", string), node("y", "Neg", "s", T=string))


def a_cycle(asker: Asker) -> None:
    asker.session(identity("a", "b"), identity("b", "a"))


def a_node_of_itself(asker: Asker) -> None:
    asker.session(identity("a", "a"))


def a_control_cycle(asker: Asker) -> None:
    asker.session(node("a", "NoOp", "^b"), node("b", "NoOp", "^a"))


def wrong_output_shapes(asker: Asker) -> None:
    one = constant("one", 1.0)
    one.attr["_output_shapes"].list.shape.add().dim.add(size=17)
    asker.run(asker.session(one), fetch=["one:0"])


def a_group_with_nobody(asker: Asker) -> None:
    one = constant("one", 1.0)
    one.attr["_class"].list.s.append(b"loc:@nobody")
    asker.run(asker.session(one), fetch=["one:0"])


def a_group_that_is_none(asker: Asker) -> None:
    one = constant("one", 1.0)
    one.attr["_class"].i = 3
    asker.session(one)


def a_short_device(asker: Asker) -> None:
    one = constant("one", 1.0)
    one.device = "/cpu:0"
    asker.run(asker.session(one), fetch=["one:0"])


def a_device_that_is_not_there(asker: Asker) -> None:
    one = constant("one", 1.0)
    one.device = "/job:nobody/task:3"
    asker.session(one)


def a_node_is_run_whose_device_is_not_there(asker: Asker) -> None:
    one = constant("one", 1.0)
    one.device = "/job:nobody/task:3"
    asker.run(asker.session(one), fetch=["one:0"])


def no_device_name(asker: Asker) -> None:
    one = constant("one", 1.0)
    one.device = "somewhere!"
    asker.session(one)


def an_illegal_name(asker: Asker) -> None:
    asker.session(constant("two words", 1.0))


def no_name(asker: Asker) -> None:
    asker.session(constant("", 1.0))


def a_constant_without_a_value(asker: Asker) -> None:
    asker.session(node("c", "Const", dtype=float32))


def a_constant_of_another_type(asker: Asker) -> None:
    handle = asker.session(node("c", "Const", dtype=int32, value=tensor(1.0, float32)))
    asker.run(handle, fetch=["c:0"])


def a_constant_that_is_no_tensor(asker: Asker) -> None:
    asker.run(asker.session(node("c", "Const", dtype=float32, value=1.0)), fetch=["c:0"])


def a_constant_that_is_short_of_bytes(asker: Asker) -> None:
    value = pb.TensorProto(dtype=1, tensor_content=b"\0\0\0\0")
    value.tensor_shape.dim.add(size=2)
    handle = asker.session(node("c", "Const", dtype=float32, value=value))
    asker.run(handle, fetch=["c:0"])


def a_shape_that_does_not_fit(asker: Asker) -> None:
    asker.session(
        constant("a", [[1.0, 2.0]]),
        constant("b", [[1.0, 2.0]]),
        node("m", "MatMul", "a", "b", T=float32, transpose_a=False, transpose_b=False),
    )


CASES: dict[Case, type[OpError] | None] = {
    no_versions: None,
    a_newer_producer: None,
    a_newer_consumer_is_wanted: InvalidArgumentError,
    defaults_left_out: None,
    an_attribute_that_nobody_knows: None,  # 1.15.5 refuses one without underscore
    an_attribute_is_missing: NotFoundError,
    an_attribute_of_another_kind: InvalidArgumentError,
    an_attribute_without_a_type: InvalidArgumentError,
    an_unknown_op: NotFoundError,
    a_forward_reference: None,
    port_0_spelled_out: None,
    a_port_that_is_not_there: InvalidArgumentError,
    an_input_that_is_not_there: InvalidArgumentError,
    a_control_input_that_is_not_there: InvalidArgumentError,
    a_control_input_before_a_data_input: InvalidArgumentError,
    too_few_inputs: InvalidArgumentError,  # accepted there, until it runs
    too_many_inputs: InvalidArgumentError,
    an_input_of_another_type: InvalidArgumentError,
    a_type_that_the_op_does_not_take: InvalidArgumentError,
    a_cycle: InvalidArgumentError,
    a_node_of_itself: InvalidArgumentError,
    a_control_cycle: InvalidArgumentError,
    wrong_output_shapes: None,
    a_group_with_nobody: None,
    a_group_that_is_none: InvalidArgumentError,  # ignored there
    a_short_device: None,
    a_device_that_is_not_there: None,  # INVALID_ARGUMENT there; here when the node is run
    a_node_is_run_whose_device_is_not_there: InvalidArgumentError,
    no_device_name: InvalidArgumentError,
    an_illegal_name: InvalidArgumentError,
    no_name: InvalidArgumentError,
    a_constant_without_a_value: NotFoundError,  # accepted there, until it runs
    a_constant_of_another_type: InvalidArgumentError,
    a_constant_that_is_no_tensor: InvalidArgumentError,
    a_constant_that_is_short_of_bytes: InvalidArgumentError,
    a_shape_that_does_not_fit: None,  # until it runs
}
