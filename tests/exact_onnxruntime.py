"""ONNX Runtime as an oracle for products of 8-bit integers: on x86 without VNNI it adds up pairs of products in 16 bits,
which saturate, unless it is asked not to."""

import onnxruntime


def session_options():
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    return options
