"""What learners make for the exercises of the course: what is folded is right, else a hint comes.

`LESSONS` names the cells of a lesson that come before; 24a is in `test_capstone.py`.
"""

import pytest

from tests.jupyter.exercises import lessons
from tfdist.jupyter.exercises.course import EXERCISES
from tfdist.jupyter.exercises.grading import find
from tfdist.jupyter.exercises.kinds import Made

pytestmark = pytest.mark.slow

LESSONS = {
    "1b": ["cell-01"],
    "2b": ["cell-01", "cell-03", "cell-07", "cell-11"],
    "3b": ["cell-01"],
    "4b": ["cell-01", "cell-03", "cell-04", "cell-06", "cell-22"],
    "5b": ["cell-01", "cell-02"],
    "6b": ["cell-01", "cell-02"],
    "8b": ["cell-01", "cell-02"],
    "9b": ["cell-01", "cell-02"],
    "10b": [],
    "18b": ["cell-01", "cell-02", "cell-05", "cell-07"],
    "27b": ["cell-01", "cell-03", "cell-05"],
}

SPEC = 'mine = tf.train.ClusterSpec({"ps": ["a:2222"], '
QUEUE = "tf.FIFOQueue(20, [tf.string], shapes=[[]]"

# Exercise -> what somebody makes who is not there yet, and words of the hint.
WRONG = {
    "1b": [
        ("celsius, fahrenheit = 3, 4", "no placeholder"),
        ("celsius = tf.placeholder(tf.float32); fahrenheit = tf.constant(3.0)", "come from"),
        ("celsius = tf.placeholder(tf.float32, []); fahrenheit = celsius * 1.8", "be fed"),
        ("celsius = tf.placeholder(tf.float32, [None]); fahrenheit = celsius * 1.8", "212"),
    ],
    "2b": [
        ("mine, peek = tf.get_default_graph(), 3", "tf.Graph()"),
        ("mine = tf.Graph(); peek = tf.Variable(0.0)", "not in `mine`"),
        ("with mine.as_default(): peek = tf.Variable(0.0)", "On which one"),
        (
            'with mine.as_default(), tf.device("/job:ps"): peek = tf.Variable([0.0, 0.0])',
            "by its name",
        ),
    ],
    "3b": [
        ('mine = {"ps": ["a:2222"]}', "dictionary"),
        (SPEC + '"worker": ["b:2222"] * 3})', "Three jobs"),
        (SPEC + '"worker": ["b:2222"], "evaluator": ["c:2222"]})', "three workers"),
        (SPEC + '"worker": ["b", "c", "d"], "evaluator": ["e:2222"]})', "a host and a port"),
        (SPEC + '"worker": ["b:2222"] * 3, "evaluator": ["e:2222"]})', "Two tasks"),
    ],
    "4b": [
        ("beside = tf.constant(0.0)", "tf.reduce_mean(table)"),
        ('with tf.device("/job:ps"): beside = tf.reduce_mean(table)', "names a neighbour"),
        ("beside = tf.reduce_mean(table)", "by chance"),
    ],
    "5b": [
        ('w = tf.Variable(5.0, name="w")', "no parameter server"),
        ('with tf.device("/job:ps"): w = tf.Variable(5.0, name="w")', "after tf.reset"),
        (
            'tf.reset_default_graph()\nwith tf.device("/job:ps"): w = tf.Variable(5.0, name="w")',
            "container `mine`",
        ),
        (
            "tf.reset_default_graph()\n"
            'with tf.device("/job:ps"), tf.container("mine"): w = tf.Variable(5.0, name="w")',
            "no value of 5 yet",
        ),
    ],
    "6b": [
        ('wide = tf.get_variable("a", [90, 300])', "not three parts"),
        (
            'wide = tf.get_variable("b", [90, 300], partitioner=tf.fixed_size_partitioner(3))',
            "along the rows",
        ),
        (
            'wide = tf.get_variable("c", [90, 300], partitioner=tf.fixed_size_partitioner(3, 1))',
            "replica_device_setter",
        ),
    ],
    "8b": [
        ("n, factorial = 5, 120", "no placeholder"),
        ("n = tf.placeholder(tf.float32, []); factorial = n * 1.0", "no loop"),
        ("factorial = tf.while_loop(lambda i: i < n, lambda i: i + 1.0, [0.5])", "For 1"),
        ("factorial = tf.while_loop(lambda i: i < n, lambda i: i + 1.0, [0.0])", "For 5"),
    ],
    "9b": [
        ("line = 3", "one string each"),
        ("line = tf.FIFOQueue(3, [tf.string])", "room for twenty"),
        (f"line = {QUEUE})", "no parameter server"),
        (f'with tf.device("/job:ps"): line = {QUEUE})', "to be found by"),
        (f'with tf.device("/job:ps"): line = {QUEUE}, shared_name="a")', "is empty"),
    ],
    "10b": [
        ("import tfdist as tf\nsquares = [1, 9]", "no dataset"),
        ("squares = tf.data.Dataset.range(10)", "batch of two"),
        ("squares = tf.data.Dataset.range(10).map(tf.square).batch(2)", "even ones"),
        (
            "squares = tf.data.Dataset.range(10).filter(lambda x: tf.equal(x % 2, 1)).batch(2)",
            "not squared",
        ),
    ],
    "18b": [
        ("mine = 3", "no trace"),
        (
            'with tf.device("/job:worker/task:0"): near = tf.constant(1.0)\n'
            "%trace -q -o mine session.run(near)",
            "Nothing crosses",
        ),
        ("%trace -q -o mine session.run(step.op)", "More than one"),
    ],
    "27b": [
        ('mine = losses["kernel"]', "taken over"),
        ("mine = []", "one for each step"),
        ("mine = [0.0] * 8", "other losses"),
    ],
}


def test_every_exercise_that_is_made_is_here():
    made = {each.name for each in EXERCISES if isinstance(each.kind, Made)}
    assert set(LESSONS) == set(WRONG) == made - {"24a"}


@pytest.mark.parametrize("name", LESSONS)
def test_what_is_made(notebook, name):
    number = int(name[:-1])
    code = lessons.code(number)
    for cell in LESSONS[name]:
        notebook.run(code[cell])
    assert find(EXERCISES, name).question in notebook.text(f"%tfdist check {name}")
    for attempt, hint in WRONG[name]:
        notebook.run(attempt)
        told = notebook.text(f"%tfdist check {name}")
        assert told.startswith("Not yet. ")
        assert hint in told
    notebook.run(lessons.answers(number)[name])
    assert notebook.text(f"%tfdist check {name}").startswith("Right. ")
