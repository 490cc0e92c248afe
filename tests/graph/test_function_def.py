"""FunctionDefs: functions as messages and back, in graphs, and settled for one call."""

import numpy as np
import pytest

import tfdist as tf
from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph.function_def import (
    function_from_proto,
    function_to_proto,
    library_from_proto,
    library_to_proto,
)
from tfdist.graph.functions import Given, Library, NameAttrList, body_of, is_same
from tfdist.graph.signatures import Arg, Attr
from tfdist.graph.tensor_proto import attr_from_proto, attr_to_proto
from tfdist.protos import pb

FLOAT, INT = tf.float32.as_datatype_enum, tf.int32.as_datatype_enum


def axpy():
    """Return a FunctionDef of `a * x + y` for whatever type, with a check."""
    proto = pb.FunctionDef()
    proto.signature.name = "Axpy"
    proto.signature.is_stateful = True
    proto.signature.attr.add(name="T", type="type")
    for name in ("a", "x", "y"):
        proto.signature.input_arg.add(name=name, type_attr="T")
    proto.signature.output_arg.add(name="z", type_attr="T")
    proto.signature.control_output.append("checked")
    for name, op, inputs in (
        ("product", "Mul", ["a", "x"]),
        ("sum", "AddV2", ["product:z:0", "y", "^check"]),
        ("check", "CheckNumerics", ["x"]),
    ):
        proto.node_def.add(name=name, op=op, input=inputs).attr["T"].placeholder = "T"
    proto.node_def[2].attr["message"].s = b"x is bad"
    proto.node_def[0].device = "/cpu:0"
    proto.ret["z"] = "sum:z:0"
    proto.control_ret["checked"] = "check"
    proto.attr["_noinline"].b = True
    proto.arg_attr[1].attr["_user_specified_name"].s = b"x"
    return proto


def listed():
    """Return a FunctionDef that joins a list of N tensors with their number."""
    proto = pb.FunctionDef()
    proto.signature.name = "Listed"
    proto.signature.attr.add(name="N", type="int")
    proto.signature.input_arg.add(name="xs", type=FLOAT, number_attr="N")
    proto.signature.output_arg.add(name="parts", type=FLOAT, number_attr="N")
    pack = proto.node_def.add(name="pack", op="Pack", input=["xs"])
    pack.attr["N"].placeholder, pack.attr["T"].type = "N", FLOAT
    unpack = proto.node_def.add(name="unpack", op="Unpack", input=["pack:output:0"])
    unpack.attr["num"].placeholder, unpack.attr["T"].type = "N", FLOAT
    proto.ret["parts"] = "unpack:output"
    return proto


@pytest.mark.parametrize("make", [axpy, listed])
def test_a_function_comes_back(make):
    """Defaults of attributes are all that is added."""
    function = function_from_proto(make())
    again = function_from_proto(function_to_proto(function))
    assert is_same(function, again)


def test_a_function_tells_what_it_takes_and_gives():
    function = function_from_proto(axpy())
    assert function.name == "Axpy"
    assert function.signature.inputs == (Arg("a", "T"), Arg("x", "T"), Arg("y", "T"))
    assert function.signature.attrs == {"T": Attr("T", "type")}
    assert function.signature.stateful
    assert function.attrs == {"_noinline": True}
    assert function.argument_attrs == {1: {"_user_specified_name": b"x"}}
    assert [node.attrs["T"] for node in function.nodes] == [Given("T")] * 3


def test_a_body_is_settled_for_a_call():
    body = body_of(function_from_proto(axpy()), {"T": tf.float64}, Library())
    assert body.inputs == (tf.float64,) * 3
    assert body.outputs == (tf.float64,)
    product, total, check = body.nodes
    assert product.inputs == (("", 0), ("", 1))
    assert total.inputs == (("product", 0), ("", 2))
    assert total.control == ("check",)
    assert {node.attrs["T"] for node in (product, total, check)} == {tf.float64}
    assert body.results == (("sum", 0),)
    assert body.control_results == ("check",)


def test_lists_have_the_length_of_a_call():
    body = body_of(function_from_proto(listed()), {"N": 3}, Library())
    assert body.inputs == body.outputs == (tf.float32,) * 3
    assert body.nodes[0].inputs == (("", 0), ("", 1), ("", 2))
    assert body.results == (("unpack", 0), ("unpack", 1), ("unpack", 2))


def test_outputs_of_calls_are_found_by_the_names_of_results():
    caller = pb.FunctionDef()
    caller.signature.name = "Caller"
    caller.signature.input_arg.add(name="x", type=FLOAT)
    caller.signature.output_arg.add(name="y", type=FLOAT)
    call = caller.node_def.add(name="call", op="Axpy", input=["x", "x", "x"])
    call.attr["T"].type = FLOAT
    caller.ret["y"] = "call:z:0"
    library = Library({"Axpy": function_from_proto(axpy())})
    body = body_of(function_from_proto(caller), {}, library)
    assert body.results == (("call", 0),)


def without_attr(proto):
    del proto.node_def[2].attr["message"]


def changed(path, value):
    def apply(proto):
        exec(f"f.{path} = value", {"f": proto, "value": value})

    return apply


WRONG = [
    pytest.param(changed("node_def[1].input[0]", "gone:z:0"), "'gone:z'", id="no such node"),
    pytest.param(changed("node_def[1].input[0]", "product:w:0"), "'product:w'", id="no output"),
    pytest.param(changed("node_def[1].input[0]", "product:z:1"), "1 is asked for", id="no port"),
    pytest.param(changed("node_def[1].input[2]", "^gone"), "'gone'", id="no control input"),
    pytest.param(changed("node_def[1].name", "product"), "one name", id="a name twice"),
    pytest.param(lambda f: f.ret.clear(), "'z'", id="no result"),
    pytest.param(changed('ret["z"]', "gone"), "'gone'", id="a result of nothing"),
    pytest.param(changed('control_ret["checked"]', "gone"), "'gone'", id="a control result"),
    pytest.param(changed("signature.input_arg[0].type_attr", "S"), "S", id="no such attribute"),
    pytest.param(changed('node_def[0].attr["T"].placeholder', "S"), "'S'", id="not given"),
]


@pytest.mark.parametrize(("break_it", "text"), WRONG)
def test_what_does_not_fit_is_told(break_it, text):
    proto = axpy()
    break_it(proto)
    with pytest.raises(InvalidArgumentError, match=f"'Axpy'.*{text}"):
        body_of(function_from_proto(proto), {"T": tf.float32}, Library())


def test_an_attribute_that_a_node_lacks_is_told():
    proto = axpy()
    without_attr(proto)
    with pytest.raises(NotFoundError, match="'message'"):
        body_of(function_from_proto(proto), {"T": tf.float32}, Library())


def test_an_attribute_that_a_call_lacks_is_told():
    with pytest.raises(InvalidArgumentError, match="'Axpy'"):
        body_of(function_from_proto(axpy()), {}, Library())


def test_an_unknown_type_is_told():
    proto = axpy()
    proto.signature.input_arg[0].type_attr = ""
    proto.signature.input_arg[0].type = 77
    with pytest.raises(InvalidArgumentError, match="'Axpy'"):
        function_from_proto(proto)


# libraries


def test_a_library_comes_back():
    proto = pb.FunctionDefLibrary(function=[axpy(), listed()])
    proto.gradient.add(function_name="Axpy", gradient_func="Listed")
    library = library_from_proto(library_to_proto(library_from_proto(proto)))
    assert list(library.functions) == ["Axpy", "Listed"]
    assert library.gradients == {"Axpy": "Listed"}


def test_the_first_function_of_a_name_stays():
    one, other = function_from_proto(axpy()), function_from_proto(listed())
    library = Library({"f": one}).merged(Library({"f": other, "g": other}, {"g": "f"}))
    assert library == Library({"f": one, "g": other}, {"g": "f"})


def test_a_function_that_is_missing_is_told_with_those_there_are():
    with pytest.raises(InvalidArgumentError, match=r"'gone' .* Axpy"):
        Library({"Axpy": function_from_proto(axpy())}).find("gone")


def test_no_function_has_the_name_of_an_op():
    proto = axpy()
    proto.signature.name = "Mul"
    with pytest.raises(InvalidArgumentError, match="'Mul'"):
        library_from_proto(pb.FunctionDefLibrary(function=[proto]))


# functions as attributes

FUNCTIONS = [
    NameAttrList("f"),
    NameAttrList("f", {"T": tf.float32, "g": NameAttrList("g", {"n": 3})}),
    [NameAttrList("f"), NameAttrList("g")],
    Given("T"),
]


@pytest.mark.parametrize("value", FUNCTIONS, ids=str)
def test_an_attribute_comes_back(value):
    assert attr_from_proto(attr_to_proto(value)) == value


# graphs


def graph_def():
    """Return a graph that calls a function by name."""
    proto = pb.GraphDef(library=pb.FunctionDefLibrary(function=[axpy()]))
    node = proto.node.add(name="k", op="Const")
    node.attr["dtype"].type = FLOAT
    node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.float32(2.0)))
    call = proto.node.add(name="call", op="Axpy", input=["k", "k", "k"], device="/cpu:0")
    call.attr["T"].type = FLOAT
    return proto


def test_a_graph_is_imported_with_its_functions(graph):
    [y] = tf.import_graph_def(graph_def(), return_elements=["call:0"])
    assert (y.op.type, y.dtype, y.op.device) == ("Axpy", tf.float32, "/device:CPU:0")
    with tf.Session() as session:
        assert session.run(y) == 6.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="import/call/check"):
            session.run(y, {"import/k:0": np.inf})


def test_functions_are_exported_with_their_graph(graph):
    tf.import_graph_def(graph_def(), name="")
    exported = graph.as_graph_def()
    assert [each.signature.name for each in exported.library.function] == ["Axpy"]
    assert not tf.Graph().as_graph_def().HasField("library")
    with tf.Graph().as_default():
        [y] = tf.import_graph_def(exported, return_elements=["call:0"], name="")
        with tf.Session() as session:
            assert session.run(y) == 6.0


def test_a_graph_can_be_imported_twice(graph):
    for _ in range(2):
        tf.import_graph_def(graph_def())
    assert len(graph.as_graph_def().library.function) == 1


TYPE = "signature.input_arg[0].type_attr"


def test_another_function_of_the_name_is_told():
    tf.import_graph_def(graph_def())
    other = graph_def()
    other.library.function[0].node_def[0].device = ""
    with pytest.raises(ValueError, match="'Axpy'"):
        tf.import_graph_def(other)


@pytest.mark.parametrize(
    ("break_it", "text"),
    [
        pytest.param(lambda g: g.node[1].input.pop(), "takes 3 inputs, has 2", id="an input less"),
        pytest.param(lambda g: g.node[1].attr.clear(), "'T'", id="an attribute less"),
        pytest.param(changed('node[1].attr["T"].type', INT), "int32", id="another type"),
        pytest.param(changed("library.function[0]." + TYPE, "gone"), "gone", id="a function"),
    ],
)
def test_a_call_that_does_not_fit_is_told(break_it, text):
    proto = graph_def()
    break_it(proto)
    with pytest.raises(ValueError, match=text):
        tf.import_graph_def(proto)


def test_a_call_of_a_function_that_is_not_there_is_told():
    proto = graph_def()
    proto.ClearField("library")
    with pytest.raises(NotFoundError, match="'Axpy'"):
        tf.import_graph_def(proto)
