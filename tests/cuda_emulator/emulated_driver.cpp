#include "cuda_emulator/emulated_driver.h"

#include <cstdio>
#include <stdexcept>

#include "cuda_emulator/driver_graphs.h"
#include "cuda_emulator/driver_streams.h"
#include "cuda_emulator/driver_tensor_maps.h"

namespace camshaft::emulator {
namespace {

struct EmulatedFunctions : DeviceFunctions,
                           StreamFunctions,
                           GraphFunctions,
                           EventFunctions,
                           LibraryFunctions,
                           TensorMapFunctions {};

template <class... P>
CUresult notEmulated(P...) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

// A template, so that what `Functions` lacks is found here and not by the compiler.
template <class Functions>
cuda::Driver makeTable(std::vector<std::string>& missing) {
  cuda::Driver driver;
#define CAMSHAFT_FILL(name)                       \
  if constexpr (requires { &Functions::name; }) { \
    driver.name = &Functions::name;               \
  } else {                                        \
    driver.name = &notEmulated;                   \
    missing.push_back(#name);                     \
  }
  CAMSHAFT_CUDA_DRIVER_FUNCTIONS(CAMSHAFT_FILL)
#undef CAMSHAFT_FILL
  return driver;
}

std::map<CUdevice_attribute, int> h200Attributes() {
  return {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
      {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 * 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, static_cast<int>(kMaxSharedBytes)},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 * 1024},
      {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 60 << 20},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
      {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
      {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
      {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1}};
}

// For destructors, which can't throw.
void releaseLeaked(void* address) {
  try {
    release(address);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

void addLeak(std::string& text, size_t count, const char* what) {
  if (count > 0) text += std::to_string(count) + " " + what + "\n";
}

}  // namespace

EmulatedDriver::EmulatedDriver()
    : state_(std::make_unique<DriverState>()), table_(makeTable<EmulatedFunctions>(missing_)) {
  if (activeDriver) throw std::logic_error("CUDA emulator: there is an emulated driver already");
  state_->attributes = h200Attributes();
  activeDriver = state_.get();
}

EmulatedDriver::~EmulatedDriver() {
  activeDriver = nullptr;
  contextStack.clear();
  threadCaptureMode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  for (const auto& [address, allocation] : state_->deviceMemory) {
    releaseLeaked(reinterpret_cast<void*>(address));
  }
  for (const auto& [address, bytes] : state_->hostMemory) releaseLeaked(address);
}

std::vector<DriverCall> EmulatedDriver::calls() const {
  std::lock_guard lock(state_->mutex);
  return state_->calls;
}

size_t EmulatedDriver::count(std::string_view function, std::string_view details) const {
  std::lock_guard lock(state_->mutex);
  size_t found = 0;
  for (const DriverCall& call : state_->calls) {
    found += call.function == function && call.details.find(details) != std::string::npos;
  }
  return found;
}

void EmulatedDriver::clearCalls() {
  std::lock_guard lock(state_->mutex);
  state_->calls.clear();
}

void EmulatedDriver::failCall(const std::string& function, int n, CUresult result) {
  std::lock_guard lock(state_->mutex);
  state_->injections.push_back({function, n, result});
}

void EmulatedDriver::setAttribute(CUdevice_attribute attribute, int value) {
  std::lock_guard lock(state_->mutex);
  state_->attributes[attribute] = value;
}

void EmulatedDriver::setMemory(size_t bytes) {
  std::lock_guard lock(state_->mutex);
  state_->totalMemory = bytes;
}

std::string EmulatedDriver::leaks() const {
  std::lock_guard lock(state_->mutex);
  std::string text;
  addLeak(text, state_->deviceMemory.size(), "device allocations");
  addLeak(text, state_->hostMemory.size(), "pinned host allocations");
  addLeak(text, state_->streams.size(), "streams");
  addLeak(text, state_->events.size(), "events");
  addLeak(text, state_->graphs.size(), "graphs");
  addLeak(text, state_->graphExecs.size(), "executable graphs");
  addLeak(text, state_->libraries.size(), "libraries");
  return text;
}

}  // namespace camshaft::emulator
