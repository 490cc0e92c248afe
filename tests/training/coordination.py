"""What coordinators, looper threads and queue runners do, as programs that give plain values.

Real TensorFlow and this package both run them; what 1.15.5 said is stored beside.
`differential.py` stores it, `test_coordination.py` compares.

(This file is also read by Python 3.7, the one that real TensorFlow 1.15 runs on, and imports
nothing of ours.)
"""

from __future__ import annotations

import sys
import threading

PROGRAMS = {}
PATIENCE = 10.0  # seconds


def program(function):
    """Put a program into the table."""
    PROGRAMS[function.__name__] = function
    return function


def said(function, *arguments, **options):
    """Return what a call gives, or its error as text."""
    try:
        return function(*arguments, **options)
    except Exception as error:
        message = getattr(error, "message", None) or str(error)
        return type(error).__name__ + ": " + message.split("\n")[0]


def state(coordinator):
    return [coordinator.should_stop(), coordinator.joined]


def report(coordinator, error):
    """Report an error as a thread would: where it is handled."""
    try:
        raise error
    except Exception as caught:
        coordinator.request_stop(caught)


# coordinators


@program
def a_new_coordinator(tf):
    return state(tf.train.Coordinator())


@program
def a_stop_is_seen_by_all(tf):
    coordinator = tf.train.Coordinator()
    return [coordinator.request_stop(), state(coordinator), coordinator.wait_for_stop(0.0)]


@program
def waiting_for_a_stop_that_does_not_come(tf):
    return tf.train.Coordinator().wait_for_stop(0.01)


@program
def join_raises_what_was_reported(tf):
    coordinator = tf.train.Coordinator()
    report(coordinator, ValueError("first"))
    report(coordinator, KeyError("second"))
    return [state(coordinator), said(coordinator.join), state(coordinator), said(coordinator.join)]


@program
def join_raises_what_was_reported_with_its_traceback(tf):
    coordinator = tf.train.Coordinator()
    try:
        raise ValueError("in a thread")
    except ValueError:
        coordinator.request_stop(ex=sys.exc_info())
    try:
        coordinator.join()
    except ValueError as error:
        frames, traceback = [], error.__traceback__
        while traceback:
            frames.append(traceback.tb_frame.f_code.co_name)
            traceback = traceback.tb_next
        return [str(error), frames[-1]]


@program
def the_end_of_input_is_no_error(tf):
    coordinator = tf.train.Coordinator()
    report(coordinator, tf.errors.OutOfRangeError(None, None, "the end"))
    return [state(coordinator), said(coordinator.join), state(coordinator)]


@program
def other_errors_may_be_no_errors(tf):
    coordinator = tf.train.Coordinator(clean_stop_exception_types=(ValueError,))
    report(coordinator, ValueError("meant"))
    other = tf.train.Coordinator(clean_stop_exception_types=(ValueError,))
    report(other, tf.errors.OutOfRangeError(None, None, "the end"))
    return [said(coordinator.join), said(other.join)]


@program
def no_clean_stop_at_all(tf):
    coordinator = tf.train.Coordinator(clean_stop_exception_types=())
    report(coordinator, tf.errors.OutOfRangeError(None, None, "the end"))
    return said(coordinator.join)


@program
def an_error_after_a_stop(tf):
    coordinator = tf.train.Coordinator()
    coordinator.request_stop()
    report(coordinator, ValueError("too late"))
    return said(coordinator.join)


@program
def an_error_after_the_end_of_input(tf):
    coordinator = tf.train.Coordinator()
    report(coordinator, tf.errors.OutOfRangeError(None, None, "the end"))
    report(coordinator, ValueError("too late"))
    return said(coordinator.join)


@program
def a_stop_after_join(tf):
    coordinator = tf.train.Coordinator()
    coordinator.request_stop()
    coordinator.join()
    found = [said(coordinator.request_stop), said(report, coordinator, ValueError("late"))]
    try:
        raise KeyError("late")
    except KeyError:
        return [*found, said(coordinator.request_stop, sys.exc_info()), state(coordinator)]


@program
def the_end_of_input_after_join(tf):
    coordinator = tf.train.Coordinator()
    coordinator.join()
    return [said(report, coordinator, tf.errors.OutOfRangeError(None, None, "end")),
            state(coordinator)]  # fmt: skip


@program
def a_cleared_coordinator_begins_anew(tf):
    coordinator = tf.train.Coordinator()
    report(coordinator, ValueError("gone"))
    said(coordinator.join)
    coordinator.clear_stop()
    return [state(coordinator), said(coordinator.join), state(coordinator)]


@program
def clearing_forgets_threads(tf):
    coordinator = tf.train.Coordinator()
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    coordinator.register_thread(thread)
    coordinator.request_stop()
    first = said(coordinator.join, stop_grace_period_secs=0.01, ignore_live_threads=True)
    coordinator.clear_stop()
    coordinator.request_stop()
    second = said(coordinator.join, stop_grace_period_secs=0.01)
    release.set()
    thread.join()
    return [first, second]


@program
def an_error_in_a_block_stops(tf):
    coordinator = tf.train.Coordinator()
    with coordinator.stop_on_exception():
        raise ValueError("inside")
    return [state(coordinator), said(coordinator.join)]


@program
def the_end_of_input_in_a_block_stops(tf):
    coordinator = tf.train.Coordinator()
    with coordinator.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "the end")
    return [state(coordinator), said(coordinator.join)]


@program
def a_block_without_error_stops_nothing(tf):
    coordinator = tf.train.Coordinator()
    with coordinator.stop_on_exception():
        pass
    return state(coordinator)


@program
def the_exception_can_be_raised_before_join(tf):
    coordinator = tf.train.Coordinator()
    found = [said(coordinator.raise_requested_exception)]
    report(coordinator, ValueError("asked for"))
    return [*found, *(said(coordinator.raise_requested_exception) for _ in range(2)),
            said(coordinator.join)]  # fmt: skip


@program
def join_waits_for_threads(tf):
    coordinator = tf.train.Coordinator()
    counted = []

    def count():
        while not coordinator.should_stop():
            counted.append(1)
            if len(counted) >= 3:
                coordinator.request_stop()

    threads = [threading.Thread(target=count) for _ in range(2)]
    for thread in threads:
        thread.start()
    coordinator.join(threads)
    return [any(thread.is_alive() for thread in threads), state(coordinator), len(counted) >= 3]


@program
def threads_that_end_by_themselves_end_join(tf):
    coordinator = tf.train.Coordinator()
    thread = threading.Thread(target=int)
    thread.start()
    return [said(coordinator.join, [thread]), state(coordinator)]


@program
def join_knows_registered_threads(tf):
    coordinator = tf.train.Coordinator()
    release = threading.Event()
    thread = threading.Thread(target=release.wait, name="registered")
    thread.start()
    coordinator.register_thread(thread)
    coordinator.request_stop()
    first = said(coordinator.join, stop_grace_period_secs=0.01)
    release.set()
    thread.join()
    return [first, state(coordinator)]


def join_with_a_live_thread(tf, error=None, **options):
    coordinator = tf.train.Coordinator()
    release = threading.Event()
    threads = [threading.Thread(target=release.wait, name=name) for name in ("slow", "slower")]
    for thread in threads:
        thread.start()
    if error is None:
        coordinator.request_stop()
    else:
        report(coordinator, error)
    found = said(coordinator.join, threads, stop_grace_period_secs=0.05, **options)
    release.set()
    for thread in threads:
        thread.join()
    found = " ".join(sorted(found.split())) if found else found  # threads come in any order
    return [found, state(coordinator)]


@program
def a_thread_that_does_not_stop(tf):
    return join_with_a_live_thread(tf)


@program
def a_thread_that_does_not_stop_and_does_not_matter(tf):
    return join_with_a_live_thread(tf, ignore_live_threads=True)


@program
def an_error_counts_more_than_a_live_thread(tf):
    return join_with_a_live_thread(tf, ValueError("cause"))


@program
def an_error_never_raised_may_be_reported(tf):
    coordinator = tf.train.Coordinator()
    coordinator.request_stop((ValueError, ValueError("made"), None))
    return said(coordinator.join)


@program
def stop_is_seen_while_waiting(tf):
    coordinator = tf.train.Coordinator()
    found = []
    thread = threading.Thread(target=lambda: found.append(coordinator.wait_for_stop(PATIENCE)))
    thread.start()
    coordinator.request_stop()
    thread.join()
    return found


# looper threads


@program
def a_loop_runs_until_a_stop(tf):
    coordinator = tf.train.Coordinator()
    counted = []

    def count(*arguments, **options):
        counted.append([list(arguments), options])
        if len(counted) == 3:
            coordinator.request_stop()

    thread = tf.train.LooperThread.loop(coordinator, None, count, args=(1,), kwargs={"b": 2})
    coordinator.join()
    return [counted, thread.daemon, thread.is_alive()]


@program
def a_loop_has_a_rhythm(tf):
    coordinator = tf.train.Coordinator()
    counted = []

    def count():
        counted.append(1)
        if len(counted) == 3:
            coordinator.request_stop()

    thread = tf.train.LooperThread(coordinator, 0.01, count)
    thread.start()
    coordinator.join([thread])
    return len(counted)


@program
def an_error_in_a_loop_stops_all(tf):
    coordinator = tf.train.Coordinator()

    def fail():
        raise ValueError("in the loop")

    thread = tf.train.LooperThread.loop(coordinator, 0.01, fail)
    return [said(coordinator.join, [thread]), coordinator.should_stop()]


@program
def a_loop_with_hooks(tf):
    coordinator = tf.train.Coordinator()
    happened = []

    class Looper(tf.train.LooperThread):
        def start_loop(self):
            happened.append("start")

        def run_loop(self):
            happened.append("run")
            if len(happened) == 3:
                coordinator.request_stop()

        def stop_loop(self):
            happened.append("stop")

    looper = Looper(coordinator, None)
    looper.start()
    coordinator.join([looper])
    return happened


@program
def a_loop_that_is_stopped_before_it_begins(tf):
    coordinator = tf.train.Coordinator()
    coordinator.request_stop()
    happened = []
    thread = tf.train.LooperThread.loop(coordinator, None, happened.append, args=("ran",))
    rhythmic = tf.train.LooperThread.loop(coordinator, 0.01, happened.append, args=("rhythm",))
    coordinator.join([thread, rhythmic])
    return happened


@program
def what_is_not_a_looper(tf):
    coordinator = tf.train.Coordinator()
    return [said(tf.train.LooperThread, None, 1), said(tf.train.LooperThread, "x", 1),
            said(tf.train.LooperThread, coordinator, "x") is None,
            said(tf.train.LooperThread, coordinator, None, args=(1,)),
            said(tf.train.LooperThread, coordinator, None, kwargs={"a": 1})]  # fmt: skip


# queue runners


class Filling:
    """A queue that a queue runner fills with 0, 1, 2, ... until `count`, and a session."""

    def __init__(self, tf, count=5, threads=1, capacity=10, **options):
        self.tf = tf
        self.graph = tf.Graph()
        with self.graph.as_default():
            counter = tf.Variable(0, trainable=False, name="counter")
            self.queue = tf.FIFOQueue(capacity, [tf.int32], shapes=[[]], name="filled")
            self.value = tf.count_up_to(counter, count)
            self.runner = tf.train.QueueRunner(
                self.queue, [self.queue.enqueue(self.value)] * threads, **options
            )
            self.taken, self.size = self.queue.dequeue(), self.queue.size()
            self.closed = self.queue.is_closed()
            self.initializer = tf.global_variables_initializer()

    def session(self):
        session = self.tf.Session(graph=self.graph)
        session.run(self.initializer)
        return session


def names(threads):
    return sorted(thread.name for thread in threads)


def finish(threads):
    for thread in threads:
        thread.join(PATIENCE)
    return any(thread.is_alive() for thread in threads)


@program
def a_runner_fills_its_queue_and_closes_it(tf):
    filling = Filling(tf)
    with filling.session() as session:
        threads = filling.runner.create_threads(session, start=True)
        alive = finish(threads)
        return [alive, names(threads), session.run(filling.closed).tolist(),
                [int(session.run(filling.taken)) for _ in range(5)],
                said(session.run, filling.taken), filling.runner.exceptions_raised]  # fmt: skip


@program
def threads_of_a_runner(tf):
    filling = Filling(tf, threads=2)
    coordinator = tf.train.Coordinator()
    with filling.session() as session:
        threads = filling.runner.create_threads(session, coordinator)
        found = [names(threads), [thread.daemon for thread in threads],
                 [thread.is_alive() for thread in threads]]  # fmt: skip
        for thread in threads:
            thread.start()
        finished = [thread for thread in threads if "close" not in thread.name]
        alive = finish(finished)
        coordinator.request_stop()
        coordinator.join(threads)
        return [*found, alive, int(session.run(filling.size))]


@program
def daemons_of_a_runner(tf):
    filling = Filling(tf)
    with filling.session() as session:
        threads = filling.runner.create_threads(session, daemon=True, start=True)
        found = [thread.daemon for thread in threads]
        return [found, finish(threads)]


@program
def the_last_thread_closes_the_queue(tf):
    filling = Filling(tf, count=8, threads=4)
    coordinator = tf.train.Coordinator()
    with filling.session() as session:
        threads = filling.runner.create_threads(session, coordinator, start=True)
        found = []
        with coordinator.stop_on_exception():
            while not coordinator.should_stop():
                found.append(int(session.run(filling.taken)))
        return [sorted(found), said(coordinator.join, threads)]


@program
def a_stop_cancels_those_that_wait_for_room(tf):
    filling = Filling(tf, count=100, threads=2, capacity=3)
    coordinator = tf.train.Coordinator()
    with filling.session() as session:
        threads = filling.runner.create_threads(session, coordinator, start=True)
        taken = sorted(int(session.run(filling.taken)) for _ in range(5))
        coordinator.request_stop()
        return [len(taken), said(coordinator.join, threads), session.run(filling.closed).tolist()]


@program
def a_runner_that_runs_cannot_be_started_again(tf):
    filling = Filling(tf, count=1000, capacity=3)
    coordinator = tf.train.Coordinator()
    with filling.session() as session:
        threads = filling.runner.create_threads(session, coordinator, start=True)
        again = said(filling.runner.create_threads, session, coordinator, start=True)
        coordinator.request_stop()
        coordinator.join(threads)
        return [len(threads), again]


@program
def threads_that_were_not_started_count_as_running(tf):
    filling = Filling(tf)
    with filling.session() as session:
        threads = filling.runner.create_threads(session)
        again = filling.runner.create_threads(session)
        for thread in threads:
            thread.start()
        return [len(threads), len(again), finish(threads)]


@program
def a_runner_that_ended_can_be_started_again(tf):
    filling = Filling(tf, count=3)
    with filling.session() as session:
        finish(filling.runner.create_threads(session, start=True))
        again = filling.runner.create_threads(session, start=True)
        return [len(again), finish(again), int(session.run(filling.size))]


@program
def a_runner_serves_several_sessions(tf):
    filling = Filling(tf, count=1000, capacity=3)
    coordinator = tf.train.Coordinator()
    with filling.session() as first, filling.session() as second:
        threads = filling.runner.create_threads(first, coordinator, start=True)
        others = filling.runner.create_threads(second, coordinator, start=True)
        coordinator.request_stop()
        coordinator.join(threads + others)
        return [len(threads), len(others)]


def failing(tf, **options):
    """Return a runner whose second op fails."""
    graph = tf.Graph()
    with graph.as_default():
        queue = tf.FIFOQueue(3, [tf.int32], shapes=[[]], name="filled")
        good = queue.enqueue(1)
        with tf.control_dependencies([tf.Assert(tf.placeholder_with_default(False, []), ["bad"])]):
            fails = queue.enqueue(2)
        runner = tf.train.QueueRunner(queue, [good, fails], **options)
        return tf.Session(graph=graph), runner


@program
def an_error_in_one_thread_stops_the_others(tf):
    session, runner = failing(tf)
    coordinator = tf.train.Coordinator()
    with session:
        threads = runner.create_threads(session, coordinator, start=True)
        found = said(coordinator.join, threads)
        return [found.split(":")[0], [each.is_alive() for each in threads],
                runner.exceptions_raised]  # fmt: skip


@program
def an_error_without_a_coordinator_is_kept(tf):
    filling = Filling(tf, queue_closed_exception_types=(tf.errors.CancelledError,))
    with filling.session() as session:
        threads = filling.runner.create_threads(session, start=True)
        alive = finish(threads)
        return [alive, [type(e).__name__ for e in filling.runner.exceptions_raised],
                session.run(filling.closed).tolist()]  # fmt: skip


@program
def exceptions_are_forgotten_at_the_next_start(tf):
    filling = Filling(tf, queue_closed_exception_types=(tf.errors.CancelledError,))
    with filling.session() as session:
        finish(filling.runner.create_threads(session, start=True))
        before = len(filling.runner.exceptions_raised)
        threads = filling.runner.create_threads(session)
        after = len(filling.runner.exceptions_raised)
        for thread in threads:
            thread.start()
        return [before, after, finish(threads)]


@program
def the_end_may_be_another_error(tf):
    filling = Filling(
        tf, queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError)
    )
    coordinator = tf.train.Coordinator()
    with filling.session() as session:
        threads = filling.runner.create_threads(session, coordinator, start=True)
        finish([each for each in threads if "close" not in each.name])
        stopped = coordinator.should_stop()
        coordinator.request_stop()
        return [stopped, said(coordinator.join, threads)]


@program
def the_end_of_input_does_not_stop_the_others(tf):
    filling = Filling(tf)
    coordinator = tf.train.Coordinator()
    with filling.session() as session:
        threads = filling.runner.create_threads(session, coordinator, start=True)
        finish([each for each in threads if "close" not in each.name])
        stopped = coordinator.should_stop()
        coordinator.request_stop()
        return [stopped, said(coordinator.join, threads)]


@program
def a_closed_session_ends_a_runner(tf):
    filling = Filling(tf, count=100000, capacity=2)
    session = filling.session()
    threads = filling.runner.create_threads(session, start=True)
    session.run(filling.taken)
    session.close()
    return [finish(threads), len(filling.runner.exceptions_raised) <= 1]


@program
def what_a_runner_consists_of(tf):
    runner = Filling(tf, threads=2).runner
    return [runner.name, runner.queue.name, [op.name for op in runner.enqueue_ops],
            runner.close_op.name, runner.cancel_op.name, len(runner.exceptions_raised),
            [each.__name__ for each in runner.queue_closed_exception_types]]  # fmt: skip


@program
def a_runner_as_a_message(tf):
    filling = Filling(tf, threads=2)
    message = filling.runner.to_proto()
    with filling.graph.as_default():
        again = tf.train.QueueRunner.from_proto(message)
    return [" ".join(str(message).split()), again.name, again.queue.name, again.close_op.name,
            [op.name for op in again.enqueue_ops], again.to_proto() == message]  # fmt: skip


@program
def a_runner_in_a_scope(tf):
    with tf.Graph().as_default() as graph:
        with tf.name_scope("inner"):
            queue = tf.FIFOQueue(3, [tf.int32])
            runner = tf.train.QueueRunner(queue, [queue.enqueue(1)])
        message = runner.to_proto("inner")
        found = [" ".join(str(message).split()), runner.to_proto("other") is None]
        again = tf.train.QueueRunner.from_proto(message, import_scope="inner")
        return [*found, again.name, [op.name for op in again.enqueue_ops],
                [op.name for op in graph.get_operations()]]  # fmt: skip


@program
def a_runner_that_came_as_a_message_runs(tf):
    filling = Filling(tf, count=3)
    with filling.graph.as_default():
        again = tf.train.QueueRunner.from_proto(filling.runner.to_proto())
    with filling.session() as session:
        alive = finish(again.create_threads(session, start=True))
        return [alive, int(session.run(filling.size)), session.run(filling.closed).tolist()]


@program
def runners_are_started_from_their_collection(tf):
    filling = Filling(tf, count=3)
    with filling.graph.as_default():
        tf.train.add_queue_runner(filling.runner)
        tf.train.add_queue_runner(filling.runner, "others")
        coordinator = tf.train.Coordinator()
        with filling.session() as session:
            threads = tf.train.start_queue_runners(coord=coordinator)
            again = tf.train.start_queue_runners(session, coordinator, collection="others")
            daemons = [thread.daemon for thread in threads]
            finish([each for each in threads if "close" not in each.name])
            coordinator.request_stop()
            coordinator.join(threads)
            return [len(threads), len(again) in (0, 2), daemons, int(session.run(filling.size)),
                    sorted(filling.graph.get_all_collection_keys())]  # fmt: skip


@program
def starting_runners_without_a_session(tf):
    with tf.Graph().as_default():
        return [said(tf.train.start_queue_runners), said(tf.train.start_queue_runners, 5)]


@program
def threads_may_be_started_later(tf):
    filling = Filling(tf, count=3)
    with filling.graph.as_default(), filling.session() as session:
        tf.train.add_queue_runner(filling.runner)
        threads = tf.train.start_queue_runners(session, start=False, daemon=False)
        found = [[each.is_alive(), each.daemon] for each in threads]
        for thread in threads:
            thread.start()
        return [found, finish(threads)]


@program
def runners_of_another_graph_are_not_started(tf):
    filling = Filling(tf, count=3)
    with filling.graph.as_default():
        tf.train.add_queue_runner(filling.runner)
    with filling.session() as session, tf.Graph().as_default():
        threads = tf.train.start_queue_runners(session)
        return [len(threads), finish(threads)]
