#include "backends/cuda/runtime/compiler.h"

#include <dlfcn.h>
#include <nvrtc.h>

#include <atomic>
#include <thread>

#include "support/cpu_info.h"
#include "support/error.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

struct Nvrtc {
  decltype(&nvrtcCreateProgram) create;
  decltype(&nvrtcDestroyProgram) destroy;
  decltype(&nvrtcCompileProgram) compile;
  decltype(&nvrtcGetCUBINSize) binarySize;
  decltype(&nvrtcGetCUBIN) binary;
  decltype(&nvrtcGetProgramLogSize) logSize;
  decltype(&nvrtcGetProgramLog) log;
};

Nvrtc open() {
  void* library = nullptr;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
    if ((library = dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
  if (!library)
    fail(ErrorKind::kUnsupported,
         "building for CUDA needs its run-time compiler, and libnvrtc.so does not load; install "
         "the CUDA toolkit or the package nvidia-cuda-nvrtc");
  Nvrtc nvrtc;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function) fail(ErrorKind::kUnsupported, "libnvrtc.so is too old: it has no ", name);
  };
  find(nvrtc.create, "nvrtcCreateProgram");
  find(nvrtc.destroy, "nvrtcDestroyProgram");
  find(nvrtc.compile, "nvrtcCompileProgram");
  find(nvrtc.binarySize, "nvrtcGetCUBINSize");
  find(nvrtc.binary, "nvrtcGetCUBIN");
  find(nvrtc.logSize, "nvrtcGetProgramLogSize");
  find(nvrtc.log, "nvrtcGetProgramLog");
  return nvrtc;
}

const Nvrtc& nvrtc() {
  static const Nvrtc kNvrtc = open();
  return kNvrtc;
}

// The first error and what it points at; warnings and the rest stay out.
std::string firstError(const std::string& log) {
  const size_t begin = std::min(log.find("error"), log.size());
  const size_t line = log.rfind('\n', begin) + 1;
  return log.substr(line, 400);
}

CompiledCode compileOne(const std::string& source, const std::string& architecture) {
  nvrtcProgram program = nullptr;
  nvrtc().create(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
  const char* options[] = {architecture.c_str(), "--std=c++17",
                           "--device-as-default-execution-space"};
  CompiledCode code;
  if (nvrtc().compile(program, std::size(options), options) != NVRTC_SUCCESS) {
    size_t size = 0;
    nvrtc().logSize(program, &size);
    std::string log(size, '\0');
    if (size > 0) nvrtc().log(program, log.data());
    code.error = str("its device code does not compile: ", firstError(log));
  } else {
    size_t size = 0;
    nvrtc().binarySize(program, &size);
    code.binary.resize(size);
    nvrtc().binary(program, reinterpret_cast<char*>(code.binary.data()));
  }
  nvrtc().destroy(&program);
  return code;
}

}  // namespace

std::vector<CompiledCode> compileAll(std::span<const std::string> sources, int sm) {
  const std::string architecture =
      str("--gpu-architecture=sm_", sm, sm == 90 || sm >= 100 ? "a" : "");
  std::vector<CompiledCode> compiled(sources.size());
  nvrtc();  // its absence is an error of the caller's thread
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < sources.size();)
      compiled[i] = compileOne(sources[i], architecture);
  };
  std::vector<std::jthread> helpers;
  const size_t count = std::min<size_t>(sources.size(), static_cast<size_t>(usableCores()));
  for (size_t i = 1; i < count; ++i) helpers.emplace_back(work);
  work();
  helpers.clear();
  return compiled;
}

}  // namespace camshaft::cuda
