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

}  // namespace

void bindDevice(nb::module_& m) {
  nb::class_<Mark>(m, "DeviceMark");  // NOLINT(bugprone-unused-raii)
  nb::class_<IDevice>(m, "IDevice")
      .def_prop_ro("name", text(&IDevice::getName))
      .def(
          "allocate",
          [](IDevice& self, int64_t size) {
            return address(checked("allocate", [&] { return self.allocate(size); }));
          },
          "size"_a)
      .def(
          "release", [](IDevice& self, uintptr_t memory) { self.release(pointer(memory)); },
          "memory"_a)
      .def(
          "allocate_host",
          [](IDevice& self, int64_t size) {
            return address(checked("allocate_host", [&] { return self.allocateHost(size); }));
          },
          "size"_a)
      .def(
          "release_host",
          [](IDevice& self, uintptr_t memory) { self.releaseHost(pointer(memory)); }, "memory"_a)
      .def("create_stream",
           [](IDevice& self) {
             return address(checked("create_stream", [&] { return self.createStream(); }));
           })
      .def(
          "destroy_stream", [](IDevice& self, Stream stream) { self.destroyStream(stream.handle); },
          "stream_handle"_a)
      .def(
          "copy",
          [](IDevice& self, uintptr_t to, uintptr_t source, int64_t size, Stream stream) {
            checkedUnlocked("copy", [&] {
              return self.copy(pointer(to), pointer(source), size, stream.handle);
            });
          },
          "to"_a, "source"_a, "size"_a, "stream_handle"_a = 0)
      .def(
          "synchronize",
          [](IDevice& self, Stream stream) {
            checkedUnlocked("synchronize", [&] { return self.synchronize(stream.handle); });
          },
          "stream_handle"_a = 0)
      .def(
          "mark",
          [](IDevice& self, Stream stream) {
            return Mark(self, checked("mark", [&] { return self.mark(stream.handle); }));
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
