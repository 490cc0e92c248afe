"""Which task of which cluster a server is: from arguments, the environment, or TF_CONFIG.

One image serves all roles: what starts it says which one. Each of the three parts (cluster, job,
task) comes from the first place that has it:

    cluster   --cluster   TFDIST_CLUSTER   TF_CONFIG's "cluster"
    job       --job       TFDIST_JOB       "type" of the task in the cluster's file, in TF_CONFIG
    task      --task      TFDIST_TASK      "index" of the task in the cluster's file, in TF_CONFIG

A cluster is JSON text, the path of a JSON file, or "ps=HOST:PORT;worker=HOST:PORT,HOST:PORT". JSON
is the plain {"job": ["host:port"]} of the tutorials, or a whole TF_CONFIG. The environment and the
reading of files come in as arguments: nothing here touches the process.

Kubeflow's operator writes TF_CONFIG in two more ways. With a changing number of workers it tells
each task in "sparseCluster" of those only that it dials. An evaluator is often left out of the
cluster; then it is a job beside it, at the name of its pod.

Source: TensorFlow's guide to distributed training, TF_CONFIG; Kubeflow's documentation of TFJob.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import InvalidArgumentError, NotFoundError

Place = tuple[str, Any]  # where something was found, and what

Json: TypeAlias = Any  # what a variable or a file spells; wrong ones are found out

EXAMPLE = '{"ps": ["127.0.0.1:2222"]}'
EVALUATOR = "evaluator"
FORMS = (
    f"JSON such as {EXAMPLE}, the path of a JSON file, or "
    "ps=127.0.0.1:2222;worker=127.0.0.1:2223,127.0.0.1:2224"
)

_SPARSE = "sparseCluster"

# What other languages have -> what to say about it where JSON was wanted.
HINTS = (
    (re.compile(r"'"), "; JSON has double quotes"),
    (re.compile(r",\s*[\]}]"), "; JSON has no comma after the last element"),
)


@dataclass(frozen=True)
class Role:
    """What a server is.

    Attributes:
      cluster: all tasks and their addresses.
      job: of this task.
      task: its index in the job.
    """

    cluster: ClusterSpec
    job: str
    task: int


@dataclass(frozen=True)
class Document:
    """What was said about a cluster in one place.

    Attributes:
      place: where it was said, for messages.
      cluster: tasks and addresses, or None.
      task: {"type": job, "index": number}, as far as it was said.
    """

    place: str
    cluster: ClusterSpec | None = None
    task: Mapping[str, Any] = field(default_factory=dict)


def resolve_role(
    cluster: str | None,
    job: str | None,
    task: str | int | None,
    environment: Mapping[str, str],
    read: Callable[[str], str],
) -> Role:
    """Return the role of this process; see the top of the file for where it comes from.

    Args:
      cluster, job, task: the arguments --cluster, --job and --task, None where not given.
      environment: variables of the process.
      read: returns the text of a file; raises OSError.

    Raises:
      NotFoundError: a part is given nowhere; the message says where it was looked for.
      InvalidArgumentError: a part makes no sense; the message says where that stands.
    """
    config = _tf_config(environment)
    named = _named_cluster(cluster, environment, read)
    spec = named.cluster or config.cluster
    if spec is None:
        raise NotFoundError(
            "no cluster: looked for --cluster, TFDIST_CLUSTER and TF_CONFIG in the environment; "
            f"a cluster is {FORMS}"
        )
    spec = _with_evaluator(job, task, environment, (named, config), spec)
    found_job = _job(job, environment, (named, config), spec)
    return Role(spec, found_job, _task(task, environment, (named, config), spec, found_job))


def parse_cluster(text: str, place: str, read: Callable[[str], str]) -> Document:
    """Return the cluster that `text` says, in any of its three forms.

    Args:
      text: JSON, the path of a JSON file, or "JOB=HOST:PORT,...;JOB=...".
      place: where the text was found, for messages.
      read: returns the text of a file; raises OSError.

    Raises:
      InvalidArgumentError: it is none of these.
    """
    stripped = text.strip()
    if stripped.startswith("{"):
        return parse_json(stripped, place)
    if re.match(r"\w+=", stripped):
        return Document(place, _spec(_pairs(stripped, place), place))
    try:
        return parse_json(read(stripped), f"the file {stripped}")
    except (OSError, ValueError) as error:  # not in UTF-8, or a path with a null byte
        raise InvalidArgumentError(f"{place}: {_unreadable(stripped, error)}") from None


def _unreadable(path: str, error: OSError | ValueError) -> str:
    if re.fullmatch(r"[^/=]*:\d+", path):
        return f"{path!r} is an address without its job; wanted JOB=HOST:PORT: worker={path}?"
    reason = error.strerror if isinstance(error, OSError) else "it is no text"
    return f"cannot read the file {path!r} ({reason}); wanted {FORMS}"


def parse_json(text: str, place: str) -> Document:
    """Return the cluster in JSON: {"job": ["host:port"]}, or a whole TF_CONFIG.

    Raises:
      InvalidArgumentError: it is neither.
    """
    if not text.strip():
        raise InvalidArgumentError(f"{place} is empty; wanted JSON such as {EXAMPLE}")
    try:
        value = json.loads(text)
    except ValueError as error:
        hints = "".join(hint for pattern, hint in HINTS if pattern.search(text))
        raise InvalidArgumentError(f"{place} is no JSON: {error}{hints}") from None
    if not isinstance(value, dict):
        raise InvalidArgumentError(f"{place}: wanted a JSON object, got {_short(value)}")
    parts = [value[part] for part in ("cluster", _SPARSE, "task") if part in value]
    if not parts or not isinstance(parts[0], dict):
        return Document(place, _spec(value, place))
    task = value.get("task") or {}
    if not isinstance(task, dict):
        raise InvalidArgumentError(
            f'{place}: "task" is {{"type": JOB, "index": NUMBER}}, got {_short(task)}'
        )
    key = _SPARSE if _SPARSE in value else "cluster"
    cluster = value.get(key)
    if key == _SPARSE and isinstance(cluster, dict):
        cluster = _dialled(cluster, task)
    return Document(place, _spec(cluster, f'{place}, "{key}"') if cluster else None, task)


def _dialled(told: Mapping[str, Json], task: Mapping[str, Json]) -> dict[str, Json]:
    """Return the tasks that one of a cluster with a changing number of workers is told of.

    A worker is told of itself and of the parameter servers, one of these of itself only, as if it
    were the first one.
    """
    found = {job: tasks for job, tasks in told.items() if tasks}
    job, index = task.get("type"), task.get("index")
    tasks = found.get(job) if isinstance(job, str) else None
    if isinstance(tasks, list) and len(tasks) == 1 and index is not None:
        found[str(job)] = {str(index): tasks[0]}
    return found


def _named_cluster(
    argument: str | None, environment: Mapping[str, str], read: Callable[[str], str]
) -> Document:
    if argument is not None:
        return parse_cluster(argument, "--cluster", read)
    if environment.get("TFDIST_CLUSTER"):
        return parse_cluster(environment["TFDIST_CLUSTER"], "TFDIST_CLUSTER", read)
    return Document("")


def _tf_config(environment: Mapping[str, str]) -> Document:
    text = environment.get("TF_CONFIG", "").strip()
    return parse_json(text, "TF_CONFIG") if text and text != "{}" else Document("TF_CONFIG")


def _pairs(text: str, place: str) -> dict[str, list[str]]:
    jobs: dict[str, list[str]] = {}
    for part in filter(None, (each.strip() for each in text.split(";"))):
        job, equals, addresses = part.partition("=")
        found = [each.strip() for each in addresses.split(",")]
        if not equals or not all(found) or job.strip() in jobs:
            raise InvalidArgumentError(
                f"{place}: {part!r} is not JOB=HOST:PORT,HOST:PORT of a job not named before"
            )
        jobs[job.strip()] = found
    return jobs


def _spec(jobs: Json, place: str) -> ClusterSpec:
    try:
        found = ClusterSpec({job: _tasks(tasks) for job, tasks in jobs.items()})
        for job, index, address in found.tasks():
            _check_address(address, f"/job:{job}/task:{index}")
    except (AttributeError, TypeError, ValueError) as error:
        raise InvalidArgumentError(f"{place}: {error}") from None
    if not any(True for _ in found.tasks()):
        raise InvalidArgumentError(f"{place}: the cluster has no task; it is {FORMS}")
    return found


def _check_address(address: str, task: str) -> None:
    _, colon, port = address.rpartition(":")
    if not (colon and port.isascii() and port.isdigit() and int(port) < 65536):
        raise ValueError(f"the address of {task} is HOST:PORT, got {address!r}")


def _tasks(tasks: Json) -> Json:
    """Return the tasks of a job with int indices: JSON's keys are strings."""
    if not isinstance(tasks, dict):
        return tasks
    return {_index(index): address for index, address in tasks.items()}


def _index(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"a task's index is a number, not {text!r}")
    return int(text)


def _with_evaluator(
    job: str | None,
    task: str | int | None,
    environment: Mapping[str, str],
    documents: tuple[Document, ...],
    spec: ClusterSpec,
) -> ClusterSpec:
    """Return the cluster with its evaluator, if this process is one that the cluster leaves out."""
    place, name = _first(job, "job", "type", environment, documents)
    if name != EVALUATOR or EVALUATOR in spec.jobs:
        return spec
    host = environment.get("HOSTNAME", "")
    addresses = [address.rpartition(":") for _, _, address in spec.tasks()]
    ports = {port for _, _, port in addresses}
    if not host or len(ports) != 1:
        raise InvalidArgumentError(
            f"{place} says an evaluator, which the cluster leaves out: its address is the host in "
            f"HOSTNAME ({host or 'not set'}) and the port that all tasks have ({sorted(ports)}); "
            "name it in the cluster, as job 'evaluator'"
        )
    _, number = _first(task, "task", "index", environment, documents)
    # Kubeflow's operator names all tasks alike: JOB-worker-0.NAMESPACE.svc
    is_name = not re.fullmatch(r"[\d.]+|\[.*\]", addresses[0][0])
    _, dot, domain = addresses[0][0].partition(".") if is_name and "." not in host else ("", "", "")
    own = f"{host}{dot}{domain}:{ports.pop()}"
    return ClusterSpec({**spec.as_dict(), EVALUATOR: {_index(str(number or 0)): own}})


def _job(
    argument: str | None,
    environment: Mapping[str, str],
    documents: tuple[Document, ...],
    spec: ClusterSpec,
) -> str:
    place, found = _first(argument, "job", "type", environment, documents)
    if found is None and len(spec.jobs) == 1:
        return spec.jobs[0]
    if found is None:
        raise NotFoundError(_missing("job", "type", f"the cluster has the jobs {spec.jobs}"))
    if found not in spec.jobs:
        raise InvalidArgumentError(
            f"{place} says job {found!r}, but the cluster has the jobs {spec.jobs}"
        )
    return str(found)


def _task(
    argument: str | int | None,
    environment: Mapping[str, str],
    documents: tuple[Document, ...],
    spec: ClusterSpec,
    job: str,
) -> int:
    place, found = _first(argument, "task", "index", environment, documents)
    there = spec.task_indices(job)
    if found is None and len(there) == 1:
        return there[0]
    if found is None:
        raise NotFoundError(_missing("task", "index", f"job {job!r} has the tasks {there}"))
    if not re.fullmatch(r"\d+", str(found)) or int(found) not in there:
        raise InvalidArgumentError(
            f"{place} says task {found!r}, but job {job!r} has the tasks {there}"
        )
    return int(found)


def _first(
    argument: object,
    name: str,
    key: str,
    environment: Mapping[str, str],
    documents: tuple[Document, ...],
) -> Place:
    for place, value in _places(argument, name, key, environment, documents):
        if value not in (None, ""):
            return place, value
    return "", None


def _places(
    argument: object,
    name: str,
    key: str,
    environment: Mapping[str, str],
    documents: tuple[Document, ...],
) -> Iterator[Place]:
    variable = f"TFDIST_{name.upper()}"
    yield f"--{name}", argument
    yield variable, environment.get(variable)
    for document in documents:
        yield document.place, document.task.get(key)


def _missing(name: str, key: str, choice: str) -> str:
    return (
        f"no {name}: looked for --{name}, TFDIST_{name.upper()} and the task's {key!r} in "
        f"TF_CONFIG; {choice}"
    )


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
