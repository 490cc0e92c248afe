"""tf.strings.unicode_script: the script that a character belongs to.

`unicode_scripts.txt` has where a range of characters of one script begins, and its number: what
1.15.5 says of each of the 1,114,112, which is ICU's UScriptCode for the Scripts.txt of Unicode.

Source: TF 1.15 API documentation, tf.strings.unicode_script.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.math.elementwise import same_shape

__all__: list[str] = []  # its name is one of tf.strings only

_END = 0x110000  # the first number that is no character

UNICODE_SCRIPT = OpDef("UnicodeScript(input: int32) -> output: int32").not_differentiable()
UNICODE_SCRIPT.shape(same_shape)


@UNICODE_SCRIPT.kernel
def unicode_script_kernel(input: Any) -> Any:
    starts, scripts = _ranges()
    found = scripts[np.searchsorted(starts, input, side="right") - 1]
    return np.where((input < 0) | (input >= _END), np.int32(-1), found)


@cache
def _ranges() -> tuple[Any, Any]:
    """Return where each range begins, and its script."""
    text = Path(__file__).with_name("unicode_scripts.txt").read_text(encoding="ascii")
    pairs = [each.split(":") for each in text.split()]
    starts = np.array([int(start, 16) for start, _ in pairs], np.int32)
    return starts, np.array([int(script) for _, script in pairs], np.int32)


def unicode_script(input: Any, name: str | None = None) -> Tensor:
    """Return the number of the script that each character belongs to, -1 for what is none.

    Args:
      input: int32 numbers of characters.
      name: of the node.

    Returns:
      int32, of the shape of the input: ICU's UScriptCode, as 25 for Latin.

    Example:
      >>> Session().run(strings.unicode_script([ord("a"), ord("я"), -1]))
      array([25,  8, -1], dtype=int32)
    """
    script: Tensor = UNICODE_SCRIPT(input, name=name)
    return script
