"""Datasets of Dask collections, fetched from the workers that hold the partitions."""

import numpy as np
import pandas
import pytest
from dask import array, bag, dataframe
from distributed import Client, wait

import tfdist as tf
from tests.launch.managers.dask.running import running_dask
from tfdist.datasets.dask import nearest
from tfdist.launch.start import start_cluster

D = tf.data.Dataset


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    """Yield a Dask cluster."""
    yield from running_dask(tmp_path_factory.mktemp("dask"), 2)


@pytest.fixture
def client(dask):
    """Yield the current client."""
    with Client(dask.address) as client:
        yield client


def elements(dataset, target=""):
    """Return the elements of a dataset."""
    element = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session(target) as session:
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found


def frame(client):
    """Return a dataframe of two partitions."""
    table = pandas.DataFrame({"n": [1, 2, 3], "x": [0.5, 0.25, 1.0], "s": ["a", "b", "c"]})
    return dataframe.from_pandas(table, npartitions=2)


@pytest.fixture
def default_graph():
    """Have each test build a graph of its own."""
    with tf.Graph().as_default():
        yield


def test_rows_of_an_array_come_in_order(client, default_graph):
    blocks = array.arange(12, chunks=4).reshape(6, 2).rechunk((2, 1))
    dataset = D.from_dask(blocks)
    assert (dataset.output_types, dataset.output_shapes.as_list()) == (tf.int64, [2])
    assert np.array_equal(elements(dataset), np.arange(12).reshape(6, 2))


def test_a_partition_can_be_an_element(client, default_graph):
    found = elements(D.from_dask(array.arange(5, chunks=3), whole_partitions=True))
    assert [list(each) for each in found] == [[0, 1, 2], [3, 4]]


def test_rows_of_a_dataframe_are_dicts(client, default_graph):
    dataset = D.from_dask(frame(client))
    assert dataset.output_types == {"n": tf.int64, "s": tf.string, "x": tf.float64}
    assert elements(dataset)[1:] == [
        {"n": 2, "s": b"b", "x": 0.25}, {"n": 3, "s": b"c", "x": 1.0},
    ]  # fmt: skip
    assert elements(D.from_dask(frame(client)["n"])) == [1, 2, 3]


def test_items_of_a_bag_keep_their_structure(client, default_graph):
    items = [{"a": float(i), "b": (f"text {i}", np.ones(2) * i)} for i in range(3)]
    found = elements(D.from_dask(bag.from_sequence(items, npartitions=2)))
    assert [each["b"][0] for each in found] == [b"text 0", b"text 1", b"text 2"]
    assert [list(each["b"][1]) for each in found] == [[0, 0], [1, 1], [2, 2]]


def test_stages_follow_as_on_any_dataset(client, default_graph):
    dataset = D.from_dask(array.arange(6, chunks=2)).map(lambda x: x * 2).repeat(2).batch(8)
    assert [list(each) for each in elements(dataset.prefetch(1))] == [
        [0, 2, 4, 6, 8, 10, 0, 2], [4, 6, 8, 10],
    ]  # fmt: skip


def test_shards_have_all_partitions_once(client, default_graph):
    blocks = array.arange(8, chunks=2)
    parts = [elements(D.from_dask(blocks, 3, index)) for index in range(3)]
    assert sorted(np.concatenate(parts)) == list(range(8))


def test_shards_of_workers_have_what_these_hold(client, default_graph):
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    blocks = array.arange(8, chunks=2).persist()
    wait(blocks)
    parts = [elements(D.from_dask(blocks, workers, index)) for index in range(2)]
    assert sorted(np.concatenate(parts)) == list(range(8))
    assert {len(part) for part in parts} == {4}


def test_a_server_elsewhere_fetches_by_itself(client, default_graph):
    with start_cluster({"worker": 2}, processes=True).require() as cluster:
        with tf.device("/job:worker/task:1"):
            dataset = D.from_dask(array.arange(4, chunks=2))
            assert elements(dataset, cluster.target()) == [0, 1, 2, 3]


def test_partitions_that_are_gone_are_told(dask, default_graph):
    with Client(dask.address):
        dataset = D.from_dask(array.arange(4, chunks=2))
    with pytest.raises(tf.errors.UnavailableError, match=r"partition 0 of 2 cannot be had.*gone"):
        elements(dataset)


def fails(block):
    """Raise what a user's function may."""
    raise RuntimeError("a bad block")


def test_a_computation_that_fails_is_told(client, default_graph):
    blocks = array.arange(4, chunks=2).map_blocks(fails, dtype=np.int64, meta=np.array([], int))
    with pytest.raises(tf.errors.UnavailableError, match="its computation failed"):
        elements(D.from_dask(blocks))


@pytest.mark.parametrize(("collection", "wanted"), [
    (3, "wanted a Dask array, dataframe, series or bag, got int"),
    (array.arange(3, chunks=1).sum(), "an array of rank 0 has no rows"),
])  # fmt: skip
def test_what_is_no_collection_is_refused(client, default_graph, collection, wanted):
    with pytest.raises((TypeError, ValueError), match=wanted):
        D.from_dask(collection)


def test_a_shard_that_is_not_there_is_refused(client, default_graph):
    with pytest.raises(ValueError, match="no shard 2 of 2"):
        D.from_dask(array.arange(3, chunks=1), 2, 2)


def test_without_a_client_it_is_said_what_to_do(default_graph):
    with pytest.raises(ValueError, match=r"make one: dask\.distributed.Client"):
        D.from_dask(array.arange(3, chunks=1))


CASES = {
    "where they are held": ([["a"], ["b"]], ["b", "a"], [1, 0]),
    "equally many, though one holds all": ([["a"]] * 4, ["a", "b"], [0, 0, 1, 1]),
    "nobody's go where there is room": ([["x"], ["a"]], ["a", "b"], [1, 0]),
}


@pytest.mark.parametrize("case", CASES)
def test_nearest(case):
    holders, shards, wanted = CASES[case]
    assert nearest(holders, shards) == wanted
