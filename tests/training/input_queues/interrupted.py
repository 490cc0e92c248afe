"""Programs with queue runners that Ctrl-C ends; started by `test_queue_runner`."""

import subprocess
import sys
import threading

PROGRAMS = ["joins", "takes", "takes_without_coordinator"]


def start(name: str) -> subprocess.Popen[str]:
    """Return the process of a program; it says "ready" when it can be interrupted."""
    words = [sys.executable, "-m", "tests.training.input_queues.interrupted", name]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def main(name: str) -> None:
    """Start runners without end, and wait for what does not come."""
    import tfdist as tf
    from tests.runtime.blocking import until

    queue = tf.FIFOQueue(5, [tf.int32], shapes=[[]])
    empty = tf.FIFOQueue(5, [tf.int32], shapes=[[]])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1)] * 2)
    session = tf.Session()
    coordinator = None if name == "takes_without_coordinator" else tf.train.Coordinator()
    threads = runner.create_threads(session, coordinator, start=True)
    full = queue.size()
    until(lambda: session.run(full) == 5)
    taken = empty.dequeue()
    timer = threading.Timer(0.2, print, ["ready"], {"flush": True})
    timer.start()
    if name == "joins":
        coordinator.join(threads)
    else:
        session.run(taken)


if __name__ == "__main__":
    main(*sys.argv[1:])
