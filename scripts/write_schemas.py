#!/usr/bin/env python3
"""Writes the JSON schemas of camshaft.config into docs/schema, for editors that check YAML and JSON.

    .venv/bin/python scripts/write_schemas.py
"""

import json
import pathlib

from camshaft.config import BuildConfig, InferenceConfig

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "docs/schema"
MODELS = {"build.json": BuildConfig, "inference.json": InferenceConfig}


def schema_text(model):
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
    return json.dumps(schema, indent=1) + "\n"


if __name__ == "__main__":
    for name, model in MODELS.items():
        (FOLDER / name).write_text(schema_text(model), encoding="utf-8")
