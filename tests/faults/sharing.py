"""Rows in which producers and trainers share a queue, and are killed and replaced meanwhile (9)."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from functools import partial

from tests.faults.calls import until
from tests.faults.flow import Element, Producer, Trainer, check_flow
from tests.faults.graphs import Pairs
from tests.faults.place import Place
from tests.faults.processes import Task
from tests.faults.row import GRPC, Measured, Row

FREE = 1.0  # seconds in which a server forgets the step of a client that is gone
PATIENCE = 100.0  # seconds for everything
FREED = 20.0  # seconds in which a step that is left must have ended
PRODUCERS, TRAINERS = 3, 2  # at a time
PRODUCE, TRAIN = "produce", "train"  # what a client does
SEED = "TFDIST_FAULT_SEED"  # repeats the moments of the kills


def share_queue(
    place: Place, elements: int, kills: int, workers: int = 0, seed: int | None = None
) -> Measured:
    """Producers put, trainers take; at random moments one is killed, and replaced.

    Args:
      place: where.
      elements: how many are acknowledged at least.
      kills: of producers; a trainer is killed besides, and one more for every four producers.
      workers: masters that the clients ask; with none they ask the queue's own task.
      seed: of the moments.
    """
    if seed is None:
        seed = int(os.environ.get(SEED) or random.randrange(2**32))
    dice = random.Random(seed)
    keeper, *masters = place.tasks({"ps": 1, "worker": workers}).values()
    pairs, session = Pairs(keeper), place.session(keeper)
    session.run(pairs.size)
    crowd = Crowd(place, keeper, masters or [keeper])
    for what in [PRODUCE] * PRODUCERS + [TRAIN] * TRAINERS:
        crowd.start(what)
    victims = [PRODUCE] * kills + [TRAIN] * (1 + kills // 4)
    dice.shuffle(victims)
    for what, moment in zip(
        victims, sorted(dice.sample(range(elements), len(victims))), strict=True
    ):
        until(lambda moment=moment: crowd.hear() >= moment, f"{moment} are put", PATIENCE)
        crowd.replace(what, dice)
    until(lambda: crowd.hear() >= elements, f"{elements} are put", PATIENCE)
    session.run(pairs.close)
    until(crowd.has_ended, "all clients have ended", PATIENCE)
    return Measured(crowd.slowest, note=f"seed {seed}: {crowd.told(pairs.drained(session))}")


class Client:
    """A producer or a trainer in a process.

    Attributes:
      name: in the names of its nodes.
      heard: what it was told.
    """

    def __init__(self, place: Place, what: str, number: int, master: Task, keeper: Task) -> None:
        self.what, self.number, self.name = what, number, f"{what}{number}"
        self.heard = Producer() if what == PRODUCE else Trainer()
        self.process = place.client(what, master.address, keeper.name, str(number))
        self.ended = False

    def hear(self) -> None:
        """Read what it has printed by now."""
        for line in self.process.lines_now():
            self.heard.hear(line)
            self.ended = line == "refused"

    @property
    def has_begun(self) -> bool:
        """Return whether it has called."""
        return self.heard != type(self.heard)()


class Crowd:
    """The clients of one queue.

    Args:
      place: where they run.
      keeper: the task of the queue.
      masters: the tasks that they ask, in turn.

    Attributes:
      slowest: most seconds until the step of a killed client had ended as well.
    """

    def __init__(self, place: Place, keeper: Task, masters: Sequence[Task]) -> None:
        self._place, self._keeper, self._masters = place, keeper, masters
        self._all: list[Client] = []
        self._killed: list[Client] = []
        self.slowest = 0.0

    def start(self, what: str) -> None:
        """Start a client; its number tells it from all others."""
        number = len(self._all)
        master = self._masters[number % len(self._masters)]
        self._all.append(Client(self._place, what, number, master, self._keeper))

    def hear(self) -> int:
        """Read what clients printed; returns how many elements were acknowledged."""
        for client in self._running:
            client.hear()
        return sum(each.acknowledged for each in self._producers.values())

    def replace(self, what: str, dice: random.Random) -> None:
        """Kill a client that has begun, see its wait vanish, and start another one."""

        def found() -> list[Client]:
            self.hear()
            return [each for each in self._running if each.what == what and each.has_begun]

        until(found, f"a client has begun to {what}", PATIENCE)
        victim = dice.choice(found())
        fault = victim.process.kill()
        victim.process.exit_code()
        victim.hear()
        self._killed.append(victim)
        self.slowest = max(self.slowest, self._until_free(victim) - fault)
        self.start(what)

    def _until_free(self, victim: Client) -> float:
        def is_free() -> bool:
            self.hear()  # the others go on meanwhile
            return not any(each.startswith(f"{victim.name}_") for each in self._keeper.waits())

        return until(is_free, "its step ends", FREED)

    def has_ended(self) -> bool:
        """Read what clients printed; returns whether none goes on."""
        self.hear()
        return all(each.ended for each in self._running)

    def told(self, inside: Sequence[Element]) -> str:
        """Return what was found, as text.

        Args:
          inside: what is left in the queue.

        Raises:
          AssertionError: an element is lost, doubled or out of order, or a client failed.
        """
        for client in self._running:
            assert client.process.exit_code() == 0, client.process.logged()
        flow = check_flow(self._producers, self._trainers, inside)
        killed = [sum(each.what == what for each in self._killed) for what in (PRODUCE, TRAIN)]
        unknown = sum(each.heard.pending > 0 for each in self._all)
        assert unknown <= len(self._killed), f"{unknown} calls of unknown outcome"
        return (
            f"{killed[0]} producers and {killed[1]} trainers killed, {unknown} calls unknown; "
            f"{flow.put} put ({flow.untold} of them untold) = {flow.taken} taken + {flow.inside} "
            f"inside + {flow.lost} lost with a trainer"
        )

    @property
    def _running(self) -> list[Client]:
        return [each for each in self._all if each not in self._killed]

    @property
    def _producers(self) -> dict[int, Producer]:
        heard = ((each.number, each.heard) for each in self._all)
        return {number: each for number, each in heard if isinstance(each, Producer)}

    @property
    def _trainers(self) -> list[Trainer]:
        return [each.heard for each in self._all if isinstance(each.heard, Trainer)]


ROWS = [
    Row("9 shared", "a queue of 3 producers and 2 trainers, of which 2 and 1 are killed", FREE, "",
        "", partial(share_queue, elements=3_000, kills=2, seed=9)),
    Row("9 shared many", "as 9 shared, 100,000 elements, 20 and 6 killed", FREE, "", "",
        partial(share_queue, elements=100_000, kills=20), False),
    Row("9 shared grpc", "as 9 shared many, 20,000 through 2 workers, by gRPC alone", FREE, "", "",
        partial(share_queue, elements=20_000, kills=20, workers=2), False, GRPC),
]  # fmt: skip
