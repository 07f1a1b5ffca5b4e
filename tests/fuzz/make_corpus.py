"""python tests/fuzz/make_corpus.py FOLDER: the suite's small models, as seeds for import_fuzz."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "onnx_backend"))

import cases  # noqa: E402

LARGEST = 4096  # bytes
PER_OPERATORS = 2  # models of one combination of operators


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    seen = {}
    for case in cases.load(("node", "simple", "pytorch-converted", "pytorch-operator")):
        model = case.model()
        content = model.SerializeToString()
        operators = tuple(node.op_type for node in model.graph.node)
        if len(content) > LARGEST or seen.get(operators, 0) >= PER_OPERATORS:
            continue
        seen[operators] = seen.get(operators, 0) + 1
        (folder / f"{case.name}.onnx").write_bytes(content)
    print(f"{sum(seen.values())} models in {folder}")


if __name__ == "__main__":
    main()
