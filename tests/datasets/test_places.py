"""Pipelines wherever they are pinned: alone, on a server, on another task, in another process."""

import pytest

import tfdist as tf
from tests.runtime.places import EXECUTORS, PLACES
from tfdist.launch.start import start_cluster

D = tf.data.Dataset

PIPELINES = {
    "slices in batches": (
        lambda: D.from_tensor_slices([[1], [2], [3]]).batch(2), [[[1], [2]], [[3]]]
    ),
    "map": (lambda: D.range(3).map(lambda x: x * 2 + tf.constant(1, tf.int64)), [1, 3, 5]),
    "a loop": (
        lambda: D.range(3).map(
            lambda x: tf.while_loop(lambda i: i < 10, lambda i: i + x + 1, [x])
        ),
        [10, 11, 11],
    ),
    "nested functions": (
        lambda: D.range(3).flat_map(lambda x: D.range(x).map(lambda y: y * 10 + x)), [1, 2, 12]
    ),
    "filter, repeat, skip": (
        lambda: D.range(4).filter(lambda x: x > 1).repeat(2).skip(1), [3, 2, 3]
    ),
    "pairs": (lambda: D.zip((D.range(2), D.range(5, 9))).map(lambda a, b: a + b), [5, 7]),
    "windows": (
        lambda: D.range(4).window(2).flat_map(lambda w: w.batch(2)), [[0, 1], [2, 3]]
    ),
}  # fmt: skip


@pytest.fixture(params=PLACES, ids=lambda make: make.__name__)
def place(request):
    with request.param() as place:
        yield place


def elements(session, element):
    found = []
    while True:
        try:
            found.append(session.run(element).tolist())
        except tf.errors.OutOfRangeError:
            return found


@pytest.mark.parametrize("name", PIPELINES)
def test_a_one_shot_iterator_on_another_task(place, name):
    build, wanted = PIPELINES[name]
    with tf.device(place.there):
        element = build().make_one_shot_iterator().get_next()
    with tf.device(place.here):
        result = tf.identity(element)
    with tf.Session(place.target) as session:
        assert elements(session, result) == wanted


@pytest.mark.parametrize("name", PIPELINES)
def test_an_unpinned_pipeline_goes_where_its_iterator_is(place, name):
    build, wanted = PIPELINES[name]
    pipeline = build()
    with tf.device(place.there):
        iterator = pipeline.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session(place.target) as session:
        for _ in range(2):
            session.run(iterator.initializer)
            assert elements(session, element) == wanted


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("name", PIPELINES)
def test_every_executor(monkeypatch, executor, name):
    monkeypatch.setenv("TFDIST_EXECUTOR", executor)
    build, wanted = PIPELINES[name]
    element = build().make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert elements(session, element) == wanted


def test_a_handle_of_another_task(place):
    with tf.device(place.there):
        handle = D.range(3).make_one_shot_iterator().string_handle()
        fed = tf.placeholder(tf.string, [])
        element = tf.data.Iterator.from_string_handle(fed, tf.int64, []).get_next()
    with tf.Session(place.target) as session:
        text = session.run(handle)
        assert [session.run(element, {fed: text}) for _ in range(3)] == [0, 1, 2]


def test_python_functions_run_on_every_task_of_this_process(place):
    with tf.device(place.there):
        mapped = D.range(3).map(lambda x: tf.py_func(lambda v: v * 3, [x], tf.int64))
        made = D.from_generator(lambda: iter([4, 5]), tf.int64, [])
        elements_of = [each.make_one_shot_iterator().get_next() for each in (mapped, made)]
    with tf.Session(place.target) as session:
        assert [elements(session, each) for each in elements_of] == [[0, 3, 6], [4, 5]]


def test_an_error_in_a_function_names_where_it_ran(place):
    with tf.device(place.there):
        element = D.range(3).map(lambda x: 6 // x).make_one_shot_iterator().get_next()
    with tf.Session(place.target) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?i)division by zero"):
            session.run(element)
        assert session.run(element) == 6


@pytest.fixture
def other_process(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    with start_cluster({"worker": 2}, "for pipelines", processes=True).require() as cluster:
        yield cluster


def test_in_other_processes(other_process):
    with tf.device("/job:worker/task:1"):
        found = {name: build().make_one_shot_iterator().get_next()
                 for name, (build, _) in PIPELINES.items()}  # fmt: skip
        made = D.from_generator(lambda: iter([4, 5]), tf.int64, [])
        absent = made.make_one_shot_iterator().get_next()
    with tf.Session(other_process.target()) as session:
        for name, element in found.items():
            assert elements(session, element) == PIPELINES[name][1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="do not cross the wire"):
            session.run(absent)
