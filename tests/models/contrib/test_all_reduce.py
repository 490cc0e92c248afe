"""tf.contrib.all_reduce: the nodes of 1.15.5 on the devices of 1.15.5, and their values.

`all_reduce_programs.py` has the cases; `expected_all_reduce_1_15.json` is what 1.15.5 made.
"""

import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.models.contrib.all_reduce_programs import CASES, found

EXPECTED = json.loads(Path(__file__).with_name("expected_all_reduce_1_15.json").read_text())

reductions = tf.contrib.all_reduce.python.all_reduce


@pytest.mark.parametrize("case", CASES)
def test_a_reduction_has_tensorflows_nodes_devices_and_values(case):
    assert found(tf, reductions, case) == EXPECTED[case]


@pytest.mark.parametrize(
    ("devices", "call", "told"),
    [
        (2, lambda x: reductions.build_ring_all_reduce(x, 1, 1, [0, 0], tf.add), r"\[0, 0\]"),
        (3, lambda x: reductions.build_recursive_hd_all_reduce(x, tf.add), "power of 2, got 3"),
        (2, lambda x: reductions.build_nccl_all_reduce(x, tf.add), "build_shuffle_all_reduce"),
        (2, lambda x: reductions.build_nccl_all_reduce(x, tf.maximum), "not supported by NCCL"),
        (2, lambda x: reductions.build_nccl_then_ring(x, 1, tf.add), "build_shuffle_then_ring"),
        (2, lambda x: reductions.build_nccl_then_recursive_hd(x, tf.add), "build_recursive_hd"),
        (
            2,
            lambda x: reductions.build_nccl_then_shuffle(x, ["/cpu:0"], tf.add, tf.add_n),
            "build_shuffle_then_shuffle",
        ),
    ],
)
def test_an_error_says_what_was_got_and_what_to_do(devices, call, told):
    with tf.Graph().as_default():
        inputs = [tf.constant([1.0, 2.0]) for _ in range(devices)]
        with pytest.raises((IndexError, ValueError, NotImplementedError), match=told):
            call(inputs)
