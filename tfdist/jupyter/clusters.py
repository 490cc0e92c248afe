"""What `%cluster` shows, and what its words mean."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from IPython.core.error import UsageError

from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import OpError
from tfdist.jupyter.bundles import Bundle, sentence_bundle, table_bundle
from tfdist.jupyter.listed import listed_bundle
from tfdist.jupyter.settings import style_in_use
from tfdist.launch.attached_cluster import AttachedCluster
from tfdist.launch.clusters import (
    Cluster,
    TaskRow,
    find_cluster,
    jobs_text,
    running_clusters,
)
from tfdist.launch.engines import ENGINES, TFDIST
from tfdist.launch.foreign import foreign_spec
from tfdist.launch.job_counts import parse_jobs
from tfdist.launch.log_tail import LogTail
from tfdist.launch.managers.on import On
from tfdist.launch.managers.seam import ClusterManager
from tfdist.launch.outcome import OTHERWISE, Outcome, cause_of
from tfdist.launch.task_names import short_name
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.tables import Table

NO_CLUSTER = "no cluster runs; start one with: %cluster start ps=1 worker=2"
TASK_HINT = "; {0!r} names a task: %cluster kill {0}, %cluster restart {0}, %cluster logs {0}"
UP = "up"
MOST_OPEN = 40  # tasks of a card that is open at once
_LOG_LOOK = 0.1  # seconds between two looks at logs that are followed
WHERE = {
    "in kernel": "in this kernel",
    "processes": "in processes of their own",
    "attached": "attached",
}


def cluster_bundle(cluster: Cluster, sentence: str = "") -> Bundle:
    """Return a cluster's card: one row per task; of many, those first that are not up."""
    rows = cluster.status()
    colours = device_colours([row.task for row in rows])
    told = (sentence or about(cluster)) + crash_hint(rows)
    with_servers = cluster.kind == "attached"
    if len(rows) <= MOST_OPEN:
        return table_bundle(status_table(rows, with_servers), told, colours)
    up = sum(row.state == UP for row in rows)
    table = status_table(those_down_first(rows), with_servers)
    return listed_bundle(table, f"tasks, {up:,} of them up", style_in_use(), colours, told)


def those_down_first(rows: Sequence[TaskRow]) -> list[TaskRow]:
    """Return the rows of tasks, those first that are not up."""
    return sorted(rows, key=lambda row: row.state == UP)


def crash_hint(rows: Sequence[TaskRow]) -> str:
    """Return where the traceback of the first task that crashed is, "" if none did."""
    crashed = [row.task for row in rows if row.state.startswith("crashed")]
    if not crashed:
        return ""
    task = short_name(crashed[0])
    return f"; %cluster logs {task} --lines 100 shows the traceback of its crash"


def about(cluster: Cluster) -> str:
    """Return which cluster it is, in one sentence."""
    where = WHERE.get(cluster.kind, f"on {cluster.kind}") if cluster.is_running else "stopped"
    sentence = f"cluster {cluster.name!r} ({jobs_text(cluster.jobs)}), {where}"
    connection = cluster.connection if isinstance(cluster, AttachedCluster) else None
    if cluster.disturbances:
        sentence += "; %cluster faults tells how it is disturbed"
    return f"{sentence}; started by pid {connection.owner.pid}" if connection else sentence


def status_table(rows: Sequence[TaskRow], with_servers: bool = False) -> Table:
    """Return the state of tasks; what differs from run to run stands last: its width varies.

    Args:
      rows: of the tasks.
      with_servers: whether it is told what serves each, even if all are tfdist.
    """
    columns = {
        "task": [row.task for row in rows],
        "state": [row.state for row in rows],
        "devices": [" ".join(row.devices) for row in rows],
    }
    if any(row.disturbed for row in rows):
        columns["disturbed"] = [row.disturbed for row in rows]
    if with_servers or any(row.runs != TFDIST for row in rows):
        columns["server"] = [row.runs for row in rows]
    if any(row.foreign for row in rows):
        columns["stands for"] = [row.foreign for row in rows]
    for column, told in (("host", [row.host for row in rows]), ("id", [row.id for row in rows])):
        if any(told):
            columns[column] = told
    columns["address"] = [row.address for row in rows]
    if any(row.pid is not None for row in rows):
        columns["process"] = [f"pid {row.pid}" if row.pid else "" for row in rows]
    return Table(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def logs_bundle(lines: Sequence[str]) -> Bundle:
    """Return lines of logs."""
    if not lines:
        return sentence_bundle("the logs are empty")
    return Bundle({"text/plain": "\n".join(lines)})


def stop_sentence(cluster: Cluster) -> str:
    """Return what it meant to stop a cluster."""
    if cluster.kind == "attached":
        return f"detached from cluster {cluster.name!r}; it goes on where it was started"
    count = len(cluster.servers)
    freed = f"{count} servers, their ports are free" if count > 1 else "1 server, its port is free"
    return f"stopped cluster {cluster.name!r}: {freed}"


def with_replacement(outcome: Outcome, line: str) -> Outcome:
    """Return an outcome whose remedy, where another cluster is in the way, is a line to type.

    Args:
      outcome: of starting a cluster.
      line: what was typed behind %cluster.
    """
    if outcome.remedy != OTHERWISE:
        return outcome
    remedy = f"%cluster {line.strip()} --replace stops it first, --name starts another beside it"
    return replace(outcome, remedy=remedy)


def started(outcome: Outcome, verb: str) -> Cluster:
    """Return the cluster that runs now; UsageError saying why there is none."""
    if outcome.cluster is None:
        raise UsageError(f"%cluster {verb}: {outcome.problem}")
    return outcome.cluster


def named_cluster(name: str | None) -> Cluster:
    """Return the running cluster of a name, by default the last one.

    Raises:
      UsageError: there is none; the message names those that there are.
    """
    found = find_cluster(name)
    if found is None:
        names = ", ".join(repr(each.name) for each in running_clusters())
        hint = TASK_HINT.format(name) if name and ":" in name else ""
        text = f"no cluster {name!r} runs; running: {names}{hint}"
        raise UsageError(text if names else NO_CLUSTER)
    return found


def logs_of(cluster: Cluster, task: str | None, lines: int) -> list[str]:
    """Return the last lines of a cluster's logs; UsageError if there are none to read."""
    try:
        return cluster.logs(task, lines)
    except (ValueError, OpError) as error:
        raise _usage_error("logs", error) from None


def log_tail(cluster: Cluster, task: str | None, lines: int) -> LogTail:
    """Return what follows a cluster's logs; UsageError if there are none to read."""
    try:
        return LogTail(cluster.log_files(task), lines)
    except (ValueError, OpError) as error:
        raise _usage_error("logs", error) from None


def pattern(text: str | None) -> Callable[[str], object]:
    """Return what says whether a line matches; UsageError if `text` is no pattern."""
    try:
        return re.compile(text or "", re.IGNORECASE).search
    except re.error as error:
        raise UsageError(f"%cluster logs --grep {text}: no pattern: {error}") from None


def follow(
    tail: LogTail,
    wanted: Callable[[str], object],
    seconds: float | None,
    goes_on: Callable[[], bool],
) -> None:
    """Print lines of logs as they come.

    Args:
      tail: of the logs.
      wanted: says which lines are.
      seconds: to follow them; None: until Ctrl-C or the cluster's end.
      goes_on: says whether the cluster runs.
    """
    until = None if seconds is None else time.monotonic() + seconds
    while True:
        runs = goes_on()
        for task, line in filter(lambda each: wanted(each[1]), tail.more()):
            print(f"{task}: {line}", flush=True)
        if not runs or (until is not None and time.monotonic() >= until):
            return
        time.sleep(_LOG_LOOK)


def kill(cluster: Cluster, task: str | None) -> str:
    """Kill a task and return a sentence about it; UsageError if that cannot be."""
    return _change_task(cluster.kill, "kill", task, "killed {}; %cluster restart {} starts it anew")


def restart(cluster: Cluster, task: str | None) -> str:
    """Start a task anew and return a sentence about it; UsageError if that cannot be."""
    return _change_task(cluster.restart, "restart", task, "started {} anew, without its variables")


def disturb(cluster: Cluster, text: str) -> str:
    """Disturb a cluster and return a sentence about it; UsageError if that cannot be."""
    try:
        found = cluster.disturb(text)
    except (ValueError, OpError) as error:
        raise _usage_error(text.partition(" ")[0], error) from None
    return "; ".join(f"{each.told}; {each.cure} ends that" for each in found)


def heal(cluster: Cluster, verb: str, what: str) -> str:
    """End disturbances and return a sentence about it; UsageError if there are none such."""
    try:
        found = cluster.heal(what)
    except (ValueError, OpError) as error:
        raise UsageError(f"%cluster {verb}: {cause_of(error).removeprefix('heal: ')}") from None
    left = f"; {len(cluster.disturbances)} left" if cluster.disturbances else ""
    if not found:
        return f"nothing was disturbed in cluster {cluster.name!r}"
    return f"healed: {'; '.join(each.words for each in found)}{left}"


def faults_bundle(found: Sequence[Cluster]) -> Bundle:
    """Return what is disturbed in clusters: how it was said, what it does, how it ends."""
    rows = [
        (cluster.name, each.words, each.told, each.cure)
        for cluster in found
        for each in cluster.disturbances
    ]
    if not rows:
        return sentence_bundle("nothing is disturbed")
    columns = ("cluster", "disturbance", "what it does", "what ends it")
    if len(found) == 1:
        return table_bundle(Table(columns[1:], tuple(row[1:] for row in rows)))
    return table_bundle(Table(columns, tuple(rows)))


def _change_task(change: Callable[[str], None], verb: str, task: str | None, done: str) -> str:
    if task is None:
        raise UsageError(f"%cluster {verb}: which task? Try %cluster {verb} worker:0")
    try:
        change(task)
    except (ValueError, OSError, OpError) as error:
        raise _usage_error(verb, error) from None
    return done.format(*[short_name(task)] * 2)


def _usage_error(verb: str, error: Exception) -> UsageError:
    return UsageError(f"%cluster {verb}: {cause_of(error).removeprefix(f'{verb}: ')}")


def jobs_of(arguments: Any) -> dict[str, int]:
    """Return the jobs that the words and the options --ps and --worker ask for."""
    jobs = {job: n for job in ("ps", "worker") if (n := getattr(arguments, job)) is not None}
    try:
        jobs |= parse_jobs(arguments.words)
    except ValueError as error:
        raise UsageError(f"%cluster start: {error}") from None
    return jobs or {"ps": 1, "worker": 2}


def foreign_of(words: Sequence[str], names: Mapping[str, Any]) -> ClusterSpec:
    """Return the cluster that `%cluster start WORD --local` means.

    Args:
      words: one: the user's variable, a file, or text; see `foreign.foreign_spec`.
      names: the user's variables.
    """
    if len(words) != 1:
        raise UsageError(
            "%cluster start --local: which cluster? Try FILE.json, a variable with its dict, or "
            "TF_CONFIG for the environment's"
        )
    try:
        return foreign_spec(names.get(words[0], words[0]))
    except (ValueError, TypeError, OpError) as error:
        raise UsageError(f"%cluster start --local: {cause_of(error)}") from None


def on_of(word: str, names: Mapping[str, Any]) -> On:
    """Return what --on means: a manager of the user's variables, else what is named."""
    found = names.get(word)
    return found if isinstance(found, ClusterManager) else word


def engine_of(words: Sequence[str]) -> str | dict[str, str]:
    """Return what --engine asks for: an engine of all jobs, or engines by job."""
    asked = [word for words_of_one in words for word in words_of_one.split(",")]
    if len(asked) == 1 and asked[0] in ENGINES:
        return asked[0]
    engines = {job: name for job, _, name in (word.partition("=") for word in asked)}
    for job, engine in engines.items():
        if engine not in ENGINES:
            word = f"{job}={engine}" if engine else job
            raise UsageError(
                f"%cluster start: --engine {word}: try tensorflow, or worker=tensorflow"
            )
    return engines


def cpus_of(devices: str | None) -> int:
    """Return the number of CPUs that --devices asks for."""
    match = re.fullmatch(r"(?i)cpu:(\d+)", devices or "cpu:1")
    if not match:
        raise UsageError(f"%cluster start: --devices {devices}: try cpu:2, two CPUs for each task")
    return int(match[1])
