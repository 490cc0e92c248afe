"""Where pipelines are placed: an unpinned one goes with its only iterator."""

import tfdist as tf
from tests.plan.graphs import cluster, nodes_of, short
from tfdist.plan.place import place

D = tf.data.Dataset


def places(build):
    graph = nodes_of(build)
    found = place(list(graph.values()), graph, {}, cluster("a0", "b0", "b1"))
    return {name: short(there.device) for name, there in found.items()}


def test_an_unpinned_pipeline_joins_its_iterator():
    def build():
        pipeline = D.range(3).map(lambda x: x + 1)
        with tf.device("/job:b/task:1"):
            pipeline.make_initializable_iterator()

    assert set(places(build).values()) == {"b1"}


def test_a_pipeline_of_two_iterators_on_two_tasks_stays():
    def build():
        pipeline = D.range(3)
        for task in (0, 1):
            with tf.device(f"/job:b/task:{task}"):
                pipeline.make_initializable_iterator()

    found = places(build)
    assert found["RangeDataset"] == "a0"
    assert [found[name] for name in ("OptimizeDataset", "OptimizeDataset_1")] == ["b0", "b1"]


def test_a_pinned_stage_stays_where_it_was_pinned():
    def build():
        with tf.device("/job:b/task:0"):
            pipeline = D.range(3)
        with tf.device("/job:b/task:1"):
            pipeline.batch(2).make_initializable_iterator()

    found = places(build)
    assert (found["RangeDataset"], found["BatchDatasetV2"]) == ("b0", "b1")
