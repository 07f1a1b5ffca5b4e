"""Random ONNX graphs, beside ONNX Runtime with its optimisations off. See docs/testing.md."""
