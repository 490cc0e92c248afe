"""What the labels of step statistics tell."""

import pytest

from tests.tracing.samples import PS, WORKER0, in_round, node, transfer
from tfdist.tracing.clocks import SAME_CLOCK, ClockOffset, offset_in
from tfdist.tracing.steps.entries import (
    before_transfer,
    fed_tensor,
    parse_label,
    parse_transfer,
    rounds_of,
    transfer_number,
)

ROUTE = f"from {PS} to {WORKER0}"


@pytest.mark.parametrize(
    ("label", "tensor", "edge"),
    [
        pytest.param(f"[4B] [0.5Mb/s] edge_4_a/read {ROUTE}", "a/read", 4, id="as TensorFlow's"),
        pytest.param(f"[4B] edge_0_a {ROUTE}", "a", 0, id="without a rate"),
        pytest.param(f"[1.5MB] [9.0Gb/s] edge_1_w {ROUTE}", "w", 1, id="in MB and Gb"),
        pytest.param(f"edge_1_edge_2_w {ROUTE}", "edge_2_w", 1, id="a name that looks numbered"),
        pytest.param(f"[0B] w {ROUTE}", "w", -1, id="without a number"),
    ],
)
def test_labels_of_transfers(label, tensor, edge):
    stats = transfer("a", PS, WORKER0, 0, 1)
    stats.timeline_label = label
    found = parse_transfer(stats)
    assert (found.tensor, found.source, found.edge) == (tensor, PS, edge)
    assert found.route.endswith(ROUTE)
    assert "[" not in found.route


def test_a_label_of_another_kind_is_kept_whole():
    stats = transfer("a", PS, WORKER0, 0, 1)
    stats.timeline_label = "what?"
    assert parse_transfer(stats) == ("RecvTensor", "", -1, "what?")


def test_labels_tell_rounds_and_what_they_told_before():
    moved = in_round(transfer("a", PS, WORKER0, 0, 1), 3)
    assert parse_transfer(moved) == parse_transfer(transfer("a", PS, WORKER0, 0, 1))
    ran = in_round(node("while/a", "Add", "x, y:1, ^z", 0, 1), 3)
    assert parse_label(ran) == ("Add", ("x", "y", "z"))
    assert rounds_of(moved) == rounds_of(ran) == (("while",), (3,))
    assert rounds_of(node("a", "Const", "", 0, 1)) == ((), ())


@pytest.mark.parametrize(
    ("name", "before", "number"),
    [
        ("a/read_S1", "a/read", 1),
        ("a/_3", "a", 3),
        ("plain_1", "plain_1", -1),
        ("x_S1_S12", "x_S1", 12),
        ("n_ctrl_S4_S7", "n_ctrl_S4", 7),
    ],
)
def test_what_was_received_has_a_name_of_its_own(name, before, number):
    assert (before_transfer(name), transfer_number(name)) == (before, number)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("_recv_x_0", "x"), ("_recv_a/b_1_2", "a/b_1:2"), ("x", ""), ("recv_x_0", "")],
)
def test_fed_tensor(name, expected):
    assert fed_tensor(name) == expected


@pytest.mark.parametrize(
    "clock",
    [ClockOffset(123_000, 40_000), ClockOffset(-5_000_000_000, 1_000), ClockOffset(0, 7_000)],
    ids=str,
)
def test_an_offset_can_be_read_back(clock):
    assert offset_in(f"_SOURCE = NoOp() [{clock}]") == clock


@pytest.mark.parametrize("label", ["_SOURCE = NoOp()", "", "[clock ? us +- 4 us]"])
def test_a_label_without_an_offset_is_by_our_clock(label):
    assert offset_in(label) == SAME_CLOCK
