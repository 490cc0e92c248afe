"""The steps of a compiled model as parts of its graph, and the functions that run them.

A step is made when it is first wanted: to train, to test or to predict, with or without weights of
samples. Each is one callable of the session, so that a batch costs no search for what to run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfdist.base import dtypes, nest
from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.keras_impl.backend.graph_states import mask_of, state_of
from tfdist.keras_impl.backend.sessions import get_session
from tfdist.keras_impl.engine.training.losses import SAME_SHAPE, SPARSE, Goal
from tfdist.keras_impl.metrics.means import Mean
from tfdist.keras_impl.metrics.metric import Metric
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import placeholder
from tfdist.ops.control_flow import identity_group
from tfdist.ops.math.add_n import add_n
from tfdist.ops.math.reductions import reduce_mean, reduce_sum


class Steps:
    """What a compiled model can do with a batch.

    Args:
      model: with inputs and outputs.
      goals: what each output is trained for.
      optimizer: of keras.
      variables: those to train.
      given_targets: tensors instead of placeholders for what is wanted.

    Attributes:
      targets: placeholders for what is wanted, of the outputs with a loss.
      metrics: all of them: the outputs' losses if there are several, then theirs.
    """

    def __init__(
        self, model: Any, goals: Sequence[Goal], optimizer: Any, variables: Sequence[Any],
        given_targets: Sequence[Any] = (),
    ) -> None:  # fmt: skip
        self.model, self.goals, self.optimizer = model, list(goals), optimizer
        self.variables = list(variables)
        self.graph = model.inputs[0].graph
        self._made: dict[Any, Any] = {}
        self._compiled = {id(each) for each in model._sublayers()}
        with self.graph.as_default(), scopes.control_dependencies(None):
            self.trained = [
                (goal, output)
                for goal, output in zip(goals, model.outputs, strict=True)
                if goal.loss is not None
            ]
            self.targets = list(given_targets) or [_target(*each) for each in self.trained]
            self._own_targets = [] if given_targets else self.targets
            self._weights: list[Any] = []
            several = len(self.goals) > 1
            self.loss_metrics = [Mean(f"{goal.name}_loss") for goal, _ in self.trained if several]
        own = [metric for goal, _ in self.trained for metric, _ in goal.metrics]
        self._added = _added_metrics(model) if optimizer is not None else []
        added = [metric for metric, _ in self._added]
        self.metrics: list[Metric] = [*self.loss_metrics, *own, *added]

    @classmethod
    def without_goals(cls, model: Any) -> Steps:
        """Return the steps of a model that is not trained for anything: it predicts."""
        return cls(model, [Goal(name, None) for name in model.output_names], None, [])

    @property
    def weights(self) -> list[Any]:
        """Placeholders for weights of samples, one for each output with a loss."""
        if not self._weights:
            with self.graph.as_default(), scopes.control_dependencies(None):
                self._weights = [self._weight(goal.name) for goal, _ in self.trained]
        return self._weights

    def _weight(self, name: str) -> Any:
        mode = (self.model._settings or {}).get("sample_weight_mode")
        mode = mode.get(name) if isinstance(mode, Mapping) else mode
        shape = [None, None] if mode == "temporal" else [None]
        return placeholder(dtypes.float32, shape, name=f"{name}_sample_weights")

    def give_weights(self, weights: Any) -> None:
        """Take tensors as the weights of samples: one for all outputs, or a list."""
        given = nest.flatten(weights)
        self._weights = given * len(self.trained) if len(given) == 1 else given

    def built(self, kind: str, weighted: bool = False) -> tuple[Any, Any]:
        """Return the loss of a step, and the operation that does all that the step changes.

        Args:
          kind: "train" or "test".
          weighted: whether samples have weights.
        """
        with self.graph.as_default(), scopes.control_dependencies(None):
            fetches, _, width = self._parts(kind, weighted)
        return fetches[0], identity_group.group(*fetches[width:])

    def function(self, kind: str, weighted: bool = False) -> Any:
        """Return what runs a step: called with inputs, targets and weights in flat order.

        Args:
          kind: "train", "test" or "predict".
          weighted: whether samples have weights.
        """
        session = get_session()
        key = kind, weighted
        if key not in self._made:
            with self.graph.as_default(), scopes.control_dependencies(None):
                self._made[key] = {"parts": self._parts(kind, weighted)}
            session = get_session()  # which initializes the step's own variables
        made = self._made[key]
        if made.get("session") is not session:
            made["session"], made["call"] = session, self._callable(session, kind, *made["parts"])
        return made["call"]

    def _callable(self, session: Any, kind: str, fetches: Any, feeds: Any, width: int) -> Any:
        phase = state_of(self.graph).phase
        if not isinstance(phase, Tensor):
            call = session.make_callable(fetches, feeds)
            return lambda *values: call(*values)[:width]
        call, training = session.make_callable(fetches, [*feeds, phase]), kind == "train"
        return lambda *values: call(*values, training)[:width]

    def _parts(self, kind: str, weighted: bool) -> tuple[Any, Any, int]:
        """Return fetches and feeds of a step, and how many of the fetches are results."""
        inputs = [each for each in self.model.inputs if each.op.type.startswith("Placeholder")]
        if kind == "predict":
            return [*self.model.outputs, *_ops(self._states())], inputs, len(self.model.outputs)
        feeds = [*inputs, *self._own_targets, *(self.weights if weighted else ())]
        with scopes.name_scope("training" if kind == "train" else "testing"):
            total, results = self._results(weighted)
            updates = self._train_updates(total) if kind == "train" else self._states()
        fetches = [total, *results]
        return [*fetches, *_ops(updates)], feeds, len(fetches)

    def _states(self) -> list[Any]:
        return list(self.model.state_updates)

    def _train_updates(self, total: Any) -> list[Any]:
        model = self.model
        beside = [*model.get_updates_for(None), *model.get_updates_for(model.inputs)]
        if not self.variables:
            return beside
        return [*self.optimizer.get_updates(total, self.variables), *beside]

    # losses and metrics

    def total_loss(self, weighted: bool = False) -> Any:
        """Return the loss that training lowers."""
        if ("loss", weighted) not in self._made:
            with self.graph.as_default(), scopes.control_dependencies(None):
                with scopes.name_scope("loss"):
                    self._made["loss", weighted] = self._losses(weighted)
        return self._made["loss", weighted][0]

    def _losses(self, weighted: bool) -> tuple[Any, list[Any]]:
        """Return the sum of all losses, and those of outputs."""
        found = []
        for number, (goal, output) in enumerate(self.trained):
            weight = self._counting(output, self.weights[number] if weighted else None)
            with scopes.name_scope(f"{goal.name}_loss"):
                found.append(_loss(goal.loss, self.targets[number], output, weight))
        terms = [
            loss
            if isinstance(goal.weight, int | float) and goal.weight == 1
            else loss * goal.weight
            for (goal, _), loss in zip(self.trained, found, strict=True)
        ]
        terms += [reduce_sum(each) if each.shape.ndims else each for each in self._further()]
        return (add_n(terms) if len(terms) > 1 else terms[0]), found

    def _further(self) -> list[Any]:
        """Return the losses besides those of outputs: what a functional model got later, by
        add_loss, counts when it is compiled again."""
        model = self.model
        if model._map is None:
            return list(model.losses)
        later = [each for each in model._sublayers() if id(each) not in self._compiled]
        left_out = {id(loss) for each in later for loss in each.losses}
        return [each for each in model.losses if id(each) not in left_out]

    def _counting(self, output: Any, weight: Any) -> Any:
        """Return the weights of samples, and 0 for time steps that a mask leaves out."""
        mask = mask_of(output)
        missing = (output.shape.ndims or 2) - 1 - (1 if weight is None else weight.shape.ndims)
        if weight is not None and missing > 0:  # a sample's weight is that of all it holds
            weight = raw.Reshape(weight, [-1, *[1] * missing])
        if mask is None:
            return weight
        mask = cast(mask, output.dtype.base_dtype)
        if weight is None:
            return mask
        return mask * weight

    def _results(self, weighted: bool) -> tuple[Any, list[Any]]:
        """Return the total loss, and the values of metrics after this batch."""
        total = self.total_loss(weighted)
        losses = self._made["loss", weighted][1]
        results = [metric(loss) for metric, loss in zip(self.loss_metrics, losses, strict=False)]
        for number, (goal, output) in enumerate(self.trained):
            for metric, is_weighted in goal.metrics:
                weight = self.weights[number] if weighted and is_weighted else None
                weight = self._counting(output, weight)
                results.append(metric(self.targets[number], output, sample_weight=weight))
        return total, [*results, *(value for _, value in self._added)]


def _added_metrics(model: Any) -> list[tuple[Any, Any]]:
    """Return the metrics that were added to a model and to its layers, with their values."""
    holders = [model, *model._sublayers()]
    return [pair for each in holders for pair in vars(each).get("_own_metrics", {}).values()]


def _ops(updates: Sequence[Any]) -> list[Any]:
    """Return one operation that follows all updates, in a list; none for no updates."""
    ops = [each if isinstance(each, Operation) else each.op for each in updates]
    return [identity_group.group(*ops)] if ops else []


def _target(goal: Goal, output: Any) -> Any:
    """Return a placeholder for what is wanted of an output."""
    rank, dtype = output.shape.ndims, output.dtype.base_dtype
    shape: Any = None if rank is None else [None] * rank
    if goal.function is SPARSE:
        dtype = dtypes.int32
    elif goal.function in SAME_SHAPE and rank is not None:
        shape = output.shape.as_list()
    return placeholder(dtype, shape, name=f"{goal.name}_target")


def _loss(loss: Any, target: Any, output: Any, weight: Any) -> Any:
    """Return the loss of an output as one number."""
    found = loss(target, output, sample_weight=weight)
    return reduce_mean(found) if found.shape.ndims != 0 else found
