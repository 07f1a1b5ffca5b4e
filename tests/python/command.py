"""Calling the command `camshaft` as a program, and on a terminal."""

import json
import os
import pathlib
import pty
import subprocess
import sys

import camshaft

PACKAGES = str(pathlib.Path(camshaft.__file__).parents[1])
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([PACKAGES, os.environ.get("PYTHONPATH", "")])}


def camshaft_command(*arguments, cwd=None, module="camshaft"):
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
