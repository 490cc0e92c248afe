"""Optimizers, schedules and averages make the nodes of TensorFlow 1.15.5, and the same numbers.

`optimizer_programs.py` and `step_programs.py` have the programs; `optimizer_differential.py`
stored what that said.
"""

import os
import re

import numpy as np
import pytest

import tfdist as tf
from tests.training.optimizers import optimizer_differential as differential
from tests.training.optimizers import optimizer_programs, step_programs
from tfdist.graph.op_def import lookup
from tfdist.training.optimizers import moving_averages

EXPECTED = differential.expected()
BOTH = [False, True]


@pytest.fixture(autouse=True)
def beside(monkeypatch):
    """Let the programs find what stands beside them, as on real TensorFlow."""
    for folder in (os.path.dirname(differential.HERE), differential.HERE):
        monkeypatch.syspath_prepend(folder)


def comparable(node):
    """Return a node with what is ours to choose made equal.

    Which node a gradient comes from is told by other tests, and the order of control inputs means
    nothing.
    """
    name, inputs, rest = re.fullmatch(r"(.*? = \w+)\((.*?)\) (\[.*)", node, re.S).groups()
    inputs = [re.sub("^gradients/.*", "gradient", each) for each in inputs.split(", ")]
    data = [each for each in inputs if not each.startswith("^")]
    ordered = data + sorted(each for each in inputs if each.startswith("^"))
    return f"{name}({', '.join(ordered)}) {re.sub('seed2?=i: [0-9]+', 'seed', rest)}"


def same_nodes(found, wanted):
    assert [comparable(node) for node in found] == [comparable(node) for node in wanted]


def same_values(found, wanted, tolerance=2e-6):
    assert found.keys() == wanted.keys()
    for name, value in found.items():
        np.testing.assert_allclose(value, wanted[name], tolerance, 1e-7, err_msg=name)


@pytest.mark.parametrize("use_resource", BOTH, ids=["reference", "resource"])
@pytest.mark.parametrize("line", optimizer_programs.OPTIMIZERS)
def test_optimizers(line, use_resource):
    wanted = EXPECTED[f"{line} {use_resource}"]
    found = differential.trained(tf, optimizer_programs.program, line, use_resource)
    same_nodes(found["nodes"], wanted["nodes"])
    assert (found["slots"], found["variables"]) == (wanted["slots"], wanted["variables"])
    same_values(found["values"], wanted["values"])


@pytest.mark.parametrize("line", optimizer_programs.SCHEDULES)
def test_schedules(line):
    wanted, found = EXPECTED[line], differential.scheduled(tf, line)
    if "error" in wanted:
        phrase = re.split(r"[(.]", wanted["error"])[0]
        assert phrase in found["error"]
        return
    assert found["name"] == wanted["name"]
    if wanted["rates"] is not None:
        np.testing.assert_allclose(found["rates"], wanted["rates"], 1e-6)
    if "piecewise" not in line:  # `tf.case` asserts in a shorter way here
        same_nodes(sorted(found["nodes"]), sorted(wanted["nodes"]))  # cond has another order


@pytest.mark.parametrize("use_resource", BOTH, ids=["reference", "resource"])
@pytest.mark.parametrize("program", optimizer_programs.AVERAGES, ids=lambda p: p.__name__)
def test_averages(program, use_resource):
    wanted = EXPECTED[f"{program.__name__} {use_resource}"]
    found = differential.averaged(tf, moving_averages, program, use_resource)
    assert plain(found["said"]) == plain(wanted["said"])
    same_values(found["values"], wanted["values"])
    guards = re.compile(r"[^ ]*(cond|IsVariableInitialized|ExponentialMovingAverage/Assign = )")
    same_nodes(*([n for n in each["nodes"] if not guards.match(n)] for each in (found, wanted)))


def plain(said):
    """Return it as JSON gives it back."""
    return [plain(each) for each in said] if isinstance(said, list | tuple) else said


def made(op, inputs):
    op_def = lookup(op)
    arguments = [inputs.pop(arg.name) for arg in op_def.signature.inputs]
    return op_def(*arguments, **inputs)


@pytest.mark.parametrize("case", step_programs.cases(), ids=lambda case: case[0])
def test_steps(case):
    title, *program = case
    found = step_programs.outcome(tf, made, *program)
    bounds = (2e-5, 1e-6) if "float32" in program else (1e-8, 1e-8)
    np.testing.assert_allclose(found, EXPECTED[title], *bounds)
