"""What the contract of every op and the comparison with TensorFlow leave open about strings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfdist as tf
from tests.ops.evaluate import evaluate
from tfdist.errors import InvalidArgumentError
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import raw
from tfdist.ops.array import concat
from tfdist.ops.array import fill as array_fill
from tfdist.ops.array import reshape as array_reshape
from tfdist.ops.array import shape as array_shape
from tfdist.ops.array.constants import constant
from tfdist.ops.ragged.ragged_tensor import RaggedTensor
from tfdist.ops.strings import conversions as strings_conversions
from tfdist.ops.strings import join_substr
from tfdist.ops.strings.ngrams import ngrams
from tfdist.ops.strings.split import bytes_split, split
from tfdist.ops.strings.unicode import unicode_decode, unicode_encode, unicode_split_with_offsets


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    with Graph().as_default() as own:
        yield own


def test_a_bare_string_is_a_scalar():
    """A rank 0 string may flow as `bytes`, without an array around it."""
    assert join_substr.string_strip_kernel(b" a ").item() == b"a"
    assert array_reshape.reshape_kernel(b"a", np.array([1])).tolist() == [b"a"]
    assert concat.pack_kernel([b"a", b"b"], axis=0).tolist() == [b"a", b"b"]
    assert array_fill.fill_kernel(np.array([2]), b"a").tolist() == [b"a", b"a"]
    assert array_shape.shape_kernel(b"abc", out_type=constant(1).dtype).shape == (0,)


def test_join_puts_scalars_beside_every_element():
    joined = join_substr.string_join(["<", ["a", "b"], ">"])
    assert joined.shape.as_list() == [2]
    assert evaluate(joined).tolist() == [b"<a>", b"<b>"]


def test_substr_reads_pos_and_len_per_element():
    assert evaluate(join_substr.substr(["abc", "defg"], [1, -2], [9, 1])).tolist() == [b"bc", b"f"]


def test_substr_outside_names_position_and_string():
    with pytest.raises(InvalidArgumentError, match=r"pos 9 out of range for string b'hello'"):
        evaluate(join_substr.substr("hello", 9, 1))


def test_split_at_a_string_keeps_the_shape():
    """Of a matrix of strings, too; a scalar has no place for its parts."""
    parts = evaluate(raw.SparseToDense(*parts_of(split([["a b", "c"], ["", "d e f"]])), b"-"))
    assert parts.tolist() == [
        [[b"a", b"b", b"-"], [b"c", b"-", b"-"]],
        [[b"-", b"-", b"-"], [b"d", b"e", b"f"]],
    ]
    with pytest.raises(ValueError, match="rank 1 or more"):
        split("a b")


def test_split_of_unknown_rank_takes_a_vector():
    texts = tf.placeholder_with_default(["a b", "c"], None)
    assert evaluate(split(texts).values).tolist() == [b"a", b"b", b"c"]


def parts_of(sparse):
    return sparse.indices, sparse.dense_shape, sparse.values


def test_ngrams_keep_the_outer_dimensions():
    runs = ngrams([[["a", "b"]], [["c", "d"]]], [2, 1])
    assert runs.shape.as_list() == [2, 1, None]
    assert evaluate(runs).tolist() == [[[b"a b", b"a", b"b"]], [[b"c d", b"c", b"d"]]]


def test_code_points_of_a_matrix_become_texts():
    texts = unicode_encode([[104, 105], [0x4E2D, 33]], "UTF-8")
    assert texts.shape.as_list() == [2]
    assert [each.decode() for each in evaluate(texts)] == ["hi", "\u4e2d!"]


def test_lower_needs_an_encoding_for_letters_beyond_ascii():
    text = constant(["\u00c9A"])
    assert evaluate(join_substr.string_lower(text))[0].decode() == "\u00c9a"
    assert evaluate(join_substr.string_lower(text, encoding="utf-8"))[0].decode() == "\u00e9a"


@pytest.mark.parametrize("text", ["x", "", "1.5.2", "1_000", "0x"])
def test_not_a_number_names_the_string(text):
    with pytest.raises(InvalidArgumentError, match=f"convert the string '{text}' to float32"):
        evaluate(strings_conversions.string_to_number([text]))


@pytest.mark.parametrize("text", ["1.5", "99999999999", "", "1_0"])
def test_not_an_integer_names_the_string(text):
    with pytest.raises(InvalidArgumentError, match=f"convert the string '{text}' to int32"):
        evaluate(strings_conversions.string_to_number([text], "int32"))


def test_decode_raw_reads_records():
    """The bytes of a record: a label and a 2 x 2 image, as cifar10 programs cut them."""
    record = strings_conversions.decode_raw(constant(bytes([3, 10, 20, 30, 40])), "uint8")
    assert evaluate(record[0]) == 3
    image = array_reshape.reshape(record[1:5], [2, 2])
    assert evaluate(image).tolist() == [[10, 20], [30, 40]]


def test_decode_raw_names_sizes_that_do_not_fit():
    with pytest.raises(InvalidArgumentError, match=r"3 bytes, .* not a multiple of 2"):
        evaluate(strings_conversions.decode_raw("abc", "int16"))
    with pytest.raises(InvalidArgumentError, match=r"strings of one size, got \[1, 2\]"):
        evaluate(strings_conversions.decode_raw(["ab", "c"], "uint8"))


def test_base64_goes_there_and_back():
    text = constant([bytes(range(256)), b""])
    back = join_substr.decode_base64(join_substr.encode_base64(text))
    assert evaluate(back).tolist() == [bytes(range(256)), b""]


# What 1.15.5 gives for strings of rank 1, of rank 2, and ragged ones.
RAGGED = [
    (lambda: split(["a b  c", "", "d"], result_type="RaggedTensor"), [["a", "b", "c"], [], ["d"]]),
    (lambda: split([["a b"], ["c"]], result_type="RaggedTensor"), [[["a", "b"]], [["c"]]]),
    (lambda: bytes_split(["ab", "", "c"]), [["a", "b"], [], ["c"]]),
    (lambda: bytes_split(rows(["ab", "c"], [])), [[["a", "b"], ["c"]], []]),
    (lambda: unicode_decode(["h\u00e9", "", "a"], "UTF-8"), [[104, 233], [], [97]]),
    (lambda: unicode_split_with_offsets(["\u00e9h", ""], "UTF-8")[0], [["\u00e9", "h"], []]),
    (lambda: unicode_split_with_offsets(["\u00e9h", ""], "UTF-8")[1], [[0, 2], []]),
    (lambda: ngrams(rows(["a", "b", "c"], [], ["d"]), 2), [["a b", "b c"], [], []]),
]


def rows(*texts):
    return RaggedTensor.from_row_lengths(
        [each for row in texts for each in row], [*map(len, texts)]
    )


@pytest.mark.parametrize(("build", "wanted"), RAGGED)
def test_rows_of_different_lengths_are_ragged(build, wanted):
    with tf.Session() as session:
        assert told(session.run(build()).to_list()) == wanted


def told(value):
    if isinstance(value, list):
        return [told(each) for each in value]
    return value.decode() if isinstance(value, bytes) else value


def test_ragged_code_points_become_texts():
    points = RaggedTensor.from_row_lengths([104, 105, 106], [2, 0, 1])
    assert evaluate(unicode_encode(points, "UTF-8")).tolist() == [b"hi", b"", b"j"]
