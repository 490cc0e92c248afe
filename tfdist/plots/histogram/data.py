"""Histograms of arrays as plain data: how values are spread, in bins and in a few numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdist.plots.graph.data import shape_text
from tfdist.plots.shared.tables import Table

BINS = 41  # odd: what is equal everywhere stands in the middle
MARKS = " ▁▂▃▄▅▆▇█"
MARK_COUNT = 16
VARIABLE, GRADIENT = "variable", "gradient"


@dataclass(frozen=True, eq=False)
class Histogram:
    """How the values of an array are spread.

    Attributes:
      name: of the tensor.
      kind: "variable", "gradient" or "tensor".
      shape: of the array.
      dtype: its name.
      mean: of the finite values; 0 if there are none.
      std: their standard deviation.
      least: the smallest of them.
      most: the largest.
      zeros: number of zeros.
      nans: number of values that are not a number.
      infinities: number of infinite values.
      edges: of the bins, one more than `counts`.
      counts: finite values in each bin.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    mean: float
    std: float
    least: float
    most: float
    zeros: int
    nans: int
    infinities: int
    edges: np.ndarray[Any, Any]
    counts: np.ndarray[Any, Any]

    @property
    def size(self) -> int:
        """Return the number of values."""
        return int(np.prod(self.shape, dtype=np.int64))

    def rebinned(self, edges: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the counts in other bins, as if values were even within a bin."""
        below = np.concatenate([[0.0], np.cumsum(self.counts)])
        return np.diff(np.interp(edges, self.edges, below))

    def warnings(self) -> str:
        """Return what is wrong with the values in words: "2 NaN, 1 infinite", or ""."""
        counts = (self.nans, "NaN"), (self.infinities, "infinite")
        return ", ".join(f"{count:,} {what}" for count, what in counts if count)

    def marks(self) -> str:
        """Return the histogram as a line of blocks."""
        if not self.counts.any():
            return ""
        counts = self.rebinned(np.linspace(self.edges[0], self.edges[-1], MARK_COUNT + 1))
        heights = np.ceil(counts / counts.max() * (len(MARKS) - 1)).astype(int)
        return "".join(MARKS[height] for height in heights).rstrip()


def histogram_of(name: str, values: Any, kind: str = "tensor", bins: int = BINS) -> Histogram:
    """Return the histogram of an array.

    Args:
      name: of the tensor.
      values: numbers or booleans, of any shape.
      kind: "variable", "gradient" or "tensor".
      bins: into which the values are counted, if there are finite ones.

    Raises:
      ValueError: the values are no numbers.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        try:
            array = array.astype(np.float32)  # such as bfloat16
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} holds {array.dtype}, no numbers, so has no histogram"
            ) from None
    flat = array.ravel()
    finite = flat[np.isfinite(flat)].astype(np.float64)
    nans = int(np.isnan(flat).sum())
    counts, edges = _counted(finite, bins)
    return Histogram(
        name,
        kind,
        array.shape,
        str(np.asarray(values).dtype),
        *_moments(finite),
        zeros=int((flat == 0).sum()),
        nans=nans,
        infinities=flat.size - finite.size - nans,
        edges=edges,
        counts=counts,
    )


def _counted(
    finite: np.ndarray[Any, Any], bins: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    if not finite.size:
        return np.zeros(1, int), np.array([0.0, 1.0])
    scale = 4.0 if np.abs(finite).max() > np.finfo(np.float64).max / 4 else 1.0  # else overflows
    scaled = finite / scale
    least, most = scaled.min(), scaled.max()
    # so narrow that bins would have no width: as if all were equal
    if not most - least > bins * np.spacing(max(abs(least), abs(most))):
        reach = max(abs(least) * 0.5, 0.5)
        least, most = least - reach, most + reach
    counts, edges = np.histogram(scaled, bins, (least, most))
    return counts, edges * scale


def _moments(finite: np.ndarray[Any, Any]) -> tuple[float, float, float, float]:
    if not finite.size:
        return 0.0, 0.0, 0.0, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        return float(finite.mean()), float(finite.std()), float(finite.min()), float(finite.max())


def histogram_table(histograms: Sequence[Histogram], digits: int = 4, most: int = 200) -> Table:
    """Return one row for each histogram.

    Args:
      histograms: in the order of the rows.
      digits: of numbers.
      most: rows; a note says how many were left out.
    """
    header = ("name", "what", "shape", "values", "mean", "std", "least", "most", "zeros",
              "not finite", "spread")  # fmt: skip
    cells = tuple(_cells(each, digits) for each in histograms[:most])
    left_out = len(histograms) - most
    note = f"... and {left_out} more rows" if left_out > 0 else ""
    return Table(header, cells, frozenset({3, 4, 5, 6, 7, 8}), note)


def _cells(each: Histogram, digits: int) -> tuple[str, ...]:
    numbers = (each.mean, each.std, each.least, each.most)
    has_any = bool(each.counts.any())
    return (
        each.name,
        each.kind,
        shape_text(each.shape),
        f"{each.size:,}",
        *(number_text(number, digits) if has_any else "-" for number in numbers),
        share_text(each.zeros, each.size),
        each.warnings() or "-",
        each.marks(),
    )


def number_text(number: float, digits: int = 3) -> str:
    """Return a number with few digits: "0.0123", "-1.5", "2e-09"."""
    return f"{number:.{digits}g}".replace("-0", "-0") if number else "0"


def share_text(count: int, size: int) -> str:
    """Return a share in percent; what is little is not told as nothing."""
    if not count or not size:
        return "0 %"
    share = 100 * count / size
    return "<1 %" if share < 1 else f"{share:.0f} %" if share <= 99 or count == size else ">99 %"


def histogram_sentence(histograms: Sequence[Histogram]) -> str:
    """Return one sentence: how many there are, and what is wrong with which."""
    kinds: dict[str, int] = {}
    for each in histograms:
        kinds[each.kind] = kinds.get(each.kind, 0) + 1
    counts = " and ".join(f"{n} {kind}{'s' * (n != 1)}" for kind, n in kinds.items())
    size = sum(each.size for each in histograms)
    bad = [f"{each.name} has {each.warnings()}" for each in histograms if each.warnings()]
    more = f"; {'; '.join(bad[:3])}" if bad else ""
    return f"Histograms of {counts or 'nothing'}: {size:,} values{more}."


def histograms_of(values: Mapping[tuple[str, str], Any]) -> list[Histogram]:
    """Return the histograms of arrays by (name, kind)."""
    return [histogram_of(name, array, kind) for (name, kind), array in values.items()]
