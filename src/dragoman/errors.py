"""What can go wrong because of the input, as a tree.

    DragomanError            the message alone is enough for a user; the CLI exits with 2
    ├── ConfigError          a key, a type or a value of the configuration
    ├── DataError            a corpus file: missing, misaligned, badly encoded, malformed
    ├── TokenizerError       a tokenizer that cannot be trained, saved or loaded
    ├── BundleError          a bundle, run or checkpoint that cannot be read or written
    ├── InputTooLongError    more tokens than the model can take
    ├── MissingExtraError    an optional package that is not installed
    ├── ExportError          an export that is not the model it was made from; exits with 1
    └── TrainingError        a run that cannot go on (NaN loss, a rank that failed); exits with 1

Every message says what went wrong, where, and what to do about it.
"""


class DragomanError(Exception):
    """Anything a user can mend; ``str(error)`` is written for that user.

    >>> str(DragomanError("no such file: a.txt"))
    'no such file: a.txt'
    """

    exit_code = 2
    kind = "error"


class ConfigError(DragomanError):
    """A wrong key, type or value in a configuration; lists every fault at once."""

    kind = "config error"


class DataError(DragomanError):
    """A corpus that cannot be read or used; names file and line."""

    kind = "data error"


class TokenizerError(DragomanError):
    """A tokenizer that cannot be trained, saved or loaded."""

    kind = "tokenizer error"


class BundleError(DragomanError):
    """A bundle, run or checkpoint that is incomplete, damaged or in the way."""

    kind = "bundle error"


class InputTooLongError(DragomanError):
    """More tokens than the model can take."""

    kind = "input too long"


class MissingExtraError(DragomanError):
    """An optional package that the request needs and that is not installed."""

    kind = "missing package"

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed.\n"
            f"  Install it with: pip install 'dragoman[{extra}]'"
        )


class ExportError(DragomanError):
    """An export that does not say what the model says, and was thrown away."""

    kind = "export error"
    exit_code = 1


class TrainingError(DragomanError):
    """A training run that had to stop; what was saved before stays good."""

    kind = "training error"
    exit_code = 1
