"""HParams: the numbers of a model, with names and types, that a command line may change.

Source: TF 1.15 API documentation, tf.contrib.training.HParams; texts by experiment.
"""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Mapping
from typing import Any, Self

from tfdist.training.hparams import hparam_messages as messages

__all__ = ["HParams", "parse_values"]

# One assignment: name, perhaps a place in a list, a value or a list of values, and what follows.
_ASSIGNMENT = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)\s*(\[\s*(?P<place>\d+)\s*\])?\s*=\s*"
    r"((?P<value>[^,\[]*)|\[(?P<values>[^\]]*)\])($|,\s*)"
)
_WORDS = {"true": True, "false": False}


def parse_values(
    values: str, type_map: Mapping[str, type], ignore_unknown: bool = False
) -> dict[str, Any]:
    """Return what a text such as "rate=0.1,sizes=[3,4],name=x" assigns.

    Args:
      values: assignments with commas between them; "sizes[1]=4" sets one place of a list.
      type_map: the type of each name.
      ignore_unknown: whether other names are passed over.

    Returns:
      A dict of values, of lists, and of dicts from places to values.

    Raises:
      ValueError: the text is no such list, a name is unknown or assigned twice, or a value is of
        another type.

    Example:
      >>> contrib.training.parse_values("rate=1e-3,sizes=[3,4]", {"rate": float, "sizes": int})
      {'rate': 0.001, 'sizes': [3, 4]}
    """
    found: dict[str, Any] = {}
    place = 0
    while place < len(values):
        match = _ASSIGNMENT.match(values, place)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[place:]}")
        place = match.end()
        name = match["name"]
        if name in type_map:
            _assign(found, match, type_map[name], values)
        elif not ignore_unknown:
            raise ValueError(f"Unknown hyperparameter type for {name}")
    return found


def _assign(found: dict[str, Any], match: re.Match[str], kind: type, text: str) -> None:
    """Put what an assignment says into `found`."""
    name, place = match["name"], match["place"]
    old = found.get(name)
    if name in found and (place is None or not isinstance(old, dict)):
        raise ValueError(f"Multiple assignments to variable '{name}' in {text}")
    if match["value"] is None:
        if place is not None:
            raise ValueError(f"a list cannot be assigned to one place, {name}[{place}], in {text}")
        words = [word for word in re.split(r"[,\s]+", match["values"]) if word]
        found[name] = [_read(name, word, kind, text) for word in words]
        return
    value = _read(name, match["value"].strip(), kind, text)
    if place is None:
        found[name] = value
    elif int(place) in found.setdefault(name, {}):
        raise ValueError(f"Multiple assignments to variable '{name}[{place}]' in {text}")
    else:
        found[name][int(place)] = value


def _read(name: str, word: str, kind: Any, text: str) -> Any:
    try:
        if kind is bool:
            return _WORDS[word.lower()] if word.lower() in _WORDS else bool(int(word))
        return kind(word)
    except ValueError:
        raise ValueError(
            f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{word}' in "
            f"{text}"
        ) from None


def _cast(name: str, kind: type, value: Any) -> Any:
    """Return a value as `kind`, if it can be that without loss."""
    wrong = (
        (kind is not type(None) and value is None)
        or (issubclass(kind, str | bytes) != isinstance(value, str | bytes))
        or (issubclass(kind, bool) != isinstance(value, bool))
        or (issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral))
        or (issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number))
    )
    if kind is type(None):
        return value
    if wrong:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return kind(value) if issubclass(kind, str | int | float) else value


class HParams:
    """Hyperparameters: attributes with names and types.

    A value's type stays what it was: a whole number, a float, a bool, a text, or a list of such.

    Args:
      hparam_def: an HParamDef with names and values, instead of others.
      model_structure: anything; see `get_model_structure`.
      **kwargs: names and values.

    Raises:
      ValueError: a name is taken, a list is empty, or names and values come from both.

    Example:
      >>> hparams = contrib.training.HParams(rate=0.1, sizes=[3, 4], name="net")
      >>> hparams.parse("rate=0.5,sizes=[8]").values()
      {'rate': 0.5, 'sizes': [8], 'name': 'net'}
      >>> hparams.rate, "rate" in hparams, hparams.get("depth", 2)
      (0.5, True, 2)
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any) -> None:
        if hparam_def is not None:
            if kwargs:
                raise ValueError("hparam_def and initialization values are mutually exclusive")
            kwargs = messages.values_of(hparam_def)
        self._hparam_types: dict[str, tuple[type, bool]] = {}  # name -> type, whether a list
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Add a hyperparameter.

        Args:
          name: which it gets.
          value: says its type, too.

        Raises:
          ValueError: the name is taken, or a list is empty.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, list | tuple)
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._hparam_types[name] = (type(value[0] if is_list else value), is_list)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Give a hyperparameter another value.

        Args:
          name: of one that is there.
          value: of its type.

        Raises:
          KeyError: there is none of this name.
          ValueError: the value is of another type.
        """
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_cast(name, kind, each) for each in value])
        elif is_list:
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
        else:
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Remove a hyperparameter, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> Self:
        """Give hyperparameters the values of a text such as "rate=0.1,sizes=[3,4]".

        Raises:
          ValueError: see `parse_values`.
        """
        kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, kinds))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> Self:
        """Give hyperparameters the values of a dict; see `set_hparam`."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: Mapping[str, Any]) -> Self:
        """Give hyperparameters the values of a dict: the earlier name of `override_from_dict`."""
        return self.override_from_dict(values_map)

    def parse_json(self, values_json: str) -> Self:
        """Give hyperparameters the values of a JSON object; see `set_hparam`."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(
        self,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """Return the values as a JSON object; for the arguments see `json.dumps`."""
        return json.dumps(
            self.values(), indent=indent, separators=separators,
            sort_keys=sort_keys,
        )  # fmt: skip

    def values(self) -> dict[str, Any]:
        """Return the values by name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value; `default` if there is none of this name.

        Raises:
          ValueError: `default` is of another type.
        """
        if key not in self._hparam_types:
            return default
        if default is not None:
            self._check_default(key, default)
        return getattr(self, key)

    def _check_default(self, key: str, default: Any) -> None:
        kind, is_list = self._hparam_types[key]
        shown = f"list<{kind}>" if is_list else str(kind)
        text = f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
        if is_list != isinstance(default, list):
            raise ValueError(text)
        try:
            for each in default if is_list else [default]:
                _cast(key, kind, each)
        except ValueError as error:
            raise ValueError(f"{text}. {error}") from None

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return the values as an HParamDef.

        Raises:
          ValueError: a value is of a type that it cannot hold.
        """
        return messages.message_of(self.values())

    @staticmethod
    def from_proto(hparam_def: Any, import_scope: str | None = None) -> HParams:
        """Return the hyperparameters of an HParamDef."""
        return HParams(hparam_def=hparam_def)

    def get_model_structure(self) -> Any:
        """Return what was given as `model_structure`."""
        return self._model_structure

    def set_model_structure(self, model_structure: Any) -> None:
        """Keep anything beside the hyperparameters."""
        self._model_structure = model_structure

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"HParams({list(self.values().items())})"
