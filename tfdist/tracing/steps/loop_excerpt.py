"""An excerpt of a long loop: its first and last rounds, and how many are left out between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tfdist.tracing.steps.loop_iterations import Ends, Rounds, last_rounds
from tfdist.tracing.steps.node_row import NodeRow


class OmittedIterations(NamedTuple):
    """Rounds of a loop that are not shown.

    Attributes:
      loops: its name, behind those of the loops around it.
      around: numbers of the rounds of those in which it ran.
      first: number of the first round that is left out.
      last: number of the last one.
    """

    loops: tuple[str, ...]
    around: tuple[int, ...]
    first: int
    last: int

    @property
    def rounds(self) -> int:
        """Return how many rounds are left out."""
        return self.last - self.first + 1

    def __str__(self) -> str:
        """Return a phrase for people."""
        rounds = "/".join(map(str, self.around)) + "/" * bool(self.around)
        which = f"round {rounds}{self.first}"
        if self.rounds > 1:
            which = f"rounds {rounds}{self.first} to {rounds}{self.last}"
        return f"{which} of {self.loops[-1]} left out ({self.rounds:,})"

    def side(self, rounds: Rounds) -> int:
        """Return -1 for what is before these rounds of the loop, 1 for what is behind, else 0."""
        depth = len(self.loops)
        if rounds.loops[:depth] != self.loops or rounds.numbers[: depth - 1] != self.around:
            return 0
        number = rounds.numbers[depth - 1]
        return -1 if number < self.first else int(number > self.last)


def omit_iterations(
    step_rows: Sequence[NodeRow], most: int
) -> tuple[list[NodeRow], list[OmittedIterations]]:
    """Return the rows without the middle rounds of loops, if there are more than `most`, and which.

    As many rounds are kept at the beginning as at the end of each loop, at least one; what is in no
    loop is always kept.
    """
    last = last_rounds(row.rounds for row in step_rows) if len(step_rows) > most else {}
    if not last:
        return list(step_rows), []
    distances = {rounds: _distance(rounds, last) for rounds in {row.rounds for row in step_rows}}
    kept = max(sorted(distances[row.rounds] for row in step_rows)[most], 1)
    found = [row for row in step_rows if distances[row.rounds] < kept]
    left_out = [
        OmittedIterations(loops, around, kept, number - kept)
        for (loops, around), number in sorted(last.items())
        if number >= 2 * kept and _distance(Rounds(loops[:-1], around), last) < kept
    ]
    return found, left_out


def _distance(rounds: Rounds, last: Ends) -> int:
    """Return how far from the beginning or end of its loops a round is: -1 outside of all."""
    loops, numbers = rounds
    return max(
        (
            min(number, last[loops[: depth + 1], numbers[:depth]] - number)
            for depth, number in enumerate(numbers)
        ),
        default=-1,
    )
