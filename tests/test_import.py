"""What `import tfdist` leaves alone: it is cheap, and libraries come when they are needed."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
import tfdist
{}
print(json.dumps(sorted(sys.modules)))
"""
REGISTERED = """
import json, tfdist.ops
from importlib import import_module
from pkgutil import walk_packages
from tfdist.graph.op_def import REGISTRY
known = set(REGISTRY)
for module in walk_packages(tfdist.ops.__path__, "tfdist.ops."):
    import_module(module.name)
print(json.dumps(sorted(REGISTRY.keys() - known)))
"""
HEAVY = ["IPython", "ipywidgets", "ipykernel", "matplotlib", "grpc", "google.protobuf", "asyncio"]


def modules_after(statement: str = "") -> set[str]:
    """Return the modules of a fresh process that imported tfdist and ran `statement`."""
    command = [sys.executable, "-c", PROGRAM.format(statement)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    return set(json.loads(printed))


@pytest.fixture(scope="module")
def imported():
    return modules_after()


@pytest.mark.parametrize("library", HEAVY)
def test_import_does_not_pull_in(library, imported):
    assert library not in imported


def test_a_message_pulls_in_protobuf_only():
    assert modules_after("tfdist.ConfigProto").isdisjoint({"grpc", "IPython", "matplotlib"})


def test_building_and_running_a_graph_needs_no_notebook_and_no_pictures():
    found = modules_after("tfdist.Session().run(tfdist.constant(1) + 2)")
    assert found.isdisjoint({"IPython", "ipywidgets", "matplotlib", "grpc"})


def test_every_op_is_known_without_the_function_that_makes_it():
    """A server gets graphs from elsewhere, of any op."""
    command = [sys.executable, "-c", REGISTERED]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    assert json.loads(printed) == []
