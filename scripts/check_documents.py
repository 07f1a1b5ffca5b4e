#!/usr/bin/env python3
"""Documents that are true: what they name exists, and what they show compiles.

    scripts/check_documents.py

- paths of the repository, in backticks or as links, lead to a file or folder;
- C++ and Python programs compile; other C++ is a quotation, found in the sources;
- pages of docs/ are in the site's menu (mkdocs.yml);
- commands name make targets, programs, scripts and flags that there are.
"""

import fnmatch
import functools
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = "src|tests|scripts|docs|include|python|tools|examples|benchmarks|cmake"
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
PATH = re.compile(rf"`((?:{FOLDERS})/[\w./*-]+)`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PLACEHOLDER = re.compile(r"[A-Z]{2,}")  # src/NAME.cpp stands for many
PROGRAMS = {"camshaft", "cd", "cmake", "ctest", "git", "ninja", "source", "taskset", "tritonserver", "trtexec"}


@functools.cache
def files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if (ROOT / name).is_file()]


def squeezed(code):
    """Without white space, breaks in strings and the comments that end lines: a quotation may have
    others."""
    code = re.sub(r"(?<=\S) +//.*", "", code)
    return "".join(code.split()).replace('""', "")


@functools.cache
def sources():
    return [squeezed((ROOT / name).read_text(encoding="utf-8")) for name in files()
            if name.endswith((".cpp", ".h", ".cuh", ".def"))]


@functools.cache
def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def exists(path):
    return ((ROOT / path).exists() or PLACEHOLDER.search(pathlib.PurePath(path).name)
            or any(fnmatch.fnmatch(name, path) for name in files()))


def check_names(document, text):
    for path in PATH.findall(text):
        if not exists(path.rstrip("/.")):
            yield f"names `{path}`, which is not there"
    for link in LINK.findall(text):
        if not (document.parent / link).exists():
            yield f"links to {link}, which is not there"


def check_cpp(code):
    if "#include" not in code:
        for part in re.split(r"…|\.\.\.", code):
            if not any(squeezed(part) in source for source in sources()):
                yield f"quotes '{part.strip().splitlines()[0]}', which no source has"
        return
    done = subprocess.run(["c++", "-std=c++17", "-fsyntax-only", "-Wall", "-Iinclude", "-xc++", "-"],
                          cwd=ROOT, input=code, capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        first = next(line for line in done.stderr.splitlines() if "error" in line or "warn" in line)
        yield f"has a C++ program that does not compile: {first}"


def check_python(code):
    try:
        compile(code, "a document", "exec")
    except SyntaxError as error:
        yield f"has Python that does not compile: {error}"


def check_command(words):
    while words and "=" in words[0]:
        words = words[1:]
    if not words:
        return
    program = pathlib.PurePath(words[0]).name
    if program == "make":
        for target in (word for word in words[1:] if "=" not in word and not word.startswith("-")):
            if not re.search(rf"^([\w ]* )?{re.escape(target)}( [\w ]*)?:", text_of("Makefile"),
                             re.MULTILINE):
                yield f"calls make {target}, which there is not"
    elif words[0].startswith("build"):
        known = any(re.search(rf"\b{re.escape(program.removesuffix('_test'))}\b", text_of(name))
                    for name in files() if name.endswith("CMakeLists.txt"))
        if not known and not program.endswith("_test"):
            yield f"calls {words[0]}, which no CMakeLists.txt builds"
    elif program in ("python", "python3"):
        for script in (word for word in words[1:] if re.match(rf"({FOLDERS})/.*\.py$", word)):
            if not exists(script):
                yield f"calls {script}, which is not there"
    elif words[0].startswith(("scripts/", "benchmarks/")):
        if not exists(words[0]):
            yield f"calls {words[0]}, which is not there"
    elif program not in PROGRAMS:
        yield f"calls {words[0]}; name it in {pathlib.Path(__file__).name} if people have it"
    if program == "trtexec":
        for flag in (word.split("=")[0] for word in words[1:] if word.startswith("--")):
            if not re.search(rf"^{flag}\b", text_of("tests/tools/trtexec_flags.txt"), re.MULTILINE):
                yield f"gives trtexec {flag}, which it does not have"


def check_shell(code):
    for line in code.replace("\\\n", " ").splitlines():
        for command in re.split(r"&&|\|", line):
            try:
                yield from check_command(shlex.split(command, comments=True))
            except ValueError as error:
                yield f"has a command that no shell reads: {line.strip()} ({error})"


CHECKS = {"cpp": check_cpp, "python": check_python, "sh": check_shell}


def main():
    found = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        problems = list(check_names(document, text))
        if document.parent.name == "docs" and not re.search(rf"\b{document.name}$", text_of("mkdocs.yml"), re.MULTILINE):
            problems.append("is not in the menu of mkdocs.yml")
        for _, language, code in FENCE.findall(text):
            problems += CHECKS.get(language, lambda code: [])(code)
        found += [f"{document.relative_to(ROOT)} {problem}" for problem in problems]
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
