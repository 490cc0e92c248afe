"""A run that waits says what for: on one display that is updated, and never by print."""

import threading

import pytest

from tfdist.jupyter import watch
from tfdist.jupyter.watch import show_in_place, waits, watched

QUEUE = """
with tf.device("/job:ps"):
    queue = tf.FIFOQueue(3, [tf.float32], [[]], shared_name="numbers")
    put, take = queue.enqueue([1.0]), queue.dequeue()
"""


class Screen:
    """Keeps what is shown; tells when something is."""

    def __init__(self):
        self.texts, self.places = [], []
        self.shown = threading.Event()

    def __call__(self, bundle, place):
        self.texts.append(bundle.data["text/plain"])
        self.places.append(place)
        self.shown.set()
        return "place"


@pytest.fixture
def screen(monkeypatch):
    monkeypatch.setattr(watch, "EVERY", 0.01)
    return Screen()


@pytest.fixture
def blocked(on_cluster):
    """Yield a notebook with a thread that waits for an element of an empty queue."""
    on_cluster.run(QUEUE)
    session, take, put = map(on_cluster.value, ("sess", "take", "put"))
    thread = threading.Thread(target=session.run, args=(take,))
    thread.start()
    yield on_cluster
    session.run(put)
    thread.join()


def wait_until_blocked():
    tick = threading.Event()
    while not waits():
        tick.wait(0.005)


def test_waits_name_node_queue_and_count(blocked):
    wait_until_blocked()
    assert waits() == [
        "fifo_queue_Dequeue: dequeue on queue 'numbers' waits for 1 more element (it holds 0 of 3)"
    ]
    assert waits(least=3600.0) == []  # a step that was begun just now


def test_nothing_waits_when_nothing_runs(on_cluster):
    assert waits() == []


def test_a_wait_is_shown_in_one_place_and_gone_at_the_end(blocked, screen):
    wait_until_blocked()
    with watched(0.0, screen):
        screen.shown.wait(10)
        screen.shown.clear()
        screen.shown.wait(10)
    assert screen.texts[0].startswith("0 s so far; waiting: fifo_queue_Dequeue: dequeue on")
    assert screen.texts[-1] == ""
    assert screen.places == [None] + ["place"] * (len(screen.places) - 1)


def test_a_short_run_shows_nothing(screen):
    with watched(30.0, screen):
        pass
    assert screen.texts == []


def test_errors_pass_through(screen):
    with pytest.raises(KeyboardInterrupt), watched(30.0, screen):
        raise KeyboardInterrupt


def test_a_negative_time_starts_no_thread(screen):
    with watched(-1.0, screen):
        assert "tfdist-watch" not in {thread.name for thread in threading.enumerate()}


def test_the_trace_magic_shows_waits(on_cluster):
    on_cluster.run(QUEUE)
    on_cluster.run("%config TFDist.progress_after = 0.05")
    session, put = map(on_cluster.value, ("sess", "put"))
    timer = threading.Timer(0.5, session.run, [put])
    timer.start()
    shown = on_cluster.run("%%trace\nsess.run(take)")
    timer.join()
    texts = [data["text/plain"] for data in shown]
    assert texts[0].startswith("0 s so far; waiting: fifo_queue_Dequeue")
    assert "" in texts
    assert any(text.startswith("Ran fifo_queue_Dequeue:0") for text in texts)


def test_off_and_text_watch_nothing(on_cluster):
    on_cluster.run(QUEUE + "sess.run(put)")
    for mode in ("off", "text"):
        on_cluster.run(f"%config TFDist.live = '{mode}'\n%config TFDist.progress_after = 0.0")
        assert not [data for data in on_cluster.run("%trace c") if "waiting" in data["text/plain"]]


def test_show_in_place_returns_a_name_to_update(notebook):
    bundle = watch.sentence_bundle("one")
    name = show_in_place(bundle, None)
    assert show_in_place(bundle, name) == name
