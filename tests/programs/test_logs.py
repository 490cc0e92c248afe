"""A program's log: which lines are written, and how."""

import subprocess
import sys

import pytest

BEGIN = "import tfdist as tf; log = tf.logging\n"


@pytest.mark.parametrize(
    ("program", "lines"),
    [
        pytest.param("log.info('a'); log.warn('b'); log.error('c %d', 1)",
                     ["WARNING:tensorflow:b", "ERROR:tensorflow:c 1"], id="from WARN on at first"),
        pytest.param("log.set_verbosity(log.INFO); log.info('a'); log.debug('b')",
                     ["INFO:tensorflow:a"], id="from a level on"),
        pytest.param("for i in range(5): log.log_every_n(log.WARN, i, 2)",
                     [f"WARNING:tensorflow:{i}" for i in (0, 2, 4)], id="every other"),
        pytest.param("for i in range(5): log.log_first_n(log.WARN, i, 2)",
                     [f"WARNING:tensorflow:{i}" for i in (0, 1)], id="the first two"),
        pytest.param("log.log_if(log.ERROR, 'a', False); log.log_if(log.ERROR, 'b', True)",
                     ["ERROR:tensorflow:b"], id="on a condition"),
        pytest.param("import logging; logging.basicConfig(format='%(message)s'); log.warn('a')",
                     ["a"], id="the program's own form"),
        pytest.param("log.flush(); log.error(log.get_verbosity() == log.WARN == 30)",
                     ["ERROR:tensorflow:True"], id="its level is known"),
    ],
)  # fmt: skip
def test_lines(program, lines):
    ended = subprocess.run(
        [sys.executable, "-c", BEGIN + program], capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    assert ended.stderr.splitlines() == lines
