"""What a run asks of its inputs, with messages that name them."""

from ._camshaft import TensorIOMode


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
