#!/usr/bin/env python3
"""Writes a C++ test of the public headers against a listing of TensorRT's binary interface.

    generate.py LISTING TEST

For each virtual function of the listing the test names a pointer to it, which proves its signature,
with the slot it must have; for each field its place; for each class its size; for each enumerator
its value; and for each function of the libraries a pointer of its type. abi_test.h compares.
"""

import contextlib
import pathlib
import re
import sys

POINTER = 8
SIZES = {"int": 4, "unsigned int": 4, "float": 4, "bool": 1, "unsigned char": 1, "char": 1,
         "long": 8, "unsigned long": 8, "double": 8}


class Class:
    def __init__(self, name, size, base):
        self.name, self.size, self.base = name, size, base
        self.slots = list(base.slots) if base else []  # signatures in the order of the table
        self.virtuals = []  # (signature, slot)
        self.fields = []  # (type, name, offset)
        self.end = base.size if base else 0
        self.alignment = base.alignment if base else 1

    def add_virtual(self, signature):
        if not self.slots:
            self.end = self.alignment = POINTER
        if signature == "~":
            if "~" not in self.slots:
                self.slots += ["~", "~ and delete"]
            return
        key = re.sub(r"^.*?(\w+\()", r"\1", signature)  # what a function returns overloads nothing
        if key not in self.slots:
            self.slots.append(key)
        self.virtuals.append((signature, self.slots.index(key)))

    def add_field(self, kind, name, classes):
        size, alignment = layout(kind, classes)
        offset = -(-self.end // alignment) * alignment
        self.fields.append((kind, name, offset))
        self.end, self.alignment = offset + size, max(self.alignment, alignment)


def layout(kind, classes):
    """Size and alignment of a type."""
    array = re.match(r"(.*)\[(\d+)\]$", kind)
    if array:
        size, alignment = layout(array[1], classes)
        return size * int(array[2]), alignment
    if kind.endswith("*"):
        return POINTER, POINTER
    if kind in classes:
        return classes[kind].size, classes[kind].alignment
    size = SIZES.get(kind, 4)  # else an enumeration
    return size, size


def read(listing):
    """The listing's classes by name, enumerations as (name, type, enumerators), and functions."""
    classes, enums, functions = {}, [], []
    current = None
    for line in listing.splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if line.startswith("class "):
            base = classes[words[5]] if len(words) > 5 else None
            current = classes[words[1]] = Class(words[1], int(words[3]), base)
        elif line.startswith("enum "):
            current = (words[1], " ".join(words[3:]), [])
            enums.append(current)
        elif line.startswith("function "):
            functions.append(line.removeprefix("function "))
        elif words[0] == "virtual":
            current.add_virtual(" ".join(words[1:]))
        elif words[0] == "field":
            current.add_field(" ".join(words[1:-1]), words[-1], classes)
        else:
            current[2].append((words[0], words[2]))
    return classes, enums, functions


def pointer_type(signature, scope):
    """`long f(int) const` as ("f", "long (Scope::*)(int) const")."""
    returns, name, arguments = re.match(r"(.*?)([\w:]+)(\(.*)$", signature).groups()
    return name, f"{returns.strip()} ({scope}*){arguments}"


def main():
    listing, test = map(pathlib.Path, sys.argv[1:])
    with test.open("w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        print_test(*read(listing.read_text(encoding="utf-8")))


def print_test(classes, enums, functions):
    print('#include "abi_test.h"\n')
    expected = []
    instances = []
    for cls in classes.values():
        print(f'static_assert(sizeof({cls.name}) == {cls.size}, "size of {cls.name}");')
        for signature, slot in cls.virtuals:
            name, kind = pointer_type(signature, f"{cls.name}::")
            instances.append(f"template struct binary_interface::At<{len(expected)}, {kind}, &{cls.name}::{name}>;")
            expected.append((f"{cls.name}::{signature}", slot))
        for kind, name, offset in cls.fields:
            array = re.match(r"(.*)(\[\d+\])$", kind)
            member = f"{array[1]} ({cls.name}::*){array[2]}" if array else f"{kind} {cls.name}::*"
            instances.append(f"template struct binary_interface::At<{len(expected)}, {member}, &{cls.name}::{name}>;")
            expected.append((f"{cls.name}::{name}", offset))
    for name, kind, enumerators in enums:
        print(f'static_assert(std::is_same_v<std::underlying_type_t<{name}>, {kind}>, "type of {name}");')
        for enumerator, value in enumerators:
            print(f"static_assert(static_cast<int>({name}::{enumerator}) == {value}, "
                  f'"{name}::{enumerator}");')
    print("\nconst std::vector<binary_interface::Expected> binary_interface::kExpected = {")
    for name, place in expected:
        print(f'    {{"{name}", {place}}},')
    print("};\n")
    print("\n".join(instances))
    print("\nconst std::vector<binary_interface::Function> binary_interface::kFunctions = {")
    for function in functions:
        name, kind = pointer_type(function, "")
        print(f"    reinterpret_cast<binary_interface::Function>(static_cast<{kind}>(&{name})),")
    print("};")


if __name__ == "__main__":
    main()
