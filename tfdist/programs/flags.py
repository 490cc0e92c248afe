"""tf.flags: options of a program's command line, by absl-py, as in TensorFlow itself.

Flags are read when the first one is asked for, by `app.run` or before it. What the command line
holds besides is left alone: a notebook's kernel has options of its own there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from absl import flags as absl_flags
from absl.flags import FLAGS as _FLAGS
from absl.flags import mark_flag_as_required, mark_flags_as_required

__all__ = [
    "FLAGS",
    "DEFINE_alias",
    "DEFINE_bool",
    "DEFINE_boolean",
    "DEFINE_enum",
    "DEFINE_float",
    "DEFINE_integer",
    "DEFINE_list",
    "DEFINE_multi_float",
    "DEFINE_multi_integer",
    "DEFINE_multi_string",
    "DEFINE_string",
    "mark_flag_as_required",
    "mark_flags_as_required",
]  # fmt: skip

absl_flags.disclaim_key_flags()  # a flag is of the module that calls `DEFINE_...`, not of this one

# TensorFlow's spellings of absl's arguments.
_SPELLINGS = {"flag_name": "name", "default_value": "default", "docstring": "help"}


class Flags:
    """The values of all flags: `FLAGS.name` reads one, and the command line at the first time."""

    def __getattr__(self, name: str) -> Any:
        if name == "__flags":  # old programs print what they were told so: {name: Flag}
            return _FLAGS._flags()
        if name.startswith("__"):
            raise AttributeError(name)
        self._read()
        return getattr(_FLAGS, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_FLAGS, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_FLAGS, name)

    def __dir__(self) -> list[str]:
        return list(_FLAGS)

    def __iter__(self) -> Any:
        return iter(_FLAGS)

    def __contains__(self, name: str) -> bool:
        return name in _FLAGS

    def __getitem__(self, name: str) -> Any:
        return _FLAGS[name]

    def __call__(self, argv: Any, known_only: bool = False) -> list[str]:
        return _FLAGS(argv, known_only)

    def _parse_flags(self, args: Any = None) -> list[str]:
        """Read the command line, or `args`, and return what is left, as before TensorFlow 1.5."""
        rest = sys.argv[1:] if args is None else args
        return _FLAGS([sys.argv[0], *rest], known_only=True)[1:]

    def _read(self) -> None:
        if not _FLAGS.is_parsed():
            _FLAGS(sys.argv, known_only=True)


FLAGS = Flags()


def _define(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return absl's `DEFINE_...` that takes TensorFlow's spellings, and may be called again.

    The cell of a notebook is run again; a module is imported once. So a flag that `__main__`
    defines anew takes the place of the one before. absl's own flags give way to every program's:
    until 1.12 there were none, and `log_dir` was a name that many programs gave.
    """

    @wraps(function)
    def define(*args: Any, **kwargs: Any) -> Any:
        named = {_SPELLINGS.get(key, key): value for key, value in kwargs.items()}
        name = str(args[0] if args else named.get("name"))
        is_main = sys._getframe(1).f_globals.get("__name__") == "__main__"
        if name in _FLAGS and (_is_of_absl(name) or (is_main and not _is_of_module(name))):
            delattr(_FLAGS, name)
        values = named.pop("flag_values", _FLAGS)
        return function(*args, flag_values=values, **named)

    return define


def _is_of_absl(name: str) -> bool:
    """Return whether absl's logging or app defined a flag, for itself."""
    return str(_FLAGS.find_module_defining_flag(name)) in ("absl.logging", "absl.app")


def _is_of_module(name: str) -> bool:
    """Return whether a flag was defined elsewhere than in a program's or notebook's main part."""
    home = _FLAGS.find_module_defining_flag(name)
    return home in sys.modules and home not in ("__main__", sys.argv[0])


def __getattr__(name: str) -> Any:
    """Return what else absl has under this name."""
    return getattr(absl_flags, name)


DEFINE_alias = _define(absl_flags.DEFINE_alias)
DEFINE_bool = _define(absl_flags.DEFINE_bool)
DEFINE_boolean = _define(absl_flags.DEFINE_boolean)
DEFINE_enum = _define(absl_flags.DEFINE_enum)
DEFINE_float = _define(absl_flags.DEFINE_float)
DEFINE_integer = _define(absl_flags.DEFINE_integer)
DEFINE_list = _define(absl_flags.DEFINE_list)
DEFINE_multi_float = _define(absl_flags.DEFINE_multi_float)
DEFINE_multi_integer = _define(absl_flags.DEFINE_multi_integer)
DEFINE_multi_string = _define(absl_flags.DEFINE_multi_string)
DEFINE_string = _define(absl_flags.DEFINE_string)
