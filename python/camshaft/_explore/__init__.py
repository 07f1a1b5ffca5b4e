"""What an engine is made of, as one page for a browser: `camshaft explore`.

In the order the data flows: `engines` asks an engine for its layers and times them, `layers` works
out what the page shows of each (`words` says what is fused in it), `memory` who reads what and what
lies where when, `pages` writes the file. The page's own sources are in page/.
"""

from __future__ import annotations

import os
from typing import Any

from .engines import Described, describe
from .pages import page_data, write_page
from .peaks import machine_peaks


def explore(engine: Any, path: Any, other: Any = None, *, profile: int = 0, time: bool = True) -> dict[str, Any]:
    """Writes a page to ``path`` that shows ``engine`` and, beside it, ``other``.

    Engines are paths, bytes, loaded engines, or paths of what ``trtexec --exportLayerInfo`` wrote.
    With ``time`` their layers are timed here. Returns what was written about, as a dict.
    """
    described = [describe(each, profile, time) for each in (engine, other) if each is not None]
    data = page_data(described, machine_peaks(described) if time else {})
    write_page(data, path)
    return {"page": os.fspath(path), "bytes": os.path.getsize(path),
            "engines": [_summary(each) for each in data["engines"]]}


def _summary(engine: dict[str, Any]) -> dict[str, Any]:
    return {key: engine[key] for key in ("name", "file", "device", "totalMs", "times", "notes")} \
        | {"layers": len(engine["layers"])}


__all__ = ["Described", "describe", "explore"]
