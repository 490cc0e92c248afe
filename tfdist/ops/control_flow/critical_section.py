"""CriticalSection: parts of steps that only one step at a time is in.

Source: TF 1.15 API documentation, tf.CriticalSection.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from tfdist.base import nest
from tfdist.base.dtypes import resource
from tfdist.base.shapes import Shape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.control_flow.identity_group import group, identity
from tfdist.ops.control_flow.identity_group import tuple as all_of

__all__ = ["CriticalSection"]

MUTEX = OpDef(
    "MutexV2() -> resource: resource [container: string = ''; shared_name: string = ''] !",
    finds_resource=True,
).not_differentiable()
LOCK = OpDef("MutexLock(mutex: resource) -> mutex_lock: variant !").not_differentiable()
CONSUME = OpDef("ConsumeMutexLock(mutex_lock: variant) -> () !").not_differentiable()


@MUTEX.shape
def mutex_shape() -> Shape:
    return ()


@MUTEX.kernel
def mutex_kernel(ctx: Any, *, container: bytes, shared_name: bytes) -> Any:
    name = shared_name.decode() or ctx.own_name()
    return ctx.resource("mutex", container, name, lambda Mutex: Mutex(name, container.decode()))


@LOCK.shape
def lock_shape(mutex: Shape) -> Shape:
    return ()


@LOCK.kernel
def lock_kernel(ctx: Any, mutex: Any) -> Generator[Any, Any, Any]:
    yield mutex.enter()
    return mutex.hold_on()


@CONSUME.shape
def consume_shape(mutex_lock: Shape) -> list[Shape]:
    return []


@CONSUME.kernel
def consume_kernel(ctx: Any, mutex_lock: Any) -> None:
    mutex_lock.let_go()


_EXECUTIONS = "critical_section_executions"


class _Execution(NamedTuple):
    """A part of the graph that runs in a critical section.

    Attributes:
      op: the node that waits for the lock.
      handle: of the mutex.
      resources: handles that the part uses.
      exclusive_resource_access: whether no other critical section may use them.
    """

    op: Operation
    handle: Tensor
    resources: list[Tensor]
    exclusive_resource_access: bool


class CriticalSection:
    """Parts of a graph that only one step at a time is in, whichever session runs it.

    Args:
      name: of its node.
      shared_name: by which other graphs and sessions on the same task find it; by default its
        node's name.
      critical_section_def: must be None.
      import_scope: must be None.

    Raises:
      ValueError: there is a `critical_section_def`.

    Example:
      >>> v = get_variable("count", initializer=0, use_resource=True)
      >>> counted = CriticalSection(name="counting").execute(lambda: v.assign_add(1))
      >>> with Session() as session:
      ...     _ = session.run(global_variables_initializer())
      ...     print(session.run(counted))
      1
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if critical_section_def is not None:
            raise ValueError(f"critical_section_def is not supported: {critical_section_def!r}")
        with scopes.name_scope(name, "CriticalSection", []) as scope, scopes.init_scope():
            self._handle: Tensor = MUTEX(shared_name=shared_name or scope, name=scope)

    @property
    def name(self) -> str:
        """Return the name of its node."""
        return self._handle.op.name

    def execute(
        self,
        fn: Callable[[], Any],
        exclusive_resource_access: bool = True,
        name: str | None = None,
    ) -> Any:
        """Return what `fn` returns, as tensors that are computed while no other step is inside.

        Args:
          fn: a function without arguments that makes tensors or operations, or a structure of
            such; what it adds to the graph runs inside.
          exclusive_resource_access: whether no other critical section may use the variables and
            other resources that `fn` uses.
          name: prefix for the nodes.

        Raises:
          ValueError: `fn` enters the same critical section again, which would wait for ever; or
            it uses what another critical section uses, and one of them must have it alone.
        """
        with scopes.name_scope(name, "critical_section_execute", []):
            lock: Tensor = LOCK(self._handle)
            graph = lock.graph
            start = graph.version
            with scopes.control_dependencies([lock.op]):
                made = fn()
            inside = graph.operations_since(start)
            self._wait_for_handles(lock.op, inside, exclusive_resource_access)
            return self._left(lock, made)

    def _wait_for_handles(self, lock: Operation, inside: list[Operation], exclusive: bool) -> None:
        """Note which resources are used inside, and let the lock wait for their handles."""
        used = {
            tensor: None
            for op in inside
            for tensor in op.inputs
            if tensor.dtype is resource and tensor.op not in set(inside)
        }
        if self._handle in used:
            raise ValueError(
                "The function fn attempts to directly access the CriticalSection in which it would "
                "be running.  This is illegal and would cause deadlocks."
            )
        execution = _Execution(lock, self._handle, list(used), exclusive)
        self._check_exclusive(execution)
        scopes.add_to_collection(_EXECUTIONS, execution)
        if used:
            with scopes.control_dependencies(None):
                lock._add_control_input(group(*[tensor.op for tensor in used]))

    def _check_exclusive(self, execution: _Execution) -> None:
        for other in scopes.get_collection(_EXECUTIONS):
            if other.handle is self._handle:
                continue
            if not (other.exclusive_resource_access or execution.exclusive_resource_access):
                continue
            shared = [each for each in execution.resources if each in other.resources]
            if shared:
                raise ValueError(
                    f"This execution would access resources: {shared}.  Either this lock "
                    f"(CriticalSection: {self._handle}) or lock {other.handle} (of "
                    f"{other.op.name!r}) has exclusive access to them; "
                    "exclusive_resource_access=False for both lets both use them"
                )

    def _left(self, lock: Tensor, made: Any) -> Any:
        """Return what was made inside, for use when the lock has been let go."""
        flat = [_made(each) for each in nest.flatten(made)]
        gates = [group(e) if isinstance(e, Operation) else identity(e).op for e in flat]
        with scopes.control_dependencies(gates):
            with scopes.colocate_with(self._handle.op, ignore_existing=True):
                consumed = CONSUME(lock)
            kept = all_of(flat)
        with scopes.control_dependencies([consumed]):
            results = [group(consumed, e) if isinstance(e, Operation) else identity(e)
                       for e in kept]  # fmt: skip
        return nest.pack_as(made, results)


def _made(value: Any) -> Any:
    """Return what a function made: an operation, or a tensor."""
    if isinstance(value, Operation):
        return value
    return convert_to_tensor(value, name="input")
