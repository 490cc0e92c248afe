"""Graphs whose nodes sleep instead of computing, and clusters to run them on.

So a machine of any size shows what a cluster would. The op is of these benchmarks: task processes
import this module before they serve.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import timed

import tfdist as tf
from tfdist.graph.op_def import OpDef
from tfdist.launch.start import start_cluster

Build = Callable[[], tf.Tensor | tf.Operation]

EMULATED = OpDef(
    "Emulated(inputs: N*T) -> y: float32 "
    "[N: int >=1; T: type; seconds: float; size: int; spread: float = 0]"
)


@EMULATED.shape
def emulated_shape(inputs: list[tuple[int]], *, size: int) -> tuple[int]:
    """Return the shape of what a node gives."""
    return (size,)


@EMULATED.kernel
def emulated_kernel(
    inputs: list[np.ndarray], *, seconds: float, size: int, spread: float
) -> np.ndarray:
    """Take some time, but no processor."""
    time.sleep(seconds * random.lognormvariate(0, spread))
    return np.ones(size, np.float32)


def sleep(
    inputs: Sequence[tf.Tensor], milliseconds: float, size: int, name: str, spread: float = 0.0
) -> tf.Tensor:
    """Return a node that takes some time and gives `size` numbers.

    Args:
      inputs: that it takes; their values do not matter.
      milliseconds: the median of its time.
      size: how many numbers it gives.
      name: of the node.
      spread: standard deviation of the logarithm of its time.
    """
    return EMULATED(list(inputs), seconds=milliseconds / 1e3, size=size, spread=spread, name=name)


def variable(name: str, size: int) -> tf.Tensor:
    """Return a variable of ones."""
    return tf.get_variable(name, [size], initializer=tf.ones_initializer())


def branches() -> tf.Tensor:
    """Eight chains of three, side by side."""
    x, ends = variable("x", 1_000), []
    for i in range(8):
        end = x
        for k in range(3):
            end = sleep([end], 3 + i % 3, 1_000, f"branch{i}/{k}")
        ends.append(end)
    return sleep(ends, 1, 1, "total")


def two_towers() -> tf.Tensor:
    """Two towers forwards, joined, and back again, as a training has them."""
    x, tops, layers = variable("x", 50_000), [], []
    for t in range(2):
        top, own = x, []
        for k in range(4):
            top = sleep([top], 4 + 2 * t, 50_000, f"tower{t}/forward{k}")
            own.append(top)
        tops.append(top)
        layers.append(own)
    loss = sleep([sleep(tops, 2, 50_000, "join")], 2, 50_000, "loss")
    ends = []
    for t in range(2):
        back = loss
        for k in reversed(range(4)):
            back = sleep([back, layers[t][k]], 6 + 2 * t, 50_000, f"tower{t}/back{k}")
        ends.append(back)
    return sleep(ends, 1, 1, "apply")


def wide_chain() -> tf.Tensor:
    """A chain of tensors of 8 MB that narrows once, beside one of small ones; its end is pinned."""
    big = 2_000_000
    with tf.device("/job:worker/task:0"):
        wide, slim = variable("wide", big), variable("slim", 1_000)
    for k in range(5):
        wide = sleep([wide], 4, big, f"wide{k}")
        slim = sleep([slim], 4, 1_000, f"slim{k}")
    wide = sleep([sleep([wide], 4, 1_000, "narrow"), slim], 4, big, "widen")
    for k in range(5):
        wide = sleep([wide], 4, big, f"again{k}")
    with tf.device("/job:worker/task:1"):
        return sleep([wide], 4, 1, "sink")


def replicas() -> tf.Operation:
    """Three replicas of a network of three layers, its variables on a parameter server."""
    size = 250_000
    with tf.device("/job:ps"):
        weights = [variable(f"w{k}", size) for k in range(3)]
    gradients: list[list[tf.Tensor]] = [[], [], []]
    for r in range(3):
        layer: list[tf.Tensor] = []
        for k in range(3):
            layer.append(sleep([*layer[-1:], weights[k]], 4, 10_000, f"replica{r}/f{k}"))
        back = layer[2]
        for k in reversed(range(3)):
            back = sleep([back, layer[max(k - 1, 0)], weights[k]], 5, size, f"replica{r}/g{k}")
            gradients[k].append(back)
    updates = [
        tf.assign_sub(weights[k], 0.001 * sleep(gradients[k], 1, size, f"mean{k}")).op
        for k in range(3)
    ]
    return tf.group(*updates, name="train")


def layered() -> tf.Tensor:
    """Ten layers of six nodes, each of which takes from some of the layer before."""
    chance = np.random.RandomState(5)
    x = variable("x", 1_000)
    above = [sleep([x], 1, 1_000, f"in{i}") for i in range(6)]
    for layer in range(10):
        row = []
        for i in range(6):
            takes = sorted(set(chance.randint(6, size=chance.randint(1, 4)).tolist()))
            size = int(chance.choice([10, 1_000, 100_000, 1_000_000]))
            took = float(chance.choice([0.2, 1, 2, 5]))
            row.append(sleep([above[each] for each in takes], took, size, f"n{layer}_{i}"))
        above = row
    return sleep(above, 1, 1, "total")


GRAPHS: dict[str, tuple[Build, dict[str, int]]] = {
    "8 branches": (branches, {"worker": 2}),
    "two towers": (two_towers, {"worker": 2}),
    "wide chain": (wide_chain, {"worker": 2}),
    "replicas": (replicas, {"ps": 1, "worker": 3}),
    "layered": (layered, {"worker": 4}),
}


@contextmanager
def cluster(jobs: dict[str, int], processes: bool) -> Iterator[str]:
    """Start a cluster, and return the target of its first worker; see `workers`."""
    with workers(jobs, processes) as targets:
        yield targets[0]


@contextmanager
def workers(jobs: dict[str, int], processes: bool) -> Iterator[list[str]]:
    """Start a cluster, and return the targets of its workers.

    Args:
      jobs: number of tasks by job, a "worker" among them.
      processes: whether each task has a process of its own.
    """
    tasks = range(jobs["worker"])
    if not processes:
        with start_cluster(jobs, name="emulated", replace=True).require() as started:
            yield [started.target("worker", task) for task in tasks]
        return
    servers = timed.start(tf, jobs, here=0, modules=["emulated"])  # the workers first
    try:
        yield [servers[task].target for task in tasks]
    finally:
        timed.stop(servers)
