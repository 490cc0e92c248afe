"""What a master answers to requests of all kinds, wrong ones above all.

A case is a function that asks. The table at the end has the class of the error that its last
request ends with, None if there is none. That is what servers of TensorFlow 2.21 and 1.15.5
answered to the same requests, unless a comment says what they did.
"""

from __future__ import annotations

from typing import Any

from tests.wire import graph_cases
from tests.wire.calls_at import Asker, node, step_request, tensor
from tests.wire.graph_cases import EXTRA, ONE, Case, X, Y, constant, identity, placeholder, variable
from tfdist.base.dtypes import float32, int32, string
from tfdist.errors import (
    AbortedError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
)
from tfdist.protos import pb

# sessions and their graphs


def an_unknown_session(asker: Asker) -> None:
    asker.run("0123456789abcdef", fetch=["one:0"])


def an_unknown_session_is_extended(asker: Asker) -> None:
    asker.ask(extension("0123456789abcdef", 0, EXTRA))


def an_unknown_session_is_closed(asker: Asker) -> None:
    asker.ask(pb.CloseSessionRequest(session_handle="0123456789abcdef"))


def a_session_is_closed_twice(asker: Asker) -> None:
    request = pb.CloseSessionRequest(session_handle=asker.session(ONE))
    asker.ask(request)
    asker.ask(request)


def a_run_after_close(asker: Asker) -> None:
    handle = asker.session(ONE)
    asker.ask(pb.CloseSessionRequest(session_handle=handle))
    asker.run(handle, fetch=["one:0"])


def the_devices_of_an_unknown_session(asker: Asker) -> None:
    asker.ask(pb.ListDevicesRequest(session_handle="0123456789abcdef"))


def another_version_is_extended(asker: Asker) -> None:
    handle, version = opened(asker, ONE)
    asker.ask(extension(handle, version + 7, EXTRA))


def the_same_version_is_extended_twice(asker: Asker) -> None:
    handle, version = opened(asker, ONE)
    asker.ask(extension(handle, version, EXTRA))
    asker.ask(extension(handle, version, constant("more", 3.0)))


def a_node_is_extended_that_is_there(asker: Asker) -> None:
    asker.ask(extension(*opened(asker, ONE), ONE))


def a_name_twice_in_one_graph(asker: Asker) -> None:
    asker.session(ONE, ONE)


def a_failed_extension_changes_nothing(asker: Asker) -> None:
    handle, version = opened(asker, ONE)
    refuse(asker, extension(handle, version, EXTRA, ONE))
    asker.ask(extension(handle, version, EXTRA))
    asker.run(handle, fetch=["extra:0", "one:0"])


def an_empty_graph(asker: Asker) -> None:
    asker.ask(pb.ListDevicesRequest(session_handle=asker.session()))


def filters_that_are_no_devices(asker: Asker) -> None:
    asker.session(config=pb.ConfigProto(device_filters=["nonsense!"]))


def a_negative_timeout_of_a_session(asker: Asker) -> None:
    asker.session(ONE, config=pb.ConfigProto(operation_timeout_in_ms=-5))


# steps


def an_unknown_fetch(asker: Asker) -> None:
    asker.run(asker.session(ONE), fetch=["nothing:0"])


def an_unknown_port(asker: Asker) -> None:
    asker.run(asker.session(ONE), fetch=["one:1"])


def no_port(asker: Asker) -> None:
    asker.run(asker.session(ONE), fetch=["one:zero"])


def an_unknown_target(asker: Asker) -> None:
    asker.run(asker.session(ONE), target=["nothing"])


def a_target_with_a_port(asker: Asker) -> None:
    asker.run(asker.session(ONE), target=["one:0"])


def an_unknown_feed(asker: Asker) -> None:
    asker.run(asker.session(ONE), feed={"nothing:0": tensor(1.0)}, fetch=["one:0"])


def an_unknown_port_is_fed(asker: Asker) -> None:
    asker.run(asker.session(X, Y), feed={"x:3": tensor(1.0), "x:0": tensor(1.0)}, fetch=["y:0"])


def a_feed_that_is_not_needed(asker: Asker) -> None:
    asker.run(asker.session(X, ONE), feed={"x:0": tensor(1.0)}, fetch=["one:0"])


def fed_and_fetched(asker: Asker) -> None:
    asker.run(asker.session(X, Y), feed={"x:0": tensor(1.0)}, fetch=["x:0"])


def fed_twice(asker: Asker) -> None:
    feed = [("x:0", tensor(1.0)), ("x:0", tensor(2.0))]
    asker.run(asker.session(X, Y), feed=feed, fetch=["y:0"])


def fed_twice_by_two_names(asker: Asker) -> None:
    feed = [("x:0", tensor(1.0)), ("x", tensor(2.0))]
    asker.run(asker.session(X, Y), feed=feed, fetch=["y:0"])


def fetched_twice(asker: Asker) -> None:
    asker.run(asker.session(ONE), fetch=["one:0", "one:0"])


def nothing_to_do(asker: Asker) -> None:
    asker.run(asker.session(ONE))


def only_a_feed(asker: Asker) -> None:
    asker.run(asker.session(X), feed={"x:0": tensor(1.0)})


def nothing_is_fed(asker: Asker) -> None:
    asker.run(asker.session(X, Y), fetch=["y:0"])


def a_variable_without_a_value(asker: Asker) -> None:
    asker.run(asker.session(variable("v"), identity("y", "v")), fetch=["y:0"])


def a_variable_itself_without_a_value(asker: Asker) -> None:
    asker.run(asker.session(variable("v")), fetch=["v:0"])


def a_negative_timeout(asker: Asker) -> None:
    options = pb.RunOptions(timeout_in_ms=-1000)
    asker.run(asker.session(ONE), fetch=["one:0"], options=options)


def the_same_request_twice(asker: Asker) -> None:
    request = step_request(asker.session(ONE), fetch=["one:0"])
    asker.ask(request)
    asker.ask(request)


def the_same_request_of_another_session(asker: Asker) -> None:
    request = step_request(asker.session(ONE), fetch=["one:0"])
    asker.ask(request)
    request.session_handle = asker.session(ONE)
    asker.ask(request)


def request_0_twice(asker: Asker) -> None:
    request = step_request(asker.session(ONE), fetch=["one:0"], request_id=0)
    asker.ask(request)
    asker.ask(request)


# what is fed


def a_feed_of_another_type(asker: Asker) -> None:
    asker.run(asker.session(X, Y), feed={"x:0": tensor(1, int32)}, fetch=["y:0"])


def a_feed_of_another_kind(asker: Asker) -> None:
    asker.run(asker.session(X, Y), feed={"x:0": tensor(b"1", string)}, fetch=["y:0"])


def a_feed_of_another_type_into_arithmetic(asker: Asker) -> None:
    handle = asker.session(X, node("y", "Neg", "x", T=float32))
    asker.run(handle, feed={"x:0": tensor(1, int32)}, fetch=["y:0"])


def a_constant_is_fed_with_another_type(asker: Asker) -> None:
    handle = asker.session(ONE, identity("y", "one"))
    asker.run(handle, feed={"one:0": tensor(1, int32)}, fetch=["y:0"])


def a_feed_of_another_shape(asker: Asker) -> None:
    handle = asker.session(placeholder("x", shape=(2,)), Y)
    asker.run(handle, feed={"x:0": tensor([1.0, 2.0, 3.0])}, fetch=["y:0"])


def a_feed_of_another_rank(asker: Asker) -> None:
    handle = asker.session(placeholder("x", shape=(2,)), Y)
    asker.run(handle, feed={"x:0": tensor(1.0)}, fetch=["y:0"])


def a_feed_that_fits_an_open_shape(asker: Asker) -> None:
    handle = asker.session(placeholder("x", shape=(None, 2)), Y)
    asker.run(handle, feed={"x:0": tensor([[1.0, 2.0]])}, fetch=["y:0"])


def a_feed_without_a_type(asker: Asker) -> None:
    asker.run(asker.session(X, Y), feed={"x:0": pb.TensorProto()}, fetch=["y:0"])


def a_feed_that_is_short_of_bytes(asker: Asker) -> None:
    short = pb.TensorProto(dtype=1, tensor_content=b"\0\0\0\0")
    short.tensor_shape.dim.add(size=2)
    asker.run(asker.session(X, Y), feed={"x:0": short}, fetch=["y:0"])


def a_feed_of_unknown_rank(asker: Asker) -> None:
    open_one = tensor([1.0])
    open_one.tensor_shape.Clear()
    open_one.tensor_shape.unknown_rank = True
    asker.run(asker.session(X, Y), feed={"x:0": open_one}, fetch=["y:0"])


def a_feed_of_negative_size(asker: Asker) -> None:
    negative = tensor([1.0])
    negative.tensor_shape.dim[0].size = -1
    asker.run(asker.session(X, Y), feed={"x:0": negative}, fetch=["y:0"])


# callables and the rest


def an_unknown_callable(asker: Asker) -> None:
    asker.ask(pb.RunCallableRequest(session_handle=asker.session(ONE), handle=99))


def a_callable_of_an_unknown_session(asker: Asker) -> None:
    asker.callable("0123456789abcdef", fetch=["one:0"])


def a_callable_with_an_unknown_fetch(asker: Asker) -> None:
    asker.callable(asker.session(ONE), fetch=["nothing:0"])


def a_callable_with_too_few_feeds(asker: Asker) -> None:
    handle = asker.session(X, Y)
    number = asker.callable(handle, feed=["x:0"], fetch=["y:0"])
    asker.ask(pb.RunCallableRequest(session_handle=handle, handle=number))


def a_callable_that_was_released(asker: Asker) -> None:
    handle = asker.session(ONE)
    number = asker.callable(handle, fetch=["one:0"])
    asker.ask(pb.ReleaseCallableRequest(session_handle=handle, handle=number))
    asker.ask(pb.RunCallableRequest(session_handle=handle, handle=number))


def an_unknown_callable_is_released(asker: Asker) -> None:
    asker.ask(pb.ReleaseCallableRequest(session_handle=asker.session(ONE), handle=99))


def containers_that_nobody_has(asker: Asker) -> None:
    asker.ask(pb.ResetRequest(container=["nobody's"]))


def an_unknown_partial_run(asker: Asker) -> None:
    asker.run(asker.session(ONE), fetch=["one:0"], partial_run_handle="nothing")


# helpers


def opened(asker: Asker, *nodes: Any) -> tuple[str, int]:
    """Return handle and graph version of a new session."""
    response = asker.ask(pb.CreateSessionRequest(graph_def=pb.GraphDef(node=nodes)))
    return response.session_handle, response.graph_version


def extension(handle: str, version: int, *nodes: Any) -> Any:
    """Return an ExtendSessionRequest."""
    return pb.ExtendSessionRequest(
        session_handle=handle,
        graph_def=pb.GraphDef(node=nodes),
        current_graph_version=version,
    )


def refuse(asker: Asker, request: Any) -> None:
    """Send what must be refused."""
    try:
        asker.ask(request)
    except OpError:
        return
    raise AssertionError(f"{type(request).__name__} was accepted")


CASES: dict[Case, type[OpError] | None] = {
    **graph_cases.CASES,
    # sessions and their graphs
    an_unknown_session: AbortedError,
    an_unknown_session_is_extended: AbortedError,
    an_unknown_session_is_closed: AbortedError,
    a_session_is_closed_twice: AbortedError,
    a_run_after_close: AbortedError,
    the_devices_of_an_unknown_session: AbortedError,  # INVALID_ARGUMENT there, with the same text
    another_version_is_extended: AbortedError,
    the_same_version_is_extended_twice: AbortedError,
    a_node_is_extended_that_is_there: InvalidArgumentError,
    a_name_twice_in_one_graph: InvalidArgumentError,
    a_failed_extension_changes_nothing: None,
    an_empty_graph: None,
    filters_that_are_no_devices: InvalidArgumentError,  # end the whole server there
    a_negative_timeout_of_a_session: None,
    # steps
    an_unknown_fetch: NotFoundError,
    an_unknown_port: InvalidArgumentError,
    no_port: InvalidArgumentError,  # NOT_FOUND there
    an_unknown_target: NotFoundError,
    a_target_with_a_port: None,
    an_unknown_feed: NotFoundError,
    an_unknown_port_is_fed: InvalidArgumentError,
    a_feed_that_is_not_needed: None,
    fed_and_fetched: None,  # INVALID_ARGUMENT there
    fed_twice: InvalidArgumentError,
    fed_twice_by_two_names: InvalidArgumentError,  # one of them wins there
    fetched_twice: None,
    nothing_to_do: InvalidArgumentError,
    only_a_feed: InvalidArgumentError,
    nothing_is_fed: InvalidArgumentError,
    a_variable_without_a_value: FailedPreconditionError,
    a_variable_itself_without_a_value: FailedPreconditionError,
    a_negative_timeout: None,
    the_same_request_twice: AbortedError,
    the_same_request_of_another_session: AbortedError,
    request_0_twice: None,
    # feeds
    a_feed_of_another_type: InvalidArgumentError,  # INTERNAL there; so are the next three
    a_feed_of_another_kind: InvalidArgumentError,
    a_feed_of_another_type_into_arithmetic: InvalidArgumentError,
    a_constant_is_fed_with_another_type: InvalidArgumentError,
    a_feed_of_another_shape: None,
    a_feed_of_another_rank: None,
    a_feed_that_fits_an_open_shape: None,
    a_feed_without_a_type: InvalidArgumentError,
    a_feed_that_is_short_of_bytes: InvalidArgumentError,
    a_feed_of_unknown_rank: InvalidArgumentError,  # taken for a scalar there
    a_feed_of_negative_size: InvalidArgumentError,
    # callables and the rest
    an_unknown_callable: InvalidArgumentError,
    a_callable_of_an_unknown_session: AbortedError,
    a_callable_with_an_unknown_fetch: None,  # NOT_FOUND there; here when it is run
    a_callable_with_too_few_feeds: InvalidArgumentError,  # ends the whole server there
    a_callable_that_was_released: InvalidArgumentError,
    an_unknown_callable_is_released: None,
    containers_that_nobody_has: None,
    an_unknown_partial_run: InvalidArgumentError,
}
