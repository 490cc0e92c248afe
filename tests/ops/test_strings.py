"""What the contract of every op and the comparison with TensorFlow leave open about strings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.ops.evaluate import evaluate
from tfdist.errors import InvalidArgumentError
from tfdist.graph.graph import Graph
from tfdist.ops import filling, joining, shaping, string_numbers, strings
from tfdist.ops.constants import constant


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    with Graph().as_default() as own:
        yield own


def test_a_bare_string_is_a_scalar():
    """A rank 0 string may flow as `bytes`, without an array around it."""
    assert strings.string_strip_kernel(b" a ").item() == b"a"
    assert shaping.reshape_kernel(b"a", np.array([1])).tolist() == [b"a"]
    assert joining.pack_kernel([b"a", b"b"], axis=0).tolist() == [b"a", b"b"]
    assert filling.fill_kernel(np.array([2]), b"a").tolist() == [b"a", b"a"]
    assert shaping.shape_kernel(b"abc", out_type=constant(1).dtype).shape == (0,)


def test_join_puts_scalars_beside_every_element():
    joined = strings.string_join(["<", ["a", "b"], ">"])
    assert joined.shape.as_list() == [2]
    assert evaluate(joined).tolist() == [b"<a>", b"<b>"]


def test_substr_reads_pos_and_len_per_element():
    assert evaluate(strings.substr(["abc", "defg"], [1, -2], [9, 1])).tolist() == [b"bc", b"f"]


def test_substr_outside_names_position_and_string():
    with pytest.raises(InvalidArgumentError, match=r"pos 9 is outside of the string b'hello'"):
        evaluate(strings.substr("hello", 9, 1))


def test_regex_replace_understands_groups():
    replaced = strings.regex_replace(["x1y22"], "([a-z])([0-9]+)", r"\2\1|")
    assert evaluate(replaced).tolist() == [b"1x|22y|"]


def test_regex_names_the_malformed_pattern():
    with pytest.raises(InvalidArgumentError, match=r"invalid pattern '\('"):
        evaluate(strings.regex_replace(["a"], "(", ""))


def test_lower_needs_an_encoding_for_letters_beyond_ascii():
    text = constant(["\u00c9A"])
    assert evaluate(strings.string_lower(text))[0].decode() == "\u00c9a"
    assert evaluate(strings.string_lower(text, encoding="utf-8"))[0].decode() == "\u00e9a"


@pytest.mark.parametrize("text", ["x", "", "1.5.2", "1_000", "0x"])
def test_not_a_number_names_the_string(text):
    with pytest.raises(InvalidArgumentError, match=f"convert the string '{text}' to float32"):
        evaluate(string_numbers.string_to_number([text]))


@pytest.mark.parametrize("text", ["1.5", "99999999999", "", "1_0"])
def test_not_an_integer_names_the_string(text):
    with pytest.raises(InvalidArgumentError, match=f"convert the string '{text}' to int32"):
        evaluate(string_numbers.string_to_number([text], "int32"))


def test_decode_raw_reads_records():
    """The bytes of a record: a label and a 2 x 2 image, as cifar10 programs cut them."""
    record = string_numbers.decode_raw(constant(bytes([3, 10, 20, 30, 40])), "uint8")
    assert evaluate(record[0]) == 3
    image = shaping.reshape(record[1:5], [2, 2])
    assert evaluate(image).tolist() == [[10, 20], [30, 40]]


def test_decode_raw_names_sizes_that_do_not_fit():
    with pytest.raises(InvalidArgumentError, match=r"3 bytes, .* not a multiple of 2"):
        evaluate(string_numbers.decode_raw("abc", "int16"))
    with pytest.raises(InvalidArgumentError, match=r"strings of one size, got \[1, 2\]"):
        evaluate(string_numbers.decode_raw(["ab", "c"], "uint8"))


def test_base64_goes_there_and_back():
    text = constant([bytes(range(256)), b""])
    back = strings.decode_base64(strings.encode_base64(text))
    assert evaluate(back).tolist() == [bytes(range(256)), b""]
