"""tf.contrib.learn.datasets.base: tables in CSV files as arrays.

TensorFlow carried Fisher's irises and the houses of Boston with it; here they are read from a file.

Source: TF 1.15 API documentation, tf.contrib.learn.datasets.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tfdist.errors import NotFoundError
from tfdist.formats.files import read_file

__all__ = [
    "Dataset", "Datasets", "load_boston", "load_csv_with_header", "load_csv_without_header",
    "load_dataset", "load_iris",
]  # fmt: skip


class Dataset(NamedTuple):
    """Features and labels in memory, a row for each example.

    Attributes:
      data: features [examples, features].
      target: labels [examples].
    """

    data: Any
    target: Any


class Datasets(NamedTuple):
    """What a model is trained with.

    Attributes:
      train: examples to train on.
      validation: examples to choose by.
      test: examples to judge by.
    """

    train: Any
    validation: Any
    test: Any


def _rows(filename: str) -> list[list[str]]:
    return list(csv.reader(read_file(filename).decode("utf-8").splitlines()))


def _table(rows: list[list[str]], target: Any, features: Any, column: int) -> Dataset:
    labels = [row.pop(column) for row in rows]
    data = [[np.dtype(features).type(value) for value in row] for row in rows]
    return Dataset(
        np.array(data, features), np.array([np.dtype(target).type(each) for each in labels], target)
    )


def load_csv_with_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Return the table of a file, whose first line begins with how many examples and features.

    Args:
      filename: its path.
      target_dtype: of the labels.
      features_dtype: of the features.
      target_column: where the label stands in a line.

    Raises:
      NotFoundError: there is no such file.
      ValueError: a value is no such number, or there are not as many as the first line says.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "table.csv")
      >>> with open(path, "w") as file:
      ...     _ = file.write("2,2,no,yes\\n1.5,2,0\\n3,4,1\\n")
      >>> contrib.learn.datasets.base.load_csv_with_header(path, np.int64, np.float32).target
      array([0, 1])
    """
    header, *rows = _rows(filename)
    count, width = int(header[0]), int(header[1])
    found = _table(rows, target_dtype, features_dtype, target_column)
    if found.data.shape != (count, width):
        raise ValueError(
            f"{filename} has a table of shape {found.data.shape}, its first line says "
            f"{(count, width)}"
        )
    return found


def load_csv_without_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Return the table of a file; arguments as of `load_csv_with_header`."""
    return _table(_rows(filename), target_dtype, features_dtype, target_column)


def _carried(name: str) -> str:
    """Return the path of a table that scikit-learn carries.

    Raises:
      NotFoundError: it is not installed, or does not carry it.
    """
    found = find_spec("sklearn")
    folders = found.submodule_search_locations or [] if found else []
    for folder in folders:
        path = Path(folder, "datasets", "data", f"{name}.csv")
        if path.exists():
            return str(path)
    raise NotFoundError(
        f"{name} is not here: TensorFlow carried the table with it, tfdist does not. Install "
        f"scikit-learn, if it has {name}.csv, or give data_path=, the path of a CSV file whose "
        "first line begins with the numbers of examples and features"
    )


def load_iris(data_path: str | None = None) -> Dataset:
    """Return Fisher's irises: four lengths in centimetres, three kinds.

    Args:
      data_path: a CSV file; that of scikit-learn by default.

    Raises:
      NotFoundError: no path is given, and scikit-learn is not installed.
    """
    return load_csv_with_header(data_path or _carried("iris"), np.int64, np.float64)


def load_boston(data_path: str | None = None) -> Dataset:
    """Return the houses of Boston: thirteen features, prices in thousands of dollars.

    Args:
      data_path: a CSV file, as the rest: see `load_iris`.
    """
    return load_csv_with_header(data_path or _carried("boston_house_prices"), float, float)


_BY_NAME: dict[str, Callable[[], Dataset]] = {"iris": load_iris, "boston": load_boston}


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Dataset:
    """Return a table by its name.

    Args:
      name: "iris" or "boston".
      size: accepted.
      test_with_fake_data: accepted.

    Raises:
      ValueError: there is no such table.
    """
    if name not in _BY_NAME:
        raise ValueError(f"Name of dataset is not found: {name}; there are {', '.join(_BY_NAME)}")
    return _BY_NAME[name]()
