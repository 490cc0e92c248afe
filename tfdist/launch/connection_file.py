"""Connection files: how a notebook finds the cluster that another kernel started.

Each running cluster has one, `<Jupyter's runtime folder>/tfdist/<cluster>.json`, from its start to
its stop. When two kernels have clusters of one name, the second one's file is
`<cluster>-<process id>.json`. Logs of servers stand beside it in `<cluster>-<process id>.logs`.

Whoever can write such a file can send a notebook to a server of theirs: the folder is its owner's
alone, a file is written under another name, for its owner only, and gets its own name in one step,
and one that others could have written is refused. A kernel that was killed leaves its file behind;
the owner's process id and start show that, and whoever finds it removes it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import FailedPreconditionError, InvalidArgumentError, PermissionDeniedError
from tfdist.launch.owner import Owner

VERSION = 1
SUFFIX, LOGS = ".json", ".logs"
LONGEST_NAME = 150  # characters of a cluster's name in a file's name, which may have 255
LARGEST = 2**20  # bytes of a file that is read
OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class Connection:
    """What a connection file says.

    Attributes:
      name: of the cluster.
      kind: "in kernel" or "processes".
      spec: tasks and addresses.
      cpus: CPU devices of each task.
      owner: process that started the cluster and stops it.
      processes: process id of each task that has a process of its own: {"/job:ps/task:0": 4711}.
      path: of the file, None before it is written.
      gpus: simulated GPUs of each task.
      identity: folder of what is shown to its servers, None where nothing is encrypted.
    """

    name: str
    kind: str
    spec: ClusterSpec
    owner: Owner
    cpus: int = 1
    processes: Mapping[str, int] = field(default_factory=dict)
    path: Path | None = None
    gpus: int = 0
    identity: Path | None = None

    def as_json(self) -> str:
        """Return the text of the file."""
        known = {
            "version": VERSION,
            "name": self.name,
            "kind": self.kind,
            "jobs": {job: self.spec.num_tasks(job) for job in self.spec.jobs},
            "spec": self.spec.as_dict(),
            "cpus": self.cpus,
            "gpus": self.gpus,
            "owner": asdict(self.owner),
            "processes": dict(self.processes),
            "identity": str(self.identity or ""),
        }
        return json.dumps(known, indent=1) + "\n"


def runtime_folder() -> Path:
    """Return the folder of connection files, made if need be, which only its owner may enter.

    Raises:
      PermissionDeniedError: it is somebody else's, or no folder.
      OSError: it cannot be made.
    """
    from jupyter_core.paths import jupyter_runtime_dir

    parent = Path(jupyter_runtime_dir())
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = parent / "tfdist"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise PermissionDeniedError(
            f"{folder} has to be a folder of this user for connection files: remove it, or set "
            "JUPYTER_RUNTIME_DIR to another folder"
        )
    if status.st_mode & OTHERS:
        folder.chmod(0o700)
    return folder


def logs_folder(name: str, owner: Owner, folder: Path | None = None) -> Path:
    """Return the folder of the logs of cluster `name`; it need not exist.

    Args:
      name: of the cluster.
      owner: process that started it.
      folder: that of connection files; `runtime_folder()` by default.
    """
    return (folder or runtime_folder()) / f"{stem_of(name)}-{owner.pid}{LOGS}"


def publish(connection: Connection) -> Connection:
    """Write the file of a cluster and return what it says, with the file's path.

    The path is `connection.path` if that is given: then what the file said is replaced.

    Raises:
      OSError: it cannot be written.
      PermissionDeniedError: see `runtime_folder`.
    """
    folder = runtime_folder()
    draft = folder / f".{os.getpid()}-{stem_of(connection.name)}.draft"
    _write(draft, connection.as_json())
    try:
        if connection.path:
            draft.replace(connection.path)
            return connection
        return replace(connection, path=_give_name(draft, connection))
    finally:
        draft.unlink(missing_ok=True)


def write_connection(path: Path, connection: Connection) -> None:
    """Write a connection file to a folder of the writer's own; OSError where that cannot be."""
    draft = path.with_name(f".{path.name}.draft")
    _write(draft, connection.as_json())
    draft.replace(path)


def withdraw(connection: Connection) -> None:
    """Remove a cluster's file and logs; nothing happens if they are gone."""
    if connection.path:
        logs = logs_folder(connection.name, connection.owner, connection.path.parent)
        connection.path.unlink(missing_ok=True)
        shutil.rmtree(logs, ignore_errors=True)


def connections() -> list[Connection]:
    """Return the clusters of this user that run; files of killed kernels are removed.

    Files that cannot be read, and those of other hosts, are left alone and left out.
    """
    return sorted(_running(runtime_folder()), key=lambda each: (each.name, each.owner.pid))


def find(name: str | None = None) -> Connection:
    """Return the running cluster `name`; by default the only one that there is.

    Args:
      name: of the cluster, or of its file where several kernels have one of that name.

    Raises:
      FailedPreconditionError: there is none or more than one; the message lists what there is.
    """
    there = connections()
    found = [each for each in there if name in (None, each.path and each.path.stem)]
    if len(found) != 1:
        found = [each for each in there if name in (None, each.name)]
    if len(found) == 1:
        return found[0]
    wanted = "no cluster runs" if name is None else f"no cluster {name!r} runs"
    if found:
        wanted = "several clusters run" if name is None else f"several clusters {name!r} run"
    raise FailedPreconditionError(f"{wanted}; {_listed(there)}")


def read(path: Path) -> Connection:
    """Return what a connection file says.

    Raises:
      OSError: it cannot be read, or is a link.
      PermissionDeniedError: somebody else could have written or read it.
      InvalidArgumentError: it says something else, or is of another version.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, encoding="utf-8") as file:
        _check_owner(os.fstat(descriptor), path)
        text = file.read(LARGEST)
    try:
        return _connection(json.loads(text), path)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"{path} is no connection file of this version ({type(error).__name__}: {error})"
        ) from None


def summary(connection: Connection) -> str:
    """Return a cluster in a few words: "'main' (in kernel, process 4711 on host)"."""
    owner = connection.owner
    stem = connection.path.stem if connection.path else connection.name
    return f"{stem!r} ({connection.kind}, of process {owner.pid})"


def stem_of(name: str) -> str:
    """Return the name of a cluster's files, without suffix; ValueError if it cannot have any."""
    if not name or len(quote(name, safe=" ")) > LONGEST_NAME:
        raise ValueError(f"a cluster's name has 1 to {LONGEST_NAME} characters, got {name!r}")
    return quote(name, safe=" ")


def _write(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)  # of a process of that id that was killed meanwhile
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)


def _give_name(draft: Path, connection: Connection) -> Path:
    """Give the draft the cluster's name, or one with the process id if that name is taken."""
    path = draft.with_name(stem_of(connection.name) + SUFFIX)
    _remove_if_stale(path)
    try:
        os.link(draft, path)  # fails where a rename would replace
    except OSError:
        path = draft.with_name(f"{path.stem}-{connection.owner.pid}{SUFFIX}")
        draft.replace(path)
    return path


def _running(folder: Path) -> Iterator[Connection]:
    for path in folder.glob(f"*{SUFFIX}"):
        found = _remove_if_stale(path)
        if found and found.owner.is_here:
            yield found


def _remove_if_stale(path: Path) -> Connection | None:
    """Return what a file says, or None if it says nothing that holds."""
    try:
        found = read(path)
    except (OSError, PermissionDeniedError, InvalidArgumentError):
        return None
    if found.owner.is_gone:
        withdraw(found)
        return None
    return found


def _check_owner(status: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        raise PermissionDeniedError(f"{path} is refused: it is not a file of this user")
    if status.st_mode & OTHERS:
        raise PermissionDeniedError(
            f"{path} is refused: others may use it (mode {stat.S_IMODE(status.st_mode):04o}); "
            f"if you trust what it says: chmod 600 '{path}'"
        )


def _connection(known: Mapping[str, Any], path: Path) -> Connection:
    if known["version"] != VERSION:
        raise ValueError(f"version {known['version']!r}, wanted {VERSION}")
    owner = known["owner"]
    return Connection(
        name=str(known["name"]),
        kind=str(known["kind"]),
        spec=ClusterSpec(known["spec"]),
        cpus=int(known["cpus"]),
        owner=Owner(str(owner["host"]), int(owner["pid"]), str(owner["started"])),
        processes={str(task): int(pid) for task, pid in known["processes"].items()},
        path=path,
        gpus=int(known.get("gpus", 0)),  # older files have none
        identity=Path(known["identity"]) if known.get("identity") else None,
    )


def _listed(there: list[Connection]) -> str:
    if not there:
        return "start one with: %cluster start ps=1 worker=2"
    return f"running: {', '.join(map(summary, there))}"
