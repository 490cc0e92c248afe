"""The samples of what passes values on."""

from __future__ import annotations

from .values import floats, ints, strings

F23 = floats(2, 3)
S3 = strings("ab", "cde", "f")

SAMPLES = {
    # control_flow/identity_group.py
    "NoOp": (),
    "Identity": [(F23,), (S3,)],
    "IdentityN": ([F23, ints([1, 2])],),
    "GuaranteeConst": (F23,),
    "StopGradient": (F23,),
    "PreventGradient": (F23,),
    "EnsureShape": (F23, {"shape": [None, 3]}),
}
