"""What monitored sessions do, as programs that give plain values.

`session_differential.py` stores what real TensorFlow gives; Python 3.7 reads this file, too.
"""

# ruff: noqa: B023  (what a round of a loop makes is called in that round)
from __future__ import annotations

PROGRAMS = {}


def program(function):
    """Put a program into the table."""
    PROGRAMS[function.__name__] = function
    return function


# the order of calls


@program
def the_order_of_calls(tf, kit):
    story, step = [], kit.counter(tf)
    hooks = [kit.recorder(tf, story, "first"), kit.recorder(tf, story, "second")]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        story.append("inside")
        story.append(kit.plain(session.run(step)))
        story.append(session.should_stop())
    story.append(session.should_stop())
    return story


@program
def a_hook_may_add_nodes_in_begin_only(tf, kit):
    story = []

    def add(*_):
        return story.append(kit.said(lambda: tf.constant(1).name).split(" ")[0])

    acts = dict(begin=add, after_create_session=add, before_run=add, end=add)
    with tf.train.MonitoredSession(hooks=[kit.recorder(tf, story, **acts)]) as session:
        session.run(kit.said(lambda: session.graph.get_tensor_by_name("Const:0")))
        story.append([session.graph.finalized, session.graph is tf.get_default_graph()])
    return story


@program
def what_a_hook_gets(tf, kit):
    story = []
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.identity(x + 1.0, name="y")

    def before(context):
        args = context.original_args
        story.append([args.fetches is y, list(args.feed_dict.values()), args.options])
        story.append([context.stop_requested, context.session.graph is tf.get_default_graph()])
        return tf.train.SessionRunArgs({"both": [x, (y, x)]})

    def after(context, values):
        story.append([kit.plain(values.results), values.run_metadata is not None])
        story.append([type(values).__name__, type(values.options).__name__])

    hooks = [
        kit.recorder(tf, story, before_run=before, after_run=after),
        kit.recorder(tf, story, "silent", after_run=lambda c, v: story.append(v.results)),
    ]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        story.append(kit.plain(session.run(y, feed_dict={x: 2.0})))
    return story


@program
def hooks_feed(tf, kit):
    x, y = tf.placeholder(tf.float32, [], name="x"), tf.placeholder(tf.float32, [], name="y")

    def feed(t, v):
        return kit.recorder(tf, [], before_run=lambda _: tf.train.SessionRunArgs(None, {t: v}))

    none = kit.recorder(tf, [], before_run=lambda _: tf.train.SessionRunArgs([], None))
    with tf.train.MonitoredSession(hooks=[feed(x, 1.0), none, feed(y, 2.0)]) as session:
        found = [kit.plain(session.run([x, y]))]
        found.append(kit.said(session.run, x, {x: 5.0}))
    return found


@program
def two_hooks_feed_the_same(tf, kit):
    x = tf.placeholder(tf.float32, [], name="x")

    def feed(v):
        return kit.recorder(tf, [], before_run=lambda _: tf.train.SessionRunArgs(x, {x: v}))

    session = tf.train.MonitoredSession(hooks=[feed(1.0), feed(2.0)])
    found = [kit.said(session.run, x), session.should_stop()]
    return [*found, kit.said(session.close)]


@program
def options_of_hooks_and_of_the_user(tf, kit):
    one, seen = tf.constant(1), []

    def ask(**o):
        return kit.recorder(
            tf,
            [],
            before_run=lambda _: tf.train.SessionRunArgs(None, None, tf.RunOptions(**o)),
            after_run=lambda _, values: seen.append(str(values.options)),
        )

    hooks = [
        ask(trace_level=3, timeout_in_ms=50000),
        ask(trace_level=0, timeout_in_ms=70000, output_partition_graphs=True),
        ask(inter_op_thread_pool=-1),
    ]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        session.run(one)
        session.run(one, options=tf.RunOptions(trace_level=1, timeout_in_ms=60000))
        metadata = tf.RunMetadata()
        session.run(one, options=tf.RunOptions(inter_op_thread_pool=0), run_metadata=metadata)
    return [
        sorted(set(seen)),
        [len(metadata.step_stats.dev_stats) > 0, len(metadata.partition_graphs) > 0],
    ]


# stops


@program
def a_stop_before_a_run(tf, kit):
    story, step = [], kit.counter(tf)
    hook = kit.recorder(tf, story, before_run=lambda context: context.request_stop())
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        story.append(kit.plain(kit.said(session.run, step)))
        story.append(session.should_stop())
        story.append(kit.said(session.run, step))
    return story


@program
def a_stop_after_a_run(tf, kit):
    story, step = [], kit.counter(tf)
    hook = kit.recorder(tf, story, after_run=lambda context, _: context.request_stop())
    with tf.train.MonitoredSession(hooks=[hook, kit.recorder(tf, story, "other")]) as session:
        while not session.should_stop():
            story.append(kit.plain(session.run(step)))
        story.append(kit.said(session.run, step))
    return story


@program
def the_end_of_the_data(tf, kit):
    story, one = [], tf.constant(1)
    acts = dict(before_run=kit.failing(tf.errors.OutOfRangeError(None, None, "the end"), 2))
    with tf.train.MonitoredSession(hooks=[kit.recorder(tf, story, **acts)]) as session:
        while not session.should_stop():
            story.append(kit.plain(session.run(one)))
        story.append("not reached")
    return [*story, session.should_stop()]


@program
def the_end_of_the_data_without_a_with(tf, kit):
    story, one = [], tf.constant(1)
    acts = dict(before_run=kit.failing(tf.errors.OutOfRangeError(None, None, "the end"), 1))
    session = tf.train.MonitoredSession(hooks=[kit.recorder(tf, story, **acts)])
    story.append(kit.said(session.run, one))
    story.append(session.should_stop())
    story.append(kit.said(session.run, one))
    story.append(kit.said(session.close))
    return story


@program
def a_stop_iteration(tf, kit):
    story, one = [], tf.constant(1)
    acts = dict(after_run=kit.failing(StopIteration("enough"), 1))
    with tf.train.MonitoredSession(hooks=[kit.recorder(tf, story, **acts)]) as session:
        session.run(one)
    return story


@program
def another_error_in_the_block(tf, kit):
    story = []

    def block():
        with tf.train.MonitoredSession(hooks=[kit.recorder(tf, story)]):
            raise ValueError("mine")

    return [kit.said(block), story]


@program
def a_stop_iteration_in_the_block(tf, kit):
    story = []

    def block(error):
        with tf.train.MonitoredSession(hooks=[kit.recorder(tf, story)]):
            raise error

    return [
        kit.said(block, StopIteration()),
        kit.said(block, tf.errors.OutOfRangeError(None, None, "of mine")),
        kit.said(block, tf.errors.CancelledError(None, None, "c")),
        kit.said(block, kit.aborted(tf)),
        story,
    ]


@program
def an_error_of_a_step(tf, kit):
    story = []
    wrong = tf.matmul(
        tf.placeholder_with_default([[1.0]], [None, None]),
        tf.placeholder_with_default([[1.0], [2.0]], [None, None]),
    )

    def block():
        with tf.train.MonitoredSession(hooks=[kit.recorder(tf, story)]) as session:
            session.run(wrong)

    return [kit.said(block).split(":")[0], story]


@program
def an_error_of_a_hook(tf, kit):
    found, one = [], tf.constant(1)
    for method in ("begin", "after_create_session", "before_run", "after_run", "end"):
        story = []
        hooks = [
            kit.recorder(tf, story, "first"),
            kit.recorder(tf, story, **{method: kit.raising(ValueError(method))}),
            kit.recorder(tf, story, "last"),
        ]

        def block():
            with tf.train.MonitoredSession(hooks=hooks) as session:
                session.run(one)

        with tf.Graph().as_default():
            one = tf.constant(1)
            found.append([kit.said(block), story])
    return found


# recovery


@program
def recovery_after_a_lost_task(tf, kit):
    story, step = [], kit.counter(tf)
    acts = dict(after_create_session=lambda s, c: story.append(kit.plain(s.run("global_step:0"))))
    lost = kit.recorder(tf, story, "lost", before_run=kit.failing(kit.aborted(tf), 3))
    with kit.logged() as lines:
        hooks = [kit.recorder(tf, story, **acts), lost]
        with tf.train.MonitoredSession(hooks=hooks) as session:
            for _ in range(3):
                story.append(kit.plain(session.run(step)))
    return [story, lines]


@program
def recovery_in_all_places(tf, kit):
    found = []
    for method in ("before_run", "after_run", "end", "after_create_session"):
        for error in (tf.errors.UnavailableError(None, None, "away"), kit.aborted(tf)):
            story = []
            with tf.Graph().as_default():
                step = kit.counter(tf)
                hook = kit.recorder(tf, story, **{method: kit.failing(error, 1)})

                def block():
                    with tf.train.MonitoredSession(hooks=[hook]) as session:
                        story.append(kit.plain(session.run(step)))

                found.append([kit.said(block), story])
    return found


@program
def no_recovery_of_a_singular_session(tf, kit):
    story, step = [], kit.counter(tf)
    hook = kit.recorder(tf, story, before_run=kit.failing(kit.aborted(tf), 1))

    def block():
        with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
            session.run(step)

    return [kit.said(block), story]


@program
def the_block_raises_aborted(tf, kit):
    story, step = [], kit.counter(tf)

    def block():
        with tf.train.MonitoredSession(hooks=[kit.recorder(tf, story)]) as session:
            session.run(step)
            raise kit.aborted(tf)

    return [kit.said(block), story]


class Creator:
    """Makes sessions; its first tries fail with `error`."""

    def __init__(self, tf, error, times):
        self.made, self.tf, self.fail = 0, tf, times
        self.error = error

    def create_session(self):
        self.made += 1
        if self.made <= self.fail:
            raise self.error
        return self.tf.Session()


@program
def a_session_that_cannot_be_made_at_first(tf, kit):
    one, found = tf.constant(1), []
    for error in (
        kit.aborted(tf),
        tf.errors.UnavailableError(None, None, "away"),
        tf.errors.OutOfRangeError(None, None, "x"),
        ValueError("x"),
    ):
        story, creator = [], Creator(tf, error, 2)

        def block():
            with tf.train.MonitoredSession(creator, hooks=[kit.recorder(tf, story)]) as session:
                return kit.plain(session.run(one))

        found.append([kit.said(block), creator.made, story])
    return found


@program
def recovery_where_making_a_session_fails_too(tf, kit):
    one = tf.constant(1)
    story, creator = [], Creator(tf, kit.aborted(tf), 0)

    def lose(_):
        if creator.fail == 0:
            creator.fail = 3
            raise kit.aborted(tf)

    hook = kit.recorder(tf, story, before_run=lose)
    with tf.train.MonitoredSession(creator, hooks=[hook]) as session:
        story.append(kit.plain(session.run(one)))
    return [creator.made, story]


@program
def many_losses_in_a_row(tf, kit):
    step = kit.counter(tf)
    story = []
    hook = kit.recorder(tf, story, before_run=kit.failing(kit.aborted(tf), 1, 2, 3))
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        story.append(kit.plain(session.run(step)))
    return story


# steps that are functions


@program
def a_step_function(tf, kit):
    step, story = kit.counter(tf), []

    def in_two(step_context):
        story.append(kit.plain(step_context.session.run(step)))
        story.append(type(step_context.session).__name__)
        story.append(kit.plain(step_context.run_with_hooks(step)))
        return kit.plain(step_context.run_with_hooks(fetches=step, feed_dict={}))

    class Model:
        def method(self, step_context):
            return "method"

        def plus(self, step_context, other=None):
            return "plus"

    with tf.train.MonitoredSession(hooks=[kit.recorder(tf, story)]) as session:
        story.append(session.run_step_fn(in_two))
        story.append(kit.said(session.run_step_fn, Model().method))
        story.append(kit.said(session.run_step_fn, Model().plus))
        story.append(kit.said(session.run_step_fn, lambda step_context: "lambda"))
        story.append(kit.said(session.run_step_fn, lambda context: "lambda"))
        story.append(kit.said(session.run_step_fn, lambda: "lambda"))
        story.append(kit.said(session.run_step_fn, lambda step_context, other: "lambda"))
    return story


@program
def a_step_function_that_stops(tf, kit):
    _step, story = kit.counter(tf), []

    def stops(step_context):
        story.append("before")
        step_context.request_stop()
        story.append("not reached")

    with tf.train.MonitoredSession(hooks=[kit.recorder(tf, story)]) as session:
        while not session.should_stop():
            session.run_step_fn(stops)
            story.append("round")
    other = tf.train.SingularMonitoredSession(hooks=[kit.recorder(tf, story, "other")])
    story.append(kit.said(other.run_step_fn, stops))
    story.append(other.should_stop())
    story.append(kit.said(other.run_step_fn, stops))
    other.close()
    return story


# its life


@program
def a_session_in_with_twice(tf, kit):
    one, story = tf.constant(1), []
    session = tf.train.MonitoredSession(hooks=[kit.recorder(tf, story)])
    with session:
        session.run(one)

    def again():
        with session:
            session.run(one)

    return [kit.said(again), story]


@program
def the_raw_session(tf, kit):
    one = tf.constant(1)
    with tf.train.SingularMonitoredSession() as session:
        raw = session.raw_session()
        found = [type(raw).__name__, kit.plain(raw.run(one)), tf.get_default_session() is None]
    with tf.train.MonitoredSession() as session:
        found += [hasattr(session, "raw_session"), session.graph is tf.get_default_graph()]
    return found


@program
def threads_of_queues(tf, kit):
    queue = tf.train.input_producer(tf.constant([1, 2, 3]), num_epochs=1, shuffle=False)
    got = []
    element = queue.dequeue()
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            got.append(kit.plain(session.run(element)))
    return got


@program
def an_error_in_a_thread_reaches_the_step(tf, kit):
    queue = tf.FIFOQueue(2, tf.int32)
    wrong = queue.enqueue(
        tf.cast(
            tf.matmul(
                tf.placeholder_with_default([[1.0]], [None, None]),
                tf.placeholder_with_default([[1.0], [2.0]], [None, None]),
            ),
            tf.int32,
        )[0, 0]
    )
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [wrong]))
    element, story = queue.dequeue(), []

    def block():
        with tf.train.MonitoredSession(hooks=[kit.recorder(tf, story)]) as session:
            session.run(element)

    return [kit.said(block).split(":")[0], story]


@program
def the_coordinator_of_a_session(tf, kit):
    one, story, seen = tf.constant(1), [], []

    def created(session, coord):
        seen.append(coord)
        story.append([type(coord).__name__, coord.should_stop()])

    with tf.train.MonitoredSession(
        hooks=[kit.recorder(tf, story, after_create_session=created)]
    ) as session:
        story.append(kit.plain(session.run(one)))
        seen[0].request_stop()
        story.append(session.should_stop())
        story.append(kit.plain(kit.said(session.run, one)))
    story.append(seen[0].joined)
    story[:] = story

    def block(*later):
        with tf.train.MonitoredSession(
            hooks=[kit.recorder(tf, story, after_create_session=created)]
        ) as session:
            kit.report(seen[-1], ValueError("from a thread"))
            for each in later:
                story.append(kit.said(*each(session)))
            story.append("left")

    return [
        kit.said(block),
        kit.said(block, lambda session: [session.should_stop]),
        kit.said(block, lambda session: [session.run, one]),
        story,
    ]


@program
def the_graph_afterwards(tf, kit):
    found = []
    for cls in (tf.train.MonitoredSession, tf.train.SingularMonitoredSession):
        with tf.Graph().as_default() as graph:
            tf.constant(1)
            with cls():
                found.append(graph.finalized)
            found.append(graph.finalized)
            graph.finalize()
            with cls():
                pass
            found.append(graph.finalized)
    return found


@program
def both_fail(tf, kit):
    one, found = tf.constant(1), []
    for mine in (ValueError("block"), tf.errors.OutOfRangeError(None, None, "end"), None):
        for other in (
            KeyError("thread"),
            kit.aborted(tf),
            tf.errors.OutOfRangeError(None, None, "thread end"),
        ):
            seen, story = [], []
            hook = kit.recorder(tf, story, after_create_session=lambda s, c: seen.append(c))

            def block():
                with tf.train.MonitoredSession(hooks=[hook]) as session:
                    session.run(one)
                    kit.report(seen[0], other)
                    if mine:
                        raise mine

            found.append([kit.said(block), story])
    return found


@program
def errors_that_threads_report(tf, kit):
    one, found = tf.constant(1), []
    for cls in (tf.train.MonitoredSession, tf.train.SingularMonitoredSession):
        for other in (
            KeyError("thread"),
            kit.aborted(tf),
            tf.errors.OutOfRangeError(None, None, "thread end"),
        ):
            seen, story = [], []
            hook = kit.recorder(tf, story, after_create_session=lambda s, c: seen.append(c))

            def block():
                with cls(hooks=[hook]) as session:
                    session.run(one)
                    kit.report(seen[0], other)
                    for call in ([session.should_stop], [session.run, one], [session.should_stop]):
                        story.append(kit.said(*call))

            found.append([kit.said(block), story])
    return found


@program
def a_step_fails_and_a_thread_too(tf, kit):
    one, found = tf.constant(1), []
    for mine in (ValueError("step"), tf.errors.CancelledError(None, None, "c")):
        for other in (KeyError("thread"), kit.aborted(tf), None):
            seen, story = [], []
            fails = kit.failing(mine, 1)

            def before(context):
                if other and len(seen) == 1:
                    kit.report(seen[0], other)
                fails()

            hook = kit.recorder(
                tf, story, after_create_session=lambda s, c: seen.append(c), before_run=before
            )

            def block():
                with tf.train.MonitoredSession(hooks=[hook]) as session:
                    session.run(one)

            found.append([kit.said(block), story])
    return found
