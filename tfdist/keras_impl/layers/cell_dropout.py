"""Which inputs a cell drops out: the same ones in all steps of a sequence."""

from __future__ import annotations

from typing import Any

from tfdist.keras_impl.backend.learning_phase import in_train_phase
from tfdist.keras_impl.backend.seeds import chosen_seed
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import ones_like
from tfdist.ops.array.split import split
from tfdist.ops.math.matmul import matmul
from tfdist.ops.nn import functions as nn


class DropoutMasks:
    """The part of a cell that drops inputs and states out while training."""

    def reset_masks(self) -> None:
        """Forget which inputs are dropped out, for the next sequence."""
        vars(self)["_found_masks"] = {}

    def _masks(self, what: str, like: Any, rate: float, training: Any, count: int) -> list[Any]:
        """Return `count` masks for a tensor, kept for the whole sequence; none without dropout."""
        if not rate:
            return []
        found = vars(self).setdefault("_found_masks", {})
        if what not in found:
            found[what] = [_mask(like, rate, training) for _ in range(count)]
        return list(found[what])

    def _product(self, x: Any, kernel: Any, masks: list[Any]) -> Any:
        """Return x @ kernel, with x masked: for each part of the kernel if there are as many."""
        if not masks:
            return matmul(x, kernel)
        if len(masks) == 1:
            return matmul(x * masks[0], kernel)
        parts = split(kernel, len(masks), 1)
        return concat([matmul(x * m, part) for m, part in zip(masks, parts, strict=True)], 1)


def _mask(like: Any, rate: float, training: Any) -> Any:
    whole: Any = ones_like(like)
    return in_train_phase(
        lambda: nn.dropout(whole, rate=rate, seed=chosen_seed(None)), lambda: whole + 0, training
    )
