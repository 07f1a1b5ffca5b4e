"""Memory that runs read and write: on the host in numpy arrays, on a device through the engine."""

import numpy as np

_ALIGNMENT = 64
_LARGE = 4096  # bytes


class HostMemory:
    """Aligned bytes that numpy owns."""

    def __init__(self, size):
        self.size = size
        buffer = np.empty(size + _ALIGNMENT, np.uint8)
        start = -buffer.ctypes.data % _ALIGNMENT
        self.buffer = buffer[start : start + size]
        self.address = self.buffer.ctypes.data

    def read(self, size):
        return self.buffer[:size]


def empty(shape, dtype):
    """An array for a run to write; a large one starts at a cache line."""
    array = np.empty(shape, dtype)
    if array.nbytes < _LARGE:
        return array
    return HostMemory(array.nbytes).buffer.view(dtype).reshape(shape)


class DeviceMemory:
    """Bytes on the device of an engine, freed with this object."""

    def __init__(self, device, size):
        self.device, self.size = device, size
        self.address = device.allocate(max(size, 1))

    def __del__(self):
        if hasattr(self, "address"):
            self.device.release(self.address)

    def write(self, array):
        self.device.copy(self.address, array.ctypes.data, array.nbytes)

    def read(self, size):
        """A copy on the host, once everything queued on the default stream is done."""
        buffer = np.empty(size, np.uint8)
        self.device.copy(buffer.ctypes.data, self.address, size)
        self.device.synchronize()
        return buffer
