"""Runs a document's snippets, in their order, in the current folder: page.py DOCUMENT.

Python snippets share one namespace, as if they were typed one after another. Commands run when all of a
block's lines call camshaft or trtexec. C++ with a main() is compiled, linked and run. A comment before a
block can keep it from running, and must say why, or name the packages it needs, or a GPU:

    <!-- not run: it is for an interactive shell -->
    <!-- needs: gpu, torch -->

Programs and libraries are those of build, or of the folder in CAMSHAFT_BUILD (scripts/gpu_env.sh).
"""

import functools
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import camshaft.machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CAMSHAFT_BUILD", ROOT / "build"))
BLOCK = re.compile(r"^(?:<!-- (?P<how>not run|needs): (?P<what>[^>]*) -->\n)?```(?P<language>python|sh|cpp)\n"
                   r"(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(\S*/)?(camshaft\b|camshaft-\w+|trtexec\b)")


def blocks(text):
    """(line, language, code, reason not to run it or None) of each."""
    for match in BLOCK.finditer(text):
        reason = None
        if match["how"] == "not run":
            reason = match["what"]
        elif match["how"] == "needs":
            missing = [name for name in match["what"].split(", ") if not is_here(name)]
            reason = f"there is no {missing[0]}" if missing else None
        if reason is None and not runs(match["language"], match["code"]):
            reason = "it is a part of something"
        yield text.count("\n", 0, match.start("code")) + 1, match["language"], match["code"], reason


@functools.cache
def is_here(name):
    if name == "gpu":
        return "GPU" in camshaft.machine.examine(self_test=False)["devices"]
    return importlib.util.find_spec(name) is not None


def runs(language, code):
    if language == "sh":
        lines = [line for line in code.replace("\\\n", " ").splitlines() if line.strip()]
        return all(COMMAND.match(line) for line in lines)
    return language != "cpp" or "int main" in code


def shell(code):
    # The programs of this build, whatever folder a page says they are in.
    code = re.sub(r"^(build/bin/|\.venv/bin/)", "", code, flags=re.MULTILINE)
    command = f'camshaft() {{ "{sys.executable}" -m camshaft "$@"; }}\n'  # of this build too
    subprocess.run(["bash", "-euo", "pipefail", "-c", command + code], check=True)


def cpp(code):
    pathlib.Path("program.cpp").write_text(code, encoding="utf-8")
    library = BUILD / "lib"
    subprocess.run(["c++", "-std=c++17", f"-I{ROOT}/include", "program.cpp", "-o", "program", f"-L{library}",
                    "-lcamshaft", f"-Wl,-rpath,{library}"], check=True)
    subprocess.run(["./program"], check=True)


def main():
    path = pathlib.Path(sys.argv[1])
    os.environ["PATH"] = os.pathsep.join([str(pathlib.Path(sys.executable).parent), str(BUILD / "bin"),
                                          os.environ["PATH"]])
    namespace = {"__name__": "__main__"}
    for line, language, code, reason in blocks(path.read_text(encoding="utf-8")):
        if reason is not None:
            continue
        print(f"{path.name}:{line}", flush=True)
        if language == "python":
            # Empty lines in front, so that a traceback has the document's lines.
            exec(compile("\n" * line + code, path, "exec"), namespace)  # noqa: S102 - our own documents
        else:
            {"sh": shell, "cpp": cpp}[language](code)


if __name__ == "__main__":
    main()
