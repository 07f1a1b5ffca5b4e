"""Camshaft's side of a case: built, run in every run's sizes, compared."""

import dataclasses

import numpy

import camshaft as trt
from building import DEVICE, loaded

WRONG, REFUSED, PERMISSIVE, CHANGING = "wrong", "refused", "computed what ONNX Runtime refuses", "not repeatable"
CRASH, HANG = "crash", "hang"


@dataclasses.dataclass
class Problem:
    kind: str
    text: str
    run: int = 0
    output: str = ""
    level: int = 0


class Refusal(Exception):
    """Camshaft's reason against a model, a profile or a run."""


def check(case, levels):
    """The problems of a case, at each of these optimisation levels."""
    problems = []
    for level in levels:
        try:
            found = check_level(case, level)
        except Refusal as refusal:
            found = [Problem(REFUSED, f"build: {refusal}")]
        for problem in found:
            problem.level = level
        problems += found
    return problems


def check_level(case, level):
    """Runs that ONNX Runtime refuses, or that are empty, may be outside of what can be built at all."""
    everything = range(len(case.runs))
    try:
        return check_runs(case, level, everything)
    except Refusal:
        valid = [i for i in everything if case.runs[i].expected is not None]
        full = [i for i in valid if not emptier(case.runs[i], case.runs[0])]
        if len(valid) < len(everything):
            try:
                return check_runs(case, level, valid)
            except Refusal:
                pass
        if len(full) == len(everything) or not full:
            raise
        return check_runs(case, level, full)


def emptier(run, first):
    """Whether a size is 0 here and not in the first run."""
    return any(size == 0 < other for name, array in run.inputs.items()
               for size, other in zip(array.shape, first.inputs[name].shape))


def check_runs(case, level, chosen):
    """Forwards through the runs, then back, in one context."""
    engine = build(case.model, [case.runs[i].inputs for i in chosen], level)
    context = engine.create_execution_context()
    problems, before = [], {}
    for i in [*chosen, *reversed(chosen[:-1])]:
        run = case.runs[i]
        try:
            results = trt.infer(context, run.inputs)
        except (trt.Error, ValueError, TypeError) as error:
            if run.expected is not None and i not in before:
                problems.append(Problem(REFUSED, f"run: {error}", i))
                before[i] = None
            continue
        if run.expected is None:
            if i not in before:
                problems.append(Problem(PERMISSIVE, run.refusal, i))
            before[i] = None
            continue
        if i in before:
            problems += repeated(before[i], results, i)
            continue
        before[i] = results
        problems += compare(run, results, i)
    return problems


def repeated(first, second, run):
    if first is None:
        return [Problem(CHANGING, "a run that was refused works later", run)]
    return [Problem(CHANGING, f"{name} has other bits in a later run", run, name) for name in first
            if first[name].tobytes() != second[name].tobytes() or first[name].shape != second[name].shape]


def build(model, feeds, level):
    """An engine for these inputs: one profile from the smallest to the largest, the first as optimum."""
    logger = trt.Logger(trt.Logger.INTERNAL_ERROR)
    builder = trt.Builder(logger)
    builder.max_threads = 1
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    if not parser.parse(model):
        raise Refusal("; ".join(parser.get_error(i).desc() for i in range(parser.num_errors)))
    config = builder.create_builder_config()
    config.default_device_type = DEVICE
    config.builder_optimization_level = level
    config.clear_flag(trt.BuilderFlag.TF32)
    profile = builder.create_optimization_profile()
    for i in range(network.num_inputs):
        tensor = network.get_input(i)
        if -1 in tensor.shape:
            shapes = [feed[tensor.name].shape for feed in feeds]
            profile.set_shape(tensor.name, min=numpy.min(shapes, axis=0), opt=shapes[0], max=numpy.max(shapes, axis=0))
    config.add_optimization_profile(profile)
    try:
        plan = builder.build_serialized_network(network, config)
    except trt.Error as error:
        raise Refusal(str(error)) from None
    return loaded(plan, 1, logger)


def compare(run, results, index):
    """Types and shapes always, values as far as rounding leaves them certain."""
    problems = []
    for name, expected in run.expected.items():
        if name not in results:
            problems.append(Problem(WRONG, f"{name} is missing", index, name))
            continue
        ours, slack = results[name], run.slack[name]
        if ours.dtype != expected.dtype:
            problems.append(Problem(WRONG, f"{name} is {ours.dtype}, not {expected.dtype}", index, name))
        elif ours.shape != expected.shape:
            if slack is not None:
                problems.append(Problem(WRONG, f"{name} has the shape {ours.shape}, not {expected.shape}", index, name))
        elif slack is not None and (text := difference(ours, expected, slack)):
            problems.append(Problem(WRONG, f"{name}: {text}", index, name))
    return problems


def difference(ours, expected, slack):
    """The worst element in words; nothing where all are close enough."""
    if ours.dtype.kind != "f":
        off = numpy.abs(ours.astype(numpy.float64) - expected.astype(numpy.float64))
        bad = off > slack
    else:
        a, b = ours.astype(numpy.float64), expected.astype(numpy.float64)
        with numpy.errstate(invalid="ignore"):
            off = numpy.abs(a - b)
            alike = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
            bad = ~alike & ~(off <= slack)
    if not bad.any():
        return ""
    at = numpy.unravel_index(numpy.argmax(numpy.where(bad, numpy.nan_to_num(off, nan=numpy.inf), -1)), bad.shape)
    place = [int(i) for i in at]
    return f"{int(bad.sum())} of {bad.size} differ, at {place}: {ours[at]}, not {expected[at]} (within {slack[at]:.3g})"
