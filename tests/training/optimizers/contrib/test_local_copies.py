"""Workers that train copies of the variables, and meet every so often, as on TensorFlow 1.15.5."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.training.optimizers.contrib import local_copies_programs as programs
from tfdist.wire.server import start_servers

EXPECTED = json.loads(
    (Path(__file__).parent / "expected_copies_1_15.json").read_text(encoding="utf-8")
)
OPT = tf.contrib.opt


@pytest.fixture
def servers():
    """Give a parameter server and two workers."""
    with ExitStack() as stack:
        found = start_servers({"ps": 1, "worker": 2}, inproc=True)
        for server in found:
            stack.callback(server.stop)
        yield found


@pytest.mark.parametrize("kind", programs.STORIES)
def test_a_story_comes_to_what_it_comes_to_on_tensorflow(kind, servers):
    cluster = tf.train.ClusterSpec(servers[0].server_def.cluster)
    found = programs.told(tf, cluster, [each.target for each in servers[1:]], kind)
    for turn, wanted in zip(found, EXPECTED[kind], strict=True):
        for each, value in zip(turn, wanted, strict=True):
            np.testing.assert_allclose(each, value, 1e-6)
