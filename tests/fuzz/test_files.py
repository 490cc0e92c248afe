"""Damaged files, some of each kind: `python -m tests.fuzz.files` plays any number."""

import pytest

from tests.fuzz.files import KINDS, failures

CASES = 25
SEED = 2026


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")  # of Pillow, about what is cut off
def test_a_damaged_file_is_told_of(kind):
    assert not list(failures(kind, SEED, CASES))
