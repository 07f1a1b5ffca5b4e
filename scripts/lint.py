#!/usr/bin/env python3
"""Checks that a machine can make of sources: layout, length of lines and files, names, likely slips.

    scripts/lint.py [--fix] [--build build] [PATH...]

--fix lets clang-format write the layout. clang-tidy (.clang-tidy) reads each file as the build
folder's compile_commands.json compiles it; what it found clean is remembered in the user's cache
folder, so that a second run takes seconds: a source with the headers that it answers for, since a
change of one that all include would otherwise have all read again. PATHs limit what is checked.
Both programs come from scripts/requirements.txt, in one version for everybody.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CPP = {".cpp", ".h", ".cuh", ".cu"}
OTHERS = {".py", ".sh", ".def", ".cmake", ".fbs"}
LONGEST_LINE = 100
LONGEST_PYTHON_LINE = 120
LONGEST_FILE = 500
# The filter of .clang-tidy, of this tree alone: its path may have such names in it too.
OWN_HEADERS = rf"^{re.escape(str(ROOT))}/(src|tools|python|tests|examples|integrations)/.*\.h$"
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def tracked_files(paths):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *paths],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in listed.splitlines() if (ROOT / line).is_file()]


def tool(name):
    beside = pathlib.Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else name


def check_lengths(files):
    """Lines and files that are too long to read."""
    for path in files:
        if path.suffix not in CPP | OTHERS:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        name = path.relative_to(ROOT)
        longest = LONGEST_PYTHON_LINE if path.suffix == ".py" else LONGEST_LINE
        comment = "//" if path.suffix in CPP else "#"
        for number, line in enumerate(lines, 1):
            if len(line) > longest and not is_data(line, comment):
                yield f"{name}:{number}: {len(line)} characters, and {longest} are the most"
        if len(lines) > LONGEST_FILE and path.suffix in CPP | {".py"}:
            yield f"{name}: {len(lines)} lines, and {LONGEST_FILE} are the most; split it"


def is_data(line, comment):
    """A graph's text or another literal that breaking would make harder to read."""
    return not line.lstrip().startswith(comment) and ('"' in line or "'" in line)


def check_layout(files, fix):
    sources = [str(path) for path in files if path.suffix in CPP]
    if not sources:
        return
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    done = subprocess.run([tool("clang-format"), *mode, *sources], cwd=ROOT, capture_output=True,
                          text=True)
    for line in done.stderr.splitlines():
        if "error:" in line or "rror" in line.split(":")[0]:
            yield line.replace(f"{ROOT}/", "").replace("code should be clang-formatted",
                                                       "not as clang-format lays it out")


@functools.cache
def includes(file):
    """What a file names of this project."""
    found = set()
    for name in INCLUDE.findall(file.read_text(encoding="utf-8", errors="replace")):
        named = (folder / name for folder in (file.parent, ROOT / "src", ROOT / "include", ROOT))
        header = next((each for each in named if each.is_file()), None)
        if header:
            found.add(header.resolve())
    return found


class Tidy:
    """clang-tidy over what a build compiles, with a memory of what was clean."""

    def __init__(self, build):
        commands = json.loads((build / "compile_commands.json").read_text())
        self.commands = {source: self.for_clang(entry, source)
                         for entry in commands for source in self.sources(entry)}
        self.database = build / "lint"
        self.database.mkdir(exist_ok=True)
        (self.database / "compile_commands.json").write_text(json.dumps(
            [{"file": str(file), "directory": str(build), "arguments": arguments}
             for file, arguments in self.commands.items()]))
        self.rules = hashlib.sha256()
        for rules in sorted([ROOT / ".clang-tidy", *ROOT.glob("*/.clang-tidy")]):
            self.rules.update(rules.read_bytes())
        self.rules.update(subprocess.run([tool("clang-tidy"), "--version"], capture_output=True,
                                         check=True).stdout)
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
        self.clean = cache / "camshaft" / "clang-tidy"
        self.clean.mkdir(parents=True, exist_ok=True)
        self.answers = self.answers_for()

    @staticmethod
    def sources(entry):
        """What is compiled: a batch (cmake/Folder.cmake) stands for the sources it includes."""
        file = pathlib.Path(entry["file"]).resolve()
        if file.parent.name != "batches":
            return [file]
        folders = [pathlib.Path(word[2:]) for word in shlex.split(entry["command"])
                   if word.startswith("-I")]
        return [next(folder / source for folder in folders if (folder / source).exists())
                for source in INCLUDE.findall(file.read_text())]

    @staticmethod
    def for_clang(entry, source):
        """What says how to read the file: GCC's warnings and precompiled headers are none of that."""
        words = shlex.split(entry["command"])
        said = [word for word in words if word.startswith(("-D", "-I", "-std="))]
        for option, folder in zip(words, words[1:]):
            if option == "-isystem":
                said += [option, folder]
        return ["c++", *said, "-c", str(source)]

    def answers_for(self):
        """The headers that each source is to be read again for: its own, x.h for x.cpp, and of those
        that have no source the ones that it is the first to include."""
        answers, taken = {path: [] for path in self.commands}, set()
        for path in sorted(self.commands):
            own = path.with_suffix(".h")
            if own.is_file():
                answers[path].append(own)
                taken.add(own)
        for path in sorted(self.commands):
            for included in sorted(self.included(path)):
                if included not in taken and included.is_relative_to(ROOT):
                    answers[path].append(included)
                    taken.add(included)
        return answers

    def included(self, path):
        """What a file includes of this project, directly and through others."""
        found, waiting = set(), [path]
        while waiting:
            fresh = includes(waiting.pop()) - found - {path}
            found |= fresh
            waiting += fresh
        return found

    def key(self, path):
        whole = self.rules.copy()
        said = [word for word in self.commands[path] if word.startswith("-D")]
        whole.update(" ".join(said).replace(str(ROOT), "").encode())
        for file in (path, *self.answers[path]):
            whole.update(hashlib.sha256(file.read_bytes()).digest())
        return self.clean / whole.hexdigest()

    def check(self, path):
        done = subprocess.run([tool("clang-tidy"), "-p", str(self.database), "--quiet",
                               f"--header-filter={OWN_HEADERS}", str(path)], cwd=ROOT,
                              capture_output=True, text=True)
        found = [line.replace(f"{ROOT}/", "") for line in done.stdout.splitlines()
                 if " error: " in line or " warning: " in line]
        if done.returncode != 0 and not found:
            found = [f"{path.relative_to(ROOT)}: clang-tidy: {done.stderr.strip()[-300:]}"]
        if not found:
            self.key(path).touch()
        return found

    def run(self, files, jobs):
        compiled = [path for path in files if path in self.commands]
        fresh = [path for path in compiled if not self.key(path).exists()]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for number, found in enumerate(pool.map(self.check, fresh), 1):
                if sys.stderr.isatty() or number % 100 == 0:
                    print(f"\rlint: {number} of {len(fresh)} files", end="", file=sys.stderr)
                yield from found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    files = tracked_files(options.paths)
    problems = [*check_layout(files, options.fix), *check_lengths(files)]
    if (options.build / "compile_commands.json").exists():
        problems += Tidy(options.build.resolve()).run(files, options.jobs)
    else:
        print(f"lint: {options.build} is not configured, so clang-tidy was left out",
              file=sys.stderr)
    problems = sorted(set(problems))
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"lint: {len(files)} files, {len(problems)} problems"
          + ("" if not problems or options.fix else "; scripts/lint.py --fix mends the layout"))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
