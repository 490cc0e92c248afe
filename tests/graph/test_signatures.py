"""Signatures: TensorFlow's one line says inputs, outputs, attributes and statefulness."""

import numpy as np
import pytest

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import NotFoundError
from tfdist.graph import op_def
from tfdist.graph.op_def import REGISTRY, OpDef
from tfdist.graph.signatures import Arg, parse_signature


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        pytest.param("x: float", Arg("x", dtypes.float32), id="a fixed type"),
        pytest.param("x: T", Arg("x", "T"), id="the type of an attribute"),
        pytest.param("x: N*T", Arg("x", "T", "N"), id="N tensors of one type"),
        pytest.param("x: N*int32", Arg("x", dtypes.int32, "N"), id="N tensors of a fixed type"),
        pytest.param("x: Ref(T)", Arg("x", "T", is_ref=True), id="a variable itself"),
        pytest.param("x: L", Arg("x", "L", type_list="L"), id="tensors of several types"),
    ],
)
def test_inputs(inputs, expected):
    attrs = "T: type; N: int; L: list(type)"
    assert parse_signature(f"Op({inputs}) -> () [{attrs}]").inputs == (expected,)


@pytest.mark.parametrize(
    ("text", "default", "allowed", "minimum"),
    [
        pytest.param("a: int", None, (), None, id="no default"),
        pytest.param("a: int = -1", -1, (), None, id="a negative default"),
        pytest.param("a: int = 3 >=1", 3, (), 1, id="a default and a minimum"),
        pytest.param("a: list(int) = [] >=0", [], (), 0, id="an empty list"),
        pytest.param("a: float = 0.5", 0.5, (), None, id="a float"),
        pytest.param("a: bool = True", True, (), None, id="a bool"),
        pytest.param("a: string = 'x'", b"x", (), None, id="strings are bytes"),
        pytest.param("a: type = float", dtypes.float32, (), None, id="a type"),
        pytest.param("a: shape = [2]", TensorShape([2]), (), None, id="a shape"),
        pytest.param(
            "a: type {float,int32}", None, (dtypes.float32, dtypes.int32), None, id="two types"
        ),
        pytest.param(
            "a: type = int32 {index}", dtypes.int32, (dtypes.int32, dtypes.int64), None,
            id="a named set of types",
        ),
        pytest.param("a: string = 'x' {'x','y'}", b"x", (b"x", b"y"), None, id="two words"),
    ],
)  # fmt: skip
def test_attributes(text, default, allowed, minimum):
    attr = parse_signature(f"Op() -> () [{text}]").attrs["a"]
    assert (attr.default, attr.has_default) == (default, "=" in text.partition(">")[0])
    assert (attr.allowed, attr.minimum) == (allowed, minimum)


def test_an_exclamation_mark_is_state():
    assert parse_signature("Op() -> x: float !").stateful
    assert not parse_signature("Op() -> x: float").stateful


def test_a_signature_may_take_several_lines():
    signature = parse_signature("Op(a: T,\n  b: T) -> x: T\n  [T: type;\n   n: int = 1]")
    assert [arg.name for arg in signature.inputs] == ["a", "b"]
    assert list(signature.attrs) == ["T", "n"]


@pytest.mark.parametrize("text", ["Op", "Op()", "Op() - > ()", "Op() -> () [x]"])
def test_what_is_no_signature(text):
    with pytest.raises(ValueError, match="not a"):
        parse_signature(text)


def test_every_signature_can_be_read():
    for name in sorted(REGISTRY):
        signature = REGISTRY[name].signature
        assert signature.name == name
        numbers = {arg.number for arg in (*signature.inputs, *signature.outputs) if arg.number}
        assert numbers <= set(signature.attrs), name


def test_args_count_their_tensors():
    attrs = {"T": dtypes.int32, "N": 2, "L": [dtypes.int32, dtypes.string]}
    assert Arg("x", "T").dtypes(attrs) == [dtypes.int32]
    assert Arg("x", "T", "N").dtypes(attrs) == [dtypes.int32] * 2
    assert Arg("x", "L", type_list="L").dtypes(attrs) == attrs["L"]
    assert Arg("x", "T", is_ref=True).dtypes(attrs) == [dtypes.int32.as_ref]


def test_an_unknown_op_is_told_with_its_neighbours():
    with pytest.raises(NotFoundError, match=r"'MatMull' is not registered.*MatMul"):
        op_def.lookup("MatMull")
    with pytest.raises(AttributeError, match="MatMull"):
        _ = op_def.raw.MatMull


@pytest.fixture
def forgotten():
    """Let tests define ops that are gone afterwards."""
    before = set(REGISTRY)
    yield
    for name in set(REGISTRY) - before:
        del REGISTRY[name]


@pytest.mark.usefixtures("forgotten")
def test_a_kernel_says_by_its_form_what_it_needs():
    op = OpDef("Demo(x: T) -> y: T [T: type; scale: float = 1.0]")

    @op.kernel
    def kernel(ctx, x, *, scale):
        element = yield x
        return element * scale

    rule = op.kernels["CPU"]
    assert (rule.keywords, rule.takes_context, rule.waits) == (("scale",), True, True)
    assert op.waits


@pytest.mark.usefixtures("forgotten")
def test_a_numpy_function_is_a_kernel():
    op = OpDef("Demo(x: T, y: T) -> z: T [T: type]")
    op.kernel(np.add)
    assert op.kernels["CPU"] == op_def.Rule(np.add, (), False, False)
    assert not op.waits
