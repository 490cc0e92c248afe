"""A client that opens sessions and steps that wait, and runs one more step for each line it reads.

Started as: python sessions_client.py TARGET COUNT; it says "ready", and then what each step gave.
"""

import os
import sys
import threading

import numpy as np

import tfdist as tf

target, count = sys.argv[1], int(sys.argv[2])
large = tf.constant(np.arange(250_000), tf.float32)  # 1 MB in every session's graph
with tf.device("/job:ps"):
    total = tf.Variable(1.0, name="total")
    more = total.assign_add(tf.reduce_min(large) * 0 + 1)
    element = tf.FIFOQueue(1, tf.float32).dequeue()
sessions = [tf.Session(target) for _ in range(count)]
sessions[0].run(total.initializer)
for session in sessions:
    session.run(more)
for session in sessions[1:]:
    threading.Thread(target=session.run, args=(element,), daemon=True).start()
print("ready", flush=True)
for _ in sys.stdin:
    try:
        told = sessions[0].run(more)
    except tf.errors.UnavailableError:
        if os.environ.get("TFDIST_TRANSPORT") != "grpc":
            raise
        # over gRPC, who was frozen may learn only by a call that it was cut off
        told = sessions[0].run(more)
    print(told, flush=True)
os._exit(0)
