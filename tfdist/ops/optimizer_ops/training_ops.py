"""Optimizers' steps as ops: they change a variable and its slots, dense or some rows, all at once.

Names come in four: ApplyX and SparseApplyX change reference variables, ResourceApplyX and
ResourceSparseApplyX resource variables. (ApplyGradientDescent is in `state`, the one for resource
variables in `resource_ops`.) What has been read stays as it was: a step holds all variables' locks,
writes into the arrays that nobody else holds, makes the others anew, and shows all together. It
works on them in one pass where there is a compiled loop, else on large ones in parts that fit the
processor's cache.

Source: TF 1.15 API, the ops of tensorflow/core/ops/training_ops.cc.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import FailedPreconditionError, InvalidArgumentError
from tfdist.graph.op_def import OpDef, Rule, lookup
from tfdist.ops.array.repeated_indices import turns
from tfdist.ops.framework.cache_blocking import PART, in_parts
from tfdist.ops.framework.compiled_loops import one_pass
from tfdist.ops.optimizer_ops import update_rules as rules

__all__: list[str] = []


_NUMPY = np.ndarray, np.generic


class Step(NamedTuple):
    """One kind of step.

    Attributes:
      name: X in ApplyX.
      rule: what it does to numbers.
      slots: variables beside `var`.
      dense: the other inputs of ApplyX in order.
      sparse: those of SparseApplyX, or "" if there is none.
      flag: a flag and its default, or "".
      kinds: prefixes of the names.
    """

    name: str
    rule: Any
    slots: str
    dense: str
    sparse: str
    flag: str = ""
    kinds: tuple[str, ...] = ("", "Resource")


_NESTEROV, _SLOTS = "use_nesterov: bool = False", "update_slots: bool = True"
_FTRL = "grad lr l1 l2 lr_power", "grad indices lr l1 l2 lr_power"
_FTRL_2 = "grad lr l1 l2 l2_shrinkage lr_power", "grad indices lr l1 l2 l2_shrinkage lr_power"
_ADAM = "beta1_power beta2_power lr beta1 beta2 epsilon grad"
_DA = "gradient_accumulator gradient_squared_accumulator"
_RMS = "lr rho momentum epsilon grad"

STEPS = [
    Step("Momentum", rules.momentum, "accum", "lr grad momentum", "lr grad indices momentum",
         _NESTEROV),
    Step("KerasMomentum", rules.keras_momentum, "accum", "lr grad momentum",
         "lr grad indices momentum", _NESTEROV, ("Resource",)),
    Step("Adagrad", rules.adagrad, "accum", "lr grad", "lr grad indices", _SLOTS),
    Step("AdagradV2", rules.adagrad_v2, "accum", "lr epsilon grad", "lr epsilon grad indices",
         _SLOTS),
    Step("AdagradDA", rules.adagrad_da, _DA, "grad lr l1 l2 global_step",
         "grad indices lr l1 l2 global_step"),
    Step("Adadelta", rules.adadelta, "accum accum_update", "lr rho epsilon grad",
         "lr rho epsilon grad indices"),
    Step("Adam", rules.adam, "m v", _ADAM, "", _NESTEROV),
    Step("AdamWithAmsgrad", rules.adam_with_amsgrad, "m v vhat", _ADAM, "", "", ("Resource",)),
    Step("AdaMax", rules.ada_max, "m v", "beta1_power lr beta1 beta2 epsilon grad", ""),
    Step("AddSign", rules.add_sign, "m", "lr alpha sign_decay beta grad", ""),
    Step("PowerSign", rules.power_sign, "m", "lr logbase sign_decay beta grad", ""),
    Step("RMSProp", rules.rms_prop, "ms mom", _RMS, f"{_RMS} indices"),
    Step("CenteredRMSProp", rules.centered_rms_prop, "mg ms mom", _RMS, f"{_RMS} indices"),
    Step("Ftrl", rules.ftrl, "accum linear", *_FTRL),
    Step("FtrlV2", rules.ftrl_v2, "accum linear", *_FTRL_2),
    Step("ProximalGradientDescent", rules.proximal_gradient_descent, "", "alpha l1 l2 delta",
         "alpha l1 l2 grad indices"),
    Step("ProximalAdagrad", rules.proximal_adagrad, "accum", "lr l1 l2 grad",
         "lr l1 l2 grad indices"),
]  # fmt: skip


class Layout(NamedTuple):
    """Where the inputs of an op stand: `count` variables, then `names`."""

    step: Step
    is_sparse: bool

    @property
    def variables(self) -> list[str]:
        """Return the names of the variables."""
        return ["var", *self.step.slots.split()]

    @property
    def names(self) -> list[str]:
        """Return the names of the other inputs."""
        return (self.step.sparse if self.is_sparse else self.step.dense).split()

    @property
    def numbers(self) -> list[str]:
        """Return the names of the inputs that are single numbers."""
        return [name for name in self.names if name not in ("grad", "delta", "indices")]

    @property
    def flags(self) -> tuple[str, ...]:
        """Return the attributes that the rule takes."""
        return (self.step.flag.partition(":")[0],) if self.step.flag else ()


def _define(kind: str, layout: Layout) -> OpDef:
    """Define one op of a step."""
    held, end = ("resource", "() [") if kind else ("Ref(T)", "out: Ref(T) [")
    types = {"indices": "Tindices", "global_step": "int64"}
    inputs = [f"{name}: {held}" for name in layout.variables]
    inputs += [f"{name}: {types.get(name, 'T')}" for name in layout.names]
    attrs = ["T: type {numeric}", "use_locking: bool = False"]
    attrs[1:1] = ["Tindices: type {index}"] if layout.is_sparse else []
    attrs += [layout.step.flag] if layout.step.flag else []
    name = f"{kind}{'Sparse' if layout.is_sparse else ''}Apply{layout.step.name}"
    op_def = OpDef(
        f"{name}({', '.join(inputs)}) -> {end}{'; '.join(attrs)}]{' !' if kind else ''}"
    ).not_differentiable()
    handles = tuple(f"{name}_handle" for name in layout.variables) if kind else ()
    op_def.shape_rule = Rule(_shape_rule(layout, handles), handles, False, False)
    op_def.kernels["CPU"] = Rule(_kernel(layout, bool(kind)), layout.flags, False, False)
    return op_def


# shapes


def _shape_rule(layout: Layout, handles: tuple[str, ...]) -> Any:
    variables = layout.variables

    def step_shape(*inputs: Shape, **behind: Any) -> Shape:
        known: list[Shape] = list(inputs[: len(variables)])
        if handles:
            known = [behind[each].shape if behind[each] else None for each in handles]
        var = known[0]
        for name, shape in zip(variables, known, strict=True):
            var = shapes.merge(var, shape, f"var and {name}")
        rest = dict(zip(layout.names, inputs[len(variables) :], strict=True))
        for name in layout.numbers:
            shapes.require_rank(rest[name], name, 0)
        var = _with_gradient(var, rest)
        return None if handles else var

    return step_shape


def _with_gradient(var: Shape, rest: dict[str, Shape]) -> Shape:
    """Return the shape of the variable, which must fit that of the gradient."""
    grad = rest["grad"] if "grad" in rest else rest["delta"]
    if "indices" not in rest:
        return shapes.merge(var, grad, "var and grad")
    indices = rest["indices"]
    shapes.require_rank(indices, "indices", 1)
    if var is not None:
        shapes.require_rank(var, "var", 1, len(var))
        rows = indices[0] if indices else None
        shapes.merge(grad, (rows, *var[1:]), "grad and the rows that indices name")
    return var


# kernels


def _kernel(layout: Layout, is_resource: bool) -> Any:
    names, count = layout.variables, len(layout.variables)
    numbers = [(name, count + layout.names.index(name)) for name in layout.numbers]
    [gradient] = [i for i, name in enumerate(layout.names, count) if name in ("grad", "delta")]
    indices = count + layout.names.index("indices") if layout.is_sparse else None
    rule = layout.step.rule

    def step_kernel(*inputs: Any, **flags: Any) -> Any:
        for name, place in numbers:
            if inputs[place].ndim:
                raise InvalidArgumentError(f"{name} is not a scalar: {_show(inputs[place])}")
            flags[name] = inputs[place]
        update, variables, grad = rule(**flags), inputs[:count], inputs[gradient]

        def changed(olds: list[Any], outs: list[Any]) -> list[Any]:
            if indices is None:
                return _changed(variables[0].share, update, olds, outs, grad)
            return _with_changed_rows(update, olds, outs, grad, inputs[indices])

        _change_together(variables, names, changed)
        return None if is_resource else variables[0]

    return step_kernel


def _change_together(variables: Sequence[Any], names: list[str], function: Any) -> None:
    """Set variables to `function(values, outs)`, as `InplaceValue.update` does with one of them."""
    held: list[Any] = []
    try:
        for variable in _in_order(variables):
            variable.lock.acquire()
            held.append(variable.lock)
        olds = [each.value for each in variables]
        _check(olds, variables, names)
        if variables[0].is_small() or len(held) < len(variables):  # one stands twice
            for variable, new in zip(variables, function(olds, [None] * len(olds)), strict=True):
                variable.value = new
        else:
            del olds  # references are counted
            _change_taken(variables, function)
    finally:
        for lock in held:
            lock.release()


def _change_taken(variables: Sequence[Any], function: Any) -> None:
    news: Sequence[Any] = (None,) * len(variables)
    try:
        outs = [each.take() for each in variables]
        news = function([each.taken for each in variables], outs)
    finally:
        for variable, new in zip(variables, news, strict=True):
            variable.put(new)


def _in_order(variables: Sequence[Any]) -> Sequence[Any]:
    """Return each variable once, in an order in which all steps lock them."""
    return sorted(set(variables), key=id) if len(variables) > 1 else variables


def _check(values: Sequence[Any], variables: Sequence[Any], names: list[str]) -> None:
    """Raise an error unless all values are of one shape and of floating-point numbers.

    Raises:
      FailedPreconditionError: one is not initialised.
      InvalidArgumentError: their shapes differ, or they hold whole numbers.
    """
    for i, value in enumerate(values):
        if value is None:
            raise FailedPreconditionError(
                f"Attempting to use uninitialized value {variables[i].name} ({names[i]} of the "
                "step); run its initializer first, as in "
                "session.run(tf.global_variables_initializer())"
            )
        if i and value.shape != values[0].shape:
            raise InvalidArgumentError(
                f"var and {names[i]} do not have the same shape{_show(values[0])} {_show(value)}"
            )
    if values[0].dtype.kind in "iub":
        raise InvalidArgumentError(
            f"variable {variables[0].name} holds {values[0].dtype}: this step needs floating-point "
            "numbers"
        )


def _changed(
    share: Any, update: rules.Update, olds: list[Any], outs: list[Any], grad: Any
) -> list[Any]:
    """Return what becomes of a variable and its slots, in `outs` where there is one."""
    var = olds[0]
    if var.shape != grad.shape:
        raise InvalidArgumentError(
            f"var and grad do not have the same shape{_show(var)} {_show(grad)}"
        )
    if isinstance(var, _NUMPY):  # a GPU's memory has no such caches
        fast = one_pass(update, len(olds), var, share)
        if fast is None and var.size > PART:
            return _in_parts(share, update, olds, outs, grad)
        update = fast or update
    return _at_once(update, olds, outs, grad)


def _at_once(update: rules.Update, olds: list[Any], outs: list[Any], grad: Any) -> list[Any]:
    news = _copied_unless_ours(olds, outs)
    update(*news, grad)
    return news if olds[0].ndim else [new[()] for new in news]


def _in_parts(
    share: Any, update: rules.Update, olds: list[Any], outs: list[Any], grad: Any
) -> list[Any]:
    pairs = list(zip(olds, outs, strict=True))
    news = [np.empty(old.shape, old.dtype) if out is None else out for old, out in pairs]
    count, held = len(news), [old for old, out in pairs if out is None]
    copied = [place for place, out in enumerate(outs) if out is None]

    def change(parts: list[Any]) -> None:
        for place, old in zip(copied, parts[count + 1 :], strict=True):
            parts[place][...] = old
        update(*parts[: count + 1])

    in_parts(change, *news, grad, *held, share=share)
    return news


def _copied_unless_ours(olds: list[Any], outs: list[Any]) -> list[Any]:
    return [_copy(old) if out is None else out for old, out in zip(olds, outs, strict=True)]


def _copy(array: Any) -> Any:
    """Return a contiguous copy, a scalar's of rank 0, in the memory that the array is in."""
    return np.array(array, order="C") if isinstance(array, _NUMPY) else array.copy()


def _with_changed_rows(
    update: rules.Update, olds: list[Any], outs: list[Any], grad: Any, indices: Any
) -> list[Any]:
    """Return what becomes of a variable and its slots when some rows take a step each.

    A row that `indices` names twice takes two steps, one after the other.
    """
    _check_rows(olds[0], grad, indices)
    news = _copied_unless_ours(olds, outs)
    if isinstance(grad, _NUMPY):
        update = one_pass(update, len(olds), grad) or update
    most = max(1, PART // max(1, olds[0][:1].size))
    for turn in turns(indices):
        named, by = indices[turn], grad[turn]
        for start in range(0, len(named), most):
            rows = named[start : start + most]
            parts = [new[rows] for new in news]
            update(*parts, by[start : start + most])
            for new, part in zip(news, parts, strict=True):
                new[rows] = part
    return news


def _check_rows(var: Any, grad: Any, indices: Any) -> None:
    if not var.ndim:
        raise InvalidArgumentError("var must be at least 1 dimensional")
    if indices.ndim != 1:
        raise InvalidArgumentError(f"indices must be one-dimensional, but are {_show(indices)}")
    if grad.shape[:1] != indices.shape:
        raise InvalidArgumentError(
            "grad must be the same size as indices in the first dimension. They are "
            f"{_show(grad)} and {_show(indices)}"
        )
    if grad.shape[1:] != var.shape[1:]:
        raise InvalidArgumentError(
            f"var and grad must match in all dimensions but the first, but are {_show(var)} and "
            f"{_show(grad)}"
        )
    if len(indices) and not (indices.min() >= 0 and indices.max() < len(var)):
        wrong = np.flatnonzero((indices < 0) | (indices >= len(var)))
        raise InvalidArgumentError(
            f"Index {indices[wrong[0]]} at offset {wrong[0]} in indices is out of range "
            f"[0, {len(var)})"
        )


def _show(value: Any) -> str:
    return f"[{','.join(map(str, np.shape(value)))}]"


def __getattr__(name: str) -> OpDef:
    """Return an op by the name of its function in TensorFlow, such as `apply_adam`."""
    for op_def in (*OPS, lookup("ApplyGradientDescent"), lookup("ResourceApplyGradientDescent")):
        if _function_name(op_def.name) == name:
            return op_def
    raise AttributeError(f"there is no {name!r} among the steps of optimizers")


def _function_name(op: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", op).lower()


OPS = [
    _define(kind, Layout(step, is_sparse))
    for step in STEPS
    for kind in step.kinds
    for is_sparse in ((False, True) if step.sparse else (False,))
]
