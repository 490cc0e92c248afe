"""A server whose kernels are given what takes long goes on to answer: its steps' deadlines, others.

The server is a process of its own. While one client attacks it, another one runs small steps.
"""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfdist as tf
from tests.ops.image import image_bombs

SERVER = """
import sys, tfdist as tf
server = tf.train.Server({"a": ["localhost:0"]}, "a", 0)
print(server.target, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    """Give the target of a server process."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", SERVER], **pipes) as process:
        yield process.stdout.readline().strip()
        process.kill()


def fed(value: Any) -> tf.Tensor:
    """Return a tensor whose shape and value only the run knows."""
    return tf.placeholder_with_default(np.asarray(value), None)


def seldom() -> tf.Tensor:
    weights = [1.0] * 9 + [1e-30]
    return tf.nn.fixed_unigram_candidate_sampler([[0]], 1, 10, True, 10, unigrams=weights)[0]


# What takes long, or would take all memory, and what comes of it in half a second.
ATTACKS = {
    "a pattern that a backtracking matcher never ends with": (
        lambda: tf.strings.regex_full_match(fed([b"a" * 5_000]), fed(b"(a*)*(a|aa)+b")), "[False]",
    ),
    "a pattern that is replaced in a time that grows with the square": (
        lambda: tf.strings.regex_replace(["a" * 3_000_000], fed(b"a(.*b)?"), "c"), "timeout of 500",
    ),
    "classes that are never drawn": (seldom, "timeout of 500"),
    "an animation of many frames": (
        lambda: tf.image.decode_gif(image_bombs.gif(9, 9, 100_000)), "timeout of 500",
    ),
    "an image that tells of more than memory holds": (
        lambda: tf.image.decode_png(image_bombs.png(60_000, 60_000)), "PNG size too large",
    ),
    "an inverse of a large matrix": (
        lambda: tf.matrix_inverse(tf.random_normal(fed([4_000, 4_000]))), "timeout of 500",
    ),
}  # fmt: skip


def outcome(target: str, make: Callable[[], tf.Tensor]) -> str:
    """Return what a step gave, or its error, as text."""
    with tf.Graph().as_default(), tf.Session(target) as session:
        try:
            return str(session.run(make(), options=tf.RunOptions(timeout_in_ms=500)))
        except tf.errors.OpError as error:
            return error.message


@pytest.mark.parametrize("name", ATTACKS)
def test_deadlines_are_kept_and_others_are_served(target, name):
    make, wanted = ATTACKS[name]
    told: list[str] = []
    with tf.Graph().as_default(), tf.Session(target) as session:
        small = tf.constant(1.0) + 1.0
        session.run(small)
        attack = threading.Thread(target=lambda: told.append(outcome(target, make)))
        attack.start()
        while attack.is_alive():  # a step that nobody answers would raise
            session.run(small, options=tf.RunOptions(timeout_in_ms=10_000))
        attack.join()
    # without an answer of the server's in time, the client would say that it did not answer
    assert wanted in told[0]
