"""The command-line tools of an installed package: trtexec, camshaft-slim and camshaft-quantize."""

import os
import pathlib
import sys


def _become(name):
    program = pathlib.Path(__file__).parent / "bin" / name
    os.execv(program, [str(program), *sys.argv[1:]])


def trtexec():
    _become("trtexec")


def slim():
    _become("camshaft-slim")


def quantize():
    from .quantize import main
    sys.exit(main(name="camshaft-quantize"))
