"""Messages to run a partition and to forget a step: what goes in comes out, nonsense is told."""

import pytest

from tfdist.errors import InvalidArgumentError
from tfdist.wire.codec.step_messages import end_message, end_of, run_message, run_of


@pytest.mark.parametrize("step_id", [0, 7, 2**64 - 1])
def test_what_goes_in_comes_out(step_id):
    told = step_id, "0123456789abcdef", "00000000000000ff"
    assert run_of(memoryview(run_message(*told))) == told
    assert end_of(memoryview(end_message(step_id))) == step_id


@pytest.mark.parametrize("message", [b"", b"short", bytes(8) + b"\x01\x00\xff"])
def test_nonsense_is_told(message):
    for read in (run_of, end_of):
        with pytest.raises(InvalidArgumentError, match="broken"):
            read(memoryview(message))
