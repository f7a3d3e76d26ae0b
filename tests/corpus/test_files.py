"""Lines of text files: where they end, what is decoded, and what a broken file says."""

import gzip
import lzma
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.corpus import files
from dragoman.corpus.files import BadEncodingError, read_lines
from dragoman.errors import DataError

COMPRESS = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
}
LINES = [f"Satz Nummer {i} mit Umlaut ä" for i in range(5000)]
DATA = "".join(line + "\n" for line in LINES).encode()


def read_until_error(path: Path) -> tuple[list[str], DataError | None]:
    """The lines that came, and the error that ended them."""
    lines: list[str] = []
    try:
        for line in read_lines(path):
            lines.append(line)
    except DataError as error:
        return lines, error
    return lines, None


@pytest.mark.parametrize("suffix", COMPRESS)
def test_every_compression_gives_the_same_lines(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.de{suffix}"
    path.write_bytes(COMPRESS[suffix](DATA))
    assert list(read_lines(path)) == LINES


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_file_of_two_compressed_parts_is_read_to_its_end(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.de{suffix}"
    path.write_bytes(COMPRESS[suffix](b"eins\n") + COMPRESS[suffix](b"zwei\n"))
    assert list(read_lines(path)) == ["eins", "zwei"]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb\n", ["a\rb"]),
        (b"a\r\r\n", ["a\r"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"\xef\xbb\xbf", []),
        ("a\u2028b\x0bc\x85d\x1ce\n".encode(), ["a\u2028b\x0bc\x85d\x1ce"]),
    ],
)
def test_lines_end_at_newline_alone(tmp_path: Path, data: bytes, lines: list[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    assert list(read_lines(path)) == lines


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    lines=st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n"))),
    block_size=st.integers(1, 9),
)
def test_lines_do_not_depend_on_where_blocks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str], block_size: int
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("".join(line + "\n" for line in lines).encode())
    monkeypatch.setattr(files, "BLOCK_SIZE", block_size)
    expected = [line.removesuffix("\r") for line in lines]
    if expected:
        expected[0] = lines[0].removeprefix("\ufeff").removesuffix("\r")
    assert list(read_lines(path)) == expected


def test_a_byte_that_is_not_utf8_is_named_with_file_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.de"
    path.write_bytes(b"ein Hund\nein B\xe4r\nzwei\n")
    lines = read_lines(path)
    assert next(lines) == "ein Hund"
    with pytest.raises(BadEncodingError) as error:
        next(lines)
    assert f"{path}:2: byte 6 of the line is 0xe4" in str(error.value)
    assert "iconv -f latin1 -t utf-8 a.de" in str(error.value)


def test_the_line_of_a_bad_byte_is_right_far_into_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BLOCK_SIZE", 1000)
    path = tmp_path / "a.de"
    path.write_bytes(DATA + b"\xff\n" + DATA)
    good, error = read_until_error(path)
    assert good == LINES
    assert isinstance(error, BadEncodingError)
    assert ":5001: byte 1 of the line is 0xff" in str(error)


def test_a_utf16_file_is_told_how_to_be_converted(tmp_path: Path) -> None:
    path = tmp_path / "a.de"
    path.write_bytes("ein Bär\n".encode("utf-16"))
    with pytest.raises(BadEncodingError, match="iconv -f utf-16"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_compressed_file_that_is_cut_short_names_its_last_good_line(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"a.de{suffix}"
    data = COMPRESS[suffix](DATA)
    path.write_bytes(data[: len(data) - 20])
    seen, error = read_until_error(path)
    assert seen == LINES[: len(seen)]
    assert str(error).startswith(f"{path}:{len(seen)}: the last good line")
    assert "cut short" in str(error)


def test_the_lines_before_the_cut_of_a_gz_are_given(tmp_path: Path) -> None:
    path = tmp_path / "a.de.gz"
    data = gzip.compress(DATA, compresslevel=0)  # stored, so that half the file is half the lines
    path.write_bytes(data[: len(data) // 2])
    seen, error = read_until_error(path)
    assert error is not None
    assert 2000 < len(seen) < 3000


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_plain_text_under_a_compressed_name_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.de{suffix}"
    path.write_bytes(b"just text\n")
    with pytest.raises(DataError, match=rf"not a \{suffix} file"):
        list(read_lines(path))


def test_a_damaged_checksum_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.de.gz"
    data = bytearray(gzip.compress(DATA))
    data[-6] ^= 0xFF  # inside the CRC
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match="damaged"):
        list(read_lines(path))


def test_a_missing_file_names_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "train.de").touch()
    (tmp_path / "other.txt").touch()
    with pytest.raises(DataError, match=r"no such file: .*trian\.de\n.*there is: train\.de$"):
        list(read_lines(tmp_path / "trian.de"))


def test_a_missing_folder_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="folder .*nowhere does not exist either"):
        list(read_lines(tmp_path / "nowhere" / "a.de"))


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder"):
        list(read_lines(tmp_path))
