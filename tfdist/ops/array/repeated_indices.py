"""Indices of which some stand several times: which do, and in which turns their rows can change.

Rows that are all different change in one call of NumPy. A row that is named twice changes twice,
one after the other, and so one turn follows the other; NumPy's own answer, `ufunc.at`, is quick for
single numbers only. Where Numba is installed, a loop changes row after row, with the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfdist.base.machine_code import Compiler, MachineCode

FEW_NUMBERS = 8192  # fewer change at once before their turns are found
WIDE_ROW = 128  # numbers; narrower ones change number by number, in C
NUMBERS_AT_A_TIME = 1 << 15  # their places stay in the cache
FEW_ROWS = 8  # fewer are changed one by one
_PAIRS = {"f": np.complex64, "d": np.complex128}


def all_differ(indices: Any) -> bool:
    """Return whether no index stands twice."""
    ordered = np.sort(indices, axis=None)
    return not (ordered[1:] == ordered[:-1]).any()


def earlier_times(indices: Any) -> Any:
    """Return how often each index of a vector has stood before."""
    order = indices.argsort(kind="stable")
    is_first = run_starts(indices[order])
    places = np.arange(len(order))
    times = np.empty_like(places)
    times[order] = places - np.maximum.accumulate(places * is_first)
    return times


def run_starts(ordered: Any) -> Any:
    """Return for each element of a vector whether it differs from the one before."""
    is_first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return is_first


def turns(indices: Any) -> Iterator[Any]:
    """Yield positions in a vector of indices so that each time no index stands twice.

    First ones come first. All positions are a slice.
    """
    if all_differ(indices):
        yield slice(None)
        return
    times = earlier_times(indices)
    for time in range(int(times.max()) + 1):
        yield np.flatnonzero(times == time)


def change_rows(ufunc: np.ufunc, rows: Any, places: Any, by: Any) -> None:
    """Apply `ufunc` to some rows in place, as often as each is named, as `ufunc.at` does.

    Args:
      ufunc: of two arguments.
      rows: an array of rank 2 or more.
      places: a vector of indices of rows, none below 0.
      by: a row for each of them.
    """
    is_plain = rows.flags.c_contiguous and rows.dtype == by.dtype and rows.dtype.kind in "fiu"
    change = _compiled_for(ufunc, rows, places, by) if is_plain else None
    if change is not None:
        by = np.ascontiguousarray(by).reshape(len(by), -1)
        change(rows.reshape(len(rows), -1), np.ascontiguousarray(places, np.intp), by)
        return
    if len(places) <= len(rows) and all_differ(places):
        rows[places] = ufunc(rows.take(places, 0), by)
        return
    if is_plain and (by.size < FEW_NUMBERS or rows[0].size < WIDE_ROW):
        _change_numbers(ufunc, rows, places, by)
        return
    if by.size < FEW_NUMBERS:
        ufunc.at(rows, places, by)
        return
    times = earlier_times(places)
    for time in range(int(times.max()) + 1):
        turn = np.flatnonzero(times == time)
        if len(turn) < FEW_ROWS:  # later ones are fewer still
            _change_one_by_one(ufunc, rows, places, by, np.flatnonzero(times >= time))
            return
        named = places[turn]
        rows[named] = ufunc(rows.take(named, 0), by.take(turn, 0))


def _compiled_for(ufunc: np.ufunc, rows: Any, places: Any, by: Any) -> Any:
    """Return what changes such rows one after the other, as machine code; None if NumPy has to."""
    code = _CODES.get((ufunc, rows.dtype))
    if code is None or not by.size:
        return None
    if places.min() < 0 or places.max() >= len(rows):  # NumPy tells
        return None
    return code.instead_of(_CALL + _NUMBER * by.size)


def _machine_code(ufunc: np.ufunc, dtype: Any) -> MachineCode:
    def change(rows: Any, places: Any, by: Any) -> None:
        for i in range(len(places)):
            place = places[i]
            for j in range(rows.shape[1]):
                rows[place, j] = ufunc(rows[place, j], by[i, j])

    def compile(compiler: Compiler) -> Any:
        given = compiler.read(np.intp), compiler.read(dtype, 2)
        return compiler.procedure(change, compiler.written(dtype, 2), *given)

    return MachineCode(compile)


_CODES: dict[Any, MachineCode] = {
    (ufunc, np.dtype(dtype)): _machine_code(ufunc, np.dtype(dtype))
    for ufunc in (np.add, np.subtract, np.multiply, np.maximum, np.minimum)
    for dtype in (np.float32, np.float64, np.int32, np.int64)
}
_CALL, _NUMBER = 10_000, 7  # nanoseconds that NumPy takes, and for each number


def _change_numbers(ufunc: np.ufunc, rows: Any, places: Any, by: Any) -> None:
    """Apply `ufunc` as if rows were single numbers: for those `ufunc.at` has a fast way."""
    pair = _PAIRS.get(rows.dtype.char) if ufunc in (np.add, np.subtract) else None
    if pair is not None and rows.shape[-1] % 2 == 0:  # complex numbers are added as two are
        rows, by = rows.view(pair), np.ascontiguousarray(by).view(pair)
    numbers, size = rows.reshape(-1), rows[0].size
    step = max(NUMBERS_AT_A_TIME // max(size, 1), 1)
    # looked up in a table, places are found several times faster than they are computed
    table = np.arange(rows.size).reshape(len(rows), size) if rows.size <= by.size else None
    for start in range(0, len(places), step):
        some = places[start : start + step].astype(np.intp, copy=False)
        named = some[:, None] * size + np.arange(size) if table is None else table.take(some, 0)
        ufunc.at(numbers, named.reshape(-1), by[start : start + step].reshape(-1))


def _change_one_by_one(ufunc: np.ufunc, rows: Any, places: Any, by: Any, left: Any) -> None:
    """Apply what is `left`, positions in `places`: for few rows, some perhaps named very often."""
    if rows[0].size == 1:  # NumPy would add these up in another order
        ufunc.at(rows, places[left], by[left])
        return
    named = places[left]
    for row in dict.fromkeys(named.tolist()):
        changes = by[left[named == row]]
        rows[row] = ufunc.reduce(np.concatenate([rows[row : row + 1], changes]), axis=0)
