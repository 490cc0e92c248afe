"""Signs of life: who is silent and uses no processor is frozen; the faults' rows 7 and 8 do it."""

import os
import signal
import subprocess
import sys
import time

from tests.runtime.blocking import until
from tfdist.wire.frames.signs_of_life import Progress, processor_time


def test_who_uses_the_processor_makes_progress():
    progress, end = Progress(os.getpid()), time.process_time() + 0.05
    assert progress.is_there()  # it was not looked at before
    while time.process_time() < end:
        pass
    assert progress.is_there()


def test_who_is_stopped_makes_none():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            until(lambda: processor_time(process.pid) > 0)
            os.kill(process.pid, signal.SIGSTOP)
            os.waitpid(process.pid, os.WUNTRACED)
            progress = Progress(process.pid)
            assert [progress.is_there() for _ in range(3)] == [True, False, False]
            progress.forget()
            assert progress.is_there()
        finally:
            process.kill()


def test_nothing_is_told_of_a_process_that_is_not_there():
    progress = Progress(0)
    assert processor_time(0) == -1.0
    assert [progress.is_there(), progress.is_there()] == [True, False]
