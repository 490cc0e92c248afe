"""Bars of progress: in loops, as hooks, over datasets; what they count and say."""

import io

import pytest

import tfdist as tf
from tfdist.graph.scopes import reset_default_graph
from tfdist.training.sessions.progress import Progress


@pytest.fixture(autouse=True)
def graph():
    reset_default_graph()
    yield
    reset_default_graph()


@pytest.fixture
def text():
    """Return where a bar writes."""
    return io.StringIO()


def last(text):
    return text.getvalue().strip().split("\r")[-1].strip()


def test_a_loop_sees_its_elements_and_the_bar_ends_full(text):
    assert list(Progress(range(3), file=text, delay=0)) == [0, 1, 2]
    assert last(text).startswith("100%|")
    assert "3/3 [" in last(text)
    assert last(text).endswith(" steps/s]")


def test_what_is_over_at_once_shows_nothing(text):
    assert sum(Progress(range(100), file=text)) == 4950
    assert text.getvalue() == ""


def test_values_come_with_the_next_step_that_is_shown(text):
    with Progress(total=4, file=text, delay=0) as bar:
        for i in range(3):
            bar.set_postfix(loss=i / 2)
            bar.update()
    assert "3/4 [" in last(text)
    assert last(text).endswith("loss=1]")


def trained(hook, steps=5):
    """Run some steps with a hook."""
    x = tf.Variable(1.0)
    loss = tf.square(x, name="loss")
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.0).minimize(loss, global_step=step)
    stop = tf.train.StopAtStepHook(last_step=steps)
    with tf.train.MonitoredSession(hooks=[stop, hook]) as session:
        while not session.should_stop():
            session.run(train)


def test_a_hook_counts_global_steps_and_shows_the_loss(text):
    hook = Progress(total=5, loss="loss:0", file=text, delay=0)
    trained(hook)
    assert hook.n == 5
    assert last(text).startswith("100%|")
    assert last(text).endswith("loss=1]")


def test_a_hook_begins_where_a_checkpoint_brought_it(tmp_path):
    for steps, text in ((3, io.StringIO()), (5, io.StringIO())):
        reset_default_graph()
        hook = Progress(total=5, file=text, delay=0)
        step = tf.train.get_or_create_global_step()
        add = tf.assign_add(step, 1)
        stop = tf.train.StopAtStepHook(last_step=steps)
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path),
            hooks=[stop, hook],
            log_step_count_steps=None,
            save_summaries_steps=None,
            save_summaries_secs=None,
        ) as session:
            while not session.should_stop():
                session.run(add)
        assert hook.n == steps
    assert hook.initial == 3
    tf.summary.FileWriterCache.clear()


def test_without_a_global_step_a_hook_counts_runs(text):
    one, hook = tf.constant(1.0), Progress(total=3, file=text, delay=0)
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        for _ in range(3):
            session.run(one)
    assert hook.n == 3


@pytest.mark.parametrize("has_session", [True, False])
def test_the_elements_of_a_dataset_are_fetched(text, has_session):
    dataset = tf.data.Dataset.range(5).batch(2)
    bar = Progress(dataset, file=text, delay=0)
    assert bar.total == 3
    if has_session:
        with tf.Session():
            found = [each.tolist() for each in bar]
    else:
        found = [each.tolist() for each in bar]
    assert found == [[0, 1], [2, 3], [4]]
    assert "3/3 [" in last(text)


def test_a_dataset_without_an_end_has_no_total():
    bar = Progress(tf.data.Dataset.range(5).repeat(), disable=True)
    assert bar.total is None
    assert int(next(iter(bar))) == 0
