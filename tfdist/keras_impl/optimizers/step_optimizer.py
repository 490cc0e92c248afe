"""What optimizers of keras share whose settings are numbers, and whose step is one op.

Source: TF 1.15 API documentation, tf.keras.optimizers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import lookup, raw
from tfdist.keras_impl.optimizers.optimizer import Optimizer
from tfdist.ops.array.cast import cast


class StepOptimizer(Optimizer):
    """An optimizer whose settings are numbers, and whose step is one op, ResourceApplyX.

    Attributes:
      SETTINGS: names of its settings besides the learning rate and decay, in their order.
      FIXED: names of those that are attributes, and no variables.
    """

    SETTINGS: ClassVar[Sequence[str]] = ()
    FIXED: ClassVar[Sequence[str]] = ()

    def _set(self, learning_rate: Any, kwargs: Mapping[str, Any], **settings: Any) -> None:
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        for key, value in settings.items():
            if key in self.FIXED:
                setattr(self, key, value)
            else:
                self._set_hyper(key, value)

    def get_config(self) -> dict[str, Any]:
        """Return the settings, from which `from_config` makes the optimizer again."""
        config = super().get_config()
        for key in ("learning_rate", "decay", *self.SETTINGS):
            fixed = key in self.FIXED
            config[key] = getattr(self, key) if fixed else self._serialize_hyperparameter(key)
        return config

    def _prepare(self, var_list: Sequence[Any]) -> None:
        """Make the tensors of settings, once for each type of variable."""
        dtypes_of = {var.dtype.base_dtype for var in var_list}
        self._shared = {dtype: self._numbers(dtype) for dtype in dtypes_of}

    def _numbers(self, dtype: Any) -> dict[str, Any]:
        """Return the op's inputs that are numbers, by their names."""
        return {"lr": self._decayed_lr(dtype)}

    def _hypers(self, dtype: Any, **names: str) -> dict[str, Any]:
        return {key: self._get_hyper(name, dtype) for key, name in names.items()}

    def _apply(self, op: str, var: Any, slots: Mapping[str, str], inputs: Any, **flags: Any) -> Any:
        """Return the node of an op of the step; `slots` names those that are its inputs."""
        handles = {key: self.get_slot(var, name).handle for key, name in slots.items()}
        known = {**self._shared[var.dtype.base_dtype], **handles, **inputs, "var": var.handle}
        op_def = lookup(op)
        return op_def(*(known[arg.name] for arg in op_def.signature.inputs), **flags)

    def _step(self, x: str, var: Any, slots: Mapping[str, str], inputs: Any, **flags: Any) -> Any:
        """Return ResourceApplyX, or ResourceSparseApplyX where `inputs` have indices."""
        prefix = "ResourceSparseApply" if "indices" in inputs else "ResourceApply"
        return self._apply(prefix + x, var, slots, inputs, **flags)

    def _local_step(self, dtype: Any) -> Any:
        return cast(self.iterations.value() + 1, dtype)


class OneStepOptimizer(StepOptimizer):
    """An optimizer with one kind of op, for dense and for sparse gradients."""

    STEP: ClassVar[str]
    SLOTS: ClassVar[Mapping[str, str]]  # input of the op -> name of the slot

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for name in self.SLOTS.values():
            for var in var_list:
                self.add_slot(var, name)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return self._step(self.STEP, var, self.SLOTS, {"grad": grad})

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._step(self.STEP, var, self.SLOTS, {"grad": grad, "indices": indices})


def rows_of(values: Any, indices: Any) -> Any:
    """Return rows of a variable or tensor."""
    return raw.GatherV2(convert_to_tensor(values), indices, 0)
