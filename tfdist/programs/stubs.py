"""StubOutForTesting: attributes that are replaced for a test, and put back after it.

Source: TF 1.15 API documentation, tf.test.StubOutForTesting.
"""

from __future__ import annotations

import inspect
from typing import Any


class StubOutForTesting:
    """Replaces attributes, and puts them back.

    Example:
      >>> stubs = test.StubOutForTesting()
      >>> class Place:
      ...     size = 3
      >>> stubs.Set(Place, "size", 5)
      >>> Place.size
      5
      >>> stubs.CleanUp()
      >>> Place.size
      3
    """

    def __init__(self) -> None:
        self._kept: list[tuple[Any, str, Any]] = []
        self._kept_smartly: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *failure: object) -> None:
        self.CleanUp()

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        """Replace an attribute, which `UnsetAll` puts back."""
        self._kept.append((parent, child_name, _plain(parent, child_name)))
        setattr(parent, child_name, new_child)

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:
        """Replace an attribute where it is defined: in the object, its class, or a base of it.

        Raises:
          AttributeError: there is no such attribute.
        """
        owner = obj
        if not inspect.ismodule(obj) and attr_name not in vars(obj):
            kinds = inspect.getmro(obj if isinstance(obj, type) else type(obj))
            owner = next((each for each in kinds if attr_name in vars(each)), None)
        if owner is None or not hasattr(owner, attr_name):
            raise AttributeError("Attribute not found.")
        self._kept_smartly.append((owner, attr_name, _plain(owner, attr_name)))
        setattr(owner, attr_name, new_attr)

    def UnsetAll(self) -> None:
        """Put back what `Set` replaced, the last one first."""
        _put_back(self._kept)

    def SmartUnsetAll(self) -> None:
        """Put back what `SmartSet` replaced, the last one first."""
        _put_back(self._kept_smartly)

    def CleanUp(self) -> None:
        """Put back everything."""
        self.SmartUnsetAll()
        self.UnsetAll()


def _plain(parent: Any, name: str) -> Any:
    """Return an attribute as it stands in a class: a staticmethod stays one."""
    return (
        vars(parent).get(name, getattr(parent, name))
        if hasattr(parent, "__dict__")
        else (getattr(parent, name))
    )


def _put_back(kept: list[tuple[Any, str, Any]]) -> None:
    while kept:
        parent, name, child = kept.pop()
        setattr(parent, name, child)
