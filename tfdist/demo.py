"""`tfdist demo`: a parameter server and two workers learn to read digits, and show how.

In-graph data parallelism: the variables are on the parameter server, each worker takes half of a
batch and computes gradients, and the parameter server applies their mean. Ends with where each
operation was placed and why, what one step did when, and that step as a picture and a Chrome trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tfdist
from tfdist.base.extras import MissingExtra
from tfdist.launch.local_cluster import LocalCluster
from tfdist.launch.start import start_cluster
from tfdist.plots.shared.palette import png
from tfdist.plots.shared.placed_nodes import by_device
from tfdist.plots.shared.tables import Table, step_table
from tfdist.plots.text import timeline_sentence
from tfdist.plots.timeline.figure import timeline_figure
from tfdist.programs.digits import CLASSES, PIXELS, Digits, read_digits, split_digits
from tfdist.session.recording import PlacedNode
from tfdist.tracing.device_names import short_device
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow
from tfdist.tracing.steps.rows import rows
from tfdist.tracing.steps.timeline import Timeline

tf: Any = tfdist  # whose operators and messages are made at run time: no type checker sees them

WORKERS = 2
STEPS = 300
REPORTS = 6  # lines of progress
BATCH = 100  # rows a step
LEARNING_RATE = 0.5


class Model(NamedTuple):
    """The graph's ends.

    Attributes:
      images, labels: to be fed.
      train: makes one step.
      loss: nats per row, before that step.
      accuracy: share of rows that are read right.
    """

    images: Any
    labels: Any
    train: Any
    loss: Any
    accuracy: Any


class Progress(NamedTuple):
    """What was measured after `step` steps; the loss is that of the step's batch."""

    step: int
    loss: float
    accuracy: float

    def __str__(self) -> str:
        """Return a line."""
        return (
            f"step {self.step:4}   loss {self.loss:.3f}   test accuracy {100 * self.accuracy:.1f} %"
        )


@dataclass(frozen=True)
class Demo:
    """What a demo came to.

    Attributes:
      progress: in the order of steps.
      files: that were written.
    """

    progress: tuple[Progress, ...]
    files: tuple[Path, ...]


def run_demo(steps: int = STEPS, out: Path = Path(), write: Callable[[str], Any] = print) -> Demo:
    """Run the demo.

    Args:
      steps: of training.
      out: folder for the timeline's files; made if it is missing.
      write: takes each line of text.

    Raises:
      ValueError: `steps` is less than one.
      OSError: `out` cannot be written to.
      RuntimeError: the servers cannot be started; the text says why.
    """
    if steps < 1:
        raise ValueError(f"a demo takes a step or more, got {steps}")
    out.mkdir(parents=True, exist_ok=True)
    training, test = split_digits(read_digits())
    with start_cluster({"ps": 1, "worker": WORKERS}, name="demo").require() as cluster:
        write(cluster_text(cluster))
        with tf.Graph().as_default(), tf.Session(cluster.target()) as session:
            model = build_model()
            session.run(tf.global_variables_initializer())
            progress = []
            for each in train(session, model, training, test, steps):
                write(str(each))
                progress.append(each)
            paths = explain(session, model, training, out, write)
    return Demo(tuple(progress), paths)


def build_model() -> Model:
    """Return a softmax classifier over one parameter server and the workers."""
    with tf.device("/job:ps/task:0"):
        weights = tf.Variable(tf.zeros([PIXELS, CLASSES]), name="weights")
        bias = tf.Variable(tf.zeros([CLASSES]), name="bias")
    with tf.device("/job:worker/task:0"):
        images = tf.placeholder(tf.float32, [None, PIXELS], name="images")
        labels = tf.placeholder(tf.int32, [None], name="labels")
        right = tf.equal(tf.argmax(tf.matmul(images, weights) + bias, 1), tf.cast(labels, tf.int64))
        accuracy = tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")
        image_shares = tf.split(images, WORKERS, name="split_images")
        label_shares = tf.split(labels, WORKERS, name="split_labels")
    shares = zip(range(WORKERS), image_shares, label_shares, strict=True)
    losses, gradients = zip(*(tower(*share, weights, bias) for share in shares), strict=True)
    loss = mean("loss", losses)  # no device is asked for: see why it is where it is
    means = map(mean, ["weights", "bias"], zip(*gradients, strict=True))
    optimizer = tf.train.GradientDescentOptimizer(LEARNING_RATE)
    train_op = optimizer.apply_gradients(zip(means, [weights, bias], strict=True))
    return Model(images, labels, train_op, loss, accuracy)


def tower(worker: int, images: Any, labels: Any, weights: Any, bias: Any) -> tuple[Any, list[Any]]:
    """Return (loss, gradients) that `worker` computes from its share of a batch."""
    with tf.device(f"/job:worker/task:{worker}"), tf.name_scope(f"worker{worker}"):
        logits = tf.matmul(images, weights) + bias
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="entropies"
        )
        loss = tf.reduce_mean(losses, name="loss")
        return loss, tf.gradients(loss, [weights, bias])


def mean(what: str, tensors: Sequence[Any]) -> Any:
    """Return the mean of `tensors`, one from each worker."""
    with tf.name_scope(f"mean_{what}"):
        return tf.add_n(tensors, name="sum") / WORKERS


def train(
    session: Any, model: Model, training: Digits, test: Digits, steps: int
) -> Iterator[Progress]:
    """Train, and yield now and then how far it has come, at the last step too."""
    every = max(1, steps // REPORTS)
    for step, batch in enumerate(batches(training, steps), start=1):
        loss, _ = session.run([model.loss, model.train], feeds(model, batch))
        if step % every == 0 or step == steps:
            accuracy = session.run(model.accuracy, feeds(model, test))
            yield Progress(step, float(loss), float(accuracy))


def batches(digits: Digits, count: int, seed: int = 1) -> Iterator[Digits]:
    """Yield `count` batches of random rows, the same ones for the same seed."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        yield digits.at(random.choice(len(digits.labels), BATCH, replace=False))


def feeds(model: Model, digits: Digits) -> dict[Any, np.ndarray]:
    """Return what feeds `digits` to `model`."""
    return {model.images: digits.images, model.labels: digits.labels}


def explain(
    session: Any, model: Model, training: Digits, out: Path, write: Callable[[str], Any]
) -> tuple[Path, ...]:
    """Write where a step runs and what it does, and return the paths of its timeline."""
    nodes = session.placement([model.loss, model.train])
    write(f"\nWhere the operations of a step are, and why\n\n{placement_table(nodes)}")
    step_stats = traced_step(session, model, next(batches(training, 1)))
    found = rows(step_stats)
    write(f"\nWhat one step did\n\n{step_table(folded_rows(found))}")
    write(f"\n{timeline_sentence(found)}")
    picture, trace = out / "timeline.png", out / "timeline.json"
    trace.write_text(Timeline(step_stats).generate_chrome_trace_format(), encoding="utf-8")
    try:
        picture.write_bytes(png(timeline_figure(found)))
    except MissingExtra as error:
        write(f"Not drawn: {error}\nFor https://ui.perfetto.dev in {trace}")
        return (trace,)
    write(f"Drawn in {picture}\nFor https://ui.perfetto.dev in {trace}")
    return picture, trace


def traced_step(session: Any, model: Model, batch: Digits) -> Any:
    """Make one more step, and return the StepStats of it."""
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    for _ in range(2):  # the first one of its kind also compiles
        session.run([model.loss, model.train], feeds(model, batch), options, metadata)
    return metadata.step_stats


# The tables leave constants out, and what `tf.gradients` made is one line for each worker.


def placement_table(nodes: Sequence[PlacedNode]) -> Table:
    """Return where the nodes are, device by device, and why."""
    found: dict[tuple[str, str], list[PlacedNode]] = {}
    for device, members in by_device(nodes).items():
        for node in members:
            if node.op != "Const":
                found.setdefault((device, folded_name(node.name)), []).append(node)  # type: ignore[arg-type]
    cells = (
        (short_device(device), shortened(name), kind(name, group), group[0].reason)
        for (device, name), group in found.items()
    )
    return Table(("device", "node", "op", "why"), tuple(cells))


def folded_rows(nodes: Sequence[NodeRow]) -> list[NodeRow]:
    """Return the rows without constants; nodes of one gradient scope as one that took their sum."""
    found: dict[tuple[str, str], list[NodeRow]] = {}
    for row in nodes:
        if row.op != "Const":
            name = row.name if row.kind == TRANSFER else folded_name(row.name)
            found.setdefault((row.device, name), []).append(row)
    return [
        replace(
            group[0],
            name=shortened(name),
            op=kind(name, group),
            bytes=sum(row.bytes for row in group),
            duration_us=sum(row.duration_us for row in group),
        )
        for (_, name), group in found.items()
    ]


def folded_name(name: str) -> str:
    """Return "worker0/gradients/*" for a node in that scope, and the name of any other."""
    scope, slash, _ = name.partition("/gradients/")
    return f"{scope}{slash}*" if slash else name


def kind(name: str, group: Sequence[PlacedNode] | Sequence[NodeRow]) -> str:
    """Return the op of a node, or how many nodes are folded into one."""
    return f"{len(group)} nodes" if name.endswith("*") else shortened(group[0].op, 24)


def shortened(name: str, most: int = 34) -> str:
    """Return `name`, its middle left out if it has more than `most` letters."""
    half = most // 2
    return name if len(name) <= most else f"{name[: half - 1]}...{name[-half + 2 :]}"


def cluster_text(cluster: LocalCluster) -> str:
    """Return the cluster's tasks as a table."""
    cells = tuple((row.task, ", ".join(row.devices), row.address) for row in cluster.status())
    return f"{Table(('task', 'devices', 'address'), cells)}\n"
