"""What an answer to an exercise is worth, by hand-made exercises."""

import pytest

from tfdist.jupyter.exercises.grading import Exercise, find, graded
from tfdist.jupyter.exercises.kinds import Choice, Level, Made, Number

MILLISECONDS = Number("ms", "12ms", 0.1)
STEP = Exercise(
    "40a", "How long is it?", MILLISECONDS, lambda _: 20.0, "It waits for both.",
    hints={25.0: "The other way is longer then.", 0.0: "It is on the path."},
    low="Add up the way.", high="Which way is longer?",
)  # fmt: skip
RUN = Exercise(
    "40b", "How long was it?", MILLISECONDS, lambda made: made["took"], "As measured.",
    low="Longer.", high="Shorter.", after=("took",),
)  # fmt: skip
WHERE = Exercise(
    "40c", "Who waits?", Choice(("ps:0", "worker:1")), lambda _: "ps:0", "It adds up.",
    hints={"worker:1": "It is waited for."},
)  # fmt: skip
TENSOR = Exercise(
    "40d", "Make `x`, three.",
    Made(("x",), ((lambda made: made["x"] + 0, "A number."), (lambda made: made["x"] == 3, "3."))),
    why="Three it is.",
)  # fmt: skip


@pytest.mark.parametrize(
    ("exercise", "text", "level", "told"),
    [
        pytest.param(STEP, "20ms", Level.RIGHT, "It waits for both.", id="exactly"),
        pytest.param(STEP, "21", Level.RIGHT, "It is 20 ms.", id="within what is allowed"),
        pytest.param(STEP, "0.02 s", Level.RIGHT, "It waits", id="in another unit"),
        pytest.param(STEP, "15ms", Level.NEAR, "Add up the way.", id="nearly, too small"),
        pytest.param(STEP, "22.2ms", Level.NEAR, "Which way is longer?", id="nearly, too large"),
        pytest.param(STEP, "25ms", Level.WRONG, "The other way is longer", id="a known mistake"),
        pytest.param(STEP, "0ms", Level.WRONG, "It is on the path.", id="none, a known mistake"),
        pytest.param(STEP, "3ms", Level.WRONG, "Add up the way.", id="too small"),
        pytest.param(STEP, "1,000 ms", Level.WRONG, "Which way is longer?", id="too large"),
        pytest.param(STEP, "", Level.ASKED, "How long is it?\nAnswer it as in", id="no answer"),
        pytest.param(STEP, "  ", Level.ASKED, "%tfdist check 40a 12ms", id="blanks are no answer"),
        pytest.param(WHERE, "ps:0", Level.RIGHT, "It adds up.", id="a place"),
        pytest.param(WHERE, "/job:ps/task:0", Level.RIGHT, "ps:0", id="a place by its full name"),
        pytest.param(WHERE, "Worker 1", Level.WRONG, "It is waited for.", id="another place"),
    ],
)
def test_verdicts(exercise, text, level, told):
    verdict, _ = graded(exercise, text, {})
    assert verdict.level is level
    assert told in str(verdict)
    assert str(verdict).startswith(level.value) == (level is not Level.ASKED)


@pytest.mark.parametrize(
    ("exercise", "text", "message"),
    [
        pytest.param(STEP, "banana", "'banana' is not a number of milliseconds", id="a word"),
        pytest.param(STEP, "20 apples", "is not a number of milliseconds", id="a foreign unit"),
        pytest.param(STEP, "nan", "is not a number", id="not a number"),
        pytest.param(STEP, "1e999", "is not a number", id="too much of a number"),
        pytest.param(WHERE, "ps:7", "'ps:7' is none of ps:0, worker:1", id="no such task"),
    ],
)
def test_nonsense_is_told_what_is_wanted(exercise, text, message):
    with pytest.raises(ValueError, match=message) as caught:
        graded(exercise, text, {})
    assert exercise.how in str(caught.value)


@pytest.mark.parametrize(
    ("unit", "text", "value"),
    [("%", "63%", 63), ("%", "0.63", 63), ("%", "63", 63), ("times", "1.3x", 1.3),
     ("times", "1.3", 1.3), ("workers", "1 worker", 1), ("ms", "-5", -5), ("", "2", 2)],
)  # fmt: skip
def test_numbers_may_be_written_in_several_ways(unit, text, value):
    assert Number(unit, "1").parsed(text) == pytest.approx(value)


def test_a_prediction_is_kept_until_it_can_be_compared():
    verdict, kept = graded(RUN, "30ms", {})
    assert verdict.level is Level.KEPT
    assert "Run what makes took, then %tfdist check 40b" in str(verdict)
    again, _ = graded(RUN, "", {}, kept)
    assert again.level is Level.KEPT
    came, _ = graded(RUN, "", {"took": 20.0}, kept)
    assert came.level is Level.WRONG
    assert str(came) == "Not yet. 30 ms predicted, 20 ms came of it.\nShorter."


def test_an_answer_after_the_run_does_not_give_the_truth_away():
    verdict, _ = graded(RUN, "30ms", {"took": 20.0})
    assert "20" not in str(verdict)


def test_a_variable_of_something_else_is_told():
    with pytest.raises(ValueError, match="took is not what lesson 40 makes"):
        graded(RUN, "3ms", {"took": object()})


def test_an_unknown_exercise_is_told_which_there_are():
    assert find((STEP, WHERE), "40C") is WHERE
    with pytest.raises(ValueError, match="no exercise '7x'; there are 40a, 40c"):
        find((STEP, WHERE), "7x")


@pytest.mark.parametrize(
    ("made", "level", "told"),
    [
        pytest.param({}, Level.ASKED, "Make x in a cell, then: %tfdist check 40d", id="not there"),
        pytest.param({"x": "3"}, Level.WRONG, "A number.\n(TypeError: ", id="raises an error"),
        pytest.param({"x": 0}, Level.WRONG, "Not yet. A number.", id="the first is not so"),
        pytest.param({"x": 4}, Level.WRONG, "Not yet. 3.", id="the second is not so"),
        pytest.param({"x": 3}, Level.RIGHT, "Right. Three it is.", id="all is so"),
    ],
)
def test_what_is_made_gets_the_hint_of_the_first_thing_that_is_not_so(made, level, told):
    verdict, kept = graded(TENSOR, "", made)
    assert verdict.level is level
    assert told in str(verdict)
    assert kept is None


def test_nothing_can_be_typed_for_what_is_made():
    with pytest.raises(ValueError, match="what is '3' for"):
        graded(TENSOR, "3", {"x": 3})


def test_of_many_exercises_the_first_and_the_last_are_told():
    many = [STEP] * 9 + [RUN]
    with pytest.raises(ValueError, match="no exercise '7x'; there are 40a to 40b"):
        find(many, "7x")
