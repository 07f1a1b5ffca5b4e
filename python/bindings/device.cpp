// The device of an engine: memory, copies, streams and marks as addresses, so that Python programs
// need no other CUDA package.
#include <utility>

#include "bindings.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

// A point in a stream, given back when Python forgets it.
class Mark {
 public:
  Mark(IDevice& device, void* mark) : device_(&device), mark_(mark) {}
  Mark(Mark&& other) noexcept
      : device_(other.device_), mark_(std::exchange(other.mark_, nullptr)) {}
  ~Mark() {
    if (mark_) device_->releaseMark(mark_);
  }
  const void* get() const { return mark_; }

 private:
  IDevice* device_;
  void* mark_;
};

void* pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }
cudaStream_t stream(uintptr_t handle) { return reinterpret_cast<cudaStream_t>(handle); }

// Calls without the GIL, since they may wait for the device.
template <class F>
void require(const char* name, F&& call) {
  forgetReason();
  bool ok = false;
  {
    const Unlocked unlocked;
    ok = call();
  }
  if (!ok) raiseReason(name);
}

}  // namespace

void bindDevice(nb::module_& m) {
  nb::class_<Mark>(m, "DeviceMark");  // NOLINT(bugprone-unused-raii)
  nb::class_<IDevice>(m, "IDevice")
      .def_prop_ro("name", text(&IDevice::getName))
      .def(
          "allocate",
          [](IDevice& self, int64_t size) {
            return reinterpret_cast<uintptr_t>(
                checked("allocate", [&] { return self.allocate(size); }));
          },
          "size"_a)
      .def(
          "release", [](IDevice& self, uintptr_t memory) { self.release(pointer(memory)); },
          "memory"_a)
      .def(
          "allocate_host",
          [](IDevice& self, int64_t size) {
            return reinterpret_cast<uintptr_t>(
                checked("allocate_host", [&] { return self.allocateHost(size); }));
          },
          "size"_a)
      .def(
          "release_host",
          [](IDevice& self, uintptr_t memory) { self.releaseHost(pointer(memory)); }, "memory"_a)
      .def("create_stream",
           [](IDevice& self) {
             return reinterpret_cast<uintptr_t>(
                 checked("create_stream", [&] { return self.createStream(); }));
           })
      .def(
          "destroy_stream",
          [](IDevice& self, uintptr_t handle) { self.destroyStream(stream(handle)); },
          "stream_handle"_a)
      .def(
          "copy",
          [](IDevice& self, uintptr_t to, uintptr_t source, int64_t size, uintptr_t handle) {
            require("copy",
                    [&] { return self.copy(pointer(to), pointer(source), size, stream(handle)); });
          },
          "to"_a, "source"_a, "size"_a, "stream_handle"_a = 0)
      .def(
          "synchronize",
          [](IDevice& self, uintptr_t handle) {
            require("synchronize", [&] { return self.synchronize(stream(handle)); });
          },
          "stream_handle"_a = 0)
      .def(
          "mark",
          [](IDevice& self, uintptr_t handle) {
            return Mark(self, checked("mark", [&] { return self.mark(stream(handle)); }));
          },
          "stream_handle"_a = 0, nb::keep_alive<0, 1>())
      .def(
          "milliseconds_between",
          [](IDevice& self, const Mark& begin, const Mark& end) {
            forgetReason();
            const float milliseconds = self.millisecondsBetween(begin.get(), end.get());
            if (milliseconds < 0) raiseReason("milliseconds_between");
            return milliseconds;
          },
          "begin"_a, "end"_a);
}

}  // namespace camshaft::python
