from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from mmad_metric.cli import main
from mmad_metric.errors import InputError
from mmad_metric.hub.folder import export
from mmad_metric.hub.space import RECORD, space_files

FILES = space_files()
WITH_WHEEL = space_files(("mmad_metric-0.0.1-py3-none-any.whl", b"PK"), ("openai>=3",))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_new_folder_holds_the_files_and_nothing_else(tmp_path: Path):
    assert export(FILES, f"{tmp_path}/deep/mmad") == tmp_path / "deep" / "mmad"
    assert contents(tmp_path / "deep" / "mmad") == FILES
    assert [entry.name for entry in (tmp_path / "deep").iterdir()] == ["mmad"]


def test_an_empty_folder_is_filled(tmp_path: Path):
    export(FILES, str(tmp_path))
    assert contents(tmp_path) == FILES


def test_exporting_again_touches_nothing(tmp_path: Path):
    export(FILES, str(tmp_path))
    for path in tmp_path.iterdir():
        os.utime(path, (1, 1))
    export(FILES, str(tmp_path))
    assert {path.stat().st_mtime for path in tmp_path.iterdir()} == {1}
    assert contents(tmp_path) == FILES


def test_a_later_release_replaces_what_an_earlier_one_wrote_and_its_wheel_goes(tmp_path: Path):
    export(WITH_WHEEL, str(tmp_path))
    (tmp_path / "notes.txt").write_bytes(b"mine")
    export(FILES, str(tmp_path))
    assert contents(tmp_path) == {**FILES, "notes.txt": b"mine"}


def test_a_wheel_that_was_changed_since_stays(tmp_path: Path):
    export(WITH_WHEEL, str(tmp_path))
    (tmp_path / "mmad_metric-0.0.1-py3-none-any.whl").write_bytes(b"mine")
    export(FILES, str(tmp_path))
    assert (tmp_path / "mmad_metric-0.0.1-py3-none-any.whl").read_bytes() == b"mine"


def test_a_foreign_folder_is_left_alone_unless_forced(tmp_path: Path):
    (tmp_path / "app.py").write_bytes(b"mine")
    (tmp_path / "other.txt").write_bytes(b"mine")
    with pytest.raises(InputError, match=r"app\.py, other\.txt.*--force"):
        export(FILES, str(tmp_path))
    assert contents(tmp_path) == {"app.py": b"mine", "other.txt": b"mine"}
    export(FILES, str(tmp_path), force=True)
    assert contents(tmp_path) == {**FILES, "other.txt": b"mine"}


def test_a_file_that_was_changed_since_is_left_alone_unless_forced(tmp_path: Path):
    export(FILES, str(tmp_path))
    (tmp_path / "README.md").write_bytes(b"my own words")
    before = contents(tmp_path)
    with pytest.raises(InputError, match=r"README\.md changed since.*--force"):
        export(WITH_WHEEL, str(tmp_path))
    assert contents(tmp_path) == before
    export(WITH_WHEEL, str(tmp_path), force=True)
    assert contents(tmp_path) == WITH_WHEEL


def test_a_file_that_was_deleted_since_comes_back(tmp_path: Path):
    export(FILES, str(tmp_path))
    (tmp_path / "app.py").unlink()
    export(FILES, str(tmp_path))
    assert contents(tmp_path) == FILES


def test_cut_off_in_the_middle_the_next_export_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    other = {name: content + b"\n" for name, content in WITH_WHEEL.items() if name != RECORD}
    export(FILES, str(tmp_path))
    replace, done = os.replace, list[str]()

    def two_only(source: str, target: str) -> None:
        if len(done) == 2:
            raise OSError(28, "No space left on device")
        done.append(target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", two_only)
    wanted = {**other, RECORD: WITH_WHEEL[RECORD]}
    with pytest.raises(InputError, match="No space left"):
        export(wanted, str(tmp_path))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".") and
                path.name != RECORD]  # fmt: skip
    monkeypatch.setattr(os, "replace", replace)
    export(wanted, str(tmp_path))
    assert contents(tmp_path) == wanted


def test_a_new_folder_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(self: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left"):
        export(FILES, f"{tmp_path}/mmad")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_folder_is_told(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    for name in ("file", "file/mmad", "nowhere"):
        with pytest.raises(InputError, match=r"file|nowhere"):
            export(FILES, f"{tmp_path}/{name}", force=True)
    assert (tmp_path / "file").read_bytes() == b"mine"


def test_a_folder_in_the_place_of_a_file_is_told(tmp_path: Path):
    export(FILES, str(tmp_path))
    (tmp_path / "app.py").unlink()
    (tmp_path / "app.py").mkdir()
    for force in (False, True):
        with pytest.raises(InputError, match=r"app\.py"):
            export(FILES, str(tmp_path), force=force)


def test_a_link_in_the_folder_is_replaced_not_followed(tmp_path: Path):
    export(FILES, f"{tmp_path}/mmad")
    (tmp_path / "elsewhere").write_bytes(b"mine")
    (tmp_path / "mmad" / "app.py").unlink()
    (tmp_path / "mmad" / "app.py").symlink_to(tmp_path / "elsewhere")
    export(FILES, f"{tmp_path}/mmad", force=True)
    assert (tmp_path / "elsewhere").read_bytes() == b"mine"
    assert contents(tmp_path / "mmad") == FILES


def test_others_may_read_what_was_written(tmp_path: Path):
    before = os.umask(0o022)
    try:
        export(FILES, f"{tmp_path}/mmad")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "mmad").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "mmad" / "mmad.py").stat().st_mode) == 0o644


def test_the_command_prints_the_folder_and_how_to_load_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["hub", "export", f"{tmp_path}/mmad"]) == 0
    told = capsys.readouterr()
    assert told.out == f"written: {tmp_path}/mmad\n"
    assert f"evaluate.load('{tmp_path}/mmad')" in told.err
    assert main(["hub", "export", f"{tmp_path}/other"]) == 0
    assert f"evaluate.load('{tmp_path}/other/mmad.py')" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "  "])
def test_a_folder_without_a_name_is_refused(name: str):
    with pytest.raises(InputError, match="empty name"):
        export(space_files(), name)
