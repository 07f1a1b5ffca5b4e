#!/usr/bin/env python3
"""Minutes of load on tritonserver with reloads and bad requests: nothing may be lost, and memory must stay flat.

    integrations/triton/soak.py [--seconds 600] [--clients 6] [--model model.onnx --shape image=3x224x224]

Good requests of one to eight rows go to a model whose weights are exchanged every few seconds, and their results must
be those of one version or the other. Bad ones (another width, type or rank, beyond the profile, an input too few,
strings) must be answered with an error. --model adds a model of one's own to the load; --cancelled cancels requests
over gRPC, which the server's own front end does not always survive (Triton 2.51: its thread locks a mutex that is gone,
with any backend).
"""

import argparse
import pathlib
import random
import sys
import tempfile
import threading
import time

import numpy
import tritonclient.grpc as grpc
import tritonclient.http
from tritonclient.utils import InferenceServerException

import load
import server as triton

sys.path.insert(0, str(triton.ROOT / "tests" / "integrations"))
import triton_models as models  # noqa: E402

SCALES = (1.0, 3.0)
CONFIG = """backend: "camshaft"
max_batch_size: 8
instance_group [{ kind: KIND_CPU count: 2 }]
dynamic_batching { max_queue_delay_microseconds: 2000 }
"""


class Counts:
    """What was sent and what came of it, by kind."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts = {}

    def add(self, kind, what):
        with self.lock:
            self.counts[kind, what] = self.counts.get((kind, what), 0) + 1

    def get(self, kind, what):
        return self.counts.get((kind, what), 0)


def rows(count, width=4, kind=numpy.float32):
    return numpy.random.default_rng(count).standard_normal((count, width)).astype(kind)


def tensor(name, value, kind="FP32"):
    return grpc.InferInput(name, list(value.shape), kind).set_data_from_numpy(value)


def ask(client, counts, kind, model, inputs, right):
    counts.add(kind, "sent")
    try:
        result = client.infer(model, inputs, client_timeout=60)
        counts.add(kind, "right" if right(result) else "wrong")
    except InferenceServerException as error:
        counts.add(kind, "lost" if "DEADLINE" in str(error.status()) else "refused")
        if kind != "bad" and counts.get(kind, "refused") < 5:
            print("a good request was refused:", error.message(), file=sys.stderr)


def is_perceptron(x):
    expected = [models.perceptron_outputs(x, scale)["y"] for scale in SCALES]
    return lambda result: any(numpy.allclose(result.as_numpy("y"), one, atol=1e-4) for one in expected)


def good(client, counts, stop):
    chance = random.Random(threading.get_ident())
    while not stop.is_set():
        x = rows(chance.randint(1, 8))
        ask(client, counts, "good", "changing", [tensor("x", x)], is_perceptron(x))


def bad(client, counts, stop, cancels):
    strings = numpy.array([[b"a", b"b", b"c", b"d"]], object)
    requests = [("changing", [tensor("x", rows(2, 5))]), ("changing", [tensor("x", rows(9))]),
                ("changing", [tensor("x", rows(1, kind=numpy.int32), "INT32")]), ("changing", []),
                ("changing", [tensor("x", strings, "BYTES")]),
                ("changing", [tensor("x", rows(2).reshape(1, 2, 4))]),
                ("images", [tensor("x", numpy.zeros((1, 3, 70, 5), numpy.float32))]), ("absent", [tensor("x", rows(1))])]
    while not stop.wait(0.02):
        for model, inputs in requests:
            if stop.is_set():
                return
            ask(client, counts, "bad", model, inputs, lambda result: False)
        if not cancels:
            continue
        call = client.async_infer("changing", [tensor("x", rows(4))], lambda result, error: None)
        call.cancel()
        counts.add("cancelled", "sent")


def own(client, counts, stop, name, shape):
    """The model of one's own: its results must not change."""
    value = numpy.random.default_rng(1).random((1, *shape), numpy.float32)
    graph_output = client.get_model_metadata("own", as_json=True)["outputs"][0]["name"]
    first = client.infer("own", [tensor(name, value)]).as_numpy(graph_output)
    while not stop.is_set():
        ask(client, counts, "own", "own", [tensor(name, value)],
            lambda result: numpy.allclose(result.as_numpy(graph_output), first, rtol=1e-3, atol=1e-3))


def reload(server, repository, counts, stop, seconds):
    with tritonclient.http.InferenceServerClient(server.http, network_timeout=120) as client:
        for number in range(1 << 30):
            if stop.wait(seconds):
                return
            triton.add_model(repository, "changing", models.perceptron(scale=SCALES[number % 2]), CONFIG)
            client.load_model("changing")
            counts.add("reload", "done")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--reload-seconds", type=float, default=3)
    parser.add_argument("--cancelled", action="store_true", help="cancel some requests too")
    parser.add_argument("--model")
    parser.add_argument("--shape", type=load.named_shape)
    arguments = parser.parse_args()
    if not triton.find_program():
        sys.exit("there is no tritonserver: set TRITONSERVER to its program")
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(soak(pathlib.Path(folder), arguments))


def soak(folder, arguments):
    repository = folder / "models"
    triton.add_model(repository, "changing", models.perceptron(), CONFIG)
    triton.add_model(repository, "images", models.sum_of_images(), CONFIG +
                     'parameters { key: "shapes" value { string_value: "{\\"x\\": \\"1x3x1x1..8x3x64x48\\"}" } }\n')
    if arguments.model:
        triton.add_model(repository, "own", arguments.model)
    counts, stop, memory = Counts(), threading.Event(), []
    with triton.Server(repository, folder / "engines", [one.name for one in repository.iterdir()]) as server:
        clients = [grpc.InferenceServerClient(server.grpc) for _ in range(arguments.clients + 2)]
        jobs = [(good, client, counts, stop) for client in clients[2:]] + [
            (bad, clients[0], counts, stop, arguments.cancelled)]
        jobs.append((reload, server, repository, counts, stop, arguments.reload_seconds))
        if arguments.model:
            jobs.append((own, clients[1], counts, stop, *arguments.shape))
        threads = [threading.Thread(target=job, args=rest) for job, *rest in jobs]
        for thread in threads:
            thread.start()
        begin = time.monotonic()
        while time.monotonic() - begin < arguments.seconds and server.process.poll() is None:
            time.sleep(5)
            memory.append((time.monotonic() - begin, server.resident_bytes() / 1e6))
            if len(memory) % 12 == 0:
                print(f"{memory[-1][0]:6.0f} s: {memory[-1][1]:.1f} MB resident", flush=True)
        stop.set()
        for thread in threads:
            thread.join(120)
        hanging = sum(thread.is_alive() for thread in threads)
        status = server.close()
        if status:
            print("the server says:\n" + server.log.read_text()[-6000:])
    return told(counts, memory, hanging, status)


def told(counts, memory, hanging, status):
    """Prints what happened; 0 where nothing was lost and memory is flat, else 1."""
    for (kind, what), count in sorted(counts.counts.items()):
        print(f"{kind:10} {what:8} {count}")
    times, megabytes = numpy.array(memory).T
    thirds = [numpy.median(part) for part in numpy.array_split(megabytes, 3)]
    slope = numpy.polyfit(times[len(times) // 3:], megabytes[len(times) // 3:], 1)[0] * 60
    print("resident MB, medians of the thirds: " + ", ".join(f"{one:.1f}" for one in thirds)
          + f"; first {megabytes[0]:.1f}, last {megabytes[-1]:.1f}, most {megabytes.max():.1f}; "
          f"{slope:+.2f} MB a minute after the first third")
    lost = sum(counts.get(kind, "sent") - counts.get(kind, "right") for kind in ("good", "own"))
    unanswered = counts.get("bad", "sent") - counts.get("bad", "refused")
    print(f"good requests lost or wrong: {lost}; bad ones not refused: {unanswered}; threads that hang: {hanging}; "
          f"the server's exit status: {status}")
    return int(bool(lost or unanswered or hanging or status or thirds[2] > 1.05 * thirds[1] + 5))


if __name__ == "__main__":
    main()
