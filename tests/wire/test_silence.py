"""Who waits for a process that cannot be reached is told why, and what to do."""

import pytest

import tfdist as tf
from tests.ports import free_port
from tfdist.wire.silence import advice_on, in_words


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


def test_a_session_that_waits_says_why(capfd):
    port = free_port()
    cluster = {"worker": ["localhost:0"], "ps": [f"localhost:{port}"]}
    config = tf.ConfigProto(operation_timeout_in_ms=1300)
    with tf.train.Server(cluster, "worker", 0) as server, tf.Graph().as_default():
        with pytest.raises(tf.errors.DeadlineExceededError) as caught:
            tf.Session(server.target, config=config).run(tf.constant(1))
    line = capfd.readouterr().err
    assert f"localhost:{port} (Connection refused); it gives up" in line.replace(
        "127.0.0.1", "localhost"
    )
    for told in (line, caught.value.message):
        assert "nothing listens at that port: start the task" in told
