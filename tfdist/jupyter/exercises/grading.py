"""What an answer to an exercise is worth, and what leads further where it is not right.

A learner predicts before anything runs; what was run, or is simulated now, is the truth. An answer
that is not right gets the first hint that fits it: that of a known mistake, or of its side. What a
learner makes is looked at, and gets the hint of the first thing that is not so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tfdist.jupyter.exercises.kinds import Answer, Choice, Level, Made, Number, Variables

MOST_NAMES = 6  # of exercises, that are told when there is none of a name


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
class Exercise:
    """A question about a lesson.

    Attributes:
      name: number of the lesson, and a letter.
      question: what is asked.
      kind: what an answer is.
      truth: returns what is right, given the variables that the lesson has made; of what is made,
        its kind knows.
      why: what is said when an answer is right.
      hints: by answer, what leads further from a known mistake.
      low: what leads further from a number that is too small, or a name that has no hint.
      high: the same for a number that is too large.
      after: variables that are there when what is asked for has been run; without any, nothing
        needs to be run.
    """

    name: str
    question: str
    kind: Number | Choice | Made
    truth: Callable[[Variables], Answer] | None = None
    why: str = ""
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
        return f"%tfdist check {self.name} {self.kind.example}".rstrip()

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
    if isinstance(exercise.kind, Made) and not text.strip():
        return _looked_at(exercise, exercise.kind, variables), None
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


def _looked_at(exercise: Exercise, kind: Made, variables: Variables) -> Verdict:
    """Return how good what the learner has made is."""
    if any(name not in variables for name in kind.names):
        told = f"Make {kind.told()} in a cell, then: {exercise.how}"
        return Verdict(Level.ASKED, f"{exercise.question}\n{told}")
    hint = kind.missing(variables)
    return Verdict(Level.WRONG, hint) if hint else Verdict(Level.RIGHT, exercise.why)


def _truth(exercise: Exercise, variables: Variables) -> Answer:
    assert exercise.truth is not None  # only what is made has none
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
    assert not isinstance(kind, Made)  # nothing can be typed for it
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
    told = [each.name for each in exercises]
    names = ", ".join(told) if len(told) <= MOST_NAMES else f"{told[0]} to {told[-1]}"
    raise ValueError(f"there is no exercise {name!r}; there are {names}")
