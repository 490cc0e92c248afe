"""ClusterSpec: the whole interface, with the answers that TensorFlow gives."""

import socket

import pytest
from google.protobuf import text_format

import tfdist as tf

JOBS = {
    "ps": ["ps0.example.com:2222", "ps1.example.com:2222"],
    "worker": ["worker0.example.com:2222", "worker1.example.com:2222", "worker2.example.com:2222"],
}

# as "First Insight of TensorFlow Architecture" prints it (2017)
PRINTED = """
job {
  name: "ps"
  tasks { value: "ps0.example.com:2222" }
  tasks { key: 1 value: "ps1.example.com:2222" }
}
job {
  name: "worker"
  tasks { value: "worker0.example.com:2222" }
  tasks { key: 1 value: "worker1.example.com:2222" }
  tasks { key: 2 value: "worker2.example.com:2222" }
}
"""


@pytest.fixture
def cluster():
    return tf.train.ClusterSpec(JOBS)


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        pytest.param(lambda c: c.jobs, ["ps", "worker"], id="jobs"),
        pytest.param(lambda c: c.as_dict(), JOBS, id="as_dict"),
        pytest.param(lambda c: c.job_tasks("worker"), JOBS["worker"], id="job_tasks"),
        pytest.param(lambda c: c.num_tasks("worker"), 3, id="num_tasks"),
        pytest.param(lambda c: c.task_indices("worker"), [0, 1, 2], id="task_indices"),
        pytest.param(lambda c: c.task_address("worker", 2), JOBS["worker"][2], id="task_address"),
        pytest.param(str, f"ClusterSpec({JOBS!r})", id="str"),
        pytest.param(bool, True, id="bool"),
    ],
)
def test_what_a_cluster_says(cluster, ask, expected):
    assert ask(cluster) == expected


def test_the_message_is_the_one_that_tensorflow_prints(cluster):
    assert cluster.as_cluster_def() == text_format.Parse(PRINTED, tf.train.ClusterDef())


def test_a_message_prints_its_addresses(cluster):
    printed = str(cluster.as_cluster_def())
    assert printed.startswith('job {\n  name: "ps"\n  tasks {\n')
    assert '    key: 1\n    value: "ps1.example.com:2222"\n' in printed


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"a": ("x", "y")}, {"a": ["x", "y"]}, id="tuples"),
        pytest.param({"a": {0: "x", 1: "y"}}, {"a": ["x", "y"]}, id="a dict without holes"),
        pytest.param({"a": {37: "x"}}, {"a": {37: "x"}}, id="a dict with holes"),
        pytest.param({"a": [b"x"]}, {"a": ["x"]}, id="bytes"),
        pytest.param({"a": []}, {"a": []}, id="a job without tasks"),
        pytest.param({}, {}, id="no jobs"),
        pytest.param({"w": ["x"], "a": ["y"]}, {"a": ["y"], "w": ["x"]}, id="sorted by job"),
    ],
)
def test_what_a_cluster_is_made_of(given, expected):
    cluster = tf.train.ClusterSpec(given)
    assert cluster.as_dict() == expected
    assert list(cluster.as_dict()) == list(expected)
    for copy in (cluster, cluster.as_cluster_def(), expected):
        assert tf.train.ClusterSpec(copy) == cluster


def test_a_sparse_job():
    cluster = tf.train.ClusterSpec({"worker": {1: "c:3", 4: "d:3"}})
    assert cluster.num_tasks("worker") == 2
    assert cluster.task_indices("worker") == [1, 4]
    assert cluster.job_tasks("worker") == [None, "c:3", None, None, "d:3"]
    assert list(cluster.tasks()) == [("worker", 1, "c:3"), ("worker", 4, "d:3")]


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(3, id="a number"),
        pytest.param(None, id="nothing"),
        pytest.param(["a:1"], id="a list"),
        pytest.param({"a": "x:1"}, id="an address instead of a list of them"),
        pytest.param({"a": 3}, id="a number of tasks"),
        pytest.param({"a": [3]}, id="an address that is a number"),
        pytest.param({"a": {"x": "y:1"}}, id="a task index that is a word"),
        pytest.param({3: ["x"]}, id="a job that is a number"),
    ],
)
def test_what_is_no_cluster(junk):
    with pytest.raises(TypeError):
        tf.train.ClusterSpec(junk)


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        pytest.param(lambda c: c.num_tasks("w"), r"'w'.*\['ps', 'worker'\]", id="num_tasks"),
        pytest.param(lambda c: c.job_tasks("w"), r"'w'.*\['ps', 'worker'\]", id="job_tasks"),
        pytest.param(lambda c: c.task_indices("w"), "'w'", id="task_indices"),
        pytest.param(lambda c: c.task_address("w", 0), "'w'", id="task_address, the job"),
        pytest.param(lambda c: c.task_address("ps", 7), r"7 .*'ps'.*\[0, 1\]", id="the index"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(cluster, ask, text):
    with pytest.raises(ValueError, match=text):
        ask(cluster)


def test_clusters_equal_and_hash_by_their_tasks(cluster):
    same = tf.train.ClusterSpec({"worker": JOBS["worker"], "ps": dict(enumerate(JOBS["ps"]))})
    assert cluster == same
    assert hash(cluster) == hash(same)
    assert cluster != tf.train.ClusterSpec({"ps": JOBS["ps"]})
    assert cluster != JOBS


def test_an_empty_cluster_is_false():
    assert not tf.train.ClusterSpec({})


def test_what_was_given_can_change_afterwards():
    jobs = {"ps": ["a:1"]}
    cluster = tf.train.ClusterSpec(jobs)
    jobs["ps"].append("b:1")
    cluster.as_dict()["ps"].append("c:1")
    assert cluster.as_dict() == {"ps": ["a:1"]}


def test_two_tasks_at_one_address_are_told_once(recwarn):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"localhost:{taken.getsockname()[1]}"
    cluster = {"ps": [address, "localhost:0"], "worker": [address, "localhost:0"]}
    for _ in range(2):
        tf.train.Server(cluster, "worker", 0).stop()
    [warning] = recwarn
    assert f"/job:ps/task:0 and /job:worker/task:0 have the same address {address}" in str(
        warning.message
    )
    assert warning.filename == __file__
