"""The contract of branches and loops: the same values everywhere, by every executor.

The programs stand in `programs/`; what they must return is what TensorFlow 1.15.5 said. Where the
environment variable TFDIST_REAL_TENSORFLOW holds a command that runs a real TensorFlow's Python, it
is asked; elsewhere the answers are read from `programs/answers_1_15.json`.
"""

import json
import os
from collections import Counter
from functools import cache

import pytest

import tfdist as tf
from tests.runtime.places import EXECUTORS, PLACES, alone, cluster, grpc, server
from tests.runtime.programs.answers import EXPECTED, PROGRAMS, ask
from tests.runtime.programs.registry import Place, plain
from tests.runtime.random_programs import random_program

REAL = os.environ.get("TFDIST_REAL_TENSORFLOW", "")
SEEDS = range(100)
FULL_TRACE = tf.RunOptions.FULL_TRACE

pytestmark = pytest.mark.slow
# Each executor alone and over tasks, each other place once: all pairs are in `test_contract.py`.
PAIRS = pytest.mark.parametrize(
    ("place", "executor"),
    [pytest.param(place, executor, id=f"{place.__name__}-{executor}")
     for place in PLACES for executor in EXECUTORS
     if place in (alone, cluster) or executor == "auto"],
    indirect=True,
)  # fmt: skip
THIRD = {"/job:ps/task:0": "/job:worker/task:0"}  # a task that is neither here nor there


@cache
def expected():
    """Return what real TensorFlow says."""
    if REAL:
        return ask(REAL)
    with open(EXPECTED, encoding="utf-8") as file:
        return json.load(file)


def devices(place):
    """Return three devices, which are one where there is only one task."""
    return Place(place.here, place.there, THIRD.get(place.there, place.there))


@pytest.fixture(params=EXECUTORS)
def executor(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)
    return request.param


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def place(request, executor):
    with request.param() as place:
        yield place


def differing(place, run_in, programs=PROGRAMS):
    """Return what is not as expected, program by program: what came, and what was expected.

    Args:
      place: where the programs run.
      run_in: session -> what a program takes for its `run`.
      programs: their names.
    """
    found = {}
    for name in programs:
        with tf.Graph().as_default(), tf.Session(place.target) as session:
            values = PROGRAMS[name](tf, devices(place), run_in(session))
        values = json.loads(json.dumps(plain(values)))
        if values != expected()[name]:
            found[name] = values, expected()[name]
        if place.target:
            tf.Session.reset(place.target)
    return found


@PAIRS
def test_every_executor_gives_the_same_everywhere(place):
    assert differing(place, lambda session: session.run) == {}


def traced(noted):
    """Return what `differing` runs programs in: traced steps, whose nodes go to `noted`."""

    def run_in(session):
        def run(fetches, feed_dict=None):
            options, metadata = tf.RunOptions(trace_level=FULL_TRACE), tf.RunMetadata()
            values = session.run(fetches, feed_dict, options, metadata)
            noted.append(Counter(entries(metadata)))
            return values

        return run

    return run_in


def entries(metadata):
    """Yield what a trace says of each node that ran, but for its times."""
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            outputs = [(each.slot, str(each.tensor_description)) for each in node.output]
            yield device.device, node.timeline_label, *outputs


@pytest.mark.parametrize(
    ("place", "executor"),
    [(alone, "auto"), (alone, "compiler"), (cluster, "compiler"), (grpc, "auto")],
    ids=lambda each: getattr(each, "__name__", each),
    indirect=True,
)
def test_a_traced_step_gives_the_same(place):
    assert differing(place, traced([])) == {}


def test_every_executor_notes_the_same_nodes(monkeypatch):
    """In the same rounds of loops, with outputs of the same types and shapes."""
    different = {}
    for name in PROGRAMS:
        noted = {}
        for executor in ("interpreter", "compiler"):
            monkeypatch.setenv("TFDIST_EXECUTOR", executor)
            with alone() as place:
                assert differing(place, traced(noted.setdefault(executor, [])), [name]) == {}
        if noted["interpreter"] != noted["compiler"]:
            different[name] = [
                (one - other, other - one)
                for one, other in zip(noted["interpreter"], noted["compiler"], strict=True)
            ]
    assert different == {}


HIDDEN = {"what_is_in_a_branch_or_loop_is_not_fetched"}  # an imported graph hides nothing


@pytest.mark.parametrize("executor", ["auto"], indirect=True)
@pytest.mark.parametrize("place", [server, cluster], ids=["server", "cluster"], indirect=True)
def test_an_imported_graph_gives_the_same(place):
    """Each step runs in a new session on a copy of the graph; state stays with the tasks."""

    def run_in(session):
        def run(fetches, feed_dict=None):
            with tf.Graph().as_default() as copy, tf.Session(place.target) as other:
                tf.import_graph_def(session.graph.as_graph_def(), name="")
                feeds = {key.name: value for key, value in (feed_dict or {}).items()}
                return other.run(named(fetches, copy), feeds)

        return run

    assert differing(place, run_in, PROGRAMS.keys() - HIDDEN) == {}


def named(fetches, graph):
    """Return a structure with the elements of `graph` that have the names of its elements."""
    if isinstance(fetches, dict):
        return {key: named(each, graph) for key, each in fetches.items()}
    if hasattr(fetches, "_fields"):
        return type(fetches)(*[named(each, graph) for each in fetches])
    if isinstance(fetches, list | tuple):
        return type(fetches)([named(each, graph) for each in fetches])
    return graph.as_graph_element(fetches.name)


def test_every_program_has_an_answer():
    assert PROGRAMS.keys() == expected().keys()
    assert len(PROGRAMS) > 60


# random programs


def wrong(place, seeds):
    """Return what random programs give that plain Python does not, by seed."""
    found = {}
    for seed in seeds:
        program = random_program(seed)
        with tf.Graph().as_default(), tf.Session(place.target) as session:
            feeds, result, counters = program.build(devices(place))
            initializer = tf.global_variables_initializer()
            for numbers in ((1, 2), (5, 3)):
                session.run(initializer)
                values = [session.run(result, dict(zip(feeds, numbers, strict=True)))]
                values += session.run(counters) if counters else []
                if values != program.value(numbers):
                    found[seed] = numbers, values, program.value(numbers)
        if place.target:
            tf.Session.reset(place.target)
    return found


@PAIRS
def test_random_programs_give_what_python_gives(place, executor):
    """All of them alone, some over tasks; `auto` compiles loops at once, as the compiler does."""
    every = 20 if place.target else 10 if executor == "auto" else 1
    some = SEEDS[::every]
    assert wrong(place, some) == {}
