"""`%timeline --rpcs`, `--against`, `%trace -n`, and what `--save` writes."""

import json
import re

import pytest
from IPython.core.error import UsageError

from tfdist.formats.events import summary_iterator
from tfdist.jupyter.export import graph_of, timeline_export
from tfdist.protos import pb


@pytest.fixture
def traced(on_cluster):
    """Return a notebook with two traces: `first`, and `second` of three runs."""
    on_cluster.run("%trace -q -o first sess.run(c);")
    on_cluster.run("%trace -q -n 3 -o second sess.run(c);")
    return on_cluster


def test_the_calls_of_a_step_were_seen_and_are_drawn(traced):
    (shown,) = traced.run("%timeline first --rpcs")
    assert "image/png" in shown
    text = shown["text/plain"]
    for told in ("3 RegisterGraph", "1 RunStep", "3 RunGraph", "RecvTensor a/read"):
        assert told in text
    (again,) = traced.run("%timeline second --rpcs --step 0")
    assert "RegisterGraph" not in again["text/plain"]  # it was registered before
    methods = [call.method for call in traced.value("second").calls(0)]
    assert methods.count("RunStep") == 1  # its own only


def test_two_traces_are_compared(traced):
    table, picture = traced.run("%timeline first --against second")
    assert "image/png" in picture
    assert "second took" in table["text/plain"]
    assert {"a", "c"} <= {line.split()[1] for line in table["text/plain"].splitlines()[3:]}
    text = traced.text("%timeline --against first")
    assert "the last trace" in text


def test_many_runs_are_summed_up_and_the_last_one_is_shown(traced):
    shown = traced.run("%trace -n 4 -o many c")
    texts = [each["text/plain"] for each in shown]
    assert texts[0].startswith("4 runs; half of them took")
    assert sum("image/png" in each for each in shown) == 2
    assert "Ran c:0" in texts[3]
    assert len(traced.value("many").repetitions()) == 4


WRONG = {
    "%timeline first --rpcs --against second": "one of --play, --rpcs and --against",
    "%timeline first --against nothing": "nothing is not defined; wanted is a Trace",
    "%timeline first --step 7 --rpcs": "1 complete runs",
    "%trace -n 0 c": "one or more",
    "%trace --save x.png 1 + 1": "no run of a session came to its end",
    "%timeline first --against second --save x.json": "saved as FILE.png or FILE.svg, not x.json",
    "%timeline first --save x.doc": "FILE.tfevents (for TensorBoard), FILE.png or FILE.svg",
}


def test_what_cannot_be_is_said_in_a_line(traced):
    for line, message in WRONG.items():
        with pytest.raises(UsageError, match=re.escape(message)):
            traced.run(line)


def test_without_times_outputs_are_the_same_in_every_run(traced):
    traced.run("%config TFDist.live = 'off'")
    for line in ("%timeline first --rpcs", "%timeline first --against second", "%trace -n 2 c"):
        outputs = [
            [{k: v for k, v in each.items() if k != "image/png"} for each in traced.run(line)]
            for _ in range(2)
        ]
        assert outputs[0] == outputs[1], line


def test_each_suffix_writes_its_kind_of_file(traced, tmp_path):
    for suffix in (".png", ".svg", ".json", ".tfevents"):
        traced.run(f"%timeline first -q --save {tmp_path}/t{suffix}")
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    svg = (tmp_path / "t.svg").read_text()
    assert "<text" in svg
    assert "<dc:date>" not in svg
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]
    events = list(summary_iterator(str(tmp_path / "t.tfevents")))
    (graph,) = [pb.GraphDef.FromString(each.graph_def) for each in events if each.graph_def]
    assert {"a", "a/read", "c"} <= {node.name for node in graph.node}
    assert {node.device for node in graph.node if node.name == "c"} == {
        "/job:worker/replica:0/task:1/device:CPU:0"
    }
    (tagged,) = [e.tagged_run_metadata for e in events if e.HasField("tagged_run_metadata")]
    stats = pb.RunMetadata.FromString(tagged.run_metadata).step_stats
    outputs = [out for dev in stats.dev_stats for node in dev.node_stats for out in node.output]
    assert all(each.tensor_description.HasField("shape") for each in outputs)


def test_the_graph_of_a_run_is_known_from_its_statistics_too(traced):
    run = traced.value("first").run()
    told = {node.name: list(node.input) for node in graph_of(timeline_export(run.metadata)).node}
    assert told["a/read"] == ["a"]
    assert told["c"][0] == "a/read"


def test_every_picture_is_saved(traced, tmp_path):
    for magic, rest in (("timeline", "first --rpcs"), ("trace", "-n 2 c")):
        traced.run(f"%{magic} -q --save {tmp_path}/{magic}.svg {rest}")
        assert re.search(r"worker(/task)?:1</text>", (tmp_path / f"{magic}.svg").read_text())
