"""A comparison as one HTML file that needs no other: bars, the table, and who did not take part."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from .report import COLUMNS, error_text, megabytes, milliseconds, row, seconds

STYLE = """
:root { color-scheme: light dark; --paper: #fbfbfa; --card: #fff; --ink: #1c2024; --soft: #5c6670;
  --line: #e2e5e8; --own: #c2410c; --other: #94a3b8; --track: #f0f2f4; --bad: #b42318 }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --card: #1c2024; --ink: #e8eaed;
  --soft: #9aa5b1; --line: #31373d; --own: #fb8b4b; --other: #64748b; --track: #262b30; --bad: #ff8a80 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
main { max-width: 1080px; margin: 0 auto; padding: 32px 20px 48px }
h1 { margin: 0; font-size: 26px; line-height: 1.25; overflow-wrap: anywhere }
h2 { margin: 0 0 12px; font-size: 16px }
p { margin: 6px 0; color: var(--soft) }
section { margin-top: 20px; padding: 18px 20px; background: var(--card); border: 1px solid var(--line);
  border-radius: 10px }
.headline { font-size: 17px; color: var(--ink) }
p + .headline { margin-top: 12px }
.headline + .headline { margin-top: 2px }
.headline.own b { color: var(--own) }
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: 7px 12px; align-items: center }
.track { position: relative; height: 16px; background: var(--track); border-radius: 3px }
.bar { height: 100%; min-width: 2px; border-radius: 3px; background: var(--other) }
.own .bar { background: var(--own) }
.late { position: absolute; top: -2px; bottom: -2px; width: 2px; background: var(--ink); opacity: .55 }
.number { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap }
.group { display: contents }
.own .name { font-weight: 600 }
.small { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 20px }
.small section { margin: 0 }
.small .track { height: 11px }
.small + section { margin-top: 20px }
.small { margin-top: 20px }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: 6px 10px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap }
th { color: var(--soft); font-weight: 500; font-size: 13px }
th:first-child, td:first-child, .reason { text-align: left }
.reason { white-space: normal; overflow-wrap: anywhere }
tr:last-child td { border-bottom: 0 }
tr.own td:first-child { font-weight: 600; color: var(--own) }
td:first-child { min-width: 9em }
.absent th:first-child { width: 36% }
.absent td { vertical-align: top }
.failed { color: var(--bad) }
code, .whole { white-space: nowrap }
code { padding: 1px 5px; background: var(--track); border-radius: 4px;
  font: 13px ui-monospace, Menlo, monospace }
@media (max-width: 560px) { .bars { grid-template-columns: 1fr max-content } .bars .name { grid-column: 1 / 3 } }
"""


def page(document: dict) -> str:
    """The HTML of what report.document() made."""
    measured = [own for own in document["peers"] if "median" in own]
    parts = [_head(document, measured)]
    if measured:
        parts.append(f"<section><h2>Latency of one run, median and 95th percentile (the thin mark)</h2>"
                     f"{_bars(measured, 'median', milliseconds, 'p95')}</section>")
        parts.append("<div class=small>" + "".join(
            f"<section><h2>{title}</h2>{_bars(measured, key, text)}</section>"
            for title, key, text in (("Peak memory while running", "memory", megabytes),
                                     ("Time to load", "load", milliseconds),
                                     ("Time to build", "build", seconds))) + "</div>")
    parts += [_table(document), _absent(document["absent"]), _method(document)]
    return (f'<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">'
            f"<title>{escape(document['model'])} compared</title><style>{STYLE}</style>"
            f"<main>{''.join(parts)}</main></html>\n")


def _head(document: dict, measured: list[dict]) -> str:
    shapes = ", ".join(f"{name} {'×'.join(map(str, shape)) or 'scalar'}" for name, shape in document["shapes"].items())
    cpu = document["machine"]["cpu"]
    return (f"<h1>{escape(document['model'])}</h1><p>{escape(shapes)} · {escape(cpu['model'])}, "
            f"{document['threads']} {'threads' if document['threads'] > 1 else 'thread'}</p>"
            f"{_headline(document, measured)}")


def _headline(document: dict, measured: list[dict]) -> str:
    """The fastest of all and, where that is another's, the fastest of ours."""
    reference = document["reference"]
    others = [own for own in measured if own["peer"] != reference]
    if not reference or not others:
        return ""
    ours = next((own for own in others if _own(own["peer"]) == "own"), others[0])
    best = [others[0]] if ours is others[0] else [others[0], ours]  # they come fastest first
    return "".join(f'<p class="headline {_own(own["peer"])}"><b>{escape(own["peer"])}</b> runs at '
                   f"{own['speed']:.2f} times the speed of {escape(reference)}, with a relative error of "
                   f"{error_text(own)}.</p>" for own in best)


def _own(peer: str) -> str:
    return "own" if peer.startswith("camshaft") else "other"


def _bars(measured: list[dict], key: str, text: Callable[[float], str], late: str | None = None) -> str:
    """One bar for each peer, as long as its share of the largest; `late` is marked on it."""
    shown = [own for own in measured if own.get(key) is not None]
    largest = max(own[late or key] for own in shown) or 1
    rows = []
    for own in shown:
        width = 100 * own[key] / largest
        mark = f'<div class=late style="left:{100 * own[late] / largest:.2f}%"></div>' if late else ""
        rows.append(f'<div class="group {_own(own["peer"])}"><div class=name>{escape(own["peer"])}</div>'
                    f'<div class=track><div class=bar style="width:{width:.2f}%"></div>{mark}</div>'
                    f"<div class=number>{text(own[key])}</div></div>")
    return f"<div class=bars>{''.join(rows)}</div>"


def _table(document: dict) -> str:
    header = "".join(f"<th scope=col>{name}</th>" for name in COLUMNS)
    rows = []
    for own in document["peers"]:
        cells = [escape(cell) for cell in row(own["peer"], own)]
        first = f"<td>{cells[0]}</td>"
        if "median" in own:
            rest = "".join(f"<td>{cell}</td>" for cell in cells[1:])
        else:
            rest = f'<td class="reason failed" colspan={len(COLUMNS) - 1}>failed: {escape(own["failure"])}</td>'
        rows.append(f"<tr class={_own(own['peer'])}>{first}{rest}</tr>")
    return (f"<section><h2>All figures</h2><div class=wide><table><tr>{header}</tr>"
            f"{''.join(rows)}</table></div></section>")


def _absent(absent: list[dict]) -> str:
    if not absent:
        return ""
    rows = "".join(f"<tr><td class=reason>{', '.join(map(_name, one['peers']))}</td>"
                   f"<td class=reason>{escape(one['reason'])}</td><td class=reason>{_code(one['remedy'])}</td></tr>"
                   for one in absent)
    return (f"<section><h2>Not measured</h2><div class=wide><table class=absent><tr><th scope=col>peer</th>"
            f"<th scope=col class=reason>why</th><th scope=col class=reason>what would change that</th></tr>"
            f"{rows}</table></div></section>")


def _name(peer: str) -> str:
    return f"<span class=whole>{escape(peer)}</span>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>" if text else ""


def _method(document: dict) -> str:
    versions = ", ".join(sorted({f"{own['peer'].split('-')[0]} {own['version']}" for own in document["peers"]
                                 if "version" in own}))
    reference = document["reference"]
    against = (f"Speeds and relative errors (L2, the worst output) are against {escape(reference)}." if reference
               else "No reference ran, so there are neither speeds nor errors.")
    return (f"<section><h2>How it was measured</h2><p>Every figure comes from a process of its own; peers took turns "
            f"for {document['rounds']} round{'s' * (document['rounds'] > 1)} of {document['seconds']:g} s, after "
            f"warming up. Inputs and outputs lie in the host's memory. {against} Memory is the process's peak, Python included. \"Build\" makes the "
            f"engine, session or compiled model out of the ONNX file; \"load\" starts from what that left. Modules are imported before.</p>"
            f"<p>{escape(versions)}</p><p>{escape(document['machine']['cpu']['features'])} · "
            f"{escape(document['date'])}</p></section>")
