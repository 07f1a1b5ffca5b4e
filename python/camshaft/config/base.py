"""What all settings share: files, and errors that name the key."""

from __future__ import annotations

from collections.abc import Mapping
import difflib
import json
import os
import pathlib
import re
import typing
from typing import Any, Callable, ClassVar, Optional

import pydantic

Location = typing.Tuple[typing.Union[str, int], ...]


class ConfigError(ValueError):
    """Settings that cannot be: a line for each, with its key."""


class Settings(pydantic.BaseModel):
    """A group of settings. Every field has a default, and a description that help texts show."""

    model_config = pydantic.ConfigDict(extra="forbid", validate_assignment=True, hide_input_in_errors=True,
                                       use_attribute_docstrings=True, protected_namespaces=())

    # Settings of a class that this one is made from and has no use for, with what decides there instead.
    REFUSED: ClassVar[Mapping[str, str]] = {}

    @pydantic.field_validator("*", mode="before")
    @classmethod
    def _refuse(cls, value: Any, info: pydantic.ValidationInfo) -> Any:
        if why := cls.REFUSED.get(str(info.field_name)):
            raise ValueError(f"cannot be set here: {why}")
        return value

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> Any:
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, why in cls.REFUSED.items():
            properties[name] = {"refused": why, "not": {}, "default": properties[name]["default"]}
        return schema

    def __init__(self, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except pydantic.ValidationError as error:
            raise ConfigError(_told(type(self), error, _key)) from None

    # Pydantic's own sign for it: what is validated as a part of something else does not come by here, so
    # that the outermost one says where the mistake is.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            super().__setattr__(name, value)
        except pydantic.ValidationError as error:
            raise ConfigError(_told(type(self), error, _key)) from None

    @classmethod
    def of(cls, config: Any = None, **settings: Any) -> Any:
        """The config that is given as one, a dict, a file's path or not at all, with ``settings`` over it."""
        if config is None:
            config = cls()
        elif isinstance(config, Mapping):
            config = cls._checked(dict(config))
        elif isinstance(config, (str, os.PathLike)):
            config = cls.from_file(config)
        elif not isinstance(config, cls):
            raise ConfigError(f"config is a {cls.__name__}, a dict or the path of a file, not {config!r}")
        return config.with_settings(settings) if settings else config

    @classmethod
    def from_file(cls, path: Any) -> Any:
        """Reads YAML or JSON."""
        try:
            text = pathlib.Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise ConfigError(f"{os.fspath(path)} is neither YAML nor JSON: it is no text") from None
        return cls.from_text(text, os.fspath(path))

    @classmethod
    def from_text(cls, text: str, where: str = "the text") -> Any:
        import yaml

        try:
            tree = yaml.compose(text, yaml.SafeLoader)
            data = yaml.safe_load(text)
        except yaml.YAMLError as error:
            mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
            line = f"{where}:{mark.line + 1}" if mark else where
            raise ConfigError(f"{line} is neither YAML nor JSON: {problem or ' '.join(str(error).split())}") from None
        if data is None:
            data = {}
        if not isinstance(data, dict):
            raise ConfigError(f"{where} holds no settings: it should be keys with values")
        return cls._checked(data, lambda location: f"{where}:{_line_of(tree, location)}: {_key(location)}".rstrip())

    @classmethod
    def _checked(cls, data: Any, named: Optional[Callable[[Location], str]] = None) -> Any:
        try:
            return cls.model_validate(data)
        except pydantic.ValidationError as error:
            raise ConfigError(_told(cls, error, named or _key)) from None

    def with_settings(self, settings: Mapping[str, Any], named: Optional[Callable[[Location], str]] = None) -> Any:
        """A copy in which ``settings``, by key, take the place of what there was; dicts are merged."""
        return self._checked(_merged(self.model_dump(exclude_unset=True), settings), named)

    def to_text(self, form: str = "yaml", *, defaults: bool = False) -> str:
        """YAML or JSON, of what differs from the defaults unless they are asked for."""
        data = self.model_dump(mode="json", exclude_defaults=not defaults)
        if form == "json":
            return json.dumps(data, indent=1) + "\n"
        import yaml

        return yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=100) if data else "{}\n"

    def to_file(self, path: Any, *, defaults: bool = False) -> None:
        """Writes JSON where the name ends so, else YAML."""
        form = "json" if os.fspath(path).endswith(".json") else "yaml"
        pathlib.Path(path).write_text(self.to_text(form, defaults=defaults), encoding="utf-8")


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(old)
    for key, value in new.items():
        inner = merged.get(key)
        if isinstance(value, Mapping) and isinstance(inner, Mapping):
            value = _merged(inner, value)
        merged[key] = value
    return merged


# Errors.

def _key(location: Location) -> str:
    """profiles[0].shapes.x"""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).lstrip(".")


def _told(cls: Any, error: pydantic.ValidationError, named: Callable[[Location], str]) -> str:
    return "\n".join(_sentence(cls, problem, named) for problem in error.errors(include_url=False))


def _sentence(cls: Any, problem: Any, named: Callable[[Location], str]) -> str:
    location: Location = problem["loc"]
    if problem["type"] == "missing":
        return f"{named(location)} is missing"
    if problem["type"] == "extra_forbidden":
        known = list(model_at(cls, location[:-1]).model_fields)
        near = difflib.get_close_matches(str(location[-1]), known, 1, 0.5)
        few = f"; there is {', '.join(known)}" if len(known) < 10 else ""
        hint = f"; did you mean '{near[0]}'?" if near else few
        return f"{named(location)} is no setting{hint}"
    message = re.sub(r"^(Value error, |Input |Assertion failed, )|, unable to parse string.*", "", problem["msg"])
    given = problem["input"]
    shown = f", not {given!r}" if isinstance(given, (str, int, float, bool)) and "not " not in message else ""
    return f"{named(location)} {message}{shown}".lstrip()


def model_at(cls: Any, location: Location) -> Any:
    """The model that a key is in."""
    for part in location:
        if isinstance(cls, type) and issubclass(cls, Settings) and part in cls.model_fields:
            cls = model_in(cls.model_fields[str(part)].annotation) or cls
    return cls


def model_in(annotation: Any) -> Any:
    """The class of settings that a field holds, in lists and dicts too, or none."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return annotation
    return next(filter(None, map(model_in, typing.get_args(annotation))), None)


def _line_of(tree: Any, location: Location) -> int:
    """Where a key is in YAML, as deep as the file goes."""
    line, node = tree.start_mark.line, tree
    for part in location:
        if isinstance(part, int):
            if not isinstance(node.value, list) or part >= len(node.value):
                break
            node = node.value[part]
            line = node.start_mark.line
        else:
            pair = next((pair for pair in node.value if isinstance(pair, tuple) and pair[0].value == part), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line, pair[1]
    return int(line) + 1
