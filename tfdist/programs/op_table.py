"""The table of ops: what is there, from which version of TensorFlow, and what is left out, and why.

`python -m tfdist.programs.op_table` writes it as Markdown.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module, resources
from pkgutil import walk_packages
from typing import NamedTuple

from tfdist import ops
from tfdist.base import dtypes
from tfdist.graph.op_def import REGISTRY, OpDef
from tfdist.graph.signatures import Attr
from tfdist.plan.gpu_kernels import gpu_types

VERSIONS = "op_versions.txt"
_EVERY = "any"

# What TensorFlow 1.15 has and this has not: a pattern of whole names, and why. The first counts.
LEFT_OUT = {
    r"BoostedTrees\w*|DecisionTree\w*": "learners of trees, with state of their own",
    r"\w*TPU\w*|(Infeed|Outfeed)\w*|Prelinearize\w*|AllToAll|CrossReplicaSum|CollectivePermute": (
        "for TPUs"
    ),
    r"Nccl\w*|Collective\w*": "reductions among cards of one machine",
    r"Cudnn\w*": "need a card and its library",
    r"Quantized\w*|Requantiz\w*|RequantizationRange\w*|QuantizeDownAndShrinkRange": (
        "arithmetic of 8-bit networks"
    ),
    r"\w*Dataset(V\d)?|\w*Iterator\w*|DatasetTo\w*|\w*ThreadPoolHandle|\w*StatsAggregator\w*": (
        "stages of datasets that programs do not name"
    ),
    r"Debug\w*|Fused\w*|\w*SummaryWriter\w*|Write\w*Summary|Create\w*Writer": (
        "made by tools, not by programs"
    ),
    r"Sdca\w*": "a solver of its own",
    r"LMDB\w*|(Decode|Encode)Proto\w*": "files that need their own libraries",
    r"Batch|Unbatch\w*|BatchFunction": "of serving systems",
}
_OTHERWISE = "no program has asked for it yet"


class Row(NamedTuple):
    """What the table says of an op.

    Attributes:
      name: of the op.
      types: what each of its type attributes may be, "T: float, double".
      devices: types of devices that it has kernels for.
      gradient: "yes", "none" where nothing flows through it, "" where there is no rule.
      since: the first version of TensorFlow that has it, "" if that is not known.
    """

    name: str
    types: str
    devices: str
    gradient: str
    since: str


def rows() -> list[Row]:
    """Return a row for each op that is there, by name; those without a public name are left out."""
    for module in walk_packages(ops.__path__, f"{ops.__name__}."):  # some load on demand
        import_module(module.name)
    return [_row(REGISTRY[name]) for name in sorted(REGISTRY) if not name.startswith("_")]


def _row(op_def: OpDef) -> Row:
    attrs = op_def.signature.attrs.values()
    types = "; ".join(_types(attr) for attr in attrs if attr.type in ("type", "list(type)"))
    gradient = "yes" if op_def.gradient_rule else "" if op_def.differentiable else "none"
    return Row(op_def.name, types, _devices(op_def), gradient, since().get(op_def.name, ""))


def _devices(op_def: OpDef) -> str:
    """Return the types of devices that an op has kernels for, and for which types GPUs have."""
    on_gpu = gpu_types(op_def.name)
    if not op_def.kernels and not op_def.labelled:
        return "none"
    if on_gpu is None:
        return "CPU"
    limits = [f"{attr}: {', '.join(names)}" for attr, names in on_gpu.items()]
    return f"CPU, GPU ({'; '.join(limits)})" if limits else "CPU, GPU"


def _types(attr: Attr) -> str:
    """Return what a type attribute may be."""
    names = [dtypes.as_dtype(each).name for each in attr.allowed]
    return f"{attr.name}: {', '.join(names) if names else _EVERY}"


@cache
def since() -> Mapping[str, str]:
    """Return the first version of TensorFlow that has an op, by the op's name.

    Source: the names in the libraries of these versions' packages, from 0.12 on.
    """
    text = resources.files(__package__).joinpath(VERSIONS).read_text()
    found = {}
    for line in text.splitlines():
        version, _, names = line.partition(": ")
        found.update(dict.fromkeys(names.split(), version))
    return found


def left_out() -> dict[str, list[str]]:
    """Return the ops of TensorFlow 1.15 that are not there, by the reason."""
    found: dict[str, list[str]] = {}
    for name in sorted(since()):
        if name not in REGISTRY:
            found.setdefault(_reason(name), []).append(name)
    return dict(sorted(found.items(), key=lambda each: -len(each[1])))


def _reason(name: str) -> str:
    found = (why for pattern, why in LEFT_OUT.items() if re.fullmatch(pattern, name))
    return next(found, _OTHERWISE)


def to_markdown() -> str:
    """Return both tables."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    table, missing = rows(), left_out()
    known = len(since())
    there = known - sum(map(len, missing.values()))
    yield "# Ops\n"
    yield (
        f"{len(table)} ops, among them {there} of the {known} of TensorFlow 1.15. Written by "
        "`python -m tfdist.programs.op_table`.\n"
    )
    yield "*Gradient*: none means that nothing flows through the op, empty that there is no rule,"
    yield "as in TensorFlow. *Since*: the first version that has it; 0.12 may be an earlier one.\n"
    yield "| op | types | devices | gradient | since |"
    yield "|---|---|---|---|---|"
    for row in table:
        yield f"| {row.name} | {row.types} | {row.devices} | {row.gradient} | {row.since} |"
    yield "\n## Left out\n"
    yield "| why | ops of TensorFlow 1.15 |"
    yield "|---|---|"
    for why, names in missing.items():
        yield f"| {why} | {', '.join(names)} |"


if __name__ == "__main__":
    sys.stdout.write(to_markdown())
