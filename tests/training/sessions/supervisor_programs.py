"""What supervisors do, as programs that give plain values.

`session_differential.py` stores what real TensorFlow gives; Python 3.7 reads this file, too.
"""

# ruff: noqa: B023  (what a round of a loop makes is called in that round)
from __future__ import annotations

import os

PROGRAMS = {}


def program(function):
    """Put a program into the table."""
    PROGRAMS[function.__name__] = function
    return function


PARTS = (
    "init_op",
    "ready_op",
    "ready_for_local_init_op",
    "summary_op",
    "saver",
    "global_step",
    "init_feed_dict",
    "is_chief",
    "save_model_secs",
    "save_summaries_secs",
    "save_path",
    "summary_writer",
    "session_manager",
    "coord",
)


def parts(tf, supervisor):
    """Return what a supervisor has, as text."""
    found = {}
    for name in PARTS:
        part = getattr(supervisor, name)
        found[name] = (
            part
            if part is None or isinstance(part, (bool, int, str))
            else getattr(part, "name", type(part).__name__)
        )
    return found


def model(tf, kit):
    step = kit.counter(tf)
    tf.Variable(1, name="local", collections=["local_variables"])
    tf.summary.scalar("s", 1.0)
    return step


@program
def the_parts_of_a_supervisor(tf, kit):
    model(tf, kit)
    with kit.folder() as path:
        supervisor = tf.train.Supervisor(logdir=path)
        found = [
            {
                k: (v.replace(path, "FOLDER") if isinstance(v, str) else v)
                for k, v in parts(tf, supervisor).items()
            }
        ]
        found.append(kit.collections(tf.get_default_graph()))
        found.append(tf.get_default_graph().finalized)
        supervisor.summary_writer.close()
    return found


@program
def the_nodes_of_a_supervisor(tf, kit):
    tf.Variable(1.0, name="v")
    before = len(kit.nodes(tf, tf.get_default_graph()))
    tf.train.Supervisor(saver=None)
    return [n for n in kit.nodes(tf, tf.get_default_graph())[before:] if "/" not in n.split(" ")[0]]


@program
def a_supervisor_without_a_folder(tf, kit):
    model(tf, kit)
    supervisor = tf.train.Supervisor()
    found = [parts(tf, supervisor)]
    found.append(kit.said(supervisor.summary_computed, None, b""))
    found.append(kit.said(supervisor.start_standard_services, None))
    return found


@program
def a_supervisor_of_nothing(tf, kit):
    supervisor = tf.train.Supervisor(
        ready_op=None,
        ready_for_local_init_op=None,
        init_op=None,
        local_init_op=None,
        summary_op=None,
        saver=None,
        global_step=None,
        summary_writer=None,
    )
    return parts(tf, supervisor)


@program
def a_supervisor_that_is_no_chief(tf, kit):
    with tf.device("/cpu:0"):
        model(tf, kit)
    with kit.folder() as path:
        supervisor = tf.train.Supervisor(logdir=path, is_chief=False)
        found = [
            parts(tf, supervisor),
            kit.said(supervisor.start_standard_services, None),
            kit.said(supervisor.summary_computed, None, b""),
        ]
        found[0]["save_path"] = os.path.basename(found[0]["save_path"] or "")
    return found


@program
def a_supervisor_takes_parts_from_collections(tf, kit):
    v = tf.Variable(1.0, name="v")
    op = tf.assign(v, 8.0, name="begin")
    step = tf.Variable(3, name="mine", trainable=False)
    for key, part in (
        ("init_op", op),
        ("global_step", step),
        ("ready_op", tf.constant([], tf.string, name="r")),
    ):
        tf.add_to_collection(key, part)
    supervisor = tf.train.Supervisor()
    found = parts(tf, supervisor)
    return [found[name] for name in ("init_op", "global_step", "ready_op")]


@program
def a_managed_session(tf, kit):
    step, found = model(tf, kit), []
    services = ("Saving checkpoint", "Recording summary", "/sec")
    with kit.folder() as path:
        for _ in range(2):
            with kit.logged(path) as lines:
                supervisor = tf.train.Supervisor(logdir=path)
                with supervisor.managed_session("") as session:
                    kit.until(lambda: all(any(each in line for line in lines) for each in services))
                    kit.until(lambda: tf.train.latest_checkpoint(path))
                    found.append([tf.get_default_session() is session, supervisor.should_stop()])
                    found.append([kit.plain(session.run(step)) for _ in range(3)])
                found.append([supervisor.should_stop(), kit.said(session.run, step).split(":")[0]])
            found.append([sorted(lines), kit.files(path)])
    return found


@program
def a_managed_session_without_a_folder(tf, kit):
    step, found = model(tf, kit), []
    supervisor = tf.train.Supervisor()
    with kit.logged() as lines:
        with supervisor.managed_session() as session:
            found.append(kit.plain(session.run(step)))
            found.append(session.graph.finalized)
    return [found, lines]


@program
def errors_in_a_managed_session(tf, kit):
    found, step = [], model(tf, kit)
    for error in (
        ValueError("mine"),
        tf.errors.OutOfRangeError(None, None, "the end"),
        StopIteration(),
        tf.errors.CancelledError(None, None, "c"),
        kit.aborted(tf),
        KeyError("k"),
    ):

        def block():
            supervisor = tf.train.Supervisor(summary_op=None)
            with supervisor.managed_session() as session:
                session.run(step)
                raise error

        found.append(kit.said(block))
    return found


@program
def an_error_of_a_service(tf, kit):
    found, _step = [], model(tf, kit)
    for error in (ValueError("in a thread"), tf.errors.OutOfRangeError(None, None, "the end")):
        rounds = []

        def block():
            supervisor = tf.train.Supervisor()
            with supervisor.managed_session():
                supervisor.loop(None, kit.raising(error))
                supervisor.wait_for_stop()
                rounds.append(supervisor.should_stop())
                return "end"

        found.append([kit.said(block), rounds])
    return found


@program
def loops_of_a_supervisor(tf, kit):
    _step, calls = model(tf, kit), []
    supervisor = tf.train.Supervisor()

    def work(number, word=None):
        calls.append([number, word])
        supervisor.request_stop()

    with supervisor.managed_session():
        thread = supervisor.loop(0, work, args=(7,), kwargs={"word": "w"})
        supervisor.wait_for_stop()
    return [calls, type(thread).__name__, thread.is_alive(), supervisor.should_stop()]


@program
def a_stop_that_is_asked_for(tf, kit):
    step, count = model(tf, kit), []
    supervisor = tf.train.Supervisor()
    with supervisor.managed_session() as session:
        while not supervisor.should_stop():
            count.append(kit.plain(session.run(step)))
            if len(count) == 3:
                supervisor.request_stop()
    return count


@program
def queues_of_a_supervisor(tf, kit):
    queue = tf.train.input_producer(tf.constant([1, 2, 3]), num_epochs=1, shuffle=False)
    element, got = queue.dequeue(), []
    supervisor = tf.train.Supervisor()
    with supervisor.managed_session() as session:
        while not supervisor.should_stop():
            got.append(kit.plain(session.run(element)))
    return got


@program
def prepared_by_hand(tf, kit):
    step, found = model(tf, kit), []
    with kit.folder() as path:
        supervisor = tf.train.Supervisor(logdir=path, summary_op=None, save_model_secs=0)
        session = supervisor.prepare_or_wait_for_session(start_standard_services=False)
        found.append(kit.plain(session.run(step)))
        found.append([type(each).__name__ for each in supervisor.start_standard_services(session)])
        found.append(supervisor.start_queue_runners(session))
        supervisor.summary_computed(
            session, tf.Summary(value=[tf.Summary.Value(tag="x", simple_value=1.0)])
        )
        supervisor.summary_computed(session, b"", global_step=9)
        supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
        supervisor.stop()
        found.append([kit.plain(session.run(step)), supervisor.should_stop()])
        session.close()
        found.append(kit.files(path))
        found.append(sorted(map(str, kit.events(tf, path))))
    return found


@program
def the_standard_services(tf, kit):
    _step, found = model(tf, kit), []
    for options in (
        dict(),
        dict(save_model_secs=0),
        dict(summary_op=None),
        dict(save_summaries_secs=0),
        dict(global_step=None),
        dict(saver=None),
    ):
        with kit.folder() as path:
            supervisor = tf.train.Supervisor(logdir=path, **options)
            with tf.Session() as session:
                session.run(tf.get_default_graph().get_operation_by_name(supervisor.init_op.name))
                session.run("local/Assign")
                threads = supervisor.start_standard_services(session)
                found.append([type(each).__name__ for each in threads])
                supervisor.stop()
    return found


@program
def an_init_fn_and_feeds(tf, kit):
    v, x, story = tf.Variable(1.0, name="v"), tf.placeholder(tf.float32, []), []
    init = tf.assign(v, x)

    def fn(session):
        return story.append(kit.plain(session.run(v)))

    supervisor = tf.train.Supervisor(init_op=init, init_feed_dict={x: 4.0}, init_fn=fn)
    with supervisor.managed_session() as session:
        story.append(kit.plain(session.run(v)))
    return story


@program
def a_worker_of_a_supervisor(tf, kit):
    local = tf.Variable(1, name="local", collections=["local_variables"])
    kept = kit.said(tf.train.Supervisor, is_chief=False)
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        local = tf.Variable(1, name="local", collections=["local_variables"])
        supervisor = tf.train.Supervisor(is_chief=False)
        with supervisor.managed_session() as session:
            found = [kept, kit.plain(session.run(local))]
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        tf.Variable(1.0, name="v")
        supervisor = tf.train.Supervisor(is_chief=False, recovery_wait_secs=1)
        found.append(kit.said(supervisor.prepare_or_wait_for_session, max_wait_secs=0))
    return found


@program
def a_session_manager_and_a_writer_of_mine(tf, kit):
    v = tf.Variable(1.0, name="v")
    manager = tf.train.SessionManager()
    with kit.folder() as path:
        writer = tf.summary.FileWriter(path)
        supervisor = tf.train.Supervisor(
            logdir=path,
            session_manager=manager,
            summary_writer=writer,
            checkpoint_basename="mine",
            summary_op=None,
        )
        found = [
            supervisor.session_manager is manager,
            supervisor.summary_writer is writer,
            supervisor.save_path.replace(path, "FOLDER"),
        ]
        with supervisor.managed_session() as session:
            found.append(kit.plain(session.run(v)))
        found.append(kit.files(path))
        writer.close()
    return found


@program
def a_basic_train_loop(tf, kit):
    step, found = model(tf, kit), []
    supervisor = tf.train.Supervisor()

    def one(session, word, more=None):
        found.append([kit.plain(session.run(step)), word, more])
        if len(found) == 3:
            supervisor.request_stop()

    tf.train.basic_train_loop(supervisor, one, args=("a",), kwargs={"more": "b"})
    other = tf.train.Supervisor()

    def stop(session):
        found.append(1)
        other.request_stop()

    tf.train.basic_train_loop(other, stop)
    return found


@program
def a_supervisor_twice(tf, kit):
    step, found = kit.counter(tf), []
    with kit.folder() as path:
        supervisor = tf.train.Supervisor(logdir=path, save_summaries_secs=0, save_model_secs=0)
        for _ in range(2):
            with supervisor.managed_session(close_summary_writer=False) as session:
                found += [supervisor.should_stop(), kit.plain(session.run(step))]
                supervisor.saver.save(session, supervisor.save_path, supervisor.global_step)
        supervisor.summary_writer.close()
        return [*found, kit.events(tf, path)]


@program
def a_supervisor_of_a_graph(tf, kit):
    with tf.Graph().as_default() as graph:
        v = tf.Variable(1.0)
        tf.Variable(0, name="global_step", trainable=False)
    supervisor = tf.train.Supervisor(graph=graph)
    with supervisor.managed_session() as session:
        found = [session.graph is graph, kit.plain(session.run(v)), supervisor.global_step.name]
    return [*found, kit.collections(graph, "ready_op")]


@program
def stops_of_a_supervisor(tf, kit):
    step, found = kit.counter(tf), []
    supervisor = tf.train.Supervisor()
    supervisor.request_stop()
    found += [supervisor.wait_for_stop(), supervisor.coord.should_stop(), kit.said(supervisor.stop)]
    session = supervisor.prepare_or_wait_for_session()
    with supervisor.stop_on_exception():
        raise ValueError("in a block")
    found += [supervisor.should_stop(), kit.said(supervisor.stop), kit.plain(session.run(step))]

    def block():
        with supervisor.managed_session():
            supervisor.loop(None, kit.raising(ValueError("thread")))
            supervisor.wait_for_stop()
            raise KeyError("block")

    return [*found, kit.said(block)]


@program
def local_variables_that_need_global_ones(tf, kit):
    v = tf.Variable(3.0, name="v")
    w = tf.Variable(v + 1.0, name="w", collections=["local_variables"])
    supervisor = tf.train.Supervisor(ready_for_local_init_op=tf.report_uninitialized_variables([v]))
    with supervisor.managed_session() as session:
        return kit.plain(session.run([v, w]))
