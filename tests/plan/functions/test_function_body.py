"""A function's body as a partition: what it takes and gives, and what travels with nodes."""

import pytest

import tfdist as tf
from tfdist.errors import InvalidArgumentError
from tfdist.graph.functions import NO_FUNCTIONS, Library, NameAttrList
from tfdist.graph.records import records
from tfdist.plan.functions.function_body import body_partition, reachable

DEVICE = "/job:worker/replica:0/task:1/device:CPU:0"


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        outer = tf.data.Dataset.range(3)
        outer.flat_map(lambda x: tf.data.Dataset.range(x).map(lambda y: x + y))
        tf.data.Dataset.range(3).filter(lambda x: x > 1)
        yield graph


def names(library, part):
    return [name for name in library.functions if part in name]


def test_a_body_takes_its_arguments_as_feeds(graph):
    [name] = names(graph.library, "Dataset_map_")
    partition, _ = body_partition(NameAttrList(name), graph.library, DEVICE)
    assert partition.task == "/job:worker/replica:0/task:1"
    assert len(partition.feeds) == 2
    assert len(partition.fetches) == 1
    assert {node.device for node in partition.nodes} == {DEVICE}
    assert [node.op for node in partition.nodes if node.op == "AddV2"] == ["AddV2"]


def test_a_function_that_is_missing_is_named(graph):
    with pytest.raises(InvalidArgumentError, match="'absent' is not in the graph's library"):
        body_partition(NameAttrList("absent"), NO_FUNCTIONS, DEVICE)


def test_what_travels_is_what_can_be_called(graph):
    nodes, library = records(graph.get_operations()), graph.library
    flat = [node for node in nodes if node.op == "FlatMapDataset"]
    found = reachable(flat, library)
    assert sorted(found.functions) == sorted(names(library, "map_"))
    assert reachable([node for node in nodes if node.op == "RangeDataset"], library) == Library()
    assert reachable(nodes, library).functions.keys() == library.functions.keys()
