"""The services have TensorFlow's methods, and their messages TensorFlow's fields."""

from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto

from tfdist.protos import pb

THEIRS = Path(__file__).with_name("services_2_21.txt")
# FieldDescriptorProto's numbers of types
SCALARS = {
    1: "double", 3: "int64", 4: "uint64", 5: "int32", 6: "fixed64", 8: "bool", 9: "string",
    12: "bytes",
}  # fmt: skip
METHODS = {
    "MasterService": (
        "CreateSession ExtendSession PartialRunSetup RunStep CloseSession ListDevices Reset "
        "MakeCallable RunCallable ReleaseCallable"
    ),
    "WorkerService": (
        "GetStatus CreateWorkerSession DeleteWorkerSession RegisterGraph DeregisterGraph RunGraph "
        "CleanupGraph CleanupAll RecvTensor MarkRecvFinished RecvBuf Logging Tracing "
        "CompleteGroup CompleteInstance GetStepSequence"
    ),
}
EMPTY = (
    "CloseSessionResponse ResetResponse ReleaseCallableResponse GetStatusRequest "
    "CreateWorkerSessionResponse DeleteWorkerSessionResponse DeregisterGraphResponse "
    "CleanupGraphResponse CleanupAllResponse MarkRecvFinishedResponse TracingResponse"
)


def their_messages():
    """Return {message: its fields as text}, from the table."""
    lines = [line for line in THEIRS.read_text().splitlines() if not line.startswith("#")]
    parts = "\n".join(lines).replace("\n   ", "").splitlines()
    table = {name: fields.split() for name, fields in (part.split(":", 1) for part in parts)}
    return table | {name: [] for name in EMPTY.split()}


def our_fields(name):
    described = DescriptorProto()
    getattr(pb, name).DESCRIPTOR.CopyToProto(described)
    return [
        f"{field.name}={field.number}{separator(field)}{type_of(field)}"
        for field in sorted(described.field, key=lambda field: field.number)
    ]


def separator(field):
    return "*" if field.label == field.LABEL_REPEATED else ":"


def type_of(field):
    name = field.type_name.removeprefix(".").removeprefix("tensorflow.")
    return name or SCALARS[field.type]


@pytest.mark.parametrize(("name", "theirs"), their_messages().items(), ids=their_messages())
def test_a_message_has_tensorflows_fields(name, theirs):
    assert our_fields(name) == theirs


@pytest.mark.parametrize("service", METHODS)
def test_a_service_has_tensorflows_methods(service):
    assert {name for name, _, _ in pb.method_classes(service)} == set(METHODS[service].split())


def test_the_table_has_every_message_of_the_services():
    methods = [each for service in METHODS for each in pb.method_classes(service)]
    used = {cls.__name__ for _, *classes in methods for cls in classes}
    assert used <= set(their_messages())


def test_whoever_asks_for_placement_and_waits_gets_rows():
    placed = pb.PlacementResponse(node=[pb.PlacedNode(name="a", device="/cpu:0", reason="only")])
    assert placed.node[0].error_code == 0
    assert pb.WhyResponse(waits=[pb.WhyWait(node="q", text="empty")]).waits[0].node == "q"
