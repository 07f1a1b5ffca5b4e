"""``python -m camshaft.compat program.py arguments``: runs a program with ``tensorrt`` in place."""

import pathlib
import runpy
import sys

from . import install


def main() -> None:
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit("usage: python -m camshaft.compat (program.py | -m module) [arguments]\n"
                 "       python -m camshaft.compat --path    prints a folder for PYTHONPATH")
    if arguments[0] == "--path":
        print(pathlib.Path(__file__).parent / "path")
        return
    install()
    if arguments[0] == "-m":
        if len(arguments) == 1:
            sys.exit("-m needs the name of a module")
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = str(pathlib.Path(arguments[0]).resolve().parent)
        runpy.run_path(arguments[0], run_name="__main__")


main()
