"""Flags from typed settings: one for each field, so that there is no second list of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import typing
from typing import Any

MARK = "setting:"  # in front of what flags of settings are stored as


def add_settings(parser: argparse.ArgumentParser, model: Any, title: str) -> None:
    """Adds --config, --save-config and a flag for every field."""
    group = parser.add_argument_group(title)
    group.add_argument("--config", metavar="FILE", help="settings in YAML or JSON; flags go before them")
    group.add_argument("--save-config", metavar="FILE", help="write what the settings are in all, as YAML or JSON")
    for path, field in _fields(model):
        _add_flag(group, path, field)


def config_from(model: Any, arguments: argparse.Namespace) -> Any:
    """The settings of --config, with those of flags over them."""
    config = model.of(arguments.config)
    given = given_settings(arguments)
    if given:
        config = config.with_settings(given, lambda location: _flag_of(model, location))
    if arguments.save_config:
        config.to_file(arguments.save_config)
    return config


def given_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """What flags say, as a tree of keys."""
    tree: dict[str, Any] = {}
    for name, value in vars(arguments).items():
        if name.startswith(MARK):
            *outer, key = name[len(MARK):].split(".")
            inner = tree
            for part in outer:
                inner = inner.setdefault(part, {})
            inner[key] = dict(value) if isinstance(value, list) and value and isinstance(value[0], _Pair) else value
    return tree


class _Pair(typing.NamedTuple):
    name: str
    value: str


def _pair(text: str) -> _Pair:
    name, colon, value = text.rpartition(":")
    if not colon or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME:VALUE")
    return _Pair(name, value)


def _yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no YAML: {' '.join(str(error).split())}") from None


def _fields(model: Any, outer: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """(path of keys, field), those of groups of settings in the place of the group."""
    from ..config import Settings

    for name, field in model.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, Settings):
            yield from _fields(annotation, (*outer, name))
        else:
            yield (*outer, name), field


def _flag(path: tuple[str, ...]) -> str:
    return "--" + "-".join(path).replace("_", "-")


def _flag_of(model: Any, location: tuple[Any, ...]) -> str:
    """What the command line calls a key."""
    flags = {path for path, _ in _fields(model)}
    for length in range(len(location), 0, -1):
        if location[:length] in flags:
            rest = " ".join(str(part) for part in location[length:] if not isinstance(part, int))
            return f"{_flag(location[:length])} {rest}".rstrip()
    return ""


def _add_flag(group: Any, path: tuple[str, ...], field: Any) -> None:
    kind = _plain(field.annotation)
    origin = typing.get_origin(kind)
    default = f" (default {field.default})" if isinstance(field.default, (str, int, float)) and field.default else ""
    how: dict[str, Any] = {"dest": MARK + ".".join(path), "default": argparse.SUPPRESS,
                           "help": (field.description + default).replace("%", "%%")}
    if kind is bool:
        how.update(action=argparse.BooleanOptionalAction, help=field.description)
    elif origin is typing.Literal:
        how.update(choices=typing.get_args(kind))
    elif origin is dict:
        how.update(action="append", type=_pair, metavar="NAME:VALUE",
                   help=how["help"] + "; may be given again")
    elif origin is list:
        how.update(type=_yaml, metavar="YAML")
    elif origin is tuple:
        words = typing.get_origin(_plain(typing.get_args(kind)[0]))
        names = typing.get_args(_plain(typing.get_args(kind)[0])) if words is typing.Literal else ()
        how.update(metavar="WORDS" if names else "LIST", help=how["help"] + (f": {', '.join(names)}" if names else ""))
    else:
        how.update(metavar={int: "N", float: "NUMBER"}.get(kind, "TEXT"))
    group.add_argument(_flag(path), **how)


def _plain(annotation: Any) -> Any:
    """Without Optional and Annotated."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _plain(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) is typing.Union:
        return _plain(next(part for part in typing.get_args(annotation) if part is not type(None)))
    return annotation
