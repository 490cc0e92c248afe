"""Following logs: last lines first, then what is added, line by line."""

from tfdist.launch.log_tail import LogTail


def test_last_lines_come_first_then_what_is_added(tmp_path):
    log = tmp_path / "worker-0.log"
    log.write_text("one\ntwo\n")
    tail = LogTail({"worker": log, "none": tmp_path / "none.log"}, 1)
    assert tail.more() == [("worker", "two")]
    assert tail.more() == []
    with log.open("a") as file:
        file.write("three\nfo")
        file.flush()
        assert tail.more() == [("worker", "three")]
        file.write("ur\n")
        file.flush()
        assert tail.more() == [("worker", "four")]


def test_a_log_that_begins_anew_is_read_from_its_beginning(tmp_path):
    log = tmp_path / "worker-0.log"
    log.write_text("a long line of before\n")
    tail = LogTail({"worker": log}, 0)
    log.write_text("new\n")
    assert tail.more() == [("worker", "new")]
