"""The cluster that pods of Kubernetes make, as its API server lists them."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from tfdist.base.extras import is_there
from tfdist.cluster.spec import ClusterSpec
from tfdist.launch.cluster_resolver.resolver import AskedResolver

Pod: TypeAlias = Any  # a V1Pod of the library kubernetes


class Client(Protocol):
    """What lists pods: a `CoreV1Api` of the library kubernetes."""

    def list_pod_for_all_namespaces(self, *, label_selector: str) -> Pod:
        """Return an object whose `items` are the pods."""


class KubernetesExecutableLocation(enum.Enum):
    """Where the program that asks runs: in a pod, or elsewhere with a kubeconfig."""

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


_WITHIN = KubernetesExecutableLocation.WITHIN_CLUSTER


class KubernetesClusterResolver(AskedResolver):
    """The running pods that have certain labels, of all namespaces that one may see.

    The pods of a job are numbered in the order of their names, "worker-2" before "worker-10".
    `task_type`, `task_id` and `rpc_layer` may be set afterwards. A cluster of `tfdist manifests`
    needs no resolver: its addresses are names, which its ConfigMap lists.

    Args:
      job_to_label_mapping: {job: label selectors}; by default the workers are the pods with
        "job-name=tensorflow".
      tf_server_port: port of every server.
      rpc_layer: stands before "://" in targets.
      override_client: a `CoreV1Api` of the library kubernetes that is set up, or what has its
        `list_pod_for_all_namespaces`.
      executable_location: KubernetesExecutableLocation, for the credentials.

    Raises:
      ImportError: the library kubernetes is not installed, and there is no `override_client`.
      ValueError: `executable_location` is none.

    Example:
      >>> from types import SimpleNamespace as Item
      >>> pod = Item(
      ...     metadata=Item(name="worker-0"), status=Item(phase="Running", pod_ip="10.0.0.7")
      ... )
      >>> client = Item(list_pod_for_all_namespaces=lambda label_selector: Item(items=[pod]))
      >>> pods = distribute.cluster_resolver.KubernetesClusterResolver(
      ...     {"worker": ["app=mine"]}, tf_server_port=2222, override_client=client
      ... )
      >>> pods.cluster_spec().as_dict(), pods.master("worker", 0)
      ({'worker': ['10.0.0.7:2222']}, 'grpc://10.0.0.7:2222')
    """

    def __init__(
        self,
        job_to_label_mapping: Mapping[str, Sequence[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str | None = "grpc",
        override_client: Client | None = None,
        executable_location: KubernetesExecutableLocation = _WITHIN,
    ) -> None:
        self._selectors = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self._client = override_client or _client(executable_location)
        super().__init__(rpc_layer)

    def cluster_spec(self) -> ClusterSpec:
        """Return the addresses of all pods; the API server is asked each time.

        Raises:
          RuntimeError: a pod is there and does not run.
        """
        return ClusterSpec({job: self._addresses(job) for job in self._selectors})

    def _addresses(self, job: str) -> list[str]:
        selectors = self._selectors[job]
        found = []
        for selector in [selectors] if isinstance(selectors, str) else selectors:
            pods = self._client.list_pod_for_all_namespaces(label_selector=selector).items
            found += [f"{_address(pod)}:{self._port}" for pod in sorted(pods, key=_order)]
        return found


def _client(location: KubernetesExecutableLocation) -> Client:
    if not is_there("kubernetes"):
        raise ImportError(
            "The Kubernetes Python client must be installed before using the Kubernetes Cluster "
            "Resolver. To install the Kubernetes Python client, run `pip install kubernetes` on "
            "your command line."
        )
    from kubernetes import client, config

    if location is _WITHIN:
        config.load_incluster_config()
    elif location is KubernetesExecutableLocation.OFF_CLUSTER:
        config.load_kube_config()
    else:
        raise ValueError(
            "The executable location provided is invalid: got "
            f"{location!r}, wanted one of {list(KubernetesExecutableLocation)}"
        )
    found: Client = client.CoreV1Api()
    return found


def _order(pod: Pod) -> list[tuple[int, str]]:
    """Return what sorts the numbers in names as numbers."""
    parts = re.findall(r"\d+|\D+", pod.metadata.name)
    return [(int(each), "") if each.isdecimal() else (-1, each) for each in parts]


def _address(pod: Pod) -> str:
    if pod.status.phase != "Running":
        raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
    # TensorFlow's takes the address of the node, which reaches only pods with the host's network;
    # of those both are the same
    address = pod.status.pod_ip
    return f"[{address}]" if ":" in address else str(address)
