"""The hook of a SyncReplicasOptimizer: initialises and starts what a monitored session needs."""

from __future__ import annotations

from typing import Any

from tfdist.training.sessions.session_run_hook import SessionRunHook


class SyncReplicasOptimizerHook(SessionRunHook):
    """Initialises a replica's step; starts the chief's thread, hands out first and last tokens.

    Made by `SyncReplicasOptimizer.make_session_run_hook`.

    Args:
      sync_optimizer: the SyncReplicasOptimizer.
      is_chief: whether this replica is the chief.
      num_tokens: how many tokens the chief hands out first.
    """

    def __init__(self, sync_optimizer: Any, is_chief: bool, num_tokens: int) -> None:
        self._sync_optimizer, self._is_chief = sync_optimizer, is_chief
        self._num_tokens = num_tokens

    def begin(self) -> None:
        """Find and make the nodes.

        Raises:
          ValueError: the optimizer's `apply_gradients` was not called before.
        """
        optimizer = self._sync_optimizer
        if not optimizer._gradients_applied:
            raise ValueError(
                "SyncReplicasOptimizer.apply_gradient should be called before using the hook."
            )
        chief = self._is_chief
        self._local_init_op = optimizer.chief_init_op if chief else optimizer.local_step_init_op
        self._ready_for_local_init_op = optimizer.ready_for_local_init_op
        self._q_runner = optimizer.get_chief_queue_runner() if chief else None
        self._init_tokens_op = optimizer.get_init_tokens_op(self._num_tokens) if chief else None
        self._last_tokens_op = optimizer._last_tokens_op() if chief else None

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Initialise the steps; the chief hands out tokens and starts its thread.

        Raises:
          RuntimeError: variables are not initialised.
        """
        missing = session.run(self._ready_for_local_init_op)
        if len(missing):
            names = ", ".join(name.decode() for name in missing)
            raise RuntimeError(
                "Init operations did not make model ready for local_init. Init op: "
                f"{self._local_init_op.name}, init fn: None, error: Variables not initialized: "
                f"{names}"
            )
        session.run(self._local_init_op)
        if self._init_tokens_op is not None:
            session.run(self._init_tokens_op)
        if self._q_runner is not None:
            self._q_runner.create_threads(session, coord=coord, daemon=True, start=True)

    def end(self, session: Any) -> None:
        """Let replicas finish their step that wait for a token of the chief, which ends."""
        if self._last_tokens_op is not None:
            session.run(self._last_tokens_op)
