"""python tests/fuzz/make_corpus.py FOLDER: small models as seeds for import_fuzz.

They are the ONNX suite's, and of com.microsoft, which the suite lacks, those of our own tests.
"""

import pathlib
import sys
from unittest import mock

TESTS = pathlib.Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "onnx_backend")]

import onnx  # noqa: E402
import pytest  # noqa: E402

import cases  # noqa: E402

LARGEST = 4096  # bytes
PER_OPERATORS = 2  # models of one combination of operators


def of_the_suite():
    for case in cases.load(("node", "simple", "pytorch-converted", "pytorch-operator")):
        yield case.name, case.model().SerializeToString()


class Recorder:
    """Takes the models that the tests of a module would run, instead of running them."""

    def __init__(self):
        self.models = []

    def pytest_collection_modifyitems(self, items):
        for module in {item.module for item in items}:
            module.check = module.expect = lambda *inputs, **options: self.record(module, *inputs, **options)

    def record(self, module, operator, *inputs, outputs=(True,), constants=(), **attributes):
        for option in ("compared", "tolerance", "wanted"):
            attributes.pop(option, None)
        self.models.append(module.model_of(operator, inputs, outputs, constants, **attributes)[0])


def of_microsoft():
    recorder = Recorder()
    with mock.patch.dict(sys.modules, camshaft=mock.MagicMock()):
        pytest.main(["-q", "--noconftest", "-p", "no:cacheprovider", str(TESTS / "python" / "test_microsoft.py")],
                    plugins=[recorder])
    for number, model in enumerate(recorder.models):
        yield f"microsoft_{number}", model


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    seen = {}
    for models in (of_the_suite(), of_microsoft()):
        for name, content in models:
            operators = tuple(node.op_type for node in onnx.load_from_string(content).graph.node)
            if len(content) > LARGEST or seen.get(operators, 0) >= PER_OPERATORS:
                continue
            seen[operators] = seen.get(operators, 0) + 1
            (folder / f"{name}.onnx").write_bytes(content)
    print(f"{sum(seen.values())} models in {folder}")


if __name__ == "__main__":
    main()
