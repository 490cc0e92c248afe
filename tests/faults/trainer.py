"""A training program: a counter on a parameter server, checkpoints, and a line for each step.

`python trainer.py TARGET FOLDER chief|worker` runs it in a process of its own, until its standard
input ends.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import tfdist as tf

SAVE_STEPS = 10
PAUSE = 0.01  # seconds between two steps, so that checkpoints are some steps apart, not hundreds
PATIENCE = 60.0  # seconds that a worker waits for the chief


def train(
    target: str,
    folder: Path,
    is_chief: bool,
    tell: Callable[[int, float], None],
    stop: threading.Event,
) -> None:
    """Count until the stop.

    Args:
      target: of the session.
      folder: for checkpoints.
      is_chief: whether this is the chief.
      tell: called after each step with the global step and another variable, which was set to the
        same number.
      stop: ends the training.
    """
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            step = tf.assign_add(tf.train.create_global_step(), 1, use_locking=True)
            value = tf.Variable(0.0, name="value")
            set_value = tf.assign(value, tf.cast(step, tf.float32))
        with tf.train.MonitoredTrainingSession(
            target,
            is_chief,
            str(folder) if is_chief else None,
            save_checkpoint_steps=SAVE_STEPS,
            save_summaries_steps=None,
            log_step_count_steps=None,
            max_wait_secs=PATIENCE,
            stop_grace_period_secs=5,
        ) as session:
            while not stop.is_set():
                found = session.run([step, set_value])
                tell(int(found[0]), float(found[1]))
                time.sleep(PAUSE)


def main(target: str, folder: str, role: str) -> None:
    """Train, and print each step."""
    lifeline = threading.Thread(target=_end_with_input, daemon=True)
    lifeline.start()

    def tell(step: int, value: float) -> None:
        print(step, value, flush=True)

    train(target, Path(folder), role == "chief", tell, threading.Event())


def _end_with_input() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
