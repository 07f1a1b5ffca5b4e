#include "backends/cuda/runtime/findings.h"

#include <span>
#include <utility>

#include "backends/cuda/runtime/compiler.h"
#include "backends/cuda/runtime/cuda_device.h"
#include "backends/cuda/runtime/libraries/cublaslt.h"
#include "backends/cuda/runtime/libraries/cudnn.h"
#include "support/code_file.h"
#include "support/error.h"
#include "support/version.h"

namespace camshaft::cuda {
namespace {

// What fill() writes into it, or why it could not; of a library that does not work, where it is.
template <class F>
Finding found(std::string name, std::span<const char* const> libraries, F&& fill) {
  Finding finding{std::move(name), {}, {}, {}};
  try {
    fill(finding);
  } catch (const Error& error) {
    finding.problem = error.message();
    finding.path = fileOfLoaded(libraries);
  }
  return finding;
}

// cuBLAS and cuDNN 9 count alike: 91900 is 9.19.0.
std::string dotted(size_t version) {
  return str(version / 10000, ".", version / 100 % 100, ".", version % 100);
}

template <class Library>
Finding foundLibrary(std::string name, std::span<const char* const> files,
                     const Library& (*library)()) {
  return found(std::move(name), files, [&](Finding& finding) {
    finding.version = dotted(library().getVersion());
    finding.path = fileOf(library().getVersion);
  });
}

}  // namespace

std::vector<Finding> findDevices() {
  std::vector<Finding> all;
  all.push_back({"CUDA backend", kVersion, fileOf(&findDevices), {}});
  all.push_back(found("CUDA driver", kDriverNames, [](Finding& finding) {
    int version = 0;
    driver().cuDriverGetVersion(&version);
    finding.version = str(version / 1000, ".", version % 1000 / 10);
    finding.path = fileOf(driver().cuInit);
  }));
  if (!all.back().problem.empty()) return all;
  int count = 0;
  driver().cuDeviceGetCount(&count);
  if (count == 0)
    all.push_back(
        found("GPU", {}, [](Finding& finding) { finding.version = currentDevice().describe(); }));
  for (int i = 0; i < count; ++i)
    all.push_back(
        found(str("GPU ", i), {}, [&](Finding& finding) { finding.version = describeGpu(i); }));
  return all;
}

std::vector<Finding> findings() {
  std::vector<Finding> all = findDevices();
  all.push_back(found("NVRTC", kNvrtcNames, [](Finding& finding) {
    finding.version = nvrtcVersion();
    finding.path = nvrtcPath();
  }));
  all.push_back(foundLibrary("cuBLASLt", kCublasLtNames, cublasLt));
  all.push_back(foundLibrary("cuDNN", kCudnnNames, cudnn));
  return all;
}

}  // namespace camshaft::cuda
