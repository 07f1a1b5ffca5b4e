"""camshaft doctor: what this machine has, what will be used, what is missing and how to get it."""

from __future__ import annotations

import argparse
from typing import Any

from .output import bold, show

NAME = "doctor"
HELP = "say what this machine has and lacks"
MARKS = {"ok": "✓", "missing": "–", "limit": "!", "broken": "✗"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-self-test", action="store_true", help="build and run nothing")


def run(arguments: argparse.Namespace) -> int:
    from ..machine import examine

    report = examine(self_test=not arguments.no_self_test)
    show(arguments, report, lambda: _text(report))
    return 1 if report["broken"] else 0


def _text(report: dict[str, Any]) -> str:
    lines = []
    for section in report["sections"]:
        lines += ["", bold(section["title"])]
        width = max(len(check["name"]) for check in section["checks"])
        for check in section["checks"]:
            lines += _check_lines(check, width)
    return "\n".join([*lines, "", _verdict(report)]).lstrip("\n")


def _check_lines(check: dict[str, str], width: int) -> list[str]:
    """One line says what is there and what for; those below it where, or what is lost and what helps."""
    use = f"for {check['use']}" if check["use"] else ""
    below = [check["path"]]
    if check["state"] != "ok":
        below += [use, f"without it: {check['loss']}" if check["loss"] else "",
                  f"→ {check['remedy']}" if check["remedy"] else ""]
    return [f"{MARKS[check['state']]} {check['name']:<{width}}  {check['found']}"
            + (f", {use}" if use and check["state"] == "ok" else ""),
            *(" " * (width + 4) + line for line in below if line)]


def _verdict(report: dict[str, Any]) -> str:
    if report["broken"]:
        return f"Broken: {', '.join(report['broken'])}."
    devices = " and ".join(report["devices"])
    return f"Nothing is broken. Engines run on the {devices}." if devices else "Nothing is broken."
