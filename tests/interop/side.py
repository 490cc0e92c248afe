"""One side of a trial: a process that is a server, or a client that runs programs.

    PYTHON side.py serve '{"api": ..., "spec": {...}, "job": ..., "task": ...}'
    PYTHON side.py run '{"api": ..., "target": ..., "servers": {...}, "spec": {...}}' PROGRAM...

A server prints a line when it can be asked. A client prints a line of JSON for each program: its
name, and what came of it. Where a program does not end, the client ends itself; others are for the
next client. This file runs on real TensorFlow's own Python (3.7 or later), by its path.
"""

import faulthandler
import json
import os
import sys
import threading
import time
import traceback
import warnings

import numpy as np

try:
    from programs import PROGRAMS, Place
except ImportError:  # where it is imported, not run
    from tests.interop.programs import PROGRAMS, Place

HUNG = 20.0  # seconds after which a program counts as one that does not end


def api_named(name):
    """Return the API to build graphs with, and its decorator of functions."""
    if name == "tfdist":
        import tfdist as tf

        return tf, tf.Defun
    import tensorflow
    from tensorflow.python.framework import function

    tensorflow.compat.v1.logging.set_verbosity(tensorflow.compat.v1.logging.FATAL)
    tf = tensorflow.compat.v1 if tensorflow.__version__.startswith("2") else tensorflow
    if tf is not tensorflow:
        tf.disable_v2_behavior()
    return tf, function.Defun


def serve(api, spec, job, task):
    """Be a server until the process is ended."""
    tf, _ = api_named(api)
    options = {"inproc": False} if api == "tfdist" else {}
    server = tf.train.Server(tf.train.ClusterSpec(spec), job_name=job, task_index=task, **options)
    print("ready", flush=True)
    while server:
        time.sleep(60)


def run(names, api, target, servers, spec):
    """Run programs, one after the other."""
    tf, defun = api_named(api)
    for name in names:
        place = Place(tf, defun, target, servers, spec)
        print(json.dumps([name, outcome(name, place)]), flush=True)


def outcome(name, place):
    """Return what came of a program: {"value": ...} or {"error": ...}."""
    found = []
    thread = threading.Thread(target=lambda: found.append(attempt(name, place)), daemon=True)
    thread.start()
    thread.join(HUNG)
    if not found:
        print(json.dumps([name, {"error": "it does not end"}]), flush=True)
        faulthandler.dump_traceback()
        os._exit(3)
    return found[0]


def attempt(name, place):
    """Run a program in a graph and a container of its own."""
    started = time.time()
    try:
        with place.tf.Graph().as_default(), place.tf.container(name.replace("_", ".")):
            result = {"value": plain(PROGRAMS[name](place))}
            place.close()
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"
        result = {"error": text[:2000], "trace": traceback.format_exc()[-3000:]}
    result["seconds"] = round(time.time() - started, 3)
    return result


def plain(value):
    """Return a value as JSON has it: arrays with type and shape, bytes as text."""
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, bytes):
        return "bytes: " + value.decode("latin-1")
    if isinstance(value, (np.ndarray, np.generic)):
        return [f"{value.dtype}{list(value.shape)}", numbers(value)]
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def numbers(array):
    """Return the elements of an array in a list."""
    if array.dtype == object or array.dtype.kind in "SU":
        return [plain(each) for each in array.ravel()]
    if array.dtype.kind == "c":
        return [[each.real, each.imag] for each in array.ravel().tolist()]
    if array.dtype.kind in "biuf":
        return array.ravel().tolist()
    return array.ravel().astype(np.float32).tolist()  # bfloat16


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    action, settings, *rest = sys.argv[1:]
    settings = json.loads(settings)
    serve(**settings) if action == "serve" else run(rest, **settings)
