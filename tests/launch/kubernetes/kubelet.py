"""A miniature of a node of Kubernetes: runs the pods of a manifest, each in its own namespaces.

A pod is a process with its own network, address, hostname and /etc, in which nothing but /tmp can
be written; it has no capabilities. What the real thing does besides (images, users, cgroups) is
left out. All of it is gone with one process, the node.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.launch.waiting import PATIENCE
from tfdist.launch.private_network import AS_ROOT

NEEDED = {
    "ip": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
}
NETWORK = "10.77.0"
INDEX = "metadata.labels['apps.kubernetes.io/pod-index']"
COPIED = ("passwd", "group", "nsswitch.conf", "ld.so.cache")

NODE = f"""
set -e
mount -t tmpfs none /run
mkdir /run/netns
ip link set lo up
ip link add bridge0 type bridge
ip addr add {NETWORK}.254/24 dev bridge0
ip link set bridge0 up
echo ready
exec cat >/dev/null
"""
NETWORK_OF_A_POD = """
set -e
ip netns add {net}
ip link add {net} type veth peer name eth0 netns {net}
ip link set {net} master bridge0 up
ip -n {net} addr add {address}/24 dev eth0
ip -n {net} link set eth0 up
ip -n {net} link set lo up
"""
INSIDE = """
set -e
mount --bind {etc} /etc
mount --bind /tmp /tmp
mount -o remount,bind,ro /
hostname {name}
exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs -- "$@"
"""


def missing() -> str:
    """Return why there can be no node here, or ""."""
    lacking = [f"{each} ({brings})" for each, brings in NEEDED.items() if not shutil.which(each)]
    return f"there is no {', '.join(lacking)}" if lacking else ""


class Pod:
    """A pod: a name, an address, and a process.

    Args:
      name: also the hostname.
      network: name of its network on the node.
      process: the first process in it.
      log: what it wrote.
    """

    def __init__(
        self, name: str, network: str, address: str, process: subprocess.Popen, log: Path
    ) -> None:
        self.name, self.network, self.address = name, network, address
        self.process, self._log = process, log

    @property
    def log(self) -> str:
        """Return what it wrote."""
        return self._log.read_text()

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


class Node:
    """Runs pods; a context manager.

    Args:
      folder: for their files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, str] = {}
        self._pods: list[Pod] = []
        self._etcs: list[Path] = []
        self._networks = 0

    def __enter__(self) -> "Node":
        as_root = () if os.geteuid() == 0 else AS_ROOT[1:-1]
        command = ["unshare", *as_root, "--net", "--mount", "--uts", "sh", "-c", NODE]
        self._holder = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._holder.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *_: object) -> None:
        for pod in self._pods:
            with contextlib.suppress(ProcessLookupError):
                pod.process.kill()
            pod.process.wait(PATIENCE)
        self._holder.communicate(timeout=PATIENCE)

    def _entered(self, *command: str) -> list[str]:
        user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
        target = f"--target={self._holder.pid}"
        return ["nsenter", target, *user, "--net", "--mount", "--uts", "--", *command]

    def remove(self, pod: Pod) -> None:
        """Kill a pod, and take its network away: nothing answers at its address any more."""
        pod.end(signal.SIGKILL)
        subprocess.run(self._entered("ip", "netns", "delete", pod.network), check=True)

    def execute(self, pod: Pod, *command: str, **environment: str) -> subprocess.CompletedProcess:
        """Return what a command did inside of a pod, as an exec probe runs it."""
        entered = self._entered(*command)
        at = [f"--target={pod.process.pid}" if "--target" in each else each for each in entered]
        return subprocess.run(
            at, env=own_environment(**environment), capture_output=True, text=True, timeout=PATIENCE
        )

    def announce(self, pod: Pod, service: str = "") -> None:
        """Let the name of a pod, in the domain of its service, be known to all others."""
        self._names[f"{pod.name}.{service}" if service else pod.name] = pod.address
        for etc in self._etcs:
            self._write_hosts(etc)

    def _write_hosts(self, etc: Path) -> None:
        rows = [f"{address} {name}\n" for name, address in self._names.items()]
        (etc / "hosts").write_text("127.0.0.1 localhost\n" + "".join(rows))

    def run(
        self,
        name: str,
        command: list[str],
        environment: Mapping[str, str],
        files: Mapping[str, str],
        **options: Any,
    ) -> Pod:
        """Return a pod that runs a command.

        Args:
          name: of the pod.
          command: of its only process.
          environment: all of it.
          files: {path from /etc: text}.
          **options: for `subprocess.Popen`.
        """
        self._networks += 1
        net, address = f"pod{self._networks}", f"{NETWORK}.{self._networks}"
        etc = self._folder / f"{name}-{net}"
        for path, text in files.items():
            (etc / path).parent.mkdir(parents=True, exist_ok=True)
            (etc / path).write_text(text)
            (etc / path).chmod(0o400)
        etc.mkdir(exist_ok=True)
        for each in COPIED:
            with contextlib.suppress(FileNotFoundError):
                shutil.copy(f"/etc/{each}", etc)
        self._write_hosts(etc)
        self._etcs.append(etc)
        network = NETWORK_OF_A_POD.format(net=net, address=address)
        subprocess.run(self._entered("sh", "-c", network), check=True)
        inside = ["unshare", "--mount", "--uts", "sh", "-c", INSIDE.format(etc=etc, name=name), "-"]
        log = self._folder / f"{name}-{net}.log"
        with log.open("w") as out:
            process = subprocess.Popen(
                self._entered("ip", "netns", "exec", net, *inside, *command),
                env=dict(environment), **{"stdout": out, "stderr": out, **options},
            )  # fmt: skip
        pod = Pod(name, net, address, process, log)
        self._pods.append(pod)
        return pod


def own_environment(**more: str) -> dict[str, str]:
    """Return what a container's environment has of this process's."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**kept, **more}


def pods_of(manifests: list[dict]) -> Iterator[tuple[str, dict, int]]:
    """Yield name, StatefulSet and index of all pods of a manifest."""
    for each in manifests:
        if each["kind"] == "StatefulSet":
            for index in range(each["spec"]["replicas"]):
                yield f"{each['metadata']['name']}-{index}", each, index


def start(
    node: Node,
    manifests: list[dict],
    name: str,
    secrets: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    **told: str,
) -> Pod:
    """Return a pod of a manifest that has begun to run.

    Args:
      node: where it runs.
      manifests: ConfigMaps and StatefulSets.
      name: of the pod.
      secrets: {name: {file: text}}.
      **told: more environment.
    """
    _, owner, index = next(each for each in pods_of(manifests) if each[0] == name)
    told["TFDIST_TASK"] = str(index)
    return run_pod(node, name, owner["spec"]["template"]["spec"], configs(manifests), secrets, told)


def configs(manifests: list[dict]) -> dict[str, dict[str, str]]:
    """Return {name: {file: text}} of all ConfigMaps."""
    return {each["metadata"]["name"]: each["data"] for each in manifests if "data" in each}


def run_pod(
    node: Node,
    name: str,
    spec: dict,
    maps: Mapping[str, Mapping[str, str]],
    secrets: Mapping[str, Mapping[str, str]],
    told: Mapping[str, str],
) -> Pod:
    """Return a pod that has begun to run.

    Args:
      node: where it runs.
      name: of the pod.
      spec: what the pod is to be, of a manifest.
      maps: {name: {file: text}} of ConfigMaps.
      secrets: the same of Secrets.
      told: environment that whoever makes the pod adds.
    """
    (container,) = spec["containers"]
    environment = own_environment(**{"HOSTNAME": name, **told})
    for each in container["env"]:
        if "valueFrom" in each:
            assert each == {"name": "TFDIST_TASK", "valueFrom": {"fieldRef": {"fieldPath": INDEX}}}
        else:
            environment[each["name"]] = each["value"]
    files = {}
    for mount in container["volumeMounts"]:
        (volume,) = [each for each in spec["volumes"] if each["name"] == mount["name"]]
        if "configMap" in volume:
            data = maps[volume["configMap"]["name"]]
        elif "secret" in volume:
            data = secrets[volume["secret"]["secretName"]]
        else:
            continue  # /tmp is there
        folder = Path(mount["mountPath"]).relative_to("/etc")
        files.update({str(folder / file): text for file, text in data.items()})
    command = [sys.executable, "-m", "tfdist", *container["args"]]
    return node.run(name, command, environment, files)
