"""Who waits for a process that cannot be reached is told why, and what to do."""

import threading
import time

import pytest

import tfdist as tf
from tests.ports import free_port
from tfdist.wire.common.connection_diagnosis import advice_on, in_words


@pytest.mark.parametrize(
    ("reason", "words", "advice"),
    [
        ("Domain name not found", "no such host: Domain name not found", "/etc/hosts"),
        ("Name or service not known", "no such host: Name or service not known", "/etc/hosts"),
        ("Connection refused", "Connection refused", "start the task"),
        ("No route to host", "no route to the host: No route to host", "the network"),
        ("connection attempt timed out", "no answer: connection attempt timed out", "firewall"),
        ("something new", "something new", ""),
    ],
)
def test_reasons_in_words(reason, words, advice):
    assert in_words(reason) == words
    assert in_words(words) == words
    assert advice in advice_on([words])
    assert bool(advice) == bool(advice_on([words]))


WAITING = 3000  # milliseconds: after two seconds a wait says what it is for


def test_a_session_that_waits_says_why(capfd):
    port = free_port()
    cluster = {"worker": ["localhost:0"], "ps": [f"localhost:{port}"]}
    with tf.train.Server(cluster, "worker", 0) as server:
        check_that_the_wait_is_told(server.target, port, capfd)


def test_a_session_that_waits_for_its_target_says_why(capfd):
    port = free_port()
    check_that_the_wait_is_told(f"grpc://localhost:{port}", port, capfd)


def check_that_the_wait_is_told(target, port, capfd):
    config = tf.ConfigProto(operation_timeout_in_ms=WAITING)
    with tf.Graph().as_default(), pytest.raises(tf.errors.DeadlineExceededError) as caught:
        tf.Session(target, config=config).run(tf.constant(1))
    line = capfd.readouterr().err
    assert f"localhost:{port} (Connection refused); it gives up after" in line.replace(
        "127.0.0.1", "localhost"
    )
    for told in (line, caught.value.message):
        assert "nothing listens at that port: start the task" in told


def test_sessions_that_wait_for_one_target_wait_together(monkeypatch):
    monkeypatch.setenv("TFDIST_TIMEOUTS", "session=0.4")
    target = f"grpc://localhost:{free_port()}"
    with tf.Graph().as_default() as graph:
        x = tf.constant(1)
    errors = []

    def run():
        with pytest.raises(tf.errors.UnavailableError, match="tried for") as e:
            tf.Session(target, graph=graph).run(x)
        errors.append(e.value)

    threads = [threading.Thread(target=run) for _ in range(20)]
    start = time.monotonic()
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(errors) == 20
    assert time.monotonic() - start < 20 * 0.4, "they waited one after the other"
