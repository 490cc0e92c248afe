"""StepOptimizer: what optimizers share whose update is one op, ApplyX, in its four forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import lookup
from tfdist.ops.array.cast import cast
from tfdist.ops.framework.indexed_slices import IndexedSlices

if TYPE_CHECKING:
    from tfdist.training.optimizers.optimizer import Optimizer as _Optimizer
else:
    _Optimizer = object


class StepOptimizer(_Optimizer):
    """What updates a variable by the op ApplyX, and rows of it by SparseApplyX: a mixin.

    An optimizer has `Optimizer` after it, which Python then calls the base of its class.

    Args:
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.
      parameters: for each input of the op that is one number, the name of its node and its value:
        a number, a float tensor, or a function that returns one.

    Attributes:
      _STEP: X.
      _SLOTS: for each input of the op that is a slot, the slot's name.
      _FLAGS: for each attribute of the op, the optimizer's own that has its value.
    """

    _STEP: str
    _SLOTS: ClassVar[dict[str, str]] = {}
    _FLAGS: ClassVar[dict[str, str]] = {"use_locking": "_use_locking"}

    def __init__(
        self, use_locking: bool, name: str, parameters: dict[str, tuple[str, Any]]
    ) -> None:
        super().__init__(use_locking, name)
        self._parameters = parameters
        self._tensors: dict[str, Any] = {}

    @property
    def _learning_rate(self) -> Any:
        return next(iter(self._parameters.values()))[1]

    @property
    def _learning_rate_tensor(self) -> Any:
        return next(iter(self._tensors.values()))

    def _prepare(self) -> None:
        for key, (node, value) in self._parameters.items():
            self._tensors[key] = convert_to_tensor(self._call_if_callable(value), name=node)

    def _numbers(self, var: Any) -> dict[str, Any]:
        """Return the op's inputs that are numbers, as tensors of the type of `var`."""
        dtype = var.dtype.base_dtype
        return {key: cast(tensor, dtype) for key, tensor in self._tensors.items()}

    def _applied(self, prefix: str, var: Any, **inputs: Any) -> Any:
        """Return the node of an op of the step: its inputs are taken by their names."""
        op_def = lookup(f"{prefix}Apply{self._STEP}")
        inputs["var"] = var
        for key, slot in self._SLOTS.items():
            inputs[key] = self.get_slot(var, slot)
        if prefix.startswith("Resource"):
            inputs.update((key, inputs[key].handle) for key in ("var", *self._SLOTS))
        numbers = self._numbers(var)
        arguments = [
            inputs[arg.name] if arg.name in inputs else numbers[arg.name]
            for arg in op_def.signature.inputs
        ]
        flags = {key: getattr(self, attribute) for key, attribute in self._FLAGS.items()}
        return op_def(*arguments, **flags)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._applied("", var, grad=grad, delta=grad).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._applied("Resource", handle, grad=grad, delta=grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._applied("Sparse", var, grad=grad.values, indices=grad.indices).op

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._applied("ResourceSparse", handle, grad=grad, indices=indices)
