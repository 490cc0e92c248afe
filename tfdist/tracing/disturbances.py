"""Disturbances: what is wrong with a cluster on purpose, as records, words and sentences.

`%cluster slow worker:1 3` and its like make them; the runtime obeys them, and whatever tells of a
step says which of them are in force. The words of one are what was typed, so that they can be typed
again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from tfdist.tracing.device_names import short_name

SLOW, FREEZE, DELAY, RATE, DROP, CUT = VERBS = (
    *("slow", "freeze", "delay"),
    *("rate", "drop", "cut"),
)
ALL = "*"  # all tasks

_UNITS = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"))
_LABEL = re.compile(r" \[disturbed: (?P<told>[^]]*)\]")


class Disturbance(NamedTuple):
    """One thing that is wrong on purpose.

    Attributes:
      verb: "slow", "freeze", "delay", "rate", "drop" or "cut".
      source: the tasks that it is about, or that send: "worker:1", "worker" for all of a job, "*"
        for all, or several of these between commas.
      target: the tasks that receive, written so; "" for what is about tasks and not about ways.
      amount: how many times as long (slow), seconds (delay), bytes a second (rate), or the share
        that is lost, from 0 to 1 (drop).
    """

    verb: str
    source: str
    target: str = ""
    amount: float = 0.0

    def __repr__(self) -> str:
        return f"<{self.words}: {self.told}>"

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what a second one has to have in common to take its place."""
        return self.verb, self.source, self.target

    @property
    def place(self) -> str:
        """Return the words of where it is: "worker:1", "worker:1 ps:0", "worker:1|ps:0"."""
        if self.verb == CUT:
            return self.source if self.target == ALL else f"{self.source}|{self.target}"
        return " ".join(filter(None, (self.source, self.target)))

    @property
    def words(self) -> str:
        """Return how it is typed: "delay worker:1 ps:0 30ms".

        Example:
          >>> Disturbance("delay", "worker:1", "ps:0", 0.03).words
          'delay worker:1 ps:0 30ms'
        """
        return " ".join(filter(None, (self.verb, self.place, self._amount())))

    @property
    def told(self) -> str:
        """Return it in a sentence without a full stop: "worker:1 is frozen"."""
        source, target = _named(self.source, "every task"), _named(self.target, "all others")
        way = f"what {source} sends to {target}"
        cut = f"{source} is cut off from {target}"
        return {
            SLOW: f"what {source} computes takes {self.amount:g} times as long",
            FREEZE: f"{source} is frozen",
            DELAY: f"{way} comes {self._amount()} late",
            RATE: f"{way} goes at {self._amount()}",
            DROP: f"{way} is lost" if self.amount >= 1 else f"{self._amount()} of {way} is lost",
            CUT: cut
            if self.target == ALL
            else f"{source} and {target} are cut off from each other",
        }[self.verb]

    @property
    def cure(self) -> str:
        """Return the magic that ends it."""
        if self.verb == FREEZE:
            return f"%cluster thaw {self.place}"
        return f"%cluster heal {self.verb} {self.place}"

    @property
    def named(self) -> str:
        """Return who did what and how it ends, for messages."""
        told = f"{self.told} by %cluster {self.verb}"
        return f"{told}; {self.cure} ends that"

    def _amount(self) -> str:
        if self.verb == DELAY:
            is_long = self.amount >= 1
            return f"{self.amount:g}s" if is_long else f"{1000 * self.amount:g}ms"
        if self.verb == RATE:
            size, unit = next((each for each in _UNITS if self.amount >= each[0]), (1.0, "B/s"))
            return f"{self.amount / size:g}{unit}"
        if self.verb == DROP:
            return "" if self.amount >= 1 else f"{100 * self.amount:g}%"
        return f"{self.amount:g}" if self.verb == SLOW else ""

    def is_of(self, task: str) -> bool:
        """Return whether it is about a task, and not about ways; see `short_name` for its name."""
        return not self.target and includes(self.source, task)

    def is_between(self, source: str, target: str) -> bool:
        """Return whether it is about what `source` sends to `target`; cuts go both ways."""
        if not self.target or source == target:
            return False
        there = includes(self.source, source) and includes(self.target, target)
        return there or (
            self.verb == CUT and includes(self.source, target) and includes(self.target, source)
        )


def includes(places: str, task: str) -> bool:
    """Return whether "worker:1", "worker", "*" or a list of these with commas includes a task.

    Example:
      >>> includes("ps,worker:1", "worker:1"), includes("worker:1", "worker:0")
      (True, False)
    """
    return any(each in (ALL, task, task.partition(":")[0]) for each in places.split(","))


def concerning(disturbances: Iterable[Disturbance], device: str, source: str = "") -> str:
    """Return the words of what concerns a node on a device, or a transfer from `source` to it.

    Args:
      disturbances: that are in force.
      device: full name of a device or task.
      source: of a transfer, the device that sent it; "" for a node.
    """
    task = short_name(device)
    there = short_name(source)
    found = [
        each.words
        for each in disturbances
        if (each.is_between(there, task) if source else each.is_of(task))
    ]
    return "; ".join(found)


def label_of(disturbances: Iterable[Disturbance]) -> str:
    """Return what the label of a step's beginning says of what is in force, "" for nothing."""
    told = "; ".join(
        f"{each.verb} {each.source} {each.target or '-'} {each.amount!r}" for each in disturbances
    )
    return f" [disturbed: {told}]" if told else ""


def disturbances_in(labels: Iterable[str]) -> list[Disturbance]:
    """Return what `label_of` told in labels, each once.

    Example:
      >>> disturbances_in([label_of([Disturbance("slow", "ps:0", "", 3.0)])])
      [<slow ps:0 3: what ps:0 computes takes 3 times as long>]
    """
    told = (found["told"] for label in labels if (found := _LABEL.search(label)))
    return list(dict.fromkeys(_from_label(each) for text in told for each in text.split("; ")))


def _from_label(text: str) -> Disturbance:
    verb, source, target, amount = text.split(" ")
    return Disturbance(verb, source, target.replace("-", ""), float(amount))


def _named(places: str, everybody: str) -> str:
    """Return "worker:1", "all of worker", or several of these with "and" between them."""
    names = [
        everybody if each == ALL else each if ":" in each else f"all of {each}"
        for each in places.split(",")
    ]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
