"""What programs of sessions share: hooks that tell, sessions that fail, folders that are looked at.

(Also read by Python 3.7, the one that real TensorFlow 1.15 runs on, and imports nothing of ours.)
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import tempfile
import time


def said(function, *arguments, **options):
    """Return what a call gives, or its error as text."""
    try:
        return plain(function(*arguments, **options))
    except Exception as error:
        return text_of(error)


def text_of(error):
    message = getattr(error, "message", None) or str(error)
    return type(error).__name__ + ": " + constant_text(message, None)


def plain(value):
    """Return a value as JSON can hold it."""
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value.tolist() if hasattr(value, "tolist") else value


def recorder(tf, story, name="hook", **acts):
    """Return a hook that writes into `story` what it is told, and does what `acts` say.

    Args:
      acts: by the name of a method, a function that takes what the method does; its result is
        the method's.
    """

    class Recorder(tf.train.SessionRunHook):
        def _tell(self, method, *arguments):
            story.append(name + "." + method)
            return acts[method](*arguments) if method in acts else None

        def begin(self):
            return self._tell("begin")

        def after_create_session(self, session, coord):
            return self._tell("after_create_session", session, coord)

        def before_run(self, run_context):
            return self._tell("before_run", run_context)

        def after_run(self, run_context, run_values):
            return self._tell("after_run", run_context, run_values)

        def end(self, session):
            return self._tell("end", session)

    return Recorder()


def failing(error, *calls, **options):
    """Return a function that raises `error` at its calls of these numbers, counted from 1."""
    otherwise = options.get("otherwise", lambda *_: None)
    count = []

    def call(*arguments):
        count.append(None)
        if len(count) in calls:
            raise error
        return otherwise(*arguments)

    return call


def raising(error):
    def call(*_):
        raise error

    return call


def report(coordinator, error):
    """Report an error as a thread would: where it is handled."""
    try:
        raise error
    except Exception as caught:
        coordinator.request_stop(caught)


def aborted(tf):
    return tf.errors.AbortedError(None, None, "as if a task was lost")


def counter(tf):
    """Return a step that adds one to the global step."""
    return tf.assign_add(tf.train.get_or_create_global_step(), 1)


@contextlib.contextmanager
def folder():
    """Give a new folder, which is removed at the end."""
    path = tempfile.mkdtemp()
    try:
        yield path
    finally:
        shutil.rmtree(path)


def files(path):
    """Return the names of all files in a folder, without what differs from run to run."""
    names = [re.sub(r"events\.out\.tfevents\..*", "events", name) for name in os.listdir(path)]
    return sorted(set(names))


def events(tf, path):
    """Return what the event files of a folder tell: [step, what] of each, in order."""
    found = []
    for name in sorted(os.listdir(path)):
        if "tfevents" in name:
            for event in tf.train.summary_iterator(os.path.join(path, name)):
                found.append([event.step, event_text(event)])
    return found


def event_text(event):
    kind = event.WhichOneof("what")
    if kind == "summary":
        return [value.tag for value in event.summary.value]
    if kind == "session_log":
        return f"{kind} {event.session_log.status}"
    return kind


class _Lines(logging.Handler):
    """Puts what is logged into a list, without what differs from run to run.

    Of real TensorFlow, what it tells of names that will go is left out.
    """

    def __init__(self, lines, replaced):
        logging.Handler.__init__(self)
        self.lines, self.replaced = lines, replaced

    def emit(self, record):
        text = record.levelname + " " + record.getMessage()
        if " is deprecated and will be removed" not in text:
            self.lines.append(constant_text(text, self.replaced))


def constant_text(text, folder):
    """Return the first line of a text, without numbers, addresses and the name of a folder."""
    text = (text.replace(folder, "FOLDER") if folder else text).split("\n")[0]
    text = re.sub(r"/sec: .*", "/sec: N", re.sub(r"\d+\.\d+(e[-+]\d+)?", "N", text))
    return re.sub(r" at 0x[0-9a-f]+", "", text)


@contextlib.contextmanager
def logged(replaced=None):
    """Give a list that gets what is logged meanwhile, without times and the folder `replaced`."""
    logger, lines = logging.getLogger("tensorflow"), []
    before = list(logger.handlers), logger.level, logger.propagate
    logger.handlers[:] = [_Lines(lines, replaced)]
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield lines
    finally:
        logger.handlers[:], logger.level, logger.propagate = before
        logger.setLevel(logger.level)


def until(condition):
    """Wait until a condition holds."""
    deadline = time.time() + 20
    while not condition():
        assert time.time() < deadline, "that does not happen"
        time.sleep(0.002)


def nodes(tf, graph):
    """Return the nodes of a graph as text: name, op, inputs."""
    return [
        "{} = {}({})".format(node.name, node.op, ", ".join(sorted(node.input)))
        for node in graph.as_graph_def().node
    ]


def collections(graph, *left_out):
    """Return the names in the collections of a graph."""
    found = {}
    for key in sorted(map(str, graph.get_all_collection_keys())):
        if key not in left_out:
            members = graph.get_collection(key)
            found[key] = [getattr(each, "name", type(each).__name__) for each in members]
    return found
