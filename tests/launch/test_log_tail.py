"""Following logs: last lines first, then what is added, line by line."""

from tfdist.launch.log_tail import LogTail, added_lines


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


def test_a_line_that_is_too_long_is_left_out(tmp_path):
    log = tmp_path / "worker-0.log"
    log.write_text("12345678\n12\n3")
    assert added_lines(log, 0, most=4) == ([], 4)
    assert added_lines(log, 4, most=4) == ([], 8)
    assert added_lines(log, 8, most=4) == (["", "12"], 12)
    assert added_lines(log, 12, most=4) == ([], 12)
