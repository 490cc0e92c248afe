"""Lines of CSV: the way for plain lines and the way for all others give the same."""

import csv as python_csv
import io
import random

import pytest

from tfdist.base import dtypes
from tfdist.errors import InvalidArgumentError
from tfdist.formats.csv import Column, Dialect, parse

TEXT = Column(dtypes.string, b"none")


def columns(records, count, **dialect):
    found = parse(records, Dialect(**dialect), [TEXT] * count)
    return [column.tolist() for column in found]


def test_quoted_lines_agree_with_pythons_own_reader():
    chance = random.Random(0)
    for _ in range(300):
        row = ["".join(chance.choices('ab",; \n\r', k=chance.randrange(1, 6))) for _ in range(3)]
        text = io.StringIO()
        python_csv.writer(text, quoting=python_csv.QUOTE_ALL, lineterminator="").writerow(row)
        found = columns([text.getvalue().encode(), b"x,y,z"], 3)
        assert [column[0].decode() for column in found] == row


def test_both_ways_give_the_same():
    plain = [b"1,a,", b",b,2", b"3,,4"]
    slow = [*plain, b'"5",c,6']
    assert [column[:3] for column in columns(slow, 3)] == columns(plain, 3)


@pytest.mark.parametrize("text", ["", " ", "   ", "\t"])
@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64])
def test_a_blank_number_takes_its_default(text, dtype):
    lines = [f"{text},x".encode(), f'"{text}",x'.encode()]
    for line in lines:
        [number, _] = parse([line], Dialect(), [Column(dtype, -1), TEXT])
        assert number.tolist() == [-1]
        assert number.dtype == dtype.as_numpy_dtype


def test_spaces_are_a_string():
    assert columns([b" ,"], 2) == [[b" "], [b"none"]]


def test_errors_name_record_and_field():
    number = [Column(dtypes.int32, 0), Column(dtypes.int32, None)]
    for records, message in [
        ([b"1,2", b"1"], "Expect 2 fields but have 1 in record 1"),
        ([b"1,2", b"3,4", b"5,x"], "Field 1 in record 2 is not a valid int32: x"),
        ([b"1,2", b"3, "], "Field 1 is required but missing in record 1!"),
        ([b"1,2", b'1,2"'], r"cannot have quotes/CRLFs inside \(record 1"),
    ]:
        with pytest.raises(InvalidArgumentError, match=message):
            parse(records, Dialect(), number)


def test_lines_behind_the_selected_columns_are_not_looked_at():
    assert columns([b'a,b,"c'], 1, columns=(1,)) == [[b"b"]]


def test_no_records():
    assert columns([], 2) == [[], []]
