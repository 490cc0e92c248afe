"""What runs for long does not grow; nothing is timed. `memory.py` watches the same for minutes."""

import logging

import memory
import pytest
from memory_rows import MEMORY
from timed import Timed

import tfdist
from tests.traced_memory import traced_bytes
from tfdist.runtime.task import worker
from tfdist.wire import service_methods

STEPS = 6  # of 100 batches each; the first third warms up
OBJECTS = 50  # half of one for each batch
BYTES = 20_000  # 200 for each batch


@pytest.fixture(autouse=True)
def short_memories(monkeypatch):
    """Let a task remember few of the steps and calls that ended: else these come by and by."""
    monkeypatch.setattr(service_methods, "_REMEMBERED", 64)
    monkeypatch.setattr(worker, "_STEPS", 64)


@pytest.mark.slow
@pytest.mark.parametrize("row", MEMORY)
def test_memory_does_not_grow_with_the_steps(row):
    with memory.program(tfdist, row) as timed:
        held = memory.held_after(timed.step, STEPS, traced_bytes)
    for counts, slack in zip(held, (OBJECTS, BYTES), strict=True):
        assert growth(counts) <= slack, counts


@pytest.mark.parametrize("kept", [list, bytes])
def test_growth_is_seen(kept):
    leak = []

    def step():
        leak.extend(kept(bytes(300)) for _ in range(100))

    objects, sizes = memory.held_after(step, STEPS, traced_bytes)
    assert growth(sizes) > BYTES
    assert (growth(objects) > OBJECTS) == (kept is list)


def test_what_is_watched_is_printed(monkeypatch, capsys, caplog):
    caplog.set_level(logging.ERROR, "tensorflow")  # as `main` does, but until the test ends
    monkeypatch.setitem(MEMORY, "tf.data", lambda tf: Timed(list))
    memory.main(["--seconds", "0.2", "--rows", "tf.data"])
    name, header, *samples, slopes = capsys.readouterr().out.splitlines()
    assert name == "tf.data"
    assert header.split() == ["seconds", "steps", "MB", "objects"]
    assert all(len(line.split()) == 4 for line in samples)
    assert slopes.startswith("slope: ")


def growth(counts):
    """Return by how much the least of the last third is above the most of the second third."""
    third = len(counts) // 3
    return min(counts[-third:]) - max(counts[third:-third])
