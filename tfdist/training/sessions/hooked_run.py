"""A run that hooks are told of and add to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.protos import pb
from tfdist.training.sessions.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunValues,
)


class HookedRun:
    """Runs steps of a Session between the calls of hooks.

    Attributes:
      should_stop: whether a hook has asked for the stop.
    """

    def __init__(self, session: Any, hooks: list[Any]) -> None:
        """Keep the Session and the hooks."""
        self._session = session
        self._hooks = hooks
        self.should_stop = False

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Run a step and return the values of `fetches`; see `MonitoredSession.run`."""
        if self.should_stop:
            raise RuntimeError("Run called even after should_stop requested.")
        if not self._hooks:
            return self._session.run(fetches, feed_dict, options, run_metadata)
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._session)
        asked = [_asked(hook, context) for hook in self._hooks]
        if any(args is not None and args.feed_dict for args in asked):
            feed_dict = _merged_feeds(asked, feed_dict)
        options = _merged_options(asked, options)
        metadata = run_metadata
        if metadata is None and options is not None:
            metadata = pb.RunMetadata()
        wanted = [args.fetches for args in asked if args is not None and args.fetches is not None]
        values, *results = self._session.run(
            [fetches, *wanted], feed_dict=feed_dict, options=options, run_metadata=metadata
        )
        self._tell(context, asked, iter(results), options, metadata)
        return values

    def _tell(
        self,
        context: SessionRunContext,
        asked: list[Any],
        results: Any,
        options: Any,
        metadata: Any,
    ) -> None:
        """Tell each hook what it asked for."""
        options = pb.RunOptions() if options is None else options
        metadata = pb.RunMetadata() if metadata is None else metadata
        for hook, args in zip(self._hooks, asked, strict=True):
            has_result = args is not None and args.fetches is not None
            result = next(results) if has_result else None
            hook.after_run(context, SessionRunValues(result, options, metadata))
        self.should_stop = self.should_stop or context.stop_requested


def _asked(hook: Any, context: SessionRunContext) -> SessionRunArgs | None:
    args = hook.before_run(context)
    if args is None or (hasattr(args, "feed_dict") and hasattr(args, "options")):
        return args  # type: ignore[no-any-return]
    raise TypeError(
        f"before_run of {type(hook).__name__} must return a SessionRunArgs or None, not {args!r}"
    )


def _merged_feeds(asked: Iterable[Any], given: Any) -> dict[Any, Any]:
    """Return all feeds.

    Raises:
      RuntimeError: a tensor is fed twice.
    """
    merged: dict[Any, Any] = {}
    for args in asked:
        feeds = (args.feed_dict if args is not None else None) or {}
        _check_apart("Same tensor is fed by two hooks.", merged, feeds)
        merged.update(feeds)
    given = given or {}
    _check_apart("Same tensor is fed by a SessionRunHook and user.", merged, given)
    return {**merged, **given}


def _check_apart(trouble: str, some: dict[Any, Any], others: dict[Any, Any]) -> None:
    both = [key for key in some if key in others]
    if both:
        raise RuntimeError(f"{trouble} Conflict(s): {both}")


def _merged_options(asked: Iterable[Any], given: Any) -> Any:
    """Return options with all that is asked for; None if nothing is."""
    wanted = [args.options for args in asked if args is not None and args.options is not None]
    if not wanted:
        return given
    merged = pb.RunOptions()
    merged.MergeFrom(pb.RunOptions() if given is None else pb.reparse(given))
    for options in wanted:
        merged.trace_level = max(merged.trace_level, options.trace_level)
        merged.timeout_in_ms = max(merged.timeout_in_ms, options.timeout_in_ms)
        merged.inter_op_thread_pool = max(merged.inter_op_thread_pool, options.inter_op_thread_pool)
        if options.output_partition_graphs:
            merged.output_partition_graphs = True
        watched = options.debug_options.debug_tensor_watch_opts
        merged.debug_options.debug_tensor_watch_opts.extend(watched)
    return merged
