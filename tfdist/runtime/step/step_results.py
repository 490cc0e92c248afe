"""What a step gave, read out of its runs when they have ended."""

from __future__ import annotations

from tfdist.errors import OpError, UnknownError
from tfdist.runtime.resources.variables import Variable
from tfdist.runtime.step.requests import StepResult
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.step import Step
from tfdist.runtime.step.trace import trace


def outcome_of(step: Step, runs: list[Run]) -> StepResult | OpError:
    """Return what a step gave, or why that cannot be read: somebody waits for one of them."""
    try:
        return result_of(step, runs, private=False)
    except OpError as unread:  # a fetched variable that nobody initialised
        return unread
    except Exception as error:
        return UnknownError(f"the results of the step cannot be read: {error!r}")


def result_of(step: Step, runs: list[Run], private: bool = True) -> StepResult:
    """Return what a step gave.

    Args:
      step: that has ended.
      runs: its own, the first of which has the fetches.
      private: whether nobody else must hold the values; see `Run.fetch`.

    Raises:
      OpError: a fetched value cannot be read: a variable without one, a branch not taken.
    """
    values = runs[0].fetch(Variable.read, private)
    return StepResult(values, trace(runs) if step.clock else [], step.remote_stats)
