"""Camshaft's backend under the real tritonserver, called as clients call it."""

import concurrent.futures
import json
import pathlib
import subprocess
import sys
import time

import numpy
import pytest

pytest.importorskip("tritonclient.http", reason="tritonclient is not installed")
pytest.importorskip("tritonclient.grpc", reason="tritonclient[grpc] is not installed")
pytest.importorskip("onnx")

import tritonclient.grpc as grpc_client  # noqa: E402
import tritonclient.http as http_client  # noqa: E402
from tritonclient.utils import InferenceServerException  # noqa: E402
import tritonclient.utils.shared_memory as shared_memory  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "integrations" / "triton"))
import server as triton  # noqa: E402

import triton_models as models  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not triton.find_program(),
                       reason="there is no tritonserver: set TRITONSERVER to its program"),
    pytest.mark.skipif(not (triton.BACKENDS / "camshaft").exists(), reason="the backend is not built"),
]

BATCHED = """backend: "camshaft"
max_batch_size: 8
instance_group [{ kind: KIND_CPU count: 2 }]
dynamic_batching { max_queue_delay_microseconds: 20000 }
"""


def parameter(key, value):
    return f"parameters {{ key: {json.dumps(key)} value {{ string_value: {json.dumps(value)} }} }}\n"


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    triton.add_model(folder, "plain", models.perceptron())
    triton.add_model(folder, "batched", models.perceptron(), BATCHED)
    triton.add_model(folder, "images", models.sum_of_images(),
                     BATCHED + parameter("shapes", '{"x": "1x3x1x1..4x3x16x16..8x3x64x48"}'))
    triton.add_model(folder, "positions", models.positions(), BATCHED)
    triton.add_model(folder, "rows", models.perceptron(), 'backend: "camshaft"\n' + parameter("shapes", '{"x": "0x4..9x4"}')
                     + 'input [{ name: "x" data_type: TYPE_FP32 dims: [-1, 4] }]\n')
    triton.add_model(folder, "two_inputs", models.two_inputs(), BATCHED)
    triton.add_model(folder, "plain_sum", models.plain_sum())
    triton.add_model(folder, "warm", models.perceptron(), BATCHED + """model_warmup [{
  name: "ones" batch_size: 4 count: 2
  inputs { key: "x" value { data_type: TYPE_FP32 dims: 4 random_data: true } } }]\n""")
    return folder


@pytest.fixture(scope="module")
def server(repository, tmp_path_factory):
    with triton.Server(repository, tmp_path_factory.mktemp("cache") / "engines",
                       [one.name for one in repository.iterdir()]) as running:
        yield running
        assert running.process.poll() is None, "the server has ended"


@pytest.fixture(params=["http", "grpc"])
def client(request, server):
    library = http_client if request.param == "http" else grpc_client
    address = server.http if request.param == "http" else server.grpc
    with library.InferenceServerClient(address) as made:
        made.library = library
        yield made


@pytest.fixture
def http(server):
    with http_client.InferenceServerClient(server.http, concurrency=16) as made:
        made.library = http_client
        yield made


@pytest.fixture
def shared(server):
    """A client that several threads may use; those of HTTP are not such."""
    with grpc_client.InferenceServerClient(server.grpc) as made:
        made.library = grpc_client
        yield made


def tensor(library, name, value, kind=None):
    kinds = {"float32": "FP32", "int64": "INT64", "int32": "INT32", "object": "BYTES", "bool": "BOOL"}
    made = library.InferInput(name, list(value.shape), kind or kinds[value.dtype.name])
    return made.set_data_from_numpy(value) if value.dtype != object or kind else made


def infer(client, model, outputs=None, **inputs):
    wanted = [client.library.InferRequestedOutput(name) for name in outputs] if outputs else None
    return client.infer(model, [tensor(client.library, name, value) for name, value in inputs.items()],
                        outputs=wanted)


def rows(count, width=4, seed=0):
    return numpy.random.default_rng(seed).standard_normal((count, width)).astype(numpy.float32)


def refused(client, model, *words, **inputs):
    with pytest.raises(InferenceServerException) as error:
        infer(client, model, **inputs)
    message = error.value.message()
    assert all(word in message for word in words), message
    assert "\n" not in message.strip()


def check_perceptron(result, x, scale=1.0):
    for name, expected in models.perceptron_outputs(x, scale).items():
        numpy.testing.assert_allclose(result.as_numpy(name), expected, rtol=1e-5, atol=1e-5)


def statistics(http, model):
    return http.get_inference_statistics(model)["model_stats"][0]


# What is answered.

def test_a_folder_without_a_configuration_is_completed(http):
    config = http.get_model_config("plain")
    assert config["max_batch_size"] == 4 and "dynamic_batching" in config
    assert [(one["name"], one["data_type"], one["dims"]) for one in config["input"]] == [("x", "TYPE_FP32", [4])]
    assert {one["name"]: one["dims"] for one in config["output"]} == {"y": [3], "z": [4]}


@pytest.mark.parametrize("count", [1, 3, 4])
def test_rows_of_a_batch(client, count):
    x = rows(count)
    check_perceptron(infer(client, "plain", x=x), x)


def test_only_outputs_that_are_asked_for(client):
    result = infer(client, "plain", ["z"], x=rows(2))
    assert result.as_numpy("y") is None
    numpy.testing.assert_array_equal(result.as_numpy("z"), rows(2) + 1)


def test_requests_of_uneven_sizes_are_joined(http, shared):
    before = statistics(http, "batched")
    sizes = [1, 3, 2, 5, 1, 1, 8, 2, 4, 1, 7, 1] * 6
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda job: infer(shared, "batched", x=rows(job[1], seed=job[0])),
                                enumerate(sizes)))
    for seed, (size, answer) in enumerate(zip(sizes, answers)):
        check_perceptron(answer, rows(size, seed=seed))
    after = statistics(http, "batched")
    runs = after["execution_count"] - before["execution_count"]
    assert after["inference_count"] - before["inference_count"] == sum(sizes)
    assert runs < len(sizes), "nothing was joined"
    assert any(one["batch_size"] > 1 for one in after["batch_stats"])


def test_a_sequence_of_sizes(client):
    generator = numpy.random.default_rng(3)
    for shape in [(1, 3, 1, 1), (8, 3, 64, 48), (2, 3, 7, 5), (1, 3, 64, 1), (5, 3, 13, 17), (1, 3, 1, 1)]:
        x = generator.standard_normal(shape).astype(numpy.float32)
        numpy.testing.assert_allclose(infer(client, "images", x=x).as_numpy("y"), x.sum(1), rtol=1e-5, atol=1e-5)


def test_outputs_whose_size_the_data_decides(shared):
    """They cannot be split, so requests run alone, whatever the queue joins."""
    def ask(seed):
        x = (rows(1 + seed % 4, seed=seed) > 0).astype(numpy.float32)
        return x, infer(shared, "positions", x=x).as_numpy("y")

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for x, y in pool.map(ask, range(40)):
            numpy.testing.assert_array_equal(y, numpy.argwhere(x))
    assert infer(shared, "positions", x=numpy.zeros((1, 4), numpy.float32)).as_numpy("y").shape == (0, 2)


def test_inputs_of_several_types_and_ranks(client):
    ids = numpy.arange(15).reshape(3, 5) - 7
    scale = numpy.array([[2.0], [0.5], [-1.0]], numpy.float32)  # rank 1 in the model: Triton reshapes
    result = infer(client, "two_inputs", ids=ids, scale=scale)
    numpy.testing.assert_allclose(result.as_numpy("y"), ids * scale)
    numpy.testing.assert_array_equal(result.as_numpy("is"), ids * scale > 0)


def test_a_model_without_a_batch(client):
    assert client_config(client, "plain_sum")["max_batch_size"] == 0
    x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    result = infer(client, "plain_sum", x=x, k=numpy.array([2.0], numpy.float32))
    assert result.as_numpy("y").tolist() == [30.0]
    refused(client, "plain_sum", "x", x=x[:1], k=numpy.array([2.0], numpy.float32))


def client_config(client, model):
    return (client.get_model_config(model) if client.library is http_client else
            client.get_model_config(model, as_json=True)["config"] | {"max_batch_size": 0})


def test_no_rows(client, http):
    """Triton's batches have a row or more; without a batch, what the profile takes is run."""
    refused(client, "batched", "'x'", x=rows(0))
    for count in (0, 3):
        check_perceptron(infer(http, "rows", x=rows(count)), rows(count))


def test_shared_memory(http):
    x = rows(4)
    regions = {name: shared_memory.create_shared_memory_region(name, "/camshaft_" + name, size)
               for name, size in [("in", x.nbytes), ("out", 4 * 3 * 4)]}
    try:
        shared_memory.set_shared_memory_region(regions["in"], [x])
        for name, region in regions.items():
            http.register_system_shared_memory(name, "/camshaft_" + name, x.nbytes if name == "in" else 48)
        source = http_client.InferInput("x", [4, 4], "FP32")
        source.set_shared_memory("in", x.nbytes)
        target = http_client.InferRequestedOutput("y")
        target.set_shared_memory("out", 48)
        http.infer("plain", [source], outputs=[target])
        found = shared_memory.get_contents_as_numpy(regions["out"], numpy.float32, [4, 3])
        numpy.testing.assert_allclose(found, models.perceptron_outputs(x)["y"], rtol=1e-5, atol=1e-5)

        target.set_shared_memory("out", 40)  # too small
        with pytest.raises(InferenceServerException):
            http.infer("plain", [source], outputs=[target])
        check_perceptron(infer(http, "plain", x=x), x)
    finally:
        http.unregister_system_shared_memory()
        for region in regions.values():
            shared_memory.destroy_shared_memory_region(region)


def test_warm_up_and_statistics(http):
    before = statistics(http, "warm")
    assert before["execution_count"] == 4, "two instances, warmed up twice"
    infer(http, "warm", x=rows(3))
    after = statistics(http, "warm")
    assert after["inference_count"] - before["inference_count"] == 3
    assert after["execution_count"] - before["execution_count"] == 1
    assert [one["batch_size"] for one in after["batch_stats"]] == [3, 4]
    times = after["inference_stats"]
    for part in ("compute_input", "compute_infer", "compute_output"):
        assert times[part]["ns"] > before["inference_stats"][part]["ns"]
    assert times["fail"]["count"] == 0


# What is refused, in one sentence.

def test_bad_requests(client):
    refused(client, "plain", "x", x=rows(2, 5))  # another width
    refused(client, "plain", "x", x=numpy.zeros((2, 2, 4), numpy.float32))  # another rank
    refused(client, "plain", "INT32", "FP32", x=numpy.zeros((2, 4), numpy.int32))
    refused(client, "plain", "batch-size", x=rows(5))
    refused(client, "two_inputs", "expected 2 inputs", ids=numpy.zeros((1, 5), numpy.int64))
    refused(client, "images", "'x'", "64", x=numpy.zeros((1, 3, 65, 48), numpy.float32))  # beyond the profile
    with pytest.raises(InferenceServerException, match="nothing"):
        infer(client, "plain", ["nothing"], x=rows(1))
    strings = tensor(client.library, "x", numpy.array([[b"a", b"b", b"c", b"d"]], object), "BYTES")
    with pytest.raises(InferenceServerException, match="BYTES"):
        client.infer("plain", [strings])
    check_perceptron(infer(client, "plain", x=rows(2)), rows(2))


def test_bad_requests_among_good_ones(shared):
    """What one asks beyond the profile does not cost those that are queued with it."""
    def ask(seed):
        height = 70 if seed % 3 == 0 else 6
        x = numpy.full((1, 3, height, 6), seed, numpy.float32)
        try:
            return seed, infer(shared, "images", x=x).as_numpy("y")
        except InferenceServerException as error:
            return seed, error

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for seed, y in pool.map(ask, range(48)):
            if seed % 3 == 0:
                assert isinstance(y, InferenceServerException) and "70" in y.message()
            else:
                numpy.testing.assert_array_equal(y, numpy.full((1, 6, 6), 3 * seed))


def test_cancelled_requests(server):
    """Cancelled ones get no answer, and the server goes on."""
    with grpc_client.InferenceServerClient(server.grpc) as client:
        answers = []
        calls = [client.async_infer("batched", [tensor(grpc_client, "x", rows(8, seed=i))],
                                    lambda result, error: answers.append((result, error)))
                 for i in range(30)]
        for call in calls[::2]:
            call.cancel()
        end = time.monotonic() + 30
        while len(answers) < len(calls) and time.monotonic() < end:
            time.sleep(0.05)
        assert len(answers) == len(calls)
        assert sum(error is None for _, error in answers) >= 15
        client.library = grpc_client
        check_perceptron(infer(client, "batched", x=rows(2)), rows(2))


# Models that are loaded while the server runs.

def test_reload_under_load(server, repository, http):
    """New weights take the place of old ones; no request is lost, and each has one or the other."""
    triton.add_model(repository, "changing", models.perceptron(), BATCHED)
    http.load_model("changing")
    done = concurrent.futures.Future()

    def ask(seed):
        answers = 0
        with http_client.InferenceServerClient(server.http) as own:
            own.library = http_client
            while not done.done():
                x = rows(1 + seed % 3, seed=seed)
                y = infer(own, "changing", x=x).as_numpy("y")
                expected = [models.perceptron_outputs(x, scale)["y"] for scale in (1.0, 3.0)]
                assert any(numpy.allclose(y, one, atol=1e-4) for one in expected)
                answers += 1
        return answers

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask, seed) for seed in range(4)]
        try:
            for scale in (3.0, 1.0, 3.0):
                triton.add_model(repository, "changing", models.perceptron(scale=scale), BATCHED)
                http.load_model("changing")
        finally:
            done.set_result(None)
        assert all(one.result() > 0 for one in asking)
    check_perceptron(infer(http, "changing", x=rows(2)), rows(2), 3.0)
    http.unload_model("changing")


def load_error(http, repository, name, file, config, file_name=None):
    triton.add_model(repository, name, file, config, file_name=file_name)
    with pytest.raises(InferenceServerException) as error:
        http.load_model(name)
    return error.value.message()


@pytest.mark.parametrize("config, words", [
    (parameter("presicion", "fp16"), ["presicion is no setting; did you mean 'precision'?"]),
    (parameter("precision", "fp17"), ["precision[0] should be 'fp32', 'tf32'", "not 'fp17'"]),
    (parameter("shapes", '{"x": "axb"}'), ["shapes.x.min should be a shape such as 1x3x224x224, not 'axb'"]),
    (parameter("tensor_types", '{"x": "fp16"}'), ["tensor_types cannot be set here: Triton says"]),
    (parameter("disabled_passes", "fuse_nroms"), ["fuse_nroms"]),
    (parameter("shapes", '{"nothing": "1x4"}'), ["nothing"]),
    (parameter("shapes", '{"x": "1x4..8x4"}') + "max_batch_size: 16", ["16", "8"]),
    (parameter("config", "absent.json"), ["absent.json"]),
    (parameter("device", "gpu"), ["device", "KIND_CPU"]),
    ('input [{ name: "q" data_type: TYPE_FP32 dims: [4] }] max_batch_size: 2', ["'q'", "'x'"]),
    ('input [{ name: "x" data_type: TYPE_INT64 dims: [4] }] max_batch_size: 2', ["'x'", "TYPE_INT64"]),
    ('input [{ name: "x" data_type: TYPE_FP32 dims: [5] }] max_batch_size: 2', ["'x'", "[5]"]),
])
def test_bad_configurations(http, repository, config, words):
    message = load_error(http, repository, "bad", models.perceptron(), 'backend: "camshaft"\n' + config)
    assert all(word in message for word in words), message


def test_bad_files(http, repository):
    assert "bad_onnx" in load_error(http, repository, "bad_onnx", b"nothing of use", None or "")
    message = load_error(http, repository, "bad_engine", b"nothing of use", "", file_name="model.engine")
    assert "engine" in message
    message = load_error(http, repository, "fixed", models.perceptron(batch=2), BATCHED)
    assert "max_batch_size" in message and "'x'" in message


def test_a_file_of_settings_and_engines_by_content(http, repository, server):
    """Settings come from a JSON file; an equal model is not built again."""
    engines = server.log.with_suffix("")
    config = BATCHED + parameter("config", "build.json")
    folder = triton.add_model(repository, "configured", models.perceptron(scale=7.0), config)
    (folder / "build.json").write_text(json.dumps(
        {"optimization_level": 1, "threads": 1, "precision": ["fp32"], "timing_cache": "timings",
         "profiles": [{"shapes": {"x": [1, 4]}}, {"shapes": {"x": {"min": [2, 4], "opt": [4, 4], "max": [8, 4]}}}]}))
    http.load_model("configured")
    assert (folder / "timings").exists()
    for count in (1, 2, 8, 1):
        check_perceptron(infer(http, "configured", x=rows(count)), rows(count), 7.0)
    kept = set(engines.glob("*.engine"))
    http.load_model("configured")  # as it was
    (folder.parent / "again" / "1").mkdir(parents=True)
    triton.add_model(repository, "again", models.perceptron(scale=7.0), config)
    (folder.parent / "again" / "build.json").write_text((folder / "build.json").read_text())
    http.load_model("again")
    assert set(engines.glob("*.engine")) == kept
    for engine in kept:  # a damaged one is built again
        engine.write_bytes(b"damaged")
    http.load_model("configured", config=json.dumps({"backend": "camshaft", "max_batch_size": 4}))
    check_perceptron(infer(http, "configured", x=rows(3)), rows(3), 7.0)


@pytest.mark.parametrize("file_name", ["model.engine", "model.plan"])
def test_engines_that_were_built_before(http, repository, tmp_path, file_name):
    """Their profiles say how large a batch may be."""
    (tmp_path / "model.onnx").write_bytes(models.perceptron())
    subprocess.run([ROOT / "build" / "bin" / "trtexec", f"--onnx={tmp_path}/model.onnx", "--cpu", "--skipInference",
                    "--minShapes=x:1x4", "--optShapes=x:4x4", "--maxShapes=x:6x4",
                    f"--saveEngine={tmp_path}/engine"], check=True, capture_output=True)
    name = "from_" + file_name.replace(".", "_")
    triton.add_model(repository, name, tmp_path / "engine", file_name=file_name)
    http.load_model(name)
    assert http.get_model_config(name)["max_batch_size"] == 6
    check_perceptron(infer(http, name, x=rows(6)), rows(6))
    message = load_error(http, repository, name, tmp_path / "engine",
                         'backend: "camshaft" instance_group [{ kind: KIND_MODEL }]' + parameter("device", "gpu"),
                         file_name=file_name)
    assert "GPU 0" in message or "CPU" in message


def test_a_folder_with_a_model_and_nothing_else(tmp_path):
    """Under the name of the server's own ONNX backend, Camshaft takes such folders over."""
    backends = tmp_path / "backends"
    for name in ("camshaft", "onnxruntime"):
        (backends / name).mkdir(parents=True)
        (backends / name / f"libtriton_{name}.so").symlink_to(triton.BACKENDS / "camshaft" / "libtriton_camshaft.so")
    (tmp_path / "lib").mkdir()
    triton.add_model(tmp_path / "models", "bare", models.perceptron(), config=None)
    with triton.Server(tmp_path / "models", tmp_path / "engines", ["bare"], backends,
                       options=[f"--backend-config=onnxruntime,engine_cache={tmp_path}/engines"]) as server:
        with http_client.InferenceServerClient(server.http) as client:
            client.library = http_client
            check_perceptron(infer(client, "bare", x=rows(2)), rows(2))
            assert list((tmp_path / "engines").glob("*.engine"))
        assert server.close() == 0
