"""The exercises of lessons 7 to 12: processes, loops, queues, files, waits, two ways to train."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from tfdist.errors import OutOfRangeError
from tfdist.jupyter.exercises.grading import Exercise
from tfdist.jupyter.exercises.kinds import Choice, Made, Number, Variables
from tfdist.jupyter.exercises.looks import nodes_before, value
from tfdist.session.session import Session
from tfdist.tracing.device_names import short_name

_ERRORS = ("AbortedError", "DeadlineExceededError", "FailedPreconditionError", "UnavailableError")


def _factorial(made: Variables, number: float) -> float:
    return float(value(made, made["factorial"], {made["n"]: number}))


def _attribute(queue: Any, name: str) -> Any:
    return queue.queue_ref.op.get_attr(name)


def _size(made: Variables) -> int:
    queue = made["line"]
    with queue.queue_ref.graph.as_default():
        size = queue.size()
    return int(value(made, size))


def _batches(made: Variables) -> list[list[int]]:
    """Return the first batches of the learner's dataset, four at most."""
    following = made["squares"].take(4).make_one_shot_iterator().get_next()
    found: list[list[int]] = []
    with Session(graph=following.graph) as session, suppress(OutOfRangeError):
        while True:
            found.append([int(each) for each in session.run(following)])
    return found


def _numbers(made: Variables) -> list[int]:
    return [number for batch in _batches(made) for number in batch]


EXERCISES = (
    Exercise(
        "7a",
        "The parameter server is killed instead of the worker, and started again. Of the variables "
        "`weights` and `seen`, which has its value still, in a new session?",
        Choice(("both", "neither", "seen", "weights")),
        lambda _: "seen",
        "It is in the worker's process, which was there all the time. The weights are lost.",
        {
            "weights": "`with tf.device` put it on the parameter server. Whose memory is that?",
            "both": "A process that is killed takes along what is in its memory.",
            "neither": "Only one of the two processes has died. What is in the other one?",
        },
    ),
    Exercise(
        "7b",
        "A worker died and was started again at its address. A session from before its death runs "
        "a step there. Which error is it told?",
        Choice(_ERRORS),
        lambda _: "AbortedError",
        "Somebody is there, but not the one whom the session knew: open a new session.",
        {
            "UnavailableError": "That is told while nobody is there. Now somebody answers.",
            "FailedPreconditionError": "That is told to a new session which reads a variable "
            "without a value. And to an old one?",
            "DeadlineExceededError": "Nobody waits here: the worker answers at once, and says who "
            "it is.",
        },
    ),
    Exercise(
        "8a",
        "With `limit` 5,000 instead of 1,000, how many times does `less` run? (100 grows by half "
        "each time.)",
        Number("times", "3", 0.0),
        lambda _: 11.0,
        "`grow` runs ten times, and one comparison more finds that it is enough.",
        {
            10: "That is how often `grow` runs. Who found out that there is no other round?",
            7: "That was with a limit of 1,000.",
            6: "That was with a limit of 1,000.",
        },
        low="After six rounds it is 1,139. Go on: 1,709, 2,563, ...",
        high="After six rounds it is 1,139. Go on: 1,709, 2,563, ...",
    ),
    Exercise(
        "8b",
        "Make a placeholder `n` and a tensor `factorial`, the product of 1, 2, ... up to `n`, as a "
        "loop inside of one step. (Floats will do.)",
        Made(
            ("n", "factorial"),
            (
                (
                    lambda made: made["n"].op.type == "Placeholder",
                    "`n` is no placeholder: how many rounds there are is fed.",
                ),
                (
                    lambda made: "LoopCond" in nodes_before(made["factorial"]),
                    "There is no loop in the graph. tf.while_loop takes a condition, a body, and "
                    "the first values; a loop of Python's would be over before anything runs.",
                ),
                (
                    lambda made: _factorial(made, 1.0) == 1.0,
                    "For 1 it should be 1. Carry two values round: the next factor, and the "
                    "product so far.",
                ),
                (
                    lambda made: _factorial(made, 5.0) == 120.0,
                    "For 5 it should be 120. Which value does the loop give back, and how many "
                    "rounds does the condition allow?",
                ),
            ),
        ),
        why="One step, and as many rounds as are fed.",
    ),
    Exercise(
        "9a",
        "`tf.RandomShuffleQueue(20, 5, ...)` holds 12 elements, and nobody adds any. How many can "
        "be taken before taking waits?",
        Number("elements", "3", 0.0),
        lambda _: 7.0,
        "It keeps five inside, to mix with what comes, until it is closed.",
        {
            12: "Some have to stay inside, or there would be nothing to mix with.",
            5: "That is how many stay inside.",
            8: "20 is how many it can hold, not how many it does.",
        },
        low="How many have to stay inside?",
        high="How many have to stay inside?",
    ),
    Exercise(
        "9b",
        "Make a FIFOQueue `line` on the parameter server, with room for twenty strings, and put "
        "two into it, so that another session (the check is one) finds them.",
        Made(
            ("line",),
            (
                (
                    lambda made: [each.name for each in made["line"].dtypes] == ["string"],
                    "Its elements are not one string each: tf.FIFOQueue(20, [tf.string], ...).",
                ),
                (
                    lambda made: _attribute(made["line"], "capacity") == 20,
                    "It has not room for twenty: the first argument is its capacity.",
                ),
                (
                    lambda made: short_name(made["line"].queue_ref.device).startswith("ps"),
                    "It asks for no parameter server: a queue has a home, as a variable has.",
                ),
                (
                    lambda made: _attribute(made["line"], "shared_name"),
                    "No other session can find it, since it has no name to be found by: "
                    "shared_name=...",
                ),
                (
                    lambda made: _size(made) > 0,
                    "It was found, and is empty. `enqueue` only makes an operation: has a session "
                    "of the cluster run it?",
                ),
                (
                    lambda made: _size(made) >= 2,
                    "It was found, and holds one only: enqueue_many puts several.",
                ),
            ),
        ),
        why="Two sessions, one queue, by its task and its shared name.",
    ),
    Exercise(
        "10a",
        "Five epochs of 600 points in batches of 32, now with allow_smaller_final_batch=False. "
        "How many batches are there?",
        Number("", "7", 0.0),
        lambda _: 93.0,
        "93 times 32 is 2,976; 24 points are left, and dropped.",
        {
            94: "That counts the last one, which has 24 points only.",
            19: "That is one epoch, and epochs are not kept apart.",
            90: "Epochs are not kept apart: a batch may have the end of one and the beginning of "
            "the next.",
            95: "Epochs are not kept apart: a batch may have the end of one and the beginning of "
            "the next.",
        },
        low="Five times 600 points go into one queue. How many whole batches is that?",
        high="Five times 600 points go into one queue. How many whole batches is that?",
    ),
    Exercise(
        "10b",
        "Make a tf.data dataset `squares`: of the numbers 0 to 9 the odd ones, squared, in batches "
        "of two.",
        Made(
            ("squares",),
            (
                (
                    lambda made: made["squares"].batch,
                    "`squares` is no dataset. tf.data.Dataset.range(10) is where it may begin.",
                ),
                (
                    lambda made: len(_batches(made)[0]) == 2,
                    "A batch of two is wanted: what does .batch(2) do at the end of the chain?",
                ),
                (
                    lambda made: _numbers(made)[:3] != [0, 1, 4],
                    "The even ones are there, too: .filter takes a function that gives a bool "
                    "tensor.",
                ),
                (
                    lambda made: _numbers(made)[:3] != [1, 3, 5],
                    "They are not squared: .map takes a function of an element.",
                ),
                (
                    lambda made: _batches(made) == [[1, 9], [25, 49], [81]],
                    "[1, 9], [25, 49] and [81] should come, and then the end. In which order are "
                    "filter, map and batch?",
                ),
            ),
        ),
        why="A chain of values; nothing was read until somebody asked for a batch.",
    ),
    Exercise(
        "11a",
        "Two steps wait in a ring: each takes from one queue and fills the other. `start` puts one "
        "element in, and both steps end. How many elements are in the two queues then?",
        Number("elements", "5", 0.0),
        lambda _: 1.0,
        "Each step takes one and puts one, so the one that `start` gave is there still.",
        {
            0: "Each step takes one, and what does it do then?",
            2: "Each step puts one, but each has taken one before.",
            3: "Each step puts one, but each has taken one before.",
        },
        low="Follow the one element: from left to right, and on.",
        high="Follow the one element: from left to right, and on.",
    ),
    Exercise(
        "11b",
        "Three steps begin: `put` at a full queue, `take` at an empty one, and `read` of a "
        "variable that nobody has initialised. Which does not wait?",
        Choice(("put", "read", "take")),
        lambda _: "read",
        "That is an error, told at once. Queues make steps wait, on purpose.",
        {
            "put": "It waits for a free place: somebody may take an element yet.",
            "take": "It waits for an element: somebody may put one yet.",
        },
    ),
    Exercise(
        "12a",
        "How many nodes has the one graph for 32 workers?",
        Number("nodes", "100", 0.0),
        lambda _: 968.0,
        "Each worker more is a tower of 30 nodes; eight are there once.",
        {
            976: "Twice as many as for 16 counts what is there once, the weights and the update, "
            "two times.",
            37: "That is what each client has, if there is a graph for each.",
            1184: "That is 32 small graphs. In the one graph, what is shared is there once.",
        },
        low="By how many nodes does it grow from 8 workers to 16?",
        high="By how many nodes does it grow from 8 workers to 16?",
    ),
    Exercise(
        "12b",
        "Five workers share the 300 examples, and the one client of the one graph is at worker 0. "
        "How many bytes of examples cross in a step? (An example is four numbers and its answer.)",
        Number("bytes", "1200", 0.0),
        lambda _: 4800.0,
        "60 examples of 20 bytes for each of the four workers that are elsewhere.",
        {
            6000: "That is all 300. Those of worker 0 are where they have to be.",
            8000: "That is with a hundred examples each; now five workers share the 300.",
            3840: "That leaves out the answers: they are fed, too.",
            1200: "That is for one worker.",
            0: "That is how it would be between graphs. Here one client feeds all towers.",
        },
        low="How many examples has each worker, of how many bytes, and how many workers are "
        "elsewhere?",
        high="How many examples has each worker, of how many bytes, and how many workers are "
        "elsewhere?",
    ),
)
