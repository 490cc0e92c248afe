"""The pods of a cluster's tasks, whatever makes them.

A pod is ready while its server serves, and alive while it answers. Kubernetes' own gRPC probes ask
for that; they show no certificate, so that with TLS `tfdist health` asks, in the pod. Nothing runs
as root, and nothing is written but in /tmp.

Source: the API reference of Kubernetes; its pod security standard "restricted".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from tfdist.launch.kubernetes.wanted import GRACE, Wanted

Manifest: TypeAlias = dict[str, object]

USER = 1000  # in the image, too
CLIENT = "tfdist-client"  # label of pods that may call the servers
TLS_AT = "/etc/tfdist-tls"
_OWNED = 0o400  # Kubernetes adds the group of `fsGroup`


class Mount(NamedTuple):
    """What is seen in a pod's folder.

    Attributes:
      volume: as Kubernetes describes it, without its name.
      path: of the folder.
      is_kept: whether nobody writes there.
    """

    volume: Manifest
    path: str
    is_kept: bool = True


def pod(
    wanted: Wanted,
    job: str,
    names: tuple[str, str],
    told: list[Manifest],
    mounts: Mapping[str, Mount],
) -> Manifest:
    """Return the description of a task's pod.

    Args:
      wanted: the cluster.
      job: of the task.
      names: of the container and of its port.
      told: environment, besides what all servers are told.
      mounts: by name, besides /tmp and the certificate.
    """
    secret: Manifest = {"secretName": secret_of(wanted, job), "defaultMode": _OWNED}
    all_mounts = {**mounts, "tmp": Mount({"emptyDir": {}}, "/tmp", False)}
    if wanted.is_encrypted:
        all_mounts["tls"] = Mount({"secret": secret}, TLS_AT)
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": GRACE + 10,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(wanted, names, told, all_mounts)],
        "volumes": [{"name": name, **each.volume} for name, each in all_mounts.items()],
    }


def _container(
    wanted: Wanted, names: tuple[str, str], told: list[Manifest], mounts: Mapping[str, Mount]
) -> Manifest:
    name, port = names
    return {
        "name": name,
        "image": wanted.image,
        "args": ["serve", "--grace", str(GRACE)],
        "env": [*told, *_environment(wanted)],
        "ports": [
            {"name": port, "containerPort": wanted.port},
            {"name": "frames", "containerPort": wanted.frames_port},
        ],
        "resources": {
            "requests": {"cpu": wanted.cpu, "memory": wanted.memory},
            "limits": {"memory": wanted.memory},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        **_probes(wanted),
        "volumeMounts": [
            {"name": name, "mountPath": each.path, **({"readOnly": True} if each.is_kept else {})}
            for name, each in mounts.items()
        ],
    }


def _environment(wanted: Wanted) -> list[Manifest]:
    told = {"TFDIST_REMOTE": "plain"}
    if wanted.is_encrypted:
        told = {"TFDIST_REMOTE": "tls", "TFDIST_TLS": TLS_AT}
    told.update({"TFDIST_FRAMES_PORT": str(wanted.frames_port), "HOME": "/tmp"})
    return [{"name": name, "value": value} for name, value in told.items()]


def _probes(wanted: Wanted) -> Manifest:
    # slower with TLS, where each is a process of its own
    often, seldom = (30, 120) if wanted.is_encrypted else (5, 20)
    return {
        # until it serves: another pod's name may be known only when that runs
        "startupProbe": {
            **_probe(wanted, "readiness"),
            "periodSeconds": 5,
            "timeoutSeconds": 5,
            "failureThreshold": 60,
        },
        "readinessProbe": {
            **_probe(wanted, "readiness"),
            "periodSeconds": often,
            "timeoutSeconds": 5,
        },
        # with patience: a server that works hard answers late, and one that ends loses what it has
        "livenessProbe": {
            **_probe(wanted, "liveness"),
            "periodSeconds": seldom,
            "timeoutSeconds": 10,
            "failureThreshold": 6,
        },
    }


def _probe(wanted: Wanted, service: str) -> Manifest:
    if wanted.is_encrypted:
        return {"exec": {"command": ["tfdist", "health", "--service", service]}}
    return {"grpc": {"port": wanted.port, "service": service}}


def secret_of(wanted: Wanted, job: str) -> str:
    """Return the name of the Secret with the certificate that the pods of a job show."""
    return f"{wanted.object_name(job)}-tls"


def network_policy(wanted: Wanted, labels: Mapping[str, str], own: Mapping[str, str]) -> Manifest:
    """Return what lets tasks and clients of a cluster call its tasks, and nobody else.

    Args:
      wanted: the cluster.
      labels: of this object.
      own: labels that the tasks' pods have.
    """
    callers: tuple[Mapping[str, str], ...] = (own, {CLIENT: wanted.name})
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": wanted.name, "labels": dict(labels)},
        "spec": {
            "podSelector": {"matchLabels": dict(own)},
            "policyTypes": ["Ingress"],
            "ingress": [
                {
                    "from": [{"podSelector": {"matchLabels": dict(each)}} for each in callers],
                    "ports": [{"port": wanted.port}, {"port": wanted.frames_port}],
                }
            ],
        },
    }
