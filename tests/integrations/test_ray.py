"""Ray Serve over several nodes, all on this machine."""

import concurrent.futures
import os
import time

import numpy
import pytest

os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"  # Serve's threads would connect again after the end
ray = pytest.importorskip("ray", reason="ray is not installed")
pytest.importorskip("ray.serve", reason="ray[serve] is not installed")
pytest.importorskip("camshaft")
pytest.importorskip("pydantic")

from ray import serve  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

import camshaft.serve  # noqa: E402

import triton_models as models  # noqa: E402

CONFIG = {"device": "cpu", "optimization_level": 0, "threads": 1, "shapes": {"x": "1x4..8x4..32x4"}}


@pytest.fixture(scope="module")
def cluster():
    """Three nodes with a CPU or two each, as Ray counts them."""
    node = {"num_cpus": 2, "object_store_memory": 100 << 20}
    made = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    for _ in range(2):
        made.add_node(**node)
    ray.init(address=made.address, log_to_driver=False)
    serve.start(http_options={"host": "127.0.0.1", "port": 0, "location": "NoServer"})
    yield made
    serve.shutdown()
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def run(cluster, tmp_path):
    """Runs a model; engines are kept in tmp_path."""
    names = []

    def start(**options):
        names.append(f"app{len(names)}_{tmp_path.name}")
        return serve.run(camshaft.serve.application(models.perceptron(), config=CONFIG, cache=tmp_path / "engines",
                                                    threads=1, **options), name=names[-1], route_prefix=None)

    yield start
    for name in names:
        serve.delete(name)


def rows(count, seed=0):
    return numpy.random.default_rng(seed).standard_normal((count, 4)).astype(numpy.float32)


def check(outputs, x):
    for name, expected in models.perceptron_outputs(x).items():
        numpy.testing.assert_allclose(outputs[name], expected, rtol=1e-5, atol=1e-5)


def ask(handle, seed):
    x = rows(1 + seed % 5, seed)
    check(handle.remote({"x": x}).result(timeout_s=60), x)


def replicas(name):
    return [actor for actor in ray.util.list_named_actors(all_namespaces=True) if f"#{name}#" in actor["name"]]


def test_an_engine_is_built_once(tmp_path):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        files = list(pool.map(lambda _: camshaft.serve.engine_file(models.perceptron(), CONFIG, tmp_path), range(4)))
    assert len(set(files)) == 1 and list(tmp_path.glob("*.engine")) == [files[0]]
    written = files[0].stat().st_mtime_ns
    files[0].write_bytes(b"damaged")
    assert camshaft.serve.engine_file(models.perceptron(), CONFIG, tmp_path).stat().st_mtime_ns != written
    camshaft.load(files[0])


def test_what_cannot_be_split_runs_alone(tmp_path):
    """As many rows as the data decides: two, of two requests, are not one each."""
    session = camshaft.load(camshaft.serve.engine_file(models.positions(), CONFIG, tmp_path))
    assert not camshaft.serve.splits_by_batch(session)
    requests = [{"x": numpy.array([[1, 1, 0, 0]], numpy.float32)}, {"x": numpy.zeros((1, 4), numpy.float32)}]
    answers = camshaft.serve.run_together(session, requests, False)
    assert [len(one["y"]) for one in answers] == [2, 0]
    good = camshaft.load(camshaft.serve.engine_file(models.perceptron(), CONFIG, tmp_path))
    assert camshaft.serve.splits_by_batch(good)
    for answer, count in zip(camshaft.serve.run_together(good, [{"x": rows(2)}, {"x": rows(3)}], True), (2, 3)):
        check(answer, rows(count))


@pytest.mark.parametrize("count", [2, 4])
def test_replicas_share_an_engine_and_one_may_die(run, tmp_path, count):
    """Whoever is killed takes the requests with it that it had, and no others."""
    at_once, most = 8, 2
    handle = run(replicas=count, max_ongoing_requests=most, name=f"killed{count}")
    assert len(list((tmp_path / "engines").glob("*.engine"))) == 1
    failed, answered, end = [], [], time.monotonic() + 12

    def asking(seed):
        while time.monotonic() < end:
            try:
                ask(handle, seed)
                answered.append(time.monotonic())
            except (ray.exceptions.RayError, RuntimeError) as error:
                failed.append(error)

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        jobs = [pool.submit(asking, seed) for seed in range(at_once)]
        time.sleep(3)
        victims = replicas(f"killed{count}")
        assert len(victims) == count
        died = time.monotonic()
        ray.kill(ray.get_actor(victims[0]["name"], victims[0]["namespace"]))
        for job in jobs:
            job.result()
    assert len(failed) <= most, failed
    assert sum(when > died + 1 for when in answered) > at_once, "the others went on"
    for _ in range(60):  # Serve starts another in its place
        if len(replicas(f"killed{count}")) == count:
            break
        time.sleep(0.5)
    assert len(replicas(f"killed{count}")) == count
    print(f"{count} replicas: {len(answered)} answered, {len(failed)} failed with the one that was killed")


def test_bad_requests_and_uneven_batches(run):
    handle = run(name="shapes")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda seed: ask(handle, seed), range(40)))
    for bad in ({"x": rows(33)}, {"x": rows(1)[:, :3]}, {}, {"q": rows(1), "x": rows(1)}):
        with pytest.raises(Exception, match="'x'|lacks"):
            handle.remote(bad).result(timeout_s=60)
    ask(handle, 3)


def test_replicas_grow_with_the_load(run):
    handle = run(name="growing", max_ongoing_requests=4, replicas={
        "min_replicas": 1, "max_replicas": 3, "target_ongoing_requests": 1, "upscale_delay_s": 1})
    assert len(replicas("growing")) == 1
    end, grown = time.monotonic() + 90, []

    def asking(seed):
        while not grown and time.monotonic() < end:
            ask(handle, seed)

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        jobs = [pool.submit(asking, seed) for seed in range(12)]
        while not grown and time.monotonic() < end:
            time.sleep(0.5)
            grown.extend(replicas("growing")[1:])
        for job in jobs:
            job.result()
    assert grown


def test_http(cluster, tmp_path):
    """What Serve's proxy hands over is JSON."""
    import asyncio

    replica = camshaft.serve.Replica(models.perceptron(), CONFIG, tmp_path, {"threads": 1})

    class Request:
        def __init__(self, body):
            self.body = body

        async def json(self):
            return self.body

    async def alone(arrays):
        return (await camshaft.serve.Replica.batch(replica, [arrays]))[0]

    replica.batch = alone
    import json

    good = asyncio.run(replica(Request({"inputs": {"x": rows(2).tolist()}})))
    check({name: numpy.array(value) for name, value in json.loads(good.body)["outputs"].items()}, rows(2))
    bad = asyncio.run(replica(Request({"inputs": {"x": [[1, 2]]}})))
    assert bad.status_code == 400 and "'x'" in json.loads(bad.body)["error"]
    replica.check_health()
