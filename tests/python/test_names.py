"""The names of TensorRT's Python API: each is there, or absent_names.txt says why not."""

import inspect
import pathlib
import re

import pytest

import camshaft as trt

FOLDER = pathlib.Path(__file__).parent
NESTED = {"Severity": "ILogger.Severity"}  # listed by their last name


def listed():
    """(class or enum, member or None, keywords) of every line."""
    cls = None
    for line in (FOLDER / "tensorrt_10_16_names.txt").read_text().splitlines():
        if line.startswith("enum "):
            name, members = line[5:].split(": ")
            yield name, None, ()
            yield from ((name, member, ()) for member in re.findall(r"[\w]+(?=,|$)", members))
        elif line.startswith("class "):
            cls = line.split()[1]
            yield cls, None, ()
        elif line.startswith("  "):
            member, arguments = re.match(r"\s+(\w+)(?:\((.*)\))?", line).groups()
            yield cls, member, tuple(re.findall(r"(\w+)(?==|,|$)", re.sub(r"=[^,]*", "", arguments or "")))


def absent():
    lines = (FOLDER / "absent_names.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith("#"))


def find(cls, member):
    thing = trt
    for part in NESTED.get(cls, cls).split(".") + ([member] if member else []):
        thing = getattr(thing, part, None)
        if thing is None and not part.startswith("__"):
            return None
    return thing


def full_name(cls, member):
    return f"{cls}.{member}" if member else cls


def has(cls, member):
    owner = find(cls, None)
    return owner is not None and (member is None or hasattr(owner, member))


def test_names_are_there_or_have_a_reason():
    names = {full_name(cls, member): has(cls, member) for cls, member, _ in listed()}
    missing = {name for name, there in names.items() if not there}
    without_classes = {name for name in missing if name.split(".")[0] not in absent() or "." not in name}
    assert without_classes == {name for name in absent() if "(" not in name}
    assert len(missing) <= 0.01 * len(names)
    assert all(len(reason) > 20 for reason in absent().values())


def keywords_of(function):
    if hasattr(function, "__nb_signature__"):
        return {word for signature in function.__nb_signature__ for word in re.findall(r"(\w+):", signature[0])}
    return {name.rstrip("_") for name in inspect.signature(function).parameters}


@pytest.mark.parametrize("cls", sorted({cls for cls, _, keywords in listed() if keywords}))
def test_keywords_are_those_of_tensorrt(cls):
    for owner, member, keywords in listed():
        name = full_name(cls, member)
        if owner != cls or cls in absent() or name in absent() or member == "__init__":
            continue
        wanted = {keyword for keyword in keywords if f"{name}({keyword})" not in absent()}
        if wanted:
            assert wanted <= keywords_of(getattr(find(cls, None), member)), name
