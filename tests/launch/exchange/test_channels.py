"""One contract for the ways that messages travel."""

import os
from contextlib import ExitStack

import pytest

from tfdist.errors import InvalidArgumentError, PermissionDeniedError
from tfdist.launch.exchange.messages import Bound, Cluster, Lease, Serves, Stop
from tfdist.launch.exchange.shared_folder import FROM, of_member, of_starter, private_folder
from tfdist.launch.exchange.streams import StreamChannel

TASK = "/job:worker/task:1"


def over_streams(stack, tmp_path):
    (to_member, from_starter), (to_starter, from_member) = os.pipe(), os.pipe()
    for descriptor in (to_member, from_starter, to_starter, from_member):
        stack.callback(os.close, descriptor)
    member = StreamChannel(to_member, from_member)
    return member, StreamChannel(to_starter, from_starter), lambda text: os.write(from_member, text)


def over_a_folder(stack, tmp_path):
    def write(text):
        with open(tmp_path / f"worker-1{FROM}", "ab") as file:
            file.write(text)

    return of_member(tmp_path, TASK), of_starter(tmp_path, TASK), write


@pytest.fixture(params=[over_streams, over_a_folder])
def ends(request, tmp_path):
    """Yield both ends, and what writes bytes as if the member did."""
    with ExitStack() as stack:
        yield request.param(stack, tmp_path)


def test_nothing_said_is_nothing_heard(ends):
    member, starter, _ = ends
    assert (list(member.heard()), list(starter.heard())) == ([], [])


def test_messages_arrive_once_and_in_their_order(ends):
    member, starter, _ = ends
    member.say(Bound("h:1"))
    member.say(Serves())
    assert list(starter.heard()) == [Bound("h:1"), Serves()]
    member.say(Serves())
    assert list(starter.heard()) == [Serves()]


def test_both_ends_speak_at_once(ends):
    member, starter, _ = ends
    member.say(Serves())
    starter.say(Lease(3.0))
    assert (list(member.heard()), list(starter.heard())) == ([Lease(3.0)], [Serves()])


def test_half_a_message_waits_for_its_end(ends):
    _, starter, write = ends
    write(b'{"serves"')
    assert list(starter.heard()) == []
    write(b": {}}\n")
    assert list(starter.heard()) == [Serves()]


def test_a_large_cluster_arrives_whole(ends):
    member, starter, _ = ends
    addresses = {f"/job:worker/task:{i}": f"10.0.0.{i}:2222" for i in range(500)}
    starter.say(Cluster(addresses))
    assert list(member.heard()) == [Cluster(addresses)]


def test_what_is_no_message_is_refused(ends):
    _, starter, write = ends
    write(b"hello\n")
    with pytest.raises(InvalidArgumentError, match="no message"):
        starter.heard()


def test_a_stream_that_ended_is_not_open():
    reader, writer = os.pipe()
    channel = StreamChannel(reader, -1)
    os.write(writer, b'{"stop": {}}\n')
    os.close(writer)
    assert list(channel.heard()) == [Stop()]
    assert list(channel.heard()) == []
    assert not channel.is_open
    os.close(reader)


def test_a_folder_that_others_may_enter_is_refused(tmp_path):
    tmp_path.chmod(0o755)
    with pytest.raises(PermissionDeniedError, match="mode 0700"):
        private_folder(tmp_path)


def test_a_folder_is_made_for_its_user_alone(tmp_path):
    assert private_folder(tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_what_an_earlier_run_left_in_a_folder_is_not_read(tmp_path):
    of_member(tmp_path, TASK).say(Bound("old:1"))
    starter = of_starter(tmp_path, TASK)
    assert list(starter.heard()) == [Bound("old:1")]
    starter.say(Stop())
    member = of_member(tmp_path, TASK)
    assert list(member.heard()) == []
    member.say(Serves())
    assert list(starter.heard()) == [Serves()]
