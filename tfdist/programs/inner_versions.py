"""Names of functions that modules of tensorflow.python have for two versions: `conv2d_v2`."""

from __future__ import annotations

import re
from typing import Any

from tfdist.programs.missing import namespace, namespaces

_SUFFIX = re.compile(r"^(\w+?)_?([vV])([12])$")

# What the second version calls otherwise.
_RENAMED = {
    "crop_and_resize_v2": "image.crop_and_resize",
    "extract_glimpse_v2": "image.extract_glimpse",
    "resize_image_with_pad_v2": "image.resize_with_pad",
    "resize_images_v2": "image.resize",
    "string_length_v2": "strings.length",
}
_SPACES = (
    "", "math", "nn", "image", "strings", "debugging", "linalg", "sparse", "random", "io",
    "summary", "lookup", "data", "initializers",
)  # fmt: skip
_SECOND = "tensorflow.compat.v2"


class Versions:
    """`name_v1` is the public name of 1.x, and `name_v2` that of `tf.compat.v2`."""

    def __getattr__(self, name: str) -> Any:
        """Return the function, or class, of a version."""
        match = _SUFFIX.match(name)
        if name.startswith("sparse_") and match is None:
            return getattr(namespace("tensorflow.sparse"), name.removeprefix("sparse_"))
        if match is None or name.startswith("_"):
            raise AttributeError(name)
        base, _, version = match.groups()
        found = _first(base) if version == "1" else _second(name, base)
        if found is None:
            raise AttributeError(name)
        return found


def _first(base: str) -> Any:
    for space in namespaces():
        found = getattr(space, base, None)
        if found is not None:
            return found
    return None


def _second(name: str, base: str) -> Any:
    if name in _RENAMED:
        place, _, last = _RENAMED[name].rpartition(".")
        return getattr(namespace(f"{_SECOND}.{place}"), last, None)
    for wanted in (base, base.removeprefix("sparse_")):
        for place in _SPACES:
            space = namespace(f"{_SECOND}.{place}" if place else _SECOND)
            found = getattr(space, wanted, None) if space else None
            if callable(found):
                return found
    return None
