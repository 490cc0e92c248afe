"""The ops of TensorFlow's own tests beside what TensorFlow 1.15.5 makes of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ops.framework.framework_test_programs import BUILT, RUN, built, run
from tfdist.programs.stand_in import install, uninstall

EXPECTED = json.loads(
    Path(__file__).with_name("expected_framework_test_1_15.json").read_text(encoding="utf-8")
)


@pytest.fixture(autouse=True)
def tensorflow():
    install()
    import tensorflow

    yield tensorflow
    uninstall()


@pytest.mark.parametrize("source", BUILT.split("\n")[1:-1])
def test_a_call_builds_what_tensorflow_builds(source, tensorflow):
    assert json.loads(json.dumps(built(tensorflow, source))) == EXPECTED[source]


@pytest.mark.parametrize("name", RUN)
def test_a_program_gives_what_tensorflow_gives(name, tensorflow):
    assert json.loads(json.dumps(run(tensorflow, name))) == EXPECTED[name]
