"""The structure-only models regenerate to valid models with the same numbers on every machine."""

import numpy
import onnx
import pytest
from models import inputs, regenerate, wheels


@pytest.mark.parametrize("name", regenerate.names())
def test_structure_holds_recipes_and_named_dimensions(name):
    model = regenerate.structure(name)
    recipes = [tensor for _, tensor in regenerate.tensors(model.graph) if tensor.external_data]
    locations = {e.value for tensor in recipes for e in tensor.external_data if e.key == "location"}
    assert locations & {"normal", "filters"}
    assert locations <= {"normal", "filters", "lognormal", "zlib"}
    for dims in inputs.dims(name):
        for name, shape in inputs.shapes(model, dims).items():
            assert all(size > 0 for size in shape) or name.startswith("past.")


def test_loaded_model_is_complete_and_valid():
    model = regenerate.load("mobilenet_v3_large-legacy15-dynamic-batchnorm")
    onnx.checker.check_model(model)
    weights = {name: onnx.numpy_helper.to_array(t) for name, t in regenerate.tensors(model.graph)}
    variances = [weights[node.input[4]] for node in model.graph.node
                 if node.op_type == "BatchNormalization"]
    assert variances and all((variance > 0).all() for variance in variances)


def test_weights_depend_on_the_name_only():
    def weight(name):
        tensor = onnx.TensorProto(dims=[1000], data_type=onnx.TensorProto.FLOAT)
        for key, value in {"location": "normal", "mean": "1", "std": "0.1"}.items():
            tensor.external_data.add(key=key, value=value)
        regenerate.fill(name, tensor)
        return onnx.numpy_helper.to_array(tensor)

    first = weight("layer.weight")
    assert (first == weight("layer.weight")).all()
    assert (first != weight("layer.bias")).any()
    numpy.testing.assert_allclose((first.mean(), first.std()), (1, 0.1), atol=0.01)
    numpy.testing.assert_allclose(first[:3], (0.8010045, 0.9079849, 1.072373), rtol=1e-6)


def test_positive_weights_stay_positive_with_their_mean_and_deviation():
    tensor = onnx.TensorProto(dims=[100000], data_type=onnx.TensorProto.FLOAT)
    for key, value in {"location": "lognormal", "mean": "2", "std": "1.5"}.items():
        tensor.external_data.add(key=key, value=value)
    regenerate.fill("variance", tensor)
    values = onnx.numpy_helper.to_array(tensor)
    assert values.min() > 0
    numpy.testing.assert_allclose((values.mean(), values.std()), (2, 1.5), rtol=0.05)


@pytest.mark.parametrize("model", wheels.MODELS.values(), ids=wheels.MODELS)
def test_wheel_model_is_there_and_named_right(model):
    graph = onnx.load(model.path).graph
    types = {value.name: value.type.tensor_type for value in graph.input}
    for case in model.cases:
        feeds = model.feeds(case)
        assert feeds.keys() == types.keys() - {tensor.name for tensor in graph.initializer}
        for name, array in feeds.items():
            assert array.dtype == onnx.helper.tensor_dtype_to_np_dtype(types[name].elem_type)
            assert array.ndim == len(types[name].shape.dim)
