"""What an answer to an exercise may be: a number, a name among some, or what the learner makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
        value = float(answer)
        return f"{value:{',.0f' if value.is_integer() else ',.3g'}}{space}{self.unit}"

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
    "kB": {"MB": 1e3, "B": 1e-3, "bytes": 1e-3},
    "bytes": {"kB": 1e3, "B": 1.0},
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
class Made:
    """An answer that is not typed: variables of the learner's, which must be so.

    Attributes:
      names: of the variables.
      wants: what must be so, given the learner's variables, and what leads further where it is
        not: in the order in which one would look. What raises an error is not so.
    """

    names: tuple[str, ...]
    wants: tuple[tuple[Callable[[Variables], object], str], ...]
    example = ""

    def parsed(self, text: str) -> str:
        """Raise ValueError: nothing can be typed."""
        raise ValueError(f"what is {text!r} for? What is looked at is {self.told()}")

    def told(self, _: Answer = "") -> str:
        """Return the variables as one says them."""
        return " and ".join(self.names)

    def missing(self, variables: Variables) -> str:
        """Return what leads further, "" if all is as it must be."""
        for is_so, hint in self.wants:
            try:
                if not is_so(variables):
                    return hint
            except Exception as error:  # whatever the learner has made may raise anything
                about = str(error).partition("\n")[0]
                return f"{hint}\n({type(error).__name__}: {about})"
        return ""
