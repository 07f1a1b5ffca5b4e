"""Calling the command `camshaft`: in this process, as a program, and on a terminal."""

import contextlib
import io
import json
import os
import pathlib
import pty
import subprocess
import sys
from typing import NamedTuple

import camshaft
from camshaft.cli.main import main

PACKAGES = str(pathlib.Path(camshaft.__file__).parents[1])
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([PACKAGES, os.environ.get("PYTHONPATH", "")])}


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def camshaft_command(*arguments, cwd=None):
    """The command in this process, which takes a tenth of a program's time."""
    stdout, stderr, here = io.StringIO(), io.StringIO(), os.getcwd()
    os.chdir(cwd or here)
    try:
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            status = main(list(map(str, arguments)))
    except SystemExit as exit:
        status = exit.code or 0
    finally:
        os.chdir(here)
    return Done(status, stdout.getvalue(), stderr.getvalue())


def as_program(*arguments, module="camshaft", cwd=None):
    return subprocess.run([sys.executable, "-m", module, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, env=ENVIRONMENT, cwd=cwd)


def succeed(*arguments, **keywords):
    """What it prints."""
    done = camshaft_command(*arguments, **keywords)
    assert done.returncode == 0, done.stderr
    return done.stdout


def as_json(*arguments, **keywords):
    return json.loads(succeed(*arguments, "--json", **keywords))


def refusal(*arguments, status=1, **keywords):
    """The sentence it fails with."""
    done = camshaft_command(*arguments, **keywords)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr.strip()


def on_terminal(*arguments, cwd=None):
    """All that a terminal of 80 columns is sent."""
    pid, terminal = pty.fork()
    if pid == 0:
        if cwd:
            os.chdir(cwd)
        os.execve(sys.executable, [sys.executable, "-m", "camshaft", *map(str, arguments)],
                  {**ENVIRONMENT, "COLUMNS": "80", "TERM": "xterm"})
    received = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # Linux says so when the program has ended
            break
        if not part:
            break
        received += part
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, received.decode()
    return received.decode()
