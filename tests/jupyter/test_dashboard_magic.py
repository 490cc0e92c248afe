"""`%cluster dashboard`: opens the page of a cluster (`tests/web`), once, and closes it."""

import pytest
from IPython.core.error import UsageError

from tests.ports import free_port


def test_the_magic_opens_one_and_stop_closes_it(on_cluster):
    text = on_cluster.text("%cluster dashboard -o board")
    board = on_cluster.value("board")
    assert text.startswith(f"{board.url} shows the panels of cluster 'main'")
    assert on_cluster.text("%cluster dashboard") == text
    for option in ("--port 1", "--host hub.example.org"):
        with pytest.raises(UsageError, match=r"open at port .*close, then this once more"):
            on_cluster.run(f"%cluster dashboard {option}")
    assert on_cluster.text(f"%cluster dashboard --port {board.port} --host localhost") == text
    assert on_cluster.text("%cluster dashboard close") == "the dashboard is closed"
    assert not board.is_open
    port = free_port()
    on_cluster.run(f"%cluster dashboard --port {port} -q -o board")
    assert f":{port}/" in on_cluster.value("board").url
    on_cluster.run("%cluster stop -q")
    assert not on_cluster.value("board").is_open
