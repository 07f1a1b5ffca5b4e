"""The command `camshaft`: finds the subcommand, reads its arguments and runs it.

A subcommand is a module of this folder with

    NAME, HELP                  what it is called, and one line that says what it does
    add_arguments(parser)       its arguments; `--json` is there already
    run(arguments) -> int       does it and returns the exit status

Modules import what is heavy inside these functions. What they raise of `EXPECTED` is printed as
one sentence, and the exit status is 1; that of a wrong command line is 2.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
import importlib
import os
import sys
from types import ModuleType

from .. import Error, camshaft_version
from .parser import Parser

SUBCOMMANDS = (
    "build",
    "run",
    "inspect",
    "explore",
    "slim",
    "quantize",
    "compare",
    "doctor",
    "accuracy",
    "completion",
)
EXPECTED = (Error, OSError, ValueError, TypeError, ImportError)


def module_of(name: str) -> ModuleType:
    return importlib.import_module(f".{name}", __package__)


def make_parser(wanted: str | None = None) -> Parser:
    """The parser of the command. With `wanted`, subcommands of other names have no arguments, so
    that none pays for what another needs."""
    parser = Parser(prog="camshaft", description="Builds inference engines from ONNX models, runs them "
                                                 "and shows what is in them.")
    parser.add_argument("--version", action="version", version=f"camshaft {camshaft_version}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")
    for module in map(module_of, SUBCOMMANDS):
        own = subparsers.add_parser(module.NAME, help=module.HELP, description=module.HELP)
        if wanted in (None, module.NAME):
            own.add_argument("--json", action="store_true", help="print the result as JSON")
            module.add_arguments(own)
        own.set_defaults(module=module)
    return parser


def read_arguments(wanted: str, words: list[str]) -> Namespace:
    try:
        return make_parser(wanted).parse_args(words)
    finally:
        sys.stdout.flush()  # `--help` ends the program, which reports a closed pipe behind our back


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    wanted = next((word for word in words if not word.startswith("-")), "")
    try:
        given = read_arguments(wanted, words)
        status: int = given.module.run(given)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # of `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("camshaft: interrupted", file=sys.stderr)
        return 130
    except EXPECTED as error:
        print(f"camshaft {wanted}: {sentence(error)}", file=sys.stderr)
        return 1


def sentence(error: BaseException) -> str:
    """What went wrong, in one line where the error says it in one."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


if __name__ == "__main__":
    sys.exit(main())
