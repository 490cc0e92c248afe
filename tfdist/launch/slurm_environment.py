"""What SLURM tells each process of a step in its environment: which task it is, of how many, where.

SLURM starts the tasks of a step by `srun` and says where they are in a short form: the nodes as
"n[1-2],m5", the tasks on each as "2(x2),1". How ranks go to nodes is the step's distribution: with
"block" ranks 0 and 1 share a node, with "cyclic" they do not. All here are functions of the
environment, which comes in as an argument.

Source: `man srun`, output environment variables; the order of hosts as `scontrol show hostnames`
of SLURM 22.05 lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

MOST = 1 << 16  # hosts and tasks that a list may name: SLURM itself has no more

_OUTSIDE_COMMA = re.compile(r",(?![^\[]*\])")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_HOSTS = re.compile(r"(?:[^\[\]]|\[[^\[\]]*\])*")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_COUNT = re.compile(r"(\d+)(?:\(x(\d+)\))?")


@dataclass(frozen=True)
class Step:
    """A step of a SLURM job, as one of its tasks sees it.

    Attributes:
      rank: of this task, from 0.
      local: its number among the tasks of its node.
      hosts: the node of each rank; () if the step's distribution does not tell.
      counts: tasks on each node.
      job: number of the job, as text.
      step: number of the step in the job, as text.
      launcher: numeric address of the node where `srun` runs, or "".
    """

    rank: int
    local: int
    hosts: tuple[str, ...]
    counts: tuple[int, ...]
    job: str
    step: str
    launcher: str

    @property
    def size(self) -> int:
        """Return how many tasks the step has."""
        return sum(self.counts)

    @property
    def name(self) -> str:
        """Return a name that no other step of this SLURM has now."""
        return f"slurm-{self.job}.{self.step}"


def is_step(environment: Mapping[str, str]) -> bool:
    """Return whether this process is a task that `srun` started.

    A batch script has a rank, too, but it is no task of a step.
    """
    return {"SLURM_PROCID", "SLURM_STEP_NODELIST"} <= environment.keys()


def read_step(environment: Mapping[str, str]) -> Step:
    """Return the step of this process.

    Raises:
      RuntimeError: this is no task of a step; the message says which variable is missing.
      ValueError: a variable makes no sense.

    Example:
      >>> step = read_step(
      ...     {
      ...         "SLURM_PROCID": "2",
      ...         "SLURM_STEP_NODELIST": "n[1-2]",
      ...         "SLURM_STEP_TASKS_PER_NODE": "2,1",
      ...         "SLURM_JOB_ID": "7",
      ...         "SLURM_STEP_ID": "0",
      ...     }
      ... )
      >>> step.name, step.size, step.hosts
      ('slurm-7.0', 3, ('n1', 'n1', 'n2'))
    """
    rank, nodes = read_rank(environment), read_nodes(environment)
    counts = expand_counts(required(environment, "SLURM_STEP_TASKS_PER_NODE"))
    return Step(
        rank=rank,
        local=number(environment, "SLURM_LOCALID") or 0,
        hosts=task_hosts(nodes, counts, environment),
        counts=counts,
        job=environment.get("SLURM_JOB_ID", ""),
        step=environment.get("SLURM_STEP_ID", "0"),
        launcher=environment.get("SLURM_LAUNCH_NODE_IPADDR", ""),
    )


def required(environment: Mapping[str, str], name: str) -> str:
    """Return a variable that each task of a step has.

    Raises:
      RuntimeError: it is not there.
    """
    if name not in environment:
        raise RuntimeError(
            f"{name} not found in environment. Not running inside a SLURM step? Tasks are started "
            "by srun, also in a batch script"
        )
    return environment[name]


def read_rank(environment: Mapping[str, str]) -> int:
    """Return the rank of this task.

    Raises:
      RuntimeError: this is no task of a step.
      ValueError: it is no number.
    """
    required(environment, "SLURM_PROCID")
    return number(environment, "SLURM_PROCID") or 0


def read_nodes(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the nodes of the step.

    Raises:
      RuntimeError: this is no task of a step.
      ValueError: the list of nodes makes no sense.
    """
    return expand_hostlist(required(environment, "SLURM_STEP_NODELIST"))


def expand_hostlist(text: str) -> tuple[str, ...]:
    """Return the hosts that SLURM's short form of a list names, in SLURM's order.

    Zeros in front stay. Of several brackets in one name the last one counts fastest, then the
    first, the second and so on, as in SLURM.

    Raises:
      ValueError: `text` is no such list, is empty, or names more than 65,536 hosts.

    Example:
      >>> expand_hostlist("n[08-10],m5,r[1-2]c[3-4]")
      ('n08', 'n09', 'n10', 'm5', 'r1c3', 'r1c4', 'r2c3', 'r2c4')
    """
    if not _HOSTS.fullmatch(text):
        raise ValueError(f'Invalid hostlist format "{text}": a bracket has no partner')
    found: list[str] = []
    for part in filter(None, (each.strip() for each in _OUTSIDE_COMMA.split(text))):
        for host in _expanded(part, text):
            found.append(host)
            _check_length(found, text)
    if not found:
        raise ValueError(f'Invalid hostlist format "{text}": it names no host')
    return tuple(found)


def _expanded(part: str, text: str) -> Iterator[str]:
    """Yield the hosts of a part of a list that is outside of brackets without commas."""
    ranges = [_numbers(each, text) for each in _BRACKETS.findall(part)]
    between = _BRACKETS.split(part)[::2]
    if not ranges:
        yield part
        return
    *first, last = ranges
    for numbers in product(*reversed(first), last):
        in_place = [*reversed(numbers[:-1]), numbers[-1], ""]
        yield "".join(a + b for a, b in zip(between, in_place, strict=True))


def _numbers(ranges: str, text: str) -> list[str]:
    """Return the numbers of "1-2,07": with the zeros in front that the range has."""
    found: list[str] = []
    for each in ranges.split(","):
        match = _RANGE.fullmatch(each)
        low, high = (match[1], match[2] or match[1]) if match else ("1", "0")
        if int(high) < int(low):
            raise ValueError(
                f'Invalid hostlist format "{text}": {each!r} is neither a number nor a range'
            )
        _check_length(range(int(low), int(high)), text)
        found += [f"{number:0{len(low)}}" for number in range(int(low), int(high) + 1)]
    return found


def _check_length(found: Sequence[object], text: str) -> None:
    if len(found) > MOST:
        raise ValueError(f'the list "{text[:60]}" names more than {MOST}')


def expand_counts(text: str) -> tuple[int, ...]:
    """Return the numbers of tasks on each node that SLURM's short form says.

    Raises:
      ValueError: `text` is none.

    Example:
      >>> expand_counts("3(x2),1")
      (3, 3, 1)
    """
    found: list[int] = []
    for part in text.split(","):
        match = _COUNT.fullmatch(part.strip())
        if not match:
            raise ValueError(
                f'Invalid tasks-per-node list format "{text}": {part!r} is neither a number nor '
                'one such as "2(x3)"'
            )
        times = int(match[2] or 1)
        _check_length(range(times), text)
        found += [int(match[1])] * times
    return tuple(found)


def task_hosts(
    nodes: Sequence[str], counts: Sequence[int], environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the node of each rank.

    Args:
      nodes: of the step.
      counts: how many tasks each of them has.
      environment: says how ranks go to nodes (SLURM_DISTRIBUTION), and which ranks are on this
        node (SLURM_GTIDS), if it says more than the rank.

    Returns:
      () if the environment does not tell it: the user laid out an arbitrary distribution.

    Raises:
      ValueError: there are not as many counts as nodes.
    """
    if len(nodes) != len(counts):
        raise ValueError(f"{len(nodes)} nodes cannot have {len(counts)} numbers of tasks")
    block = _block(environment)
    if block is None:
        return ()
    hosts = _dealt(nodes, counts, block)
    return hosts if _agrees(hosts, nodes, environment) else ()


def _block(environment: Mapping[str, str]) -> int | None:
    """Return how many ranks in a row go to a node before the next one's turn; None: unknown."""
    found = re.match(r"\w*", environment.get("SLURM_DISTRIBUTION", "").lower())
    kind = found[0] if found else ""
    if kind in ("", "block"):
        return MOST
    if kind == "cyclic":
        return 1
    size = environment["SLURM_DISTRIBUTION"].partition("plane=")[2]
    size = size or environment.get("SLURM_DIST_PLANESIZE", "")
    return int(size) if kind == "plane" and size.isdecimal() and int(size) else None


def _dealt(nodes: Sequence[str], counts: Sequence[int], block: int) -> tuple[str, ...]:
    """Return the nodes that ranks go to: `block` ranks each in turn, while there is room."""
    if sum(counts) > MOST:
        raise ValueError(f"a step has at most {MOST} tasks, not {sum(counts)}")
    found: list[str] = []
    left = list(counts)
    while any(left):
        for at, node in enumerate(nodes):
            taken = min(block, left[at])
            left[at] -= taken
            found += [node] * taken
    return tuple(found)


def _agrees(
    hosts: Sequence[str], nodes: Sequence[str], environment: Mapping[str, str]
) -> bool:  # fmt: skip
    """Return whether the ranks of this node are those that SLURM says, as far as it does."""
    ranks, number = environment.get("SLURM_GTIDS"), environment.get("SLURM_NODEID", "")
    if ranks is None or not number.isdecimal() or int(number) >= len(nodes):
        return True
    here = [str(rank) for rank, host in enumerate(hosts) if host == nodes[int(number)]]
    return here == ranks.split(",")


def number(environment: Mapping[str, str], name: str) -> int | None:
    """Return the number that a variable says, "gpu:2" too; None if it is not there.

    Raises:
      ValueError: it says something else.
    """
    text = environment.get(name, "").rpartition(":")[2]
    if text and not text.isdecimal():
        raise ValueError(f"{name} must be a number, got {environment[name]!r}")
    return int(text) if text else None
