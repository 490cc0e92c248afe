"""What the fuzzer found, each in its least form: a message, and what it must be answered."""

from __future__ import annotations

import pytest

import tfdist as tf
from tests.wire.calls_at import Asker, calls_at, node, tensor
from tests.wire.graph_cases import ONE, X, Y, constant, identity
from tests.wire.worker_cases import Task
from tfdist.base.dtypes import float32, int32
from tfdist.errors import InvalidArgumentError, OpError
from tfdist.protos import pb

TWO_TO_THE_40 = 2**40


def a_type_that_is_far_beyond_all(asker: Asker) -> None:
    one = node("x", "Placeholder", dtype=float32)
    one.attr["dtype"].type = 2**31 - 1
    asker.session(one)


def a_group_that_is_not_utf_8(asker: Asker) -> None:
    asker.session(ONE, identity("y", "one", _class=[b"loc:@\xff"]))


def a_container_that_is_not_utf_8(asker: Asker) -> None:
    asker.session(node("v", "VariableV2", dtype=float32, shape=(), container=b"\xff"))


def a_number_for_a_bool(asker: Asker) -> None:
    asker.session(ONE, constant("at", 0, int32), summed(1))


def a_list_for_a_bool(asker: Asker) -> None:
    asker.session(ONE, constant("at", 0, int32), summed([True]))


def outputs_without_number(asker: Asker) -> None:
    asker.session(ONE, node("u", "Unpack", "one", num=TWO_TO_THE_40, T=float32, axis=0))


def inputs_without_number(asker: Asker) -> None:
    asker.session(ONE, node("a", "AddN", "one", N=TWO_TO_THE_40, T=float32))


def a_handle_as_a_constant(asker: Asker) -> None:
    asker.session(
        node(
            "c",
            "Const",
            dtype=float32,
            value=pb.TensorProto(dtype=pb.DataType.Value("DT_RESOURCE")),
        )
    )


def a_constant_of_three_hundred_dimensions(asker: Asker) -> None:
    value = tensor(1.0)
    for _ in range(300):
        value.tensor_shape.dim.add(size=1)
    asker.session(node("c", "Const", dtype=float32, value=value))


def a_variant_without_value_is_fed(asker: Asker) -> None:
    value = pb.TensorProto(dtype=pb.DataType.Value("DT_VARIANT"))
    asker.run(asker.session(X, Y), feed={"x:0": value}, fetch=["y:0"])


def a_function_of_a_number_of_results_without_end(asker: Asker) -> None:
    graph = called("f", "f")
    output = graph.library.function[0].signature.output_arg[0]
    output.number_attr = "N"
    graph.library.function[0].signature.attr.add(name="N", type="int").default_value.i = 2**40
    asker.ask(pb.CreateSessionRequest(graph_def=graph))


def a_function_that_calls_itself(asker: Asker) -> None:
    asker.ask(pb.CreateSessionRequest(graph_def=called("f", "f")))


def a_function_that_nobody_defines(asker: Asker) -> None:
    asker.ask(pb.CreateSessionRequest(graph_def=called("f", "g")))


def functions_that_each_call_another_twice(asker: Asker) -> None:
    """Forty of them are two to the fortieth nodes: planning did not end."""
    graph = called("f0", "Identity")
    graph.node[1].op = "f40"
    for i in range(1, 41):
        function = graph.library.function.add()
        function.CopyFrom(called(f"f{i}", f"f{i - 1}").library.function[0])
        function.node_def.add(name="twice", op=f"f{i - 1}", input=["inner:y:0"])
        function.ret["y"] = "twice:y:0"
    asker.ask(pb.CreateSessionRequest(graph_def=graph))


def numbers_of_a_negative_shape(asker: Asker) -> None:
    """A product of two negative sizes is large and positive: this drew numbers for ever."""
    shape = constant("shape", [-(2**31), -(2**31)], int32)
    drawn = node("r", "RandomStandardNormal", "shape", dtype=float32, T=int32, seed=1)
    asker.run(asker.session(shape, drawn), fetch=["r:0"], options=pb.RunOptions(timeout_in_ms=9000))


def a_filter_that_is_a_function_of_other_arguments(asker: Asker) -> None:
    """A pipeline calls its function with what it has; one more argument was the neighbour's."""
    graph = called("f", "Identity")
    function = graph.library.function[0]
    function.signature.input_arg.add(name="more", type=pb.DataType.Value("DT_STRING"))
    kinds = {"output_types": [float32], "output_shapes": [()]}
    mapped = node("m", "MapDataset", "d", Targuments=[], **kinds)
    mapped.attr["f"].func.name = "f"
    del graph.node[1]
    graph.node.extend([
        mapped,
        node("d", "TensorDataset", "one", Toutput_types=[float32], output_shapes=[()]),
        node("i", "IteratorV2", shared_name=b"", container=b"", **kinds),
        node("make", "MakeIterator", "m", "i"),
        node("next", "IteratorGetNext", "i", "^make", **kinds),
    ])  # fmt: skip
    handle = asker.ask(pb.CreateSessionRequest(graph_def=graph)).session_handle
    asker.run(handle, fetch=["next:0"])


def a_function_in_a_circle(asker: Asker) -> None:
    """A worker took it, and failed when it ran."""
    graph, task = called("f", "Identity"), Task(asker)
    body = graph.library.function[0].node_def
    body.append(node("loose", "Const", "^inner", dtype=float32, value=tensor(1.0)))
    body[0].input.append("^loose")
    request = task.registration(*graph.node)
    request.graph_def.library.CopyFrom(graph.library)
    task.run(asker.ask(request).graph_handle)


def summed(keep_dims: object) -> pb.NodeDef:
    """Return a sum that keeps dimensions, or is told something else."""
    return node("s", "Sum", "one", "at", T=float32, Tidx=int32, keep_dims=keep_dims)


def called(function: str, callee: str) -> pb.GraphDef:
    """Return a graph with a call of a function, which calls another one."""
    graph = pb.GraphDef(node=[ONE, node("call", function, "one")])
    made = graph.library.function.add()
    made.signature.name = function
    made.signature.input_arg.add(name="x", type=pb.DataType.Value("DT_FLOAT"))
    made.signature.output_arg.add(name="y", type=pb.DataType.Value("DT_FLOAT"))
    inner = made.node_def.add(name="inner", op=callee, input=["x"])
    if callee == "Identity":
        inner.attr["T"].type = pb.DataType.Value("DT_FLOAT")
    made.ret["y"] = "inner:output:0" if callee == "Identity" else "inner:y:0"
    return graph


# A case and the key phrase of its answer.
FOUND = {
    a_type_that_is_far_beyond_all: "2147483647 to a TensorFlow DType",
    a_group_that_is_not_utf_8: "attribute '_class' is b'loc:@\\\\xff', not UTF-8",
    a_container_that_is_not_utf_8: "attribute 'container' is b'\\\\xff', not UTF-8",
    a_number_for_a_bool: "attribute 'keep_dims' is 1, no bool",
    a_list_for_a_bool: "attribute 'keep_dims' is .* no bool",
    outputs_without_number: "gives 1099511627776 tensors",
    inputs_without_number: "takes 1099511627776 inputs, but has 1",
    a_handle_as_a_constant: "a resource in a message is no array",
    a_constant_of_three_hundred_dimensions: "dimensions",
    a_variant_without_value_is_fed: "has 0 variants",
    a_function_of_a_number_of_results_without_end: "'y' is described by the attribute 'N'",
    a_function_that_calls_itself: "calls itself",
    a_function_that_nobody_defines: "'g'",
    functions_that_each_call_another_twice: "calls of functions make more than 1000000 nodes",
    a_function_in_a_circle: "depends on itself",
    numbers_of_a_negative_shape: "Dimension -2147483648 must be >= 0",
    a_filter_that_is_a_function_of_other_arguments: r"takes \(float32, string\), but is called",
}


@pytest.mark.parametrize("case", FOUND, ids=lambda case: case.__name__)
def test_what_was_found_is_answered(server, case):
    with calls_at(server.address) as asker, pytest.raises(OpError, match=FOUND[case]) as raised:
        case(asker)
    assert isinstance(raised.value, InvalidArgumentError) or case is a_function_that_nobody_defines


def no_input(node: pb.NodeDef) -> None:
    del node.input[:]


def no_value(node: pb.NodeDef) -> None:
    node.op = "Const"
    del node.input[:]
    node.attr["dtype"].type = node.attr["value"].type = pb.DataType.Value("DT_FLOAT")


@pytest.mark.parametrize("harm", [no_input, no_value])
def test_the_body_of_a_function_that_was_imported_is_checked(harm):
    damaged = called("f", "Identity")
    harm(damaged.library.function[0].node_def[0])
    with tf.Graph().as_default(), tf.Session() as session:
        [y] = tf.import_graph_def(damaged, name="", return_elements=["call:0"])
        with pytest.raises(tf.errors.InvalidArgumentError, match="call/inner"):
            session.run(y)
