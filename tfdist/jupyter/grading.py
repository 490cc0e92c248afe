"""What an answer to an exercise is worth, and what leads further where it is not right.

A learner predicts before anything runs; what was run, or is simulated now, is the truth. An answer
that is not right gets the first hint that fits it: that of a known mistake, or of its side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

Answer = float | str
Variables = Mapping[str, Any]

NEAR = 0.35  # share of the truth by which an answer may be off and be nearly right
_NUMBER = re.compile(r"([+-]?\d[\d,]*(?:\.\d+)?|\.\d+)\s*(.*)")
_TASK = re.compile(r"^/job:(\w+)(?:/replica:\d+)?/task:(\d+).*$")


class Level(Enum):
    """How good an answer is, or what is missing."""

    RIGHT = "Right"
    NEAR = "Nearly"
    WRONG = "Not yet"
    KEPT = "Kept"
    ASKED = "Asked"


@dataclass(frozen=True)
class Verdict:
    """What comes of an answer.

    Attributes:
      level: how good it is.
      text: what to say: why it is right, a hint, or what to do.
    """

    level: Level
    text: str

    def __str__(self) -> str:
        is_graded = self.level in (Level.RIGHT, Level.NEAR, Level.WRONG)
        return f"{self.level.value}. {self.text}" if is_graded else self.text


@dataclass(frozen=True)
class Number:
    """An answer that is a number.

    Attributes:
      unit: in which it is told, such as "ms", "%", "times" or "workers".
      example: how one is typed.
      within: share of the truth by which it may be off and be right.
    """

    unit: str
    example: str
    within: float = 0.1

    def parsed(self, text: str) -> float:
        """Return the number in `unit`; ValueError if there is none."""
        found = _NUMBER.fullmatch(text.strip())
        factor = self._factors().get(found[2].strip()) if found else None
        if found is None or factor is None:
            raise ValueError(f"{text!r} is not a number of {_SPOKEN.get(self.unit, self.unit)}")
        value = float(found[1].replace(",", "")) * factor
        is_share = self.unit == "%" and not found[2] and 0 < value < 1
        return 100 * value if is_share else value

    def told(self, answer: Answer) -> str:
        """Return an answer as one says it."""
        space = "" if self.unit in ("", "%") else " "
        return f"{float(answer):,.3g}{space}{self.unit}"

    def distance(self, answer: Answer, truth: Answer) -> float:
        """Return by which share of the truth an answer is off."""
        off = abs(float(answer) - float(truth))
        return off / abs(float(truth)) if truth else off

    def level(self, answer: Answer, truth: Answer) -> Level:
        """Return how good an answer is."""
        off = self.distance(answer, truth)
        return Level.RIGHT if off <= self.within else Level.NEAR if off <= NEAR else Level.WRONG

    def _factors(self) -> Mapping[str, float]:
        return {
            "": 1.0,
            self.unit: 1.0,
            self.unit.removesuffix("s"): 1.0,
            **_OTHER.get(self.unit, {}),
        }


_SPOKEN = {"ms": "milliseconds", "%": "per cent"}
_OTHER: dict[str, dict[str, float]] = {
    "ms": {"s": 1e3, "us": 1e-3, "µs": 1e-3},
    "times": {"x": 1.0},
}


@dataclass(frozen=True)
class Choice:
    """An answer that is one of some names: tasks, or nodes.

    Attributes:
      names: that there are.
      example: how one is typed.
    """

    names: tuple[str, ...]

    @property
    def example(self) -> str:
        return self.names[0]

    def parsed(self, text: str) -> str:
        """Return the name; ValueError if it is none of them. "/job:ps/task:0" is "ps:0"."""
        found = _TASK.sub(r"\1:\2", text.strip().strip("\"'")).replace(" ", ":")
        by_case = {name.lower(): name for name in self.names}
        if found.lower() not in by_case:
            raise ValueError(f"{text!r} is none of {', '.join(self.names)}")
        return by_case[found.lower()]

    def told(self, answer: Answer) -> str:
        """Return an answer as one says it."""
        return str(answer)

    def level(self, answer: Answer, truth: Answer) -> Level:
        """Return how good an answer is; there is no nearly."""
        return Level.RIGHT if answer == truth else Level.WRONG


@dataclass(frozen=True)
class Exercise:
    """A question about a lesson.

    Attributes:
      name: number of the lesson, and a letter.
      question: what is asked.
      kind: what an answer is.
      truth: returns what is right, given the variables that the lesson has made.
      why: what is said when an answer is right.
      hints: by answer, what leads further from a known mistake.
      low: what leads further from a number that is too small, or a name that has no hint.
      high: the same for a number that is too large.
      after: variables that are there when what is asked for has been run; without any, nothing
        needs to be run.
    """

    name: str
    question: str
    kind: Number | Choice
    truth: Callable[[Variables], Answer]
    why: str
    hints: Mapping[Answer, str] = field(default_factory=dict)
    low: str = ""
    high: str = ""
    after: tuple[str, ...] = ()

    @property
    def lesson(self) -> int:
        """Return the number of its lesson."""
        return int(self.name[:-1])

    @property
    def how(self) -> str:
        """Return what to type, with an answer in its place."""
        return f"%tfdist check {self.name} {self.kind.example}"

    def has_run(self, variables: Variables) -> bool:
        """Return whether what is asked for has been run."""
        return all(name in variables for name in self.after)


def graded(
    exercise: Exercise, text: str, variables: Variables, kept: Answer | None = None
) -> tuple[Verdict, Answer | None]:
    """Return what comes of an answer, and the answer, to be kept until it can be compared.

    Args:
      exercise: that is answered.
      text: of the answer; "" for the one that was kept.
      variables: the learner's.
      kept: an answer from before.

    Raises:
      ValueError: the text is no answer to such a question.
    """
    if not text.strip() and kept is None:
        first = "Predict before you run it" if exercise.after else "Answer it as in"
        return Verdict(Level.ASKED, f"{exercise.question}\n{first}: {exercise.how}"), None
    try:
        answer = exercise.kind.parsed(text) if text.strip() else kept
    except ValueError as error:
        raise ValueError(f"{error}; {exercise.name} wants one, as in {exercise.how}") from None
    assert answer is not None
    if not exercise.has_run(variables):
        told = f"Your prediction is kept: {exercise.kind.told(answer)}."
        what = f"Run what makes {' and '.join(exercise.after)}, then %tfdist check {exercise.name}"
        return Verdict(Level.KEPT, f"{told}\n{what}"), answer
    verdict = _compared(exercise, answer, _truth(exercise, variables), not text.strip())
    return verdict, answer


def _truth(exercise: Exercise, variables: Variables) -> Answer:
    try:
        found = exercise.truth(variables)
        return found if isinstance(found, str) else float(found)
    except (AttributeError, KeyError, TypeError) as error:
        names = " and ".join(exercise.after)
        told = f"{names} is not what lesson {exercise.lesson} makes ({error}); run its cells again"
        raise ValueError(told) from None


def _compared(exercise: Exercise, answer: Answer, truth: Answer, is_kept: bool) -> Verdict:
    """Return how good an answer is; a prediction stands beside what has come of it."""
    kind = exercise.kind
    level = kind.level(answer, truth)
    if level is Level.RIGHT:
        return Verdict(level, f"It is {kind.told(truth)}.\n{exercise.why}")
    mistake = next((m for m in exercise.hints if kind.level(answer, m) is Level.RIGHT), None)
    came = f" predicted, {kind.told(truth)} came of it" if is_kept and exercise.after else ""
    if mistake is not None:
        level, hint = Level.WRONG, exercise.hints[mistake]
    else:
        is_high = not isinstance(truth, str) and float(answer) > truth
        hint = exercise.high if is_high and exercise.high else exercise.low
    return Verdict(level, f"{kind.told(answer)}{came}.\n{hint}")


def find(exercises: Sequence[Exercise], name: str) -> Exercise:
    """Return the exercise of a name; ValueError saying which there are."""
    for each in exercises:
        if each.name == name.lower():
            return each
    names = ", ".join(each.name for each in exercises)
    raise ValueError(f"there is no exercise {name!r}; there are {names}")
