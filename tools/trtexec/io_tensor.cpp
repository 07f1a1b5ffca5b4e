#include "io_tensor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <random>
#include <stdexcept>

namespace trtexec {

using namespace nvinfer1;

namespace {

constexpr std::align_val_t kAlignment{64};

size_t bitsOf(DataType type) {
  switch (type) {
    case DataType::kDOUBLE:
    case DataType::kINT64:
    case DataType::kUINT64:
      return 64;
    case DataType::kFLOAT:
    case DataType::kINT32:
    case DataType::kUINT32:
      return 32;
    case DataType::kHALF:
    case DataType::kBF16:
    case DataType::kINT16:
    case DataType::kUINT16:
      return 16;
    case DataType::kINT4:
    case DataType::kUINT4:
    case DataType::kFP4:
      return 4;
    case DataType::kINT2:
    case DataType::kUINT2:
      return 2;
    default:
      return 8;
  }
}

size_t elementsOf(const Dims& dims) {
  size_t count = 1;
  for (int32_t i = 0; i < dims.nbDims; ++i)
    count *= static_cast<size_t>(std::max<int64_t>(dims.d[i], 0));
  return count;
}

#ifdef __aarch64__
using Float16 = __fp16;  // GCC 12 has no _Float16 in C++ there
#else
using Float16 = _Float16;
#endif

// Upper half of an f32.
struct Bfloat16 {
  uint16_t bits;
  explicit Bfloat16(float value = 0) {
    uint32_t all;
    std::memcpy(&all, &value, sizeof all);
    bits = static_cast<uint16_t>(all >> 16);
  }
  explicit operator double() const {
    const uint32_t all = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &all, sizeof value);
    return value;
  }
};

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

Memory deviceMemory(IDevice& device, size_t bytes) {
  return {device.allocate(static_cast<int64_t>(bytes)),
          [&device](void* memory) { device.release(memory); }};
}

Memory plainMemory(size_t bytes) {
  return {::operator new(bytes, kAlignment),
          [](void* memory) { ::operator delete(memory, kAlignment); }};
}

}  // namespace

IoTensor::IoTensor(const ICudaEngine& engine, const char* name)
    : device_(engine.getDevice()),
      name_(name),
      type_(engine.getTensorDataType(name)),
      isInput_(engine.getTensorIOMode(name) == TensorIOMode::kINPUT),
      isOnDevice_(device_ && engine.getTensorLocation(name) == TensorLocation::kDEVICE) {}

size_t IoTensor::bytes() const { return (elementsOf(dims_) * bitsOf(type_) + 7) / 8; }

std::string IoTensor::dimsText() const {
  std::string text;
  for (int32_t i = 0; i < dims_.nbDims; ++i) text += (i ? "x" : "") + std::to_string(dims_.d[i]);
  return text.empty() ? "scalar" : text;
}

void IoTensor::setDims(const Dims& dims) {
  dims_ = dims;
  reserve(bytes());
}

void IoTensor::reserveHost(size_t bytes) {
  if (host_ && hostCapacity_ >= bytes) return;
  host_.reset();
  hostCapacity_ = std::max<size_t>(bytes, 1);
  host_ = device_ ? pinnedMemory(*device_, hostCapacity_) : plainMemory(hostCapacity_);
  if (!host_) throw std::runtime_error("");  // the device has reported why
  std::memset(host_.get(), 0, hostCapacity_);
}

void IoTensor::reserve(size_t bytes) {
  reserveHost(bytes);
  if (!isOnDevice_ || (onDevice_ && deviceCapacity_ >= bytes)) return;
  onDevice_.reset();
  deviceCapacity_ = std::max<size_t>(bytes, 1);
  onDevice_ = deviceMemory(*device_, deviceCapacity_);
  if (!onDevice_) throw std::runtime_error("");
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

void IoTensor::setBytes(const std::string& bytes, const std::string& origin) {
  if (bytes.size() != this->bytes())
    throw std::runtime_error("'" + origin + "' has " + std::to_string(bytes.size()) +
                             " bytes and input '" + name_ + "' of shape " + dimsText() + " takes " +
                             std::to_string(this->bytes()));
  std::memcpy(host_.get(), bytes.data(), bytes.size());
}

void IoTensor::copyToDevice(cudaStream_t stream) const {
  if (isOnDevice_ &&
      !device_->copy(onDevice_.get(), host_.get(), static_cast<int64_t>(bytes()), stream))
    throw std::runtime_error("");
}

void IoTensor::copyToHost(cudaStream_t stream) {
  if (!isOnDevice_) return;
  reserveHost(bytes());
  if (!device_->copy(host_.get(), onDevice_.get(), static_cast<int64_t>(bytes()), stream))
    throw std::runtime_error("");
}

size_t IoTensor::count() const { return bitsOf(type_) < 8 ? 0 : elementsOf(dims_); }

double IoTensor::valueAt(size_t index) const {
  const auto read = [&](auto value) {
    std::memcpy(&value, hostData() + index * sizeof value, sizeof value);
    return static_cast<double>(value);
  };
  switch (type_) {
    case DataType::kFLOAT:
      return read(float{});
    case DataType::kDOUBLE:
      return read(double{});
    case DataType::kHALF:
      return read(Float16{});
    case DataType::kBF16:
      return read(Bfloat16{});
    case DataType::kINT64:
      return read(int64_t{});
    case DataType::kUINT64:
      return read(uint64_t{});
    case DataType::kINT32:
      return read(int32_t{});
    case DataType::kUINT32:
      return read(uint32_t{});
    case DataType::kINT16:
      return read(int16_t{});
    case DataType::kUINT16:
      return read(uint16_t{});
    case DataType::kINT8:
      return read(int8_t{});
    default:
      return read(uint8_t{});
  }
}

}  // namespace trtexec
