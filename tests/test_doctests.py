"""Every example in a docstring runs, in a fresh graph, with the names of tfdist at hand."""

import builtins
import doctest
import gc
import importlib
import pkgutil
from functools import cache

import pytest

import tfdist as tf

MODULES = [
    module.name
    for module in pkgutil.walk_packages(tf.__path__, "tfdist.")
    if not module.name.startswith(("tfdist.jupyter", "tfdist.protos"))
]


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in MODULES:
        module = importlib.import_module(name)
        for found in finder.find(module, name):
            if found.examples:
                yield pytest.param(found, id=found.name)


@cache
def names_of(space):
    return {name: getattr(space, name) for name in space.__all__}


@pytest.mark.parametrize("example", list(examples()))
def test_example(example):
    if "census" in example.name:
        gc.collect()  # sessions that other examples dropped are none of its
    example.globs = {**names_of(tf), **names_of(tf.train), **example.globs}
    with tf.Graph().as_default():
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        result = runner.run(example)
    tf.keras.backend.clear_session()  # it keeps a session, and this process counts its tasks
    vars(builtins).pop("_", None)  # which Python's display hook leaves, and IPython leaves alone
    assert result.attempted > 0
    assert result.failed == 0
