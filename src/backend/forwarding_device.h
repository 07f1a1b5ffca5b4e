// A device that hands everything to another one, to be overridden where it should differ.
#pragma once

#include "backend/device.h"

namespace camshaft {

class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(Device& device) : device_(device) {}

  void* allocate(int64_t bytes) override { return device_.allocate(bytes); }
  void release(void* memory) noexcept override { device_.release(memory); }
  std::string describe() const override { return device_.describe(); }
  void makeCurrent() override { device_.makeCurrent(); }
  void* allocateHost(int64_t bytes) override { return device_.allocateHost(bytes); }
  void releaseHost(void* memory) noexcept override { device_.releaseHost(memory); }
  int64_t freeBytes() override { return device_.freeBytes(); }
  bool canReach(const void* memory) override { return device_.canReach(memory); }
  void* createStream() override { return device_.createStream(); }
  void destroyStream(void* stream) noexcept override { device_.destroyStream(stream); }
  void copy(void* to, const void* from, int64_t bytes, void* stream) override {
    device_.copy(to, from, bytes, stream);
  }
  void synchronize(void* stream) override { device_.synchronize(stream); }
  bool isRecording(void* stream) override { return device_.isRecording(stream); }
  std::unique_ptr<Recording> record(void* stream, const std::function<void()>& enqueue) override {
    return device_.record(stream, enqueue);
  }
  std::unique_ptr<Recording> recordBranches(
      void* stream, const std::vector<std::vector<size_t>>& after,
      const std::function<void(size_t piece)>& enqueue) override {
    return device_.recordBranches(stream, after, enqueue);
  }
  void signal(void* event, void* stream) override { device_.signal(event, stream); }
  std::shared_ptr<void> mark(void* stream) override { return device_.mark(stream); }
  double millisecondsBetween(const void* begin, const void* end) override {
    return device_.millisecondsBetween(begin, end);
  }

 private:
  Device& device_;
};

}  // namespace camshaft
