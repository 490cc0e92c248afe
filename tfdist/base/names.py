"""Names of nodes and tensors: `scope/add:0` is the first output of the node `scope/add`."""

from __future__ import annotations

import re

VALID_NODE = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*\Z")
VALID_SCOPE = re.compile(r"^[A-Za-z0-9_.\\/>-]*\Z")


def snake_case(name: str) -> str:
    """Return the name of a class in lower case: "Conv2D" is "conv2d", "MyLayer" is "my_layer"."""
    split = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", split).lower().lstrip("_")


def split_tensor_name(name: str) -> tuple[str, int]:
    """Return node and output index of "node:1" or "node"; ValueError if the index is no number."""
    node, colon, index = name.partition(":")
    if colon and not index.isdigit():
        raise ValueError(f"{name!r} is not a tensor's name: expected NODE:INDEX, such as add:0")
    return node, int(index or 0)
