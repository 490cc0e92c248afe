"""Who fills and empties what, as it is seen in a graph; and what has to come before a node."""

import pytest

import tfdist as tf
from tfdist.graph.records import records
from tfdist.plan.resource_uses import awaited_by, resource_uses_in, sends_in


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def nodes():
    """Return the default graph's nodes by name."""
    return {node.name: node for node in records(tf.get_default_graph().get_operations())}


def uses():
    return {
        use.node.name: (use.kind, use.maker.name, use.gives) for use in resource_uses_in(nodes())
    }


def test_what_nodes_do_to_a_queue():
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]], name="q")
    queue.enqueue(1.0, name="put")
    queue.enqueue_many([[1.0]], name="put_many")
    queue.dequeue(name="take")
    queue.dequeue_many(2, name="take_many")
    queue.size(name="size")
    queue.close(name="close")
    queue.close(cancel_pending_enqueues=True, name="cancel")
    assert uses() == {
        "put": ("queue", "q", ("elements",)),
        "put_many": ("queue", "q", ("elements",)),
        "take": ("queue", "q", ("room",)),
        "take_many": ("queue", "q", ("room",)),
        "close": ("queue", "q", ("elements",)),
        "cancel": ("queue", "q", ("elements", "room")),
    }


def test_a_reader_empties_its_queue():
    queue = tf.FIFOQueue(3, tf.string, shapes=[[]], name="files")
    tf.TextLineReader(name="reader").read(queue, name="read")
    assert uses()["read"] == ("queue", "files", ("room",))


def test_handles_are_followed_through_loops_and_branches():
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]], name="q")

    def body(i):
        with tf.control_dependencies([queue.enqueue(1.0)]):
            return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    tf.cond(tf.constant(True), queue.dequeue, lambda: tf.constant(1.0))
    assert {(maker, gives) for _, maker, gives in uses().values()} == {
        ("q", ("elements",)),
        ("q", ("room",)),
    }


def test_a_handle_that_is_chosen_when_it_runs_is_not_known():
    queues = [tf.FIFOQueue(3, tf.float32, shapes=[[]], name=name) for name in "pq"]
    tf.QueueBase.from_list(tf.placeholder(tf.int32, []), queues).enqueue(1.0, name="put")
    assert uses() == {}


def test_nothing_is_sent_in_a_graph_that_is_not_cut():
    tf.constant(1.0)
    assert list(sends_in(nodes())) == []


@pytest.mark.parametrize(
    ("name", "waiting", "found"),
    [
        ("d", (), ()),
        ("d", ("a",), ("a",)),
        ("d", ("a", "b"), ("b",)),  # b itself comes behind a
        ("d", ("d", "a"), ("d",)),
        ("a", ("d",), ()),
        ("d", ("c", "a"), ("a", "c")),
    ],
)
def test_what_waits_before_a_node(name, waiting, found):
    a = tf.placeholder(tf.float32, [], name="a")
    b = tf.identity(a, name="b")
    c = tf.constant(1.0, name="c")
    with tf.control_dependencies([c]):
        tf.identity(b, name="d")
    assert awaited_by(nodes(), name, waiting) == found
