"""The setup of a training that traces tell of, or a published one where they tell of none."""

from __future__ import annotations

from collections.abc import Sequence

from tfdist.errors import InvalidArgumentError
from tfdist.jupyter.trace import Trace
from tfdist.simulation.calibration import setup_of
from tfdist.simulation.training import TrainingSetup

# Inception-v3, which a worker of the time computed in 1.3 s: 109 MB, cards of 10 Gbit/s. Source:
# Abadi et al., "TensorFlow: a system for large-scale machine learning" (OSDI 2016), section 6.3.
INCEPTION = TrainingSetup(
    ps=17,
    compute_s=1.3,
    sigma=0.2,
    pull_bytes=109e6,
    push_bytes=109e6,
    ps_bandwidth=1e9,
    worker_bandwidth=1e9,
)


def setup_of_traces(traces: Sequence[Trace]) -> tuple[TrainingSetup, str]:
    """Return the setup of the last traced training step, and where it is from, for a sentence.

    A step is one of training if a worker read from parameter servers and sent to them; where none
    is, the setup is `INCEPTION`.
    """
    for trace in reversed(traces):
        if not trace.complete_runs:
            continue
        steps = trace.repetitions()
        try:
            setup = setup_of(steps, calls_s=trace.repetitions_s())
        except InvalidArgumentError:  # no worker computed
            continue
        if setup.pull_bytes and setup.push_bytes:
            return setup, f" (from {len(steps)} traced run{'s' * (len(steps) != 1)})"
    return INCEPTION, " (no training was traced: these are Inception-v3's on cards of 2016)"
