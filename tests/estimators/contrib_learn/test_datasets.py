"""tf.contrib.learn.datasets: tables of files, and what is said where there is none."""

import numpy as np
import pytest

import tfdist as tf

BASE = tf.contrib.learn.datasets.base


@pytest.fixture
def path(tmp_path):
    def written(text):
        file = tmp_path / "table.csv"
        file.write_text(text)
        return str(file)

    return written


@pytest.mark.parametrize(
    ("read", "text", "column", "data", "target"),
    [
        (BASE.load_csv_with_header, "3,2,a,b,c\n1.5,2,0\n3,4,1\n5,6,2\n", -1,
         [[1.5, 2], [3, 4], [5, 6]], [0, 1, 2]),
        (BASE.load_csv_without_header, "1.5,2,0\n3,4,1\n", 1, [[1.5, 0], [3, 1]], [2, 4]),
    ],
    ids=["with a header", "without one"],
)  # fmt: skip
def test_a_table_is_read(path, read, text, column, data, target):
    found = read(path(text), np.int64, np.float32, column)
    assert (found.data.dtype, found.target.dtype) == (np.float32, np.int64)
    assert (found.data.tolist(), found.target.tolist()) == (data, target)


def test_what_is_no_number_is_an_error(path):
    with pytest.raises(ValueError, match="invalid literal for int"):
        BASE.load_csv_with_header(path("1.5,2,0\n3,4,1\n"), np.int64, np.float32)


def test_a_file_that_is_shorter_than_it_says_is_told(path):
    with pytest.raises(ValueError, match=r"shape \(1, 2\), its first line says \(3, 2\)"):
        BASE.load_csv_with_header(path("3,2,a,b\n1,2,0\n"), np.int64, np.float32)


def test_irises_are_read_from_a_file_that_is_given(path):
    found = tf.contrib.learn.datasets.load_iris(path("1,4,a,b,c\n5.1,3.5,1.4,0.2,0\n"))
    assert (found.data.tolist(), found.target.tolist()) == ([[5.1, 3.5, 1.4, 0.2]], [0])


def test_a_table_that_is_not_here_is_told_with_what_to_do():
    with pytest.raises(tf.errors.NotFoundError, match=r"Install scikit-learn, .* data_path"):
        tf.contrib.learn.datasets.load_boston()
    with pytest.raises(ValueError, match="Name of dataset is not found: nosuch; there are iris"):
        tf.contrib.learn.datasets.load_dataset("nosuch")
