"""What Python has allocated since `tracemalloc` began, whoever else works in this process."""

import tracemalloc

# A worker of pytest-xdist is told at any time which files come next: a number for each test.
FOREIGN = ("*/execnet/*", "*/xdist/*")


def traced_bytes() -> int:
    """Return how many bytes are held, without those of the tests' own machinery."""
    filters = [tracemalloc.Filter(False, each) for each in FOREIGN]
    found = tracemalloc.take_snapshot().filter_traces(filters)
    return sum(trace.size for trace in found.traces)
