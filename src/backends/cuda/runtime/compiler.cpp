#include "backends/cuda/runtime/compiler.h"

#include <nvrtc.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "backends/cuda/runtime/libraries/shared_library.h"
#include "support/code_file.h"
#include "support/cpu_info.h"
#include "support/error.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

struct Nvrtc {
  decltype(&::nvrtcVersion) version;
  decltype(&nvrtcGetNumSupportedArchs) architectureCount;
  decltype(&nvrtcGetSupportedArchs) architectures;
  decltype(&nvrtcCreateProgram) create;
  decltype(&nvrtcDestroyProgram) destroy;
  decltype(&nvrtcCompileProgram) compile;
  decltype(&nvrtcGetCUBINSize) binarySize;
  decltype(&nvrtcGetCUBIN) binary;
  decltype(&nvrtcGetPTXSize) textSize;
  decltype(&nvrtcGetPTX) text;
  decltype(&nvrtcGetProgramLogSize) logSize;
  decltype(&nvrtcGetProgramLog) log;
};

Nvrtc open() {
  const SharedLibrary library("CUDA's run-time compiler",
                              "the CUDA toolkit or the package nvidia-cuda-nvrtc", kNvrtcNames);
  Nvrtc nvrtc;
  library.find(nvrtc.version, "nvrtcVersion");
  library.find(nvrtc.architectureCount, "nvrtcGetNumSupportedArchs");
  library.find(nvrtc.architectures, "nvrtcGetSupportedArchs");
  library.find(nvrtc.create, "nvrtcCreateProgram");
  library.find(nvrtc.destroy, "nvrtcDestroyProgram");
  library.find(nvrtc.compile, "nvrtcCompileProgram");
  library.find(nvrtc.binarySize, "nvrtcGetCUBINSize");
  library.find(nvrtc.binary, "nvrtcGetCUBIN");
  library.find(nvrtc.textSize, "nvrtcGetPTXSize");
  library.find(nvrtc.text, "nvrtcGetPTX");
  library.find(nvrtc.logSize, "nvrtcGetProgramLogSize");
  library.find(nvrtc.log, "nvrtcGetProgramLog");
  return nvrtc;
}

const Nvrtc& nvrtc() {
  static const Nvrtc kNvrtc = open();
  return kNvrtc;
}

// A kernel that does not compile is left for another. Where none can, the build would end with all
// work on the host.
void requireArchitecture(int sm) {
  int count = 0;
  nvrtc().architectureCount(&count);
  std::vector<int> known(static_cast<size_t>(count));
  nvrtc().architectures(known.data());
  if (std::ranges::find(known, sm) == known.end())
    fail(ErrorKind::kUnsupported, "NVRTC ", nvrtcVersion(), " (", nvrtcPath(),
         ") compiles for the compute capabilities ", join(known, ", "), ", and not for ", sm,
         "; install CUDA's compiler of a later version, or name one of these");
}

// The first error and what it points at; warnings and the rest stay out.
std::string firstError(const std::string& log) {
  const size_t begin = std::min(log.find("error"), log.size());
  const size_t line = log.rfind('\n', begin) + 1;
  return log.substr(line, 400);
}

CompiledCode compileOne(const std::string& source, const std::string& architecture, bool asPtx) {
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
    (asPtx ? nvrtc().textSize : nvrtc().binarySize)(program, &size);
    code.binary.resize(size);
    (asPtx ? nvrtc().text : nvrtc().binary)(program, reinterpret_cast<char*>(code.binary.data()));
  }
  nvrtc().destroy(&program);
  return code;
}

}  // namespace

std::vector<CompiledCode> compileAll(std::span<const std::string> sources,
                                     const BuildTarget& target) {
  const int sm = target.computeCapability;
  const std::string architecture =
      target.isPortable ? str("--gpu-architecture=compute_", sm)
                        : str("--gpu-architecture=sm_", sm, sm == 90 || sm >= 100 ? "a" : "");
  std::vector<CompiledCode> compiled(sources.size());
  requireArchitecture(sm);  // its absence, too, is an error of the caller's thread
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;  // the first, whichever thread met it
  const auto work = [&] {
    try {
      for (size_t i; (i = next.fetch_add(1)) < sources.size();)
        compiled[i] = compileOne(sources[i], architecture, target.isPortable);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::jthread> helpers;
  const size_t count = std::min<size_t>(sources.size(), static_cast<size_t>(usableCores()));
  for (size_t i = 1; i < count; ++i) helpers.emplace_back(work);
  work();
  helpers.clear();
  if (failure) std::rethrow_exception(failure);
  return compiled;
}

std::string nvrtcVersion() {
  int major = 0, minor = 0;
  nvrtc().version(&major, &minor);
  return str(major, ".", minor);
}

std::string nvrtcPath() { return fileOf(nvrtc().version); }

}  // namespace camshaft::cuda
