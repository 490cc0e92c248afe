"""Rounds: in which round of which loops a node ran, and how a label says so.

TensorFlow's statistics have no field for it: a node in a loop has an entry for each of its runs,
all alike. tfdist writes it behind what TensorFlow writes into a label, where its readers do not
look:

    while/add = Add(while/Identity, while/y) [round 3/1 of while, while/while_1]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

ENTERS, EXITS = ("Enter", "RefEnter"), ("Exit", "RefExit")
MERGES, NEXT_ITERATIONS = ("Merge", "RefMerge"), ("NextIteration", "RefNextIteration")

_BEGIN = " [round "
_TEXT = re.compile(r"(?P<numbers>\d+(?:/\d+)*) of (?P<loops>[^]]*)\]")
_UNTOLD = re.compile(r"[^\w.\\/>-]")  # what may be in a frame's name and would confuse a reader
_FRAME = "/while_context"  # how `while_loop` names the frame of the loop in whose scope it is


class Rounds(NamedTuple):
    """The rounds that surround a run of a node, from the outside.

    Attributes:
      loops: names of the loops.
      numbers: for each of them, the number of the round, from 0.
    """

    loops: tuple[str, ...]
    numbers: tuple[int, ...]

    def __str__(self) -> str:
        """Return "3", or "3/1" for round 1 of a loop in round 3 of another one."""
        return "/".join(map(str, self.numbers))


OUTSIDE = Rounds((), ())

Ends = dict[tuple[tuple[str, ...], tuple[int, ...]], int]


def around(rounds: Rounds) -> list[Rounds]:
    """Return `rounds` and those around it, from the outside."""
    depths = range(1, len(rounds.numbers) + 1)
    return [Rounds(rounds.loops[:depth], rounds.numbers[:depth]) for depth in depths]


def last_rounds(seen: Iterable[Rounds]) -> Ends:
    """Return the number of the last round of each run of a loop.

    Returns:
      Numbers by (name of the loop behind those of the loops around it, rounds of those).
    """
    last: Ends = {}
    for rounds in set(seen):
        for loops, numbers in around(rounds):
            key = loops, numbers[:-1]
            last[key] = max(last.get(key, 0), numbers[-1])
    return last


def given_to(op: str, rounds: Rounds) -> tuple[int, ...]:
    """Return the numbers of the rounds in which what a node made is taken.

    Args:
      op: of the node; an `Enter` gives to all rounds of a loop, or to the first: those take what
        they do not find in their own.
      rounds: in which it ran.
    """
    numbers = rounds.numbers
    if numbers and op in EXITS:
        return numbers[:-1]
    if numbers and op in NEXT_ITERATIONS:
        return (*numbers[:-1], numbers[-1] + 1)
    return numbers


def loop_name(frame: str) -> str:
    """Return what people call the loop that runs in a frame: its scope, if it has one."""
    return frame.removesuffix(_FRAME) or frame


def rounds_in(around: Rounds, frame: str) -> Callable[[int], Rounds]:
    """Return a function from a number to that round of the loop that runs in a frame.

    Args:
      around: the round of other loops in which that loop runs.
      frame: its name.
    """
    loops, numbers, new = (*around.loops, loop_name(frame)), around.numbers, tuple.__new__
    return lambda number: new(Rounds, (loops, (*numbers, number)))  # quicker than by its class


def with_rounds(label: str, rounds: Rounds) -> str:
    """Return `label` with the rounds told behind it."""
    return label + _told(rounds) if rounds.numbers else label


def split_rounds(label: str) -> tuple[str, Rounds]:
    """Return what `with_rounds` was given."""
    if not label.endswith("]"):
        return label, OUTSIDE
    begin = label.rfind(_BEGIN)
    rounds = _read(label[begin + len(_BEGIN) :]) if begin >= 0 else OUTSIDE
    return (label[:begin], rounds) if rounds.numbers else (label, OUTSIDE)


@lru_cache(maxsize=16384)
def _told(rounds: Rounds) -> str:
    loops = ", ".join(_UNTOLD.sub("_", name) for name in rounds.loops)
    return f"{_BEGIN}{rounds} of {loops}]"


@lru_cache(maxsize=16384)
def _read(text: str) -> Rounds:
    found = _TEXT.fullmatch(text)
    if found is None:
        return OUTSIDE
    numbers = tuple(map(int, found["numbers"].split("/")))
    loops = tuple(found["loops"].split(", "))
    return Rounds(loops, numbers) if len(loops) == len(numbers) else OUTSIDE
