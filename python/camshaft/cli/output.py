"""What subcommands print: tables and progress for people, JSON for programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
import json
import os
import re
import shutil
import sys
import textwrap
import time
from typing import Any, TextIO


def show(arguments: argparse.Namespace, result: Any, text: str | Callable[[], str]) -> None:
    """Prints `result` as JSON where --json was given, else `text`."""
    if arguments.json:
        print(json.dumps(result, indent=1, default=plain))
    else:
        print((text() if callable(text) else text).rstrip())


def plain(value: Any) -> Any:
    """What JSON has for a value that it does not know: numpy's numbers and arrays, paths, enums."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return str(value)


# Text for terminals.

NARROWEST = 10  # that a column is cut to


def bold(text: str, stream: TextIO | None = None) -> str:
    stream = stream or sys.stdout
    styled = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return f"\033[1m{text}\033[0m" if styled else text


def terminal_width() -> int:
    """0 where the output is no terminal, and lines may be as long as they like."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def hanging(label: str, text: str) -> str:
    """A label and a text that is broken to stand beside it."""
    width = terminal_width()
    if not width:
        return label + text
    return textwrap.fill(text, max(width, 40), initial_indent=label, subsequent_indent=" " * len(label),
                         break_long_words=False, break_on_hyphens=False)


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], *, width: int | None = None,
          flexible: int | Sequence[int] = ()) -> str:
    """Columns aligned: numbers to the right, by the row below the header, all else to the left.

    Where the lines are wider than the terminal (`width`; any width where the output is none), the
    columns `flexible` are cut, the widest first, in the middle, since names of layers differ at their ends.
    """
    lines = [[_cell(value) for value in row] for row in rows]
    right = [all(_is_number(line[i]) for line in lines) for i in range(len(header))]
    widths = [max([len(name), *(len(line[i]) for line in lines)]) for i, name in enumerate(header)]
    width = width or terminal_width()
    columns = [flexible] if isinstance(flexible, int) else list(flexible)
    while width and columns and sum(widths) + 2 * (len(widths) - 1) > width:
        widest = max(columns, key=lambda i: widths[i])
        if widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1

    def written(cells: Sequence[str]) -> str:
        parts = [_cut(cell, size) for cell, size in zip(cells, widths)]
        return "  ".join(part.rjust(size) if is_right else part.ljust(size)
                         for part, size, is_right in zip(parts, widths, right)).rstrip()

    return "\n".join([bold(written(list(header))), *map(written, lines)])


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "" if value is None else str(value)


def _is_number(text: str) -> bool:
    return not text or re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?( ?%| [A-Za-z]+)?", text) is not None


def _cut(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    return text[:head] + "…" + text[len(text) - (width - 1 - head):]


def size_text(count: float) -> str:
    """Bytes as people say them: 4.9 MiB."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def written_text(path: Any) -> str:
    """Of a file that a command has made."""
    return f"wrote {path} ({size_text(os.path.getsize(path))})"


def time_text(seconds: float) -> str:
    """A duration with three digits: 1.23 ms."""
    for factor, unit in ((1e6, "us"), (1e3, "ms")):
        if seconds * factor < 1000:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


class Progress:
    """One line on a terminal, drawn anew at most every tenth of a second and gone at the end.
    Elsewhere nothing is written. Called with a phase, what is done of it and how much there is."""

    WIDTH = 30

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.shown = self.stream.isatty()
        self.drawn_at = 0.0
        self.phase = ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: Any) -> None:
        self.clear()

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if not self.shown or (phase == self.phase and done < total and now - self.drawn_at < 0.1):
            return
        self.drawn_at, self.phase = now, phase
        filled = self.WIDTH * min(done, total) // max(total, 1)
        bar = "━" * filled + "·" * (self.WIDTH - filled)
        room = max(10, shutil.get_terminal_size().columns - self.WIDTH - len(f"{total}") * 2 - 6)
        self.write(f"{_cut(phase, min(room, 32)):<{min(room, 32)}} {bar} {done}/{total}")

    def write(self, line: str) -> None:
        self.stream.write(f"\r\033[K{line}")
        self.stream.flush()

    def clear(self) -> None:
        """Takes the line away, so that others can be written."""
        if self.shown and self.phase:
            self.write("")
            self.phase = ""


def logger(command: str, progress: Progress | None = None, verbose: bool = False) -> Any:
    """An ILogger that prints warnings; with `verbose`, all there is. Errors are raised as well, and
    printed once, by who catches them."""
    from .. import ILogger

    silent = (ILogger.Severity.INTERNAL_ERROR, ILogger.Severity.ERROR)

    class Printing(ILogger):
        def log(self, severity: Any, message: str) -> None:
            if severity == ILogger.Severity.WARNING or (verbose and severity not in silent):
                if progress:
                    progress.clear()
                print(f"camshaft {command}: {message}", file=sys.stderr)

    return Printing()
