"""The RunMetadata of a step: what each node did, and what each task ran."""

from __future__ import annotations

from tfdist.graph.graph_def import records_to_proto
from tfdist.plan.compiling.copies import device_graphs
from tfdist.protos import pb
from tfdist.runtime.step.requests import PreparedStep, StepResult
from tfdist.wire.codec.step_stats import complete, fill_step_stats


def run_metadata(
    prepared: PreparedStep, result: StepResult, options: pb.RunOptions | None
) -> pb.RunMetadata:
    """Return the RunMetadata of a step.

    Args:
      prepared: the step.
      result: what it gave.
      options: RunOptions; `output_partition_graphs` asks for what each task ran.
    """
    metadata = pb.RunMetadata()
    if result.trace or result.remote:
        fill_step_stats(metadata.step_stats, result.trace)
        complete(metadata.step_stats, result.remote)
    if options is not None and options.output_partition_graphs:
        metadata.partition_graphs.extend(
            records_to_proto(nodes)
            for partition in prepared.plan.partitions
            for nodes in device_graphs(partition, f"{partition.task}/device:CPU:0")
        )
    return metadata
