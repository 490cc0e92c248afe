"""An error crosses as code, message and payloads, and comes back as the same error."""

import pytest

from tfdist import errors
from tfdist.protos import pb
from tfdist.wire.common import status

DEVICE = "/job:worker/replica:0/task:1/device:CPU:0"
CLASSES = errors.OpError.__subclasses__()


def crossed(error):
    """Return `error` as the other side gets it."""
    code, message, payloads = status.to_status(error)
    return status.from_status(code, message, status.unpack_payloads(status.pack_payloads(payloads)))


def told(error):
    """Return what there is to know about an error."""
    return (
        type(error), error.error_code, error.message, error.node_name, error.device,
        error.is_derived, error.is_restart,
    )  # fmt: skip


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("place", [("", ""), ("a/b_1", ""), ("a/b_1", DEVICE)], ids=str)
def test_an_error_comes_back_as_it_was(cls, place):
    error = cls("shapes (2,) and (3,) differ\n  at two places\n").at_node(*place)
    assert told(crossed(error)) == told(error)


@pytest.mark.parametrize("flags", [(True, False), (False, True), (True, True)], ids=str)
def test_an_error_tells_that_it_is_derived_or_of_a_restart(flags):
    error = errors.AbortedError("gone")
    error.is_derived, error.is_restart = flags
    assert told(crossed(error)) == told(error)


def test_flags_are_tensorflows_payloads():
    error = errors.AbortedError("gone")
    error.is_derived = error.is_restart = True
    assert status.to_status(error).payloads == {
        "type.googleapis.com/tensorflow.DerivedStatus": b"",
        "type.googleapis.com/tensorflow.distributed_runtime.WorkerPossiblyRestarted": b"",
    }


def test_an_error_that_is_handed_on_does_not_grow():
    error = errors.InternalError("bad").at_node("a", DEVICE)
    once = status.to_status(crossed(error))
    assert once == status.to_status(error) == status.to_status(crossed(crossed(error)))


def test_tensorflows_clients_find_the_node():
    message = status.to_status(errors.InternalError("bad").at_node("a/b", DEVICE)).message
    assert message == f"bad\n\t [[{{{{node a/b}}}} on {DEVICE}]]"


def test_a_node_that_the_message_names_is_not_named_twice():
    error = errors.InternalError("{{node a}} and {{node b}} differ").at_node("a", "")
    assert status.to_status(error).message == "{{node a}} and {{node b}} differ"


@pytest.mark.parametrize(
    ("message", "text", "name", "device"),
    [
        pytest.param("x\n\t [[{{node b}}]]", "x", "b", "", id="of a server"),
        pytest.param("x\n\t [[node b (defined at f.py:3) ]]", "x", "b", "", id="of a client"),
        pytest.param("x\n\t [[node b]]", "x", "b", "", id="of a client that knows no line"),
        pytest.param(
            f"x\n\t [[{{{{node s/b_1}}}} on {DEVICE}]]", "x", "s/b_1", DEVICE, id="of tfdist"
        ),
        pytest.param(
            "From /job:ps/replica:0/task:1:\nx\n\t [[{{node b}}]]",
            "From /job:ps/replica:0/task:1:\nx", "b", "/job:ps/replica:0/task:1",
            id="through a master",
        ),
        pytest.param(
            f"From /job:ps/replica:0/task:1:\nx\n\t [[{{{{node b}}}} on {DEVICE}]]",
            "From /job:ps/replica:0/task:1:\nx", "b", DEVICE, id="the better device wins",
        ),
        pytest.param(
            "x\n\t [[{{node b}}]]\nlogs:\ny", "x\n\t [[{{node b}}]]\nlogs:\ny", "b", "",
            id="not at the end: it stays",
        ),
        pytest.param(
            "2 errors\n (0) x\n\t [[{{node a}}]]\n\t [[b/_3]]",
            "2 errors\n (0) x\n\t [[{{node a}}]]\n\t [[b/_3]]", "a", "", id="the first of several",
        ),
        pytest.param("x [[1, 2]]", "x [[1, 2]]", "", "", id="a matrix"),
        pytest.param("[[", "[[", "", "", id="hardly anything"),
        pytest.param("", "", "", "", id="nothing"),
    ],
)  # fmt: skip
def test_where_it_happened_is_read_from_the_message(message, text, name, device):
    error = status.from_status(errors.INTERNAL, message, {})
    assert (error.message, error.node_name, error.device) == (text, name, device)


@pytest.mark.parametrize("code", [17, 20, -1, 2**40])
def test_an_unknown_code_is_kept(code):
    error = status.from_status(code, "odd", {})
    assert (type(error), error.error_code) == (errors.UnknownError, code)
    assert status.to_status(error).code == errors.UNKNOWN


def test_an_error_is_never_ok():
    assert status.from_status(0, "odd", {}).error_code == errors.UNKNOWN


@pytest.mark.parametrize("letter", ["a", "é", "語"])
def test_a_long_message_is_cut_in_the_middle(letter):
    error = errors.InternalError("start " + letter * 9_000 + " end").at_node("n", DEVICE)
    message = status.to_status(error).message
    assert 2_900 < len(message.encode()) <= status.LONGEST_MESSAGE
    assert message.startswith("start " + letter)
    assert message.endswith(f"{letter} end\n\t [[{{{{node n}}}} on {DEVICE}]]")
    assert "bytes, cut in the middle]" in message
    assert crossed(error).node_name == "n"


def test_half_a_character_crosses():
    assert crossed(errors.InternalError("bad \udcff")).message == "bad \\udcff"


def test_payloads_are_a_container_of_the_protocol():
    packed = status.pack_payloads({"a": b"1", "b": b""})
    assert pb.GrpcPayloadContainer.FromString(packed).payloads == {"a": b"1", "b": b""}
    assert status.pack_payloads({}) == b""


@pytest.mark.parametrize("details", [b"", b"\xff", b"\x08\x03\x12\x02no"], ids=repr)
def test_details_of_another_kind_are_no_payloads(details):
    assert status.unpack_payloads(details) == {}


def test_a_message_of_blanks_is_read_at_once():
    message = "\n\t [[" * 20_000 + " " * 100_000 + "x"
    assert status.from_status(3, message, {}).message == message
