"""Values that can be written in more than one way: shapes, sizes in bytes, lists of words."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any, Dict, List, Literal, Tuple, Union

import pydantic

from .base import Settings

UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_size(value: Any) -> Any:
    """Bytes: 4096, "512M" or "1.5 GiB"."""
    if not isinstance(value, str):
        return value
    found = re.fullmatch(r"([0-9.]+)\s*([BKMG]?)(?:i?B)?", value.strip(), re.IGNORECASE)
    if not found or found[1].count(".") > 1 or found[1] == ".":
        raise ValueError("should be a number of bytes, such as 4096, 512M or 1.5G")
    return int(float(found[1]) * UNITS[found[2].upper()])


def parse_shape(value: Any) -> Any:
    """(1, 3, 224, 224), "1x3x224x224"; "scalar" has no sizes."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    if not isinstance(value, str):
        return value
    if value in ("scalar", ""):
        return ()
    try:
        return tuple(int(size) for size in value.split("x"))
    except ValueError:
        raise ValueError("should be a shape such as 1x3x224x224") from None


def parse_words(value: Any) -> Any:
    """A list, or its items in one text with commas between."""
    return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


def parse_numbers(value: Any) -> Any:
    """Likewise, or one number by itself."""
    return [value] if isinstance(value, (int, float)) else parse_words(value)


def parse_interval(value: Any) -> Any:
    """(-1.5, 1.5), "-1.5,1.5", or the largest of both signs."""
    value = parse_words(value)
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    try:
        if isinstance(value, (list, tuple)) and len(value) != 2:
            raise ValueError
        return [-abs(float(value)), abs(float(value))] if isinstance(value, (int, float, str)) else value
    except ValueError:
        raise ValueError("should be a lowest and a highest value such as -1.5,1.5") from None


# `format` tells readers in other languages (integrations/settings) which of these ways there are.
def _format(name: str) -> Any:
    return pydantic.Field(json_schema_extra={"format": name})


def parse_path(value: Any) -> Any:
    """A text, or an object of pathlib."""
    return os.fspath(value) if isinstance(value, os.PathLike) else value


File = Annotated[str, pydantic.BeforeValidator(parse_path)]
Size = Annotated[int, pydantic.Field(ge=0),
                 pydantic.BeforeValidator(parse_size, json_schema_input_type=Union[int, str]), _format("bytes")]
Interval = Annotated[Tuple[float, float], pydantic.BeforeValidator(
    parse_interval, json_schema_input_type=Union[Tuple[float, float], float, str]), _format("interval")]
Length = Annotated[int, pydantic.Field(ge=0)]
Shape = Annotated[Tuple[Length, ...],
                  pydantic.BeforeValidator(parse_shape, json_schema_input_type=Union[List[int], int, str]),
                  _format("shape")]
Words = Annotated[Tuple[str, ...], pydantic.BeforeValidator(parse_words, json_schema_input_type=Union[List[str], str])]
Numbers = Annotated[Tuple[float, ...],
                    pydantic.BeforeValidator(parse_numbers, json_schema_input_type=Union[List[float], float, str])]
Type = Literal["fp32", "fp16", "bf16", "fp8", "fp4", "int64", "int32", "int8", "int4", "uint8", "bool"]
Types = Annotated[Tuple[Type, ...],
                  pydantic.BeforeValidator(parse_words, json_schema_input_type=Union[List[Type], str])]
Format = Literal["linear", "chw2", "chw4", "chw16", "chw32", "hwc", "hwc8", "hwc16", "dhwc", "dhwc8", "cdhw32"]
Formats = Annotated[Tuple[Format, ...],
                    pydantic.BeforeValidator(parse_words, json_schema_input_type=Union[List[Format], str])]


class ShapeRange(Settings):
    """Shapes from the smallest to the largest."""

    min: Shape
    """the smallest"""
    opt: Shape
    """that kernels are chosen for; max, where it is left out"""
    max: Shape
    """the largest, which memory is planned for"""

    @pydantic.model_validator(mode="after")
    def _check(self) -> ShapeRange:
        if not len(self.min) == len(self.opt) == len(self.max):
            raise ValueError(f"has min, opt and max of different ranks: {self}")
        if not all(low <= best <= high for low, best, high in zip(self.min, self.opt, self.max)):
            raise ValueError(f"should have min <= opt <= max in every dimension: {self}")
        return self

    @pydantic.model_serializer(mode="wrap")
    def _serialize(self, plainly: Any) -> Any:
        return list(self.opt) if self.min == self.max else plainly(self)

    def __str__(self) -> str:
        shapes = ["x".join(map(str, shape)) or "scalar" for shape in (self.min, self.opt, self.max)]
        return shapes[0] if len(set(shapes)) == 1 else "..".join(shapes)


def parse_range(value: Any) -> Any:
    """One shape for all; "min..max" or "min..opt..max"; or keys, of which min and max may be left out."""
    if isinstance(value, str) and ".." in value:
        shapes = value.split("..")
        if len(shapes) > 3:
            raise ValueError("should be min..max or min..opt..max")
        return {"min": shapes[0], "opt": shapes[-2 if len(shapes) == 3 else -1], "max": shapes[-1]}
    if isinstance(value, (str, int, list, tuple)):
        return {"min": value, "opt": value, "max": value}
    if isinstance(value, dict) and value:
        given = value.get("opt", value.get("max", value.get("min", ())))
        return {"min": given, "opt": given, "max": given, **value}
    return value


Range = Annotated[ShapeRange, pydantic.BeforeValidator(
    parse_range, json_schema_input_type=Union[Dict[Literal["min", "opt", "max"], Shape], List[int], int, str]),
    _format("shapes")]
