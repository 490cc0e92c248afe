"""What the tests here share."""

from collections.abc import Iterator

import pytest

from tests.fuzz.messages import server_here
from tfdist.wire.server import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Give one server for all tests of a file: what it survives is what is looked at."""
    with server_here() as server:
        yield server
