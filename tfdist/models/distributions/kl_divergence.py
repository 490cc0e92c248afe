"""kl_divergence: how far one distribution is from another, by pairs of classes.

Each formula is registered for its pair; a subclass takes the nearest one of its base classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.math.elementwise import is_nan
from tfdist.ops.math.reductions import reduce_all

__all__ = ["RegisterKL", "kl_divergence"]

_RULES: dict[tuple[type, type], Callable[..., Any]] = {}


class RegisterKL:
    """Decorator that registers the divergence of two classes of distributions.

    Args:
      dist_cls_a: class of the first.
      dist_cls_b: class of the second.

    Example:
      >>> class Coin(distributions.Bernoulli):
      ...     pass
      >>> @distributions.RegisterKL(Coin, Coin)
      ... def coins(one, other, name=None):
      ...     return one.probs - other.probs
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn!r}")
        if self._key in _RULES:
            names = " and ".join(each.__name__ for each in self._key)
            raise ValueError(f"the divergence of {names} is registered already")
        _RULES[self._key] = kl_fn
        return kl_fn


def kl_divergence(
    distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: str | None = None
) -> Any:
    """Return the mean of log(a / b) over the samples of the first distribution, in nats.

    Args:
      distribution_a: the first distribution.
      distribution_b: the second one.
      allow_nan_stats: whether what is not defined is NaN, instead of an error when it runs.
      name: prefix for the nodes.

    Raises:
      NotImplementedError: no formula is known for this pair.

    Example:
      >>> one, other = distributions.Normal(0.0, 1.0), distributions.Normal(1.0, 1.0)
      >>> Session().run(distributions.kl_divergence(one, other))
      np.float32(0.5)
    """
    rule = _rule(type(distribution_a), type(distribution_b))
    with name_scope("KullbackLeibler"):
        found = rule(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return found
        defined = raw.LogicalNot(reduce_all(is_nan(found)))
        return with_dependencies([raw.Assert(defined, ["the divergence is NaN", found])], found)


def _rule(one: type, other: type) -> Callable[..., Any]:
    pairs = [
        (first + second, _RULES[a, b])
        for first, a in enumerate(one.__mro__)
        for second, b in enumerate(other.__mro__)
        if (a, b) in _RULES
    ]
    if not pairs:
        known = ", ".join(f"{a.__name__} and {b.__name__}" for a, b in _RULES)
        raise NotImplementedError(
            f"no divergence of {one.__name__} and {other.__name__} is registered; those of {known} "
            "are, and RegisterKL adds others"
        )
    return min(pairs, key=lambda pair: pair[0])[1]
