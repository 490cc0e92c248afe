"""Cluster resolvers say what those of TensorFlow 1.15.5 said when they were asked."""

import importlib
import json

import pytest

import tfdist as tf

SPEC = tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:2", "c:3"]})
OTHER = tf.train.ClusterSpec({"worker": ["d:4"]})
SPARSE = tf.train.ClusterSpec({"w": {2: "x"}})
TOLD = {
    "cluster": {"ps": ["a:1"], "worker": ["b:2", "c:3"]}, "task": {"type": "worker", "index": 1},
    "rpc_layer": "grpc", "environment": "cloud",
}  # fmt: skip

SIMPLE, FROM_ENVIRONMENT, UNION = (
    tf.distribute.cluster_resolver.SimpleClusterResolver,
    tf.distribute.cluster_resolver.TFConfigClusterResolver,
    tf.contrib.cluster_resolver.UnionClusterResolver,
)


def numbered(address):
    return SIMPLE(tf.train.ClusterSpec({"w": address}))


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda: SIMPLE(SPEC).master(), ""),
        (lambda: SIMPLE(SPEC, "m:1").master(), "m:1"),
        (lambda: SIMPLE(SPEC, "m:1", rpc_layer="grpc").master(), "grpc://m:1"),
        (lambda: SIMPLE(SPEC).master("worker", 1), "c:3"),
        (lambda: SIMPLE(SPEC).master("worker", 1, "grpc"), "grpc://c:3"),
        (lambda: SIMPLE(SPEC, "x", task_type="worker", task_id=1).master(), "x"),
        (lambda: SIMPLE(SPEC, task_type="worker", task_id=1).task_type, "worker"),
        (lambda: SIMPLE(SPEC).task_id, None),
        (lambda: SIMPLE(SPEC).environment, ""),
        (lambda: SIMPLE(SPEC, num_accelerators={"GPU": 2}).num_accelerators(), {"GPU": 2}),
        (lambda: SIMPLE(SPEC).num_accelerators("worker", 0), {}),
        (lambda: UNION(SIMPLE(SPEC), SIMPLE(OTHER)).cluster_spec().as_dict(),
         {"ps": ["a:1"], "worker": ["b:2", "c:3", "d:4"]}),
        (lambda: UNION(SIMPLE(SPEC, "m:1"), SIMPLE(OTHER)).master(), "m:1"),
        (lambda: UNION(SIMPLE(SPEC, rpc_layer="r", environment="e")).rpc_layer, "r"),
        (lambda: UNION(SIMPLE(SPEC, environment="e")).environment, "e"),
        (lambda: UNION(SIMPLE(SPEC, task_type="worker"), task_type="q", task_id=4).task_type, "q"),
        (lambda: UNION(SIMPLE(SPARSE), numbered(["y"])).cluster_spec().as_dict(),
         {"w": {0: "y", 2: "x"}}),
    ],
)  # fmt: skip
def test_a_resolver_answers_as_in_tensorflow(ask, answer):
    assert ask() == answer


@pytest.mark.parametrize(
    ("told", "ask", "answer"),
    [
        (None, lambda: FROM_ENVIRONMENT().cluster_spec().as_dict(), {}),
        (None, lambda: FROM_ENVIRONMENT().master(), ""),
        (None, lambda: FROM_ENVIRONMENT().task_type, None),
        (TOLD, lambda: FROM_ENVIRONMENT().cluster_spec().as_dict(), SPEC.as_dict()),
        (TOLD, lambda: FROM_ENVIRONMENT().master(), "grpc://c:3"),
        (TOLD, lambda: FROM_ENVIRONMENT().master("ps", 0, "x"), "grpc://a:1"),
        (TOLD, lambda: FROM_ENVIRONMENT().task_id, 1),
        (TOLD, lambda: FROM_ENVIRONMENT().environment, None),
        (TOLD, lambda: FROM_ENVIRONMENT(environment="y").environment, "y"),
        (TOLD, lambda: FROM_ENVIRONMENT("ps", 0, "z").master(), "z://a:1"),
        ({"cluster": {"worker": ["b:2"]}}, lambda: FROM_ENVIRONMENT().master(), ""),
    ],
)
def test_tf_config_is_read_as_in_tensorflow(monkeypatch, told, ask, answer):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if told is not None:
        monkeypatch.setenv("TF_CONFIG", json.dumps(told))
    assert ask() == answer


@pytest.mark.parametrize(
    ("ask", "error", "text"),
    [
        (lambda: SIMPLE({"a": ["b"]}), TypeError, "must be a ClusterSpec"),
        (lambda: UNION(), ValueError, "At least one ClusterResolver is required"),
        (lambda: UNION(3), TypeError, "must be a sub-class of `ClusterResolver"),
        (lambda: UNION(SIMPLE(SPARSE), numbered({2: "y"})).cluster_spec(), KeyError,
         r"Duplicate keys detected when merging two ClusterSpecs: \{2\}"),
    ],
)  # fmt: skip
def test_errors_are_those_of_tensorflow(ask, error, text):
    with pytest.raises(error, match=text):
        ask()


@pytest.mark.parametrize(
    "path",
    [
        "tensorflow.contrib.cluster_resolver",
        "tensorflow.distribute.cluster_resolver",
        "tensorflow.python.distribute.cluster_resolver.cluster_resolver",
    ],
)
def test_resolvers_are_imported_by_their_paths(path):
    tf.install()
    try:
        assert importlib.import_module(path).SimpleClusterResolver is SIMPLE
    finally:
        tf.programs.stand_in.uninstall()
