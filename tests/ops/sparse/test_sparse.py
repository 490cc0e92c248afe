"""Sparse tensors in sessions: kept by number, held by variants, parsed and batched."""

from __future__ import annotations

from contextlib import ExitStack, closing

import numpy as np
import pytest

import tfdist as tf
from tfdist.ops.sparse.tensors_map import add_sparse, take_many_sparse
from tfdist.wire.server import start_servers

raw = tf.raw_ops
PLACES, SHAPE = [[0, 1], [2, 0]], [3, 4]


def sparse(values=(1, 2), places=PLACES, shape=SHAPE):
    return tf.SparseTensor(places, values, shape)


def added(values=(1, 2), places=PLACES, shape=SHAPE, **names):
    return raw.AddSparseToTensorsMap(places, values, shape, **names)


def taken(numbers, dtype="int32", **names):
    return raw.TakeManySparseFromTensorsMap(numbers, dtype=dtype, **names)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session(graph):
    with tf.Session() as session:
        yield session


def lists(parts):
    return [part.tolist() for part in parts]


# kept by number


def test_what_is_kept_is_taken_as_one_by_its_numbers(session):
    numbers = tf.stack([added(shared_name="m"), added([5], [[1, 6]], [2, 7], shared_name="m")])
    found = session.run(taken(numbers, shared_name="m"))
    assert lists(found) == [[[0, 0, 1], [0, 2, 0], [1, 1, 6]], [1, 2, 5], [2, 3, 7]]


def test_each_row_has_a_number_of_its_own(session):
    numbers = raw.AddManySparseToTensorsMap(PLACES, [1, 2], SHAPE, name="rows")
    assert lists(session.run(taken(numbers, shared_name="rows"))) == [PLACES, [1, 2], SHAPE]
    assert session.run(tf.shape(numbers)).tolist() == [3]


def test_numbers_never_come_twice(session):
    number = added()
    assert sorted(session.run(number) for _ in range(5)) == list(range(5))


def test_what_was_taken_is_gone(session):
    number = session.run(added(name="m"))
    fed = tf.placeholder(tf.int64, [None])
    take = taken(fed, shared_name="m")
    session.run(take, {fed: [number]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find SparseTensor: 0 in"):
        session.run(take, {fed: [number]})


def test_the_map_is_found_by_the_name_of_the_node_that_adds(session):
    number = add_sparse(sparse(["a", "b"]), many=False)
    value = session.run(take_many_sparse(tf.reshape(number, [1]), number.op, 3))
    assert isinstance(value, tf.SparseTensorValue)
    assert value.values.tolist() == [b"a", b"b"]


def test_maps_of_containers_are_different(session):
    with tf.container("here"):
        number = session.run(added(shared_name="m"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="in map: m"):
        session.run(taken([number], shared_name="m"))


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        pytest.param(
            lambda: tf.stack([added(shared_name="m"), added(shared_name="other")]),
            "Unable to find SparseTensor: 0 in map: m", id="of two maps",
        ),
        pytest.param(
            lambda: tf.stack([added(shared_name="m"), added([1], [[0]], [3], shared_name="m")]),
            r"Inconsistent rank across SparseTensors: rank prior to SparseTensor\[1\] was: 3 but "
            r"rank of SparseTensor\[1\] is: 2", id="of two ranks",
        ),
        pytest.param(
            lambda: tf.stack([added([1.5, 2.5], shared_name="m")]),
            r"Requested SparseTensor of type int32 but SparseTensor\[0\].values.dtype\(\) == float",
            id="of another type",
        ),
        pytest.param(lambda: tf.zeros([0], "int64"), "Must have at least 1", id="of none"),
    ],
)  # fmt: skip
def test_numbers_that_give_nothing(session, numbers, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(taken(numbers(), shared_name="m"))


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        pytest.param(([[1, 2]], [1, 2], [3, 4]), "rows .* must match", id="too many values"),
        pytest.param(([[1, 2]], [1], [3, 4, 5]), "Order length must be", id="another rank"),
        pytest.param(([[5, 2]], [1], [3, 4]), r"\[5,2\] is out of bounds", id="out of bounds"),
        pytest.param(([[2, 1], [0, 1]], [1, 2], [3, 4]), "out of order", id="out of order"),
        pytest.param(([[2, 1], [2, 1]], [1, 2], [3, 4]), r"\[2,1\] is repeated", id="repeated"),
        pytest.param(([[1]], [1], [3]), "should be > 1, but saw rank: 1", id="no rows"),
    ],
)
def test_what_has_no_rows_cannot_be_kept_by_row(session, parts, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(raw.AddManySparseToTensorsMap(*parts))


def test_a_fed_tensor_may_change_after_it_is_kept(session):
    values = tf.placeholder(tf.int32, [2])
    number, array = added(values, name="m"), np.array([1, 2], np.int32)
    kept = session.run(number, {values: array})
    array[:] = 9
    assert session.run(taken([kept], shared_name="m"))[1].tolist() == [1, 2]


# held by variants


@pytest.mark.parametrize("out_type", [tf.string, tf.variant])
def test_three_become_a_sparse_tensor_again(session, out_type):
    three = tf.serialize_sparse(sparse(["a", "b"]), out_type=out_type)
    assert lists(session.run(tf.deserialize_sparse(three, tf.string, rank=2))) == [
        PLACES, [b"a", b"b"], SHAPE,
    ]  # fmt: skip


@pytest.mark.parametrize("out_type", [tf.string, tf.variant])
def test_rows_become_a_sparse_tensor_again(session, out_type):
    rows = tf.serialize_many_sparse(sparse([1.5, 2.5]), out_type=out_type)
    assert lists(session.run(tf.deserialize_sparse(rows, tf.float32))) == [
        PLACES,
        [1.5, 2.5],
        SHAPE,
    ]
    whole = tf.deserialize_sparse(tf.stack([rows, rows]), tf.float32)
    assert session.run(whole.dense_shape).tolist() == [2, 3, 4]


def test_variants_go_through_a_queue(session):
    queue = tf.FIFOQueue(2, [tf.variant], [[3]])
    session.run(queue.enqueue(tf.serialize_sparse(sparse(), out_type=tf.variant)))
    assert lists(session.run(tf.deserialize_sparse(queue.dequeue(), tf.int32)))[1] == [1, 2]


def test_variants_cross_to_another_task():
    with tf.device("/job:ps"):
        three = tf.serialize_sparse(sparse(["a", "b"]), out_type=tf.variant)
    with tf.device("/job:worker"):
        found = tf.deserialize_sparse(three, tf.string)
    with ExitStack() as stack:
        tasks = start_servers({"ps": 1, "worker": 1}, inproc=False)
        servers = [stack.enter_context(each) for each in tasks]
        session = stack.enter_context(closing(tf.Session(servers[0].target)))
        assert lists(session.run(found)) == [PLACES, [b"a", b"b"], SHAPE]


# queues by reference


def test_an_old_node_uses_a_new_queue(session):
    queue = tf.FIFOQueue(3, [tf.int32], [[]])
    handle = raw.FakeQueue(queue.queue_ref)
    assert (handle.dtype.name, handle.shape.as_list()) == ("string_ref", [2])
    session.run(raw.QueueEnqueue(handle, [5]))
    session.run(queue.enqueue(6))
    assert session.run(raw.QueueSize(handle)) == 2
    dequeue = raw.QueueDequeue(handle, component_types=[tf.int32])
    assert [session.run(dequeue) for _ in "ab"] == [[5], [6]]


def test_only_a_queue_is_one(session):
    handle = raw.FakeQueue(raw.StackV2(1, elem_type=tf.int32))
    with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
        session.run(raw.QueueSize(handle))


# from files to a network


def example(words):
    found = tf.train.Example()
    found.features.feature["words"].bytes_list.value.extend(words)
    return found.SerializeToString()


def test_parsed_words_are_batched_and_become_dense(session, tmp_path):
    path = str(tmp_path / "examples")
    with tf.python_io.TFRecordWriter(path) as writer:
        for words in ([b"a"], [], [b"b", b"c", b"d"]):
            writer.write(example(words))
    names = tf.train.string_input_producer([path], num_epochs=1, shuffle=False)
    _, record = tf.TFRecordReader().read(names)
    words = tf.parse_single_example(record, {"words": tf.VarLenFeature(tf.string)})["words"]
    batch = tf.train.batch([words], 3)
    dense = tf.sparse.to_dense(batch, "-")
    session.run(tf.local_variables_initializer())
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    assert session.run(dense).tolist() == [[b"a", b"-", b"-"], [b"-"] * 3, [b"b", b"c", b"d"]]
    coordinator.request_stop()
    coordinator.join(threads)


# where dense tensors may be, too


def test_a_branch_may_give_sparse_tensors_and_slices(session):
    def side(value):
        def build():
            slices = tf.IndexedSlices(tf.constant([float(value)]), tf.constant([value]))
            return {"sparse": sparse([value, value]), "slices": slices, "dense": tf.constant(value)}

        return build

    taken = tf.placeholder(tf.bool, [])
    result = tf.cond(taken, side(1), side(2))
    assert isinstance(result["sparse"], tf.SparseTensor)
    assert isinstance(result["slices"], tf.IndexedSlices)
    assert result["slices"].dense_shape is None
    for value, choice in ((1, True), (2, False)):
        found = session.run(result, {taken: choice})
        assert lists(found["sparse"]) == [PLACES, [value, value], SHAPE]
        assert (found["slices"].values, found["slices"].indices) == (value, value)
        assert found["dense"] == value


def test_gradients_flow_through_sparse_results_of_branches(session):
    taken, values = tf.placeholder(tf.bool, []), tf.constant([1.0, 2.0])
    result = tf.cond(taken, lambda: sparse(values * 2.0), lambda: sparse(values * 3.0))
    gradient = tf.gradients(result.values, values)[0]
    assert session.run(gradient, {taken: True}).tolist() == [2.0, 2.0]
    assert session.run(gradient, {taken: False}).tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    "other",
    [
        lambda: tf.constant(1),
        lambda: tf.IndexedSlices(tf.constant([1]), tf.constant([0])),
        lambda: tf.IndexedSlices(tf.constant([1]), tf.constant([0]), tf.constant([3])),
    ],
)
def test_both_branches_give_sparse_tensors_or_none_does(other):
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        tf.cond(tf.placeholder(tf.bool, []), sparse, other)


def test_a_tuple_waits_with_sparse_tensors(session):
    ran = tf.Variable(0)
    both = tf.tuple([sparse(), tf.constant(3), None], control_inputs=[ran.assign(1)])
    session.run(ran.initializer)
    assert lists(session.run(both[0])) == [PLACES, [1, 2], SHAPE]
    assert session.run(ran) == 1
    assert both[2] is None


@pytest.mark.parametrize("of", [sparse, lambda: tf.SparseTensorValue(PLACES, [1, 2], SHAPE)])
def test_the_shape_of_a_sparse_tensor(session, of):
    value = of()
    found = [tf.shape(value), tf.shape(value, out_type=tf.int64), tf.rank(value), tf.size(value)]
    assert [each.name for each in found] == ["Shape/Cast:0", "Shape_1/Cast:0", "Rank:0", "Size:0"]
    assert [each.dtype for each in found] == [tf.int32, tf.int64, tf.int32, tf.int32]
    assert [each.tolist() for each in session.run(found)] == [SHAPE, SHAPE, 2, 12]


def test_a_cast_of_a_sparse_tensor_is_sparse(session):
    made = tf.cast(sparse(), tf.float32, name="floats")
    assert (made.dtype, made.name) == (tf.float32, "floats:0")
    assert lists(session.run(made)) == [PLACES, [1.0, 2.0], SHAPE]
