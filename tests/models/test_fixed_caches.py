"""Exports that grow their caches, parsed with caches of fixed room: steps in place beside ONNX Runtime's."""

import numpy
import pytest
from models import inputs, regenerate
from models.agreement import TOLERANCE, peer, relative_errors

import camshaft as trt

DEFAULT = {"t5_small_decoder_past-legacy14-dynamic", "whisper_tiny_decoder_past-dynamo20-dynamic"}
BATCH, ROOM, LENGTHS = 2, 12, (4, 1, 3, 1)


def pytest_generate_tests(metafunc):
    everything = metafunc.config.getoption("--all")
    metafunc.parametrize("exported", [name for name in regenerate.names()
                                      if "_past-" in name and (everything or name in DEFAULT)])


def test_steps_in_place_agree_with_onnxruntime(exported):
    model = regenerate.load(exported)
    pasts = [value.name for value in model.graph.input if value.name.startswith("past.")
             and any(dim.dim_param == "past" for dim in value.type.tensor_type.shape.dim)]
    steps, before = [], 0
    for seed, length in enumerate(LENGTHS):
        dims = {"batch": BATCH, "sequence": length, "past": before, "total": before + length, "source": 5}
        steps.append(inputs.feeds(model, dims, seed))
        for name in steps[-1]:
            if name == "attention_mask":
                steps[-1][name][:] = 1
        before += length
    engine = build(model.SerializeToString(), pasts, steps)
    presents = {past: past.replace("past.", "present.") for past in pasts}
    assert all(engine.get_aliased_input_tensor(present) == past for past, present in presents.items())
    check(engine.create_execution_context(), peer(model.SerializeToString()), presents, steps)


def build(model, pasts, steps):
    config = {"device": "cpu", "precision": ["fp32"], "optimization_level": 1, "fixed_caches": True}
    ranges = {name: [step[name].shape for step in steps] for name in steps[0] if name not in pasts}
    shapes = {name: {"min": numpy.min(sizes, 0).tolist(), "opt": sizes[1], "max": numpy.max(sizes, 0).tolist()}
              for name, sizes in ranges.items()}
    for name in pasts:
        batch, heads, _, size = steps[0][name].shape
        shapes[name] = (batch, heads, ROOM, size)
    values = {"past_length": {"min": [0], "opt": [4], "max": [ROOM - 1]}}
    return trt.load(trt.build(model, config=config, profiles=[{"shapes": shapes, "values": values}])).engine


def check(context, session, presents, steps):
    """Caches hold NaN where nothing was written yet, and ONNX Runtime's are what it gave in the step before."""
    caches = {past: numpy.full((*steps[0][past].shape[:2], ROOM, steps[0][past].shape[3]), numpy.nan, numpy.float32)
              for past in presents}
    names = [output.name for output in session.get_outputs()]
    grown, before = {past: steps[0][past] for past in presents}, 0
    for step in steps:
        expected = dict(zip(names, session.run(names, step | grown)))
        length = numpy.array(before, numpy.int64)
        feeds = step | caches | {"past_length": length}
        for name, array in feeds.items():
            context.set_input_shape(name, array.shape)
            context.set_tensor_address(name, array.ctypes.data)
        ours = {present: caches[past] for past, present in presents.items()}
        for name in names:
            if name not in ours:
                ours[name] = numpy.full(tuple(context.get_tensor_shape(name)), numpy.nan, numpy.float32)
            context.set_tensor_address(name, ours[name].ctypes.data)
        assert context.execute_async_v3(0)
        grown = {past: expected[present] for past, present in presents.items()}
        before += step["input_ids"].shape[1]
        seen = {name: array[:, :, :before] if name in presents.values() else array for name, array in ours.items()}
        errors = relative_errors(seen, expected)
        assert max(errors.values()) < TOLERANCE, errors
        assert all(numpy.isnan(cache[:, :, before:]).all() for cache in caches.values())
