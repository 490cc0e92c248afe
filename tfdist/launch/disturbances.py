"""Disturbances as people type them: "slow worker:1 3", "delay worker:0 ps:0 30ms", "cut ps|worker".

One grammar for `%cluster`, for `Cluster.disturb` and for `Cluster.heal`; the table `FORMS` has it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tfdist.base.quantities import duration, rate, share
from tfdist.tracing.disturbances import ALL, CUT, DELAY, DROP, FREEZE, RATE, SLOW, Disturbance

_TASK = re.compile(r"(?:/job:)?(?P<job>[A-Za-z]\w*)(?:(?::|/task:)(?P<task>\d+))?")


class Form(NamedTuple):
    """How a disturbance is typed.

    Attributes:
      example: a whole one.
      is_way: whether it is about the way from one task to another one.
      read: returns the amount that the last word says; None if there is none to say.
      default: amount of who says none, None if it must be said.
    """

    example: str
    is_way: bool
    read: Callable[[str], float] | None
    default: float | None = None


def factor(text: str) -> float:
    """Return how many times as long "3" or "2.5" means; ValueError if that is not longer."""
    try:
        found = float(text.removesuffix("x"))
    except ValueError:
        found = 0.0
    if not 1 < found < float("inf"):
        raise ValueError(f"{text!r} is not a number above 1: 3 is three times as long")
    return found


def above_zero(read: Callable[[str], float], otherwise: str) -> Callable[[str], float]:
    """Return what reads an amount as `read` does, and refuses none: `otherwise` says why."""

    def found(text: str) -> float:
        amount = read(text)
        if not amount:
            raise ValueError(f"{text!r} {otherwise}")
        return amount

    return found


pause = above_zero(duration, "delays nothing: 30ms, 1s")
speed = above_zero(rate, "lets nothing through: cut does that")
loss = above_zero(share, "loses nothing: 5%, 100%")

FORMS = {
    SLOW: Form("slow worker:1 3", False, factor),
    FREEZE: Form("freeze worker:1", False, None),
    DELAY: Form("delay worker:0 worker:1 30ms", True, pause),
    RATE: Form("rate worker:0 worker:1 10MB/s", True, speed),
    DROP: Form("drop worker:0 worker:1 5%", True, loss, 1.0),
    CUT: Form("cut worker:0|worker:1", True, None),
}


def disturbance_of(text: str, tasks: Sequence[str]) -> Disturbance:
    """Return what `text` says.

    Args:
      text: such as "slow worker:1 3".
      tasks: of the cluster, as one types them.

    Raises:
      ValueError: it says nothing that can be; the message tells what could be said.
    """
    verb, *words = text.replace("|", " ").split() or [""]
    form = FORMS.get(verb)
    if form is None:
        raise ValueError(f"{verb!r} is no disturbance{_near(verb, FORMS)}")
    amount = form.default or 0.0
    wanted = 1 + form.is_way
    if verb == CUT and len(words) == 1:
        words.append(ALL)  # off from all others
    if form.read is not None and (len(words) > wanted or form.default is None):
        *words, last = words or [""]
        if len(words) == wanted:
            amount = _amount(verb, form, last)
    if len(words) != wanted:
        raise ValueError(f"{verb}: {_wanted(form)} Try: {form.example}")
    places = [_place(verb, word, tasks) for word in words]
    if form.is_way and not _ways(places, tasks):
        raise ValueError(
            f"{verb}: {' and '.join(places)}: no two tasks, and so no way between them"
        )
    return Disturbance(verb, places[0], places[1] if form.is_way else "", amount)


def healed(disturbances: Sequence[Disturbance], text: str) -> list[Disturbance]:
    """Return the disturbances that are left when what `text` names is healed.

    Args:
      disturbances: that are in force.
      text: a verb ("delay"), a task ("worker:1": all that concerns it), both, or one as it was
        typed ("delay worker:0 worker:1").

    Raises:
      ValueError: there is none such; the message has those that there are.
    """
    words = text.replace("|", " ").split()
    verb = words.pop(0) if words and words[0] in FORMS else ""
    wanted = 1 if verb and not FORMS[verb].is_way else 2  # what follows is an amount
    places = [_normal(word) for word in words[:wanted]]
    ended = [each for each in disturbances if verb in ("", each.verb) and _names(each, places)]
    if not ended:
        told = "; ".join(each.words for each in disturbances)
        there = f"disturbed are: {told}" if told else "nothing is disturbed"
        raise ValueError(f"heal: {text!r} names no disturbance; {there}")
    return [each for each in disturbances if each not in ended]


def added(disturbances: Iterable[Disturbance], new: Iterable[Disturbance]) -> list[Disturbance]:
    """Return disturbances and new ones, each in the place of one that says the same otherwise."""
    found = {each.key: each for each in disturbances}
    for each in new:
        found.pop(each.key, None)
        found[each.key] = each
    return list(found.values())


def _place(verb: str, word: str, tasks: Sequence[str]) -> str:
    """Return one or several tasks as `Disturbance.source` names them."""
    return ",".join(_one(verb, each, tasks) for each in word.split(","))


def _one(verb: str, word: str, tasks: Sequence[str]) -> str:
    name = _normal(word)
    if name == ALL or name in tasks:
        return name
    of_job = [task for task in tasks if task.partition(":")[0] == name]
    if not of_job:
        jobs = dict.fromkeys(task.partition(":")[0] for task in tasks)
        near = _near(name, [*tasks, *jobs], f"the cluster has {', '.join(tasks)}")
        raise ValueError(f"{verb}: no task {name}{near}")
    return of_job[0] if len(of_job) == 1 else name


def _normal(word: str) -> str:
    """Return a task or job as it is typed in short; what is none as it is."""
    if "," in word:
        return ",".join(map(_normal, word.split(",")))
    found = _TASK.fullmatch(word)
    if found is None:
        return word
    return found["job"] + (f":{int(found['task'])}" if found["task"] else "")


def _amount(verb: str, form: Form, word: str) -> float:
    assert form.read is not None
    try:
        return form.read(word)
    except ValueError as error:
        raise ValueError(f"{verb}: {error}; try: {form.example}") from None


def _wanted(form: Form) -> str:
    which = "from which task to which" if form.is_way else "which task"
    return f"{which}, and how much?" if form.read is not None else f"{which}?"


def _ways(places: Sequence[str], tasks: Sequence[str]) -> bool:
    probe = Disturbance(DELAY, places[0], places[1])
    return any(probe.is_between(source, target) for source in tasks for target in tasks)


def _names(disturbance: Disturbance, places: Sequence[str]) -> bool:
    """Return whether a disturbance is about these places: one of them, or from one to the other."""
    ends = [disturbance.source, disturbance.target]
    if len(places) == 2:
        return ends == list(places) or (disturbance.verb == CUT and ends[::-1] == list(places))
    known = {*ends, *(each for end in ends for each in end.split(","))}
    return all(place in known for place in places)


def _near(word: str, names: Iterable[str], otherwise: str = "") -> str:
    """Return what could have been meant, and what there is."""
    known = list(names)
    near = difflib.get_close_matches(word, known, 1)
    told = otherwise or f"there are {', '.join(known)}"
    return f"; did you mean {near[0]}? {told[0].upper()}{told[1:]}" if near else f"; {told}"
