#!/usr/bin/env python3
"""Commit messages: a subject of at most 72 characters, and a blank line before anything else.

    scripts/check_commits.py [RANGE]          the commits of a range; the last 50 unless given
    scripts/check_commits.py --message FILE   one message, for a commit-msg hook
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LONGEST_SUBJECT = 72


def problems_of(message):
    lines = message.splitlines() or [""]
    if not lines[0].strip():
        yield "has no subject"
    if len(lines[0]) > LONGEST_SUBJECT:
        yield f"has a subject of {len(lines[0])} characters, and {LONGEST_SUBJECT} are the most"
    if len(lines) > 1 and lines[1].strip():
        yield "has no blank line after its subject"


def messages_of(revisions):
    text = subprocess.run(["git", "log", "--no-merges", "-z", "--format=%h%n%B", *revisions],
                          cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for commit in text.split("\0"):
        if commit:
            yield commit.split("\n", 1)


def main(arguments):
    if arguments[:1] == ["--message"]:
        text = pathlib.Path(arguments[1]).read_text(encoding="utf-8")
        written = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        messages = [("the message", written)]
    elif not (ROOT / ".git").exists():
        return 0  # an archive of the sources has no history
    else:
        messages = messages_of(arguments or ["-50"])
    found = [f"{name}: {problem}" for name, message in messages
             for problem in problems_of(message)]
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
