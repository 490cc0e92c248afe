"""The messages are TensorFlow's, the classes behave as classes of a module do."""

import pickle
import runpy
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from tfdist.protos import pb

REGENERATE = Path(__file__).parents[2] / "proto" / "regenerate.py"
DATA = files("tfdist.protos")


@pytest.fixture(scope="module")
def regenerate():
    """The names of proto/regenerate.py, which is a script beside the package."""
    return runpy.run_path(str(REGENERATE))


def foreign(name):
    """Return the class of a message in another pool, as real TensorFlow would have it."""
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString((DATA / "tensorflow.desc").read_bytes()).file:
        pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName(name))


def test_regenerating_gives_the_committed_files(regenerate):
    descriptors = regenerate["compile_sources"]()
    assert regenerate["to_bytes"](descriptors) == (DATA / "tensorflow.desc").read_bytes()
    assert regenerate["stub"](descriptors) == (DATA / "pb.pyi").read_text()


def test_importing_pb_loads_nothing():
    code = "import sys, tfdist.protos.pb; sys.exit('google.protobuf' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("message", "field", "number"),
    [
        ("ExtendSessionResponse", "new_graph_version", 4),
        ("RunGraphRequest", "session_handle", 8),
        ("TensorProto", "half_val", 13),
        ("NodeExecStats", "scheduled_nanos", 17),
        ("ConfigProto", "share_cluster_devices_in_session", 17),
    ],
)
def test_fields_have_tensorflows_numbers(message, field, number):
    assert getattr(pb, message).DESCRIPTOR.fields_by_name[field].number == number


@pytest.mark.parametrize(
    ("message", "wire_form"),
    [
        (pb.DeviceAttributes(incarnation=1), b"\x31\x01" + bytes(7)),  # fixed64
        (pb.FloatList(value=[1.0]), b"\x0a\x04\x00\x00\x80\x3f"),  # packed
        (pb.JobDef(tasks={3: "a"}), b"\x12\x05\x08\x03\x12\x01a"),  # map
        (pb.TensorProto(float8_val=b"\x01"), b"\x92\x01\x01\x01"),  # two bytes of tag
    ],
    ids=["fixed64", "packed floats", "map", "field number above 15"],
)
def test_fields_have_tensorflows_types(message, wire_form):
    assert message.SerializeToString() == wire_form


def test_enums_map_names_and_numbers():
    assert pb.DataType.Value("DT_FLOAT") == 1
    assert pb.DataType.Name(107) == "DT_STRING_REF"
    assert pb.Code.Value("UNAVAILABLE") == pb.Code.UNAVAILABLE == 14


def test_nested_enums_are_attributes_of_their_message():
    assert pb.RunOptions.FULL_TRACE == 3
    assert pb.RunOptions.TraceLevel.Name(3) == "FULL_TRACE"


@pytest.mark.parametrize(
    "message",
    [
        pb.ConfigProto(device_count={"CPU": 2}, gpu_options=pb.GPUOptions(allow_growth=True)),
        pb.NodeDef.ExperimentalDebugInfo(original_node_names=["a"]),
        pb.ConfigProto(gpu_options={"allow_growth": True}).gpu_options,
    ],
    ids=["top level", "nested", "reached through a field"],
)
def test_messages_pickle(message):
    copy = pickle.loads(pickle.dumps(message))
    assert copy == message
    assert type(copy) is type(message)


def test_classes_name_the_module_where_they_are_found():
    assert pb.GraphDef.__module__ == "tfdist.protos.pb"
    assert pb.GraphDef is pb.GraphDef
    assert pb.AttrValue.ListValue.__qualname__ == "AttrValue.ListValue"


def test_text_form_of_a_cluster():
    text = 'job {\n  name: "ps"\n  tasks {\n    key: 0\n    value: "localhost:2221"\n  }\n}\n'
    cluster = text_format.Parse(text, pb.ClusterDef())
    assert cluster == pb.ClusterDef(job=[pb.JobDef(name="ps", tasks={0: "localhost:2221"})])
    assert str(cluster) == text


def test_unknown_name_is_named_in_the_error():
    with pytest.raises(AttributeError, match="no message or enum 'GraphDeaf'"):
        _ = pb.GraphDeaf


def test_methods_come_in_the_services_order_with_their_classes():
    methods = list(pb.method_classes("MasterService"))
    assert methods[0] == ("CreateSession", pb.CreateSessionRequest, pb.CreateSessionResponse)
    assert len(methods) == 10
    assert len(list(pb.method_classes("WorkerService"))) == 16


def test_methods_of_our_own_service_come_by_its_full_name():
    names = [name for name, _, _ in pb.method_classes("tfdist.Inspection")]
    assert names == ["Hello", "Attach", "Placement", "Why", "Census", "Disturb", "Costs"]
    health = list(pb.method_classes("grpc.health.v1.Health"))
    assert health[0] == ("Check", pb.HealthCheckRequest, pb.HealthCheckResponse)
    assert pb.HealthCheckResponse.SERVING == 1


def test_our_own_messages_are_not_tensorflows():
    assert pb.HelloRequest.DESCRIPTOR.full_name == "tfdist.HelloRequest"
    assert pickle.loads(pickle.dumps(pb.WhyWait(node="a"))).node == "a"


def test_a_message_is_parsed_from_bytes_or_a_view():
    data = pb.ResetRequest(container=["a"]).SerializeToString()
    assert pb.parse(pb.ResetRequest, data) == pb.parse(pb.ResetRequest, memoryview(data))


def test_bytes_that_are_no_such_message_are_told():
    with pytest.raises(ValueError, match=r"2 bytes are no tensorflow\.ResetRequest"):
        pb.parse(pb.ResetRequest, b"\xff\xff")


def test_a_message_of_another_pool_is_reparsed():
    theirs = foreign("tensorflow.RunOptions")(trace_level=3, timeout_in_ms=5)
    ours = pb.reparse(theirs)
    assert ours == pb.RunOptions(trace_level=pb.RunOptions.FULL_TRACE, timeout_in_ms=5)
    assert pb.reparse(ours) is ours


def test_a_message_of_another_protocol_is_refused():
    with pytest.raises(TypeError, match=r"google\.protobuf\.FileDescriptorSet"):
        pb.reparse(FileDescriptorSet())


def test_fields_left_out_here_survive_a_round_trip():
    sent = b"\x3a\x02\x08\x01"  # MetaGraphDef.object_graph_def, number 7
    assert pb.MetaGraphDef.FromString(sent).SerializeToString() == sent
