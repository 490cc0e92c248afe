"""Partitioned variables: beside what TensorFlow 1.15.5 makes of the same programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.ops.variables.part_outcomes import outcome
from tests.ops.variables.part_programs import PROGRAMS

EXPECTED = json.loads(
    Path(__file__).with_name("expected_parts_1_15.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_tensorflow(name):
    assert json.loads(json.dumps(outcome(tf, PROGRAMS, name))) == EXPECTED[name]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_it_says_what_it_is():
    v = tf.get_variable("v", [5, 3], partitioner=tf.fixed_size_partitioner(2))
    assert repr(v) == "<tf.PartitionedVariable 'v' shape=(5, 3) dtype=float32 in 2 parts>"


def test_operations_instead_of_changed_parts():
    v = tf.get_variable("v", [4], partitioner=tf.fixed_size_partitioner(2))
    changes = v.assign(tf.zeros([4]), read_value=False)
    assert [type(each) for each in changes] == [tf.Operation, tf.Operation]


def test_all_servers_train_their_part():
    """The parts are on two servers, the model on a worker: what is trained is the whole."""
    cluster = tf.train.ClusterSpec(
        {"ps": ["localhost:0", "localhost:1"], "worker": ["localhost:2"]}
    )
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        v = tf.get_variable("v", [4, 2], partitioner=tf.fixed_size_partitioner(2))
        loss = tf.reduce_sum(tf.nn.embedding_lookup(v, [0, 3], "div"))
        train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    assert [part.device for part in v] == ["/job:ps/task:0", "/job:ps/task:1"]
    applied = [op for op in train.graph.get_operations() if op.type == "ScatterSub"]
    assert [op.device for op in applied] == ["/job:ps/task:0", "/job:ps/task:1"]
