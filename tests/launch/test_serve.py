"""`tfdist serve` as others see it: a line, an exit code, and that it ends with its parent."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap

from tests.launch.waiting import PATIENCE, is_gone, wait_until

SERVE = [sys.executable, "-W", "error", "-m", "tfdist", "serve"]


@contextlib.contextmanager
def serving(*options, **environment):
    """Yield a server's process when it has printed its line, and that line."""
    process = subprocess.Popen(
        [*SERVE, *options], env=os.environ | environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        try:
            yield process, process.stdout.readline()
        finally:
            process.kill()


def ended(process):
    """Return (exit code, what it printed since, its standard error)."""
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def test_a_server_says_where_it_serves_until_it_is_told_to_end(tmp_path):
    ready = tmp_path / "ready"
    config = '{"cluster": {"worker": ["127.0.0.1:0"]}, "task": {"type": "worker", "index": 0}}'
    with serving("--ready-file", str(ready), TF_CONFIG=config) as (process, line):
        wanted = (
            r"tfdist: /job:worker/task:0 serves at grpc://127\.0\.0\.1:\d+ \(pid (\d+)\); "
            r"Ctrl-C stops it\n"
        )
        assert re.fullmatch(wanted, line)[1] == str(process.pid)
        wait_until(ready.exists)
        assert ready.read_text() == line
        process.send_signal(signal.SIGTERM)
        assert ended(process) == (0, "tfdist: /job:worker/task:0 stopped\n", "")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_ends_a_server_with_a_line():
    with serving("--cluster", "x=127.0.0.1:0") as (process, line):
        assert "/job:x/task:0" in line
        process.send_signal(signal.SIGINT)
        assert ended(process) == (0, "tfdist: /job:x/task:0 stopped\n", "")


def test_a_killed_server_writes_no_last_words():
    with serving("--cluster", "x=127.0.0.1:0") as (process, _):
        process.kill()
        assert ended(process) == (-signal.SIGKILL, "", "")


def test_a_server_whose_output_nobody_reads_any_more_ends_well():
    with serving("--cluster", "x=127.0.0.1:0") as (process, _):
        process.stdout.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == ""


def test_a_taken_port_is_a_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with serving("--cluster", f"x=127.0.0.1:{port}") as (process, line):
            assert line == ""
            code, _, said = ended(process)
    assert code == 138
    assert said.startswith(f"tfdist: port {port} is taken (")
    assert "by another program; `ss -ltnp` shows which, or give this task another port" in said
    assert said.count("\n") == 1


NOWHERE = ["--cluster", "x=no-such-host.invalid:0"]  # RFC 6761: no host has such a name


def test_a_name_that_is_not_this_host_is_waited_for_and_may_be_tried_again():
    with serving(*NOWHERE, TFDIST_TIMEOUTS="session=0.1") as (process, line):
        assert line == ""
        code, _, said = ended(process)
    assert code == 138
    first, last = said.splitlines()
    assert first.startswith("tfdist: no-such-host.invalid is not this host (no such host); waits")
    assert "no-such-host.invalid is not yet this host (no such host) after 0.1 s" in last
    assert "TFDIST_TIMEOUTS=session=120" in last


def test_a_server_that_waits_for_its_name_can_be_ended():
    with subprocess.Popen([*SERVE, *NOWHERE], stderr=subprocess.PIPE, text=True) as process:
        assert "waits for that, 30 s at most" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        assert ended(process) == (0, None, "")


def test_an_address_of_another_host_is_not_waited_for():
    with serving("--cluster", "x=192.0.2.1:0") as (process, _):  # RFC 5737: no host has it
        code, _, said = ended(process)
    assert code == 1
    assert said.startswith("tfdist: 192.0.2.1:0 is not an address of this machine")


def test_a_server_ends_when_its_lifeline_ends():
    with serving("--cluster", "x=127.0.0.1:0", "--parent") as (process, line):
        process.stdin.close()
        process.stdin = None
        code, out, err = ended(process)
    assert (code, out) == (0, "")
    assert err == line + "tfdist: /job:x/task:0 stopped\n"  # the log has both


# A process that starts a server and, without exec, a child that holds the server's lifeline.
PARENT = textwrap.dedent(
    """
    import os, signal, subprocess, sys
    command = [*sys.argv[1:], "--parent", "--cluster", "x=127.0.0.1:0"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    server.stdout.readline()
    child = os.fork()
    if child:
        print(server.pid, child, flush=True)
    signal.pause()
    """
)


def test_a_server_ends_with_a_killed_parent_whose_child_holds_the_lifeline():
    command = [sys.executable, "-c", PARENT, *SERVE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        server, child = map(int, parent.stdout.readline().split())
        try:
            parent.kill()
            wait_until(lambda: is_gone(server))
            assert not is_gone(child)
        finally:
            os.kill(child, signal.SIGKILL)


def test_malloc_keeps_memory_where_the_user_did_not_say_otherwise():
    code = "from tfdist.launch.allocator import *; print(keep_memory({}), keep_memory(SETTINGS))"
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert finished.stdout in ("True True\n", "False False\n")  # the latter without glibc
