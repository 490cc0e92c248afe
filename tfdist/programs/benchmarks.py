"""tf.test.Benchmark: how long operations take, printed as a line of text.

Source: TF 1.15 API documentation, tf.test.Benchmark.
"""

from __future__ import annotations

import inspect
import time
from typing import Any

import numpy as np

from tfdist.protos import pb
from tfdist.session.session import Session


class Benchmark:
    """A class of benchmarks: each a method whose name begins with "benchmark".

    Example:
      >>> class Sums(test.Benchmark):
      ...     def benchmark_sum(self):
      ...         with Session() as session:
      ...             found = self.run_op_benchmark(session, constant(1.0) + 2.0, min_iters=2)
      ...         return found["iters"]
      >>> Sums().benchmark_sum()  # doctest: +ELLIPSIS
      entry {name: "Sums.benchmark_sum", iters: 2, wall_time: ...}
      2
    """

    @classmethod
    def is_abstract(cls) -> bool:
        """Return whether this is the class itself, which has no benchmarks."""
        return cls is Benchmark

    def evaluate(self, tensors: Any) -> Any:
        """Return the values of tensors, in a session of their own."""
        with Session() as session:
            return session.run(tensors)

    def run_op_benchmark(
        self, sess: Any, op_or_tensor: Any, feed_dict: Any = None, burn_iters: int = 2,
        min_iters: int = 10, store_trace: bool = False, store_memory_usage: bool = True,
        name: str | None = None, extras: dict[str, Any] | None = None, mbs: float = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """Run something again and again; return and print how long it takes.

        Args:
          sess: a session.
          op_or_tensor: what to run.
          feed_dict: for each run.
          burn_iters: runs that do not count.
          min_iters: runs that do.
          store_trace: accepted for TensorFlow's sake.
          store_memory_usage: accepted for TensorFlow's sake.
          name: that is printed; by default those of the class and the calling method.
          extras: numbers and texts that are printed, too.
          mbs: megabytes that a run moves, by which the throughput is told.

        Returns:
          `iters`, `wall_time` (the median, seconds), `extras`, `name`, `throughput`.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict)
        taken = np.array(
            [_seconds(sess, op_or_tensor, feed_dict) for _ in range(min_iters)] or [0.0]
        )
        median = float(np.median(taken))
        spread = {"wall_time_mean": float(taken.mean()), "wall_time_stdev": float(taken.std())}
        result = {
            "iters": min_iters,
            "wall_time": median,
            "extras": {**(spread if min_iters else {}), **(extras or {})},
            "name": name or self._name(),
            "throughput": mbs / median if median else 0.0,
        }
        self.report_benchmark(
            iters=min_iters, wall_time=median, throughput=result["throughput"],  # type: ignore[arg-type]
            extras=result["extras"], name=result["name"],  # type: ignore[arg-type]
        )  # fmt: skip
        return result

    def report_benchmark(
        self, iters: int | None = None, cpu_time: float | None = None,
        wall_time: float | None = None, throughput: float | None = None,
        extras: dict[str, Any] | None = None, name: str | None = None, metrics: Any = None,
    ) -> None:  # fmt: skip
        """Print what a benchmark found.

        Args:
          iters: how many runs.
          cpu_time: seconds.
          wall_time: seconds.
          throughput: megabytes per second.
          extras: numbers and texts.
          name: by default those of the class and the calling method.
          metrics: list of dicts with "name" and "value".
        """
        told = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time,
                "throughput": throughput, **(extras or {})}  # fmt: skip
        told |= {each["name"]: each["value"] for each in metrics or ()}
        parts = [f'name: "{name or self._name()}"']
        parts += [f"{key}: {value}" for key, value in told.items() if value is not None]
        print(f"entry {{{', '.join(parts)}}}")

    def _name(self) -> str:
        """Return the names of the class and of the benchmark that called."""
        frames = inspect.stack(0)
        method = next((each.function for each in frames if each.function.startswith("benchmark")),
                      "benchmark")  # fmt: skip
        return f"{type(self).__name__}.{method}"


def _seconds(session: Any, fetches: Any, feeds: Any) -> float:
    start = time.perf_counter()
    session.run(fetches, feeds)
    return time.perf_counter() - start


def benchmark_config() -> Any:
    """Return a ConfigProto for benchmarks: without TensorFlow's pass over dependencies.

    Example:
      >>> test.benchmark_config().HasField("graph_options")
      True
    """
    config = pb.ConfigProto()
    options = config.graph_options
    rewrites = getattr(options, "rewrite_options", None)
    if rewrites is not None:
        rewrites.dependency_optimization = 2  # off
    options.SetInParent()
    return config
