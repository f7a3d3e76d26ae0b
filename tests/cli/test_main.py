"""The frame of all commands: exit codes, where words go, and no traceback for a user's mistake."""

import errno
import os
import subprocess
import sys

import pytest
import typer

from dragoman import __version__
from dragoman.cli import main as frame
from dragoman.errors import DataError, TrainingError


@pytest.fixture
def failing(monkeypatch):
    """``dragoman fail`` raises what the test gives it."""

    def make(error: BaseException) -> None:
        app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
        app.callback()(frame.dragoman)

        @app.command()
        def fail() -> None:
            raise error

        monkeypatch.setattr(frame, "app", app)

    return make


def call(
    *args: str, stdout: object = subprocess.PIPE, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, with stdout buffered as users have it."""
    env = {k: v for k, v in (os.environ | (env or {})).items() if k != "PYTHONUNBUFFERED"}
    return subprocess.run(
        [sys.executable, "-m", "dragoman", *args],
        encoding="utf-8",
        stdout=stdout,  # type: ignore[arg-type]
        stderr=subprocess.PIPE,
        env=env,
        check=False,
    )


def test_help_shows_every_command_and_an_example(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert frame.main(["--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "Examples:" in out
    for name in typer.main.get_command(frame.app).commands:
        assert f"\n  {name} " in out


def test_every_option_of_every_command_has_help():
    command = typer.main.get_command(frame.app)
    waiting = [command]
    while waiting:
        current = waiting.pop()
        assert current.help, current.name
        waiting += getattr(current, "commands", {}).values()
        for parameter in current.params:
            assert getattr(parameter, "help", None), f"{current.name} {parameter.name}"


def test_the_version_goes_to_stdout(capsys):
    assert frame.main(["--version"]) == 0
    assert capsys.readouterr().out == f"dragoman {__version__}\n"


@pytest.mark.parametrize("args", [["nonsense"], ["--nonsense"], ["info"], ["info", "a", "--what"]])
def test_bad_usage_is_told_on_stderr_and_exits_with_2(capsys, args):
    assert frame.main(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Usage: dragoman" in err


def test_a_users_mistake_is_its_message_alone_and_exits_with_2(capsys, failing):
    failing(DataError("train.en:3: not UTF-8"))
    assert frame.main(["fail"]) == 2
    assert capsys.readouterr() == ("", "data error: train.en:3: not UTF-8\n")


def test_a_run_that_cannot_go_on_exits_with_1(capsys, failing):
    failing(TrainingError("the loss is NaN at step 7"))
    assert frame.main(["fail"]) == 1
    assert capsys.readouterr().err == "training error: the loss is NaN at step 7\n"


@pytest.mark.parametrize("args", [["--debug", "fail"], ["fail", "--debug"]])
def test_debug_adds_the_traceback_wherever_it_stands(capsys, failing, args):
    failing(DataError("a"))
    assert frame.main(args) == 2
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.endswith("data error: a\n")


def test_debug_after_two_dashes_is_an_argument_like_any_other():
    assert frame._take_debug(["x", "--", "--debug"]) == (False, ["x", "--", "--debug"])


def test_a_bug_is_told_as_ours_and_exits_with_1(capsys, failing):
    failing(KeyError("lost"))
    assert frame.main(["fail"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("internal error: KeyError: 'lost'\n  This is a bug in Dragoman.")
    assert "--debug" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "m.bin"),
            1,
            "error: No space left on device: m.bin\n",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "x"),
            1,
            "error: Permission denied: x\n",
        ),
        (
            FileNotFoundError(errno.ENOENT, "No such file or directory", "x"),
            2,
            "error: No such file or directory: x\n",
        ),
        (OSError("strange"), 1, "error: strange\n"),
        (MemoryError(), 1, "error: out of memory; try a smaller"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 1, ""),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
)
def test_what_the_system_refuses_is_told_in_one_line(capsys, failing, error, code, message):
    failing(error)
    assert frame.main(["fail"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(message)
    assert err.count("\n") == (1 if message else 0)


def test_a_reader_that_has_seen_enough_is_no_error():
    read, write = os.pipe()
    os.close(read)
    done = call("info", "base", stdout=write)
    os.close(write)
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_behind_stdout_is_told():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = call("info", "base", stdout=full)
    assert done.returncode == 1
    assert done.stderr == "error: No space left on device\n"


def test_letters_are_utf8_whatever_the_locale_says():
    done = call("info", "Übersetzer", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 2
    assert done.stderr.startswith("bundle error: Übersetzer: no such preset")


def test_the_console_command_and_the_module_are_the_same():
    done = call("--version")
    assert (done.returncode, done.stdout) == (0, f"dragoman {__version__}\n")
