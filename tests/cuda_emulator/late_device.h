// For tests: a device on which copies are as late as a GPU's may be.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "backend/forwarding_device.h"

namespace camshaft::emulator {

// What is copied to the host arrives there when somebody waits for it, and holds nonsense until
// then; what is copied from there must not change, nor be given back, before. Counts both and the
// waiting.
class LateDevice : public ForwardingDevice {
 public:
  struct Counts {
    int copiesToHost = 0, copiesToDevice = 0, waits = 0, allocations = 0;
    friend bool operator==(const Counts&, const Counts&) = default;
  };

  LateDevice(Device& device, Counts& counts) : ForwardingDevice(device), counts_(counts) {}

  void* allocate(int64_t bytes) override {
    ++counts_.allocations;
    void* memory = ForwardingDevice::allocate(bytes);
    onDevice_[static_cast<std::byte*>(memory)] = bytes;
    return memory;
  }
  void release(void* memory) noexcept override {
    requireUnused(memory, onDevice_[static_cast<std::byte*>(memory)]);
    onDevice_.erase(static_cast<std::byte*>(memory));
    ForwardingDevice::release(memory);
  }
  void* allocateHost(int64_t bytes) override {
    void* memory = ForwardingDevice::allocateHost(bytes);
    onHost_[static_cast<std::byte*>(memory)] = bytes;
    return memory;
  }
  void releaseHost(void* memory) noexcept override {
    requireUnused(memory, onHost_[static_cast<std::byte*>(memory)]);
    onHost_.erase(static_cast<std::byte*>(memory));
    ForwardingDevice::releaseHost(memory);
  }

  void copy(void* to, const void* from, int64_t bytes, void* stream) override {
    std::vector<std::byte> contents(static_cast<size_t>(bytes));
    if (!isOnDevice(to)) {
      ++counts_.copiesToHost;
      ForwardingDevice::copy(contents.data(), from, bytes, stream);
      std::memset(to, 0xee, contents.size());
      arriving_.push_back({static_cast<std::byte*>(to), std::move(contents)});
      return;
    }
    ForwardingDevice::copy(to, from, bytes, stream);
    if (isOnDevice(from)) return;
    ++counts_.copiesToDevice;
    std::memcpy(contents.data(), from, contents.size());
    leaving_.push_back({static_cast<std::byte*>(const_cast<void*>(from)), std::move(contents)});
  }

  void synchronize(void* stream) override {
    ++counts_.waits;
    ForwardingDevice::synchronize(stream);
    for (const Pending& copy : leaving_)
      EXPECT_EQ(std::memcmp(copy.memory, copy.contents.data(), copy.contents.size()), 0)
          << "the host has overwritten what the device was still to copy";
    for (const Pending& copy : arriving_)
      std::copy(copy.contents.begin(), copy.contents.end(), copy.memory);
    leaving_.clear();
    arriving_.clear();
  }

 private:
  struct Pending {
    std::byte* memory;  // on the host
    std::vector<std::byte> contents;
  };

  bool isOnDevice(const void* memory) const {
    const auto* data = static_cast<const std::byte*>(memory);
    const auto after = onDevice_.upper_bound(const_cast<std::byte*>(data));
    if (after == onDevice_.begin()) return false;
    const auto& [begin, bytes] = *std::prev(after);
    return data < begin + bytes;
  }
  void requireUnused(void* memory, int64_t bytes) const noexcept {
    const auto* begin = static_cast<std::byte*>(memory);
    for (const std::vector<Pending>* copies : {&leaving_, &arriving_})
      for (const Pending& copy : *copies)
        if (copy.memory >= begin && copy.memory < begin + bytes)
          ADD_FAILURE() << "memory is given back that a copy is at";
  }

  Counts& counts_;
  std::map<std::byte*, int64_t> onDevice_, onHost_;
  std::vector<Pending> leaving_, arriving_;
};

}  // namespace camshaft::emulator
