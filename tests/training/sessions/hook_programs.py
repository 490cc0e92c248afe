"""What hooks do, as programs that give plain values.

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


def ran(tf, kit, hooks, times, fetch=None, feeds=None):
    """Run a counting step under hooks and return its values, and what was logged."""
    step = kit.counter(tf) if fetch is None else fetch
    found = []

    def run():
        with tf.train.MonitoredSession(hooks=hooks) as session:
            for number in range(times):
                if session.should_stop():
                    found.append("stop")
                    break
                found.append(kit.plain(session.run(step, feeds(number) if feeds else None)))

    with kit.logged() as lines:
        error = kit.said(run)
    return [
        found,
        error,
        [line for line in lines if "local_init_op" not in line and "final" not in line],
    ]


@program
def stop_at_step(tf, kit):
    found = []
    for options in (dict(last_step=3), dict(num_steps=2), dict(last_step=0), dict(num_steps=0)):
        with tf.Graph().as_default():
            step = kit.counter(tf)
            found.append(ran(tf, kit, [tf.train.StopAtStepHook(**options)], 6, step))
    found.append(kit.said(tf.train.StopAtStepHook))
    found.append(kit.said(tf.train.StopAtStepHook, 3, 3))
    with tf.Graph().as_default():
        found.append(kit.said(tf.train.MonitoredSession, hooks=[tf.train.StopAtStepHook(3)]))
    return found


@program
def stop_at_step_after_a_restart(tf, kit):
    step = kit.counter(tf)
    story = []
    lost = kit.recorder(tf, story, before_run=kit.failing(kit.aborted(tf), 3))
    return ran(tf, kit, [tf.train.StopAtStepHook(num_steps=4), lost], 9, step)[:2]


@program
def stop_where_the_step_is_ahead_of_the_fetch(tf, kit):
    """The step that a hook fetches may come from before the update; it looks again."""
    counter = tf.train.get_or_create_global_step()
    with tf.control_dependencies([tf.identity(counter)]):
        one = tf.assign_add(counter, 2)
    return ran(tf, kit, [tf.train.StopAtStepHook(last_step=3)], 9, one)


@program
def logging_tensors(tf, kit):
    found = []
    for options in (
        dict(every_n_iter=2),
        dict(every_n_iter=1, at_end=True),
        dict(at_end=True),
        dict(every_n_iter=2, formatter=lambda values: "so " + ", ".join(sorted(values))),
        dict(every_n_secs=1000.0),
    ):
        with tf.Graph().as_default():
            step = kit.counter(tf)
            tf.constant(1.5, name="a")
            tf.constant([1, 2], name="b")
            hook = tf.train.LoggingTensorHook({"x": "a:0", "y": "b"}, **options)
            found.append(ran(tf, kit, [hook], 4, step))
    return found


@program
def logging_a_list_of_tensors(tf, kit):
    step = kit.counter(tf)
    a, b = tf.constant(1.5, name="a"), tf.constant(b"text", name="b")
    return [
        ran(tf, kit, [tf.train.LoggingTensorHook([b, a, step], every_n_iter=1)], 1, step),
        kit.said(tf.train.LoggingTensorHook, [a]),
        kit.said(tf.train.LoggingTensorHook, [a], 1, 1),
        kit.said(tf.train.LoggingTensorHook, [a], 0),
        kit.said(tf.train.LoggingTensorHook, [a], -1, at_end=True),
    ]


@program
def timers(tf, kit):
    found = []
    for options in (
        dict(every_steps=3),
        dict(every_secs=1000.0),
        dict(),
        dict(every_secs=1, every_steps=2),
    ):
        timer = kit.said(tf.train.SecondOrStepTimer, **options)
        if isinstance(timer, str):
            found.append(timer)
            continue
        one = [timer.last_triggered_step(), timer.should_trigger_for_step(1)]
        one.append(timer.update_last_triggered_step(1))
        one.append([timer.should_trigger_for_step(step) for step in (1, 2, 3, 4, 5)])
        elapsed, steps = timer.update_last_triggered_step(5)
        one += [elapsed >= 0, steps, timer.last_triggered_step()]
        timer.reset()
        one += [timer.last_triggered_step(), timer.should_trigger_for_step(5)]
        found.append(one)
    return found


@program
def counting_steps(tf, kit):
    found = []
    with kit.folder() as path:
        step = kit.counter(tf)
        hook = tf.train.StepCounterHook(every_n_steps=2, output_dir=path)
        found.append(ran(tf, kit, [hook], 7, step)[:2])
        tf.summary.FileWriterCache.clear()
        found.append(kit.events(tf, path))
    with tf.Graph().as_default():
        found.append(kit.said(tf.train.MonitoredSession, hooks=[tf.train.StepCounterHook()]))
    found.append(kit.said(tf.train.StepCounterHook, 1, 1))
    found.append(kit.said(tf.train.StepCounterHook, None))
    return found


@program
def a_step_that_does_not_count(tf, kit):
    tf.train.get_or_create_global_step()
    hook = tf.train.StepCounterHook(every_n_steps=1)
    got = ran(tf, kit, [hook], 65, tf.constant(1))
    return [got[0], got[1], got[2]]


@program
def saving_summaries(tf, kit):
    found = []
    for options in (dict(save_steps=2), dict(save_steps=1), dict(save_secs=1000)):
        with tf.Graph().as_default(), kit.folder() as path:
            step = kit.counter(tf)
            tf.summary.scalar("s", tf.cast(step, tf.float32))
            hook = tf.train.SummarySaverHook(
                output_dir=path, summary_op=tf.summary.merge_all(), **options
            )
            got = ran(tf, kit, [hook], 5, step)
            tf.summary.FileWriterCache.clear()
            found.append([got, kit.events(tf, path)])
    return found


@program
def saving_summaries_of_a_scaffold(tf, kit):
    with kit.folder() as path:
        step = kit.counter(tf)
        tf.summary.scalar("s", tf.cast(step, tf.float32))
        scaffold = tf.train.Scaffold()
        writer = tf.summary.FileWriter(path)
        hook = tf.train.SummarySaverHook(save_steps=1, summary_writer=writer, scaffold=scaffold)
        with tf.train.MonitoredSession(
            tf.train.ChiefSessionCreator(scaffold), hooks=[hook]
        ) as session:
            session.run(step)
        writer.close()
        found = kit.events(tf, path)
    wrong = tf.train.SummarySaverHook
    return [
        found,
        kit.said(wrong, save_steps=1),
        kit.said(wrong, 1, None, "x", None, scaffold, step),
        kit.said(wrong, summary_op=step),
        kit.said(wrong, 1, 1, summary_op=step),
    ]


@program
def no_summary_to_save(tf, kit):
    with kit.folder() as path:
        step = kit.counter(tf)
        hook = tf.train.SummarySaverHook(1, output_dir=path, scaffold=tf.train.Scaffold())
        got = ran(tf, kit, [hook], 2, step)
        tf.summary.FileWriterCache.clear()
        return [got, kit.events(tf, path)]


@program
def several_summaries_to_save(tf, kit):
    with kit.folder() as path:
        step = kit.counter(tf)
        ops = [tf.summary.scalar("s", 1.0), tf.summary.scalar("t", 1.0)]
        hook = tf.train.SummarySaverHook(1, output_dir=path, summary_op=ops)
        got = ran(tf, kit, [hook], 2, step)
        tf.summary.FileWriterCache.clear()
        return [got, kit.events(tf, path)]


@program
def saving_checkpoints(tf, kit):
    found = []
    for options in (dict(save_steps=2), dict(save_secs=1000), dict(save_steps=100)):
        with tf.Graph().as_default(), kit.folder() as path:
            step = kit.counter(tf)
            scaffold = tf.train.Scaffold()
            hook = tf.train.CheckpointSaverHook(path, scaffold=scaffold, **options)
            values = []
            with kit.logged(path) as lines:
                with tf.train.MonitoredSession(
                    tf.train.ChiefSessionCreator(scaffold), hooks=[hook]
                ) as session:
                    for _ in range(5):
                        values.append(
                            [
                                kit.plain(session.run(step)),
                                os.path.basename(tf.train.latest_checkpoint(path)),
                            ]
                        )
            tf.summary.FileWriterCache.clear()
            found.append([values, lines, kit.files(path), kit.events(tf, path)])
    return found


@program
def a_checkpoint_hook_that_is_wrong(tf, kit):
    hook = tf.train.CheckpointSaverHook
    found = [
        kit.said(hook, "x"),
        kit.said(hook, "x", 1, 1),
        kit.said(hook, "x", 1, saver=1, scaffold=tf.train.Scaffold()),
    ]
    with kit.folder() as path:
        found.append(kit.said(tf.train.MonitoredSession, hooks=[hook(path, 1)]))
        tf.summary.FileWriterCache.clear()
    return found


@program
def listeners_of_checkpoints(tf, kit):
    story = []

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            story.append("begin")

        def before_save(self, session, step):
            story.append(["before", kit.plain(step), type(session).__name__])

        def after_save(self, session, step):
            story.append(["after", kit.plain(step)])
            return step >= 4

        def end(self, session, step):
            story.append(["end", kit.plain(step)])

    with kit.folder() as path:
        step, scaffold = kit.counter(tf), tf.train.Scaffold()
        hook = tf.train.CheckpointSaverHook(
            path,
            save_steps=2,
            scaffold=scaffold,
            checkpoint_basename="mine",
            listeners=[Listener(), tf.train.CheckpointSaverListener()],
        )
        creator = tf.train.ChiefSessionCreator(scaffold)
        with kit.logged(path) as lines:
            with tf.train.MonitoredSession(creator, hooks=[hook]) as session:
                while not session.should_stop():
                    story.append(kit.plain(session.run(step)))
        tf.summary.FileWriterCache.clear()
        return [story, kit.files(path), lines]


@program
def waiting_for_a_step(tf, kit):
    step = kit.counter(tf)
    found = [ran(tf, kit, [tf.train.GlobalStepWaiterHook(0)], 2, step)]
    with tf.Graph().as_default():
        found.append(kit.said(tf.train.MonitoredSession, hooks=[tf.train.GlobalStepWaiterHook(2)]))
    return found


@program
def final_ops(tf, kit):
    step = kit.counter(tf)
    x = tf.placeholder(tf.float32, [])
    hook = tf.train.FinalOpsHook({"a": "global_step:0", "b": x * 1.0}, {x: 3.0})
    none = tf.train.FinalOpsHook(None)
    found = [hook.final_ops_values]
    found += ran(tf, kit, [hook, none], 2, step)
    return [*found, kit.plain(hook.final_ops_values), none.final_ops_values]


@program
def final_ops_that_fail(tf, kit):
    step, queue = kit.counter(tf), tf.FIFOQueue(1, tf.int32)
    element = queue.dequeue()
    close = kit.recorder(tf, [], end=lambda session: session.run("fifo_queue_Close"))
    queue.close()
    return ran(tf, kit, [close, tf.train.FinalOpsHook(element)], 1, step)


@program
def feeding_by_a_function(tf, kit):
    x, count = tf.placeholder(tf.float32, [], name="x"), []

    def feed():
        count.append(1)
        return {x: len(count)}

    return ran(tf, kit, [tf.train.FeedFnHook(feed)], 3, x)


@program
def a_loss_that_is_no_number(tf, kit):
    found = []
    for fail in (True, False):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [], name="x")
            hook = tf.train.NanTensorHook(x, fail_on_nan_loss=fail)

            def feeds(number):
                return {x: [1.0, float("inf"), float("nan"), 1.0][number]}

            found.append(ran(tf, kit, [hook], 4, tf.constant(1), feeds))
    error = tf.train.NanLossDuringTrainingError()
    return [*found, str(error), isinstance(error, RuntimeError)]


@program
def profiles(tf, kit):
    found = []
    with kit.folder() as path:
        step = kit.counter(tf)
        found.append(
            ran(tf, kit, [tf.train.ProfilerHook(save_steps=2, output_dir=path)], 5, step)[:2]
        )
        found.append(kit.files(path))
        tf.summary.FileWriterCache.clear()
        found.append(kit.events(tf, path))
        with open(os.path.join(path, found[1][-1])) as file:
            found.append("traceEvents" in file.read())
    with tf.Graph().as_default():
        found.append(kit.said(tf.train.MonitoredSession, hooks=[tf.train.ProfilerHook(1)]))
    return [*found, kit.said(tf.train.ProfilerHook), kit.said(tf.train.ProfilerHook, 1, 1)]


# MonitoredTrainingSession

NEWEST = 9  # events: two files that begin in one second have one name in TensorFlow


def trained(tf, kit, path, times, **options):
    """Train under a MonitoredTrainingSession with a folder, and return what is there after."""
    step = kit.counter(tf)
    tf.summary.scalar("s", tf.cast(step, tf.float32))
    values = []
    with kit.logged(path) as lines:
        with tf.train.MonitoredTrainingSession(checkpoint_dir=path, **options) as session:
            for _ in range(times):
                values.append(kit.plain(session.run(step)))
    tf.summary.FileWriterCache.clear()
    return [values, lines, kit.files(path), kit.events(tf, path)[-NEWEST:]]


@program
def training_in_a_folder(tf, kit):
    with kit.folder() as path:
        found = []
        for times in (3, 2):
            with tf.Graph().as_default():
                found.append(trained(tf, kit, path, times))
    return found


@program
def training_with_options(tf, kit):
    found = []
    for options in (
        dict(save_checkpoint_steps=2, save_summaries_steps=1, log_step_count_steps=2),
        dict(save_checkpoint_secs=None, save_summaries_steps=None, log_step_count_steps=None),
        dict(save_checkpoint_secs=None, save_summaries_secs=1000),
        dict(
            save_checkpoint_secs=None,
            save_checkpoint_steps=None,
            save_summaries_steps=2,
            save_summaries_secs=None,
            log_step_count_steps=0,
        ),
        dict(save_checkpoint_secs=1000, save_checkpoint_steps=1),
        dict(save_summaries_steps=0, save_checkpoint_secs=0),
    ):
        with kit.folder() as path, tf.Graph().as_default():
            found.append(kit.said(trained, tf, kit, path, 4, **options))
            tf.summary.FileWriterCache.clear()
    return found


@program
def training_with_a_folder_for_summaries(tf, kit):
    with kit.folder() as path, kit.folder() as other:
        step = kit.counter(tf)
        tf.summary.scalar("s", tf.cast(step, tf.float32))
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=path, summary_dir=other, save_summaries_steps=1
        ) as session:
            session.run(step)
        tf.summary.FileWriterCache.clear()
        return [kit.files(path), kit.files(other), kit.events(tf, path), kit.events(tf, other)]


@program
def training_without_a_folder(tf, kit):
    story, step = [], kit.counter(tf)
    hooks = [kit.recorder(tf, story, "all")]
    chief = [kit.recorder(tf, story, "chief")]
    with kit.logged() as lines:
        with tf.train.MonitoredTrainingSession(hooks=hooks, chief_only_hooks=chief) as session:
            session.run(step)
        story.append("worker")
        options = dict(is_chief=False, hooks=hooks, chief_only_hooks=chief, max_wait_secs=0)
        story.append(kit.said(tf.train.MonitoredTrainingSession, **options))
    return [story, lines]


@program
def a_loss_between_two_checkpoints(tf, kit):
    step, story = kit.counter(tf), []
    with kit.folder() as path, kit.logged(path) as lines:
        lost = kit.recorder(tf, story, "lost", before_run=kit.failing(kit.aborted(tf), 6))
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=path, save_checkpoint_steps=2, hooks=[lost], log_step_count_steps=None
        ) as session:
            for _ in range(7):
                story.append(kit.plain(session.run(step)))
        tf.summary.FileWriterCache.clear()
        return [story, lines, kit.files(path)]


@program
def the_saver_of_a_checkpoint_hook(tf, kit):
    found, hook = [], tf.train.CheckpointSaverHook
    with kit.folder() as path, kit.folder() as other:
        step, saver = kit.counter(tf), tf.train.Saver()
        mine = hook(path, 100, saver=saver, checkpoint_basename="x")
        for hooks, place in (([mine], path), ([hook(other, 100)], other)):
            with tf.train.MonitoredSession(hooks=hooks) as session:
                session.run(step)
            found += [kit.files(place), len(tf.get_collection("savers"))]
        tf.add_to_collection("savers", saver)
        found.append(kit.said(tf.train.MonitoredSession, hooks=[hook(path, 1)]).split(".")[0])
        tf.summary.FileWriterCache.clear()
    return found
