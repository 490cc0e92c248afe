"""Pods of our manifests, in namespaces of their own, live as on a node of Kubernetes.

They need the program `ip` (of iproute2), which `.ci/run` installs, and the right to make
namespaces: without them the tests fail and say so.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.launch.kubernetes.kubelet import Node, missing, own_environment, pods_of, run_pod, start
from tests.launch.waiting import PATIENCE, wait_until
from tfdist.launch.authority import Authority
from tfdist.launch.kubernetes.text import manifest_text
from tfdist.launch.kubernetes.wanted import Wanted

CLIENT = Path(__file__).with_name("client_pod.py")


@pytest.fixture
def node(tmp_path):
    """Yield a node without pods."""
    assert not missing(), missing()
    with Node(tmp_path) as node:
        yield node


def manifests(**arguments):
    return list(yaml.safe_load_all(manifest_text(Wanted(image="i", **arguments))))


class Client:
    """A pod with a program that does what it is told."""

    def __init__(self, node, *arguments):
        command = [sys.executable, str(CLIENT), *arguments]
        self._process = node.run(
            "client", command, own_environment(HOME="/tmp"), {},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ).process  # fmt: skip

    def tell(self, line):
        """Tell it what to do."""
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def answer(self):
        """Return what came of it."""
        assert select.select([self._process.stdout], [], [], PATIENCE)[0], "no answer"
        return json.loads(self._process.stdout.readline())

    def ask(self, line):
        """Return what came of a line."""
        self.tell(line)
        return self.answer()

    def end(self):
        """Return the exit code when its input has ended."""
        with contextlib.closing(self._process.stdout):
            self._process.stdin.close()
            return self._process.wait(PATIENCE)


def test_pods_find_each_other_whenever_their_names_are_known_and_wherever_they_come_back(node):
    objects = manifests(jobs={"ps": 1, "worker": 2})
    pods = {name: start(node, objects, name) for name, _, _ in pods_of(objects)}
    wait_until(lambda: all("(no such host); waits for that" in each.log for each in pods.values()))
    for name, each in pods.items():
        node.announce(each, name.rpartition("-")[0])
    wait_until(lambda: all("serves at" in each.log for each in pods.values()))

    client = Client(node, "grpc://tfdist-worker-0.tfdist-worker:2222")
    for service in ("readiness", "liveness"):
        assert client.ask(f"health tfdist-ps-0.tfdist-ps:2222 {service}") == "SERVING"
    assert client.ask("run") == [2.0, []]
    listening = node.execute(pods["tfdist-ps-0"], "cat", "/proc/net/tcp").stdout
    assert f":{2223:04X} " in listening  # frames came where the NetworkPolicy lets them through

    lost = pods["tfdist-worker-1"]
    node.remove(lost)
    client.tell("run")
    back = pods["tfdist-worker-1"] = start(node, objects, "tfdist-worker-1")
    # its own name still has the old address, here and for the others
    wait_until(lambda: f"(it is {lost.address}); waits for that" in back.log)
    node.announce(back, "tfdist-worker")
    total, ended = client.answer()
    assert total == 2.0
    assert ["tfdist-worker-1.tfdist-worker:2222" in each for each in ended] == [True]
    assert back.address != lost.address

    assert client.end() == 0
    assert {name: each.end(signal.SIGTERM) for name, each in pods.items()} == dict.fromkeys(pods, 0)


def operators_pods(job):
    """Yield name, spec and TF_CONFIG of each pod that Kubeflow's operator makes of a TFJob."""
    name, replicas = job["metadata"]["name"], job["spec"]["tfReplicaSpecs"]
    counts = {kind.lower(): each["replicas"] for kind, each in replicas.items()}
    cluster = {
        kind: [f"{name}-{kind}-{index}.default.svc:2222" for index in range(count)]
        for kind, count in counts.items()
        if kind != "evaluator"
    }
    for kind, each in replicas.items():
        for index in range(each["replicas"]):
            task = {"type": kind.lower(), "index": index}
            config = json.dumps({"cluster": cluster, "task": task, "environment": "cloud"})
            yield f"{name}-{kind.lower()}-{index}", each["template"]["spec"], config


def test_tasks_of_a_tfjob_know_their_roles_from_what_the_operator_says(node):
    wanted = Wanted({"ps": 1, "worker": 1, "evaluator": 1}, "i", "train")
    _, job = yaml.safe_load_all(manifest_text(wanted, "tfjob"))
    pods = {}
    for name, spec, config in operators_pods(job):
        pods[name] = run_pod(node, name, spec, {}, {}, {"TF_CONFIG": config})
        node.announce(pods[name], "default.svc")
    wait_until(lambda: all("serves at" in each.log for each in pods.values()))
    assert "/job:evaluator/task:0 serves" in pods["train-evaluator-0"].log
    # a worker, whose cluster has no evaluator, takes what it needs from there
    client = Client(
        node, "grpc://train-evaluator-0.default.svc:2222", "/job:worker", "/job:evaluator"
    )
    assert client.ask("run") == [2.0, []]
    assert client.end() == 0
    assert {each.end(signal.SIGTERM) for each in pods.values()} == {0}


def test_a_pod_with_a_certificate_is_probed_from_inside(node):
    objects = manifests(jobs={"ps": 1}, is_encrypted=True)
    identity = Authority("tfdist").identity(["tfdist-ps-0.tfdist-ps"], "join")
    secret = {
        "key.pem": identity.key.decode(),
        "certificate.pem": identity.certificate.decode(),
        "authority.pem": identity.authority.decode(),
    }
    pod = start(node, objects, "tfdist-ps-0", {"tfdist-ps-tls": secret})
    node.announce(pod, "tfdist-ps")
    wait_until(lambda: "serves at" in pod.log)
    container = objects[-1]["spec"]["template"]["spec"]["containers"][0]
    told = {each["name"]: each.get("value", "0") for each in container["env"]}
    probe = container["readinessProbe"]["exec"]["command"]
    assert probe[0] == "tfdist"
    found = node.execute(pod, sys.executable, "-m", *probe, **told)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")

    pod.process.send_signal(signal.SIGSTOP)
    found = node.execute(pod, sys.executable, "-m", *probe, "--timeout", "0.2", **told)
    assert found.returncode == 1
    assert "tfdist-ps-0.tfdist-ps:2222" in found.stderr
    os.kill(pod.process.pid, signal.SIGCONT)
    assert pod.end(signal.SIGTERM) == 0
