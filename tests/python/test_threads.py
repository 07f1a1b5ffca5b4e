"""The threads that CPU engines compute on: those of the process, or an application's."""

import concurrent.futures
import os
import threading
import time

import numpy
import pytest
from onnx import TensorProto
from small_models import one_node

import camshaft as trt

X = numpy.linspace(-1, 1, 512 * 1024, dtype=numpy.float32).reshape(512, 1024)


class Counting(concurrent.futures.ThreadPoolExecutor):
    """An executor that knows how many tasks it was given."""

    submitted = 0

    def submit(self, *task):
        self.submitted += 1
        return super().submit(*task)


@pytest.fixture
def plan(logger, builder, network, config):
    """exp of a tensor that is worth sharing."""
    shape = (TensorProto.FLOAT, X.shape)
    assert trt.OnnxParser(network, logger).parse(one_node("Exp", {"x": shape}, shape))
    return builder.build_serialized_network(network, config)


def thread_count():
    return len(os.listdir("/proc/self/task"))


def exp(context):
    numpy.testing.assert_allclose(trt.infer(context, {"x": X})["y"], numpy.exp(X), rtol=1e-5)


def test_an_executor_helps(logger, plan):
    runtime = trt.Runtime(logger)
    assert runtime.thread_pool is None
    runtime.max_threads = 3
    with Counting(2) as executor:
        runtime.thread_pool = executor
        assert runtime.thread_pool is executor
        context = runtime.deserialize_cuda_engine(plan).create_execution_context()
        runtime.thread_pool = None  # of engines to come
        del runtime
        for _ in range(20):
            exp(context)
        assert executor.submitted > 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_executor_that_takes_nothing_is_done_without(logger, plan):
    runtime = trt.Runtime(logger)
    runtime.max_threads = 3
    executor = Counting(2)
    runtime.thread_pool = executor
    context = runtime.deserialize_cuda_engine(plan).create_execution_context()
    executor.shutdown()
    exp(context)
    assert executor.submitted > 0


def test_tasks_that_an_executor_drops_are_harmless(logger, plan):
    runtime = trt.Runtime(logger)
    runtime.max_threads = 3
    busy = threading.Event()
    executor = Counting(1)
    executor.submit(busy.wait)
    runtime.thread_pool = executor
    context = runtime.deserialize_cuda_engine(plan).create_execution_context()
    for _ in range(3):
        exp(context)
    assert executor.submitted == 3, "a task that waits is not submitted again"
    executor.shutdown(wait=False, cancel_futures=True)
    busy.set()


def test_only_executors_are_taken(logger):
    with pytest.raises(TypeError, match=r"method submit\(\)"):
        trt.Runtime(logger).thread_pool = 4


def test_contexts_share_their_threads(logger, plan):
    runtime = trt.Runtime(logger)
    runtime.max_threads = 64
    before = thread_count()
    engines = [runtime.deserialize_cuda_engine(plan) for _ in range(2)]
    contexts = [engine.create_execution_context() for engine in engines * 2]
    callers = [threading.Thread(target=exp, args=[context]) for context in contexts]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    deadline = time.monotonic() + 5  # callers are joined a moment before they are gone
    while thread_count() - before >= len(os.sched_getaffinity(0)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert thread_count() - before < len(os.sched_getaffinity(0))
