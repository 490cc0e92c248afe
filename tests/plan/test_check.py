"""Nodes from elsewhere: what fits passes, what does not is refused with its name."""

import numpy as np
import pytest

from tfdist.base.dtypes import float32, int32, string
from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import Node
from tfdist.plan.check import check

CONST = {"value": np.array(1.0, np.float32), "dtype": float32}
ONE = Node("one", "Const", attrs=CONST)


def identity(**changes):
    """Return an Identity of `one`, with some fields changed."""
    return Node("node", "Identity", (("one", 0),), attrs={"T": float32})._replace(**changes)


def checked(*nodes):
    check(nodes, {node.name: node for node in (ONE, *nodes)})


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(identity(), id="an op that fits its input"),
        pytest.param(identity(name="_recv_one_0"), id="a name that partitioning makes"),
        pytest.param(identity(device="/job:ps/cpu:0"), id="a device in short"),
        pytest.param(identity(attrs={"T": float32, "_class": [b"loc:@x"]}), id="unknown attrs"),
    ],
)
def test_what_fits_passes(node):
    checked(node)


@pytest.mark.parametrize(
    ("node", "told"),
    [
        pytest.param(identity(name="two words"), "no name", id="an illegal name"),
        pytest.param(identity(name=""), "no name", id="no name at all"),
        pytest.param(identity(device="somewhere!"), "somewhere", id="no device"),
        pytest.param(identity(attrs={"T": b"float"}), "'T'", id="an attribute of another kind"),
        pytest.param(
            identity(op="Neg", attrs={"T": string}), "not in list of allowed", id="a wrong type"
        ),
        pytest.param(identity(inputs=()), "takes 1 inputs, but has 0", id="too few inputs"),
        pytest.param(
            identity(inputs=(("one", 0), ("one", 0))), "but has 2", id="too many inputs"
        ),
        pytest.param(identity(inputs=(("one", 1),)), "has 1 outputs", id="a port that is missing"),
        pytest.param(
            identity(attrs={"T": int32}), "takes int32, but its input one:0 is float32",
            id="an input of another type",
        ),
        pytest.param(
            identity(op="RefExit"), "takes float32_ref, but its input one:0 is float32",
            id="a value where a variable is wanted",
        ),
        pytest.param(
            Node("node", "_Loop"), "for compilers only", id="an op that only compilers make"
        ),
        pytest.param(
            Node("node", "Const", attrs={**CONST, "dtype": int32}), "declared int32",
            id="a constant of another type",
        ),
        pytest.param(
            Node("node", "Const", attrs={**CONST, "value": 1.0}), "'value' is 1.0, no tensor",
            id="a constant that is no tensor",
        ),
        pytest.param(
            identity(attrs={"T": float32, "_class": 3}), "'_class' is 3", id="a group that is none"
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_name(node, told):
    with pytest.raises(InvalidArgumentError, match=told) as raised:
        checked(node)
    assert raised.value.node_name == node.name
