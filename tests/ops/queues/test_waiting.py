"""Accumulators, barriers and staging areas: steps of several sessions fill them, and wait."""

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.blocking import Call, until
from tfdist.ops.queues.barriers import Barrier


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def server():
    with tf.train.Server.create_local_server() as server:
        yield server


def waits(server):
    """Return what the resources of a server are waited for."""
    rows = server.task.worker.resources.rows()
    return [
        each.who.describe()
        for row in rows
        if hasattr(row[-1], "info")
        for each in row[-1].info().consumers
    ]


def shared(kind):
    """Return what fills, and what waits for that, each in a graph of its own."""
    found = []
    for _ in range(2):
        with tf.Graph().as_default() as graph:
            found.append((graph, kind()))
    return found


def accumulator():
    total = tf.ConditionalAccumulator(tf.float32, shape=[], shared_name="x")
    return total.apply_grad(6.0), total.take_grad(1)


def sparse_accumulator():
    total = tf.SparseConditionalAccumulator(tf.float32, shape=[3], shared_name="x")
    return total.apply_grad([1], [6.0]), total.take_grad(1).values


def barrier():
    whole = Barrier([tf.float32], shapes=[[]], shared_name="x")
    return whole.insert_many(0, ["a"], [6.0]), whole.take_many(1).values


def staging_area():
    area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[]], shared_name="x")
    return area.put([tf.constant(6.0)]), area.get()


def map_staging_area():
    area = tf.contrib.staging.MapStagingArea([tf.float32], shared_name="x")
    return area.put(tf.constant(1, tf.int64), [tf.constant(6.0)], [0]), area.get()[1]


KINDS = pytest.mark.parametrize(
    "kind", [accumulator, sparse_accumulator, barrier, staging_area, map_staging_area]
)


@KINDS
def test_one_session_waits_for_what_another_brings(server, kind):
    (one, (put, _)), (other, (_, take)) = shared(kind)
    with (
        tf.Session(server.target, graph=one) as here,
        tf.Session(server.target, graph=other) as there,
    ):
        call = Call(there.run, take)
        until(lambda: waits(server))
        here.run(put)
        assert np.ravel(call.result()) == [6.0]
        assert waits(server) == []


@KINDS
def test_who_waits_too_long_is_told_for_what_and_leaves(server, kind):
    _, take = kind()
    with tf.Session(server.target) as session:
        options = tf.RunOptions(timeout_in_ms=300)
        with pytest.raises(tf.errors.DeadlineExceededError, match="'x' waits for"):
            session.run(take, options=options)
        assert waits(server) == []


@KINDS
def test_a_name_is_shared_within_a_container_only(kind):
    put, _ = kind()
    with tf.container("elsewhere"):
        other_put, take = kind()
    with tf.Session() as session:
        session.run(put)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(take, options=tf.RunOptions(timeout_in_ms=50))
        session.run(other_put)
        session.run(take)


def test_what_is_found_must_be_of_that_type():
    one = tf.ConditionalAccumulator(tf.float64, shared_name="x").num_accumulated()
    other = tf.ConditionalAccumulator(tf.float32, shared_name="x").num_accumulated()
    rows = tf.SparseConditionalAccumulator(tf.float64, shared_name="x").num_accumulated()
    with tf.Session() as session:
        assert session.run(one) == 0
        for each in (other, rows):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Shared conditional accum"):
                session.run(each)


def test_means_of_a_row_count_only_those_who_have_it():
    total = tf.SparseConditionalAccumulator(tf.float32, shape=[9, 1])
    mean = total.take_indexed_slices_grad(3)
    with tf.Session() as session:
        for indices, rows in (([7, 1], [[4], [1]]), ([1], [[3]]), ([1, 1], [[2], [6]])):
            session.run(total.apply_grad(indices, np.array(rows, np.float32)))
        found = session.run([mean.indices, mean.values, mean.dense_shape])
    assert [each.tolist() for each in found] == [[1, 7], [[4.0], [4.0]], [9, 1]]


def test_a_mean_is_private():
    gradient = tf.placeholder(tf.float32, [2])
    total = tf.ConditionalAccumulator(tf.float32, shape=[2])
    fed = np.ones(2, np.float32)
    with tf.Session() as session:
        session.run(total.apply_grad(gradient), {gradient: fed})
        fed[:] = 9
        mean = session.run(total.take_grad(1))
        mean[:] = 7
        session.run(total.apply_grad(gradient, local_step=1), {gradient: fed})
        assert session.run(total.take_grad(1)).tolist() == [9.0, 9.0]


def test_a_key_comes_with_all_its_components():
    whole = Barrier([tf.float32, tf.string], shapes=[[], [2]])
    with tf.Session() as session:
        session.run(whole.insert_many(0, ["a", "b"], [1.0, 2.0]))
        assert session.run([whole.ready_size(), whole.incomplete_size()]) == [0, 2]
        session.run(whole.insert_many(1, ["b"], [["x", "y"]]))
        taken = session.run(whole.take_many(1))
    assert taken.keys.tolist() == [b"b"]
    assert [each.tolist() for each in taken.values] == [[2.0], [[b"x", b"y"]]]


@pytest.mark.parametrize(
    ("component", "keys", "values"),
    [
        pytest.param(0, ["a"], [[1.0, 2.0]], id="another shape"),
        pytest.param(0, ["a", "b"], [1.0], id="not as many"),
        pytest.param(1, ["a"], [1.0], id="no such component"),
    ],
)
def test_what_does_not_fit_a_barrier_is_told(component, keys, values):
    whole = Barrier([tf.float32], shapes=[[]])
    values = tf.placeholder_with_default(np.array(values, np.float32), None)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="barrier"):
        session.run(tf.raw_ops.BarrierInsertMany(
            handle=whole.barrier_ref, keys=keys, values=values,
            component_index=component))  # fmt: skip
