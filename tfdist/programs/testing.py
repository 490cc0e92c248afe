"""tf.test for programs: `TestCase`, local clusters, `main`; gradients are in `testing_gradients`.

Source: TF 1.15 API documentation, tf.test.
"""

from __future__ import annotations

import inspect
import os
import random
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from absl.testing import absltest

from tfdist.graph import scopes, stacks
from tfdist.ops.random.random_ops import set_random_seed
from tfdist.programs.testing_assertions import Assertions
from tfdist.protos import pb
from tfdist.session.device_lib import gpu_device_name
from tfdist.session.session import Session
from tfdist.wire.server import Server, start_servers

__all__ = [
    "TestCase", "assert_equal_graph_def", "create_local_cluster", "get_temp_dir",
    "is_built_with_rocm", "main", "mock", "test_src_dir_path",
]  # fmt: skip

SEED = 87654321


class TestCase(Assertions):
    """A test of a program that builds graphs; each begins with an empty one, and the same seeds.

    Example:
      >>> class SumTest(test.TestCase):
      ...     def test_sum(self):
      ...         with self.session():
      ...             self.assertAllClose(constant([1.0, 2.0]) + 1.0, [2.0, 3.0])
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._cached: Any = None
        self._cached_settings: dict[str, Any] = {}
        self._threads: list[CheckedThread] = []
        self._folder: str | None = None

    def setUp(self) -> None:
        """Empty the default graph, and set all seeds."""
        super().setUp()
        if self._testMethodName == "test_session":  # unittest takes it for one, by its name
            self.skipTest("Not a test.")
        self._clear()
        random.seed(SEED)
        np.random.seed(SEED)  # noqa: NPY002  what programs draw from
        scopes.reset_default_graph()
        set_random_seed(SEED)

    def tearDown(self) -> None:
        """Check that all threads of `checkedThread` were joined, and close the session."""
        for thread in self._threads:
            thread.check_termination()
        self._clear()
        super().tearDown()

    def _clear(self) -> None:
        if self._cached is not None:
            self._cached.close()
        self._cached, self._cached_settings = None, {}

    # sessions

    @contextmanager
    def session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session]:
        """Give a new session, the default one as its graph is, which is closed at the end.

        Args:
          graph: the default graph by default.
          config: a ConfigProto.
          use_gpu: whether nodes may go to GPUs; they are put on the CPU otherwise.
          force_gpu: whether nodes are put on the first GPU.
        """
        with Session(graph=graph, config=_config(config, force_gpu)) as session:
            with _placed(session, use_gpu, force_gpu):
                yield session

    @contextmanager
    def cached_session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session]:
        """Give the session of this test, made when first asked for; see `session`.

        Raises:
          ValueError: it was made with other arguments.
        """
        session = self._session_of({"graph": graph, "config": config, "force_gpu": force_gpu})
        with session.graph.as_default(), session.as_default():
            with _placed(session, use_gpu, force_gpu):
                yield session

    def _session_of(self, settings: dict[str, Any]) -> Session:
        if self._cached is None:
            config = _config(settings["config"], settings["force_gpu"])
            self._cached = Session(graph=settings["graph"], config=config)
            self._cached_settings = settings
        for key, value in settings.items():
            if self._cached_settings[key] != value:
                raise ValueError(
                    f"The {key} value used to get the cached session is different than the one "
                    "that was used to create the session. Maybe create a new session with "
                    "self.session()"
                )
        return self._cached  # type: ignore[no-any-return]

    @contextmanager
    def test_session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session]:
        """Give the session of this test; a new one if a graph is named."""
        way = self.cached_session if graph is None else self.session
        with way(graph, config, use_gpu, force_gpu) as session:
            yield session

    def evaluate(self, tensors: Any) -> Any:
        """Return the values of tensors, by the default session, or this test's if there is none.

        Args:
          tensors: a tensor, or nested lists, tuples and dictionaries of such.
        """
        session = stacks.get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.cached_session() as session:
            return session.run(tensors)

    # folders and threads

    def get_temp_dir(self) -> str:
        """Return a folder of this test's own, which is there."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(dir=get_temp_dir())
        return self._folder

    def checkedThread(
        self, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> CheckedThread:
        """Return a thread whose `join` fails if its function did; it must be joined.

        Args:
          target: what it calls.
          args: with these arguments.
          kwargs: and these, named.
        """
        thread = CheckedThread(self, target, args or (), kwargs or {})
        self._threads.append(thread)
        return thread

    @contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[Captured]:
        """Catch what is written to a stream's file descriptor, from C as well.

        Args:
          stream: such as `sys.stderr`; what comes in has `contents()`.
        """
        stream.flush()
        number = stream.fileno()
        kept = os.dup(number)
        with tempfile.NamedTemporaryFile(dir=get_temp_dir()) as file:
            os.dup2(file.fileno(), number)
            captured = Captured(file.name)
            try:
                yield captured
            finally:
                stream.flush()
                os.dup2(kept, number)
                os.close(kept)
                captured.text = captured.contents()


class Captured:
    """What was written to a stream."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.text: str | None = None  # when nothing comes any more

    def contents(self) -> str:
        """Return all of it."""
        return Path(self._path).read_text(encoding="utf-8") if self.text is None else self.text


class CheckedThread:
    """A thread that tells its test how it ended; see `TestCase.checkedThread`."""

    def __init__(
        self, case: TestCase, target: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]
    ) -> None:
        self._case = case
        self._call = lambda: target(*args, **kwargs)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._error: BaseException | None = None
        self._is_joined = False

    def _run(self) -> None:
        try:
            self._call()
        except BaseException as error:  # of any kind: `join` tells it
            self._error = error

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def join(self) -> None:
        """Wait for its end, and fail the test if its function failed."""
        self._is_joined = True
        self._thread.join()
        if self._error is not None:
            raise self._case.failureException(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Return whether its function has not ended."""
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """Fail the test unless it was joined."""
        if not self._is_joined:
            where = "is still running" if self.is_alive() else "was not joined"
            self._case.fail(f"a thread of checkedThread {where}: call its join()")


def _config(config: Any, force_gpu: bool) -> Any:
    """Return a session's settings: nodes without a kernel for their device may move."""
    made = pb.ConfigProto()
    if config is not None:
        made.CopyFrom(config)
    else:
        made.allow_soft_placement = not force_gpu
    return made


@contextmanager
def _placed(session: Any, use_gpu: bool, force_gpu: bool) -> Iterator[None]:
    if use_gpu and not force_gpu:
        yield
        return
    name = gpu_device_name() if force_gpu else "/device:CPU:0"
    if not name:
        raise ValueError("force_gpu=True, but this process has no GPU")
    with session.graph.device(name):
        yield


def get_temp_dir() -> str:
    """Return a folder for the tests of this process, which is there.

    It is what the environment variable TEST_TMPDIR names, or else a new one.

    Example:
      >>> os.path.isdir(test.get_temp_dir())
      True
    """
    folder = _temp_dir()
    os.makedirs(folder, exist_ok=True)
    return folder


@cache
def _temp_dir() -> str:
    return os.environ.get("TEST_TMPDIR") or tempfile.mkdtemp()


def test_src_dir_path(relative_path: str) -> str:
    """Return a path below the folder of the file that calls this.

    Args:
      relative_path: below it.
    """
    caller = inspect.stack()[1].filename
    return str(Path(caller).parent / relative_path)


def is_built_with_rocm() -> bool:
    """Return False: AMD's cards are not used.

    Example:
      >>> test.is_built_with_rocm()
      False
    """
    return False


def main(argv: Any = None) -> None:
    """Run the tests of the program, and end it.

    Args:
      argv: the command line, with the program's name; `sys.argv` by default.
    """
    absltest.main(argv=sys.argv if argv is None else argv)


def create_local_cluster(
    num_workers: int, num_ps: int, protocol: str = "grpc", worker_config: Any = None,
    ps_config: Any = None,
) -> tuple[list[Server], list[Server]]:  # fmt: skip
    """Return running servers of a cluster on this host, at free ports.

    Args:
      num_workers: how many tasks the job "worker" has.
      num_ps: how many the job "ps" has.
      protocol: "grpc".
      worker_config: taken for TensorFlow's sake.
      ps_config: taken for TensorFlow's sake.

    Returns:
      (workers, parameter servers). `stop()` ends each, which TensorFlow's could not.

    Example:
      >>> workers, servers = test.create_local_cluster(1, 1)
      >>> Session(workers[0].target).run(constant("hello"))
      b'hello'
      >>> for server in workers + servers:
      ...     server.stop()
    """
    started = start_servers({"ps": num_ps, "worker": num_workers})
    return started[num_ps:], started[:num_ps]


def assert_equal_graph_def(
    actual: Any, expected: Any, checkpoint_v2: bool = False, hash_table_shared_name: bool = False
) -> None:
    """Assert that two GraphDefs have the same nodes, in any order.

    Args:
      actual: a GraphDef.
      expected: another one.
      checkpoint_v2: whether names of temporary checkpoints may differ.
      hash_table_shared_name: whether shared names of tables may differ.

    Raises:
      AssertionError: they differ; TypeError: they are no GraphDefs.

    Example:
      >>> empty = Graph().as_graph_def()
      >>> test.assert_equal_graph_def(empty, empty)
    """
    for each, what in ((actual, "actual"), (expected, "expected")):
        if not isinstance(each, pb.GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {what}, got {type(each).__name__}")
    skipped = {"shared_name"} if hash_table_shared_name else set()
    ours, theirs = (_by_name(each, skipped, checkpoint_v2) for each in (actual, expected))
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            found, wanted = (
                pb.to_text(each[name]) if name in each else "no such node"
                for each in (ours, theirs)
            )
            raise AssertionError(f"node {name!r} differs: {found}, wanted {wanted}")


def _by_name(graph_def: Any, skipped: set[str], checkpoint_v2: bool) -> dict[str, Any]:
    nodes = {}
    for node in graph_def.node:
        copy = pb.NodeDef()
        copy.CopyFrom(node)
        if checkpoint_v2 and copy.op == "Const" and re.search("_temp_[0-9a-f]+", pb.to_text(copy)):
            copy.ClearField("attr")
        for key in skipped & set(copy.attr):
            del copy.attr[key]
        nodes[copy.name] = copy
    return nodes
