"""Whole or not at all: what a failed or interrupted write leaves behind."""

import json
import os
from pathlib import Path

import pytest

from dragoman import atomic


class Crash(BaseException):
    """Stands for Ctrl-C or any other end of the process."""


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")
    with atomic.replacing(path) as temporary:
        temporary.write_text("new", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == "old"  # control: not before the block has ended
    assert path.read_text(encoding="utf-8") == "new"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("failure", [OSError("disk full"), Crash()])
def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, failure):
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")

    def write_half() -> None:
        with atomic.replacing(path) as temporary:
            temporary.write_text("half of the ne", encoding="utf-8")
            raise failure

    with pytest.raises(type(failure)):
        write_half()
    assert path.read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_failed_rename_leaves_no_litter(tmp_path):
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    with pytest.raises(OSError):
        atomic.write_text(tmp_path / "folder", "a file cannot take a folder's place")
    assert names(tmp_path) == ["folder"]


def test_the_content_is_on_the_disk_before_the_name_is(tmp_path, monkeypatch):
    order: list[str] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(handle: int) -> None:
        order.append("sync")
        real_fsync(handle)

    def replace(old: Path, new: Path) -> None:
        order.append("rename")
        real_replace(old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    atomic.write_text(tmp_path / "a.txt", "a")
    assert order == ["sync", "rename", "sync"]  # the file, its name, the folder that holds the name


def test_text_keeps_its_letters_and_line_ends(tmp_path):
    atomic.write_text(tmp_path / "a.txt", "Straße\r\n\u2028\n")
    assert (tmp_path / "a.txt").read_bytes() == "Straße\r\n\u2028\n".encode()


def test_json_is_readable_and_never_holds_nan(tmp_path):
    path = tmp_path / "a.json"
    atomic.write_json(path, {"word": "Tür"})
    assert path.read_text(encoding="utf-8") == '{\n  "word": "Tür"\n}\n'
    with pytest.raises(ValueError):
        atomic.write_json(path, {"loss": float("nan")})
    assert json.loads(path.read_text(encoding="utf-8")) == {"word": "Tür"}


def test_a_new_folder_appears_whole_with_its_parents(tmp_path):
    target = tmp_path / "runs" / "first"
    with atomic.new_folder(target) as temporary:
        (temporary / "sub").mkdir()
        (temporary / "sub" / "a.txt").write_text("a", encoding="utf-8")
        assert not target.exists()
    assert (target / "sub" / "a.txt").read_text(encoding="utf-8") == "a"
    assert names(tmp_path / "runs") == ["first"]


def test_a_failed_folder_leaves_nothing(tmp_path):
    def fill_half() -> None:
        with atomic.new_folder(tmp_path / "run") as temporary:
            (temporary / "a.txt").write_text("a", encoding="utf-8")
            raise Crash

    with pytest.raises(Crash):
        fill_half()
    assert names(tmp_path) == []


def test_a_folder_that_came_meanwhile_is_not_replaced(tmp_path):
    target = tmp_path / "run"
    with pytest.raises(FileExistsError, match="meanwhile"), atomic.new_folder(target):
        target.mkdir()
    assert names(tmp_path) == ["run"]
