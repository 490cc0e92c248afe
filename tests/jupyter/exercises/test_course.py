"""The course's exercises: two for each lesson, and what right and wrong answers are told."""

import re
from types import SimpleNamespace

import pytest
from IPython.core.error import UsageError

from tests.jupyter.exercises import lessons
from tfdist.jupyter.exercises.course import EXERCISES
from tfdist.jupyter.exercises.grading import find, graded
from tfdist.jupyter.exercises.kinds import Choice, Level, Made

WORKER = "/job:worker/replica:0/task:0/device:CPU:0"
# What the predictions of lessons are compared with, when those have run.
MADE = {
    "found": SimpleNamespace(devices=lambda: {"total": WORKER}),
    "gain": 20.4,
    "four": 0.0475,
    "six": 0.0355,
    "after_first": 93.5,
}
TYPED = [each for each in EXERCISES if not isinstance(each.kind, Made)]

# Exercise, what is typed, how good that is, and words of what is told. (The right answers that are
# folded in the lessons are not here.)
ANSWERS = [
    ("1a", "3", Level.WRONG, "total alone"),
    ("1a", "6", Level.WRONG, "never"),
    ("1a", "5", Level.WRONG, "twice"),
    ("2a", "3", Level.WRONG, "worker 1 and back"),
    ("2a", "2", Level.WRONG, "already where"),
    ("3a", "client", Level.WRONG, "describes the graph"),
    ("3a", "worker:1", Level.WRONG, "told it to"),
    ("4a", "400", Level.WRONG, "How many devices"),
    ("4a", "3,200 kB", Level.WRONG, "once for each node"),
    ("4a", "0.8MB", Level.RIGHT, "each device"),
    ("5a", "200", Level.WRONG, "one act"),
    ("5a", "1", Level.WRONG, "one turn"),
    ("6a", "ps:1", Level.WRONG, "div"),
    ("6a", "/job:ps/task:2", Level.WRONG, "And row 3"),
    ("7a", "weights", Level.WRONG, "Whose memory"),
    ("7a", "neither", Level.WRONG, "Only one"),
    ("7b", "UnavailableError", Level.WRONG, "Now somebody answers"),
    ("7b", "failedpreconditionerror", Level.WRONG, "new"),
    ("8a", "10", Level.WRONG, "no other round"),
    ("8a", "12", Level.NEAR, "Go on"),
    ("9a", "12", Level.WRONG, "stay inside"),
    ("9a", "8", Level.WRONG, "can hold"),
    ("10a", "94", Level.WRONG, "24 points only"),
    ("10a", "95", Level.WRONG, "kept apart"),
    ("11a", "0", Level.WRONG, "what does it do then"),
    ("11a", "2", Level.WRONG, "has taken one"),
    ("11b", "take", Level.WRONG, "element"),
    ("11b", "put", Level.WRONG, "free place"),
    ("12a", "976", Level.WRONG, "two times"),
    ("12a", "900", Level.NEAR, "from 8 workers to 16"),
    ("12b", "8000", Level.WRONG, "share the 300"),
    ("12b", "4.8kB", Level.RIGHT, "elsewhere"),
    ("13a", "6", Level.WRONG, "three servers"),
    ("13a", "1", Level.WRONG, "keeps them apart"),
    ("13b", "12000", Level.WRONG, "worker:0 itself"),
    ("13b", "8 kB", Level.RIGHT, "elsewhere"),
    ("14a", "300", Level.WRONG, "asynchronous"),
    ("14b", "14.8", Level.WRONG, "one worker"),
    ("14b", "25.6kB", Level.WRONG, "comes back"),
    ("15a", "3", Level.WRONG, "of its own"),
    ("15b", "182", Level.WRONG, "after"),
    ("16a", "75", Level.WRONG, "since"),
    ("16a", "25", Level.WRONG, "most that can be lost"),
    ("16b", "13", Level.WRONG, "two averages"),
    ("17a", "ps:0", Level.WRONG, "Who is asked now"),
    ("17b", "trace", Level.WRONG, "in the picture"),
    ("18a", "timeline", Level.WRONG, "looks at values"),
    ("19a", "29", Level.RIGHT, "proportional"),
    ("19a", "30", Level.RIGHT, "It is 29"),
    ("19a", "36", Level.NEAR, "some be idle"),
    ("19a", "25", Level.NEAR, "How many workers does one"),
    ("19a", "17", Level.WRONG, "saturate at 241"),
    ("19a", "400", Level.WRONG, "some be idle"),
    ("19b", "39%", Level.RIGHT, "0.99"),
    ("19b", "0.4", Level.RIGHT, "0.99"),
    ("19b", "50", Level.WRONG, "twice"),
    ("19b", "60.5%", Level.WRONG, "have none"),
    ("20a", "worker:0", Level.RIGHT, "would have to cross"),
    ("20a", "worker 1", Level.WRONG, "count what crosses"),
    ("20b", "total", Level.WRONG, "anew"),
    ("21a", "300ms", Level.RIGHT, "one after the other"),
    ("21a", "500ms", Level.WRONG, "Five tensors"),
    ("21a", "100", Level.WRONG, "one way"),
    ("21b", "2", Level.RIGHT, "At least once"),
    ("21b", "1", Level.WRONG, "its answer"),
    ("22a", "20ms", Level.RIGHT, "nothing more to gain"),
    ("22a", "25ms", Level.WRONG, "Is the step still waiting"),
    ("22a", "16ms", Level.NEAR, "the other one"),
    ("22b", "20", Level.RIGHT, "short/b shares it"),
    ("22b", "10", Level.WRONG, "before anybody waits"),
    ("23a", "1.3x", Level.RIGHT, "four more steps"),
    ("23a", "2.2", Level.WRONG, "formula"),
    ("23b", "1", Level.RIGHT, "tenth of the machines"),
    ("23b", "5", Level.WRONG, "50 workers"),
    ("24b", "95ms", Level.RIGHT, "hidden behind"),
    ("24b", "30ms", Level.WRONG, "second"),
    ("24b", "21ms", Level.WRONG, "second"),
    ("24b", "75", Level.NEAR, "timeline"),
    ("25a", "8", Level.RIGHT, "three jobs"),
    ("25a", "14", Level.WRONG, "however many"),
    ("25b", "readiness", Level.RIGHT, "nothing new"),
    ("25b", "liveness", Level.WRONG, "killed"),
    ("26a", "n2", Level.WRONG, "block"),
    ("26b", "ps:0", Level.WRONG, "typed first"),
    ("27a", "processes", Level.WRONG, "process of its own"),
    ("28a", "1", Level.RIGHT, "not retired"),
    ("28a", "3", Level.WRONG, "their threads are free"),
    ("28b", "ps:0", Level.RIGHT, "memory"),
    ("28b", "worker:1", Level.WRONG, "tf.device"),
]


@pytest.mark.parametrize("number", lessons.NUMBERS)
def test_a_lesson_has_two_exercises_in_text_registry_check_and_folded(number):
    names = [f"{number}a", f"{number}b"]
    assert [each.name for each in EXERCISES if each.lesson == number] == names
    assert list(lessons.questions(number)) == names
    assert lessons.checks(number) == names
    assert list(lessons.answers(number)) == names


def test_there_is_no_exercise_without_a_lesson():
    assert sorted({each.lesson for each in EXERCISES}) == lessons.NUMBERS


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
def test_the_lesson_asks_what_the_check_asks(exercise):
    assert lessons.questions(exercise.lesson)[exercise.name] == exercise.question


@pytest.mark.parametrize("exercise", TYPED, ids=lambda each: each.name)
def test_the_folded_answer_is_right(exercise):
    verdict, _ = graded(exercise, lessons.answers(exercise.lesson)[exercise.name], MADE)
    assert str(verdict).startswith("Right. It is ")
    assert len(str(verdict).splitlines()[-1]) > 20  # and why


@pytest.mark.parametrize(("name", "text", "level", "told"), ANSWERS)
def test_answers(name, text, level, told):
    verdict, _ = graded(find(EXERCISES, name), text, MADE)
    assert verdict.level is level
    assert told.lower() in str(verdict).lower()


def test_every_exercise_that_is_typed_has_a_wrong_answer_here():
    wrong = {name for name, _, level, _ in ANSWERS if level is Level.WRONG}
    assert wrong == {each.name for each in TYPED}


@pytest.mark.parametrize("exercise", TYPED, ids=lambda each: each.name)
def test_no_wrong_answer_is_left_without_a_hint(exercise):
    kind, truth = exercise.kind, exercise.truth(MADE)
    if isinstance(kind, Choice):
        wrong = [name for name in kind.names if name != truth]
    else:
        wrong = [str(truth / 10), str(truth * 10), *map(str, exercise.hints)]
    for text in wrong:
        verdict, _ = graded(exercise, text, MADE)
        assert verdict.level in (Level.WRONG, Level.NEAR)
        assert len(str(verdict).splitlines()[-1]) > 20


@pytest.mark.parametrize("exercise", TYPED, ids=lambda each: each.name)
def test_the_example_is_an_answer_but_not_a_right_one(exercise):
    verdict, _ = graded(exercise, exercise.kind.example, MADE)
    if not isinstance(exercise.kind, Choice):
        assert verdict.level is not Level.RIGHT


@pytest.mark.parametrize(
    "exercise", [each for each in TYPED if each.after], ids=lambda each: each.name
)
def test_its_lesson_makes_what_a_prediction_is_compared_with(exercise):
    text = "\n".join(lessons.code(exercise.lesson).values())
    for name in exercise.after:
        assert re.search(rf"(-o {name}\b|^[^=\n]*\b{name}\b[^=\n]* = )", text, re.MULTILINE)


def test_the_magic_asks_keeps_and_compares(notebook):
    assert notebook.text("%tfdist check 22a").startswith("long/b takes 5 ms")
    assert "prediction is kept: 25 ms" in notebook.text("%tfdist check 22a 25 ms")
    assert "prediction is kept: 25 ms" in notebook.text("%tfdist check 22a")
    notebook.run("gain = 20.3")
    assert "25 ms predicted, 20.3 ms came of it" in notebook.text("%tfdist check 22a")
    (shown,) = notebook.run("%tfdist check 22a 20")
    assert shown["text/plain"].startswith("Right. It is 20.3 ms.\n")
    assert shown["text/html"].count("<p>") == 2


def test_the_magic_lists_all_and_how_far_each_is(notebook):
    notebook.run("%tfdist check 19a 17")
    notebook.run("%tfdist check 21b 2")
    text = notebook.text("%tfdist check")
    assert text.startswith("1 of 56 exercises are right so far.")
    assert re.search(r"19a .* tried", text)
    assert re.search(r"21b .* right", text)
    assert all(each.question in text for each in EXERCISES)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("check 99z", "there is no exercise '99z'; there are 1a to 28b"),
        ("check 1b 5", "what is '5' for\\? What is looked at is celsius and fahrenheit"),
        ("check 22a banana", "'banana' is not a number of milliseconds"),
        ("help check", "what is 'check' for"),
        ("report a.html b.html", "what is 'b.html' for"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(notebook, line, message):
    with pytest.raises(UsageError, match=message):
        notebook.run(f"%tfdist {line}")


def test_the_magic_looks_at_what_is_made(notebook):
    assert "Make mine in a cell, then: %tfdist check 3b" in notebook.text("%tfdist check 3b")
    [shown] = notebook.run("%tfdist check 3b")
    assert "<code>mine</code>" in shown["text/html"]
    notebook.run("mine = 3")
    told = notebook.text("%tfdist check 3b")
    assert told.startswith("Not yet. A ClusterSpec takes a dictionary")
    assert "AttributeError" in told
    assert re.search(r" 3b .* tried", notebook.text("%tfdist check"))
