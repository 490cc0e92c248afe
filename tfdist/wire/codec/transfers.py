"""What one task hands another in a step, as messages.

A value that was asked for is a RecvTensorResponse. What is subscribed to
(`runtime.step.rendezvous`) comes in messages of ours, several values each: a RecvTensorResponse
without a tensor, and instead, in a field that TensorFlow's has not, a NamedTensorProto for each
value, named by its key. If the message says that it is dead, all of them are. What a follower gets
(`runtime.step.followers`) comes in parcels; what they do not carry is the same as on a route, with
its step before each key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.errors import InvalidArgumentError, OpError
from tfdist.graph.op_def import DEAD
from tfdist.graph.variants import form_of
from tfdist.protos import pb
from tfdist.runtime.resources.variables import Variable
from tfdist.runtime.step.rendezvous import Sent
from tfdist.wire.codec import codec
from tfdist.wire.codec.parcels import is_parcel, packed, unpacked
from tfdist.wire.common.calls import Pieces
from tfdist.wire.common.status import from_status

_VALUES = 15  # the field
_OF_STEP = "|"  # stands between a step's number and a key
_EDGE = re.compile("^edge_[0-9]+_")  # what TensorFlow's masters write before a node's name
_NOTHING = np.zeros(0, np.float32)  # what TensorFlow sends for a dead tensor


def tensor_response(value: TensorValue, key: str) -> Pieces:
    """Return the RecvTensorResponse of the value of a key."""
    if value is DEAD:
        return codec.bare_message_pieces(pb.RecvTensorResponse(is_dead=True), 1, [_NOTHING])
    return _named(codec.bare_message_pieces(pb.RecvTensorResponse(), 1, [_tensor(value)], [key]))


def received_value(response: memoryview, task: str, key: str) -> TensorValue:
    """Return the value in the RecvTensorResponse that a task sent for a key.

    Raises:
      InvalidArgumentError: there is none, or it cannot be read.
    """
    message, values = codec.split_bare_message(pb.RecvTensorResponse, response, 1)
    if message.is_dead:
        return DEAD
    if len(values) != 1:
        raise InvalidArgumentError(f"{task} sent {len(values)} tensors for {key}")
    return values[0]


def subscription_messages(sent: Sent) -> Iterator[Pieces]:
    """Yield the messages of what was sent on a route: of live values, and of dead ones."""
    live = [(key, _tensor(value)) for key, value in sent if value is not DEAD]
    if live:
        yield _named(codec.message_pieces(pb.RecvTensorResponse(), _VALUES, live))
    if len(live) < len(sent):
        dead = [(key, _NOTHING) for key, value in sent if value is DEAD]
        yield codec.message_pieces(pb.RecvTensorResponse(is_dead=True), _VALUES, dead)


def subscription_values(message: memoryview) -> Sent:
    """Return what came on a route.

    Raises:
      InvalidArgumentError: it cannot be read.
    """
    about, sent = codec.split_message(pb.RecvTensorResponse, message, _VALUES)
    return [(key, DEAD) for key, _ in sent] if about.is_dead else sent


def following_messages(step_id: int, sent: Sent | OpError) -> Iterator[Pieces]:
    """Yield the messages of what a step has sent to a follower, or of why nothing more comes."""
    if isinstance(sent, OpError):
        told = np.array([str(sent.error_code).encode(), sent.message.encode()], object)
        sent = [("", told)]
    else:
        sent = [(key, value if value is DEAD else _tensor(value)) for key, value in sent]
        parcel = packed(step_id, sent)
        if parcel is not None:
            yield parcel
            return
    yield from subscription_messages([(f"{step_id}{_OF_STEP}{key}", value) for key, value in sent])


def following_values(message: memoryview) -> Iterator[tuple[int, Sent | OpError]]:
    """Yield step, and keys and values, of what came to a follower; or why nothing more will.

    Raises:
      InvalidArgumentError: it cannot be read.
    """
    if is_parcel(message):
        yield unpacked(message)
        return
    for name, value in subscription_values(message):
        step_id, _, key = name.partition(_OF_STEP)
        if not step_id.isdecimal():
            raise InvalidArgumentError(f"a value was sent without its step: {name!r}")
        if not key:
            code, text = value
            yield int(step_id), from_status(int(code), text.decode(errors="replace"), {})
        else:
            yield int(step_id), [(key, value)]


def _named(message: codec.MessagePieces) -> codec.MessagePieces:
    """Return `message`, its largest tensor named by who made and who wanted it, not by its key."""
    if message.largest is not None:
        key, array = message.largest
        sender, _, receiver, edge, _ = key.rpartition(_OF_STEP)[2].split(";")
        message.node = _EDGE.sub("", edge)
        message.largest = f"that of node {message.node!r}, from {sender} to {receiver}", array
    return message


def _tensor(value: TensorValue) -> TensorValue:
    if isinstance(value, Variable):
        value = value.read()
    if not isinstance(value, np.ndarray | np.generic | bytes) and form_of(value) is None:
        raise InvalidArgumentError(f"a {type(value).__name__} stays on its task: it is no tensor")
    return value
