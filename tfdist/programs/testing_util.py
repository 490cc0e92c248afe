"""What tests take from tensorflow.python.framework.test_util: decorators, devices, assertions.

Many of them choose between eager execution and graphs, or ask for compilers and cards that are
not used here: those run a test as it is, on a graph, or skip it.

Source: TF 1.15, by what its functions do.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tfdist.graph import scopes
from tfdist.programs.testing import Captured as CapturedWrites
from tfdist.programs.testing import TestCase as TensorFlowTestCase
from tfdist.programs.testing import assert_equal_graph_def, create_local_cluster
from tfdist.session.device_lib import gpu_device_name

assert_equal_graph_def_v1 = assert_equal_graph_def_v2 = assert_equal_graph_def

__all__ = [
    "CapturedWrites", "TensorFlowTestCase", "assert_equal_graph_def", "create_local_cluster",
]  # fmt: skip


# what this build has


def _not_here() -> bool:
    """Return False: it is not used here."""
    return False


IsGoogleCudaEnabled = IsBuiltWithROCm = IsMklEnabled = is_xla_enabled = _not_here
GpuSupportsHalfMatMulAndConv = CudaSupportsHalfMatMulAndConv = _not_here


def InstallStackTraceHandler() -> None:
    """Do nothing: `faulthandler` does it."""


# orders of axes


def NHWCToNCHW(input_tensor: Any) -> Any:
    """Return a tensor, or a shape as a list, with the channels before the places."""
    return _permuted(input_tensor, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]})


def NCHWToNHWC(input_tensor: Any) -> Any:
    """Return a tensor, or a shape as a list, with the channels at the end."""
    return _permuted(input_tensor, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]})


def _permuted(value: Any, orders: dict[int, list[int]]) -> Any:
    if isinstance(value, list):
        return [value[axis] for axis in orders[len(value)]]
    from tfdist.ops.array.transpose import transpose

    return transpose(value, orders[value.shape.ndims])


# decorators of tests


def _as_it_is(*given: Any, **options: Any) -> Any:
    """Return a test as it is, or a decorator that does."""
    if len(given) == 1 and callable(given[0]) and not options:
        return given[0]
    return lambda decorated: decorated


run_deprecated_v1 = deprecated_graph_mode_only = run_v1_only = _as_it_is
also_run_as_tf_function = assert_no_new_tensors = assert_no_garbage_created = _as_it_is
assert_no_new_pyobjects_executing_eagerly = enable_control_flow_v2 = _as_it_is
with_control_flow_v2 = disable_control_flow_v2 = enable_output_all_intermediates = (
    enable_c_shapes
) = _as_it_is
with_c_shapes = disable_xla = xla_allow_fallback = use_deterministic_cudnn = _as_it_is
enable_tf_xla_constant_folding = no_xla_auto_jit = disable_all_xla = _as_it_is


def _skipped(reason: str) -> Callable[..., Any]:
    def decorate(*given: Any, **_: Any) -> Any:
        def skip(self: Any, *args: Any, **kwargs: Any) -> None:
            self.skipTest(reason)

        def wrapped(function: Any) -> Any:
            if inspect.isclass(function):
                return for_all_test_methods(wrapped)(function)
            return functools.wraps(function)(skip)

        return wrapped(given[0]) if given and callable(given[0]) else wrapped

    return decorate


run_v2_only = _skipped("Test is only compatible with v2")
run_gpu_only = run_cuda_only = _skipped("Test requires GPU")


def skip_if(condition: Any) -> Callable[..., Any]:
    """Return a decorator: the test does nothing where a condition, or a function's, is true."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> None:
            if not (condition() if callable(condition) else condition):
                function(*args, **kwargs)

        return wrapper

    return decorate


def run_in_graph_and_eager_modes(
    func: Any = None, config: Any = None, use_gpu: bool = True, reset_test: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Any:  # fmt: skip
    """Return a decorator: the test runs inside of a session, on a graph.

    Args:
      func: the test, or None.
      config: of the session.
      use_gpu: whether nodes may go to GPUs.
      reset_test: taken, and not used, as nothing runs eagerly.
      assert_no_eager_garbage: taken, and not used, as nothing runs eagerly.
    """

    def decorate(function: Any) -> Any:
        if inspect.isclass(function):
            raise ValueError("`run_in_graph_and_eager_modes` only supports test methods")

        @functools.wraps(function)
        def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
            with self.test_session(use_gpu=use_gpu, config=config):
                function(self, *args, **kwargs)

        return wrapper

    return decorate if func is None else decorate(func)


def for_all_test_methods(decorator: Any, *args: Any, **kwargs: Any) -> Callable[[type], type]:
    """Return a decorator of classes that decorates each of their tests."""

    def decorate(cls: type) -> type:
        for name in dir(cls):
            if name.startswith("test") and name != "test_session" and callable(getattr(cls, name)):
                setattr(cls, name, decorator(*args, **kwargs)(getattr(cls, name))
                        if args or kwargs else decorator(getattr(cls, name)))  # fmt: skip
        return cls

    return decorate


def run_all_in_graph_and_eager_modes(cls: type) -> type:
    """Return a class whose tests run inside of sessions."""
    return for_all_test_methods(run_in_graph_and_eager_modes)(cls)


def run_all_in_deprecated_graph_mode_only(cls: type) -> type:
    """Return a class as it is."""
    return cls


def build_as_function_and_v1_graph(func: Any) -> Any:
    """Return a test that runs on a graph of its own."""

    @functools.wraps(func)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
        from tfdist.graph.graph import Graph

        with Graph().as_default():
            func(self, *args, **kwargs)

    return wrapper


def generate_combinations_with_testcase_name(**kwargs: Any) -> list[dict[str, Any]]:
    """Return all combinations of values, each with a name of its own, for parameterized tests.

    Args:
      **kwargs: a value, or a list of them, for each key.
    """
    found: list[dict[str, Any]] = [{}]
    for key in sorted(kwargs):
        values = kwargs[key] if isinstance(kwargs[key], list) else [kwargs[key]]
        found = [{**each, key: value} for each in found for value in values]
    for each in found:
        parts = (f"_{key}_" + "".join(filter(str.isalnum, str(v))) for key, v in each.items())
        each["testcase_name"] = "_test" + "".join(parts)
    return found


# places


@contextmanager
def device(use_gpu: bool) -> Iterator[str]:
    """Put nodes on the first GPU, if there is one and it is wanted, else on the CPU."""
    name = (gpu_device_name() if use_gpu else "") or "/device:CPU:0"
    with scopes.device(name):
        yield name


def use_gpu() -> AbstractContextManager[str]:
    """Put nodes on the first GPU if there is one."""
    return device(use_gpu=True)


def force_gpu() -> AbstractContextManager[Any]:
    """Put nodes on the first GPU."""
    return scopes.device(gpu_device_name() or "/device:GPU:0")


def force_cpu() -> AbstractContextManager[Any]:
    """Put nodes on the CPU."""
    return scopes.device("/device:CPU:0")


# graphs


def assert_ops_in_graph(expected_ops: dict[str, str], graph: Any) -> dict[str, Any]:
    """Return the nodes of given names; ValueError if one is missing or of another op."""
    actual = {}
    for node in graph.as_graph_def().node:
        if node.name in expected_ops:
            if expected_ops[node.name] != node.op:
                raise ValueError(
                    f"Expected op for node {node.name} is different. Expected "
                    f"{expected_ops[node.name]}, found {node.op}"
                )
            actual[node.name] = node
    if set(expected_ops) != set(actual):
        raise ValueError(
            f"Not all expected ops are present. Expected {set(expected_ops)}, found {set(actual)}"
        )
    return actual


def get_node_def_from_graph(node_name: str, graph_def: Any) -> Any:
    """Return the node of a name in a GraphDef, None if there is none."""
    return next((node for node in graph_def.node if node.name == node_name), None)


def assert_meta_graph_protos_equal(tester: Any, a: Any, b: Any) -> None:
    """Assert that two MetaGraphDefs are equal, whatever the order of their nodes."""
    assert_equal_graph_def(a.graph_def, b.graph_def)
    rest_a, rest_b = type(a)(), type(b)()
    rest_a.CopyFrom(a)
    rest_b.CopyFrom(b)
    for each in (rest_a, rest_b):
        each.ClearField("graph_def")
    tester.assertEqual(rest_a, rest_b)  # noqa: PT009  the tester is a TestCase


def set_producer_version(graph: Any, producer_version: int) -> None:
    """Let a graph be one of an earlier version's making."""
    from tfdist.graph.graph_def import versions

    found = versions(graph)
    found.producer = producer_version
    graph._versions = found


def py_func_if_in_function(f: Any) -> Any:
    """Return a function as it is: it runs while the graph is built."""
    return f
