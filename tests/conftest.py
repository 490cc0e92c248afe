"""What holds for every test: nothing outlives it, and no cluster meets those of the user."""

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 20.0  # seconds in which threads may end and ports may close, on a busy machine
LISTENING = "0A"  # the state's name in /proc/net/tcp
OPEN_FILES = "/proc/self/fd"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Spare collections of garbage the walk over thousands of tests: while these and after."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def own_runtime_folder(tmp_path_factory) -> Iterator[None]:
    """Let clusters of the tests, and of processes that they start, find each other's files only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        yield


@pytest.fixture(scope="session", autouse=True)
def idle_threads_end_soon() -> Iterator[None]:
    """Let threads of servers that have nothing to do end at once: each test waits for that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tfdist.wire.common.thread_pool.IDLE", 0.02)
        yield


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_is_heard() -> None:
    """Undo what a shell does that starts the tests in the background: they would ignore Ctrl-C."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def no_garbage() -> None:
    """Let no session that an earlier test dropped count among those of this process."""
    gc.collect()


@pytest.fixture(scope="module", autouse=True)
def no_session_outlives_its_file() -> Iterator[None]:
    """Fail a file that leaves a session of this process open: a census counts it for good."""
    before = set(map(id, open_sessions()))
    yield
    keras = sys.modules.get("tfdist.keras_impl.backend.sessions")
    if keras is not None:  # which keeps one session, as TensorFlow does
        keras.clear_session()
    if set(map(id, open_sessions())) - before:
        gc.collect()
    left = [master for master in open_sessions() if id(master) not in before]
    assert not left, f"sessions outlived the file: {left}"


@pytest.fixture(autouse=True)
def nothing_outlives_its_test() -> Iterator[None]:
    """Fail a test that leaves a thread or a listening port behind.

    What a fixture of wider scope started before the test is not the test's.
    """
    threads, sockets = live_threads(), socket_inodes()
    yield
    deadline = time.monotonic() + PATIENCE
    left_threads = remaining(lambda: live_threads() - threads, deadline)
    left_ports = remaining(lambda: listening_ports(socket_inodes() - sockets), deadline)
    assert not left_threads, f"threads outlived the test: {left_threads}"
    assert not left_ports, f"ports outlived the test: {left_ports}"


def open_sessions() -> list[Any]:
    """Return the masters in this process that have sessions, if tfdist is imported at all."""
    masters = sys.modules.get("tfdist.runtime.task.masters")
    return [each for each in masters.local_masters() if each.is_open] if masters else []


def live_threads() -> set[threading.Thread]:
    """Return the threads that Python started.

    Dummies stand for threads of C libraries that once called Python; nobody can join those.
    """
    return {t for t in threading.enumerate() if not isinstance(t, threading._DummyThread)}


def remaining(find: Callable[[], Collection[Any]], deadline: float) -> Collection[Any]:
    """Return what `find` still finds at `deadline`, or nothing as soon as it finds nothing."""
    while (found := find()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def listening_ports(sockets: set[str]) -> list[int]:
    """Return the ports on which those TCP sockets listen; on Linux only.

    The tables are long to read (5 ms): only for a test that left a socket open.
    """
    tables = ("/proc/net/tcp", "/proc/net/tcp6") if sockets else ()
    rows = (row for table in tables for row in table_rows(Path(table)))
    return sorted(port for inode, port in rows if inode in sockets)


def socket_inodes() -> set[str]:
    """Return the inodes of this process's open sockets; asked twice by each test, so in haste."""
    files = os.listdir(OPEN_FILES) if os.path.isdir(OPEN_FILES) else ()
    links = map(link_target, files)
    return {link[len("socket:[") : -1] for link in links if link.startswith("socket:[")}


def link_target(file: str) -> str:
    """Return what an open file of this process is, or nothing when it was closed meanwhile."""
    try:
        return os.readlink(f"{OPEN_FILES}/{file}")
    except OSError:
        return ""


def table_rows(table: Path) -> Iterator[tuple[str, int]]:
    """Yield (inode, port) of the listening sockets in a table of /proc/net."""
    rows = table.read_text().splitlines()[1:] if table.exists() else []
    for row in rows:
        columns = row.split()
        if columns[3] == LISTENING:
            yield columns[9], int(columns[1].rpartition(":")[2], 16)
