// The run-time half of the backend boundary: where memory lives, how work is queued, and which
// kernels run there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/compiled_code.h"
#include "backend/launch.h"
#include "backend/target.h"
#include "support/aligned_buffer.h"

namespace camshaft {

// Work recorded once and replayed many times.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay(void* stream) = 0;
};

// A processor with memory of its own, which does queued work in the order of a stream. Usable from
// any thread; what it makes must not outlive it. Throws Error with the driver's words.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string describe() const = 0;
  // Makes it the calling thread's device, which everything below and every launch needs.
  virtual void makeCurrent() = 0;

  virtual void* allocate(int64_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual void* allocateHost(int64_t bytes) = 0;  // host memory that copies run fast from and to
  virtual void releaseHost(void* memory) noexcept = 0;

  virtual int64_t freeBytes() = 0;  // that allocate() could give, at this moment

  virtual bool canReach(const void* memory) = 0;  // false for plain host memory

  virtual void* createStream() = 0;
  virtual void destroyStream(void* stream) noexcept = 0;
  virtual void copy(void* to, const void* from, int64_t bytes, void* stream) = 0;  // any direction
  virtual void synchronize(void* stream) = 0;
  virtual bool isRecording(void* stream) = 0;  // also when the caller records it
  // Records what enqueue() would queue on `stream`, which stays untouched; nothing is done
  // meanwhile. Other threads notice nothing, whatever they do. Throws Error where something cannot
  // be recorded.
  virtual std::unique_ptr<Recording> record(void* stream, const std::function<void()>& enqueue) = 0;
  // Records enqueue(0), enqueue(1), ...: piece i waits for the pieces after[i] only, so that the
  // others may run beside it.
  virtual std::unique_ptr<Recording> recordBranches(
      void* stream, const std::vector<std::vector<size_t>>& after,
      const std::function<void(size_t piece)>& enqueue) = 0;
  virtual void signal(void* event, void* stream) = 0;  // an event of the caller's

  // Milliseconds between two points of a stream: mark() both, synchronize, ask.
  virtual std::shared_ptr<void> mark(void* stream) = 0;
  virtual double millisecondsBetween(const void* begin, const void* end) = 0;
};

// Copies from the host and waits, on a stream of its own: the stream that null stands for waits for
// others, and breaks those that somebody captures.
void upload(Device& device, void* to, const void* from, int64_t bytes);
void download(Device& device, void* to, const void* from, int64_t bytes);  // the other way

// Null: on the host.
void launchPlugin(AttachedPlugin& plugin, const LaunchArgs& args, Device* device);

// What stands before a device, for callers that bring their own memory.
using DeviceWrapper = std::function<std::unique_ptr<Device>(Device& device)>;

// A backend's run-time half: its kernels, found by name when an engine is loaded.
struct RuntimeBackend {
  std::string_view name;  // the prefix of its kernels' names
  const RuntimeKernel* (*find)(std::string_view kernel);
  std::string (*describeDevice)();  // "AMD EPYC ..., 8 cores, avx512f": for logs and cache keys
  Device* (*device)() = nullptr;    // the calling thread's; null: kernels run here, on host memory
  // Compiles device code where threads of one process keep each other waiting: a build then starts
  // processes that call this. Null: its own threads do as well.
  CompiledCode (*compileAlone)(const std::string& source, const BuildTarget& target) = nullptr;
};

inline constexpr std::string_view kGpu = "cuda";  // the backend that stands for GPUs

// All backends linked in or loaded, in order of preference (backends.cpp).
std::span<const RuntimeBackend* const> runtimeBackends();
// The backend of a device or kernel name ("cuda", "cuda/gemm"), or null.
const RuntimeBackend* findRuntimeBackend(std::string_view name);
// Why there is none, in words that follow "and": "no CUDA driver was found (libcuda.so.1 ...)".
std::string whyBackendIsMissing(std::string_view name);
const RuntimeKernel* findRuntimeKernel(std::string_view kernel);

// Bytes on a device; on the host when there is none, or as a device's partner in copies.
class DeviceBuffer {
 public:
  enum class Side { kDevice, kHost };
  explicit DeviceBuffer(Device* device = nullptr, Side side = Side::kDevice)
      : device_(device), side_(side) {}
  ~DeviceBuffer() { reset(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  void reserve(int64_t bytes);  // at least that many; contents are lost when it grows
  void reset() noexcept;
  std::byte* data() const { return data_; }
  int64_t size() const { return bytes_; }

 private:
  Device* device_ = nullptr;
  Side side_ = Side::kDevice;
  AlignedBuffer host_;  // without a device
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace camshaft
