// What the user implements to give memory, to take what is in it, or to read and write engines.
#include <algorithm>
#include <cstring>

#include "callbacks.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

template <class Interface>
struct PyAllocator : OfPython<Interface> {
  NB_TRAMPOLINE(OfPython<Interface>);
  void* allocate(uint64_t size, uint64_t alignment, AllocatorFlags flags) noexcept override {
    return fromPython<void*>(nullptr, [&] {
      return addressFrom(nb_trampoline.base().attr("allocate")(size, alignment, flags));
    });
  }
  bool deallocate(void* memory) noexcept override {
    return fromPython(false, [&] {
      return nb::cast<bool>(nb::bool_(nb_trampoline.base().attr("deallocate")(address(memory))));
    });
  }
  void* reallocate(void* memory, uint64_t alignment, uint64_t size) noexcept override {
    return fromPython<void*>(nullptr, [&] {
      return addressFrom(nb_trampoline.base().attr("reallocate")(address(memory), alignment, size));
    });
  }
  void* allocateAsync(uint64_t size, uint64_t alignment, AllocatorFlags flags,
                      cudaStream_t stream) noexcept override {
    return fromPython<void*>(nullptr, [&] {
      return addressFrom(
          nb_trampoline.base().attr("allocate_async")(size, alignment, flags, address(stream)));
    });
  }
  bool deallocateAsync(void* memory, cudaStream_t stream) noexcept override {
    return fromPython(false, [&] {
      return nb::cast<bool>(nb::bool_(
          nb_trampoline.base().attr("deallocate_async")(address(memory), address(stream))));
    });
  }
};

// Fills memory with the bytes that Python returned; how many, or -1 for what is no bytes.
int64_t fill(void* destination, int64_t capacity, nb::object result) {
  const Bytes bytes(result);
  if (static_cast<int64_t>(bytes.size()) > capacity)
    throw nb::value_error("read() returned more bytes than were asked for");
  if (bytes.size() > 0) std::memcpy(destination, bytes.data(), bytes.size());
  return static_cast<int64_t>(bytes.size());
}

struct PyStreamReader : OfPython<IStreamReader> {
  NB_TRAMPOLINE(OfPython<IStreamReader>);
  int64_t read(void* destination, int64_t size) override {
    return fromPython<int64_t>(
        -1, [&] { return fill(destination, size, nb_trampoline.base().attr("read")(size)); });
  }
};

struct PyStreamReaderV2 : OfPython<IStreamReaderV2> {
  NB_TRAMPOLINE(OfPython<IStreamReaderV2>);
  int64_t read(void* destination, int64_t size, cudaStream_t stream) noexcept override {
    return fromPython<int64_t>(-1, [&] {
      return fill(destination, size, nb_trampoline.base().attr("read")(size, address(stream)));
    });
  }
  bool seek(int64_t offset, SeekPosition where) noexcept override {
    return fromPython(false, [&] {
      nb::object moved = nb_trampoline.base().attr("seek")(offset, where);
      return !moved.is(nb::handle(Py_False));  // files return where they are, which may be 0
    });
  }
};

struct PyStreamWriter : OfPython<IStreamWriter> {
  NB_TRAMPOLINE(OfPython<IStreamWriter>);
  int64_t write(const void* data, int64_t size) override {
    return fromPython<int64_t>(-1, [&] {
      nb::object written = nb_trampoline.base().attr("write")(
          nb::bytes(static_cast<const char*>(data), static_cast<size_t>(size)));
      return written.is_none() ? size : nb::cast<int64_t>(written);
    });
  }
};

struct PyOutputAllocator : OfPython<IOutputAllocator> {
  NB_TRAMPOLINE(OfPython<IOutputAllocator>);
  void* reallocateOutput(const char* name, void* memory, uint64_t size,
                         uint64_t alignment) noexcept override {
    return fromPython<void*>(nullptr, [&] {
      return addressFrom(nb_trampoline.base().attr("reallocate_output")(
          textOf(name), address(memory), size, alignment));
    });
  }
  void* reallocateOutputAsync(const char* name, void* memory, uint64_t size, uint64_t alignment,
                              cudaStream_t stream) override {
    return fromPython<void*>(nullptr, [&] {
      return addressFrom(nb_trampoline.base().attr("reallocate_output_async")(
          textOf(name), address(memory), size, alignment, address(stream)));
    });
  }
  void notifyShape(const char* name, const Dims& dims) noexcept override {
    fromPython(0, [&] { return nb_trampoline.base().attr("notify_shape")(textOf(name), dims), 0; });
  }
};

struct PyDebugListener : OfPython<IDebugListener> {
  NB_TRAMPOLINE(OfPython<IDebugListener>);
  bool processDebugTensor(const void* memory, TensorLocation location, DataType type,
                          const Dims& shape, const char* name, cudaStream_t stream) override {
    return fromPython(false, [&] {
      nb::object done = nb_trampoline.base().attr("process_debug_tensor")(
          address(memory), location, type, shape, textOf(name), address(stream));
      // TensorRT's module does not look at what is returned, and listeners often return nothing.
      return done.is_none() || nb::cast<bool>(nb::bool_(done));
    });
  }
};

void bindGpuAllocators(nb::module_& m) {
  nb::class_<IGpuAllocator, IVersionedInterface, PyAllocator<IGpuAllocator>>(m, "IGpuAllocator")
      .def(nb::init<>())
      .def("allocate", toDefine("allocate"),
           nb::sig("def allocate(self, size: int, alignment: int, flags: int) -> int | None"))
      .def("deallocate", toDefine("deallocate"),
           nb::sig("def deallocate(self, memory: int) -> bool"))
      .def(
          "reallocate",
          [](nb::handle, uintptr_t, uint64_t, uint64_t) { return nb::object(nb::none()); },
          "address"_a, "alignment"_a, "new_size"_a,
          nb::sig(
              "def reallocate(self, address: int, alignment: int, new_size: int) -> int | None"))
      .def(
          "allocate_async",
          [](nb::handle self, uint64_t size, uint64_t alignment, AllocatorFlags flags, Stream) {
            return self.attr("allocate")(size, alignment, flags);
          },
          "size"_a, "alignment"_a, "flags"_a, "stream"_a,
          nb::sig("def allocate_async(self, size: int, alignment: int, flags: int, stream: int) "
                  "-> int | None"))
      .def(
          "deallocate_async",
          [](nb::handle self, uintptr_t memory, Stream) { return self.attr("deallocate")(memory); },
          "memory"_a, "stream"_a,
          nb::sig("def deallocate_async(self, memory: int, stream: int) -> bool"));
  nb::class_<IGpuAsyncAllocator, IGpuAllocator, PyAllocator<IGpuAsyncAllocator>>(
      m, "IGpuAsyncAllocator")
      .def(nb::init<>())
      .def(
          "allocate",
          [](nb::handle self, uint64_t size, uint64_t alignment, AllocatorFlags flags) {
            return self.attr("allocate_async")(size, alignment, flags, 0);
          },
          "size"_a, "alignment"_a, "flags"_a,
          nb::sig("def allocate(self, size: int, alignment: int, flags: int) -> int | None"))
      .def(
          "deallocate",
          [](nb::handle self, uintptr_t memory) {
            return self.attr("deallocate_async")(memory, 0);
          },
          "memory"_a, nb::sig("def deallocate(self, memory: int) -> bool"))
      .def("allocate_async", toDefine("allocate_async"),
           nb::sig("def allocate_async(self, size: int, alignment: int, flags: int, stream: int) "
                   "-> int | None"))
      .def("deallocate_async", toDefine("deallocate_async"),
           nb::sig("def deallocate_async(self, memory: int, stream: int) -> bool"));
}

}  // namespace

void bindAllocators(nb::module_& m) {
  bindGpuAllocators(m);
  nb::class_<IOutputAllocator, IVersionedInterface, PyOutputAllocator>(m, "IOutputAllocator")
      .def(nb::init<>())
      .def("reallocate_output", toDefine("reallocate_output"),
           nb::sig("def reallocate_output(self, tensor_name: str, memory: int, size: int, "
                   "alignment: int) -> int | None"))
      .def(
          "reallocate_output_async",
          [](nb::handle self, nb::handle name, uintptr_t memory, uint64_t size, uint64_t alignment,
             Stream) { return self.attr("reallocate_output")(name, memory, size, alignment); },
          "tensor_name"_a, "memory"_a, "size"_a, "alignment"_a, "stream"_a,
          nb::sig("def reallocate_output_async(self, tensor_name: str, memory: int, size: int, "
                  "alignment: int, stream: int) -> int | None"))
      .def("notify_shape", toDefine("notify_shape"),
           nb::sig("def notify_shape(self, tensor_name: str, shape: camshaft.Dims) -> None"));
  nb::class_<IDebugListener, IVersionedInterface, PyDebugListener>(m, "IDebugListener")
      .def(nb::init<>())
      .def("process_debug_tensor", toDefine("process_debug_tensor"),
           nb::sig("def process_debug_tensor(self, addr: int, location: TensorLocation, "
                   "type: DataType, shape: camshaft.Dims, name: str, stream: int) -> bool"));
  nb::class_<IStreamReader, IVersionedInterface, PyStreamReader>(m, "IStreamReader")
      .def(nb::init<>())
      .def("read", toDefine("read"), nb::sig("def read(self, size: int) -> bytes"));
  nb::class_<IStreamReaderV2, IVersionedInterface, PyStreamReaderV2>(m, "IStreamReaderV2")
      .def(nb::init<>())
      .def("read", toDefine("read"),
           nb::sig("def read(self, num_bytes: int, stream: int) -> bytes"))
      .def("seek", toDefine("seek"),
           nb::sig("def seek(self, offset: int, where: SeekPosition) -> bool | None"));
  nb::class_<IStreamWriter, IVersionedInterface, PyStreamWriter>(m, "IStreamWriter")
      .def(nb::init<>())
      .def("write", toDefine("write"), nb::sig("def write(self, data: bytes) -> int | None"));
}

}  // namespace camshaft::python
