"""The pictures' words: tables, sentences, lanes of characters."""

import pytest

from tests.plots.samples import layered_nodes, three_task_nodes
from tests.tracing.samples import PS, WORKER0, beginning, node, step, three_tasks, transfer
from tfdist.plots.tables import (
    Table,
    bytes_text,
    duration_text,
    placement_table,
    step_table,
    totals_table,
)
from tfdist.plots.text import (
    crossing_edges,
    placement_sentence,
    placement_text,
    step_table_text,
    timeline_sentence,
    timeline_text,
)
from tfdist.tracing.rows import rows


def test_step_table_without_times_has_the_graphs_order():
    assert step_table_text(rows(three_tasks()), times=False).splitlines() == [
        "device              node    op          bytes  from",
        "------------------  ------  ----------  -----  ------------------",
        "/job:ps/task:0      a       VariableV2    4 B",
        "                    a/read  Identity      4 B",
        "/job:worker/task:0  add/y   Const         4 B",
        "                    a/read  RecvTensor    4 B  /job:ps/task:0",
        "                    add     AddV2         4 B",
        "                    add_1   RecvTensor    4 B  /job:worker/task:1",
        "/job:worker/task:1  a/read  RecvTensor    4 B  /job:ps/task:0",
        "                    add     RecvTensor    4 B  /job:worker/task:0",
        "                    add_1   AddV2         4 B",
    ]


def test_step_table_without_times_ignores_when_things_happened():
    early = step((PS, [node("b", "Const", "", 0, 1), node("a", "Const", "", 5, 1)]))
    late = step((PS, [node("b", "Const", "", 9, 7), node("a", "Const", "", 5, 1)]))
    assert step_table(rows(early), times=False) == step_table(rows(late), times=False)


def test_step_table_with_times_goes_by_start():
    table = step_table(rows(three_tasks()))
    assert table.header == ("device", "node", "op", "bytes", "start", "took", "from")
    assert [row[1] for row in table.rows if row[0] == "/job:worker/task:0"] == [
        "add/y",
        "a/read",
        "add",
        "add_1",
    ]


def test_a_long_table_says_what_it_leaves_out():
    table = step_table(rows(three_tasks()), most=2)
    assert len(table.rows) == 2
    assert table.note == "... and 7 more rows"


def test_totals_table():
    table = totals_table(rows(three_tasks()), times=False)
    assert table.rows == (
        ("/job:ps/task:0", "2", "0", "0"),
        ("/job:worker/task:0", "2", "2", "8"),
        ("/job:worker/task:1", "1", "2", "8"),
    )
    assert totals_table(rows(three_tasks())).rows[1][4:] == ("765 µs", "0 µs", "355 µs")


def test_placement_table_says_why():
    rows_of_x = [row for row in placement_table(three_task_nodes()).rows if row[1] == "x"]
    assert rows_of_x == [("/job:ps/task:0", "x", "Placeholder", "", "first device of the cluster")]
    assert "with its variable a" in placement_text(three_task_nodes())
    assert placement_table(layered_nodes(2), most=3).note == "... and 5 more rows"


def test_timeline_text_draws_a_line_per_lane():
    text = timeline_text(rows(three_tasks()), width=20)
    assert text.splitlines() == [
        "1.3 ms from left to right; # compute, . queue, / transfer",
        "/job:ps/task:0     |#                   |",
        "/job:worker/task:0 | #  ############    |",
        "                   | ///             ///|",
        "/job:worker/task:1 |                 #  |",
        "                   | ////         //    |",
    ]


def test_timeline_text_states_clocks_that_were_put_right():
    two_devices = [
        (PS.replace("CPU:0", kind), [beginning(clock="+5 us +- 2 us"), node("a", "Add", "", 0, 9)])
        for kind in ("CPU:0", "GPU:0")
    ]
    lines = timeline_text(rows(step(*two_devices))).splitlines()
    assert lines[3:] == ["clock of /job:ps/task:0: +5.0 µs ± 2.0 µs, corrected"]


def test_sentences():
    found = rows(three_tasks())
    counts = "Timeline of a step: 5 nodes on 3 devices, 4 transfers"
    assert timeline_sentence(found, times=False) == f"{counts}."
    assert timeline_sentence(found) == f"{counts}; 1.3 ms, longest add (760 µs)."
    assert placement_sentence(three_task_nodes()) == (
        "Placement of 9 nodes: 5 on /job:ps/task:0, 2 on /job:worker/task:0, "
        "2 on /job:worker/task:1; 4 edges between devices."
    )
    assert placement_sentence([]) == "Placement of 0 nodes: nothing; no edge crosses."


def test_a_step_of_transfers_only_has_a_sentence():
    found = rows(step((WORKER0, [transfer("x", PS, WORKER0, 0, 5)])))
    assert timeline_sentence(found) == "Timeline of a step: 0 nodes on 0 devices, 1 transfer."


def test_crossing_edges_count_an_edge_once():
    nodes = three_task_nodes()
    nodes[-1] = nodes[-1]._replace(inputs=("x", "x:0", "^x", "gone"))
    assert crossing_edges(nodes)[-1] == ("x", "mul")
    assert len(crossing_edges(nodes)) == 4


@pytest.mark.parametrize(
    ("microseconds", "expected"),
    [(0, "0 µs"), (0.44, "0.4 µs"), (999.4, "999 µs"), (1300, "1.3 ms"), (2_500_000, "2.5 s")],
)
def test_duration_text(microseconds, expected):
    assert duration_text(microseconds) == expected


@pytest.mark.parametrize(
    ("count", "expected"), [(4, "4 B"), (1500, "1.5 kB"), (100_000_000, "100 MB")]
)
def test_bytes_text(count, expected):
    assert bytes_text(count) == expected


def test_a_table_aligns_numbers_right_and_names_a_group_once():
    table = Table(("g", "n"), (("a", "1"), ("a", "22"), ("b", "3")), frozenset({1}), "that is all")
    assert str(table).splitlines() == ["g   n", "-  --", "a   1", "   22", "b   3", "that is all"]
