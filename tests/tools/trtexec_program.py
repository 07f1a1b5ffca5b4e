"""trtexec as a program, for the tests that run it."""

import os
import pathlib
import subprocess

BUILD = pathlib.Path(__file__).parents[2] / "build"
TRTEXEC = BUILD / "bin/trtexec"
EMULATED = BUILD / "lib/libcamshaft_cuda_emulated.so"  # a GPU where there is none
QUICK = ["--iterations=3", "--duration=0", "--warmUp=0"]


def run(*args, **options):
    """On the CPU, also where there is a GPU."""
    return run_anywhere("--cpu", *args, **options)


def run_anywhere(*args, cwd=None, **environment):
    return subprocess.run([TRTEXEC, *args], capture_output=True, text=True, timeout=120, cwd=cwd,
                          env=os.environ | environment)
