#include "memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "errors.h"

namespace triton_backend {
namespace {

constexpr uint64_t kAlignment = 64;

}  // namespace

Stream::Stream(nvinfer1::IDevice* device) : device_(device) {
  if (!device_) return;
  stream_ = device_->createStream();
  requireCamshaft(stream_ != nullptr, TRITONSERVER_ERROR_INTERNAL);
}

Stream::~Stream() {
  if (stream_) device_->destroyStream(stream_);
}

void Stream::copy(void* to, const void* from, uint64_t bytes) const {
  if (bytes == 0) return;
  if (!device_)
    std::memcpy(to, from, bytes);
  else
    requireCamshaft(device_->copy(to, from, static_cast<int64_t>(bytes), stream_),
                    TRITONSERVER_ERROR_INTERNAL);
}

void Stream::wait() const {
  if (device_) requireCamshaft(device_->synchronize(stream_), TRITONSERVER_ERROR_INTERNAL);
}

Buffer::Buffer(Buffer&& other) noexcept
    : device_(other.device_),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

void* Buffer::reserve(uint64_t bytes) {
  const uint64_t wanted = (std::max<uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (wanted <= bytes_) return data_;
  release();
  data_ = device_ ? device_->allocate(static_cast<int64_t>(wanted))
                  : std::aligned_alloc(kAlignment, wanted);
  if (!data_)
    fail(TRITONSERVER_ERROR_UNAVAILABLE, "there are no ", wanted, " bytes of ",
         device_ ? "device" : "host", " memory left");
  bytes_ = wanted;
  return data_;
}

void Buffer::release() {
  if (device_ && data_)
    device_->release(data_);
  else
    std::free(data_);
  data_ = nullptr;
  bytes_ = 0;
}

}  // namespace triton_backend
