"""Whether the process that something belongs to still runs."""

import os
import subprocess
import sys
from dataclasses import replace

from tests.launch.waiting import is_gone, wait_until
from tfdist.launch.owner import start_of, this_process


def test_this_process_runs():
    owner = this_process()
    assert owner.pid == os.getpid()
    assert owner.is_here
    assert owner == this_process()
    assert not owner.is_gone


def test_a_process_that_ended_is_gone_even_if_nobody_waited_for_it():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        owner = replace(this_process(), pid=child.pid, started=start_of(child.pid))
        assert not owner.is_gone
        assert owner != this_process()
        child.stdin.close()
        wait_until(lambda: is_gone(child.pid))
        assert owner.is_gone


def test_a_process_id_that_is_used_again_is_another_process():
    assert replace(this_process(), started="long ago").is_gone


def test_of_other_hosts_nothing_is_known():
    owner = replace(this_process(), host="elsewhere", started="long ago")
    assert not owner.is_here
    assert not owner.is_gone
