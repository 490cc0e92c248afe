"""A client that is killed in a wait leaves no trace, whatever it waits for: the next one is served.

The cases are in `kinds`; all have one server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfdist as tf
from tests.faults.calls import until
from tests.faults.kinds import CASES
from tests.faults.place import Place
from tests.faults.processes import Task


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with Place() as place:
        yield place


@pytest.fixture(scope="module")
def keeper(place: Place) -> Task:
    [task] = place.tasks({"ps": 1}).values()
    return task


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, id=make.__doc__) for name, make in CASES.items()]
)
def test_a_wait_ends_with_its_client(place: Place, keeper: Task, name: str) -> None:
    with tf.Graph().as_default(), tf.device(keeper.name), tf.Session(keeper.target) as session:
        case = CASES[name](name)
        for each in case.before:
            session.run(each)
        client = place.client("hold", keeper.address, keeper.name, name)
        until(lambda: keeper.waits() or not client.is_running, "the client waits")
        assert client.is_running, client.logged()
        behind = place.call(session.run, case.behind)
        until(lambda: len(keeper.waits()) == 2, "another one stands behind it")
        client.kill()
        until(lambda: len(keeper.waits()) == 1, "the dead client's wait vanishes")
        for each in case.give:
            session.run(each)
        assert plain(behind.value()) == case.got
        assert keeper.waits() == []
        assert plain(session.run(case.rest)) == case.left


def plain(found: Any) -> Any:
    """Return what was fetched as numbers and lists."""
    if isinstance(found, list | tuple):
        return [plain(each) for each in found]
    return found if found is None else np.asarray(found).tolist()
