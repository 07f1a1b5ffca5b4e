#include "backends/cuda/kernel_machine.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>

#include "cuda_emulator/emulator.h"

namespace camshaft::cuda {
namespace {

class EmulatedMachine : public KernelMachine {
 public:
  void* allocate(size_t bytes) override { return emulator::allocate(bytes); }
  void release(void* address) override { emulator::release(address); }
  void copyIn(void* to, const void* from, size_t bytes) override {
    emulator::copy(to, from, bytes);
  }
  void copyOut(void* to, const void* from, size_t bytes) override {
    emulator::copy(to, from, bytes);
  }
  void check() override { emulator::checkMemory(); }
  void prefetch(const std::vector<std::string>& sources) override { emulator::prefetch(sources); }
  void launch(const KernelLaunch& launch) override {
    const emulator::Function function =
        emulator::Module::compile(launch.source)->find(launch.kernel);
    if (function.parameterSizes.size() != launch.arguments.size())
      throw std::runtime_error(launch.kernel + " has another number of parameters than the step");
    const unsigned block[3] = {launch.params.block, 1, 1};
    std::vector<void*> arguments = launch.arguments;
    emulator::launch(function, launch.grid, block, launch.params.sharedBytes, arguments.data());
  }
};

// A shared library opened by name, and its functions.
class Library {
 public:
  explicit Library(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) throw std::runtime_error(std::string(name) + " does not load");
  }
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle_, name));
    if (!function) throw std::runtime_error(std::string("there is no ") + name);
    return function(arguments...);
  }

 private:
  void* handle_;
};

// CUlaunchAttribute and CUlaunchConfig of cuda.h, which tests do without.
struct LaunchAttribute {
  int id = 4;  // the dimensions of clusters
  alignas(8) unsigned value[16] = {};
};
struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  void* stream = nullptr;
  LaunchAttribute* attributes;
  unsigned attributeCount;
};

// The GPU, through the driver.
class DeviceMachine : public KernelMachine {
 public:
  explicit DeviceMachine(bool printsTimes) : printsTimes_(printsTimes) {
    int device = 0, major = 0, minor = 0;
    void* context = nullptr;
    call("cuInit", 0u);
    call("cuDeviceGet", &device, 0);
    call("cuDevicePrimaryCtxRetain", &context, device);
    call("cuCtxSetCurrent", context);
    call("cuDeviceGetAttribute", &major, 75, device);
    call("cuDeviceGetAttribute", &minor, 76, device);
    architecture_ = "sm_" + std::to_string(major * 10 + minor) + (major >= 9 ? "a" : "");
    for (void*& event : events_) call("cuEventCreate", &event, 0u);
  }

  void* allocate(size_t bytes) override {
    unsigned long long address = 0;
    call("cuMemAlloc_v2", &address, bytes + 2 * kGuard);
    call("cuMemsetD8_v2", address, static_cast<unsigned char>(0xa5), bytes + 2 * kGuard);
    call("cuMemsetD8_v2", address + kGuard, static_cast<unsigned char>(0xff), bytes);
    sizes_[address + kGuard] = bytes;
    return reinterpret_cast<void*>(address + kGuard);
  }
  void release(void* address) override {
    sizes_.erase(number(address));
    call("cuMemFree_v2", number(address) - kGuard);
  }
  void copyIn(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) call("cuMemcpyHtoD_v2", number(to), from, bytes);
  }
  void copyOut(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) call("cuMemcpyDtoH_v2", to, number(from), bytes);
  }
  void check() override {
    unsigned char guard[kGuard];
    for (const auto& [address, bytes] : sizes_)
      for (unsigned long long at : {address - kGuard, address + bytes}) {
        call("cuMemcpyDtoH_v2", static_cast<void*>(guard), at, kGuard);
        if (std::any_of(guard, guard + kGuard, [](unsigned char byte) { return byte != 0xa5; }))
          throw std::runtime_error("memory around a tensor was written");
      }
  }

  void prefetch(const std::vector<std::string>& sources) override {
    std::vector<DeviceText> fresh;
    for (const std::string& source : sources)
      if (!modules_.contains(source)) fresh.push_back({source, architecture_});
    compileForDevice(fresh);
    for (const DeviceText& text : fresh) {
      if (!text.error.empty()) throw std::runtime_error(text.error);
      call("cuModuleLoadData", &modules_[text.source],
           static_cast<const void*>(text.binary.data()));
    }
  }

  void launch(const KernelLaunch& launch) override {
    run(launch, 1);
    call("cuCtxSynchronize");
  }
  void printTime(const KernelLaunch& launch) override {
    if (!printsTimes_) return;
    constexpr int kRuns = 20;
    call("cuEventRecord", events_[0], static_cast<void*>(nullptr));
    run(launch, kRuns);
    call("cuEventRecord", events_[1], static_cast<void*>(nullptr));
    call("cuCtxSynchronize");
    float milliseconds = 0;
    call("cuEventElapsedTime", &milliseconds, events_[0], events_[1]);
    std::printf("%8.2f us  %s  grid %u block %u\n", milliseconds * 1000 / kRuns,
                launch.kernel.c_str(), launch.grid[0] * launch.grid[1] * launch.grid[2],
                launch.params.block);
  }

 private:
  static constexpr size_t kGuard = 256;
  static unsigned long long number(const void* address) {
    return reinterpret_cast<unsigned long long>(address);
  }
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) const {
    if (const int error = driver_.call(name, arguments...); error != 0)
      throw std::runtime_error(std::string(name) + " fails with error " + std::to_string(error));
  }
  void run(const KernelLaunch& launch, int times) {
    const GeneratedParams& params = launch.params;
    prefetch({launch.source});
    void* function = nullptr;
    call("cuModuleGetFunction", &function, modules_.at(launch.source), launch.kernel.c_str());
    call("cuFuncSetAttribute", function, 8, static_cast<int>(params.sharedBytes));  // its maximum
    if (params.cluster > 8) call("cuFuncSetAttribute", function, 14, 1);  // more than are portable
    LaunchAttribute cluster{.value = {params.cluster, 1, 1}};
    const LaunchConfig config{.grid = {launch.grid[0], launch.grid[1], launch.grid[2]},
                              .block = {params.block, 1, 1},
                              .sharedBytes = params.sharedBytes,
                              .attributes = &cluster,
                              .attributeCount = params.cluster > 1 ? 1u : 0u};
    std::vector<void*> arguments = launch.arguments;
    for (int i = 0; i < times; ++i)
      call("cuLaunchKernelEx", &config, function, arguments.data(), static_cast<void**>(nullptr));
  }

  const Library driver_{"libcuda.so.1"};
  const bool printsTimes_;
  std::string architecture_;
  std::map<unsigned long long, size_t> sizes_;
  std::map<std::string, void*> modules_;
  void* events_[2];
};

void compileWithNvrtc(DeviceText& text) {
  static const Library kNvrtc("libnvrtc.so.13");
  void* program = nullptr;
  kNvrtc.call("nvrtcCreateProgram", &program, text.source.c_str(), "kernel.cu", 0,
              static_cast<const char* const*>(nullptr), static_cast<const char* const*>(nullptr));
  const std::string option = "--gpu-architecture=" + text.architecture;
  const char* options[] = {option.c_str(), "--std=c++17", "--device-as-default-execution-space"};
  const int result =
      kNvrtc.call("nvrtcCompileProgram", program, 3, static_cast<const char* const*>(options));
  size_t size = 0;
  if (result == 0) {
    kNvrtc.call("nvrtcGetCUBINSize", program, &size);
    text.binary.resize(size);
    kNvrtc.call("nvrtcGetCUBIN", program, reinterpret_cast<char*>(text.binary.data()));
  } else {
    kNvrtc.call("nvrtcGetProgramLogSize", program, &size);
    std::string log(size, '\0');
    kNvrtc.call("nvrtcGetProgramLog", program, log.data());
    text.error = text.architecture + ": " + log;
  }
  kNvrtc.call("nvrtcDestroyProgram", &program);
}

}  // namespace

KernelMachine& kernelMachine() {
  static const std::unique_ptr<KernelMachine> kMachine = []() -> std::unique_ptr<KernelMachine> {
    const char* device = std::getenv("CAMSHAFT_TEST_DEVICE");
    if (!device) return std::make_unique<EmulatedMachine>();
    return std::make_unique<DeviceMachine>(std::strcmp(device, "time") == 0);
  }();
  return *kMachine;
}

void compileForDevice(std::vector<DeviceText>& texts) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next++) < texts.size();) compileWithNvrtc(texts[i]);
  };
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < std::min<size_t>(texts.size(), std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(work);
}

}  // namespace camshaft::cuda
