"""Displays of datasets and iterators: their elements, and the stages they come through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfdist.base.dtypes import variant
from tfdist.datasets import structure
from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.displays.cards import Show, card, listed, rows_table, shape_text
from tfdist.plots.shared.tables import Table

_ADDED = {"OptimizeDataset", "ModelDataset"}  # by an iterator; nobody has asked for them


def _dataset(dataset: Any, style: Style) -> Bundle:
    op = dataset._variant_tensor.op
    stages = list(_stages(op))
    facts = [("elements", _spec_text(dataset)), ("made at", op.created_at)]
    table = rows_table(("stage", "with"), stages, style)
    return card(type(dataset).__name__, op.name, facts, table)


def _stages(op: Any) -> Iterator[tuple[str, str]]:
    """Yield (stage, what it has been told) from the source to the end; side branches are named."""
    line = [op]
    while above := _datasets_of(line[-1]):
        line.append(above[0])
    for stage in reversed(line):
        if stage.type not in _ADDED:
            yield stage.type, _told(stage)


def _datasets_of(op: Any) -> list[Any]:
    return [each.op for each in op.inputs if each.dtype.base_dtype is variant]


def _told(op: Any) -> str:
    """Return a stage's functions, other datasets and constants."""
    functions = [
        value.name for value in op._attrs.values() if type(value).__name__ == "NameAttrList"
    ]
    others = [f"{each.type} {each.name!r}" for each in _datasets_of(op)[1:]]
    constants = [
        f"{each.op.name.rpartition('/')[2]}={each.op._attrs['value'].tolist()!r}"
        for each in op.inputs
        if each.op.type == "Const" and not each.op._attrs["value"].ndim
    ]
    return listed([*functions, *others, *constants])


def _spec_text(found: Any) -> str:
    """Return types and shapes of the elements' leaves, a line each."""
    return "\n".join(map(_leaf_text, structure.flatten(found._structure)))


def _leaf_text(spec: Any) -> str:
    if not hasattr(spec, "dtype"):
        return repr(spec)
    sparse = "sparse " if isinstance(spec, structure.SparseTensorSpec) else ""
    return f"{sparse}{spec.dtype.name} {shape_text(spec.shape)}"


def _iterator(iterator: Any, style: Style) -> Bundle:
    op = iterator._iterator_resource.op
    begun = iterator._initializer
    stages = _stages_of(begun, style)
    facts = [
        ("elements", _spec_text(iterator)),
        (
            "initializer",
            begun.name if begun is not None else "none: it begins by itself, or is fed",
        ),
        ("device", op.device or "(none asked for)"),
        ("get_next", f"called {iterator._calls} times" if iterator._calls != 1 else "called once"),
        ("made at", op.created_at),
    ]
    return card("Iterator", op.name, facts, *stages)


def _stages_of(initializer: Any, style: Style) -> list[Table]:
    datasets = _datasets_of(initializer) if initializer is not None else []
    return [rows_table(("stage", "with"), _stages(op), style) for op in datasets]


DISPLAYS: dict[tuple[str, str], Show] = {
    ("tfdist.datasets.dataset", "Dataset"): _dataset,
    ("tfdist.datasets.iterators", "Iterator"): _iterator,
}
