"""The resolver of pods asks an API server, through the library kubernetes."""

import http.server
import json
import threading
import urllib.parse

import pytest

import tfdist as tf
from tfdist.wire.common.security import LOOPBACK

RESOLVER = tf.distribute.cluster_resolver.KubernetesClusterResolver
LOCATION = tf.distribute.cluster_resolver.KubernetesExecutableLocation


def pod(name, app, phase="Running", address="10.0.0.1"):
    """Return a pod as the API server tells it."""
    return {
        "metadata": {"name": name, "labels": {"app": app}},
        "spec": {"containers": []},
        "status": {"phase": phase, "podIP": address, "hostIP": "192.168.0.1"},
    }


class ApiServer(http.server.BaseHTTPRequestHandler):
    """Lists the pods of `server.pods` that have the label that is asked for."""

    def do_GET(self):
        path, _, query = self.path.partition("?")
        assert path == "/api/v1/pods", path
        (selector,) = urllib.parse.parse_qs(query)["labelSelector"]
        name, _, value = selector.partition("=")
        found = [each for each in self.server.pods if each["metadata"]["labels"].get(name) == value]
        text = json.dumps({"kind": "PodList", "apiVersion": "v1", "items": found}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def pods(tmp_path, monkeypatch):
    """Yield the list of pods that an API server has, to which a kubeconfig points."""
    server = http.server.HTTPServer((LOOPBACK, 0), ApiServer)
    server.pods = []
    serving = threading.Thread(target=server.serve_forever, args=(0.02,))
    serving.start()
    where = f"http://{LOOPBACK}:{server.server_port}"
    config = {
        "current-context": "here", "users": [],
        "clusters": [{"name": "here", "cluster": {"server": where}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": ""}}],
    }  # fmt: skip
    (tmp_path / "config").write_text(json.dumps(config))
    monkeypatch.setattr(
        "kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "config")
    )
    yield server.pods
    server.shutdown()
    serving.join()
    server.server_close()


def resolver(*args, **kwargs):
    return RESOLVER(*args, **kwargs, executable_location=LOCATION.OFF_CLUSTER)


def test_pods_are_the_tasks_of_a_job_in_the_order_of_their_numbers(pods):
    pods += [
        pod("train-worker-10", "worker", address="10.0.0.10"),
        pod("train-worker-2", "worker", address="10.0.0.2"),
        pod("train-ps-0", "ps", address="fd00::1"),
        pod("other", "other"),
    ]
    found = resolver({"ps": ["app=ps"], "worker": ["app=worker"]}, tf_server_port=2222)
    assert found.cluster_spec().as_dict() == {
        "ps": ["[fd00::1]:2222"], "worker": ["10.0.0.2:2222", "10.0.0.10:2222"],
    }  # fmt: skip
    pods.append(pod("train-worker-1", "worker", address="10.0.0.1"))
    assert found.cluster_spec().num_tasks("worker") == 3  # asked anew


def test_a_job_may_have_several_selectors_or_one_as_text(pods):
    pods += [pod("b", "one", address="10.0.0.1"), pod("a", "two", address="10.0.0.2")]
    found = resolver({"worker": ["app=one", "app=two"], "ps": "app=one"})
    assert found.cluster_spec().as_dict() == {
        "worker": ["10.0.0.1:8470", "10.0.0.2:8470"], "ps": ["10.0.0.1:8470"],
    }  # fmt: skip


def test_targets_are_those_of_tensorflow(pods):
    pods.append(pod("a", "x"))
    found = resolver({"worker": ["app=x"]})
    assert (found.master(), found.master("worker")) == ("", "")
    assert found.master("worker", 0) == "grpc://10.0.0.1:8470"
    assert found.master("worker", 0, "x") == "x://10.0.0.1:8470"
    found.task_type, found.task_id = "worker", 0
    assert found.master() == "grpc://10.0.0.1:8470"
    assert (found.environment, found.num_accelerators()) == ("", {})
    assert resolver({"worker": ["app=x"]}, rpc_layer=None).master("worker", 0) == "10.0.0.1:8470"


def test_a_pod_that_does_not_run_is_an_error_as_in_tensorflow(pods):
    pods += [pod("a", "x", "Pending"), pod("b", "x")]
    with pytest.raises(RuntimeError, match=r'^Pod "a" is not running; phase: "Pending"$'):
        resolver({"worker": ["app=x"]}).cluster_spec()


def test_without_pods_the_job_is_empty(pods):
    assert resolver({}).cluster_spec().as_dict() == {"worker": []}


def test_another_place_is_refused():
    with pytest.raises(ValueError, match="The executable location provided is invalid: got 7"):
        RESOLVER(executable_location=7)


def test_outside_of_a_pod_the_library_says_so():
    with pytest.raises(Exception, match="Service host/port is not set"):
        RESOLVER()
