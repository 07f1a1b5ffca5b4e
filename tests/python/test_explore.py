"""The page of `camshaft explore`: what it says of an engine, and how it works in a browser."""

import json
import re

import browser
from command import as_json, refusal
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
import pytest

import camshaft as trt
from camshaft._explore import memory, words
from camshaft._explore.pages import MODULES, SOURCES, script

needs_browser = pytest.mark.skipif(browser.program() is None, reason="needs Chromium: apt-get install chromium")


def residual_model():
    """Two convolutions with SiLU, a residual sum, and a head."""
    random = numpy.random.default_rng(1)
    weights = {name: random.standard_normal(shape).astype(numpy.float32) * 0.1 for name, shape in
               {"w0": (16, 3, 3, 3), "b0": (16,), "w1": (16, 16, 3, 3), "b1": (16,), "w2": (16, 5), "b2": (5,)}.items()}

    def silu(source, name):
        return [helper.make_node("Sigmoid", [source], [f"{name}_s"], name=f"{name}/Sigmoid"),
                helper.make_node("Mul", [source, f"{name}_s"], [name], name=f"{name}/Mul")]

    nodes = [helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], name="stem/Conv", pads=[1, 1, 1, 1], strides=[2, 2]),
             *silu("c0", "a0"),
             helper.make_node("Conv", ["a0", "w1", "b1"], ["c1"], name="block/Conv", pads=[1, 1, 1, 1]),
             *silu("c1", "a1"), helper.make_node("Add", ["a1", "a0"], ["r"], name="block/Add"),
             helper.make_node("GlobalAveragePool", ["r"], ["g"], name="pool"),
             helper.make_node("Flatten", ["g"], ["f"], name="flatten"),
             helper.make_node("Gemm", ["f", "w2", "b2"], ["y"], name="head")]
    graph = helper.make_graph(nodes, "residual", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 32, 32])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 5])],
                              [numpy_helper.from_array(value, name) for name, value in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def build(verbosity, path):
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    network = builder.create_network()
    assert trt.OnnxParser(network, logger).parse(residual_model())
    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    config.profiling_verbosity = verbosity
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 3, 32, 32), (2, 3, 32, 32), (4, 3, 32, 32))
    config.add_optimization_profile(profile)
    path.write_bytes(bytes(builder.build_serialized_network(network, config)))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("explore")


@pytest.fixture(scope="module")
def engine_file(folder):
    return build(trt.ProfilingVerbosity.DETAILED, folder / "net.engine")


@pytest.fixture(scope="module")
def written(folder, engine_file):
    trt.explore(engine_file, folder / "net.html")
    return folder / "net.html"


def data_of(page):
    """What the page has inside."""
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def inspected(path):
    engine = trt.Runtime(trt.Logger(trt.Logger.ERROR)).deserialize_cuda_engine(path.read_bytes())
    context = engine.create_execution_context()
    context.set_input_shape("x", (2, 3, 32, 32))
    inspector = engine.create_engine_inspector()
    inspector.execution_context = context
    return json.loads(inspector.get_engine_information(trt.LayerInformationFormat.JSON))


def test_the_page_says_what_the_inspector_says(written, engine_file):
    engine, told = data_of(written)["engines"][0], inspected(engine_file)
    assert engine["file"] == "net.engine" and engine["detailed"] and engine["weightsBytes"] == told["WeightsBytes"]
    assert [layer["name"] for layer in engine["layers"]] == [layer["Name"] for layer in told["Layers"]]
    for shown, layer in zip(engine["layers"], told["Layers"]):
        assert shown["kernel"] == layer["TacticName"]
        assert shown.get("operations") == layer.get("Operations") and shown.get("bytes") == layer.get("BytesMoved")
        assert [each["dims"] for each in shown["outputs"]] == [each["Dimensions"] for each in layer["Outputs"]]
        assert len(engine["alternatives"][shown["alternatives"]]) == len(layer["Alternatives"])


def test_layers_are_timed_and_told_in_words(written):
    engine = data_of(written)["engines"][0]
    assert engine["times"] == "measured" and engine["runs"] >= 3
    assert engine["totalMs"] == pytest.approx(sum(layer["ms"] for layer in engine["layers"])) and engine["totalMs"] > 0
    fused = next(layer for layer in engine["layers"] if "block/Add" in layer["origins"])
    assert fused["words"] == "Convolution 3×3 with its bias, SiLU and the residual sum in one kernel."
    assert {"block/Conv", "a1/Sigmoid", "a1/Mul"} < set(fused["origins"])
    assert fused["operations"] == 2 * 16 * 16 * 16 * (2 * 16 * 9 + 2)
    stem = next(layer for layer in engine["layers"] if "stem/Conv" in layer["origins"])
    assert stem["words"].startswith("Convolution 3×3, stride 2, with its bias and SiLU")


def test_inputs_lead_to_the_layers_that_wrote_them(written):
    layers = data_of(written)["engines"][0]["layers"]
    fused = next(layer for layer in layers if "block/Add" in layer["origins"])
    stem = next(i for i, layer in enumerate(layers) if "stem/Conv" in layer["origins"])
    assert [each["from"] for each in fused["inputs"]] == [[stem], [stem]]
    assert layers[0]["inputs"][0]["place"] == "Input" and layers[0]["inputs"][0]["from"] == []


def test_the_memory_plan_has_no_two_tensors_in_one_place(written):
    engine = data_of(written)["engines"][0]
    blocks = engine["memory"]["blocks"]
    assert blocks and max(engine["memory"]["live"]) <= engine["arenaBytes"]
    for i, a in enumerate(blocks):
        assert a["offset"] + a["bytes"] <= engine["arenaBytes"]
        for b in blocks[i + 1:]:
            together = a["first"] <= b["last"] and b["first"] <= a["last"]
            assert not together or a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]


HOSTILE = '</script><script>document.title = "broken"</script> {{script}} & "'


@pytest.fixture(scope="module")
def lesser(folder):
    """Pages of engines that tell names alone, nothing, and names meant to break out of the page."""
    trt.explore(build(trt.ProfilingVerbosity.LAYER_NAMES_ONLY, folder / "names.engine"), folder / "names.html")
    trt.explore(build(trt.ProfilingVerbosity.NONE, folder / "none.engine"), folder / "none.html", time=False)
    layer = {"Name": HOSTILE, "LayerType": "Softmax", "Inputs": [], "Outputs": []}
    (folder / "hostile.json").write_text(json.dumps({"Name": HOSTILE, "Layers": [layer]}), encoding="utf-8")
    trt.explore(folder / "hostile.json", folder / "hostile.html")
    return folder


def test_engines_that_tell_less_say_what_to_build_with(lesser):
    engine = data_of(lesser / "names.html")["engines"][0]
    assert not engine["detailed"] and all("ms" in layer for layer in engine["layers"])
    assert any("--profilingVerbosity=detailed" in note for note in engine["notes"])
    assert data_of(lesser / "none.html")["engines"][0]["layers"] == []


def test_the_command_writes_a_page(engine_file, tmp_path):
    result = as_json("explore", engine_file, "-o", tmp_path / "page.html", "--no-time")
    assert result["engines"][0]["times"] == "builder" and (tmp_path / "page.html").stat().st_size == result["bytes"]
    assert not re.search(r"<(script|link|img)[^>]*(src|href)=.(?!data:)", (tmp_path / "page.html").read_text("utf-8"))
    assert "there is none with number 7" in refusal("explore", engine_file, "--profile", 7)
    (tmp_path / "no.json").write_text("[]", encoding="utf-8")
    assert "this is no engine" in refusal("explore", tmp_path / "no.json")


def test_engines_for_another_machine_are_shown(tmp_path):
    (tmp_path / "m.onnx").write_bytes(residual_model())
    try:
        trt.build(tmp_path / "m.onnx", tmp_path / "m.engine", compute_capability=75, shapes={"x": (2, 3, 32, 32)})
    except trt.Error as error:
        pytest.skip(str(error))  # without NVRTC
    result = as_json("explore", tmp_path / "m.engine", "-o", tmp_path / "page.html")
    assert result["engines"][0]["times"] == "none"  # for want of the machine
    page = data_of(tmp_path / "page.html")["engines"][0]
    assert any("cuda/" in layer["kernel"] for layer in page["layers"])
    assert any("does not run here" in note for note in page["notes"])
    layers = as_json("inspect", tmp_path / "m.engine")["layers"]
    assert [layer["name"] for layer in layers] == [layer["name"] for layer in page["layers"]]
    (tmp_path / "m.engine").write_bytes(b"nonsense" * 99)
    assert refusal("explore", tmp_path / "m.engine").count("is no engine: camshaft build") == 1


def test_names_cannot_break_out_of_the_page(lesser):
    assert data_of(lesser / "hostile.html")["engines"][0]["layers"][0]["name"] == HOSTILE


@pytest.mark.parametrize(("expression", "constants", "expected"), [
    ("relu(x0:f32)", [], ["ReLU"]),
    ("gelu(add(x0:f32, x1:f32))", [True], ["bias", "GELU"]),
    ("add(silu(x0:f32), x1:f32)", [False], ["SiLU", "residual sum"]),
    ("relu(min(add(mul(x0:f32, 0.2:f32), 0.5:f32), 1:f32))", [], ["hard sigmoid"]),
    ("add(mul(hard_swish(x0:f32), 0.4:f32), -0.1:f32)", [], ["hard swish", "scale and shift"]),
    ("cast(min(max(round(div(silu(add(mul(cast(x0:i32, f32), mul(x1:f32, 0.3:f32)), x2:f32)), 0.8:f32)), -128:f32), "
     "127:f32), i8)", [True, True], ["scale", "bias", "SiLU", "quantisation to 8-bit integers"]),
])
def test_expressions_in_words(expression, constants, expected):
    assert words.steps(words.parse(expression), constants) == expected


@pytest.mark.parametrize("text", ["", "(", "relu(", "relu(x0", "a)b", "f(x0,)", "(" * 5000])
def test_expressions_that_are_none(text):
    assert words.parse(text) is None


def test_views_and_parts_are_followed_by_their_memory():
    def tensor(name, offset, size):
        return {"Name": name, "Memory": {"Place": "Arena", "Offset": offset, "Bytes": size}}

    layers = [{"Inputs": [], "Outputs": [tensor("a", 0, 64)]}, {"Inputs": [], "Outputs": [tensor("b", 64, 64)]},
              {"Inputs": [tensor("joined", 0, 128)], "Outputs": [tensor("c", 128, 64)]},
              {"Inputs": [tensor("view of a", 0, 64)], "Outputs": [tensor("d", 0, 64)]}]
    assert memory.producers(layers) == [[], [], [[0, 1]], [[0]]]
    blocks = {block["name"]: (block["first"], block["last"]) for block in memory.plan(layers)}
    assert blocks == {"a": (0, 2), "b": (1, 2), "c": (2, 2), "d": (3, 3)}, "a ends where d is written over it"


def test_sources_fit_in_one_script():
    assert sorted(MODULES) == sorted(path.name for path in SOURCES.glob("*.js"))
    for i, name in enumerate(MODULES):
        used = re.findall(r'from "\./(.*?)"', (SOURCES / name).read_text(encoding="utf-8"))
        assert set(used) <= set(MODULES[:i]), f"{name} uses what comes later"
    names = re.findall(r"^(?:function|class|const|let) (\w+)", script(), re.MULTILINE)
    assert len(names) == len(set(names)), "two modules have the same name at the top"
    assert "import " not in re.sub(r"//.*", "", script()) and "http" not in script()


def synthetic(count):
    """Layers of many blocks with branches and skips, as an exported description."""
    random = numpy.random.default_rng(1)
    layers, last = [], "x"

    def tensor(name):
        return {"Name": name, "Dimensions": [1, 56, 56, 64], "Datatype": "FP32", "Memory": {"Place": "Dynamic"}}

    def add(kind, inputs, name):
        layers.append({"Name": name, "LayerType": kind, "Inputs": [tensor(each) for each in inputs],
                       "Outputs": [tensor(name)], "TacticName": f"cpu/{kind.lower()}_f32", "Why": "",
                       "TimeMs": float(random.exponential(0.2)), "Operations": 1e8, "BytesMoved": 1600000,
                       "Metadata": f"[ONNX Layer: /{name}]", "OriginNodes": [f"/{name}"],
                       "Alternatives": [{"Kernel": "cpu/plain", "Note": "slower", "TimeMs": 1.0}]})
        return name

    while len(layers) < count:
        block, ends = len(layers), []
        for branch in range(int(random.integers(1, 5))):
            end = last
            for depth in range(int(random.integers(1, 4))):
                end = add("Conv", [end], f"block{block}/branch{branch}/conv{depth}")
            ends.append(end)
        last = add("Concat", [*ends, last], f"block{block}/join")
    return {"Name": "synthetic", "Device": "cpu", "Layers": layers[:count]}


@needs_browser
def test_in_a_browser(written, engine_file):
    fused = next(layer for layer in data_of(written)["engines"][0]["layers"] if "block/Add" in layer["origins"])
    with browser.Browser() as page:
        page.open(written)
        assert "net.engine" in page.text("#top")
        page.key("/")
        page.type("block/add")
        assert "1 layer" in page.text("#results")
        page.key("Enter")
        panel = page.text("#panel")
        assert fused["words"] in panel and fused["kernel"] in panel and "block/Add" in panel
        selected = page.value("camshaftExplore.state.selected")
        page.key("ArrowDown")
        assert page.value("camshaftExplore.state.selected") == selected + 1
        page.key("ArrowLeft")
        assert page.value("camshaftExplore.state.selected") == selected, "back along the data"
        page.key("Escape")
        assert "By kind of layer".upper() in page.text("#panel").upper()
        page.key("?")
        assert page.value("document.getElementById('help').open")
        page.key("Escape")
        page.key("2")
        assert fused["kernel"] in page.text("#tableRows")
        for tab, canvas in (("3", "memoryPlan"), ("4", "rooflineChart"), ("1", "graph")):
            page.key(tab)
            assert painted(page, canvas), canvas
        page.prefer("dark")
        assert page.value("getComputedStyle(document.body).backgroundColor") == "rgb(14, 18, 23)"
        assert page.errors == []


def painted(page, canvas):
    """Whether more than one colour is on it."""
    return page.value(f"""new Promise((done) => requestAnimationFrame(() => {{
        const canvas = document.getElementById("{canvas}");
        const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
        done(new Set(pixels).size > 3);
    }}))""")


@needs_browser
def test_two_engines_in_a_browser(folder, engine_file):
    other = build(trt.ProfilingVerbosity.DETAILED, folder / "other.engine")
    trt.explore(engine_file, folder / "both.html", other=other, time=False)
    with browser.Browser() as page:
        page.open(folder / "both.html")
        page.key("5")
        assert "net.engine" in page.text("#compareTitle") and "other.engine" in page.text("#compareTitle")
        bars = page.value("""[...document.querySelectorAll(".pair")].map((pair) =>
            [parseFloat(pair.children[2].textContent), pair.children[2].textContent.split(" ")[1] === "us" ? 1e-3 : 1,
             pair.children[1].getBoundingClientRect().width])""")
        scales = [width / (number * unit) for number, unit, width in bars if number and width > 20]
        assert scales and max(scales) < 1.1 * min(scales)  # however long the longest is
        page.click_on("#compareRows tbody tr:not([aria-hidden])")
        assert "A: net.engine" in page.text("#panel") or "A: NET.ENGINE" in page.text("#panel")
        page.key("1")
        page.key("b")
        assert page.value("camshaftExplore.state.engine") == 1
        page.resize(700, 900)
        names, tabs = (page.value(f"document.querySelector('{which}').getBoundingClientRect().{edge}")
                       for which, edge in (("#engines", "bottom"), ("#top nav", "top")))
        assert names <= tabs  # of a narrow window: one above the other
        assert page.errors == []


@needs_browser
@pytest.mark.parametrize("name", ["names", "none", "hostile"])
def test_engines_that_tell_less_in_a_browser(lesser, name):
    with browser.Browser() as page:
        page.open(lesser / f"{name}.html")
        for tab in "1234":
            page.key(tab)
        assert "broken" not in page.value("document.title").split()
        assert page.errors == []


@needs_browser
def test_ten_thousand_layers(folder, record_property):
    (folder / "many.json").write_text(json.dumps(synthetic(10_000)), encoding="utf-8")
    trt.explore(folder / "many.json", folder / "many.html")
    with browser.Browser() as page:
        page.open(folder / "many.html")
        assert "10,000 layers" in page.text("#summary")
        frames = page.value("""(async () => {
            const graph = document.getElementById("graph"), { frames } = camshaftExplore.graphView;
            frames.length = 0;
            for (let i = 0; i < 60; ++i) {
              graph.dispatchEvent(new WheelEvent("wheel", { deltaY: i < 30 ? 5 : -80, shiftKey: i < 30, cancelable: true,
                clientX: 400, clientY: 400 }));
              await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
            }
            return [...frames].sort((a, b) => a - b);
        })()""")
        record_property("median_frame_ms", frames[len(frames) // 2])
        record_property("longest_frame_ms", frames[-1])
        page.key("/")
        page.type("branch2/conv1")
        page.key("Enter")
        assert "branch2/conv1" in page.text("#panel")
        assert page.value("!document.getElementById('minimap').hidden")
        page.key("2")
        assert page.value("document.querySelectorAll('#tableRows tr').length") < 200
        assert page.errors == []
