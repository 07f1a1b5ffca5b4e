"""Makes a failing case small: fewer outputs, and inputs in place of what was computed before the fault."""

import dataclasses

import numpy
import onnx
import pool
from onnx import helper

from . import generator, oracle, values
from .case import Case, Run

SECONDS = 40  # for one attempt


def reduced(case, problem):
    """A smaller case with the same kind of problem at the same level: a single node where one is at fault, else
    what is left when outputs, and what was computed before the fault, are taken away. The case itself where
    nothing smaller fails."""
    values_of = intermediate_values(case)
    graph = onnx.ModelProto.FromString(case.model).graph
    alone = [part for node in graph.node if (part := isolated(case, values_of, node))]
    if (small := first_failing(alone, problem)):
        return small
    best = first_failing(fewer_outputs(case, problem), problem) or case
    for name in [name for node in reversed(graph.node) for name in node.output if name in values_of]:
        smaller = cut(best, values_of, [name])
        if smaller and len(smaller.operators) < len(best.operators) and first_failing([smaller], problem):
            best = smaller
    return best


def intermediate_values(case):
    """{name: (type, value by run)} of the results that could be inputs instead."""
    probe = onnx.ModelProto.FromString(case.model)
    names = [name for node in probe.graph.node for name in node.output if name]
    del probe.graph.output[:]
    probe.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    try:
        session = oracle.Session(probe)
        runs = [session.run(run.inputs) if run.expected is not None else None for run in case.runs]
    except oracle.Refused:
        return {}
    found = {}
    for i, (name, text) in enumerate(zip(names, session.types)):
        arrays = [None if run is None else numpy.asarray(run[i]) for run in runs]
        if values.runtime_type(text) in values.PLAIN and len({a.ndim for a in arrays if a is not None}) == 1:
            found[name] = (values.runtime_type(text), arrays)
    return found


def isolated(case, values_of, node):
    """The case of one node, fed with what it reads."""
    model = onnx.ModelProto.FromString(case.model)
    made = {name for other in model.graph.node for name in other.output}
    needs = [name for name in generator.reads(node) if name in made]
    if any(name not in values_of for name in needs) or any(name not in values_of for name in node.output if name):
        return None
    del model.graph.output[:]
    for name in node.output:
        if name:
            dtype, arrays = values_of[name]
            model.graph.output.append(helper.make_tensor_value_info(name, values.CODES[dtype], None))
    partial = dataclasses.replace(case, model=model.SerializeToString())
    return cut(partial, values_of, needs) if needs else rebuilt(model, case, [v.name for v in model.graph.output])


def fewer_outputs(case, problem):
    """With the one output that was wrong, then with each alone."""
    names = [output.name for output in onnx.ModelProto.FromString(case.model).graph.output]
    order = [problem.output] * bool(problem.output) + names
    parts = [rebuilt(onnx.ModelProto.FromString(case.model), case, [name]) for name in order]
    return [part for part in parts if part]


def cut(case, values_of, names):
    """The case with `names` as inputs."""
    model = onnx.ModelProto.FromString(case.model)
    for name in names:
        dtype, arrays = values_of[name]
        present = [array for array in arrays if array is not None]
        dims = [sizes[0] if len(set(sizes)) == 1 else "s" + "_".join(map(str, sizes))
                for sizes in zip(*(array.shape for array in present))]
        for node in model.graph.node:
            for i, output in enumerate(node.output):
                if output == name:
                    node.output[i] = name + "_before"
        model.graph.input.append(helper.make_tensor_value_info(name, values.CODES[dtype], dims))
    runs = [dataclasses.replace(run, inputs={**run.inputs, **{name: values_of[name][1][at] for name in names}})
            for at, run in enumerate(case.runs) if all(values_of[name][1][at] is not None for name in names)]
    return rebuilt(model, dataclasses.replace(case, runs=runs), [value.name for value in model.graph.output])


def rebuilt(model, case, outputs):
    """The part of `model` that these outputs need, with what ONNX Runtime expects of it."""
    wanted = [value for value in model.graph.output if value.name in outputs]
    del model.graph.output[:]
    model.graph.output.extend(wanted)
    needed, nodes = set(outputs), []
    for node in reversed(model.graph.node):
        if needed & set(node.output):
            needed |= generator.reads(node)
            nodes.append(node)
    graph = helper.make_graph(nodes[::-1], "g", [value for value in model.graph.input if value.name in needed],
                              wanted, [tensor for tensor in model.graph.initializer if tensor.name in needed])
    model = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    try:
        session = oracle.Session(model)
    except oracle.Refused:
        return None
    runs = []
    for run in case.runs:
        inputs = {name: array for name, array in run.inputs.items() if name in needed}
        try:
            results = dict(zip(outputs_of(model), map(numpy.asarray, session.run(inputs))))
            runs.append(Run(inputs, results, {name: coarse(array) for name, array in results.items()}))
        except oracle.Refused as refused:
            runs.append(Run(inputs, None, {}, str(refused)))
    return Case(case.seed, model.SerializeToString(), runs, [node.op_type for node in graph.node])


def outputs_of(model):
    return [value.name for value in model.graph.output]


def coarse(array):
    """A slack without knowledge of the graph."""
    if array.dtype.kind != "f" or not array.size:
        return numpy.zeros(array.shape)
    share = {"float16": 2.0**-6, "float64": 2.0**-30}.get(array.dtype.name, 2.0**-12)
    return numpy.full(array.shape, share * (float(numpy.nanmax(numpy.abs(array))) + 1e-3))


def attempt(job):
    from .subject import check

    case, level = job
    return [problem.kind for problem in check(case, [level])]


def first_failing(cases, problem):
    """The first case with a problem of that kind, found in a process of its own."""
    jobs = [(case, problem.level) for case in cases]
    failing = [index for index, kinds, failure in pool.run(attempt, jobs, 1, SECONDS)
               if (failure.split(":")[0] == problem.kind if failure else problem.kind in kinds)]
    return cases[min(failing)] if failing else None


def text_of(case, problems):
    """For reading: the problems, sizes by run, and the model."""
    model = onnx.ModelProto.FromString(case.model)
    lines = [f"seed {case.seed}"]
    lines += [f"level {p.level}, run {p.run}: {p.kind}: {p.text}" for p in problems]
    for at, run in enumerate(case.runs):
        shapes = ", ".join(f"{name}{list(array.shape)}" for name, array in run.inputs.items())
        lines.append(f"run {at}: {shapes}" + (f" refused: {run.refusal[:200]}" if run.expected is None else ""))
    return "\n".join(lines) + "\n" + onnx.printer.to_text(model) + "\n"
