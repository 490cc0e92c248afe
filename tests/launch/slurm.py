"""A real SLURM for tests: slurmctld, two slurmd and munge, each node in a network of its own."""

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from tests.launch.waiting import wait_until
from tests.needs import need

PROGRAMS = {
    "slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client", "munged": "munge",
    "ip": "iproute2",
}  # fmt: skip
CONFIGURATION = """
ClusterName=tests
SlurmctldHost=n1({net}.1)
SlurmctldPort=7817
SlurmdPort=7818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,defer_batch
KillWait=5
NodeName=n1 NodeAddr={net}.1 CPUs=4 RealMemory=1000 State=UNKNOWN
NodeName=n2 NodeAddr={net}.2 CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=debug Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


class Slurm(NamedTuple):
    """A SLURM that runs.

    Attributes:
      configuration: what SLURM_CONF has to be.
      host: address of this host in its network.
    """

    configuration: Path
    host: str


def running_slurm(folder: Path) -> Iterator[Slurm]:
    """Yield a SLURM with the nodes n1 and n2; without its packages, or root, the test is skipped.

    Args:
      folder: of its files, empty.
    """
    need(PROGRAMS, root=True)
    number = os.getpid()
    net = f"10.{128 + number // 256 % 64}.{number % 256}"
    configuration = folder / "slurm.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder, net=net))
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    with ExitStack() as stack:
        _make_network(stack, f"tf{number}", net)
        _start_munge(stack, folder)
        for node in ("n1", "n2"):
            start = f"mount -t tmpfs none /sys/fs/cgroup; exec slurmd -D -N {node}"
            _start(stack, f"tf{number}{node}", node, start, configuration)
        _start(stack, f"tf{number}n1", "n1", "exec slurmctld -D", configuration)
        _wait_for_nodes(configuration)
        yield Slurm(configuration, f"{net}.254")


def _make_network(stack: ExitStack, name: str, net: str) -> None:
    """Make a bridge on this host, and two networks of their own that hang on it."""
    _run(f"ip link add {name} type bridge", f"ip addr add {net}.254/24 dev {name}")
    stack.callback(_run, f"ip link del {name}")
    _run(f"ip link set {name} up")
    for index, node in enumerate(("n1", "n2"), 1):
        _run(f"ip netns add {name}{node}")
        stack.callback(_run, f"ip netns del {name}{node}")
        stack.callback(_end_all_in, f"{name}{node}")
        inside = f"ip -n {name}{node}"
        _run(
            f"ip link add {name}{node} type veth peer name eth0 netns {name}{node}",
            f"ip link set {name}{node} master {name} up",
            f"{inside} addr add {net}.{index}/24 dev eth0", f"{inside} link set eth0 up",
            f"{inside} link set lo up",
        )  # fmt: skip
        stack.callback(_run, f"ip link del {name}{node}")


def _run(*commands: str) -> None:
    for command in commands:
        subprocess.run(command.split(), check=True)


def _end_all_in(network: str) -> None:
    """Kill what is left in a network: a step that has no slurmd to report to waits for one."""
    told = subprocess.run(["ip", "netns", "pids", network], capture_output=True, text=True)
    for pid in map(int, told.stdout.split()):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _start_munge(stack: ExitStack, folder: Path) -> None:
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    process = subprocess.Popen(
        ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket",
         f"--key-file={key}", f"--pid-file={folder}/munged.pid", f"--seed-file={folder}/seed",
         f"--log-file={folder}/munged.log"],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    stack.callback(_stop, process)
    wait_until((folder / "munge.socket").exists)


def _start(stack: ExitStack, network: str, host: str, script: str, configuration: Path) -> None:
    command = ["ip", "netns", "exec", network, "unshare", "--uts", "sh", "-c"]
    with open(configuration.with_name(f"{host}.out"), "ab") as output:
        process = subprocess.Popen(
            [*command, f"hostname {host}; {script}"], stdout=output, stderr=output,
            env={**os.environ, "SLURM_CONF": str(configuration)},
        )  # fmt: skip
    stack.callback(_stop, process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_for_nodes(configuration: Path) -> None:
    command = [str(shutil.which("sinfo")), "--noheader", "--format=%T %D"]
    environment = {**os.environ, "SLURM_CONF": str(configuration)}

    def are_idle() -> bool:
        told = subprocess.run(command, env=environment, capture_output=True, text=True)
        return told.stdout.strip() == "idle 2"

    wait_until(are_idle)
