"""Names for what the types of signatures leave open, so that they say at least what it is.

Python's types cannot tell which dtype and rank an array has, nor what a graph's structures hold. A
signature of the folders from `graph` to `session` has one of these names instead of `Any`
(`tests/test_layers.py`).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
NumpyType: TypeAlias = np.dtype[Any]

# A value that a tensor has in a step: an array (NumPy's, or a card's), a NumPy scalar or bytes for
# rank 0, the variable itself behind a reference, or what a variant or a resource holds.
TensorValue: TypeAlias = Any

# What becomes a tensor where one is wanted: a Tensor or a Variable, a value, nested lists of them,
# and what has a conversion function.
TensorLike: TypeAlias = Any

# A node's attribute: a number, a bool, bytes, a DType, a shape, an array, a function's name, or a
# list of them.
AttrValue: TypeAlias = Any

# Lists, tuples, dicts and named tuples, nested, of leaves that the function names; or one leaf.
Structure: TypeAlias = Any

# What a wait brings, or a call to another process: a value, or the exception that came instead.
Outcome: TypeAlias = Any

# What programs keep in a graph's collections under a name.
Collected: TypeAlias = Any

# A `graph.graph.Graph` where it cannot be named: in nodes, whose module the graph's own imports.
OwnGraph: TypeAlias = Any

# A `graph.contexts.Context`, whose module imports that of nodes.
OwnContext: TypeAlias = Any

# What the partitions of a traced step in other processes tell of it: TensorFlow's StepStats, which
# the folders of the runtime hand on unread.
RemoteStats: TypeAlias = Any

# What a task keeps for a kernel: the resource of the kind that it asked for, a function it calls.
TaskResource: TypeAlias = Any

# A strategy of `tf.distribute`, and the context of one of its replicas; the folder of training has
# both.
OwnStrategy: TypeAlias = Any
OwnReplica: TypeAlias = Any
