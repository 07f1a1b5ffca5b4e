#include "backends/cuda/runtime/findings.h"

#include <gtest/gtest.h>

namespace camshaft::cuda {
namespace {

TEST(CudaFindings, NameWhatBuildsOpenAndWhyNot) {
  std::vector<std::string> names;
  for (const Finding& finding : findings()) {
    if (!finding.name.starts_with("GPU")) names.push_back(finding.name);  // where there is a driver
    EXPECT_NE(finding.version.empty(), finding.problem.empty()) << finding.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"CUDA backend", "CUDA driver", "NVRTC", "cuBLASLt",
                                             "cuDNN"}));
}

}  // namespace
}  // namespace camshaft::cuda
