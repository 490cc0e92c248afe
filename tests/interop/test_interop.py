"""tfdist and TensorFlow itself, asking each other: every program in every direction.

Without TFDIST_TENSORFLOW (see `interpreters.py`), and where nobody may make networks, the tests are
skipped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.interop.answers import assert_same, expected
from tests.interop.directions import DIRECTIONS, Direction
from tests.interop.interpreters import hindrance, interpreters, outcomes, programs_of

Trials = dict[tuple[str, str], Future[dict[str, Any]]]  # by direction and program


def possible() -> list[Direction]:
    """Return the directions all of whose sides are there."""
    return [each for each in DIRECTIONS if each.kinds <= interpreters().keys()]


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    """Begin to try all directions, two at a time."""
    found: Trials = defaultdict(Future)

    def tell(direction: Direction) -> None:
        untold = dict.fromkeys(programs_of(direction))
        for program, outcome in outcomes(direction):
            del untold[program]
            found[direction.name, program].set_result(outcome)
        for program in untold:
            found[direction.name, program].set_result({"error": "the client did not come to it"})

    with ThreadPoolExecutor(2) as pool:
        for each in possible():
            pool.submit(tell, each)
        yield found
        pool.shutdown(cancel_futures=True)


def cells() -> Iterator[Any]:
    """Yield a parameter for each program in each direction."""
    for direction in [] if hindrance() else possible():
        for program in programs_of(direction):
            yield pytest.param(direction, program, id=f"{direction.name}-{program}")


@pytest.mark.slow
@pytest.mark.skipif(bool(hindrance()), reason=hindrance())
@pytest.mark.parametrize(("direction", "program"), list(cells()))
def test_a_program_gives_what_it_gives_on_tensorflow_alone(direction, program, trials):
    outcome = trials[direction.name, program].result(timeout=100)
    assert "error" not in outcome, f"{outcome['error']}\n{outcome.get('trace', '')}"
    assert_same(outcome["value"], expected()[program])
