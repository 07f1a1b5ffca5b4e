"""Watches a build, and ends one before it is done: a program with a window shows a bar and a button."""

import camshaft as trt


class Monitor(trt.IProgressMonitor):
    """Phases lie inside each other; each counts its own steps."""

    def __init__(self, steps_before_cancel):
        trt.IProgressMonitor.__init__(self)
        self.steps, self.left = 0, steps_before_cancel

    def phase_start(self, phase_name, parent_phase, num_steps):
        print(f"  {parent_phase + ' > ' if parent_phase else ''}{phase_name}: {num_steps} steps")

    def step_complete(self, phase_name, step):
        """False asks the build to stop."""
        self.steps += 1
        self.left -= 1
        return self.left >= 0

    def phase_finish(self, phase_name):
        print(f"  {phase_name} ended")


def build(monitor):
    """Some activations, for the CPU; raises an Error when the monitor ends the build."""
    builder = trt.Builder(trt.Logger(trt.Logger.INTERNAL_ERROR))
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (4, 64))
    for kind in (trt.ActivationType.TANH, trt.ActivationType.SIGMOID, trt.ActivationType.RELU):
        x = network.add_activation(x, kind).get_output(0)
        x = network.add_softmax(x).get_output(0)
    network.mark_output(x)
    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    config.progress_monitor = monitor
    return builder.build_serialized_network(network, config)


def main():
    print("a whole build:")
    patient = Monitor(1 << 20)
    assert build(patient)
    print("one that is ended after its first step:")
    impatient = Monitor(1)
    try:
        build(impatient)
    except trt.Error as error:
        print(f"{impatient.steps} steps instead of {patient.steps}: {error}")
    else:
        raise AssertionError("the build was to be ended")


if __name__ == "__main__":
    main()
