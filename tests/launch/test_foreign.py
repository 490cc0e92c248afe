"""A cluster of other machines, started here."""

import json

import pytest

import tfdist as tf
from tfdist.errors import InvalidArgumentError, UnavailableError
from tfdist.launch.clusters import find_cluster
from tfdist.launch.foreign import foreign_spec, start_local

SPEC = {
    "ps": ["ps-0.ps.default.svc:2222"],
    "worker": ["worker-0.worker.default.svc:2222", "worker-1.worker.default.svc:2222"],
}
CONFIG = {"cluster": SPEC, "task": {"type": "worker", "index": 1}}


@pytest.mark.parametrize("processes", [False, True], ids=["in kernel", "processes"])
def test_programs_reach_the_local_servers_by_the_foreign_addresses(processes):
    with tf.Graph().as_default(), start_local(SPEC, processes=processes).require() as cluster:
        with tf.device("/job:worker/task:1"):
            doubled = tf.constant(21) * 2
        assert all(row.address.startswith("127.0.0.1:") for row in cluster.status())
        assert [row.foreign for row in cluster.status()] == [
            where for *_, where in foreign_spec(SPEC).tasks()
        ]
        assert set(cluster.spec.as_dict()) == {"ps", "worker"}
        with tf.Session(f"grpc://{SPEC['worker'][0]}") as session:
            assert session.run(doubled) == 42


def test_when_it_has_stopped_the_addresses_are_foreign_again(monkeypatch):
    monkeypatch.setenv("TFDIST_TIMEOUTS", "session=0.2")
    spec = {"ps": ["127.0.0.2:1"]}
    start_local(spec).require().stop()
    with tf.Graph().as_default():
        session, one = tf.Session("grpc://127.0.0.2:1"), tf.constant(1)
        with pytest.raises(UnavailableError, match=r"no server answers at 127\.0\.0\.2:1"):
            session.run(one)


def test_starting_it_again_reuses_it_and_others_are_told_apart():
    with start_local(SPEC).require():
        assert start_local(SPEC).word == "reused"
        other = start_local({**SPEC, "ps": ["elsewhere:1"]})
        assert "stands for other addresses; --replace" in str(other)
        beside = start_local(SPEC, name="beside")
        assert "stands for ps-0.ps.default.svc:2222 already" in str(beside)
        assert find_cluster("beside") is None
        assert start_local({**SPEC, "ps": ["elsewhere:1"]}, replace=True).word == "replaced"
        find_cluster().stop()


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(SPEC, id="dict"),
        pytest.param(CONFIG, id="dict of TF_CONFIG"),
        pytest.param(json.dumps(SPEC), id="JSON"),
        pytest.param(json.dumps(CONFIG), id="JSON of TF_CONFIG"),
        pytest.param(tf.train.ClusterSpec(SPEC), id="ClusterSpec"),
        pytest.param("TF_CONFIG", id="environment"),
        pytest.param("FILE", id="file"),
    ],
)
def test_a_cluster_is_said_in_many_ways(given, tmp_path, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps(CONFIG))
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(SPEC))
    assert foreign_spec(str(file) if given == "FILE" else given).as_dict() == SPEC


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        pytest.param({"ps": ["localhost:1"]}, ValueError, "on this machine already", id="here"),
        pytest.param({"ps": ["a:1", "a:1"]}, ValueError, "have one address, a:1", id="twice"),
        pytest.param({"ps": {1: "a:1"}}, ValueError, "has all, from 0 on", id="task left out"),
        pytest.param("no-such-file", InvalidArgumentError, "cannot read the file", id="no file"),
        pytest.param('{"task": {"type": "ps"}}', ValueError, 'without "cluster"', id="no cluster"),
        pytest.param(7, TypeError, "a cluster is a dict", id="number"),
    ],
)
def test_what_is_no_such_cluster(given, kind, message):
    with pytest.raises(kind, match=message):
        foreign_spec(given)
