"""Files are written whole or not at all, and what cannot be written is said early."""

import errno
import os
import stat
import threading

import pytest

from mebnb.report.runner import Interrupted, run_side_by_side
from mebnb.writing import CannotWrite, check_file, check_folder, write_file


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("there", [True, False])
def test_full_disk_leaves_the_old_file_whole_and_nothing_beside(
    tmp_path, monkeypatch, there
):
    target = tmp_path / "model.json"
    if there:
        target.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CannotWrite) as refusal:
        write_file(target, "new")
    assert str(refusal.value) == f"cannot write {target}: No space left on device"
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"] * there
    assert not there or target.read_text() == "old"


def test_interruption_leaves_the_old_file_whole(tmp_path, monkeypatch):
    target = tmp_path / "table.csv"
    write_file(target, b"old")

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(target, b"new")
    assert target.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1


def test_readers_see_one_whole_file_or_the_other_while_two_write(tmp_path):
    target = tmp_path / "page.html"
    contents = [letter * 100_000 for letter in "ab"]
    write_file(target, contents[0])
    seen = set()

    def write(content):
        for _ in range(20):
            write_file(target, content)

    writers = [threading.Thread(target=write, args=[text]) for text in contents]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        seen.add(target.read_text())
    for writer in writers:
        writer.join()
    assert seen <= set(contents) and target.read_text() in contents
    assert len(list(tmp_path.iterdir())) == 1


def test_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "scores.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    write_file(link, "ä")
    assert link.is_symlink() and target.read_bytes() == "ä".encode()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_devices_are_written_to_and_not_replaced():
    write_file("/dev/null", "gone")
    check_file("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(CannotWrite, match="cannot write /dev/full: No space left"):
        write_file("/dev/full", "too much")


def test_what_cannot_be_written_is_known_before(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CannotWrite, match=r"cannot write .*/file: Not a directory"):
        check_folder(tmp_path / "file")
    with pytest.raises(CannotWrite, match=r"cannot write .*/file/out: Not a directory"):
        check_folder(tmp_path / "file" / "out")
    with pytest.raises(CannotWrite, match=r"cannot write .*/file/x.csv: Not a dir"):
        check_file(tmp_path / "file" / "x.csv")
    with pytest.raises(CannotWrite, match=f"cannot write {tmp_path}: Is a directory"):
        check_file(tmp_path)
    check_file(tmp_path / "new" / "x.csv")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(CannotWrite, match="Permission denied"):
        check_file(tmp_path / "file")
    with pytest.raises(CannotWrite, match="Permission denied"):
        write_file(tmp_path / "file", "new")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "new"]
    assert (tmp_path / "file").read_text() == "in the way"


# --- side by side --------------------------------------------------------------------


def test_first_fault_stops_the_runs_under_way_and_those_to_come():
    begun, under_way = [], threading.Event()

    def run(task, stop):
        begun.append(task)
        if task == "ends":
            return "well"
        if task == "fails":
            under_way.wait(30)
            raise CannotWrite(errno.ENOSPC, "full", "x")
        under_way.set()
        assert stop.wait(30)
        raise Interrupted(task)

    tasks = ["ends", "fails", "under way", "never", "nor this"]
    with pytest.raises(CannotWrite, match="cannot write x: full"):
        run_side_by_side(tasks, run, 2, print)
    # Which of two threads notes its task first is up to the machine.
    assert sorted(begun) == sorted(tasks[:3])


def test_output_that_cannot_be_written_stops_the_runs_too():
    begun = []

    def run(task, stop):
        begun.append(task)
        return str(task) if task == 0 or stop.wait(30) else "never told to stop"

    with pytest.raises(OSError, match="No space left"):
        run_side_by_side(list(range(5)), run, 1, full)
    assert len(begun) <= 2
