"""Code in the process of a task: what comes back, what is refused, what an interrupt does."""

import signal
import socket
import sys
import threading

import pytest

from tests.launch.waiting import wait_until
from tfdist.errors import UnavailableError, UnimplementedError
from tfdist.launch.cell_channel import CellChannel, CellResult
from tfdist.launch.cells import CellRunner
from tfdist.launch.start import start_cluster


@pytest.fixture
def channel():
    """Yield what runs code in this process."""
    ours, theirs = socket.socketpair()
    names = {"done": threading.Event()}
    runner = CellRunner(theirs, names)
    thread = threading.Thread(target=runner.serve)
    thread.start()
    found = CellChannel(ours, "worker:1")
    found.names, found.runner = names, runner
    yield found
    found.close()
    thread.join()
    runner._file.close()
    theirs.close()


def ran(channel, code):
    written = []
    return channel.run(code, written.append), "".join(written)


def test_names_stay_and_the_last_value_comes_back(channel):
    assert ran(channel, "x = 20\ny = x + 1") == (CellResult(None, None), "")
    assert ran(channel, "y * 2") == (CellResult("42", None), "")


def test_what_it_prints_comes_as_it_is_printed_and_nobody_elses(channel, capsys):
    before = sys.stdout
    found, written = ran(channel, "import sys\nprint('a\\nß')\nprint('b', file=sys.stderr)")
    assert (found, written) == (CellResult(None, None), "a\nß\nb\n")
    assert sys.stdout is before
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("1 / 0", ["<cell 1>", "1 / 0", "ZeroDivisionError: division by zero"]),
        ("x = (", ["<cell 1>", "SyntaxError: '(' was never closed"]),
        ("raise SystemExit(3)", ["SystemExit: 3"]),
    ],
)
def test_an_error_is_its_traceback_from_the_code_on(channel, code, told):
    found, _ = ran(channel, code)
    assert found.value is None
    for each in told:
        assert each in found.error
    assert "cells.py" not in found.error
    assert ran(channel, "1 + 1")[0].value == "2"


def test_ctrl_c_interrupts_it_and_comes_out(channel):
    begun = threading.Event()
    channel.names["begun"] = begun

    def interrupt():
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        channel.run("begun.set()\nwhile not done.wait(0.001): pass", lambda text: None)
    thread.join()
    wait_until(lambda: channel.runner._runs is None)
    assert ran(channel, "'the next one'")[0].value == "'the next one'"


def test_ctrl_c_at_any_moment_interrupts_it(channel):
    """Just as it is sent, too: nothing runs on, and the channel takes the next one."""

    def interrupted(*_):
        raise KeyboardInterrupt

    def run_for(seconds):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        channel.run("while not done.wait(0.001): pass  # " + "x" * 10_000, print)

    before = signal.signal(signal.SIGALRM, interrupted)
    try:
        for micros in range(1, 400, 7):
            with pytest.raises(KeyboardInterrupt):
                run_for(micros * 1e-6)
            wait_until(lambda: channel.runner._runs is None)
            assert ran(channel, "'the next one'")[0].value == "'the next one'"
    finally:
        signal.signal(signal.SIGALRM, before)


def test_what_does_not_end_is_in_the_way_until_it_does(channel, monkeypatch):
    monkeypatch.setattr("tfdist.launch.cell_channel.PATIENCE", 0.1)
    begun = threading.Event()
    channel.names["begun"] = begun
    stubborn = """
try:
    begun.set()
    while not done.wait(0.001): pass
except KeyboardInterrupt:
    done.wait()
"""
    thread = threading.Thread(target=lambda: (begun.wait(), signal.raise_signal(signal.SIGINT)))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        channel.run(stubborn, lambda text: None)
    thread.join()
    assert "another cell still runs" in ran(channel, "1")[0].error
    channel.names["done"].set()
    wait_until(lambda: channel.runner._runs is None)
    assert ran(channel, "2")[0].value == "2"


def test_the_process_of_a_task_runs_it():
    with start_cluster({"worker": 2}, "cells", processes=True).require() as cluster:
        pids = [cluster.run_on(f"worker:{i}", "import os; os.getpid()", print) for i in range(2)]
        assert [int(each.value) for each in pids] == [server.pid for server in cluster.servers]
        cluster.kill("worker:1")
        with pytest.raises(UnavailableError, match="has ended; %cluster restart worker:1 starts"):
            cluster.run_on("worker:1", "1", print)
        cluster.restart("worker:1")
        assert cluster.run_on("worker:1", "1", print).value == "1"


def test_tasks_of_this_process_run_nothing():
    with start_cluster({"worker": 1}, "here").require() as cluster:
        with pytest.raises(UnimplementedError, match="only servers that this kernel started"):
            cluster.run_on("worker:0", "1", print)
