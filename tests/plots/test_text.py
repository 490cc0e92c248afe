"""The pictures' words: tables, sentences, lanes of characters."""

import pytest

from tests.plots.samples import layered_nodes, looping_nodes, three_task_nodes
from tests.tracing.samples import (
    PS,
    WORKER0,
    beginning,
    in_round,
    loop,
    node,
    step,
    three_tasks,
    transfer,
)
from tfdist.plots.shared.tables import (
    Table,
    bytes_text,
    duration_text,
    placement_table,
    rounds_table,
    step_table,
    totals_table,
)
from tfdist.plots.text import (
    blocks_text,
    crossing_edges,
    placement_sentence,
    placement_text,
    rounds_by_loop,
    step_table_text,
    timeline_sentence,
    timeline_text,
)
from tfdist.tracing.steps.rows import rows


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


# loops and conds


def test_step_table_sums_up_the_rounds_of_a_loop():
    assert step_table_text(rows(loop(3)), times=False).splitlines() == [
        "device              node                     op          runs  bytes  from",
        "------------------  -----------------------  ----------  ----  -----  ------------------",
        "/job:worker/task:0  start                    Const               4 B",
        "                    while/less               Less           4   16 B",
        "                    while/grow               RecvTensor     3   12 B  /job:worker/task:1",
        "                    done                     Neg                 4 B",
        "                    (control flow of while)  6 nodes       19",
        "                    (control flow)           1 node",
        "/job:worker/task:1  k                        Const               4 B",
        "                    while/Identity           RecvTensor     3   12 B  /job:worker/task:0",
        "                    while/grow               Mul            3   12 B",
        "                    (control flow)           1 node",
    ]


def test_step_table_tells_total_and_longest():
    table = step_table(rows(loop(3)))
    assert table.header[3:8] == ("runs", "bytes", "start", "took", "longest")
    cells = {row[1]: row for row in table.rows if row[0] == "/job:worker/task:0"}
    assert cells["while/grow"][3:8] == ("3", "12 B", "70 µs", "60 µs", "20 µs")
    assert cells["start"][3:8] == ("", "4 B", "0 µs", "2.0 µs", "")
    assert cells["(control flow of while)"][3:8] == ("19", "", "10 µs", "19 µs", "1.0 µs")


def test_step_table_lists_the_machinery_too_if_asked_to():
    names = [row[1] for row in step_table(rows(loop(3)), whole=True).rows]
    assert {"while/Enter", "while/Switch", "while/Identity", "while/k"} <= set(names)
    assert not [name for name in names if "control flow" in name]
    assert len(step_table(rows(loop(3)), whole=True).rows) == 15


@pytest.mark.parametrize("times", [True, False])
def test_step_table_of_a_long_loop_is_as_long_as_that_of_a_short_one(times):
    short, long = (step_table(rows(loop(count)), times).rows for count in (3, 700))
    assert [row[:3] for row in short] == [row[:3] for row in long]
    assert {row[3] for row in long} >= {"701", "700", "3,504"}


def test_what_ran_in_a_later_round_only_has_its_row():
    late = in_round(node("while/late", "Neg", "", 50_000, 1), 350)
    stats = loop(700)
    stats.dev_stats[2].node_stats.append(late)
    assert "while/late" in [row[1] for row in step_table(rows(stats), times=False).rows]


def test_rounds_table_tells_what_a_round_came_to():
    assert str(rounds_table(rows(loop(2)))).splitlines() == [
        "loop   round  nodes  received  bytes   start    took",
        "-----  -----  -----  --------  -----  ------  ------",
        "while  0          2         2    8 B   15 µs   75 µs",
        "       1          2         2    8 B  115 µs   75 µs",
        "       2          1         0         215 µs  3.0 µs",
    ]


def test_rounds_table_of_a_long_loop_has_first_and_last_rounds():
    table = rounds_table(rows(loop(500)), times=False, most=2)
    assert table.header == ("loop", "round", "nodes", "received", "bytes")
    assert [row[1] for row in table.rows] == ["0", "1", "... 497 more", "499", "500"]


def test_rounds_table_counts_loops_apart():
    inner = [
        in_round(node("n", "Add", "", j, 1), i, j, loops=("a", "a/b"))
        for i in range(2)
        for j in range(2)
    ]
    table = rounds_table(rows(step((WORKER0, inner))), times=False)
    assert [row[:3] for row in table.rows] == [
        ("a", "0", "2"), ("a", "1", "2"),
        ("a/b", "0/0", "1"), ("a/b", "0/1", "1"), ("a/b", "1/0", "1"), ("a/b", "1/1", "1"),
    ]  # fmt: skip


def test_timeline_text_of_a_long_loop_says_what_it_leaves_out():
    lines = timeline_text(rows(loop(500)), width=40).splitlines()
    assert lines[0].startswith("50 ms from left to right")
    assert lines[0].endswith("~ left out")
    assert all("~~" in line for line in lines[1:-1])
    assert lines[-1] == "rounds 13 to 487 of while left out (475)"
    assert "~" not in timeline_text(rows(loop(5)))


def test_sentences_count_rounds():
    found = rows(loop(500))
    assert timeline_sentence(found, times=False) == (
        "Timeline of a step: 3,510 runs of 13 nodes on 2 devices, 1,000 transfers; "
        "while: 500 rounds."
    )
    assert rounds_by_loop(found) == {"while": "500 rounds"}
    inner = [
        in_round(node("n", "Add", "", j, 1), i, j, loops=("a", "b"))
        for i, last in enumerate((1, 3))
        for j in range(last + 1)
    ]
    assert rounds_by_loop(rows(step((WORKER0, inner)))) == {
        "a": "1 round",
        "b": "1 to 3 rounds, 2 times",
    }


def test_placement_sentence_counts_blocks():
    assert placement_sentence(looping_nodes()).endswith("between devices; 1 cond; 1 loop.")


def test_placement_table_says_what_a_node_is_in():
    table = placement_table(looping_nodes())
    assert table.header == ("device", "node", "op", "in", "asked for", "reason")
    inside = {row[1]: row[3] for row in table.rows}
    assert inside["while/less"] == "loop while"
    assert inside["while/choose/Merge"] == "cond while/choose"
    assert inside["while/choose/b"] == "cond while/choose, if false"
    assert inside["done"] == ""


def test_blocks_text_tells_what_is_drawn_closed():
    assert blocks_text(looping_nodes(), rounds={"while": "4 rounds"}).splitlines() == [
        "loop while: 15 nodes on /job:worker/task:0 and /job:worker/task:1, 4 rounds",
        "  /job:worker/task:0: while/less, while/pick, 7 nodes of control flow",
        "  cond while/choose: 6 nodes on /job:worker/task:0 and /job:worker/task:1",
        "    /job:worker/task:0: 2 nodes of control flow",
        "    if false, /job:worker/task:0: while/choose/b, 1 node of control flow",
        "    if true, /job:worker/task:1: while/choose/a, 1 node of control flow",
    ]
    assert blocks_text(looping_nodes(), opened=["while"]).splitlines()[0].startswith("cond")
    assert blocks_text(looping_nodes(), opened=["*"]) == ""
    assert blocks_text(three_task_nodes()) == ""
