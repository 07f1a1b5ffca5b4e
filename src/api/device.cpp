#include "api/device.h"

#include <memory>

namespace camshaft::api {
namespace {

// What a mark is to the caller: a handle that keeps the device's own alive.
using Mark = std::shared_ptr<void>;

// Gives something back from any thread, also one that has not used the device yet.
template <class F>
void giveBack(const Reporter& reporter, Device& device, F&& release) noexcept {
  guarded(reporter, false, [&] {
    device.makeCurrent();
    release();
    return true;
  });
}

const void* pointOf(const void* mark) { return static_cast<const Mark*>(mark)->get(); }

}  // namespace

void* DeviceAccess::allocate(int64_t bytes) noexcept {
  return guarded<void*>(reporter_, nullptr, [&] {
    device_.makeCurrent();
    return device_.allocate(std::max<int64_t>(bytes, 1));
  });
}

void DeviceAccess::release(void* memory) noexcept {
  if (memory) giveBack(reporter_, device_, [&] { device_.release(memory); });
}

void* DeviceAccess::allocateHost(int64_t bytes) noexcept {
  return guarded<void*>(reporter_, nullptr, [&] {
    device_.makeCurrent();
    return device_.allocateHost(std::max<int64_t>(bytes, 1));
  });
}

void DeviceAccess::releaseHost(void* memory) noexcept {
  if (memory) giveBack(reporter_, device_, [&] { device_.releaseHost(memory); });
}

cudaStream_t DeviceAccess::createStream() noexcept {
  return guarded<cudaStream_t>(reporter_, nullptr, [&] {
    device_.makeCurrent();
    return static_cast<cudaStream_t>(device_.createStream());
  });
}

void DeviceAccess::destroyStream(cudaStream_t stream) noexcept {
  if (stream) giveBack(reporter_, device_, [&] { device_.destroyStream(stream); });
}

bool DeviceAccess::copy(void* to, const void* from, int64_t bytes, cudaStream_t stream) noexcept {
  return guarded(reporter_, false, [&] {
    device_.makeCurrent();
    if (bytes < 0 || (bytes > 0 && (!to || !from)))
      fail(ErrorKind::kInvalidArgument, "copy of ", bytes, " bytes without an address");
    if (bytes > 0) device_.copy(to, from, bytes, stream);
    return true;
  });
}

bool DeviceAccess::synchronize(cudaStream_t stream) noexcept {
  return guarded(reporter_, false, [&] {
    device_.makeCurrent();
    device_.synchronize(stream);
    return true;
  });
}

void* DeviceAccess::mark(cudaStream_t stream) noexcept {
  return guarded<void*>(reporter_, nullptr, [&] {
    device_.makeCurrent();
    return new Mark(device_.mark(stream));
  });
}

float DeviceAccess::millisecondsBetween(const void* begin, const void* end) noexcept {
  return guarded(reporter_, -1.0f, [&] {
    if (!begin || !end)
      fail(ErrorKind::kInvalidArgument, "millisecondsBetween needs two marks of a stream");
    return static_cast<float>(device_.millisecondsBetween(pointOf(begin), pointOf(end)));
  });
}

void DeviceAccess::releaseMark(void* mark) noexcept {
  if (mark) giveBack(reporter_, device_, [&] { delete static_cast<Mark*>(mark); });
}

}  // namespace camshaft::api
