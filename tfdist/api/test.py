"""tf.test: what a program asks of the devices that it runs on, and what its tests are made of."""

from importlib import import_module
from typing import Any

from tfdist.programs.missing import told
from tfdist.session.device_lib import (
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_gpu_available,
)

_TESTING, _GRADIENTS = "tfdist.programs.testing", "tfdist.programs.testing_gradients"
_BENCHMARKS = "tfdist.programs.benchmarks"

# Names that are loaded when first asked for, and where they stand: few programs test anything.
ON_DEMAND = {
    "Benchmark": _BENCHMARKS,
    "StubOutForTesting": "tfdist.programs.stubs",
    "TestCase": _TESTING,
    "assert_equal_graph_def": _TESTING,
    "benchmark_config": _BENCHMARKS,
    "compute_gradient": _GRADIENTS,
    "compute_gradient_error": _GRADIENTS,
    "create_local_cluster": _TESTING,
    "get_temp_dir": _TESTING,
    "is_built_with_rocm": _TESTING,
    "main": _TESTING,
    "mock": _TESTING,
    "test_src_dir_path": _TESTING,
}

_missing = told("tf.test")


def __getattr__(name: str) -> Any:
    """Return what is loaded when first asked for."""
    if name not in ON_DEMAND:
        return _missing(name)
    found = globals()[name] = getattr(import_module(ON_DEMAND[name]), name)
    return found
