"""What a run asks of its inputs, with messages that name them, and what it borrows of a context."""

import numpy as np

from ._camshaft import TensorIOMode
from ._types import nptype


def checked_names(engine, inputs):
    """(names of inputs, names of outputs), once every input is known to have an array."""
    names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
    wanted = [name for name in names if engine.get_tensor_mode(name) == TensorIOMode.INPUT]
    if missing := [name for name in wanted if name not in inputs]:
        raise ValueError(f"no array was given for input {', '.join(map(repr, missing))}")
    if unknown := [name for name in inputs if name not in wanted]:
        raise ValueError(f"{', '.join(map(repr, unknown))} is no input of the engine, which has"
                         f" {', '.join(wanted)}")
    return wanted, names[len(wanted):]


def set_shape(context, name, shape):
    if not context.set_input_shape(name, shape):
        profile = context.active_optimization_profile
        low, _, high = context.engine.get_tensor_profile_shape(name, profile)
        raise ValueError(f"input '{name}' has shape {tuple(shape)}, outside the profile's"
                         f" {low} to {high}")


def random_inputs(engine, shapes, seed=0, profile=0):
    """Normal numbers, 0 and 1 for integers, which are valid as indices, and for inputs whose values decide sizes what
    the profile says, by input; ``shapes`` where they are to be others than the profile's opt."""
    random = np.random.default_rng(seed)
    feeds = {}
    for name in (engine.get_tensor_name(i) for i in range(engine.num_io_tensors)):
        if engine.get_tensor_mode(name) != TensorIOMode.INPUT:
            continue
        shape = tuple(shapes[name] if name in shapes else engine.get_tensor_profile_shape(name, profile)[1])
        dtype = np.dtype(nptype(engine.get_tensor_dtype(name)))
        if engine.is_shape_inference_io(name) and (values := engine.get_tensor_profile_values(name, profile)):
            feeds[name] = np.array(values[1], dtype).reshape(shape)
        elif dtype.kind in "iub":
            feeds[name] = random.integers(0, 2, shape).astype(dtype)
        else:
            feeds[name] = random.standard_normal(shape).astype(dtype)
    return feeds


class Borrowed:
    """Lends a context's addresses and output allocators to one run. Afterwards, whether it failed or
    not, they are what they were: nothing of one run is left for the next to read or write."""

    def __init__(self, context, names):
        self.context, (self.inputs, self.outputs) = context, names

    def __enter__(self):
        self.addresses = {name: self.context.get_tensor_address(name) for name in self.inputs + self.outputs}
        self.allocators = {name: self.context.get_output_allocator(name) for name in self.outputs}
        for name in self.outputs:
            self.set_allocator(name, None)
        return self

    def __exit__(self, *_):
        for name, address in self.addresses.items():
            self.context.set_tensor_address(name, address)
        for name, allocator in self.allocators.items():
            self.set_allocator(name, allocator)

    def set_allocator(self, name, allocator):
        if self.context.get_output_allocator(name) is not allocator:
            self.context.set_output_allocator(name, allocator)
