"""Writes the page: one file that has all it needs."""

from __future__ import annotations

import json
import os
import pathlib
import re
from typing import Any

from .. import camshaft_version, write_file
from .engines import Described
from .layers import engine_data

SOURCES = pathlib.Path(__file__).parent / "page"
# In an order in which each uses only what is above it. Their top-level names differ, so that they
# can stand in one script: browsers do not load modules from local files.
MODULES = ("format.js", "colors.js", "layout.js", "positions.js", "state.js", "tips.js", "viewport.js", "graph.js",
           "minimap.js", "panel.js", "overview.js", "table.js", "memory.js", "roofline.js", "align.js", "compare.js",
           "search.js", "keys.js", "main.js")
IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
EXPORT = re.compile(r"^export ", re.MULTILINE)


def page_data(engines: list[Described], peaks: dict[str, Any]) -> dict[str, Any]:
    return {"version": camshaft_version, "peaks": peaks, "engines": [engine_data(each) for each in engines]}


def script() -> str:
    texts = []
    for name in MODULES:
        text = (SOURCES / name).read_text(encoding="utf-8")
        texts.append(f"// {name}\n" + EXPORT.sub("", IMPORT.sub("", text)))
    return "\n".join(texts)


def page(data: dict[str, Any]) -> str:
    # Inside a script element only "</" and "<!--" mean something to a browser.
    embedded = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    name = data["engines"][0]["file"] or data["engines"][0]["name"] or "engine"
    parts = {"title": _escaped(" and ".join(each["file"] or each["name"] for each in data["engines"]) or name),
             "style": (SOURCES / "style.css").read_text(encoding="utf-8"), "data": embedded, "script": script()}
    template = (SOURCES / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def write_page(data: dict[str, Any], path: Any) -> None:
    write_file(os.fspath(path), page(data).encode())
