"""The client's side of clusters on Dask."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from tfdist.base.extras import require
from tfdist.errors import UnavailableError
from tfdist.launch.exchange.messages import Bound, Ended, Stop, ToTask, decode
from tfdist.launch.exchange.seat import Seat
from tfdist.launch.managers.dask import task as dask_task
from tfdist.launch.managers.dask.client import CONNECT, DaskClient, DaskFuture, Where, connected
from tfdist.launch.managers.dask.outbox import Outbox
from tfdist.launch.managers.dask.placement import Amounts, DaskWorker, place
from tfdist.launch.managers.dask.software import check_software
from tfdist.launch.managers.seam import ClusterManager, Listener, Place, Wanted
from tfdist.launch.server_process import PATIENCE
from tfdist.launch.task_names import split_task

_LATEST = 2.0  # seconds that Dask may take to tell that tasks are over

T = TypeVar("T")
Resources = Mapping[str, float | Amounts]


@dataclass
class _Begun:
    """A Dask task that was asked for.

    Attributes:
      task: "/job:J/task:I".
      key: Dask's.
      needs: resources.
      place: address of the worker that was asked for, "" if none was.
      worker: of the one that runs it, "" while that is not known.
      future: of the Dask task.
      over: is set when Dask says so.
    """

    task: str
    key: str
    needs: Amounts
    place: str
    worker: str = ""
    future: DaskFuture = None
    over: threading.Event = field(default_factory=threading.Event)


class DaskManager(ClusterManager):
    """Starts tasks on the workers of a Dask cluster.

    Args:
      where: address of a scheduler, as Dask writes them: "scheduler:8786", "tls://...:8786"; or a
        `distributed.Client`; by default the current one of this process. A client of its own is
        opened to the same scheduler.
      resources: that each task takes of its worker's, such as {"GPU": 1}; or those by job.
      workers: addresses, hosts or names of the workers that may be used; by default all.
      environment: variables of the servers that differ from their worker's.
      keep: whether the servers stay when this process ends. Dask's published dataset "tfdist-NAME"
        holds them then: `client.unpublish_dataset` ends them, and until then nobody starts anew
        what they lose.

    Raises:
      MissingExtra: dask.distributed is not installed.
    """

    name = "Dask"
    lease = 0.0  # of clients that are gone Dask cancels the tasks
    remedy = "Dask's dashboard and the logs of its workers say more"

    def __init__(
        self,
        where: Where = "",
        resources: Resources | None = None,
        workers: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        keep: bool = False,
    ) -> None:
        require("distributed")
        self.keep = keep
        self._where, self._resources = where, dict(resources or {})
        self._allowed, self._environment = tuple(workers), dict(environment or {})
        self._lock = threading.Lock()
        self._begun: dict[str, _Begun] = {}  # by task
        self._latest: dict[str, _Begun] = {}  # by task, those that have ended, too: for logs
        self._watched: set[str] = set()  # addresses of workers
        self._client: DaskClient = None
        self._is_closing = False

    def stay(self) -> None:
        """See `ClusterManager`."""
        self.keep = True

    def start(self, wanted: Wanted, listener: Listener) -> None:
        """See `ClusterManager.start`.

        Raises:
          FailedPreconditionError: workers have other software; there is no client.
          UnavailableError: no scheduler answers.
        """
        self._wanted, self._listener, self._is_closing = wanted, listener, False
        self._id = secrets.token_hex(4)
        self._topic = f"tfdist-{wanted.cluster}-{self._id}"
        self._client = connected(self._where, f"tfdist-{wanted.cluster}")
        self._outbox = Outbox(self._client)
        check_software(self._client, [each.address for each in self._workers()])
        self._client.subscribe_topic(self._topic, self._event)
        self._submit([f"/job:{job}/task:{index}" for job, index in wanted.tasks])

    def _submit(self, tasks: Sequence[str]) -> None:
        """Have tasks begun, each at a worker with room."""
        needs = [self._needs(task) for task in tasks]
        with self._lock:
            taken = [(each.worker or each.place, each.needs) for each in self._begun.values()]
        places = place(self._workers(), needs, taken)
        for task, amounts, address in zip(tasks, needs, places, strict=True):
            seat = self._seat(task)
            key = f"tfdist-{seat.job}-{self._id}-{seat.task}-{secrets.token_hex(2)}"
            begun = _Begun(task, key, amounts, address)
            with self._lock:
                self._begun[task] = begun
            with _span(f"tfdist {self._wanted.cluster}"):
                begun.future = self._client.submit(
                    dask_task.serve, key, self._topic, seat, self._environment,
                    key=key, pure=False, resources=dict(amounts) or None,
                    workers=[address] if address else list(self._allowed) or None,
                    # somewhere else rather than not at all, unless somebody said where
                    allow_other_workers=bool(address) and not self._allowed,
                )  # fmt: skip
            self._client.loop.add_callback(self._watch, begun)
        if self.keep:
            held = [each.future for each in self._all()]
            self._client.publish_dataset(held, name=self._kept, override=True)

    @property
    def _kept(self) -> str:
        """Return the name of the published dataset that holds the tasks."""
        return f"tfdist-{self._wanted.cluster}"

    def _needs(self, task: str) -> Amounts:
        job, _ = split_task(task)
        flat = {name: each for name, each in self._resources.items() if not _is_mapping(each)}
        of_job = self._resources.get(job, {})
        own = of_job if isinstance(of_job, Mapping) else {}
        return {**flat, **own, **self._wanted.resources.get(job, {})}  # type: ignore[dict-item]

    def _seat(self, task: str) -> Seat:
        job, index = split_task(task)
        port = self._wanted.port
        at = self._wanted.tasks.index((job, index))
        return Seat(
            job, index, port=port and port + at, cpus=self._wanted.cpus, gpus=self._wanted.gpus
        )

    def _workers(self) -> list[DaskWorker]:
        """Return the workers that may be used."""
        told = self._client.scheduler_info(n_workers=-1)["workers"]
        every = [
            DaskWorker(address, each["host"], str(each["name"]), each["resources"])
            for address, each in told.items()
        ]
        return [each for each in every if each.is_one_of(self._allowed)]

    async def _watch(self, begun: _Begun) -> None:
        """Wait until Dask says that a task is over, and pass on why if its server did not."""
        error = None
        with contextlib.suppress(Exception):  # the scheduler is gone
            error = await begun.future.exception()
        begun.over.set()
        if begun.future.status == "finished":  # its last message was that of its server
            return
        if begun.future.status == "error":
            self._lost(begun, f"its Dask task failed ({type(error).__name__}: {error})")
        else:
            self._lost(begun, "its Dask task was cancelled, or the scheduler is gone")

    def _event(self, event: tuple[float, Mapping[str, str]]) -> None:
        """Take what a worker says of the server of a task."""
        told = event[1]
        begun = next((each for each in self._all() if each.key == told["key"]), None)
        if begun is None:  # it runs no more for this cluster
            return
        message = decode(told["said"])
        if isinstance(message, Ended):
            self._lost(begun, message.cause)
            return
        if isinstance(message, Bound):
            begun.worker = told["worker"]
            self._latest[begun.task] = begun
            self._watch_worker(begun.worker)
        self._listener.heard(begun.task, message)  # type: ignore[arg-type]

    def _watch_worker(self, address: str) -> None:
        if address not in self._watched:
            self._watched.add(address)
            self._client.subscribe_topic(address, partial(self._worker_event, address))

    def _worker_event(self, address: str, event: tuple[float, object]) -> None:
        """Take what the scheduler says of a worker: that it is gone."""
        if not (isinstance(event[1], Mapping) and event[1].get("action") == "remove-worker"):
            return
        for task in [task for task, each in self._latest.items() if each.worker == address]:
            self._latest.pop(task, None)
        for begun in self._all():
            if begun.worker == address:
                self._lost(begun, f"Dask's worker {address} is gone")

    def _lost(self, begun: _Begun, cause: str) -> None:
        """Tell that a task is over; Dask would run it again elsewhere while its future is held."""
        if self._is_closing:
            return
        with self._lock:
            if self._begun.get(begun.task) is not begun:
                return
            del self._begun[begun.task]
        self._drop(begun)
        self._listener.heard(begun.task, Ended(cause))

    def _drop(self, begun: _Begun) -> None:
        """Let Dask forget a task."""
        if self.keep:  # else the published dataset would have it run again
            self._client.loop.add_callback(self._client.cancel, [begun.future], force=True)
        begun.future.release()

    def _all(self) -> list[_Begun]:
        with self._lock:
            return list(self._begun.values())

    def tell(self, task: str, message: ToTask) -> None:
        """See `ClusterManager.tell`."""
        begun = self._begun.get(task)
        if begun is not None and begun.worker:
            self._outbox.say(begun.key, begun.worker, message)

    def place(self, task: str) -> Place:
        """See `ClusterManager.place`; the id is the task's key and its worker."""
        begun = self._begun.get(task)
        if begun is None:
            return Place()
        host = dask_task.host_of(begun.worker) if begun.worker else ""
        return Place(host, f"{begun.key} at {begun.worker}" if host else begun.key)

    def worker_of(self, task: str) -> str:
        """Return the address of the Dask worker that has a task, "" as long as none has."""
        begun = self._begun.get(task)
        return begun.worker if begun else ""

    def workers_of(self, job: str) -> list[str]:
        """Return the address of the Dask worker of each task of a job; see `Dataset.from_dask`."""
        indices = [index for name, index in self._wanted.tasks if name == job]
        return [self.worker_of(f"/job:{job}/task:{index}") for index in indices]

    def certified_host(self, task: str, told: str) -> str:
        """See `ClusterManager.certified_host`; Dask knows where its worker is."""
        return self.place(task).host or told

    def progress(self) -> str:
        """See `ClusterManager.progress`."""
        workers = self._workers()
        if not workers:
            allowed = f" among {', '.join(self._allowed)}" if self._allowed else ""
            return f"the Dask cluster has no worker{allowed} yet"
        for begun in self._all():
            if not (begun.worker or begun.place):
                wanted = ", ".join(f"{name}={each:g}" for name, each in begun.needs.items())
                return f"no worker of the {len(workers)} in the Dask cluster has {wanted} left"
        return f"{len(workers)} Dask workers are there"

    def logs(self, task: str, lines: int) -> list[str]:
        """See `ClusterManager.logs`.

        Raises:
          UnavailableError: the task's worker is gone, and the log with it.
        """
        return list(self._on_worker(self._latest.get(task), task, dask_task.tail, lines))

    def kill(self, task: str) -> None:
        """See `ClusterManager.kill`.

        Raises:
          UnavailableError: the task's worker is gone.
        """
        self._on_worker(self._begun.get(task), task, dask_task.kill)

    def _on_worker(
        self, begun: _Begun | None, task: str, function: Callable[..., T], *arguments: object
    ) -> T:
        """Return what a function returns that is called where a task runs."""
        if begun is None or not begun.worker:
            raise UnavailableError(f"{task} runs on no Dask worker; %cluster start starts it")
        try:
            found: Mapping[str, T] = self._client.run(
                function, begun.key, *arguments, workers=[begun.worker]
            )
            return found[begun.worker]
        except (OSError, KeyError, TimeoutError) as error:
            raise UnavailableError(
                f"{task}: Dask's worker {begun.worker} does not answer: {error!r}"
            ) from None

    def restart(self, task: str) -> None:
        """See `ClusterManager.restart`."""
        with self._lock:
            begun = self._begun.pop(task, None)
        if begun is not None:
            self._drop(begun)
        self._submit([task])

    def close(self, grace: float = 0.0) -> None:
        """See `ClusterManager.close`."""
        if self._client is None:
            return
        self._is_closing = True
        begun, self._begun = self._all(), {}
        for each in begun:
            if each.worker:
                self._outbox.say(each.key, each.worker, Stop(grace))
            else:
                each.future.release()
        deadline = time.monotonic() + grace + PATIENCE + _LATEST
        with contextlib.suppress(Exception):  # the scheduler is gone
            for each in begun:
                each.over.wait(max(0.0, deadline - time.monotonic()))
                each.future.release()
            if self.keep:
                self._client.unpublish_dataset(self._kept)
            self._client.close(timeout=CONNECT)
        self._client, self._watched = None, set()


def _span(name: str) -> AbstractContextManager[str]:
    """Return what groups tasks under a name on Dask's dashboard."""
    from distributed import span

    return span(name)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)
