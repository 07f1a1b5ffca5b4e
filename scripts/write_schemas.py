#!/usr/bin/env python3
"""Writes what follows from the classes of camshaft.config: their JSON schemas in docs/schema, for editors that check
YAML and JSON and for integrations in C++, which are built with them, and the tables of pages.

    .venv/bin/python scripts/write_schemas.py
"""

import json
import pathlib
import re

from camshaft.config import (BuildConfig, Calibration, InferenceConfig, Profile, ProviderConfig, TorchConfig,
                             TritonConfig)

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
SCHEMAS = {"build.json": BuildConfig, "inference.json": InferenceConfig, "onnxruntime.json": ProviderConfig,
           "torch.json": TorchConfig, "triton.json": TritonConfig}
TABLES = {model.__name__: model for model in (BuildConfig, Profile, Calibration, InferenceConfig, ProviderConfig,
                                              TorchConfig, TritonConfig)}
PAGES = ("configuration.md", "onnxruntime.md", "pytorch.md", "serving.md")
TABLE = re.compile(r"(<!-- fields of (\w+) -->\n).*?(<!-- end of fields -->)", re.DOTALL)


def schema_text(model):
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
    return json.dumps(schema, indent=1) + "\n"


def table_text(model):
    """All fields of a class, or what one adds to BuildConfig."""
    defaults = model().model_dump(mode="json")
    base = {} if model is BuildConfig or not issubclass(model, BuildConfig) else BuildConfig.model_fields
    own = {name: field.description for name, field in model.model_fields.items()
           if name not in base or field.description != base[name].description}
    rows = [f"| `{name}` | {shown(defaults[name])} | {description} |" for name, description in own.items()]
    return "\n".join(["| key | default | |", "|---|---|---|", *rows]) + "\n"


def shown(value):
    if isinstance(value, dict) and value:  # settings of their own, in a table of their own
        return ""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    text = "" if value in (None, [], {}) else str(value).lower() if isinstance(value, bool) else f"{value}"
    return f"`{text}`" if text else ""


def expected():
    """Path and text of all that is written."""
    for name, model in SCHEMAS.items():
        yield DOCS / "schema" / name, schema_text(model)
    for name in PAGES:
        page = DOCS / name
        yield page, TABLE.sub(lambda match: match[1] + table_text(TABLES[match[2]]) + match[3],
                              page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for path, text in expected():
        path.write_text(text, encoding="utf-8")
