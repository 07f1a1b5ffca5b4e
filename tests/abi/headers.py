#!/usr/bin/env python3
"""Checks the public headers with a compiler, as C++17 and without CUDA.

    headers.py [--compiler COMPILER] [--include FOLDER] [--definitions]

Each header compiles alone, without warnings. Together they have the public names of TensorRT 10.16,
which are counted: each name of tensorrt_10_16_names.txt becomes a line of a program that uses it,
functions with their types, and the lines at which the compiler finds errors are those of absent
names. --definitions prints that program instead.
"""

import argparse
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wnon-virtual-dtor", "-Werror"]
FUNCTION = re.compile(r"(?P<returns>.*?)\s*(?P<name>[\w:]+)\((?P<arguments>.*)\)(?P<const> const)?$")


def namespace_of(name):
    """`nvinfer1` of `nvinfer1::v_1_0::IPluginV3`: what unqualified types are looked up in."""
    return name.split("::")[0] if "::" in name else ""


def inside(namespace, text):
    return f"namespace {namespace} {{ {text} }}" if namespace else text


def pointer(scope, declaration):
    """The type of a pointer to what is declared, and its name."""
    parts = FUNCTION.match(declaration)
    return f"{parts['returns']} ({scope}*)({parts['arguments']}){parts['const'] or ''}", parts["name"]


def parameters(arguments):
    types = [kind.strip() for kind in arguments.split(",") if kind.strip()]
    return ", ".join(f"{kind} a{i}" for i, kind in enumerate(types)), ", ".join(f"a{i}" for i in range(len(types)))


def use_of_member(cls, member, number):
    """C++ that uses one member, in a class derived from its own: it may be protected."""
    own = f"Uses{number}"
    kind, _, rest = member.partition(" ")
    body = ""
    if kind == "constructor":
        taken, given = parameters(rest.strip("()"))
        body = f"{own}({taken}) : Base({given}) {{}}"
    elif kind == "field":
        body = f"auto use() {{ return &{own}::{rest}; }}"
    elif kind == "constant":
        body = f"auto use() {{ return {own}::{rest}; }}"
    elif kind == "static":
        wanted, name = pointer("", rest)
        body = f"auto use() {{ return static_cast<{wanted}>(&{own}::{name}); }}"
    else:
        wanted, name = pointer("Base::", member)
        body = f"auto use() {{ return static_cast<{wanted}>(&{own}::{name}); }}"
    return inside(namespace_of(cls), f"struct {own} : {cls} {{ using Base = {cls}; {body} }};")


def listed(lines):
    """(name, C++ that uses it) of every name."""
    cls = None
    for number, line in enumerate(lines):
        if not line or line.startswith(("#", "[")):
            continue
        kind, _, rest = line.strip().partition(" ")
        if kind == "enum":
            enum, _, values = rest.partition(": ")
            enum = f"{cls}::{enum}" if line.startswith(" ") else enum
            yield enum, f"using Enum{number} = {enum};"
            for value in values.split():
                yield f"{enum}::{value}", f"constexpr auto {value}{number} = {enum}::{value};"
        elif kind in ("using", "class"):
            cls = rest if kind == "class" else cls
            yield rest, f"using Type{number} = {rest};"
        elif kind == "function":
            wanted, name = pointer("", rest)
            called = f"{name}<{namespace_of(name)}::EnumMaxOf>" if name.endswith("EnumMax") else name
            yield name, inside(namespace_of(name), f"auto use{number} = static_cast<{wanted}>(&{called});")
        else:
            name = cls.rsplit("::", 1)[1] if kind == "constructor" else \
                rest if kind in ("field", "constant") else FUNCTION.match(line.strip())["name"]
            yield f"{cls}::{name}", use_of_member(cls, line.strip(), number)


def program(names, headers):
    """The program, and the number of the line before the first name."""
    begin = [f'#include "{header}"' for header in headers]
    begin += ["namespace nvinfer1 { using EnumMaxOf = DataType; }",
              "namespace nvonnxparser { using EnumMaxOf = ErrorCode; }"]
    return "\n".join(begin + [text for _, text in names]) + "\n", len(begin)


def compiled(text, options, *flags):
    """What the compiler has to say about a program; nothing: it takes it."""
    done = subprocess.run([options.compiler, "-std=c++17", "-fsyntax-only", *flags, "-x", "c++", "-I",
                           options.include, "-"], input=text, capture_output=True, text=True)
    return done.stderr


def problems_alone(options):
    for header in sorted(pathlib.Path(options.include).glob("*.h")):
        said = compiled(f'#include "{header.name}"\n', options, *WARNINGS)
        if said:
            yield f"{header.name} alone:\n{said}"


def absent_names(names, text, before, options):
    said = compiled(text, options, "-w")
    lines = {int(line) for line in re.findall(r"^<stdin>:(\d+):", said, re.MULTILINE)}
    if said and not lines:
        raise SystemExit(said)
    return [names[line - before - 1][0] for line in sorted(lines) if line > before]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--compiler", default="c++")
    arguments.add_argument("--include", default=str(FOLDER.parents[1] / "include"))
    arguments.add_argument("--definitions", action="store_true")
    options = arguments.parse_args()

    lines = (FOLDER / "tensorrt_10_16_names.txt").read_text(encoding="utf-8").splitlines()
    names = list(listed(lines))
    text, before = program(names, [line.strip("[]") for line in lines if line.startswith("[")])
    if options.definitions:
        print(text, end="")
        return 0
    problems = list(problems_alone(options))
    absent = absent_names(names, text, before, options)
    problems += [f"absent: {name}" for name in absent]
    print("\n".join(problems))
    print(f"{len(names) - len(absent)} of the {len(names)} public C++ names of TensorRT 10.16 are there")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
