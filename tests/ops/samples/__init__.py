"""One line of inputs for every op: what `test_every_op.py` and `differential.py` above feed it.

There is a module for each folder of `tfdist/ops`. The form of its table: op name -> a tuple with
one value per input of the signature (a list of values for a list input), with a dict of attributes
as its last element if any are needed:

    "AddV2": (F23, F3),
    "Pack": ([F23, F23 + 1], {"axis": 1}),

Several samples of one op stand in a list of such tuples. Values are arrays of the sample's own
dtype; the contract repeats each sample in the other types that the signature allows, checks the
gradient in float64, and blurs the shapes. So: never square (swapped axes would pass unseen), no
size that occurs twice, floats away from kinks, ties and poles of the function.

(This folder is also read by Python 3.7, the one that real TensorFlow 1.15 runs on, as the package
`samples`: so it imports nothing of ours, and its modules by relative names.)
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

_MODULES = [module.name for module in iter_modules(__path__) if module.name != "values"]
TABLES = [import_module(f"{__name__}.{name}") for name in sorted(_MODULES)]
SAMPLES = {name: sample for table in TABLES for name, sample in table.SAMPLES.items()}
assert len(SAMPLES) == sum(len(table.SAMPLES) for table in TABLES), "an op is in two tables"


def samples_of(name):
    """Return (inputs, attributes) of each sample of the op `name`."""
    found = SAMPLES[name]
    for sample in found if isinstance(found, list) else [found]:
        sample = sample if isinstance(sample, tuple) else (sample,)
        has_attributes = bool(sample) and isinstance(sample[-1], dict)
        yield (sample[:-1], sample[-1]) if has_attributes else (sample, {})
