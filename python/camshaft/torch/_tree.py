"""Structures of arguments and results, as plain data: what torch's pytrees are, without torch.

A description is a leaf's number, ``{"tuple": [...]}``, ``{"list": [...]}``, ``{"dict": {...}}`` or None.
"""

from __future__ import annotations

from collections.abc import Mapping


def describe(structure):
    """Of a structure whose leaves are numbers."""
    if isinstance(structure, Mapping):  # transformers' outputs too
        return {"dict": {str(key): describe(value) for key, value in structure.items()}}
    if isinstance(structure, (tuple, list)):
        kind = "list" if isinstance(structure, list) else "tuple"
        return {kind: [describe(value) for value in structure]}
    if structure is None or isinstance(structure, int):
        return structure
    raise TypeError(f"{type(structure).__name__} among arguments or results cannot be described")


class Results(dict):
    """Results by name, which are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def restore(description, leaves):
    """The structure with its leaves in place."""
    if description is None or isinstance(description, int):
        return None if description is None else leaves[description]
    kind, parts = next(iter(description.items()))
    if kind == "dict":
        return Results((key, restore(part, leaves)) for key, part in parts.items())
    values = [restore(part, leaves) for part in parts]
    return values if kind == "list" else tuple(values)


def flatten(description, value, leaves, path="the call"):
    """Puts what the structure holds into `leaves`, by number."""
    if isinstance(description, int):
        leaves[description] = value
        return
    if description is None:
        if value is not None:
            raise TypeError(f"{path}: None was compiled, and {type(value).__name__} is given")
        return
    kind, parts = next(iter(description.items()))
    if kind == "dict":
        if not isinstance(value, Mapping) or set(value) != set(parts):
            given = ", ".join(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
            raise TypeError(f"{path}: ({', '.join(parts)}) was compiled, and ({given}) is given")
        for key, part in parts.items():
            flatten(part, value[key], leaves, f"{path}, '{key}'")
        return
    if not isinstance(value, (tuple, list)) or len(value) != len(parts):
        given = len(value) if isinstance(value, (tuple, list)) else type(value).__name__
        raise TypeError(f"{path}: {len(parts)} values were compiled, and {given} are given")
    for i, (part, item) in enumerate(zip(parts, value)):
        flatten(part, item, leaves, f"{path}, value {i}")


def flatten_call(description, arguments, keywords):
    """The leaves of a call, in the order of their numbers."""
    positional, named = description["tuple"]
    leaves: dict = {}
    flatten(positional, arguments, leaves, "arguments")
    flatten(named, keywords, leaves, "keywords")
    return [leaves[i] for i in sorted(leaves)]
