"""What arrays free stays with a process that runs steps, up to a bound."""

import os
import subprocess
import sys

import pytest

# Prints by how many MB the process is larger than before, each time that arrays were freed.
PROGRAM = """
import os, resource
import numpy as np
import tfdist
{first}

def megabytes():
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * resource.getpagesize() / 1e6

with tfdist.Session() as session:
    session.run(tfdist.constant(1))
before = megabytes()
for count in 5, 40:
    arrays = [np.ones(4_000_000, np.float32) for _ in range(count)]
    del arrays
    print(megabytes() - before)
"""
SERVES = "import tfdist.launch.allocator as allocator; allocator.keep_memory()"


@pytest.mark.parametrize(
    ("environment", "first", "few", "many"),
    [
        pytest.param({}, "", (60, 90), (0, 140), id="80 MB stay, 640 MB do not"),
        pytest.param(
            {"MALLOC_TRIM_THRESHOLD_": "131072"}, "", (-20, 20), (-20, 20), id="as users say"
        ),
        pytest.param({}, SERVES, (60, 90), (600, 700), id="all stay with who only serves"),
    ],
)
def test_freed_memory_stays(environment, first, few, many):
    program = PROGRAM.replace("{first}", first)
    ended = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | environment, capture_output=True,
        text=True, timeout=60, check=True,
    )  # fmt: skip
    found = [float(line) for line in ended.stdout.split()]
    for megabytes, (least, most) in zip(found, (few, many), strict=True):
        assert least <= megabytes <= most
