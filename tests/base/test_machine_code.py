"""Functions become machine code when that is worth while, and only where that can be."""

from __future__ import annotations

import sys
import threading

import pytest

from tests.needs import needs_numba
from tfdist.base import philox
from tfdist.base.machine_code import MachineCode
from tfdist.ops.array import repeated_indices
from tfdist.ops.framework.singles import FunctionOfSingles
from tfdist.ops.image import crop_loops, resampling_weights
from tfdist.ops.math import comparison, exponential_loops, quotients
from tfdist.ops.random import box_muller, drawn_numbers

SECOND = 1_000_000_000


def twice():
    return MachineCode(lambda compiler: compiler.function(lambda x: x + x))


@needs_numba
def test_it_is_compiled_when_enough_time_was_spent():
    code = twice()
    assert code.instead_of(1_000) is None
    assert code.instead_of(SECOND)(21) == 42
    assert code.instead_of(0)(1.5) == 3.0


def test_without_numba_there_is_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    code = twice()
    assert code.instead_of(SECOND) is None
    assert code.instead_of(SECOND) is None


@needs_numba
def test_who_forbids_numba_to_compile_gets_no_loops_in_python(monkeypatch):
    import numba

    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert twice().instead_of(SECOND) is None


@needs_numba
def test_others_go_their_way_while_it_is_compiled():
    begun, may_end, found = threading.Event(), threading.Event(), []

    def compile(compiler):
        begun.set()
        may_end.wait(60)
        return abs

    code = MachineCode(compile)
    first = threading.Thread(target=lambda: found.append(code.instead_of(SECOND)))
    first.start()
    begun.wait(60)
    assert code.instead_of(SECOND) is None
    may_end.set()
    first.join()
    assert found == [abs]
    assert code.instead_of(0) is abs


@needs_numba
def test_what_cannot_be_compiled_stays_as_it_is():
    def compile(compiler):
        return compiler.procedure(lambda made: made.nothing_such, compiler.written(float))

    code = MachineCode(compile)
    assert code.instead_of(SECOND) is None
    assert code.instead_of(SECOND) is None


def codes_of(module):
    """Return what of a module may become machine code."""
    for value in vars(module).values():
        if isinstance(value, MachineCode):
            yield value
        elif isinstance(value, FunctionOfSingles):
            yield value.code
        elif isinstance(value, dict):
            yield from (each for each in value.values() if isinstance(each, MachineCode))


@needs_numba
@pytest.mark.parametrize(
    "module",
    [
        philox,
        repeated_indices,
        crop_loops,
        resampling_weights,
        comparison,
        box_muller,
        drawn_numbers,
        quotients,
        exponential_loops,
    ],
    ids=lambda module: module.__name__,
)
def test_all_that_may_be_compiled_can_be(module):
    """Where that failed, NumPy would go on, and nobody would see it."""
    compiled = [code.compiled() for code in codes_of(module)]
    assert compiled
    assert None not in compiled
