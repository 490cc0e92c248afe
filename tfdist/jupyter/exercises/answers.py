"""A learner's answers to the exercises: what was predicted, and how far each is."""

from __future__ import annotations

from tfdist.jupyter.exercises.course import EXERCISES
from tfdist.jupyter.exercises.grading import Verdict, find, graded
from tfdist.jupyter.exercises.kinds import Answer, Level, Variables
from tfdist.plots.shared.tables import Table

_STATES = {
    Level.RIGHT: "right",
    Level.NEAR: "nearly",
    Level.WRONG: "tried",
    Level.KEPT: "predicted",
}


class Answers:
    """The answers that one kernel has seen."""

    def __init__(self) -> None:
        self._kept: dict[str, Answer] = {}
        self._states: dict[str, str] = {}

    def check(self, name: str, text: str, variables: Variables) -> Verdict:
        """Return what comes of an answer.

        Args:
          name: of the exercise, such as "22a".
          text: of the answer; "" for the one that was predicted, or for the question.
          variables: the learner's.

        Raises:
          ValueError: there is no such exercise, or the text is no answer to it.
        """
        exercise = find(EXERCISES, name)
        verdict, answer = graded(exercise, text, variables, self._kept.get(exercise.name))
        if answer is not None:
            self._kept[exercise.name] = answer
        if verdict.level in _STATES:
            self._states[exercise.name] = _STATES[verdict.level]
        return verdict

    def sentence(self) -> str:
        """Return how many exercises are answered right, and how many there are."""
        right = sum(state == _STATES[Level.RIGHT] for state in self._states.values())
        return f"{right} of {len(EXERCISES)} exercises are right so far."

    def table(self) -> Table:
        """Return a row for each exercise: its lesson, the question, and how far it is."""
        cells = [
            (
                str(each.lesson),
                each.name,
                each.question,
                self._states.get(each.name, ""),
            )
            for each in EXERCISES
        ]
        header = ("lesson", "exercise", "question", "your answer")
        return Table(header, tuple(cells), note="to answer: %tfdist check 22a 12ms")
