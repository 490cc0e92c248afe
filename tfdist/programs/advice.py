"""What to do about errors of programs that NumPy and Python have left behind since 2019."""

from __future__ import annotations

import re

import numpy as np

from tfdist.programs import numpy1, python37

AGAIN = "or run it by `tfdist run --numpy1`, which brings {what} back"
ONE_ELEMENT = (
    "NumPy {version} makes no number of an array with a dimension, even of one element: write "
    "a.item(), " + AGAIN.format(what="that")
)
PYTHON2 = (
    "this is Python 2: `2to3 -w -n FILE` (it comes with Python, up to 3.12) makes Python 3 of it"
)

# What an error says, after its class: what to do.
ADVICE: list[tuple[str, str]] = [
    (r"TypeError: only (0-dimensional|length-1) arrays can be converted", ONE_ELEMENT),
    (r"TypeError: %\w format: .*numpy.ndarray", ONE_ELEMENT),
    (r"ValueError: setting an array element with a sequence.$", ONE_ELEMENT),
    (r"ValueError: setting an array element .*inhomogeneous",
     "NumPy {version} makes no array of lists of different lengths on its own: write "
     "np.array(..., dtype=object), " + AGAIN.format(what="that")),
    (r"TypeError: arrays to stack must be passed as a",
     "NumPy {version} stacks lists, no generators: write np.vstack(list(...)), "
     + AGAIN.format(what="that")),
    (r"ValueError: The binary mode of fromstring",
     "NumPy {version} reads bytes by np.frombuffer: write that, " + AGAIN.format(what="it")),
    (r"ValueError: Unable to avoid copy",
     "NumPy {version} copies only if asked: write np.asarray(...), " + AGAIN.format(what="that")),
    (r"OverflowError: Python integer .* out of bounds for",
     "NumPy {version} wraps no numbers around: write np.array(...).astype(dtype)"),
    (r"ValueError: invalid mode: '[rbt+]*U",
     "Python 3.11 dropped the mode U of open: leave it out, " + AGAIN.format(what="it")),
    (r"NameError: name '(xrange|raw_input|unicode|unichr|reduce|basestring|execfile|long|file)'",
     PYTHON2),
    (r"(ModuleNotFoundError|ImportError): No module named '"
     r"(cPickle|urllib2|urlparse|Queue|StringIO|cStringIO|ConfigParser|commands|httplib|Tkinter|"
     r"__builtin__)'", PYTHON2),
    (r"AttributeError: 'dict' object has no attribute '(has_key|iter(items|keys|values))'",
     PYTHON2),
    (r"SyntaxError: Missing parentheses in call to '(print|exec)'", PYTHON2),
    (r"SyntaxError: multiple exception types must be parenthesized", PYTHON2),
    (r"SyntaxError: leading zeros in decimal integer", PYTHON2),
]  # fmt: skip


def advice(error: BaseException) -> str:
    """Return what to do about a program's error that comes of its age, or "" if it does not.

    Example:
      >>> try:
      ...     np.float
      ... except AttributeError as error:
      ...     print(advice(error))  # doctest: +ELLIPSIS
      NumPy ... has no np.float: write float, or run it by `tfdist run --numpy1`, ...
    """
    text = f"{type(error).__name__}: {error}"
    said = next((advised for known, advised in ADVICE if re.match(known, text)), "")
    return (said or _of_names(text)).format(version=np.__version__)


def _of_names(text: str) -> str:
    """Return what is advised about a name that is gone."""
    found = re.match(r"AttributeError: (?:module 'numpy' has no attribute '|`np\.)(\w+)", text)
    if found and found[1] in numpy1.RENAMED:
        return _renamed("NumPy {version}", f"np.{found[1]}", numpy1.RENAMED[found[1]])
    found = re.match(r"AttributeError: 'numpy\.\w+' object has no attribute '(\w+)'", text)
    if found and found[1] in numpy1.METHODS:
        return _renamed("NumPy {version}", f"a.{found[1]}", numpy1.METHODS[found[1]][0])
    for path, (instead, _) in python37.RENAMED.items():
        home, _, name = path.rpartition(".")
        kind = home.rpartition(".")[2]
        known = (f"module '{home}' has no attribute '{name}'", f"name '{name}' from '{home}'",
                 f"'{kind}' object has no attribute '{name}'")  # fmt: skip
        if any(each in text for each in known):
            return _renamed("Python", path, instead)
    return ""


def _renamed(of: str, old: str, new: str) -> str:
    return f"{of} has no {old}: write {new}, " + AGAIN.format(what="it")
