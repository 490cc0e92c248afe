r"""Regular expressions on strings: replace, match.

They are RE2's, by RE2 itself: whatever the pattern, matching takes a time that is linear in the
text, and lets Python's lock go meanwhile. Python's own `re` may take forever, with the lock held.

Source: the syntax of RE2 (https://github.com/google/re2/wiki/Syntax); experiments with TF 1.15.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.strings.join_substr import mapped

__all__ = ["regex_full_match", "regex_replace"]

# Compiling holds Python's lock. Each of these takes half a second at most; more than 128k
# instructions, as a long pattern of letters has, RE2 refuses anyway.
_MOST = {
    "bytes": (re.compile(rb"(?s)."), 1 << 18),
    "repeats": (re.compile(rb"[?*+{]"), 1 << 13),
    "classes of Unicode": (re.compile(rb"\\[pP]"), 1 << 10),
}
_SHOWN = 1000  # bytes of a malformed pattern that the error tells

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


@functools.lru_cache(maxsize=32)  # each may take up to 8 MiB
def _compiled(pattern: bytes, captures: bool) -> Any:
    """Return RE2's object for a pattern.

    Args:
      pattern: a regular expression, UTF-8.
      captures: whether what groups match is wanted, which takes longer.

    Raises:
      InvalidArgumentError: RE2 takes it for malformed, or for too large.
    """
    import re2  # few programs have patterns

    for what, (part, most) in _MOST.items():
        count = len(part.findall(pattern, 0)) if what != "bytes" else len(pattern)
        if count > most:
            raise _invalid(pattern, f"pattern too large: it has {count} {what}, at most {most}")
    options = re2.Options()
    options.log_errors = False
    options.never_capture = not captures
    # not `re2.compile`: its matches take five times as long to make, and it keeps 128 patterns
    made = re2._re2.RE2(pattern, options)
    if not made.ok():
        raise _invalid(pattern, made.error().decode(errors="replace"))
    return made


def _invalid(pattern: bytes, error: str) -> InvalidArgumentError:
    shown = pattern[:_SHOWN].decode(errors="replace") + ("..." if len(pattern) > _SHOWN else "")
    return InvalidArgumentError(f"Invalid pattern: {shown}, error: {error}")


# replace

Part = bytes | int  # what stands there, or the number of a group
_PARTS = re.compile(rb"\\(?P<group>\d)|\\(?P<slash>\\)|(?P<bad>\\)|[^\\]+")


@functools.lru_cache(maxsize=256)
def _template(rewrite: bytes) -> tuple[tuple[Part, ...], bool]:
    r"""Return the parts of a replacement, and whether all of it is well-formed.

    What follows a mistake, as a single \\ at the end, is left out.
    """
    parts: list[Part] = []
    for found in _PARTS.finditer(rewrite):
        if found["bad"]:
            return tuple(parts), False
        number = found["group"]
        parts.append(int(number) if number else found["slash"] or found.group())
    return tuple(parts), True


def _expander(parts: Sequence[Part]) -> Callable[[bytes, Sequence[tuple[int, int]]], bytes]:
    """Return what makes the replacement of a text's match; a group that is not there is empty."""
    if not any(isinstance(part, int) for part in parts):
        plain = b"".join(part for part in parts if isinstance(part, bytes))
        return lambda text, spans: plain

    def expand(text: bytes, spans: Sequence[tuple[int, int]]) -> bytes:
        groups = [text[start:end] if start >= 0 else b"" for start, end in spans]
        groups += [b""] * (10 - len(groups))
        return b"".join(groups[part] if isinstance(part, int) else part for part in parts)

    return expand


def _replacer(
    ctx: Any, pattern: bytes, rewrite: bytes, everywhere: bool
) -> Callable[[bytes], bytes]:
    """Return what replaces the matches of a text."""
    parts, is_whole = _template(rewrite)
    found = _compiled(pattern, captures=any(isinstance(part, int) and part for part in parts))
    if not (everywhere or is_whole):
        return lambda text: text
    find, unanchored, expand = found.Match, found.Anchor.UNANCHORED, _expander(parts)

    def replace(text: bytes) -> bytes:
        made: list[bytes] = []
        at, last, size = 0, -1, len(text)
        while at <= size:
            ctx.check()
            spans = find(unanchored, text, at, size)
            start, end = spans[0]
            if start < 0:
                break
            made.append(text[at:start])
            if start == end == last:  # nothing empty is replaced right behind another match
                at = last + _letter(text, last)
                made.append(text[last:at])
                continue
            made.append(expand(text, spans))
            at = last = end
            if not everywhere:
                break
        return b"".join(made) + text[at:] if made else text

    return replace


def _letter(text: bytes, at: int) -> int:
    """Return how many bytes the letter there has: 1 if they are no UTF-8."""
    first = text[at : at + 1]
    size = 1 if first < b"\xc2" else 2 if first < b"\xe0" else 3 if first < b"\xf0" else 4
    try:
        text[at : at + size].decode()
    except UnicodeDecodeError:
        return 1
    return size


@REGEX_REPLACE.kernel
def regex_replace_kernel(
    ctx: Any, input: Any, pattern: Any, rewrite: Any, *, replace_global: bool
) -> Any:
    searched, written = as_elements(pattern).item(), as_elements(rewrite).item()
    return mapped(_replacer(ctx, searched, written, replace_global), input)


@STATIC_REGEX_REPLACE.kernel
def static_regex_replace_kernel(
    ctx: Any, input: Any, *, pattern: bytes, rewrite: bytes, replace_global: bool
) -> Any:
    return mapped(_replacer(ctx, pattern, rewrite, replace_global), input)


# match


@REGEX_FULL_MATCH.kernel
def regex_full_match_kernel(ctx: Any, input: Any, pattern: Any) -> Any:
    return _matched(ctx, input, as_elements(pattern).item())


@STATIC_REGEX_FULL_MATCH.kernel
def static_regex_full_match_kernel(ctx: Any, input: Any, *, pattern: bytes) -> Any:
    return _matched(ctx, input, pattern)


def _matched(ctx: Any, input: Any, pattern: bytes) -> Any:
    found = _compiled(pattern, captures=False)
    find, whole = found.Match, found.Anchor.ANCHOR_BOTH

    def matches(text: bytes) -> bool:
        ctx.check()
        return find(whole, text, 0, len(text))[0][0] == 0  # type: ignore[no-any-return]

    return mapped(matches, input).astype(bool)


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
