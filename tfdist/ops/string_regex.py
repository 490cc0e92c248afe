r"""Regular expressions on strings: replace, match.

TensorFlow's are RE2's, on UTF-8: `.` is one character, `\w`, `\d`, `\s` are ASCII's. They are
written anew for Python's `re` where the two differ; what only one of them knows is an error.

Source: the syntax of RE2 (https://github.com/google/re2/wiki/Syntax); experiments with TF 1.15.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.strings import mapped
from tfdist.ops.values import as_elements

__all__ = ["regex_full_match", "regex_replace"]

_REPLACE = "replace_global: bool = True"
REGEX_REPLACE = OpDef(
    f"RegexReplace(input: string, pattern: string, rewrite: string) -> output: string [{_REPLACE}]"
).not_differentiable()
STATIC_REGEX_REPLACE = OpDef(
    f"StaticRegexReplace(input: string) -> output: string "
    f"[pattern: string; rewrite: string; {_REPLACE}]"
).not_differentiable()
REGEX_FULL_MATCH = OpDef(
    "RegexFullMatch(input: string, pattern: string) -> output: bool"
).not_differentiable()
STATIC_REGEX_FULL_MATCH = OpDef(
    "StaticRegexFullMatch(input: string) -> output: bool [pattern: string]"
).not_differentiable()


def _same_shape(input: Shape, *_: Shape) -> Shape:
    return input


for _op_def in (REGEX_REPLACE, STATIC_REGEX_REPLACE, REGEX_FULL_MATCH, STATIC_REGEX_FULL_MATCH):
    _op_def.shape(_same_shape)


# from one syntax to the other

_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7f", "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f", "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~",
    "punct": re.escape(string.punctuation), "space": r"\t\n\v\f\r ", "upper": "A-Z",
    "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_TOKEN = re.compile(
    r"\\Q(?P<literal>.*?)(?:\\E|\Z)|\\x\{(?P<hex>[0-9a-fA-F]+)\}"
    r"|(?P<escape>\\[pP](?:\{\^?\w+\}|\w)|\\.)"
    r"|\[:(?P<name>\w+):\]|(?P<end>\$)|(?P<open>\[\^?\]?)|(?P<close>\])"
    r"|(?P<perl>\(\?(?:[=!]|<[=!]|P=|\(|>))|(?P<repeat>(?:[*+?]|\{\d+(?:,\d*)?\})(?:\+|[*?]{2}))",
    re.DOTALL,
)


def _translated(pattern: str) -> str:
    """Return a pattern of RE2 as Python's; ValueError if it has none."""
    inside = False

    def change(found: re.Match[str]) -> str:
        nonlocal inside
        kind, text = found.lastgroup, found.group()
        if kind == "open":
            text, inside = (text if not inside else re.escape(text)), True
        elif kind == "close":
            inside = False
        elif kind == "name":
            if not inside:
                return text
            if found["name"] not in _CLASSES:
                raise ValueError(f"invalid character class range: {text}")
            return _CLASSES[found["name"]]
        elif kind == "literal":
            return re.escape(found["literal"])
        elif kind == "hex":
            return re.escape(chr(int(found["hex"], 16)))
        elif kind == "end" and not inside:
            return text if _is_multiline(pattern) else r"\Z"
        elif kind == "escape":
            return _escape(text, inside)
        elif kind in ("perl", "repeat") and not inside:
            what = "perl operator" if kind == "perl" else "repetition operator"
            raise ValueError(f"{'invalid' if kind == 'perl' else 'bad'} {what}: {text}")
        return text

    return _TOKEN.sub(change, pattern)


def _is_multiline(pattern: str) -> bool:
    return re.search(r"\(\?[a-z]*m", pattern) is not None


def _escape(text: str, inside: bool) -> str:
    if text == r"\z":
        return r"\Z"
    if text[1] in "pP" and not inside and text[2:].strip("{}") in _CATEGORIES:
        return _CATEGORIES[text[2:].strip("{}")][text[1] == "P"]
    if text[1] in "pPC" or (text[1] in "123456789Z" and not inside):
        raise ValueError(f"invalid escape sequence: {text}")
    return text


# letters and digits of all scripts, and what is none
_CATEGORIES = {
    "L": (r"(?u:(?![\d_])\w)", r"(?u:\W|[\d_])"), "Nd": (r"(?u:\d)", r"(?u:\D)"),
}  # fmt: skip


@functools.lru_cache(maxsize=256)
def _compiled(pattern: bytes) -> re.Pattern[str]:
    shown = pattern.decode(errors="replace")
    if shown.encode() != pattern:
        raise InvalidArgumentError(f"Invalid pattern: {shown}, error: invalid UTF-8")
    try:
        return re.compile(_translated(shown), re.ASCII)
    except (re.error, ValueError, OverflowError) as error:
        raise InvalidArgumentError(f"Invalid pattern: {shown}, error: {error}") from None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


# replace

Part = str | int  # what stands there, or the number of a group


@functools.lru_cache(maxsize=256)
def _template(rewrite: bytes, groups: int) -> tuple[Part, ...]:
    r"""Return the parts of a replacement; what follows a mistake is left out, as RE2 does."""
    parts: list[Part] = []
    for found in re.finditer(r"\\(?P<group>\d)|\\(?P<slash>\\)|(?P<bad>\\)|[^\\]+", _text(rewrite)):
        if found["bad"] or (found["group"] and int(found["group"]) > groups):
            break
        number = found["group"]
        parts.append(int(number) if number else found["slash"] or found.group())
    return tuple(parts)


def _expanded(parts: Sequence[Part], match: re.Match[str]) -> str:
    return "".join(part if isinstance(part, str) else match[part] or "" for part in parts)


def _replacer(search: re.Pattern[str], rewrite: bytes, everywhere: bool) -> Callable[[str], str]:
    """Return what replaces the matches of a text."""
    parts = _template(rewrite, search.groups)
    given: Any = functools.partial(_expanded, parts)
    if all(isinstance(part, str) for part in parts):
        plain = "".join(map(str, parts))
        given = lambda _: plain  # noqa: E731
    if not everywhere:
        return lambda text: search.sub(given, text, 1)
    if search.search("") or r"\b" in search.pattern.lower():
        return lambda text: _with_empty_matches(search, given, text)
    return lambda text: search.sub(given, text)


def _with_empty_matches(search: re.Pattern[str], given: Any, text: str) -> str:
    """Replace what may be empty: nothing empty is replaced right behind another match."""
    made: list[str] = []
    at, last = 0, -1
    while at <= len(text):
        match = search.search(text, at)
        if match is None:
            break
        made.append(text[at : match.start()])
        if match.start() == match.end() == last:
            made.append(text[last : last + 1])
            at = last + 1
            continue
        made.append(given(match))
        at = last = match.end()
    return "".join(made) + text[at:]


@REGEX_REPLACE.kernel
def regex_replace_kernel(input: Any, pattern: Any, rewrite: Any, *, replace_global: bool) -> Any:
    search, template = as_elements(pattern).item(), as_elements(rewrite).item()
    return _replaced(input, search, template, replace_global)


@STATIC_REGEX_REPLACE.kernel
def static_regex_replace_kernel(
    input: Any, *, pattern: bytes, rewrite: bytes, replace_global: bool
) -> Any:
    return _replaced(input, pattern, rewrite, replace_global)


def _replaced(input: Any, pattern: bytes, rewrite: bytes, everywhere: bool) -> Any:
    replace = _replacer(_compiled(pattern), rewrite, everywhere)
    return mapped(
        lambda data: replace(data.decode("utf-8", "surrogateescape")).encode(
            "utf-8", "surrogateescape"
        ),
        input,
    )


# match


@REGEX_FULL_MATCH.kernel
def regex_full_match_kernel(input: Any, pattern: Any) -> Any:
    return _matched(input, as_elements(pattern).item())


@STATIC_REGEX_FULL_MATCH.kernel
def static_regex_full_match_kernel(input: Any, *, pattern: bytes) -> Any:
    return _matched(input, pattern)


def _matched(input: Any, pattern: bytes) -> Any:
    match = _compiled(pattern).fullmatch
    return mapped(lambda data: match(_text(data)) is not None, input).astype(bool)


def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""Return strings with what matches a pattern replaced.

    Args:
      input: strings.
      pattern: a regular expression, as a string or a scalar tensor.
      rewrite: what replaces a match; \1 is its first group, \0 all of it.
      replace_global: whether every match is replaced, or the first one only.
      name: of the node.

    Raises:
      InvalidArgumentError: the pattern is malformed (when it runs).

    Example:
      >>> Session().run(regex_replace(["a1b22"], "[0-9]+", "#")).tolist()
      [b'a#b#']
    """
    attrs: dict[str, Any] = {"replace_global": replace_global, "name": name}
    if isinstance(pattern, str | bytes) and isinstance(rewrite, str | bytes):
        return raw.StaticRegexReplace(input, pattern=pattern, rewrite=rewrite, **attrs)
    return raw.RegexReplace(input, pattern, rewrite, **attrs)


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Return whether each string as a whole matches a pattern: `tf.strings.regex_full_match`.

    Args:
      input: strings.
      pattern: a regular expression, as a string or a scalar tensor.
      name: of the node.

    Example:
      >>> Session().run(regex_full_match(["a1", "b"], "[a-z][0-9]"))
      array([ True, False])
    """
    if isinstance(pattern, str | bytes):
        return raw.StaticRegexFullMatch(input, pattern=pattern, name=name)
    return raw.RegexFullMatch(input, pattern, name=name)
