"""What the contract of every op and the comparison with TensorFlow leave open about arrays."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.ops.evaluate import evaluate
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import raw
from tfdist.ops.array import boolean_mask, broadcast, concat, gather, gather_nd, tile_roll
from tfdist.ops.array import fill as array_fill
from tfdist.ops.array import pad as array_pad
from tfdist.ops.array import range as array_range
from tfdist.ops.array import reshape as array_reshape
from tfdist.ops.array import shape as array_shape
from tfdist.ops.array import split as array_split
from tfdist.ops.array import transpose as array_transpose
from tfdist.ops.array.constants import constant, placeholder
from tfdist.ops.autodiff.gradients import IndexedSlices
from tfdist.ops.checks import print_assert
from tfdist.ops.control_flow import identity_group
from tfdist.ops.math import segments


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    with Graph().as_default() as own:
        yield own


def equal(tensor: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(evaluate(tensor), wanted)


CUBE = np.arange(2 * 3 * 4).reshape(2, 3, 4)
ENTRIES = [
    0, -1, slice(None), slice(1, 3), slice(-2, None), slice(None, None, -1), slice(3, 0, -2),
    slice(5, 9), None, Ellipsis,
]  # fmt: skip


def keys() -> list[Any]:
    """Return all keys of up to three entries with one ellipsis at most."""
    several = [key for n in (1, 2, 3) for key in itertools.product(ENTRIES, repeat=n)]
    return [key for key in several if sum(entry is Ellipsis for entry in key) < 2]


@pytest.mark.parametrize("first", ENTRIES, ids=str)
def test_getitem_is_that_of_numpy(first):
    """Value and static shape, of every key that begins with `first`."""
    x = constant(CUBE)
    for key in keys():
        if key[0] is first:
            part = x[key]
            assert part.shape.as_list() == list(CUBE[key].shape), key
            equal(part, CUBE[key])


def test_getitem_with_tensors_as_bounds_is_that_of_numpy():
    x, one, two = constant(CUBE), constant(1), constant(2, "int64")
    equal(x[one], CUBE[1])
    equal(x[:, one:two], CUBE[:, 1:2])
    equal(x[..., two], CUBE[..., 2])


def test_getitem_with_a_mask_selects():
    equal(constant([5, 6, 7])[constant([True, False, True])], [5, 7])


def test_getitem_names_what_an_index_may_be():
    with pytest.raises(
        TypeError, match=r"Only integers, slices \(`:`\), ellipsis \(`\.\.\.`\), tf\.newaxis"
    ):
        constant([1])["a"]


def test_getitem_out_of_bounds_names_index_and_length():
    with pytest.raises(
        ValueError, match=r"slice index 7 of dimension 0 out of bounds\. Its length is 3"
    ):
        constant([1, 2, 3])[7]


# the spellings of the first releases


def test_split_takes_both_orders():
    x = constant([[1, 2, 3, 4], [5, 6, 7, 8]])
    for pieces in (
        array_split.split(x, 2, 1),
        array_split.split(1, 2, x),
        array_split.split(split_dim=1, num_split=2, value=x),
        array_split.split(x, num_or_size_splits=[2, 2], axis=1),
    ):
        equal(pieces[1], [[3, 4], [7, 8]])


def test_concat_takes_both_orders():
    one, other = constant([[1, 2]]), constant([[3, 4]])
    for joined in (
        concat.concat([one, other], 1),
        concat.concat(1, [one, other]),
        concat.concat(concat_dim=1, values=[one, other]),
    ):
        equal(joined, [[1, 2, 3, 4]])


def test_old_names_stand_for_the_new_ones():
    x = constant([[1, 2], [3, 4]])
    equal(concat.pack([x, x]), evaluate(concat.stack([x, x])))
    equal(concat.unpack(x)[1], [3, 4])
    equal(array_reshape.expand_dims(x, dim=0), [[[1, 2], [3, 4]]])
    equal(tile_roll.reverse(x, [False, True]), [[2, 1], [4, 3]])
    equal(tile_roll.reverse(x, dims=[True, False]), [[3, 4], [1, 2]])
    equal(segments.segment_sum(x, [0, 0]), [[4, 6]])


# shapes that are known in part


def test_a_list_with_unknown_sizes_spells_a_partial_shape():
    x = placeholder("float32", [None, 6])
    rows = array_shape.shape(x)[0]
    assert array_reshape.reshape(x, [rows, 2, 3]).shape.as_list() == [None, 2, 3]
    assert array_fill.zeros([rows, 4]).shape.as_list() == [None, 4]
    assert array_fill.fill(concat.stack([rows, 4]), 1.0).shape.as_list() == [None, 4]
    joined = concat.concat([array_shape.shape(x), [1]], 0)
    assert array_reshape.reshape(x, joined).shape.as_list() == [None, 6, 1]


@pytest.mark.parametrize(("rows", "known"), [(None, None), (3, 6)])
def test_a_dimension_in_a_list_is_known_if_all_of_its_shape_is(rows, known):
    x = placeholder("float32", [rows, 6])
    assert array_fill.zeros([array_shape.shape(x)[1], 4]).shape.as_list() == [known, 4]


def test_reshape_infers_from_what_is_known():
    assert array_reshape.reshape(constant(CUBE), [4, -1]).shape.as_list() == [4, 6]
    x = placeholder("float32", [None, 6])
    assert array_reshape.reshape(x, [-1, 3]).shape.as_list() == [None, 3]


# errors name what was got and what was wanted


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: array_reshape.reshape(constant(CUBE), [5, 5]),
            r"Cannot reshape a tensor with 24 elements to shape \[5,5\] \(25",
        ),
        (
            lambda: array_reshape.reshape(constant(CUBE), [-1, 7]),
            "Dimension size must be evenly divisible by 7 but is 24",
        ),
        (
            lambda: concat.concat([constant([1]), constant([[1]])], 0),
            "values: Shape must be rank 1 but is rank 2",
        ),
        (
            lambda: array_split.split(constant([1, 2, 3]), 2),
            "Dimension size must be evenly divisible by 2 but is 3",
        ),
        (
            lambda: array_split.split(constant([1, 2, 3]), [1, 1]),
            r"can't split axis of size 3 into pieces of size \[1,1\]",
        ),
        (
            lambda: concat.unstack(placeholder("int32")),
            "Cannot infer num from shape <unknown>: axis 0 of",
        ),
        (lambda: array_range.range(1, 5, -1), "Requires start >= limit when delta < 0: 1/5"),
        (
            lambda: boolean_mask.boolean_mask([1, 2], [True]),
            r"Shapes \(2,\) and \(1,\) are incompatible: the mask's and that",
        ),
        (
            lambda: array_pad.pad([1], [[1, 1]], "edge"),
            "Unknown padding mode: EDGE, which is none of CONSTANT,",
        ),
        (
            lambda: array_reshape.expand_dims([1]),
            r"Must specify an axis argument to tf\.expand_dims\(\)",
        ),
    ],
)
def test_error_while_building(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def unknown(value: Any) -> Any:
    """Return a tensor of unknown shape with `value`."""
    return raw.PlaceholderWithDefault(np.asarray(value), shape=None)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: array_reshape.reshape(unknown([1, 2]), [3]),
            "Input to reshape is a tensor with 2 values, but the",
        ),
        (
            lambda: concat.concat([unknown([1]), unknown([[1]])], 0),
            "ConcatOp : Ranks of all input tensors should match:",
        ),
        (
            lambda: concat.stack([unknown([1]), unknown([1, 2])]),
            r"Shapes of all inputs must match: values\[0\]\.shape = \[1\] !=",
        ),
        (
            lambda: array_transpose.transpose(constant(CUBE), [0, 0, 1]),
            r"2 is missing from \{0,0,1\}",
        ),
        (lambda: gather.gather([1, 2], [[0, 2]]), r"indices\[0,1\] = 2 is not in \[0, 2\)"),
        (lambda: gather.gather([1, 2], unknown(-1)), r"indices = -1 is not in \[0, 2\)"),
        (lambda: gather_nd.gather_nd(CUBE, [[0, 3]]), r"indices\[0\] = \[0, 3\] .* \[2, 3, 4\]"),
        (lambda: unknown([1, 2])[5], "slice index 5 of dimension 0 out of bounds"),
        (
            lambda: broadcast.broadcast_to(unknown([1, 2]), [3]),
            r"Incompatible shapes: \[2\] vs\. \[3\]",
        ),
        (
            lambda: identity_group.ensure_shape(unknown([1]), [2]),
            r"expected shape \(2,\), got \(1,\)",
        ),
    ],
)
def test_error_while_running(build, message):
    with pytest.raises(InvalidArgumentError, match=message):
        evaluate(build())


# gradients


def test_the_gradient_of_gather_is_a_few_rows():
    table = placeholder("float32", [1000, 3])
    rows = gather.gather(table, [[5, 7]])
    gradient, *_ = rows.op.op_def.gradient_rule(rows.op, array_fill.ones([1, 2, 3]))
    assert isinstance(gradient, IndexedSlices)
    equal(gradient.indices, [5, 7])
    equal(gradient.values, np.ones([2, 3]))


def test_prevent_gradient_raises():
    stopped = raw.PreventGradient(1.0, message="no way")
    with pytest.raises(LookupError, match="no way"):
        stopped.op.op_def.gradient_rule(stopped.op, constant(1.0))


# control


def test_group_gathers_by_device(graph):
    with scopes.device("/job:ps/task:1"):
        one = constant(1)
    with scopes.device("/job:worker"):
        other = constant(2)
    joined = identity_group.group(one, [other, None, identity_group.no_op("plain")], name="all")
    gathered = {op.device: [c.name for c in op.control_inputs] for op in joined.control_inputs}
    assert gathered == {"": ["plain"], "/job:ps/task:1": ["Const"], "/job:worker": ["Const_1"]}
    assert joined.device == ""


def test_group_of_one_device_stands_there():
    with scopes.device("/job:ps"):
        one = constant(1)
    assert identity_group.group(one).device == "/job:ps"


def test_tuple_gates_tensors_and_keeps_the_place_of_none():
    one, nothing, other = identity_group.tuple([constant(1), None, constant(2)])
    assert nothing is None
    assert [gate.type for gate in one.op.control_inputs] == ["NoOp"]
    assert one.op.get_attr("_class") == [b"loc:@Const"]
    equal(other, 2)


@pytest.mark.parametrize(
    ("value", "most", "text"),
    [
        ([1.5, 2.25, 1e10, 1e-7], 3, "1.5 2.25 1e+10..."),
        ([123456.789], 3, "123456.789"),
        ([[1, 2], [3, 4]], 3, "[1 2][3...]..."),
        ([[1, 2], [3, 4]], 2, "[1 2]..."),
        (np.arange(12).reshape(2, 2, 3), 4, "[[0 1 2][3...]]..."),
        (np.arange(12).reshape(2, 2, 3), -1, "[[0 1 2][3 4 5]][[6 7 8][9 10 11]]"),
        (np.zeros([2, 0]), 3, ""),
        (b"text", 3, "text"),
        ([True, False], 3, "1 0"),
        (np.float64(1 / 3), 3, "0.33333333333333331"),
        (np.float32(1 / 3), 3, "0.333333343"),
        (np.float16(0.1), 3, "0.0999755859"),
        ([np.nan, np.inf, -np.inf], 3, "nan inf -inf"),
    ],
)
def test_values_are_printed_as_tensorflow_prints_them(value, most, text):
    """Lines that real TensorFlow 1.15.5 wrote."""
    if isinstance(value, list) and isinstance(value[0], float):
        value = np.array(value, np.float32)
    assert print_assert.summary(value, most) == text


def test_print_stops_after_first_n():
    logs: list[str] = []
    counter = itertools.count()

    class Context:
        node_name = "Print"
        log = staticmethod(logs.append)

        def resource(self, *_: Any) -> Any:
            return counter

    for _ in range(3):
        data = [np.array([1, 2])]
        print_assert.print_kernel(Context(), 1, data, message=b"m ", first_n=2, summarize=3)
    assert logs == ["m [1 2]", "m [1 2]"]


def test_assert_names_its_data():
    with pytest.raises(InvalidArgumentError, match=r"assertion failed: \[x is\] \[1 2\.\.\.\]"):
        evaluate(print_assert.Assert(False, ["x is", [1, 2, 3]], summarize=2))


def test_check_numerics_says_what_it_found():
    with pytest.raises(InvalidArgumentError, match="loss : Tensor had Inf and NaN values"):
        evaluate(print_assert.check_numerics([np.inf, np.nan], "loss"))


@pytest.mark.parametrize("shape", [(7,), (7, 1), ()])
def test_a_cast_that_truncates_takes_the_upper_half(shape):
    """Bits as TensorFlow 1.15.5 gives them: the sign of a NaN is gone."""
    bits = [0x3F80FFFF, 0x7F800001, 0xFF800001, 0x7F800000, 1, 0x80000001, 0xC0490FDB]
    wanted = [0x3F80, 0x7FC0, 0x7FC0, 0x7F80, 0, 0x8000, 0xC049]
    if not shape:
        bits, wanted = bits[:1], wanted[:1]
    x = np.array(bits, np.uint32).view(np.float32).reshape(shape)
    found = evaluate(raw.Cast(x, DstT="bfloat16", Truncate=True))
    assert np.shape(found) == shape
    assert np.ravel(found).view(np.uint16).tolist() == wanted
