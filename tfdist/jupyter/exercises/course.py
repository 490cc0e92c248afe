"""All exercises of the course, in the order of its lessons."""

from __future__ import annotations

from tfdist.jupyter.exercises import elsewhere, graphs, performance, servers, training

EXERCISES = (
    *graphs.EXERCISES,
    *servers.EXERCISES,
    *training.EXERCISES,
    *performance.EXERCISES,
    *elsewhere.EXERCISES,
)
