"""Iterators: how they begin, who finds them, what they say when they cannot give an element."""

import re
from collections import namedtuple

import numpy as np
import pytest

import tfdist as tf

D = tf.data.Dataset


def everything(session, element):
    """Return the elements that are left, after which there are no more."""
    found = []
    while True:
        try:
            found.append(session.run(element))
        except tf.errors.OutOfRangeError:
            break
    with pytest.raises(tf.errors.OutOfRangeError, match=r"^End of sequence"):
        session.run(element)
    return found


def test_a_one_shot_iterator_needs_no_initializer():
    iterator = D.range(3).make_one_shot_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        assert everything(session, element) == [0, 1, 2]
        assert everything(session, element) == []
    with pytest.raises(ValueError, match=r"Iterator does not have an initializer\."):
        _ = iterator.initializer


def test_a_one_shot_iterator_copies_what_maps_another_graphs_dataset():
    with tf.Graph().as_default():  # 1.15 leaves the functions behind; versions before took them
        offset = tf.constant(10, tf.int64)
        dataset = D.range(4).map(lambda x: x + offset).flat_map(lambda x: D.range(10, x)).batch(2)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [each.tolist() for each in everything(session, element)] == [
            [10, 10],
            [11, 10],
            [11, 12],
        ]


def test_each_session_has_iterators_of_its_own():
    element = D.range(3).make_one_shot_iterator().get_next()
    with tf.train.Server.create_local_server() as server:
        with tf.Session(server.target) as first, tf.Session(server.target) as second:
            assert [first.run(element), second.run(element), first.run(element)] == [0, 0, 1]
        assert not [row for row in server.task.worker.resources.rows() if row[1] == "iterator"]


def test_sessions_share_an_iterator_of_a_shared_name():
    iterator = D.range(3).make_initializable_iterator(shared_name="ours")
    element = iterator.get_next()
    with tf.train.Server.create_local_server() as server:
        with tf.Session(server.target) as first, tf.Session(server.target) as second:
            first.run(iterator.initializer)
            assert [first.run(element), second.run(element), first.run(element)] == [0, 1, 2]


def test_two_takers_in_one_step_see_one_element_each():
    iterator = D.range(4).make_one_shot_iterator()
    pair = iterator.get_next(), iterator.get_next()
    with tf.Session() as session:
        assert sorted(session.run(pair)) == [0, 1]
        assert sorted(session.run(pair)) == [2, 3]


def test_an_iterator_that_was_not_initialized():
    iterator = D.range(3).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError) as raised:
            session.run(element)
        assert raised.value.message == (
            "GetNext() failed because the iterator has not been initialized. Ensure that you have "
            "run the initializer operation for this iterator before getting the next element."
        )
        assert raised.value.op is element.op
        for _ in range(2):
            session.run(iterator.initializer)
            assert everything(session, element) == [0, 1, 2]


def test_an_initializer_reads_placeholders_and_variables_anew():
    count, factor = tf.placeholder(tf.int64, []), tf.Variable(10, dtype=tf.int64)
    pipeline = D.range(count).map(lambda x: x * factor)
    iterator = pipeline.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(iterator.initializer, {count: 2})
        session.run(factor.assign(1))
        assert everything(session, element) == [0, 10]
        session.run(iterator.initializer, {count: 3})
        assert everything(session, element) == [0, 1, 2]


def test_what_was_fed_is_kept_as_it_was():
    fed = np.arange(3.0)
    values = tf.placeholder(tf.float64, [None])
    iterator = D.from_tensor_slices(values).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer, {values: fed})
        fed[:] = -1.0
        assert everything(session, element) == [0.0, 1.0, 2.0]


def test_one_iterator_for_several_datasets():
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    element = iterator.get_next("following")
    begin = [iterator.make_initializer(D.range(2)), iterator.make_initializer(D.range(5, 8), "b")]
    assert (element.op.name, begin[0].name, begin[1].name) == ("following", "make_initializer", "b")
    with tf.Session() as session:
        session.run(begin[0])
        assert session.run(element) == 0
        session.run(begin[1])
        assert everything(session, element) == [5, 6, 7]
    with pytest.raises(TypeError, match=r"Expected output types tf\.int64 but got dataset with"):
        iterator.make_initializer(D.from_tensors(1.0))
    with pytest.raises(TypeError, match="Expected output shapes compatible with"):
        iterator.make_initializer(D.from_tensors(np.int64([1])))
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        iterator.make_initializer(D.zip((D.range(2),)))


def test_an_iterator_of_tuples_takes_no_named_ones():
    point = namedtuple("point", "x y")
    iterator = tf.data.Iterator.from_structure((tf.int32, tf.int32))
    with pytest.raises(TypeError, match="the same sequence type: tuple and point"):
        iterator.make_initializer(D.from_tensors(point(1, 2)))
    made = D.range(3).reduce((1, 2), lambda state, _: point(*state))  # a state may be any sequence
    with tf.Session() as session:
        assert session.run(made) == (1, 2)


def test_an_iterator_is_told_which_elements_are_sparse():
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    pipeline = D.from_tensors({"dense": 1, "sparse": sparse})
    told = pipeline.output_types, pipeline.output_shapes
    empty = tf.data.Iterator.from_structure(*told, output_classes=pipeline.output_classes)
    handle = tf.placeholder(tf.string, [])
    chosen = tf.data.Iterator.from_string_handle(handle, *told, pipeline.output_classes)
    elements, begin = [empty.get_next(), chosen.get_next()], empty.make_initializer(pipeline)
    with tf.Session() as session:
        text = session.run(pipeline.make_one_shot_iterator().string_handle())
        session.run(begin)
        for found in session.run(elements, {handle: text}):
            assert found["dense"] == 1
            assert [part.tolist() for part in found["sparse"]] == [[[0, 1], [2, 0]], [5, 6], [3, 2]]


def test_a_string_handle_chooses_the_iterator():
    first = D.range(3).make_one_shot_iterator()
    second = D.range(10, 13).make_initializable_iterator()
    handle = tf.placeholder(tf.string, [])
    element = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    with tf.Session() as session:
        one, other = session.run([first.string_handle(), second.string_handle("named")])
        with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
            session.run(element, {handle: other})
        session.run(second.initializer)
        given = [session.run(element, {handle: each}) for each in (one, other, one, other)]
        assert given == [0, 10, 1, 11]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse string_handle"):
            session.run(element, {handle: b"abc"})
        wrong = tf.data.Iterator.from_string_handle(handle, tf.float32, []).get_next()
        with pytest.raises(
            tf.errors.InvalidArgumentError,
            match="Data type mismatch at component 0: expected float but got int64",
        ):
            session.run(wrong, {handle: one})
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="session"):
        session.run(element, {handle: one})


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: D.range(tf.placeholder(tf.int64, [])), "Cannot capture a placeholder (name:"),
        (lambda: D.from_tensors(tf.Variable(1.0)), "Cannot capture a stateful node (name:Variable"),
        (lambda: D.from_tensors(tf.random_uniform([2])), "type:RandomUniform) by value"),
    ],
)
def test_what_no_one_shot_iterator_can_have(build, text):
    pipeline = build()
    with pytest.raises(ValueError, match=re.escape(text)):
        pipeline.make_one_shot_iterator()


def test_an_error_of_one_element_leaves_the_others():
    pipeline = D.range(4).map(lambda x: tf.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "odd"))
    element = pipeline.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == -1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="odd"):
            session.run(element)
        assert everything(session, element) == [1.0, 0.5]


def test_the_next_element_as_an_optional():
    iterator = D.range(1).make_one_shot_iterator()
    following = tf.data.experimental.get_next_as_optional(iterator)
    with tf.Session() as session:
        assert session.run([following.has_value(), following.get_value()]) == [True, 0]
        assert not session.run(following.has_value())


def test_reduce_and_what_takes_a_whole_dataset():
    total = D.range(5).reduce(np.int64(0), lambda state, x: state + x)
    pair = D.range(4).reduce((0.0, np.int64(1)), lambda s, x: (s[0] + 1.0, s[1] * (x + 1)))
    only = tf.data.experimental.get_single_element(D.range(5).batch(5))
    none = tf.data.experimental.get_single_element(D.range(0))
    two = tf.data.experimental.get_single_element(D.range(2))
    with tf.Session() as session:
        assert session.run([total, pair]) == [10, (4.0, 24)]
        assert session.run(only).tolist() == [0, 1, 2, 3, 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Dataset was empty\."):
            session.run(none)
        with pytest.raises(tf.errors.InvalidArgumentError, match="had more than one element"):
            session.run(two)


def test_the_number_of_elements():
    r = D.range
    datasets = [
        r(10), r(10).batch(3), r(10).batch(3, True), r(10).repeat(), r(10).map(lambda x: x),
        r(10).filter(lambda x: x > 1), r(3).concatenate(r(3)), D.zip((r(3), r(5).repeat())),
        r(10).shard(3, 1), r(10).take(3), r(10).skip(3), r(5).cache().prefetch(1).shuffle(2),
        r(3).flat_map(r), r(7).window(2),
    ]  # fmt: skip
    with tf.Session() as session:
        found = session.run([tf.data.experimental.cardinality(each) for each in datasets])
    assert found == [10, 4, 3, -1, 10, -2, 6, 3, 3, 3, 7, 5, -2, 4]


def test_many_nodes_of_one_iterator_are_warned_of():
    iterator = D.range(3).make_one_shot_iterator()
    for _ in range(32):
        iterator.get_next()
    with pytest.warns(UserWarning, match="called many times"):
        iterator.get_next()


def test_a_dataset_cannot_be_iterated_in_python():
    with pytest.raises(RuntimeError, match=r"__iter__\(\) is only supported"):
        list(D.range(3))


def test_what_is_known_of_elements():
    pipeline = D.from_tensor_slices({"a": [1, 2], "b": ([1.0, 2.0],)})
    assert repr(pipeline) == (
        "<Dataset shapes: {a: (), b: ((),)}, types: {a: tf.int32, b: (tf.float32,)}>"
    )
    assert tf.data.get_output_types(pipeline) == {"a": tf.int32, "b": (tf.float32,)}
    iterator = pipeline.make_one_shot_iterator()
    assert tf.data.get_output_types(iterator) == pipeline.output_types
    assert tf.compat.v1.data.get_output_classes(pipeline) == {"a": tf.Tensor, "b": (tf.Tensor,)}


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: D.range(), ValueError, "Invalid arguments to RangeDataset: ()"),
        (lambda: D.range(4).map(lambda x: None), TypeError, "Unsupported return value from"),
        (lambda: D.range(4).map(3), ValueError, "Argument must be callable"),
        (lambda: D.zip([D.range(4)]), TypeError, "please use a tuple instead"),
        (lambda: D.zip((D.range(4), 3)), TypeError, "structure of `Dataset` objects"),
        (lambda: D.range(4).padded_batch(2, [None]), ValueError, "The padded shape (?,) is not"),
        (lambda: D.range(4).apply(lambda d: 3), TypeError, "must return a Dataset. Got 3."),
        (lambda: D.range(4).flat_map(lambda x: x), TypeError, "must return a `Dataset` object"),
        (lambda: D.range(2).reduce(0.0, lambda a, b: b), TypeError, "must match the initial state"),
    ],
)
def test_what_cannot_be_built(build, error, text):
    with pytest.raises(error) as raised:
        build()
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: D.range(3).batch(0), "Batch size must be greater than zero."),
        (lambda: D.range(1, 3, 0), "step must be a non-zero integer."),
        (lambda: D.range(3).window(0).flat_map(lambda w: w), "Window size must be greater than"),
        (lambda: D.range(3).interleave(D.range, cycle_length=0), "cycle_length must be greater"),
        (lambda: D.range(3).prefetch(-3), "buffer_size must be >= 0 or set buffer_size to be -1"),
    ],
)
def test_what_cannot_begin(build, text):
    iterator = build().make_initializable_iterator()
    with tf.Session() as session, pytest.raises(tf.errors.OpError) as raised:
        session.run(iterator.initializer)
    assert text in raised.value.message


def test_options_change_the_nodes():
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.autotune = False
    with tf.Graph().as_default() as graph:
        D.range(2).with_options(options).make_initializable_iterator()
        names = [op.type for op in graph.get_operations()]
    assert names[3:] == ["RangeDataset", "IteratorV2", "MakeIterator", "IteratorToStringHandle"]
    with pytest.raises(AttributeError, match="Cannot set the property foo on Options"):
        options.foo = 3
    with pytest.raises(TypeError, match='Property "experimental_deterministic" must be of type'):
        options.experimental_deterministic = 3


def test_the_names_of_earlier_versions():
    early = tf.contrib.data
    pipeline = early.Dataset.range(5).map(lambda x: x + 1, num_threads=2, output_buffer_size=9)
    pipeline = pipeline.apply(early.batch_and_drop_remainder(2))
    element = pipeline.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [each.tolist() for each in everything(session, element)] == [[1, 2], [3, 4]]
