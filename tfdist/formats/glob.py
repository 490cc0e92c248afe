"""Names of files that fit a pattern, as TensorFlow's patterns do.

`*` stands for any text without a slash (a leading dot included), `?` for one letter, `[a-z]` for
one of these, `[!a-z]` or `[^a-z]` for one that is none of these; `\\` takes the next letter as it
is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from tfdist.formats.files import file_errors, local_path

_SPECIAL = re.compile(r"[*?\[\\]")
_PART = re.compile(r"\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|.", re.S)


def matching_files(pattern: str | bytes) -> list[bytes]:
    """Return the paths that fit `pattern`, sorted.

    Raises:
      NotFoundError: the folder where the pattern's first special sign stands does not exist.
    """
    path = local_path(pattern)
    if not _SPECIAL.search(path):
        exists = not path.endswith("/") and os.path.lexists(path)
        return [os.fsencode(path)] if exists else []
    parts = path.split("/")
    fixed = next(i for i, part in enumerate(parts) if _SPECIAL.search(part))
    start = "/".join(parts[:fixed]) + "/" if fixed else "./"
    return sorted(os.fsencode(found) for found in _below(start, parts[fixed:], is_first=True))


def _below(folder: str, parts: list[str], is_first: bool = False) -> Iterator[str]:
    """Yield the paths under `folder`, which ends with a slash, that fit `parts`."""
    wanted = re.compile(_regular(parts[0]), re.S)
    for name in _names(folder, must_exist=is_first):
        if not wanted.fullmatch(name):
            continue
        if len(parts) == 1:
            yield folder + name
        else:
            yield from _below(f"{folder}{name}/", parts[1:])


def _names(folder: str, must_exist: bool) -> list[str]:
    if must_exist or os.path.isdir(folder):
        with file_errors(folder.rstrip("/") or folder):
            return os.listdir(folder)
    return []


def _regular(part: str) -> str:
    """Return the regular expression for one part of a path.

    What follows a star is taken where it comes first, for good: only so the time does not grow
    with the number of stars in the exponent.
    """
    first, *others = _between_stars(_PART.findall(part))
    *inner, last = others or [""]
    texts = [first, *(f"(?>.*?{text})" for text in inner)]
    return "".join(texts) + (f".*{last}" if others else "")


def _between_stars(signs: list[str]) -> list[str]:
    """Return the regular expressions of what stands before, between and behind the stars."""
    texts = [""]
    for sign in signs:
        if sign.startswith("*"):
            texts.append("")
        else:
            texts[-1] += _sign(sign)
    return texts


def _sign(sign: str) -> str:
    if sign == "?":
        return "."
    if len(sign) > 1 and sign[0] == "[":
        negated = sign[1] in "!^"
        inside = sign[1 + negated : -1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[{'^' * negated}{inside.replace(']', chr(92) + ']')}]"
    return re.escape(sign[-1] if sign[0] == "\\" else sign)
