"""The links to the tasks of a cluster, by name; errors that come by one say which task it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import cast

from tfdist.errors import AbortedError, OpError, UnavailableError
from tfdist.protos import pb
from tfdist.runtime.task.addresses import normal_address
from tfdist.runtime.task.peers import LocalTask
from tfdist.wire.codec import codec
from tfdist.wire.codec.codec import M
from tfdist.wire.common.calls import Piece
from tfdist.wire.common.timeouts import timeouts
from tfdist.wire.peers.answers import Answers
from tfdist.wire.peers.disturbed_link import DisturbedLink
from tfdist.wire.peers.link import Link, open_link
from tfdist.wire.service_methods import WORKER, ask


class TaskLinks:
    """The links of one task; each is opened when it is first used.

    Args:
      addresses: of all tasks, by name; what `move` changes.
      own: name and task that they belong to.

    Attributes:
      lives: incarnation of each task's first device.
    """

    def __init__(self, addresses: dict[str, str], own: tuple[str, LocalTask]) -> None:
        self.addresses = addresses
        self._own_name, self._own = own
        self._links: dict[str, Link] = {}
        self.lives: dict[str, int] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    def link(self, task: str) -> Link:
        """Return the link to a task."""
        found = self._links.get(task) or self._open_link(task)
        disturber = self._own.worker.disturber
        if disturber is None:
            return found
        ends = disturber.ends(self.addresses[self._own_name], self.addresses[task])
        return cast(Link, DisturbedLink(found, disturber, ends))

    def known(self, task: str) -> Link | None:
        """Return the link to a task, as it is; None if it was not used."""
        return self._links.get(task)

    def _open_link(self, task: str) -> Link:
        with self._lock:
            if self._is_closed:
                raise UnavailableError(f"{self._own_name} has stopped and calls nobody any more")
            if task not in self._links:
                self._links[task] = open_link(self.addresses[task])
            return self._links[task]

    def move(self, addresses: Mapping[str, str]) -> None:
        """Reach tasks that are back elsewhere at their new addresses from now on.

        Args:
          addresses: of all other tasks, by name.
        """
        others = {task: normal_address(where) for task, where in addresses.items()}
        others.pop(self._own_name, None)
        with self._lock:
            moved = [task for task, where in others.items() if self.addresses.get(task) != where]
            links = [self._links.pop(task, None) for task in moved]
            self.addresses.update(others)
        for link in filter(None, links):
            link.close()

    def close(self) -> None:
        """Let go of all links."""
        with self._lock:
            links, self._links, self._is_closed = list(self._links.values()), {}, True
        for link in links:
            link.close()

    def ask_all(
        self,
        method: str,
        requests: Mapping[str, list[Piece]],
        response_class: type[M],
        told: Callable[[str], None],
    ) -> dict[str, M]:
        """Return what tasks answer, all asked at once; `told` of each as soon as it has answered.

        Raises:
          OpError: of the first that did not.
        """
        if len(requests) == 1:  # needs no other thread
            [(task, pieces)] = requests.items()
            found = {task: self.ask(task, method, pieces, response_class)}
            told(task)
            return found
        answers = Answers(requests, told=told)
        for task, pieces in requests.items():
            answers.expect(task, partial(self.link(task).begin, WORKER + method, pieces))
        outcomes = answers.wait(timeouts().answer)
        for task, outcome in outcomes.items():
            if isinstance(outcome, OpError):
                raise self.explained(task, outcome)
        return {task: codec.parse_message(response_class, o) for task, o in outcomes.items()}

    def ask(
        self, task: str, method: str, request: pb.Message | list[Piece], response_class: type[M]
    ) -> M:
        """Return what a task answers.

        Raises:
          OpError: it did not.
        """
        try:
            return ask(self.link(task), WORKER + method, request, response_class, timeouts().answer)
        except OpError as error:
            raise self.explained(task, error) from None

    def explained(self, task: str, error: OpError) -> OpError:
        """Return `error` with what only this side knows: which task it was, and its two lives."""
        if isinstance(error, UnavailableError) and "/job:" not in error.message:
            lost = UnavailableError(f"{task} at {self.addresses[task]}: {error.message}")
            return lost.at_node(error.node_name, error.device)
        if not (isinstance(error, AbortedError) and error.is_restart):
            return error
        link = self._links.get(task)
        old, new = self.lives.get(task, 0), link.incarnation if link else 0
        if not old or not new or old == new:  # only a master knows the old one, if it was told
            return error
        told = AbortedError(
            f"{task} at {self.addresses[task]} was restarted (incarnation {old:016x} -> {new:016x})"
            " and has lost its variables and queues; open a new session"
        )
        told.is_restart = True
        return told
