#include "io_tensor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <random>
#include <stdexcept>

#include "require.h"

namespace trtexec {

using namespace nvinfer1;

namespace {

constexpr std::align_val_t kAlignment{64};

template <class Float>
void fillUniformly(char* data, size_t count) {
  std::minstd_rand random;
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<Float>(uniform(random));
    std::memcpy(data + i * sizeof value, &value, sizeof value);
  }
}

Memory pinnedMemory(IDevice& device, size_t bytes) {
  return {device.allocateHost(static_cast<int64_t>(bytes)),
          [&device](void* memory) { device.releaseHost(memory); }};
}

}  // namespace

Memory deviceMemory(IDevice& device, size_t bytes) {
  return {device.allocate(static_cast<int64_t>(bytes)),
          [&device](void* memory) { device.release(memory); }};
}

Memory plainMemory(size_t bytes) {
  return {::operator new(bytes, kAlignment),
          [](void* memory) { ::operator delete(memory, kAlignment); }};
}

IoTensor::IoTensor(const ICudaEngine& engine, const char* name)
    : device_(engine.getDevice()),
      name_(name),
      type_(engine.getTensorDataType(name)),
      isInput_(engine.getTensorIOMode(name) == TensorIOMode::kINPUT),
      isOnDevice_(device_ && engine.getTensorLocation(name) == TensorLocation::kDEVICE) {}

void IoTensor::setDims(const Dims& dims) {
  dims_ = dims;
  reserve(bytes());
}

void IoTensor::reserveHost(size_t bytes) {
  if (host_ && hostCapacity_ >= bytes) return;
  host_.reset();
  hostCapacity_ = std::max<size_t>(bytes, 1);
  host_ = device_ ? pinnedMemory(*device_, hostCapacity_) : plainMemory(hostCapacity_);
  require(host_ != nullptr);
  std::memset(host_.get(), 0, hostCapacity_);
}

void IoTensor::reserve(size_t bytes) {
  reserveHost(bytes);
  if (!isOnDevice_ || (onDevice_ && deviceCapacity_ >= bytes)) return;
  onDevice_.reset();
  deviceCapacity_ = std::max<size_t>(bytes, 1);
  onDevice_ = deviceMemory(*device_, deviceCapacity_);
  require(onDevice_ != nullptr);
}

void* IoTensor::reallocateOutput(const char*, void*, uint64_t size, uint64_t) noexcept {
  try {
    reserve(size);
    return address();
  } catch (const std::exception&) {
    return nullptr;
  }
}

void IoTensor::fillWithRandomValues() {
  if (type_ == DataType::kFLOAT) fillUniformly<float>(hostData(), count());
  if (type_ == DataType::kHALF) fillUniformly<Float16>(hostData(), count());
  if (type_ == DataType::kBF16) fillUniformly<Bfloat16>(hostData(), count());
}

void IoTensor::setBytes(std::string_view bytes, const std::string& origin) {
  if (bytes.size() != this->bytes())
    throw std::runtime_error("'" + origin + "' has " + std::to_string(bytes.size()) +
                             " bytes and '" + name_ + "' of shape " + dimsText() + " takes " +
                             std::to_string(this->bytes()));
  std::memcpy(host_.get(), bytes.data(), bytes.size());
}

void IoTensor::copyToDevice(cudaStream_t stream) const {
  if (isOnDevice_)
    require(device_->copy(onDevice_.get(), host_.get(), static_cast<int64_t>(bytes()), stream));
}

void IoTensor::copyToHost(cudaStream_t stream) {
  if (!isOnDevice_) return;
  reserveHost(bytes());
  require(device_->copy(host_.get(), onDevice_.get(), static_cast<int64_t>(bytes()), stream));
}

}  // namespace trtexec
