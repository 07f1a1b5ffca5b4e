"""argparse with short refusals that name what was probably meant."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from typing import Any, NoReturn


def nearest(unknown: str, known: Any) -> str:
    """"; did you mean 'x'?", or nothing where no word is like it."""
    found = difflib.get_close_matches(unknown, list(known), 1, 0.5) if len(unknown) > 2 else []  # not -h for -o
    return f"; did you mean '{found[0]}'?" if found else ""


class _Formatter(argparse.HelpFormatter):
    """Explanations in one column, with room for the names of commands."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)
        self._action_max_length = 14


class Parser(argparse.ArgumentParser):
    """Prints one sentence and ends with status 2 where a command line is wrong."""

    def __init__(self, **keywords: Any) -> None:
        keywords.setdefault("allow_abbrev", False)  # scripts mean the same with every version
        keywords.setdefault("formatter_class", _Formatter)
        super().__init__(**keywords)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        given, unknown = self.parse_known_args(args, namespace)
        if unknown:
            # Of a subcommand: its parser has handed back what it does not know.
            parser = self.subcommands().get(getattr(given, "command", ""), self)
            flag = unknown[0].partition("=")[0]
            parser.error(f"unknown argument '{flag}'{nearest(flag, parser._option_string_actions)}")
        return given

    def subcommands(self) -> dict[str, Parser]:
        return next((dict(action.choices) for action in self._actions
                     if isinstance(action, argparse._SubParsersAction)), {})

    def error(self, message: str) -> NoReturn:
        choice = re.match(r"argument COMMAND: invalid choice: '(.*?)'", message)
        if choice:
            message = f"there is no command '{choice[1]}'{nearest(choice[1], self.subcommands())}"
        self.exit(2, f"{self.prog}: {message}\nusage: {self.call()}, and options that --help lists\n")

    def call(self) -> str:
        """A command line with what it cannot do without: camshaft slim IN OUT."""
        needed = [f"{action.option_strings[0]} {action.metavar}" if action.option_strings else str(action.metavar)
                  for action in self._actions if action.required]
        return " ".join([self.prog, *needed])


def parse_sizes(text: str) -> tuple[int, ...]:
    """"1x3x224x224" or "1,3,224,224"; "scalar" has no sizes."""
    if text == "scalar":
        return ()
    try:
        return tuple(int(size) for size in re.split("[x,]", text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no shape such as 1x3x224x224") from None


def named_shape(text: str) -> tuple[str, tuple[int, ...]]:
    """An argument's type: "input:1x3x224x224"."""
    name, _, sizes = text.rpartition(":")
    if not name:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form input:1x3x224x224")
    return name, parse_sizes(sizes)


def run_alone(name: str) -> None:
    """The program `camshaft-NAME`, and `python -m camshaft.NAME`: the subcommand by itself."""
    from .main import main

    sys.exit(main([name, *sys.argv[1:]]))
