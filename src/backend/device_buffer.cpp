#include <utility>

#include "backend/device.h"

namespace camshaft {

void upload(Device& device, void* to, const void* from, int64_t bytes) {
  if (bytes == 0) return;
  const std::shared_ptr<void> stream(device.createStream(),
                                     [&](void* own) { device.destroyStream(own); });
  device.copy(to, from, bytes, stream.get());
  device.synchronize(stream.get());
}

// Copies go any way.
void download(Device& device, void* to, const void* from, int64_t bytes) {
  upload(device, to, from, bytes);
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  if (this == &other) return *this;
  reset();
  device_ = other.device_;
  side_ = other.side_;
  host_ = std::move(other.host_);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void DeviceBuffer::reserve(int64_t bytes) {
  if (bytes <= bytes_) return;
  reset();
  if (!device_) {
    host_.reserve(static_cast<size_t>(bytes));
    data_ = host_.data();
  } else {
    data_ = static_cast<std::byte*>(side_ == Side::kHost ? device_->allocateHost(bytes)
                                                         : device_->allocate(bytes));
  }
  bytes_ = bytes;
}

void DeviceBuffer::reset() noexcept {
  if (data_ && device_)
    side_ == Side::kHost ? device_->releaseHost(data_) : device_->release(data_);
  host_ = AlignedBuffer();
  data_ = nullptr;
  bytes_ = 0;
}

}  // namespace camshaft
