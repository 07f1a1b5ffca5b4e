"""Plugins written in Python, run on the CPU: addresses are those of host memory."""

import ctypes
import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

import camshaft as trt
import camshaft.plugin as trtp


def array_at(address, desc):
    size = int(np.prod(desc.dims))
    return np.ctypeslib.as_array((ctypes.c_float * size).from_address(address)).reshape(tuple(desc.dims))


class ScalePlugin(trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuild, trt.IPluginV3OneRuntime):
    """y = factor · x, written as TensorRT's samples are."""

    def __init__(self, factor):
        trt.IPluginV3.__init__(self)
        trt.IPluginV3OneCore.__init__(self)
        trt.IPluginV3OneBuild.__init__(self)
        trt.IPluginV3OneRuntime.__init__(self)
        self.num_outputs = 1
        self.plugin_namespace = ""
        self.plugin_name = "TestScale"
        self.plugin_version = "1"
        self.factor = factor
        self.tactic = 0

    def get_capability_interface(self, type):
        return self

    def get_output_data_types(self, input_types):
        return [input_types[0]]

    def get_output_shapes(self, inputs, shape_inputs, exprBuilder):
        output_dims = trt.DimsExprs(len(inputs[0]))
        for i in range(len(inputs[0])):
            output_dims[i] = inputs[0][i]
        return [output_dims]

    def get_fields_to_serialize(self):
        return trt.PluginFieldCollection([
            trt.PluginField("factor", np.array([self.factor], np.float32), trt.PluginFieldType.FLOAT32)])

    def configure_plugin(self, inp, out):
        assert len(inp) == len(out) == 1 and inp[0].max[0] >= inp[0].min[0]

    def on_shape_change(self, inp, out):
        pass

    def supports_format_combination(self, pos, in_out, num_inputs):
        assert num_inputs == 1
        return in_out[pos].desc.format == trt.TensorFormat.LINEAR and in_out[pos].desc.type == trt.float32

    def get_valid_tactics(self):
        return [1, 2]

    def set_tactic(self, tactic):
        self.tactic = tactic

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        assert self.tactic in (1, 2)
        array_at(outputs[0], output_desc[0])[:] = self.factor * array_at(inputs[0], input_desc[0])

    def attach_to_context(self, context):
        return self.clone()

    def clone(self):
        cloned = ScalePlugin(self.factor)
        cloned.__dict__.update(self.__dict__)
        return cloned


class ScaleCreator(trt.IPluginCreatorV3One):
    def __init__(self):
        trt.IPluginCreatorV3One.__init__(self)
        self.name = "TestScale"
        self.plugin_namespace = ""
        self.plugin_version = "1"
        self.field_names = trt.PluginFieldCollection([
            trt.PluginField("factor", np.array([]), trt.PluginFieldType.FLOAT32)])

    def create_plugin(self, name, fc, phase):
        assert [field.name for field in fc] == ["factor"] and isinstance(phase, trt.TensorRTPhase)
        return ScalePlugin(float(fc[0].data[0]))


@pytest.fixture
def creator():
    creator = ScaleCreator()
    assert trt.get_plugin_registry().register_creator(creator, "")
    yield creator
    assert trt.get_plugin_registry().deregister_creator(creator)


X = np.arange(6, dtype=np.float32).reshape(2, 3)


def run(engine, **inputs):
    return trt.infer(engine, inputs)


def finish(network, layer):
    layer.get_output(0).name = "y"
    network.mark_output(layer.get_output(0))


def test_creators_are_found_and_listed(builder, creator):
    registry = trt.get_plugin_registry()
    assert registry.get_creator("TestScale", "1", "") is creator and creator in registry.all_creators
    assert registry.get_creator("TestScale", "2", "") is None
    with pytest.raises(trt.Error, match="registered already"):
        registry.register_creator(ScaleCreator(), "")


def test_a_plugin_is_built_stored_and_run(network, build, creator):
    x = network.add_input("x", trt.float32, (2, 3))
    plugin = creator.create_plugin("scale", [trt.PluginField("factor", np.float32([2.5]),
                                                             trt.PluginFieldType.FLOAT32)], trt.TensorRTPhase.BUILD)
    layer = network.add_plugin_v3([x], [], plugin)
    assert isinstance(layer, trt.IPluginV3Layer) and layer.type is trt.LayerType.PLUGIN_V3
    assert isinstance(layer.plugin, ScalePlugin) and layer.plugin.factor == 2.5
    finish(network, layer)
    np.testing.assert_array_equal(run(build(network), x=X)["y"], 2.5 * X)


def test_onnx_nodes_name_plugins(network, build, logger, creator):
    node = helper.make_node("TestScale", ["x"], ["y"], factor=3.0, plugin_version="1", plugin_namespace="")
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 3))],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, (2, 3))])
    parser = trt.OnnxParser(network, logger)
    assert parser.parse(helper.make_model(graph).SerializeToString()), parser.get_error(0)
    np.testing.assert_array_equal(run(build(network), x=X)["y"], 3 * X)


def test_what_a_plugin_raises_fails_the_call(network, build, creator, monkeypatch, capsys):
    monkeypatch.setattr("sys.unraisablehook", lambda caught: print("caught", caught.exc_value))
    x = network.add_input("x", trt.float32, (2, 3))
    plugin = ScalePlugin(1.0)
    monkeypatch.setattr(ScalePlugin, "get_output_shapes", lambda *_: 1 / 0)
    with pytest.raises(trt.Error, match="TestScale"):
        network.add_plugin_v3([x], [], plugin)
    assert "division by zero" in capsys.readouterr().out
    with pytest.raises(trt.Error):
        network.add_plugin_v3([x], [], trt.IPluginV3())
    with pytest.raises(TypeError, match="IPluginV3"):
        network.add_plugin_v3([x], [], object())
    with pytest.raises(TypeError, match="IPluginV2DynamicExt"):
        network.add_plugin_v2([x], object())


def test_sizes_of_a_call_that_is_over_say_so(network, monkeypatch):
    x = network.add_input("x", trt.float32, (-1, 3))
    calls, stale = [], []

    def shapes(self, inputs, shape_inputs, builder):
        calls.append((inputs[0], builder))
        assert inputs[0][0] == inputs[0][0] != inputs[0][1] and inputs[0][1].get_constant_value() == 3
        sizes = stale[0] if stale else inputs[0]
        return [trt.DimsExprs([sizes[0], sizes[1]])]

    monkeypatch.setattr(ScalePlugin, "get_output_shapes", shapes)
    network.add_plugin_v3([x], [], ScalePlugin(1.0))
    sizes, builder = calls[0]
    assert len(sizes) == 2
    for use in (sizes[0].is_constant, sizes[1].get_constant_value, sizes[1].is_size_tensor,
                lambda: builder.constant(1),
                lambda: builder.operation(trt.DimensionOperation.SUM, sizes[0], sizes[1])):
        with pytest.raises(ValueError, match="earlier call of the plugin, which is over"):
            use()
    stale.append(sizes)
    with pytest.raises(trt.Error, match="TestScale"):
        network.add_plugin_v3([x], [], ScalePlugin(1.0))


class AddPlugin(trt.IPluginV2DynamicExt):
    def __init__(self, amount):
        trt.IPluginV2DynamicExt.__init__(self)
        self.num_outputs, self.plugin_namespace, self.plugin_type, self.plugin_version = 1, "", "TestAdd", "1"
        self.amount = amount

    def get_output_datatype(self, index, input_types):
        return input_types[0]

    def get_output_dimensions(self, output_index, inputs, exprBuilder):
        sum_of_sizes = exprBuilder.operation(trt.DimensionOperation.SUM, inputs[0][0], exprBuilder.constant(0))
        return trt.DimsExprs([sum_of_sizes, *(inputs[0][i] for i in range(1, len(inputs[0])))])

    def supports_format_combination(self, pos, in_out, num_inputs):
        return in_out[pos].format == trt.TensorFormat.LINEAR and in_out[pos].type == trt.float32

    def configure_plugin(self, inp, out):
        pass

    def serialize(self):
        return str(self.amount).encode()

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        array_at(outputs[0], output_desc[0])[:] = array_at(inputs[0], input_desc[0]) + self.amount

    def clone(self):
        cloned = AddPlugin(self.amount)
        cloned.__dict__.update(self.__dict__)
        return cloned


class AddCreator(trt.IPluginCreator):
    def __init__(self):
        trt.IPluginCreator.__init__(self)
        self.name, self.plugin_namespace, self.plugin_version = "TestAdd", "", "1"
        self.field_names = trt.PluginFieldCollection([])

    def create_plugin(self, name, fc):
        return AddPlugin(1)

    def deserialize_plugin(self, name, data):
        return AddPlugin(int(data))


def test_plugins_of_version_2(network, build):
    creator = AddCreator()
    trt.get_plugin_registry().register_creator(creator, "")
    x = network.add_input("x", trt.float32, (2, 3))
    layer = network.add_plugin_v2([x], AddPlugin(7))
    assert isinstance(layer, trt.IPluginV2Layer) and layer.plugin.amount == 7
    finish(network, layer)
    np.testing.assert_array_equal(run(build(network), x=X)["y"], X + 7)
    assert trt.get_plugin_registry().deregister_creator(creator)


@trtp.register("test::stretch")
def stretch(x: trtp.TensorDesc, times: int, shift: float, label: str) -> trtp.TensorDesc:
    out = x.like()
    out.shape_expr[0] = x.shape_expr[0] * times
    return out


@trtp.impl("test::stretch")
def stretch_impl(x: trtp.Tensor, times: int, shift: float, outputs, stream: int):
    np.copyto(np.asarray(outputs[0]), np.tile(np.asarray(x), (times, 1)) + np.float32(shift))


@trtp.autotune("test::stretch")
def stretch_autotune(x: trtp.TensorDesc, outputs) -> list[trtp.AutoTuneCombination]:
    return [trtp.AutoTuneCombination("FP32|FP16, FP32|FP16")]


@pytest.mark.parametrize("rows", [2, -1])
def test_decorated_functions(network, builder, config, build, rows):
    x = network.add_input("x", trt.float32, (rows, 3))
    if rows < 0:
        profile = builder.create_optimization_profile()
        profile.set_shape("x", (1, 3), (2, 3), (4, 3))
        config.add_optimization_profile(profile)
    layer = network.add_plugin(trtp.op.test.stretch(x, times=2, shift=0.5, label="tall"))
    assert layer.get_output(0).shape == ((4, 3) if rows > 0 else (-1, 3))
    finish(network, layer)
    np.testing.assert_array_equal(run(build(network), x=X)["y"], np.tile(X, (2, 1)) + 0.5)


def test_decorated_functions_are_found_by_clients(network):
    from camshaft.plugin._lib import QDP_REGISTRY
    found = QDP_REGISTRY["test::stretch"]
    assert found is trtp.op.test.stretch and found.plugin_id == "test::stretch"
    assert found.input_tensor_names == ["x"] and found.input_attrs == {"times": int, "shift": float, "label": str}
    assert (found.register_func, found.impl_func, found.autotune_func) == (stretch, stretch_impl, stretch_autotune)
    trtp.aot_impl("test::stretch")(lambda *_: None)
    assert found.aot_impl_func is None
    made = found(network.add_input("x", trt.float32, (2, 3)), times=2, shift=0.5, label="tall")
    assert network.add_plugin(made, aot=False).num_outputs == network.add_plugin(lambda: made, aot=None).num_outputs
    with pytest.raises(ValueError, match="cannot use a kernel that aot_impl compiled"):
        network.add_plugin(made, aot=True)


@trtp.register("test::circular_pad")
def circular_pad(x: trtp.TensorDesc, pads: NDArray[np.int32]) -> trtp.TensorDesc:
    out = x.like()
    for i in range(pads.size // 2):
        out.shape_expr[x.ndim - i - 1] += int(pads[2 * i] + pads[2 * i + 1])
    return out


@trtp.autotune("test::circular_pad")
def circular_pad_autotune(x, outputs):
    combination = trtp.AutoTuneCombination()
    combination.pos([0, 1], "FP32|FP16")
    combination.tactics([3, 4])
    return [combination]


@trtp.impl("test::circular_pad")
def circular_pad_impl(x, pads, outputs, stream, tactic):
    assert tactic in (3, 4) and pads.dtype == np.int32
    widths = [tuple(pads[2 * i:2 * i + 2]) for i in reversed(range(x.ndim))]
    np.copyto(np.asarray(outputs[0]), np.pad(np.asarray(x), widths, mode="wrap"))


def test_decorated_functions_have_tactics_and_arrays(network, build):
    x = network.add_input("x", trt.float32, (2, 3))
    pads = np.array([1, 1, 0, 2], np.int32)
    finish(network, network.add_plugin(trtp.op.test.circular_pad(x, pads=pads)))
    np.testing.assert_array_equal(run(build(network), x=X)["y"], np.pad(X, ((0, 2), (1, 1)), mode="wrap"))


@trtp.register("test::places")
def places(x: trtp.TensorDesc) -> tuple[trtp.TensorDesc, trtp.TensorDesc]:
    most = x.shape_expr.numel()
    count = trtp.size_tensor(opt=most // 2, upper_bound=most)
    return trtp.from_shape_expr((count.expr(), x.ndim), dtype=trt.int32), count


@trtp.impl("test::places")
def places_impl(x, outputs, stream):
    found = np.ascontiguousarray(np.argwhere(np.asarray(x)).astype(np.int32))
    np.asarray(outputs[1])[...] = len(found)
    ctypes.memmove(outputs[0].data_ptr, found.ctypes.data, found.nbytes)


def test_decorated_functions_find_sizes(network, build):
    x = network.add_input("x", trt.float32, (2, 3))
    finish(network, network.add_plugin(trtp.op.test.places(x)))
    np.testing.assert_array_equal(run(build(network), x=X % 2)["y"], np.argwhere(X % 2))


@trtp.register("test::add_in_place")
def add_in_place(x: trtp.TensorDesc, amount: int) -> trtp.TensorDesc:
    return x.aliased()


@trtp.impl("test::add_in_place")
def add_in_place_impl(x, amount, outputs, stream):
    assert outputs[0].get_aliased() is x and outputs[0].data_ptr == x.data_ptr
    np.asarray(outputs[0])[...] += amount


def test_decorated_functions_write_over_their_input(network, config, build):
    config.set_preview_feature(trt.PreviewFeature.ALIASED_PLUGIN_IO_10_03, True)
    x = network.add_input("x", trt.float32, (2, 3))
    copy = network.add_activation(x, trt.ActivationType.RELU).get_output(0)
    finish(network, network.add_plugin(trtp.op.test.add_in_place(copy, amount=4)))
    np.testing.assert_array_equal(run(build(network), x=X)["y"], X + 4)


@pytest.mark.parametrize("call, message", [
    (lambda x: trtp.op.test.stretch(x), "attributes"),
    (lambda x: trtp.op.test.stretch(x, x, times=1, shift=0.0, label=""), "1 tensors, not 2"),
    (lambda x: trtp.op.test.stretch(x, times=1.5, shift=0.0, label=""), "times must be of int"),
    (lambda x: trtp.impl("test::nothing")(print), "no function was registered"),
    (lambda x: trtp.register("test::stretch")(stretch), "registered already"),
    (lambda x: trtp.register("nothing")(stretch), "namespace::name"),
])
def test_decorators_say_what_is_wrong(network, call, message):
    with pytest.raises(ValueError, match=message):
        call(network.add_input("x", trt.float32, (2, 3)))


def test_combinations():
    def of(*arguments):
        return [[(t.name, layout.name) for t, layout in places]
                for places, _ in trtp.AutoTuneCombination(*arguments)._combinations()]

    linear = "LINEAR"
    assert of("FP32|FP16, FP32|FP16") == [[("FLOAT", linear)] * 2, [("HALF", linear)] * 2]
    assert len(of("FP32*FP16, INT8", "LINEAR*HWC, LINEAR")) == 4
    with pytest.raises(ValueError, match="equally many"):
        of("FP32|FP16, FP32|FP16|INT8")
    by_place = trtp.AutoTuneCombination()
    by_place.pos([0, 1], "FP32|FP16")
    by_place.tactics([1, 2])
    assert [tactics for _, tactics in by_place._combinations()] == [[1, 2]] * 2


def test_pythons_own_checks_find_nothing():
    """Objects are given back with the interpreter's lock held, whichever thread ends a plugin."""
    done = subprocess.run([sys.executable, "-X", "dev", "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__,
                           "-k", "not checks"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
