"""The ops of tf.contrib.summary: nodes that write summaries into event files themselves."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.formats.events import EventFile, make_folder
from tfdist.graph.op_def import OpDef
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.summary.media import audio_summary_v2_kernel, image_summary_kernel
from tfdist.ops.summary.summaries import histogram_summary_kernel, scalar_summary_kernel
from tfdist.ops.summary.tensor_summary import tensor_summary_v2_kernel
from tfdist.protos import pb

__all__: list[str] = []  # models.contrib.summary has the public functions


def _op(signature: str) -> OpDef:
    op_def = OpDef(f"{signature} !").not_differentiable()
    op_def.shape(lambda *_, **__: [])
    return op_def


WRITER = OpDef(
    "SummaryWriter() -> writer: resource [shared_name: string = ''; container: string = ''] !",
    finds_resource=True,
).not_differentiable()
CREATE = _op(
    "CreateSummaryFileWriter(writer: resource, logdir: string, max_queue: int32, "
    "flush_millis: int32, filename_suffix: string) -> ()"
)
CLOSE = _op("CloseSummaryWriter(writer: resource) -> ()")
FLUSH = _op("FlushSummaryWriter(writer: resource) -> ()")
_WHERE = "writer: resource, step: int64"
SCALAR = _op(f"WriteScalarSummary({_WHERE}, tag: string, value: T) -> () [T: type {{real}}]")
HISTOGRAM = _op(
    f"WriteHistogramSummary({_WHERE}, tag: string, values: T) -> () [T: type = float {{real}}]"
)
IMAGE = _op(
    f"WriteImageSummary({_WHERE}, tag: string, tensor: T, bad_color: uint8) -> () "
    "[max_images: int = 3 >=1; T: type = float {uint8,float32,float16}]"
)
AUDIO = _op(
    f"WriteAudioSummary({_WHERE}, tag: string, tensor: float, sample_rate: float) -> () "
    "[max_outputs: int = 3 >=1]"
)
TENSOR = _op(
    f"WriteSummary({_WHERE}, tensor: T, tag: string, summary_metadata: string) -> () [T: type]"
)
GRAPH = _op(f"WriteGraphSummary({_WHERE}, tensor: string) -> ()")
RAW = _op(f"WriteRawProtoSummary({_WHERE}, tensor: string) -> ()")
IMPORT = _op("ImportEvent(writer: resource, event: string) -> ()")


@WRITER.shape
def writer_shape() -> Shape:
    return ()


@WRITER.kernel
def writer_kernel(ctx: Any, *, shared_name: bytes, container: bytes) -> Any:
    name = shared_name.decode() or ctx.own_name()
    return ctx.resource(
        "summary writer", container, name, lambda Writer: Writer(name, container.decode())
    )


@CREATE.kernel
def create_kernel(
    writer: Any, logdir: Any, max_queue: Any, flush_millis: Any, filename_suffix: Any
) -> None:
    folder, suffix = (as_elements(each)[()].decode() for each in (logdir, filename_suffix))

    def make() -> EventFile:
        make_folder(folder)
        return EventFile(folder, suffix)

    writer.open(make, int(max_queue))


@CLOSE.kernel
def close_kernel(writer: Any) -> None:
    writer.close()


@FLUSH.kernel
def flush_kernel(writer: Any) -> None:
    writer.flush()


def _add(writer: Any, step: Any, **content: Any) -> None:
    event = pb.Event(wall_time=time.time(), step=int(step), **content)
    writer.add(event.SerializeToString())


def _of_summary(writer: Any, step: Any, serialized: bytes) -> None:
    _add(writer, step, summary=_parsed(pb.Summary, serialized))


def _parsed(kind: Any, serialized: bytes) -> Any:
    try:
        return pb.parse(kind, serialized)
    except ValueError as error:
        raise InvalidArgumentError(f"no {kind.DESCRIPTOR.name} message: {error}") from None


@SCALAR.kernel
def scalar_kernel(writer: Any, step: Any, tag: Any, value: Any) -> None:
    if np.shape(value):
        raise InvalidArgumentError(f"a scalar summary has one number, got {np.shape(value)}")
    _of_summary(writer, step, scalar_summary_kernel(tag, value))


@HISTOGRAM.kernel
def histogram_kernel(ctx: Any, writer: Any, step: Any, tag: Any, values: Any) -> None:
    _of_summary(writer, step, histogram_summary_kernel(ctx, tag, values))


@IMAGE.kernel
def image_kernel(
    writer: Any, step: Any, tag: Any, tensor: Any, bad_color: Any, *, max_images: int
) -> None:
    made = image_summary_kernel(tag, tensor, max_images=max_images, bad_color=bad_color)
    _of_summary(writer, step, _numbered(made))


def _numbered(serialized: bytes) -> bytes:
    """Return a Summary whose only image has a number in its tag, too."""
    summary = pb.Summary.FromString(serialized)
    if len(summary.value) == 1 and summary.value[0].tag.endswith("/image"):
        summary.value[0].tag += "/0"
    return summary.SerializeToString()  # type: ignore[no-any-return]


@AUDIO.kernel
def audio_kernel(
    writer: Any, step: Any, tag: Any, tensor: Any, sample_rate: Any, *, max_outputs: int
) -> None:
    _of_summary(writer, step, audio_summary_v2_kernel(tag, tensor, sample_rate,
                                                      max_outputs=max_outputs))  # fmt: skip


@TENSOR.kernel
def tensor_kernel(writer: Any, step: Any, tensor: Any, tag: Any, summary_metadata: Any) -> None:
    _of_summary(writer, step, tensor_summary_v2_kernel(tag, tensor, summary_metadata))


@GRAPH.kernel
def graph_kernel(writer: Any, step: Any, tensor: Any) -> None:
    _add(writer, step, graph_def=as_elements(tensor)[()])


@RAW.kernel
def raw_kernel(writer: Any, step: Any, tensor: Any) -> None:
    for each in as_elements(tensor).reshape(-1):
        _of_summary(writer, step, each)


@IMPORT.kernel
def import_kernel(writer: Any, event: Any) -> None:
    writer.add(_parsed(pb.Event, as_elements(event)[()]).SerializeToString())


OPS: list[OpDef] = [
    WRITER, CREATE, CLOSE, FLUSH, SCALAR, HISTOGRAM, IMAGE, AUDIO, TENSOR, GRAPH, RAW, IMPORT,
]  # fmt: skip
