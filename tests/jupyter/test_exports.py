"""`--save` of every magic: what is written, that it is said, and that viewers can open it."""

import json
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest
from IPython.core.error import UsageError

from tfdist.formats.tfrecord import tf_record_iterator
from tfdist.protos import pb

PICTURED = {
    "%cluster": "svg", "%queues --all": "html", "%placement c": "svg", "%why": "txt",
    "%histograms a --session sess": "svg", "%graph": "svg", "%trace c": "svg", "%timeline": "svg",
    "%timeline --rpcs": "svg", "%timeline --against found": "svg", "%timeline --play": "svg",
    "%explain": "svg", "%whatif train --compute 1s --workers 1:3": "svg",
    "%cluster spec": "txt", "%cluster faults": "html", "%tfdist doctor": "html", "%tfdist": "txt",
}  # fmt: skip


@pytest.fixture
def traced(on_cluster):
    """Return a notebook with a traced step."""
    on_cluster.run("%trace -q -o found c")
    on_cluster.run("%config TFDist.live = 'off'")  # no player stays open
    return on_cluster


def test_every_magic_writes_what_it_shows_and_says_where(traced, tmp_path):
    for number, (line, suffix) in enumerate(PICTURED.items()):
        file = tmp_path / f"{number}.{suffix}"
        verb, *rest = line.split(" ", 1)
        options = (
            [verb, f"--save {file}", *rest]
            if verb in ("%trace", "%explain")
            else [line, f"--save {file}"]
        )
        assert f"wrote {file}" in traced.text(" ".join(options)), line
        text = file.read_text()
        if suffix == "svg":
            assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg", line
        elif suffix == "html":
            assert text.startswith("<!DOCTYPE html>"), line
            assert "://" not in text
        else:
            assert text.strip(), line


def test_quiet_writes_and_says_nothing(traced, tmp_path):
    for line in ("%cluster", "%placement c", "%timeline", "%queues"):
        assert traced.run(f"{line} -q --save {tmp_path}/quiet.png") == []
        assert (tmp_path / "quiet.png").read_bytes().startswith(b"\x89PNG"), line


def test_what_there_is_no_picture_of_says_what_there_is(traced, tmp_path):
    with pytest.raises(UsageError, match=r"saved as FILE.html \(a page\) or FILE.txt, not .*x.svg"):
        traced.run(
            f"%cluster logs --save {tmp_path}/x.svg"
            if False
            else f"%tfdist --save {tmp_path}/x.svg"
        )
    with pytest.raises(UsageError, match="--save with --watch needs --for SECONDS"):
        traced.run(f"%queues --watch --save {tmp_path}/x.svg")


def test_perfetto_finds_processes_threads_and_flows_in_a_trace(traced, tmp_path):
    traced.run(f"%timeline -q --save {tmp_path}/t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert all(isinstance(each["pid"], int) for each in events)
    assert all(isinstance(each.get("tid", 0), int) for each in events)
    named = {each["pid"] for each in events if each.get("name") == "process_name"}
    assert {each["pid"] for each in events} == named
    spans = [each for each in events if each["ph"] == "X"]
    for pid, tid in {(each["pid"], each["tid"]) for each in spans}:
        lane = sorted(
            (e["ts"], e["ts"] + e["dur"]) for e in spans if (e["pid"], e["tid"]) == (pid, tid)
        )
        assert all(end <= begin for (_, end), (begin, _) in pairwise(lane))
    flows = {ph: {each["id"] for each in events if each["ph"] == ph} for ph in "stf"}
    assert flows["s"] == flows["t"] | flows["f"]


def test_tensorboard_finds_graph_and_step_in_events(traced, tmp_path):
    traced.run(f"%timeline -q --save {tmp_path}/t.tfevents")
    events = [
        pb.Event.FromString(each) for each in tf_record_iterator(str(tmp_path / "t.tfevents"))
    ]
    assert events[0].file_version == "brain.Event:2"
    [graph] = [pb.GraphDef.FromString(each.graph_def) for each in events if each.graph_def]
    [tagged] = [each.tagged_run_metadata for each in events if each.HasField("tagged_run_metadata")]
    ran = pb.RunMetadata.FromString(tagged.run_metadata)
    names = {node.node_name for device in ran.step_stats.dev_stats for node in device.node_stats}
    assert {node.name for node in graph.node} <= names
    for device in ran.step_stats.dev_stats:
        for output in (each for node in device.node_stats for each in node.output):
            assert output.tensor_description.HasField("shape")
