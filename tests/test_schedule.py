"""The table of slow tests: its rows are there, and every floor has tests that are not slow."""

from pathlib import Path

import pytest

from tests.schedule import SECONDS, is_wholly_slow, longest_first, seconds_of

ROOT = Path(__file__).parents[1]
ROWS = [f"{folder}/{name}" for folder, names in SECONDS.items() for name in names]
FLOORS = sorted({path.parent.relative_to(ROOT) for path in ROOT.glob("tests/*/test_*.py")})


def test_rows_name_what_is_there():
    for row in ROWS:
        file, _, test = row.partition("::")
        assert test in (ROOT / file).read_text(encoding="utf-8"), row


@pytest.mark.parametrize("folder", FLOORS, ids=str)
def test_a_folder_has_tests_that_are_not_slow(folder):
    """Counting those of its own folders, of which some have a single file."""
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("test_*.py")]
    assert [file for file in files if not seconds_of(file)]


def test_the_longest_files_come_first_and_then_those_with_most_tests():
    files = ["tests/wire/codec/test_codec.py::a", "tests/runtime/test_control_flow.py::a[1]",
             "tests/base/test_names.py::a", "tests/base/test_names.py::b"]  # fmt: skip
    assert list(longest_first(files)) == [
        "tests/runtime/test_control_flow.py", "tests/base/test_names.py",
        "tests/wire/codec/test_codec.py",
    ]  # fmt: skip


def test_a_row_of_one_test_is_not_for_its_file():
    rows = "tests/benchmarks/test_rows.py"
    assert seconds_of(f"{rows}::test_row_runs[add]") > 0
    assert seconds_of(f"{rows}::test_rows") == seconds_of(rows) == 0
    assert not is_wholly_slow(rows)
    assert is_wholly_slow("tests/test_doctests.py")
