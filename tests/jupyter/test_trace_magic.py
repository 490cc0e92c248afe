"""%trace, %%trace, %placement and %timeline on a cluster in this process."""

import contextlib
import json
import re

import numpy as np
import pytest
from IPython.core.error import UsageError

from tfdist.errors import FailedPreconditionError
from tfdist.jupyter.placement import placement
from tfdist.jupyter.trace import Trace, is_fetchable, trace
from tfdist.training.sessions.progress import OPTIONS


def table_lines(text):
    """Return the cells of a plain table, without header and rule."""
    return [line.split() for line in text.splitlines()[3:]]


def test_an_element_is_run_on_the_cluster(on_cluster):
    picture, table = on_cluster.run("%trace c")
    assert table["text/plain"].startswith("Ran c:0 in a session on /job:worker/task:0.")
    assert picture["image/png"]
    assert picture["text/plain"].startswith("Timeline of a step: 4 nodes on 2 devices, 2 transfers")
    assert on_cluster.value("_") == np.float32(3.0)


def test_the_default_session_comes_first(on_cluster):
    on_cluster.run(
        "with tf.Session(cluster.target('ps')) as session:\n"
        "    get_ipython().run_line_magic('trace', '-o found c')"
    )
    assert list(on_cluster.value("found").tasks.values()) == ["/job:ps/task:0"]


def test_a_target_can_be_asked_for(on_cluster):
    text = on_cluster.text("%trace -t worker:1 c")
    assert "Ran c:0 in a session on /job:worker/task:1." in text


def test_code_is_run_as_it_is(on_cluster):
    assert "Ran c:0" in on_cluster.text("%trace x = sess.run(c)")
    assert on_cluster.value("x") == 3.0


def test_options_end_where_code_begins(on_cluster):
    on_cluster.run("%trace -q -o found -- -sess.run(c)")
    assert on_cluster.value("_") == -3.0
    assert len(on_cluster.value("found").runs) == 1


def test_braces_in_code_stay_code(on_cluster):
    on_cluster.run("x = tf.placeholder(tf.float32, name='x')\ny = x * 2.0")
    on_cluster.run("%trace sess.run(y, {x: 4.0})")
    assert on_cluster.value("_") == 8.0


def test_a_cell_with_several_runs_shows_them_all(on_cluster):
    runs, _, table = on_cluster.run("%%trace -o found\nfor _ in range(3): sess.run(c)")
    assert runs["text/plain"].startswith("3 runs; below, the last one that came to its end.")
    assert len(table_lines(runs["text/plain"])) == 3
    assert table["text/plain"].startswith("Ran c:0")
    assert [run.fetches for run in on_cluster.value("found").runs] == ["c:0"] * 3


def test_a_cell_without_runs_says_so(on_cluster):
    assert on_cluster.text("%%trace\nx = 1") == "Nothing ran: no Session.run was called."


def test_the_table_says_where_and_from_where(on_cluster):
    on_cluster.shell.run_line_magic("config", "TFDist.live = 'off'")
    _, table = on_cluster.run("%trace c")
    assert table["text/plain"].splitlines() == [
        "Ran c:0 in a session on /job:worker/task:0.",
        "device              node    op          bytes  from",
        "------------------  ------  ----------  -----  ------------------",
        "/job:ps/task:0      a       VariableV2    4 B",
        "                    a/read  Identity      4 B",
        "/job:worker/task:0  c       RecvTensor    4 B  /job:worker/task:1",
        "/job:worker/task:1  c/y     Const         4 B",
        "                    a/read  RecvTensor    4 B  /job:ps/task:0",
        "                    c       Add           4 B",
    ]


def test_off_shows_the_same_in_every_run(on_cluster):
    on_cluster.shell.run_line_magic("config", "TFDist.live = 'off'")

    def comparable():
        shown = on_cluster.run("%%trace\nsess.run(c); sess.run(a)")
        return [{key: data[key] for key in data if key != "image/png"} for data in shown]

    assert comparable() == comparable()


def test_text_mode_shows_text_only(on_cluster):
    on_cluster.shell.run_line_magic("config", "TFDist.live = 'text'")
    shown = on_cluster.run("%trace c")
    assert [list(data) for data in shown] == [["text/plain"]] * 2
    assert "from left to right" in shown[0]["text/plain"]


def test_a_terminal_gets_no_picture(on_cluster):
    del on_cluster.shell.kernel
    assert not any("image/png" in data for data in on_cluster.run("%trace c"))


@pytest.mark.parametrize("code", [" (sess.run(c), 1 / 0)", "\nsess.run(c)\n1 / 0"])
def test_errors_come_out_and_the_trace_is_kept(on_cluster, code):
    magic = "%%trace" if "\n" in code else "%trace"
    with pytest.raises(ZeroDivisionError):
        on_cluster.run(f"{magic} -o found{code}")
    assert len(on_cluster.value("found").complete_runs) == 1


def test_a_failed_run_is_in_the_trace(on_cluster):
    on_cluster.run("b = tf.Variable(1.0, name='b')")
    with pytest.raises(FailedPreconditionError):
        on_cluster.run("%%trace -o found\nsess.run(c)\nsess.run(b)")
    found = on_cluster.value("found")
    assert [type(run.error).__name__ for run in found.runs] == [
        "NoneType",
        "FailedPreconditionError",
    ]
    assert "FailedPreconditionError" in str(found.table(times=False))


def test_a_trace_without_a_complete_run_does_not_hide_the_last_good_one(on_cluster, tmp_path):
    on_cluster.run("%trace -q c")
    for code in ("1 + 1", "tf.add(tf.Variable(1.0), 1.0)", "1 / 0"):
        with contextlib.suppress(Exception):
            on_cluster.run(f"%trace -q -o failed {code}")
        assert on_cluster.value("failed").complete_runs == ()
    assert "4 nodes on 2 devices" in on_cluster.text("%timeline")
    assert "%trace" not in on_cluster.text("%placement --traced")
    assert ": 1 trace," in on_cluster.text(f"%tfdist report {tmp_path}/r.html")


def test_ctrl_c_comes_out(on_cluster):
    with pytest.raises(KeyboardInterrupt):
        on_cluster.run("%%trace\nraise KeyboardInterrupt")


def test_a_semicolon_suppresses_the_value(on_cluster):
    on_cluster.names["_"] = "nothing new"
    on_cluster.run("%%trace -q\nsess.run(c);")
    assert on_cluster.value("_") == "nothing new"


def test_magics_and_shell_commands_work_inside(on_cluster):
    on_cluster.run("%%trace -q\n%cluster stop -q\nx = 5")
    assert on_cluster.value("x") == 5


def test_functions_of_a_cell_see_its_variables(on_cluster):
    on_cluster.run("%%trace -q\ndef f(): return sess.run(c)\ny = f()")
    assert on_cluster.value("y") == 3.0


def test_save_writes_a_trace_and_a_picture(on_cluster, tmp_path):
    on_cluster.run(f"%trace -q --save {tmp_path}/t.json c")
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    on_cluster.run(f"%timeline -q --save {tmp_path}/t.png")
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "needs something to run"),
        ("-t", "-t needs a value"),
        ("-t foo:9 c", "no task /job:foo/task:9 in cluster 'main'"),
        ("-t ? c", "is no task: try worker:1"),
        ("--save x.txt c", "saved as FILE.json"),
        (
            "--save /no/such/folder/x.png c",
            "cannot use /no/such/folder/x.png: No such file or directory",
        ),
    ],
)
def test_usage_errors_are_one_line(on_cluster, line, message):
    with pytest.raises(UsageError) as caught:
        on_cluster.run(f"%trace {line}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_code_on_the_line_of_a_cell_is_refused(on_cluster):
    with pytest.raises(UsageError, match="belongs into the cell"):
        on_cluster.run("%%trace c\nx = 1")


def test_placement_draws_and_gives_reasons(on_cluster):
    picture, table = on_cluster.run("%placement c -o nodes")
    sentence = (
        "Placement of 4 nodes: 2 on /job:ps/task:0, 2 on /job:worker/task:1; "
        "1 edge between devices."
    )
    assert picture["image/png"]
    assert picture["text/plain"] == sentence
    assert table["text/plain"].startswith(sentence)
    assert "pinned to /job:worker/task:1" in table["text/html"]
    assert {node.name for node in on_cluster.value("nodes")} == {"a", "a/read", "c/y", "c"}


@pytest.mark.parametrize("line", ["c a", "c, a", "[c, a]", "c:0 a", "c -t worker:1 a"])
def test_placement_takes_fetches_in_any_form(on_cluster, line):
    assert "Placement of 4 nodes" in on_cluster.text(f"%placement {line}")


def test_placement_takes_the_whole_graph(on_cluster):
    on_cluster.run("%placement -q -o nodes")
    assert {node.name for node in on_cluster.value("nodes")} == {
        "a", "a/initial_value", "a/Assign", "a/read", "c/y", "c",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nowhere", "'nowhere' refers to an Operation not in the graph"),
        ("cluster", "nothing to fetch"),
    ],
)
def test_placement_of_what_is_not_there(on_cluster, line, message):
    with pytest.raises(UsageError, match=message):
        on_cluster.run(f"%placement {line}")


def test_timeline_shows_the_last_trace(on_cluster):
    on_cluster.run("%trace -q c")
    picture, totals = on_cluster.run("%timeline")
    assert picture["image/png"]
    assert totals["text/plain"].splitlines()[0].split()[:4] == [
        "device", "nodes", "received", "bytes",
    ]  # fmt: skip


def test_timeline_takes_metadata_and_steps(on_cluster):
    on_cluster.run(
        "m = tf.RunMetadata()\n"
        "sess.run(c, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=m)"
    )
    assert len(on_cluster.run("%timeline m")) == 2
    on_cluster.run("%%trace -q -o two\nsess.run(c)\nsess.run(a)")
    assert "1 node on 1 device" not in on_cluster.text("%timeline two --step 0")
    assert "1 node on 1 device" in on_cluster.text("%timeline two --step 1")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "nothing was traced yet"),
        ("x", "x is not defined; wanted is a Trace or a RunMetadata: such variables are two"),
        ("one", "one is an int; wanted"),
        ("two --step 5", "0 complete runs"),
    ],
)
def test_timeline_errors(notebook, line, message):
    notebook.names |= {"two": Trace(()), "one": 1}
    with pytest.raises(UsageError, match=message):
        notebook.run(f"%timeline {line}")


# loops and conds

NESTED = """
def outer(i):
    return tf.while_loop(lambda j: j < 2, lambda j: j + 1, [i], name="in")
nested = tf.while_loop(lambda i: i < 2, outer, [0], name="out")
"""


def test_a_loop_is_summed_up_then_told_round_by_round(with_loop):
    with_loop.shell.run_line_magic("config", "TFDist.live = 'off'")
    picture, table, rounds = with_loop.run("%trace ends")
    names = [line.split()[0] for line in table["text/plain"].splitlines() if "Add" in line]
    assert names == ["repeat/add"]
    assert "(control flow of repeat)" in table["text/html"]
    assert rounds["text/plain"].splitlines()[0] == "repeat: 3 rounds."
    assert [line.split()[0] for line in rounds["text/plain"].splitlines()[4:]] == ["1", "2", "3"]
    assert picture["text/plain"].endswith("; repeat: 3 rounds.")


def test_all_nodes_of_a_loop_are_listed_if_asked_for(with_loop):
    text = with_loop.text("%trace --whole ends")
    assert "repeat/Switch" in text
    assert "(control flow" not in text


def test_a_loop_is_drawn_closed_and_can_be_opened_by_the_reader(with_loop):
    picture, inside, table = with_loop.run("%placement ends")
    assert picture["image/png"]
    assert picture["text/plain"].endswith("; 1 loop.")
    assert inside["text/plain"].splitlines()[0] == (
        "loop repeat: 11 nodes on /job:worker/task:0 and /job:worker/task:1"
    )
    html = inside["text/html"]
    assert html.startswith("<details><summary>loop repeat: 11 nodes")
    assert 'src="data:image/png;base64,' in html
    assert "repeat/add" in html  # in the alternative text
    inert = re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)  # as a sanitizer does
    assert not re.search(r"<script|<svg|<style|javascript|\bid=|\bon\w+=|https?:", inert)
    assert "loop repeat" in table["text/html"]


def test_a_loop_can_be_drawn_open(with_loop):
    assert len(with_loop.run("%placement ends --open repeat")) == 2
    assert len(with_loop.run("%placement ends --open '*'")) == 2


def test_an_inner_loop_opens_inside(with_loop):
    with_loop.run(NESTED)
    _, inside, _ = with_loop.run("%placement nested")
    html = inside["text/html"]
    assert html.count("<details>") == html.count("<img") == 2
    assert html.endswith("</details></details>")
    assert "<details><summary>loop out/in:" in html
    _, inside, _ = with_loop.run("%placement nested --open out")
    assert inside["text/html"].startswith("<details><summary>loop out/in:")


def test_insides_are_told_in_words_where_there_are_no_pictures(with_loop):
    del with_loop.shell.kernel
    inside, _ = with_loop.run("%placement ends")
    assert "<details>" in inside["text/html"]
    assert "<img" not in inside["text/html"]
    assert "repeat/add" in inside["text/html"]


def test_insides_of_very_many_loops_are_told_in_words(with_loop):
    with_loop.run(
        "many_loops = [tf.while_loop(lambda i: i < 2, lambda i: i + 1, [0]) for _ in range(14)]"
    )
    _, inside, _ = with_loop.run("%placement many_loops")
    assert inside["text/html"].count("<details>") == 14
    assert "<img" not in inside["text/html"]


def test_a_traced_loop_tells_its_rounds_in_the_placement(with_loop):
    with_loop.run("%trace -q ends")
    _, inside, _ = with_loop.run("%placement --traced -o nodes")
    assert inside["text/plain"].splitlines()[0].endswith("task:1, 3 rounds")
    assert "repeat/add" in {node.name for node in with_loop.value("nodes")}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--open whale ends", "no loop or cond is called whale; there are repeat"),
        ("--open loop c", "no loop or cond is called loop; there are none"),
        ("--traced", "trace first"),
    ],
)
def test_placement_says_what_can_be_opened(with_loop, line, message):
    with pytest.raises(UsageError, match=message):
        with_loop.run(f"%placement {line}")


def test_a_long_loop_is_shown_in_short(with_loop):
    with_loop.run("long = tf.while_loop(lambda i: i < 1000, lambda i: i + 1, [0], name='long')")
    *_, picture, table, rounds = with_loop.run("%trace -o found long")  # first, if slow: a line
    assert len(table["text/plain"].splitlines()) < 15
    assert "... 993 more" in rounds["text/plain"]
    assert "of long left out" in picture["text/plain"]
    assert len(with_loop.value("found").rows()) > 9000


# the same without a notebook


def test_trace_of_an_element_without_a_notebook(on_cluster):
    value, found = trace(on_cluster.value("c"))
    assert value == 3.0
    assert repr(found) == "<Trace of 1 run; in the last one 4 nodes on 2 devices, 2 transfers>"
    assert found.figure().axes


def test_trace_of_a_function_without_a_notebook(on_cluster):
    session, c = on_cluster.value("sess"), on_cluster.value("c")
    value, found = trace(lambda: session.run(c) + 1)
    assert value == 4.0
    assert len(found.complete_runs) == 1


def test_placement_without_a_notebook(on_cluster):
    assert len(placement([on_cluster.value("c")])) == 4


def test_without_a_cluster_a_local_session_is_used(notebook):
    notebook.run("import tfdist as tf\nk = tf.constant(2.0) * 3.0")
    assert "on this process" in notebook.text("%trace k")
    assert notebook.value("_") == 6.0


def test_a_trace_remembers_tasks_after_the_cluster_is_stopped(on_cluster):
    on_cluster.run("%trace -q -o found c")
    on_cluster.run("%cluster stop -q")
    assert on_cluster.value("found").sentence() == ("Ran c:0 in a session on /job:worker/task:0.")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("c", True), ("a", True), ("a.initializer", True), ("[c, {'k': a}]", True), ("[c, 1]", False),
     ("[]", False), ("'c'", False), ("sess", False), ("tf.Graph()", False)],
)  # fmt: skip
def test_is_fetchable(on_cluster, name, expected):
    assert is_fetchable(eval(name, on_cluster.names)) is expected


def test_long_repetitions_say_how_far_they_are_until_they_end(on_cluster, monkeypatch):
    monkeypatch.setattr("tfdist.jupyter.traced_code.LONG", 0.0)
    monkeypatch.setattr("tfdist.jupyter.progress.EVERY", 0.0)
    monkeypatch.setitem(OPTIONS, "mininterval", 0.0)
    counted, *_, gone = on_cluster.run("%trace -n 9 -q c")
    assert " of 9 runs" in counted["text/plain"]
    assert gone["text/plain"] == ""
    with pytest.raises(KeyboardInterrupt):
        on_cluster.run(STOPPED)
    assert len(on_cluster.value("found").complete_runs) == 5


STOPPED = """
rounds = iter(range(4))
def some():
    sess.run(c)
    if next(rounds, None) is None:
        raise KeyboardInterrupt
%trace -n 500 -q -o found some()
"""


def test_repetitions_that_made_other_nodes_are_counted(on_cluster):
    told = on_cluster.text("%trace -n 3 sess.run(a + 1)")
    assert "1 run; half of them took" in told
    assert "2 of 3 runs fetched something else: code that makes nodes makes new ones" in told
