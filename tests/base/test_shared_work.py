"""Work in parts: in order where nobody has threads, or where it is too light for them."""

from tfdist.base.shared_work import LIGHT, in_order, share


def test_light_work_is_done_in_order():
    found = []
    share(found.append, range(5), size=LIGHT - 1)
    assert found == [0, 1, 2, 3, 4]


def test_heavy_work_is_done_whole():
    found = []
    share(found.append, range(50), size=LIGHT)
    assert sorted(found) == list(range(50))


def test_in_order_without_parts_does_nothing():
    in_order(lambda part: 1 / 0, [])
