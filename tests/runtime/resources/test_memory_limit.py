"""How much memory a process may have: what is said of it, and what the system allows."""

import math

import numpy as np
import pytest

from tfdist.base.room import ROOM, NoRoomError, check_room
from tfdist.runtime.resources.memory_limit import MemoryLimit, machine_memory, memory_limit

GIB = 2**30


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", MemoryLimit(90.0, math.inf), id="without a word, nine tenths"),
        pytest.param("4GB", MemoryLimit(4e9, math.inf), id="decimal"),
        pytest.param("512 MiB", MemoryLimit(512 * 2**20, math.inf), id="binary"),
        pytest.param("1.5g", MemoryLimit(1.5 * GIB, math.inf), id="a letter is binary"),
        pytest.param("70", MemoryLimit(70, math.inf), id="bytes"),
        pytest.param("75%", MemoryLimit(75, math.inf), id="a part of the machine's"),
        pytest.param("step=10", MemoryLimit(90, 10), id="of one step only"),
        pytest.param("50,step=10%", MemoryLimit(50, 10), id="in all, and of one step"),
        pytest.param("off", MemoryLimit(math.inf, math.inf), id="none"),
    ],
)
def test_what_a_user_says(text, expected):
    assert memory_limit({"TFDIST_MEMORY_LIMIT": text}, lambda: 100) == expected


@pytest.mark.parametrize("text", ["much", "-4GB", "0", "4 parsecs", "step=", "all=4GB"])
def test_what_makes_no_sense_is_told(text):
    with pytest.raises(ValueError, match=r"TFDIST_MEMORY_LIMIT=.*wanted a size such as 4GB"):
        memory_limit({"TFDIST_MEMORY_LIMIT": text}, lambda: 100)


MEMINFO = {"/proc/meminfo": "MemTotal:       16777216 kB\nMemFree: 1 kB\n"}
V2, V1 = "/sys/fs/cgroup", "/sys/fs/cgroup/memory"


@pytest.mark.parametrize(
    ("files", "gibibytes"),
    [
        pytest.param({}, 16, id="no control groups"),
        pytest.param(
            {"/proc/self/cgroup": "0::/pod/a\n", f"{V2}/pod/a/memory.max": f"{2 * GIB}\n"},
            2, id="version 2",
        ),
        pytest.param(
            {"/proc/self/cgroup": "0::/pod/a\n", f"{V2}/pod/a/memory.max": "max\n",
             f"{V2}/pod/memory.max": f"{3 * GIB}\n"},
            3, id="version 2: the group around it has less",
        ),
        pytest.param(
            {"/proc/self/cgroup": "0::/\n", f"{V2}/memory.max": f"{4 * GIB}\n"},
            4, id="version 2: a container that sees its group as the root",
        ),
        pytest.param(
            {"/proc/self/cgroup": "5:cpu:/a\n4:memory:/b\n",
             f"{V1}/b/memory.limit_in_bytes": f"{5 * GIB}\n"},
            5, id="version 1",
        ),
        pytest.param(
            {"/proc/self/cgroup": "4:memory:/docker/1\n",
             f"{V1}/memory.limit_in_bytes": f"{6 * GIB}\n"},
            6, id="version 1: a container that does not see its group's path",
        ),
        pytest.param(
            {"/proc/self/cgroup": "4:memory:/\n",
             f"{V1}/memory.limit_in_bytes": "9223372036854771712\n"},
            16, id="version 1: no limit is a huge one",
        ),
    ],
)  # fmt: skip
def test_what_the_system_allows(files, gibibytes):
    assert machine_memory(lambda path: {**MEMINFO, **files}.get(path, "")) == gibibytes * GIB


@pytest.fixture
def room(monkeypatch):
    monkeypatch.setattr(ROOM, "bytes", 1000)


def test_a_large_array_is_refused_before_it_is_made(room):
    check_room([250], np.float32)
    with pytest.raises(NoRoomError) as raised:
        check_room(np.array([251, 1]), np.float32)
    assert (raised.value.shape, raised.value.dtype) == ((251, 1), np.float32)


def test_what_was_freed_counts_before_something_is_refused(room, monkeypatch):
    monkeypatch.setattr(ROOM, "look", lambda: monkeypatch.setattr(ROOM, "bytes", 2000))
    check_room([2000], np.int8)
    with pytest.raises(NoRoomError):
        check_room([2001], np.int8)
