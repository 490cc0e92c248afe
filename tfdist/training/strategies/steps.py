"""Several steps in one run: what `experimental_run_steps_on_iterator` returns.

Source: TF 1.15 API documentation, tf.distribute.StrategyExtended.
"""

from __future__ import annotations

from typing import Any

from tfdist.training.strategies.contexts import get_replica_context, get_strategy

__all__: list[str] = []


class MultiStepContext:
    """What a run of several steps has to show.

    Attributes:
      run_op: does the steps.
      last_step_outputs: what the last step has, by name.
      non_tensor_outputs: what steps have besides tensors, by name.
    """

    def __init__(self) -> None:
        self.run_op: Any = None
        self.last_step_outputs: dict[str, Any] = {}
        self.non_tensor_outputs: dict[str, Any] = {}

    def set_last_step_output(self, name: str, output: Any, reduce_op: Any = None) -> None:
        """Keep an output of the last step; with `reduce_op` that of all replicas together."""
        context = get_replica_context()
        if reduce_op is not None and context is not None:
            output = context.all_reduce(reduce_op, output)
        elif reduce_op is not None:
            output = get_strategy().extended.reduce_to(reduce_op, output, None)
        self.last_step_outputs[name] = output

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """Keep something else of a step."""
        self.non_tensor_outputs[name] = output
