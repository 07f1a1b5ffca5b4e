"""The command-line tools of an installed package beside `camshaft`: trtexec, and the names that
`camshaft slim` and `camshaft quantize` had before."""

import os
import pathlib
import sys


def trtexec():
    program = pathlib.Path(__file__).parent / "bin" / "trtexec"
    os.execv(program, [str(program), *sys.argv[1:]])


def slim():
    from .cli.parser import run_alone
    run_alone("slim")


def quantize():
    from .cli.parser import run_alone
    run_alone("quantize")
