"""Names of nodes, scopes and tensors."""

import pytest

from tfdist.base import names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add", ("add", 0)),
        ("add:0", ("add", 0)),
        ("scope/add:12", ("scope/add", 12)),
    ],
)
def test_a_tensor_name_is_a_node_and_an_output(text, expected):
    assert names.split_tensor_name(text) == expected


@pytest.mark.parametrize("text", ["add:", "add:x", "add:-1", "a:0:1"])
def test_an_output_is_a_number(text):
    with pytest.raises(ValueError, match="NODE:INDEX"):
        names.split_tensor_name(text)


@pytest.mark.parametrize(
    ("name", "node", "scope"),
    [
        ("add", True, True),
        ("A.b-c_1/d\\e>f", True, True),
        ("_internal", False, True),
        ("/add", False, True),
        ("", False, True),
        ("a b", False, False),
        ("a:0", False, False),
        ("a\n", False, False),
        ("ä", False, False),
    ],
)
def test_what_names_may_hold(name, node, scope):
    assert bool(names.VALID_NODE.match(name)) is node
    assert bool(names.VALID_SCOPE.match(name)) is scope
