// For tests: runs generated kernels, on the emulator or the GPU (kernel_machine.h), with random
// data and compares them with the operator's own evaluate().
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "testing/kernel_harness.h"

namespace camshaft::cuda {

// Every generated kernel that supports the node, in every configuration, on poisoned and guarded
// memory, and in place where the kernel allows it. Fails the test when no kernel supports the node
// or a result differs. With CAMSHAFT_TEST_NVRTC in the environment one configuration of each kernel
// is also compiled by NVRTC for one of the architectures named there, "sm_80 sm_90a sm_100", the
// next one in the next case; with a folder in CAMSHAFT_TEST_BINARIES all are, and kept there.
void expectKernelsMatch(const HarnessCase& testCase);
inline void expectKernelsMatch(const std::string& graph, Sizes sizes = {{}}) {
  expectKernelsMatch(HarnessCase{.graph = graph, .sizes = std::move(sizes)});
}

// What each kernel says to the node: "cuda/x: reason; cuda/y: yes".
std::string refusalsOf(const std::string& graph);
// The same of kernels that support the node and are prepared for these sizes.
std::string refusalsAt(const std::string& graph, const std::map<std::string, int64_t>& sizes);

}  // namespace camshaft::cuda
