"""Manifests of a cluster that needs nothing but Kubernetes itself, from version 1.28 on.

Each job is a StatefulSet, whose pods keep their names, with a headless Service, which makes the
names known: NAME-JOB-0.NAME-JOB and so on. A ConfigMap has the cluster, a NetworkPolicy keeps all
pods out that are neither tasks of the cluster nor have the label `tfdist-client: NAME`.

Source: the API reference of Kubernetes.
"""

from __future__ import annotations

import json

from tfdist.launch.kubernetes.pods import Manifest, Mount, network_policy, pod
from tfdist.launch.kubernetes.wanted import Wanted

CLUSTER_AT, SPEC = "/etc/cluster", "cluster.json"


def manifests(wanted: Wanted) -> list[Manifest]:
    """Return the objects of a cluster, in the order in which they are made."""
    own = _labels(wanted)
    found = [_config_map(wanted), network_policy(wanted, own, own)]
    for job in wanted.jobs:
        found += [_service(wanted, job), _stateful_set(wanted, job)]
    return found


def cluster_of(wanted: Wanted) -> dict[str, list[str]]:
    """Return the addresses of all tasks: names that hold in the cluster's namespace."""
    return {
        job: [address(wanted, job, task) for task in range(count)]
        for job, count in wanted.jobs.items()
    }


def address(wanted: Wanted, job: str, task: int) -> str:
    """Return the address of a task."""
    name = wanted.object_name(job)
    return f"{name}-{task}.{name}:{wanted.port}"


def _labels(wanted: Wanted, job: str | None = None) -> dict[str, str]:
    """Return the labels of a job's objects, or those that all objects of the cluster have."""
    found = {"app.kubernetes.io/name": "tfdist", "app.kubernetes.io/instance": wanted.name}
    return found if job is None else {**found, "app.kubernetes.io/component": job}


def _config_map(wanted: Wanted) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": wanted.name, "labels": _labels(wanted)},
        "data": {SPEC: json.dumps(cluster_of(wanted), indent=1)},
    }


def _service(wanted: Wanted, job: str) -> Manifest:
    labels = _labels(wanted, job)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": wanted.object_name(job), "labels": labels},
        "spec": {
            "clusterIP": "None",
            # a task is dialled by others before it is ready: they wait for each other
            "publishNotReadyAddresses": True,
            "selector": labels,
            "ports": [{"name": "grpc", "port": wanted.port}],
        },
    }


def _stateful_set(wanted: Wanted, job: str) -> Manifest:
    name, labels = wanted.object_name(job), _labels(wanted, job)
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "serviceName": name,
            "replicas": wanted.jobs[job],
            "podManagementPolicy": "Parallel",  # none waits for the one before it
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _pod(wanted, job)},
        },
    }


def _pod(wanted: Wanted, job: str) -> Manifest:
    """Return the pod, from whose environment `tfdist serve` and `tfdist health` know the task."""
    number = {"fieldRef": {"fieldPath": "metadata.labels['apps.kubernetes.io/pod-index']"}}
    told: list[Manifest] = [
        {"name": "TFDIST_CLUSTER", "value": f"{CLUSTER_AT}/{SPEC}"},
        {"name": "TFDIST_JOB", "value": job},
        {"name": "TFDIST_TASK", "valueFrom": number},
    ]
    cluster = Mount({"configMap": {"name": wanted.name}}, CLUSTER_AT)
    return pod(wanted, job, ("tfdist", "grpc"), told, {"cluster": cluster})
