"""%why: what waits, from another cell while it does."""

import pytest
from IPython.core.error import UsageError

import tfdist as tf
from tests.jupyter.test_watch import QUEUE
from tests.runtime.blocking import Call, until


@pytest.fixture
def waiting(on_cluster):
    """Yield a notebook with a thread that waits for an element of an empty queue."""
    on_cluster.run(QUEUE)
    session, take, put = map(on_cluster.value, ("sess", "take", "put"))
    call = Call(session.run, take)
    until(lambda: any(row.stock for row in tf.why().rows()))
    yield on_cluster
    session.run(put)
    call.result()


def test_nothing_waits(on_cluster):
    assert on_cluster.text("%why") == "Nothing is in flight: no step runs or waits."


def test_text_table_and_picture(waiting):
    table, picture = waiting.run("%why")
    text = table["text/plain"]
    assert "fifo_queue_Dequeue on /job:ps/task:0" in text
    assert "dequeue on queue 'numbers' waits for 1 more element (it holds 0 of 3)" in text
    assert "fifo_queue_enqueue (QueueEnqueueV2) could, but no running step has it" in text
    assert "fifo_queue_Dequeue" in table["text/html"]
    assert "image/png" in picture


def test_nothing_that_changes_is_shown_when_outputs_are_compared(waiting):
    waiting.run("%config TFDist.live = 'off'")
    assert waiting.text("%why") == waiting.text("%why")


def test_as_text(waiting):
    waiting.run("%config TFDist.live = 'text'")
    [shown] = waiting.run("%why")
    assert set(shown) == {"text/plain"}


def test_a_server_can_be_asked_and_the_answer_kept(waiting):
    assert waiting.run(f"%why -q -o found {waiting.value('cluster').target('ps')}") == []
    assert len(waiting.value("found").rows()) >= 1


def test_what_why_returns_is_displayed_richly(waiting):
    [shown] = waiting.run("from IPython.display import display\ndisplay(tf.why())")
    assert shown["text/html"].count("<table") == 1


def test_a_cluster_that_does_not_run_is_a_usage_error(notebook):
    with pytest.raises(UsageError, match="%why nobody: no cluster 'nobody' runs"):
        notebook.run("%why nobody")


def test_help(notebook, capsys):
    notebook.run("%why -h")
    assert "%why grpc://HOST:PORT" in capsys.readouterr().out
