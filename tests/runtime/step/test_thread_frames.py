"""To ask where all threads are ends, whatever they do meanwhile."""

import subprocess
import sys

from tests.runtime.blocking import PATIENCE

# In a process of its own, for what it guards against stops all threads of one. A file that is
# closed lets another thread run; a collection at every few objects comes at any moment.
PROGRAM = """
import gc, os, sys, threading, warnings
from tfdist.runtime.step.thread_frames import thread_frames

warnings.simplefilter("ignore")
gc.set_threshold(50)
sys.setswitchinterval(1e-6)
over = threading.Event()

def litter():
    while not over.is_set():
        pair = [open(os.devnull)]
        pair.append(pair)

def begin_and_end_threads():
    while not over.is_set():
        threading.Thread(target=int).start()

threads = [threading.Thread(target=litter), threading.Thread(target=begin_and_end_threads)]
for thread in threads:
    thread.start()
own = threading.get_ident()
assert all(own in thread_frames() for _ in range(150_000))
over.set()
for thread in threads:
    thread.join()
print("collects" if gc.isenabled() else "collects no more")
"""


def test_threads_begin_and_end_and_garbage_is_collected_meanwhile():
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (ran.stdout, ran.stderr) == ("collects\n", "")
