"""The course's exercises: what right, nearly right and wrong answers are told."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from IPython.core.error import UsageError

from tfdist.jupyter.exercises import EXERCISES
from tfdist.jupyter.grading import Choice, Level, find, graded

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
WORKER = "/job:worker/replica:0/task:0/device:CPU:0"
MADE = {
    "found": SimpleNamespace(devices=lambda: {"total": WORKER}),
    "gain": 20.4,
    "four": 0.0475,
    "six": 0.0355,
    "after_first": 93.5,
}

ANSWERS = [
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
    ("21a", "300ms", Level.RIGHT, "one after the other"),
    ("21a", "500ms", Level.WRONG, "Five tensors"),
    ("21a", "100", Level.WRONG, "one way"),
    ("21b", "0.2s", Level.RIGHT, "latency"),
    ("21b", "5000", Level.WRONG, "divide"),
    ("21c", "2", Level.RIGHT, "At least once"),
    ("21c", "1", Level.WRONG, "its answer"),
    ("22a", "20ms", Level.RIGHT, "nothing more to gain"),
    ("22a", "25ms", Level.WRONG, "Is the step still waiting"),
    ("22a", "16ms", Level.NEAR, "the other one"),
    ("22b", "20", Level.RIGHT, "short/b shares it"),
    ("22b", "10", Level.WRONG, "before anybody waits"),
    ("22c", "20", Level.RIGHT, "stays there"),
    ("22c", "25", Level.WRONG, "before"),
    ("23a", "1.3x", Level.RIGHT, "four more steps"),
    ("23a", "2.2", Level.WRONG, "formula"),
    ("23b", "6.7%", Level.RIGHT, "0.933"),
    ("23b", "5", Level.WRONG, "twice"),
    ("23c", "1", Level.RIGHT, "tenth of the machines"),
    ("23c", "5", Level.WRONG, "50 workers"),
    ("24a", "worker:1", Level.RIGHT, "eight times"),
    ("24a", "worker:2", Level.WRONG, "the last"),
    ("24b", "95ms", Level.RIGHT, "hidden behind"),
    ("24b", "30ms", Level.WRONG, "second"),
    ("24b", "21ms", Level.WRONG, "second"),
    ("24b", "75", Level.NEAR, "timeline"),
    ("24c", "worker:2", Level.RIGHT, "70 ms"),
    ("24c", "worker:0", Level.WRONG, "begins last"),
    ("24d", "40 kB", Level.RIGHT, "whole table"),
    ("24d", "4,000", Level.WRONG, "is needed of it"),
    ("25a", "8", Level.RIGHT, "three jobs"),
    ("25a", "14", Level.WRONG, "however many"),
    ("25b", "138", Level.RIGHT, "128"),
    ("25b", "2", Level.WRONG, "no such task"),
    ("25c", "readiness", Level.RIGHT, "nothing new"),
    ("25c", "liveness", Level.WRONG, "killed"),
    ("28a", "1", Level.RIGHT, "not retired"),
    ("28a", "3", Level.WRONG, "their threads are free"),
    ("28b", "none", Level.RIGHT, "by name"),
    ("28b", "all", Level.WRONG, "not points"),
    ("28c", "ps:0", Level.RIGHT, "memory"),
    ("28c", "worker:1", Level.WRONG, "tf.device"),
]


@pytest.mark.parametrize(("name", "text", "level", "told"), ANSWERS)
def test_answers(name, text, level, told):
    verdict, _ = graded(find(EXERCISES, name), text, MADE)
    assert verdict.level is level
    assert told.lower() in str(verdict).lower()


def test_every_exercise_has_a_right_and_a_wrong_answer_here():
    for level in (Level.RIGHT, Level.WRONG):
        assert {name for name, _, found, _ in ANSWERS if found is level} == {
            each.name for each in EXERCISES
        }


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
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


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
def test_the_example_is_an_answer_but_not_a_right_one(exercise):
    verdict, _ = graded(exercise, exercise.kind.example, MADE)
    if not isinstance(exercise.kind, Choice):
        assert verdict.level is not Level.RIGHT


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
def test_its_lesson_asks_it_and_makes_what_it_needs(exercise):
    (path,) = NOTEBOOKS.glob(f"{exercise.lesson}_*.ipynb")
    text = path.read_text(encoding="utf-8")
    assert f'"%tfdist check {exercise.name}' in text
    for name in exercise.after:
        assert re.search(rf'(-o {name}\b|"[^"=]*\b{name}\b[^"=]* = )', text)


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
    notebook.run("%tfdist check 21c 2")
    text = notebook.text("%tfdist check")
    assert re.search(r"19a .* tried", text)
    assert re.search(r"21c .* right", text)
    assert all(each.question in text for each in EXERCISES)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("check 99z", "there is no exercise '99z'; there are 19a"),
        ("check 22a banana", "'banana' is not a number of milliseconds"),
        ("help check", "what is 'check' for"),
        ("report a.html b.html", "what is 'b.html' for"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(notebook, line, message):
    with pytest.raises(UsageError, match=message):
        notebook.run(f"%tfdist {line}")
