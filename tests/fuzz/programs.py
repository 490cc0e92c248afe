"""Programs whose calls are recorded, and mutated then: each uses another part of a server."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import tfdist as tf
from tests.wire.calls_at import Asker, node, tensor
from tests.wire.master_cases import extension
from tests.wire.worker_cases import Task, new_step
from tfdist.base import dtypes
from tfdist.errors import OpError
from tfdist.graph.tensor_proto import make_tensor_proto
from tfdist.ops.functions.defun import Defun
from tfdist.protos import pb

Program = Callable[[Asker], None]

_PATIENCE = pb.RunOptions(timeout_in_ms=20_000)  # of a step while it is recorded
_steps = itertools.count(random.getrandbits(50))


@contextmanager
def _graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def _opened(asker: Asker, graph: tf.Graph, **config: Any) -> str:
    request = pb.CreateSessionRequest(graph_def=graph.as_graph_def())
    request.config.CopyFrom(pb.ConfigProto(isolate_session_state=True, **config))
    return str(asker.ask(request).session_handle)


def _run(asker: Asker, handle: str, fetch: Any = (), feed: Any = (), target: Any = (), **more: Any):
    """Run a step as a client does."""
    pairs = [(name, make_tensor_proto(value)) for name, value in dict(feed).items()]
    more.setdefault("options", _PATIENCE)
    names = [each.name for each in fetch]
    targets = [each.name for each in target]
    asker.run(handle, feed=pairs, fetch=names, target=targets, **more)


def _closed(asker: Asker, handle: str) -> None:
    asker.ask(pb.CloseSessionRequest(session_handle=handle))


def arithmetic(asker: Asker) -> None:
    with _graph() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        y = tf.matmul(x, tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2)), name="y")
        z = tf.reduce_sum(tf.concat([y, y * 2.0 - 1.0], 1), 0, name="z")
        w = tf.reshape(tf.transpose(z[1:3]), [2, -1], name="w")
        c = tf.cast(tf.argmax(w, 0), tf.int32)
    handle = _opened(asker, graph)
    asker.ask(pb.ListDevicesRequest(session_handle=handle))
    _run(asker, handle, [y, z, w, c], {"x:0": np.ones((2, 3), np.float32)})
    traced = pb.RunOptions(trace_level=3, timeout_in_ms=20_000, output_partition_graphs=True)
    _run(asker, handle, [z], {"x:0": np.ones((2, 3), np.float32)}, options=traced)
    _closed(asker, handle)


def feeds_of_all_types(asker: Asker) -> None:
    types = [each for each in dtypes.ALL if not each.is_quantized][:17]
    values = {}
    with _graph() as graph:
        fetches = []
        for each in types:
            if each.name in ("resource", "variant"):
                continue
            x = tf.placeholder(each, name=each.name)
            value = b"text" if each == tf.string else 1
            values[x.name] = np.full((2, 2), value, each.as_numpy_dtype)
            fetches.append(tf.identity(x))
    handle = _opened(asker, graph)
    _run(asker, handle, fetches, values)
    _closed(asker, handle)


def variables(asker: Asker) -> None:
    with _graph() as graph:
        v = tf.Variable(np.ones((3, 2), np.float32), name="v")
        r = tf.get_variable("r", [2], initializer=tf.ones_initializer(), use_resource=True)
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(v @ r[:, None]))
        some = tf.scatter_add(v, [0, 2], np.ones((2, 2), np.float32))
        rows = tf.nn.embedding_lookup(r, [1, 0])
        init = tf.global_variables_initializer()
    handle = _opened(asker, graph)
    _run(asker, handle, target=[init])
    _run(asker, handle, [v, rows], target=[train])
    _run(asker, handle, [some])
    _closed(asker, handle)


def branches_and_loops(asker: Asker) -> None:
    with _graph() as graph:
        n = tf.placeholder(tf.int32, [], name="n")
        array = tf.TensorArray(tf.float32, 4, dynamic_size=True)

        def body(i: Any, x: Any, array: Any) -> Any:
            inner = tf.while_loop(lambda j: j < 2, lambda j: j + 1, [0])
            x = tf.cond(i < 2, lambda: x + 1.0, lambda: x * tf.cast(inner, tf.float32))
            return i + 1, x, array.write(i, x)

        found = tf.while_loop(lambda i, *_: i < n, body, [0, tf.ones([2]), array])
        y, stacked = tf.identity(found[1], "y"), found[2].stack()
        slope = tf.gradients(y, [graph.get_tensor_by_name("ones:0")])[0]
        case = tf.case([(n > 3, lambda: tf.constant(1))], default=lambda: tf.constant(2))
    handle = _opened(asker, graph)
    _run(asker, handle, [y, stacked, slope, case], {"n:0": np.int32(4)})
    _closed(asker, handle)


def functions(asker: Asker) -> None:
    with _graph() as graph:

        @Defun(tf.float32, tf.float32)
        def inner(a: Any, b: Any) -> Any:
            return a * b + 1.0

        @Defun(tf.float32)
        def outer(a: Any) -> Any:
            return inner(a, a) - inner(a, 2.0)

        @Defun(tf.int32, tf.float32)
        def more(i: Any, a: Any) -> Any:
            return i < 3

        @Defun(tf.int32, tf.float32)
        def turn(i: Any, a: Any) -> Any:
            return i + 1, inner(a, 2.0)

        x = tf.placeholder(tf.float32, name="x")
        y = outer(x)
        raw = tf.raw_ops
        loop = raw.While(input=[0, x], cond=more, body=turn)
        call = raw.PartitionedCall(args=[x], Tout=[tf.float32], f=outer)
        if_ = raw.If(
            cond=x > 0.0, input=[x], Tout=[tf.float32], then_branch=outer, else_branch=outer
        )
        mapped = tf.map_fn(lambda e: outer(e), tf.stack([x, x]))
        slope = tf.gradients(y, [x])[0]
    handle = _opened(asker, graph)
    fetches = [y, loop[1], call[0], if_[0], mapped, slope]
    _run(asker, handle, fetches, {"x:0": np.float32(2)})
    _closed(asker, handle)


def datasets(asker: Asker) -> None:
    with _graph() as graph:
        data = tf.data.Dataset.range(10).map(lambda i: {"a": i, "b": tf.as_string(i)})
        data = data.filter(lambda e: e["a"] % 2 < 1).shuffle(3, seed=1).repeat(2).batch(2)
        data = data.zip((data, data.prefetch(1)))
        data = data.flat_map(lambda x, y: tf.data.Dataset.from_tensor_slices((x["b"], y["a"])))
        iterator = tf.data.make_initializable_iterator(data)
        fetched = tf.nest.flatten(iterator.get_next())
        once = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors([1, 2])).get_next()
    handle = _opened(asker, graph)
    _run(asker, handle, target=[iterator.initializer])
    for _ in range(2):
        _run(asker, handle, fetched)
    _run(asker, handle, [once])
    _closed(asker, handle)


def queues(asker: Asker) -> None:
    with _graph() as graph:
        queue = tf.FIFOQueue(8, [tf.int32, tf.string], [[2], []], name="q")
        put = queue.enqueue_many([[[1, 2], [3, 4]], ["a", "b"]])
        shuffled = tf.RandomShuffleQueue(8, 0, tf.float32, [[]], seed=1)
        put_too = shuffled.enqueue(1.0)
        staged = tf.contrib.staging.StagingArea([tf.float32], [[]])
        stage = staged.put([2.0])
        table = tf.contrib.lookup.HashTable(
            tf.contrib.lookup.KeyValueTensorInitializer(["x", "y"], [1, 2]), -1
        )
        take = [*queue.dequeue(), *queue.dequeue_many(1)]
        others = [shuffled.dequeue(), *staged.get(), table.lookup(tf.constant(["y", "z"]))]
        size, close = queue.size(), queue.close()
        tables = tf.tables_initializer()
    handle = _opened(asker, graph)
    _run(asker, handle, target=[put, put_too, stage, tables])
    _run(asker, handle, [size])
    _run(asker, handle, [*take, *others])
    _run(asker, handle, target=[close])
    _closed(asker, handle)


def strings_and_files(asker: Asker) -> None:
    with _graph() as graph:
        text = tf.placeholder(tf.string, [None], name="text")
        parts = tf.string_split(text, ",")
        numbers = tf.string_to_number(parts.values)
        example = tf.train.Example()
        example.features.feature["a"].int64_list.value.extend([1, 2])
        parsed = tf.parse_single_example(
            tf.constant(example.SerializeToString()), {"a": tf.FixedLenFeature([2], tf.int64)}
        )
        joined = tf.strings.join([text, tf.substr(text, 0, 1)])
        buckets = tf.string_to_hash_bucket_fast(text, 7)
        rows = tf.decode_csv(text, [[1.0], [2.0]])
        raw = tf.decode_raw(text, tf.uint8)
        sparse = tf.sparse_tensor_dense_matmul(
            tf.SparseTensor([[0, 1]], [2.0], [2, 2]), tf.ones([2, 2])
        )
        image = tf.image.decode_png(tf.image.encode_png(np.zeros((2, 3, 1), np.uint8)))
    handle = _opened(asker, graph)
    fetches = [numbers, parsed["a"], joined, buckets, *rows, raw, sparse, image]
    _run(asker, handle, fetches, {"text:0": np.array([b"1,2", b"3,4"], object)})
    _closed(asker, handle)


def networks(asker: Asker) -> None:
    with _graph() as graph:
        x = tf.placeholder(tf.float32, [None, 6, 6, 1], name="x")
        y = tf.nn.conv2d(x, tf.ones([3, 3, 1, 2]), [1, 2, 2, 1], "SAME")
        y = tf.nn.max_pool(
            tf.nn.relu(tf.nn.bias_add(y, [0.1, 0.2])), [1, 2, 2, 1], [1, 1, 1, 1], "VALID"
        )
        logits = tf.reshape(y, [-1, 8])
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 3], logits=logits)
        slope = tf.gradients(loss, [x])[0]
        best = tf.nn.in_top_k(logits, [1, 3], 2)
        parts = tf.dynamic_partition(logits, [0, 1], 2)
        sums = tf.unsorted_segment_sum(logits, [1, 0], 3)
        places = tf.where(logits > 0.5)
        drawn = tf.random_uniform([2, 3], seed=1) + tf.linalg.inv(tf.eye(2))[0, 0]
    handle = _opened(asker, graph)
    fetches = [loss, slope, best, *parts, sums, places, drawn]
    _run(asker, handle, fetches, {"x:0": np.ones((2, 6, 6, 1), np.float32)})
    _closed(asker, handle)


def growing(asker: Asker) -> None:
    one = node("one", "Const", dtype=tf.float32, value=tensor(1.0))
    two = node("two", "Identity", "one", T=tf.float32)
    made = asker.ask(pb.CreateSessionRequest(graph_def=pb.GraphDef(node=[one])))
    handle = made.session_handle
    asker.ask(extension(handle, made.graph_version, two))
    asker.run(handle, fetch=["two:0"], options=_PATIENCE)
    _closed(asker, handle)


def in_parts(asker: Asker) -> None:
    with _graph() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.placeholder(tf.float32, [], name="y")
        a = x + 1.0
        b = tf.multiply(a, y, name="b")
    handle = _opened(asker, graph)
    setup = pb.PartialRunSetupRequest(
        session_handle=handle, feed=["x:0", "y:0"], fetch=[a.name, b.name]
    )
    part = asker.ask(setup).partial_run_handle
    _run(asker, handle, [a], {"x:0": np.float32(1)}, partial_run_handle=part)
    _run(asker, handle, [b], {"y:0": np.float32(3)}, partial_run_handle=part)
    _closed(asker, handle)


def callables(asker: Asker) -> None:
    with _graph() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        y = x + 1.0
    handle = _opened(asker, graph)
    number = asker.callable(
        handle, feed=["x:0"], fetch=[y.name], run_options=pb.RunOptions(timeout_in_ms=20_000)
    )
    request = pb.RunCallableRequest(session_handle=handle, handle=number, feed=[tensor(2.0)])
    request.request_id = next(_steps)
    asker.ask(request)
    asker.ask(pb.ReleaseCallableRequest(session_handle=handle, handle=number))
    _closed(asker, handle)
    asker.ask(pb.ResetRequest(container=["nobody's"]))


def a_master(asker: Asker) -> None:
    """Register a partition, run it, and take what it sends."""
    task, step = Task(asker, isolated=True), new_step()
    one = node("one", "Const", dtype=tf.float32, value=tensor([1.0, 2.0]))
    two = node("two", "AddV2", "one", "one", T=tf.float32)
    sent = task.sent("two", "two_sent")
    graph_handle = task.register(one, two, sent)
    options = pb.ExecutorOpts(record_timeline=True, record_partition_graphs=True)
    task.run(graph_handle, step, exec_opts=options, store_errors_in_response_body=True)
    asker.ask(task.receiving("two_sent", step))
    asker.ask(pb.CleanupGraphRequest(step_id=step))
    asker.ask(
        pb.DeregisterGraphRequest(
            session_handle=task.handle, graph_handle=graph_handle, create_worker_session_called=True
        )
    )
    asker.ask(pb.LoggingRequest(enable_rpc_logging=True, fetch_step_id=[step]))
    asker.ask(pb.CleanupAllRequest(container=["nobody's"]))
    asker.ask(pb.DeleteWorkerSessionRequest(session_handle=task.handle))


def a_master_with_functions(asker: Asker) -> None:
    """Register a partition that calls functions, and run it in parts."""
    task, step = Task(asker, isolated=True), new_step()
    with _graph() as graph:

        @Defun(tf.float32)
        def twice(a: Any) -> Any:
            return tf.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, a + a), [0, a])[1]

        tf.raw_ops.PartitionedCall(args=[tf.constant(1.0)], Tout=[tf.float32], f=twice)
    given = graph.as_graph_def()
    request = task.registration(*given.node)
    request.graph_def.library.CopyFrom(given.library)
    graph_handle = asker.ask(request).graph_handle
    asker.ask(task.running(graph_handle, step, is_partial=True))
    asker.ask(task.running(graph_handle, step, is_partial=True, is_last_partial_run=True))
    asker.ask(pb.CleanupGraphRequest(step_id=step))


def other_calls(asker: Asker) -> None:
    """Ask for what a worker tells, and for what none here serves."""
    asker.ask(pb.GetStatusRequest())
    for request in (
        pb.TracingRequest(options=pb.TraceOpts(duration=1.0)),
        pb.RecvBufRequest(step_id=1, buf_rendezvous_key="k"),
        pb.GetStepSequenceRequest(graph_key=[1]),
    ):
        try:
            asker.ask(request)
        except OpError:
            continue


PROGRAMS: tuple[Program, ...] = (
    arithmetic, feeds_of_all_types, variables, branches_and_loops, functions, datasets, queues,
    strings_and_files, networks, growing, in_parts, callables, a_master, a_master_with_functions,
    other_calls,
)  # fmt: skip
