"""`OpDef`: everything known of one op, and the registry of all ops by name.

A definition starts from TensorFlow's signature on one line,

    BIAS_ADD = OpDef(
        "BiasAdd(value: T, bias: T) -> output: T [T: type {numeric}; data_format: string = 'NHWC']")

and collects, by decorators, a shape rule, kernels and a gradient. `!` at the end marks a stateful
op. Signatures are parsed when first needed, so that importing hundreds of ops costs little.

How rules are called. A shape rule takes the inputs' shapes (a list of shapes for a list input), a
kernel their arrays. What they name as keyword-only parameters is passed besides: an attribute
(`*, data_format`), or for shape rules the constant value of an input (`*, axis_value`, None if
unknown), what is known of its elements (`*, shape_partial`, an array of objects with None for what
is not; None if not even their number is) or what is behind a handle (`*, resource_handle`, None if
unknown). A kernel whose first
parameter is `ctx` gets the `KernelContext` of its task. A kernel that is a generator can wait: what
it yields is a `Wait`, and it is sent what the wait brought. Beside it may stand a `prompt` one, a
plain function of the same arguments, for when there is nothing to wait for; else it leaves all as
it was and returns `PENDING`.

A kernel finds out in every step what is the same in all of them: attributes, most shapes, constant
inputs. `specialize` registers a function that is told so once (`Known`) and returns a quicker
kernel for that one node, which must give the same bits, or None.
"""

from __future__ import annotations

import inspect
import sys
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import FrameType, MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from tfdist.base import lazy
from tfdist.base.aliases import AttrValue, Outcome, TaskResource, TensorLike, TensorValue
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import ShapeLike
from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph.op_registry import Registry
from tfdist.graph.signatures import Signature, parse_signature

if TYPE_CHECKING:
    from tfdist.base.machine_code import Compiler

Kernel: TypeAlias = Callable[..., TensorValue]  # of arrays; see the top of this file
ShapeRule: TypeAlias = Callable[..., ShapeLike]  # of shapes; a list of them for several outputs
GradientRule: TypeAlias = Callable[..., TensorLike]  # of the operation and a tensor for each output
R = TypeVar("R")  # a resource: the class of the kind that a kernel asks for


class KernelContext(Protocol):
    """What a stateful kernel may ask of the task it runs on."""

    def resource(self, kind: str, container: str, name: str, make: Callable[[type[R]], R]) -> R:
        """Return the task's resource of that name; `make(class of the kind)` if it is new."""

    def known(self) -> TaskResource:
        """Return the resource that this node found last in this session, None at first."""

    def rng(self, seed: int, seed2: int) -> np.random.Generator:
        """Return this node's numpy Generator, which lives as long as the session."""

    def log(self, text: str) -> None:
        """Write a line to the task's log, which the waiting client prints to stderr."""

    def send(self, key: str, value: TensorValue) -> None:
        """Leave `value` for the task that asks for `key` in this round of this step."""

    def receive(self, key: str) -> Wait:
        """Return the wait for what the task named in `key` sends in this round of this step."""

    def function(self, name: AttrValue) -> TaskResource:
        """Return a function of the graph, to be called: see `ops.dataset.dataset_value.Callee`."""

    def own_name(self) -> str:
        """Return the name of a resource that this node has in this session only."""

    def check(self) -> None:
        """Raise CancelledError if the step is to stop, because of its deadline perhaps."""

    @property
    def node_name(self) -> str:
        """Return the name of the node that runs."""

    @property
    def device(self) -> str:
        """Return the full name of the device that the node runs on."""

    @property
    def cancelled(self) -> bool:
        """Return whether the step is to stop; long kernels look now and then."""


class Wait(Protocol):
    """What a waiting kernel yields: something that another step may have to bring about."""

    def start(self, done: Callable[[Outcome], None]) -> Outcome:
        """Return the outcome at once, or `PENDING` and call `done(outcome)` later, once."""

    def cancel(self) -> bool:
        """Return whether the wait was given up; False if its outcome came first."""

    def describe(self) -> str:
        """Return what is waited for, for messages."""

    def info(self) -> TaskResource:
        """Return the same as data: `runtime.resources.wait_info.WaitInfo`."""


class Known(NamedTuple):
    """What is known of a node before it runs.

    Attributes:
      shapes: of its inputs, as far as they are.
      dtypes: of its inputs, None where they are not.
      values: of its inputs, None where they are not constants.
      attrs: its attributes.
    """

    shapes: tuple[Shape, ...]
    dtypes: tuple[DType | None, ...]
    values: tuple[Any, ...]
    attrs: Mapping[str, Any]

    @property
    def has_shapes(self) -> bool:
        """Return whether every dimension of the inputs is known."""
        return not any(shape is None or None in shape for shape in self.shapes)


Specializer: TypeAlias = Callable[[Known], Kernel | None]  # see the top of this file


# By name, what takes what compiles loops, and returns the compiled function of one number.
NumberFunctions: TypeAlias = "Mapping[str, Callable[[Compiler], Kernel]]"
_NO_FUNCTIONS: NumberFunctions = MappingProxyType({})


class ElementRule(NamedTuple):
    """What a kernel computes of each element: see `OpDef.elementwise`."""

    formula: str | Callable[[Known], str | None]
    broadcasts: bool
    functions: NumberFunctions


def truth(predicate: TensorValue) -> TensorValue:
    """Return a predicate, bool; InvalidArgumentError if it is not of rank 0."""
    if getattr(predicate, "ndim", 0):
        shape = list(predicate.shape)
        raise InvalidArgumentError(f"The second input must be a scalar, but it has shape {shape}")
    return predicate


def hand_on(tensor: TensorValue, *_: TensorValue) -> TensorValue:
    """Return the first input: the kernel of what does nothing, which programs leave out."""
    return tensor


PENDING = object()


class _Dead:
    """The value of a tensor on the way that a step does not take."""

    def __repr__(self) -> str:
        return "DEAD"


DEAD = _Dead()


class Rule(NamedTuple):
    """A shape rule or kernel.

    Attributes:
      function: itself.
      keywords: the keyword-only parameters that it names.
      takes_context: whether its first parameter is `ctx`.
      waits: whether it may have to wait.
      takes_out: whether its last parameter is `out`: an array of an input or None, which it may
        write its result over, element by element, if that fits.
    """

    function: Kernel | ShapeRule
    keywords: tuple[str, ...]
    takes_context: bool
    waits: bool
    takes_out: bool = False


def _rule(function: Kernel) -> Rule:
    code = getattr(function, "__code__", None)
    if code is None:  # a NumPy function takes arrays and nothing else
        return Rule(function, (), False, False)
    names = code.co_varnames
    first = code.co_argcount
    return Rule(
        function,
        names[first : first + code.co_kwonlyargcount],
        bool(first) and names[0] == "ctx",
        inspect.isgeneratorfunction(function),
        bool(first) and names[first - 1] == "out",
    )


class OpDef:
    """One op: signature, shape rule, kernels by device type, gradient. Calling it adds a node."""

    def __init__(
        self,
        signature: str,
        *,
        keeps_inputs: bool = False,
        takes_threads: str = "",
        may_run_on: bool = False,
        finds_resource: bool = False,
        gives_fresh: bool = False,
    ) -> None:
        """Define and register an op.

        Args:
          signature: TensorFlow's, as shown at the top of this file.
          keeps_inputs: whether the kernel holds on to its input arrays after it has run (a
            variable or a queue does), so that arrays which users fed must be copied for it.
          takes_threads: what of its kernel may take several threads, "products" (of matrices),
            "convolutions" or "linear algebra"; "" if nothing does.
          may_run_on: whether one run of its kernel may take any time, or wait for what only other
            threads do: it calls what a user wrote.
          finds_resource: whether it does nothing but find a resource, which a session keeps.
          gives_fresh: whether its result is for sure an array of its own, which nobody else holds.
        """
        self.text = signature
        self.name = signature.partition("(")[0]
        self.keeps_inputs = keeps_inputs
        self.takes_threads = takes_threads
        self.may_run_on = may_run_on
        self.finds_resource = finds_resource
        self.gives_fresh = gives_fresh
        self.shape_rule: Rule | None = None
        self.checks_shapes = False
        self.kernels: dict[str, Rule] = {}
        self.labelled: dict[str, Rule] = {}
        self.prompt_rule: Rule | None = None
        self.specialized: Specializer | None = None
        self.element_rule: ElementRule | None = None
        self.gradient_rule: GradientRule | None = None
        self.differentiable = True
        self.module = _module_being_imported()
        REGISTRY[self.name] = self

    @cached_property
    def signature(self) -> Signature:
        """Return the parsed signature."""
        return parse_signature(self.text)

    @cached_property
    def has_one_output(self) -> bool:
        """Return whether kernels and shape rules return one value instead of a list."""
        return len(self.signature.outputs) == 1 and not self.signature.outputs[0].is_list

    @cached_property
    def outputs(self) -> Callable[..., Sequence[TensorLike]]:
        """Return what puts the tensors of a node together: a named tuple, as in TensorFlow.

        Where an output is a list, it is a flat list of all: their names do not stand for one each.
        """
        args = self.signature.outputs
        if len(args) < 2 or any(arg.is_list for arg in args):
            return lambda *tensors: list(tensors)
        return namedtuple(self.name, [arg.name for arg in args], rename=True)

    @property
    def is_stateful(self) -> bool:
        """Return whether two runs with the same inputs may differ, so that none may be saved."""
        return self.signature.stateful

    @cached_property
    def waits(self) -> bool:
        """Return whether a kernel of this op may have to wait."""
        return any(rule.waits for rule in self.kernels.values())

    def shape(self, function: ShapeRule) -> ShapeRule:
        """Register the shape rule; usable as a decorator."""
        self.shape_rule = _rule(function)
        return function

    def checked_shape(self, function: ShapeRule) -> ShapeRule:
        """Register a shape rule that steps ask, too, where shapes were not known before them.

        For kernels that would compute what the rule refuses; usable as a decorator.
        """
        self.checks_shapes = True
        return self.shape(function)

    def kernel(self, function: Kernel, device_type: str = "CPU") -> Kernel:
        """Register a kernel; usable as a decorator."""
        self.kernels[device_type] = _rule(function)
        return function

    def labelled_kernel(self, label: str, function: Kernel) -> None:
        """Register the kernel of nodes whose attribute `_kernel` is `label`, on CPUs."""
        self.labelled[label] = _rule(function)

    def prompt(self, function: Kernel) -> Kernel:
        """Register what runs first, if the kernel may wait; usable as a decorator.

        Args:
          function: of the kernel's arguments; returns its result, or `PENDING` if it has to wait.
        """
        self.prompt_rule = _rule(function)
        return function

    def specialize(self, function: Specializer) -> Specializer:
        """Register what makes kernels for single nodes; usable as a decorator.

        Args:
          function: takes what is known of a node, returns None or a function of its input arrays
            one by one (a list's too), which leaves them as they are; a NumPy ufunc of numbers is
            best, for its result can be written over an input that nobody needs.
        """
        self.specialized = function
        return function

    def elementwise(
        self,
        formula: str | Callable[[Known], str | None],
        *,
        broadcasts: bool = False,
        functions: NumberFunctions = _NO_FUNCTIONS,
    ) -> None:
        """Register what the kernel computes of each element, if these are floats: for fused loops.

        Args:
          formula: an expression of the inputs' names (of a list `NAME0`, `NAME1`), with the
            operations of the kernel in its order, so that both give the same bits; `one` and
            `two` are of the inputs' type. Or what returns it for a node, None if there is none.
          broadcasts: whether the inputs may have different shapes.
          functions: that the formula calls, beside NumPy's.
        """
        self.element_rule = ElementRule(formula, broadcasts, functions)

    def gradient(self, function: GradientRule) -> GradientRule:
        """Register the gradient; usable as a decorator.

        Args:
          function: takes the Operation and the gradient of each output (a tensor, None where
            there is none), returns the gradient of each input: one, or a sequence.
        """
        self.gradient_rule = function
        return function

    def not_differentiable(self) -> OpDef:
        """State that no gradient flows through this op, and return it."""
        self.differentiable = False
        return self

    def __call__(
        self, *inputs: TensorLike, name: str | None = None, **attrs: AttrValue
    ) -> TensorLike:
        """Add a node of this op to the default graph; see `build.build`."""
        return _build(self, inputs, attrs, name)

    def __repr__(self) -> str:
        return f"OpDef({self.text!r})"


def _module_being_imported() -> str:
    """Return the module whose import defines an op, perhaps by functions of others; "" if none."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return "" if frame is None else frame.f_globals["__name__"]


REGISTRY: Registry[OpDef] = Registry()
_build = lazy.function("tfdist.graph.build", "build")


def lookup(name: str) -> OpDef:
    """Return the definition of the op `name`; NotFoundError naming similar ones."""
    try:
        return REGISTRY[name]
    except KeyError:
        import difflib  # only for who has mistyped something

        near = difflib.get_close_matches(name, REGISTRY, 3)
        hint = f"; near it are {', '.join(near)}" if near else ""
        raise NotFoundError(
            f"op type {name!r} is not registered among the {len(REGISTRY)} ops here{hint}"
        ) from None


class _Raw:
    """Any op by name, looked up when called: `raw.Reshape(x, shape)`."""

    def __getattr__(self, name: str) -> OpDef:
        if name.startswith("__"):  # what Python and its tools ask of any object: no op is named so
            raise AttributeError(name)
        try:
            return lookup(name)
        except NotFoundError as error:
            raise AttributeError(error.message) from None

    def __dir__(self) -> list[str]:
        return sorted(REGISTRY)


raw = _Raw()
