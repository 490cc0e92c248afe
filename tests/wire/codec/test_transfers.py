"""What one task sends another: of too much it is told which tensor that was, and whose."""

import numpy as np
import pytest

from tfdist.errors import InvalidArgumentError
from tfdist.wire.codec import codec
from tfdist.wire.codec.transfers import subscription_messages, tensor_response

HERE, THERE = "/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0"
ROUTE = f"{HERE};0123456789abcdef;{THERE}"
BIG = np.zeros([70, 20])


@pytest.mark.parametrize("name", ["edge_12_deep/big", "deep/big"])
def test_an_answer_over_the_limit_names_node_and_tasks(name):
    key = f"{ROUTE};{name};0:0"
    messages = [tensor_response(BIG, key), *subscription_messages([(key, BIG)])]
    text = f"of node 'deep/big', from {HERE} to {THERE}, float64\\[70, 20\\], of 11200 bytes"
    for message in messages:
        with pytest.raises(InvalidArgumentError, match=text) as raised:
            codec.check_size(message, "the answer", limit=1_000)
        assert raised.value.node_name == "deep/big"
